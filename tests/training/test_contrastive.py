import numpy as np
import pytest
import torch

from skgraphkde import GCN, KDE, Contrastive, GraphKDEDetector
from skgraphkde.training.contrastive import contrast
from tests.conftest import random_graphs


def contrast_of(f, twin):
    """Of densities in one distance, or in several."""
    log_densities = (torch.tensor(np.atleast_2d(x)).log() for x in (f, twin))
    return contrast(*log_densities).item()


def test_contrast_equals_the_papers_loss():
    f, twin = np.array([0.5, 2.0, 1e-9]), np.array([0.25, 4.0, 1e-8])
    loss = contrast_of(f, twin)
    assert loss == pytest.approx(np.mean((twin - f) / (f + 1e-6)), rel=1e-12)
    twice = contrast_of(f, [*twin, *f])
    assert twice == pytest.approx(loss / 2, rel=1e-12)  # the second twin is the graph
    gone = torch.full((1, 3), -1e6, dtype=torch.float64)
    of_some = contrast(torch.tensor(f[None, :2]).log(), gone[:, :2])
    assert of_some.item() == pytest.approx(-1, abs=1e-5)
    assert contrast(gone, gone).item() == 0  # no density at all is no evidence


def test_contrast_is_the_mean_over_distances_and_twins():
    rng = np.random.RandomState(0)
    f, twins = rng.rand(3, 4), rng.rand(3, 8)
    expected = np.mean(
        [
            (twins[view, j] - f[view, j % 4]) / (f[view, j % 4] + 1e-6)
            for view in range(3)
            for j in range(8)
        ]
    )
    assert contrast_of(f, twins) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_iter": 0},
        {"batch_size": 1},
        {"learning_rate": 0},
        {"learn_weights": "yes"},
        {"leave_one_out": None},
        {"n_twins": 0},
        {"twins": "spectral"},
        {"validation_fraction": 0},
        {"validation_fraction": 1.0},
        {"n_iter_no_change": 0},
        {"checkpoint": 3},
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of Contrastive must be"):
        GraphKDEDetector(encoder="gcn", training=Contrastive(**parameters)).fit(random_graphs(4))


def test_training_needs_something_to_train_and_three_graphs():
    weightless = {"encoder": "propagation", "training": Contrastive(max_iter=1)}
    for changes in ({"density": KDE([0.5])}, {"training": Contrastive(learn_weights=False)}):
        with pytest.raises(ValueError, match="there is nothing to train: encoder='propagation'"):
            GraphKDEDetector(**weightless | changes).fit(random_graphs(4))
    assert GraphKDEDetector(**weightless, random_state=0).fit(random_graphs(4)).history_
    trained = GraphKDEDetector(encoder=GCN(4), training=Contrastive(max_iter=1), random_state=0)
    with pytest.raises(ValueError, match=r"at least 3 graphs, .* got 2: give more, or use"):
        trained.fit(random_graphs(2))
    assert len(trained.fit(random_graphs(3)).history_["loss"]) == 2
