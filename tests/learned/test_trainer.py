import copy
import math

import numpy as np
import pytest
import torch

from skgraphkde import (
    GCN,
    KDE,
    LGKDE,
    MMD,
    Density,
    GraphBatch,
    NodeFeatures,
    read_graphs,
)
from skgraphkde.core.points.propagation import MessageFlow
from skgraphkde.core.points.twins import Twins, find_copies
from skgraphkde.core.views import kernels
from skgraphkde.core.views.embedding import Embedding
from skgraphkde.core.views.mixture import LOG_RATIO_SCALE
from skgraphkde.learned import trainer as module
from skgraphkde.learned.trainer import (
    Trainer,
    _split,
    contrast,
    damped_contrast,
    log_contrast,
    log_densities,
)
from tests.conftest import GAMMAS, random_graphs, spied
from tests.core.distances.common import squared_mmd_slow
from tests.core.views.common import density_slow


def make_model(graphs, bandwidths=(0.1, 1.0), size_kernel=False, gammas=(GAMMAS,)):
    """With a density for each of `gammas`."""
    encoder = GCN(hidden_dim=8).build(graphs.attributes.shape[1], seed=1)
    kernels = KDE(bandwidths, size_kernel=size_kernel)
    views = [Density(MMD(x, estimator="biased"), kernels) for x in gammas]
    built = [view.build(encoder.out_dim, 1, graphs, np.random.RandomState(0)) for view in views]
    return Embedding(None, encoder, built)


@pytest.fixture(scope="module")
def data():
    raw = read_graphs(random_graphs(30, max_nodes=12))
    features = NodeFeatures(("label", "degree")).fit(raw)
    return features.transform(raw), [
        features.transform(twin) for twin in Twins(0.0).structural(raw, np.random.RandomState(0))
    ]


def make_trainer(data, model=None, **kwargs):
    options = {
        "max_iter": 5,
        "learning_rate": 1e-2,
        "weights_learning_rate": 1e-2,
        "learn_encoder": True,
        "early_stopping": True,
        "swap": 0.3,
        "loss": "ratio",
    }
    options = LGKDE(**options | kwargs)
    return Trainer(model or make_model(data[0]), *data, options, np.random.RandomState(0))


def loss_slow(model, logits, graphs, twins, leave_one_out):
    """Algorithm 3, lines 13 to 19, graph by graph; the mean over the distances."""
    known, of_twins = (
        (model.encoder(MessageFlow.unmerged(x, 2)), x.node_ptr) for x in (graphs, twins)
    )
    ratios, is_copy = [], find_copies(graphs, twins, 2)
    for density, logit in zip(model.densities, logits, strict=True):
        mixture = density.bandwidths_, torch.softmax(logit.detach(), 0).tolist(), None
        gammas = density.distance_.gammas
        D, D_twins = (
            squared_mmd_slow(*x, *known, gammas, 0).clamp_min(0) for x in (known, of_twins)
        )
        for j, to_graphs in enumerate(D_twins.tolist()):
            i = j % len(graphs)
            if is_copy[j]:
                continue
            skip = i if leave_one_out else None
            f = density_slow(D[i].tolist(), *mixture, skip)
            ratios.append((f - density_slow(to_graphs, *mixture, skip)) / (f + 1e-6))
    return -np.mean(ratios)


@pytest.mark.parametrize("gammas", [(GAMMAS,), (GAMMAS, (1.0,))])
@pytest.mark.parametrize("leave_one_out", [True, False])
def test_loss_equals_algorithm_3(data, leave_one_out, gammas):
    graphs, twins = data[0][:5], GraphBatch.concatenate([data[1][0][:5], data[1][1][:5]])
    model = make_model(graphs, gammas=gammas)
    trainer = make_trainer(data, model, leave_one_out=leave_one_out)
    trainer.weights.double()
    for logits, changes in zip(trainer.logits, ([0.4, -0.1], [-0.3, 0.2]), strict=False):
        logits.data += torch.tensor(changes)
    # Evaluation mode: no dropout, fixed batch norm.
    model.encoder.standardize(model.flows(graphs))
    with torch.no_grad():
        assert trainer._loss(np.arange(5), twins).item() == pytest.approx(
            loss_slow(model, trainer.logits, graphs, twins, leave_one_out), abs=1e-10
        )


