import numpy as np
import pytest
import torch

from skgraphkde import GCN, KDE, Contrastive, GraphKDEDetector
from skgraphkde.training.contrastive import contrast
from tests.conftest import random_graphs


def test_contrast_equals_the_papers_loss():
    f, twin = np.array([0.5, 2.0, 1e-9]), np.array([0.25, 4.0, 1e-8])
    loss = contrast(torch.tensor(f).log(), torch.tensor(twin).log())
    assert loss.item() == pytest.approx(np.mean((twin - f) / (f + 1e-6)), rel=1e-12)
    twice = contrast(torch.tensor(f).log(), torch.tensor([*twin, *f]).log())
    assert twice.item() == pytest.approx(loss.item() / 2, rel=1e-12)  # the second twin is the graph
    gone = torch.full((3,), -1e6, dtype=torch.float64)
    assert contrast(torch.tensor(f[:2]).log(), gone[:2]).item() == pytest.approx(-1, abs=1e-5)
    assert contrast(gone, gone).item() == 0  # no density at all is no evidence


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