@pytest.mark.parametrize("leave_one_out", [True, False])
def test_log_densities_are_those_of_arrays_and_have_gradients(leave_one_out):
    rng = np.random.RandomState(0)
    squared, log_weights = rng.rand(4, 4) - 0.2, np.log(rng.rand(4, 4))
    bandwidths = np.array([0.1, 1.0])
    own = np.eye(4, dtype=bool) if leave_one_out else None
    tensor = torch.tensor(squared, requires_grad=True)
    excluded = None if own is None else torch.tensor(own)
    f = log_densities(tensor, torch.tensor(bandwidths), torch.tensor(log_weights), excluded)
    expected = kernels.log_densities(squared, bandwidths, log_weights, own)
    np.testing.assert_allclose(f.detach(), expected, rtol=1e-12)
    (gradient,) = torch.autograd.grad(f.sum(), tensor)
    assert torch.isfinite(gradient).all()
    assert (gradient.diagonal() == 0).all() == leave_one_out


def test_training_trains(data):
    model = make_model(data[0])
    trainer = make_trainer(data, model, max_iter=15)
    before = copy.deepcopy(trainer.weights.state_dict())
    model.encoder.standardize(model.flows(data[0]))  # and no dropout
    everything = np.arange(len(data[0])), trainer.all_twins
    loss = trainer._loss(*everything).item()
    history = trainer.train()
    assert trainer._loss(*everything).item() < loss
    assert min(history["validation_loss"]) < history["validation_loss"][0]
    assert not torch.equal(model.encoder.weights[0], before["encoder.weights.0"])
    assert not torch.equal(trainer.logits[0], before["logits.0"])
    (density,) = model.densities
    learned = np.array(history["mixture_weights"])
    assert np.isclose(learned, density.mixture_weights_, atol=1e-12).all(axis=1).any()
    assert {len(values) for values in history.values()} == {16}
    assert math.isnan(history["loss"][0])
    assert np.shape(history["mixture_weights"]) == (16, 2)
    np.testing.assert_allclose(np.sum(history["mixture_weights"], axis=-1), 1)


def test_two_twins_of_a_graph_are_one_of_each_kind(data, monkeypatch):
    trainer = make_trainer(data, n_twins=2, batch_size=10)
    drawn = spied(monkeypatch, trainer, "_draw_twins")
    trainer._epoch()
    for index, flags in drawn:
        one, other = np.split(flags, 2)
        np.testing.assert_array_equal(*np.split(index, 2))
        assert 0 < one.mean() < 1
        np.testing.assert_array_equal(other, 1 - one)


@pytest.mark.parametrize(
    ("bandwidths", "early_stopping", "n_times"),
    [((0.1, 1.0), True, 0), ("relative", True, 3), ("relative", False, 2)],
)
def test_only_adaptive_densities_adapt_in_each_epoch(
    data, monkeypatch, bandwidths, early_stopping, n_times
):
    adapted = []
    monkeypatch.setattr(Density, "adapt", lambda self, *given: adapted.append(given))
    model = make_model(data[0], bandwidths)
    make_trainer(data, model, max_iter=2, early_stopping=early_stopping).train()
    assert len(adapted) == n_times


def test_bandwidths_of_the_training_are_those_of_the_distances(data):
    model = make_model(data[0], "relative")
    bare = model.densities[0].bandwidths_
    make_trainer(data, model, max_iter=1, early_stopping=False).train()
    assert model.densities[0].bandwidths_[0] < 0.9 * bare[0]


@pytest.mark.parametrize(
    ("losses", "n_epochs", "best"),
    [([3, 1, 2, 1, 1, 0], 4, 1), ([1, 2, 2, 2], 3, 0), ([3, 2, 1, 0, -1, -2], 5, 5)],
)
def test_early_stopping_restores_the_best_state(data, monkeypatch, losses, n_epochs, best):
    """Three epochs without improvement, or the last epoch, end the training."""
    monkeypatch.setattr(module, "PATIENCE", 3)
    trainer, states = make_trainer(data, max_iter=5), []

    def scripted_loss():
        states.append(copy.deepcopy(trainer.weights.state_dict()))
        return float(losses[len(states) - 1])

    monkeypatch.setattr(trainer, "_held_out_loss", scripted_loss)
    history = trainer.train()
    assert history["validation_loss"] == losses[: n_epochs + 1]
    restored = trainer.weights.state_dict()
    assert all(torch.equal(restored[name], states[best][name]) for name in restored)


def test_held_out_graphs_are_neither_trained_on_nor_references(data):
    trainer = make_trainer(data)
    assert len(trainer.held_out) == 3
    assert sorted([*trainer.held_out, *trainer.trained_on]) == list(range(30))
    # One twin a flag for each held-out graph, with the graph's own sizes.
    sizes = data[0][trainer.held_out].n_nodes_per_graph
    assert trainer.held_out_twins.n_nodes_per_graph.tolist() == [*sizes, *sizes]


@pytest.mark.parametrize(
    ("n", "batch_size", "sizes"),
    [(3, 2, [3]), (129, 128, [65, 64]), (256, 128, [128, 128]), (2, 9, [2])],
)
def test_batches_have_two_graphs_or_more(n, batch_size, sizes):
    assert [len(part) for part in _split(np.arange(n), batch_size)] == sizes


# -- the loss of a contrast ------------------------------------------------------------------------

F, TWINS = np.split(np.random.RandomState(0).rand(3, 12), [4], axis=1)
F[0, 0], TWINS[0, ::4] = 1e-9, 1e-8


def contrast_of(f, twins):
    return contrast(torch.tensor(np.tile(f, 2)).log(), torch.tensor(twins).log()).item()


def test_contrast_equals_the_papers_loss():
    """The mean over three distances, four graphs and two twins of each."""
    f, twins = F, TWINS
    both = np.tile(f, 2)
    expected = np.mean((twins - both) / (both + 1e-6))
    assert contrast_of(f, twins) == pytest.approx(expected, rel=1e-12)
    assert contrast_of(f, 1e-300 * twins) == pytest.approx(-np.mean(f / (f + 1e-6)))
    gone = torch.full((1, 3), -1e6, dtype=torch.float64)
    assert contrast(gone, gone).item() == 0  # no density at all is no evidence


def test_log_contrast_equals_the_loss_of_the_code():
    f, twins = F, TWINS
    loss = log_contrast(torch.tensor(np.tile(f, 2)).log(), torch.tensor(twins).log()).item()
    expected = np.mean(np.log(np.tile(f, 2) + 1e-6) - np.log(twins + 1e-6))
    assert loss == pytest.approx(-expected, rel=1e-12)


def test_a_twin_far_denser_than_its_graph_does_not_outweigh_the_others():
    log_f = torch.tensor([[0.0, 0.0, 0.0]])
    twins = torch.tensor([[-1.0, 10.0, 900.0]], requires_grad=True)
    loss = contrast(log_f, twins)
    loss.backward()
    expected = [math.exp(-1), math.exp(6) * (1 + 10 - 6), math.exp(6) * (1 + 900 - 6)]
    assert loss.item() == pytest.approx(np.mean(expected) - 1, rel=1e-5)
    np.testing.assert_allclose(3 * twins.grad[0], np.exp([-1, 6, 6]), rtol=1e-5)


def test_damped_contrast_equals_the_loss_of_arrays():
    f, twins = torch.tensor(np.tile(F, 2)), torch.tensor(TWINS)
    ratios = np.log(np.tile(F, 2) / TWINS)
    expected = -LOG_RATIO_SCALE * np.arcsinh(ratios / LOG_RATIO_SCALE).mean()
    assert damped_contrast(f.log(), twins.log()).item() == pytest.approx(expected, rel=1e-12)


def test_copies_do_not_count(data):
    graphs = data[0]
    trainer = make_trainer((graphs, [graphs, data[1][0]]), swap=0.0, learn_encoder=False)
    trainer._compute_distances()
    is_copy = trainer.of_training.is_copy
    n = len(trainer.trained_on)
    assert is_copy[:n].all()
    assert not is_copy[n:].all()
    log_f = torch.zeros((1, n))
    log_twins = torch.cat([torch.full((1, n), 9.0), torch.full((1, n), -1.0)], 1)
    loss = trainer._contrast_of(log_f, log_twins, np.repeat([True, False], n)).item()
    assert loss == pytest.approx(math.exp(-1) - 1, rel=1e-4)
    history = trainer.train()
    assert history["copies"][1] == pytest.approx(is_copy.mean())


def test_without_the_encoder_nothing_but_weights_moves(data, monkeypatch):
    model = make_model(data[0])
    trainer = make_trainer(data, model, learn_encoder=False, weights_learning_rate=0.1)
    trainer._compute_distances()
    before = copy.deepcopy(model.encoder.state_dict())
    monkeypatch.setattr(trainer, "_compute_distances", lambda: None)
    monkeypatch.setattr(module.gpu, "squared_mmd", None)  # no distance is computed again
    assert {x.dtype for x in trainer.of_training.of_graphs} == {torch.float64}
    history = trainer.train()
    after = model.encoder.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert history["loss"][-1] < history["loss"][1]
    assert history["validation_loss"][-1] != history["validation_loss"][0]
