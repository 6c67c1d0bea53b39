import math

import numpy as np
import pytest
import torch

from skgraphkde import Contrastive, Density, GraphKDEDetector
from skgraphkde.distances.mmd import FIVE_DECADES
from skgraphkde.explanation import nearest_references
from skgraphkde.learned.trainer import LOG_LARGEST_RATIO, contrast, log_contrast
from skgraphkde.views.kernels import log_densities
from tests.conftest import random_graphs
from tests.test_contributions import Sums

F, TWINS = np.split(np.random.RandomState(0).rand(3, 12), [4], axis=1)
F[0, 0], TWINS[0, ::4] = 1e-9, 1e-8


def contrast_of(f, twins):
    return contrast(torch.tensor(f).log(), torch.tensor(twins).log()).item()


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
    loss = log_contrast(torch.tensor(f).log(), torch.tensor(twins).log()).item()
    expected = np.mean(np.log(np.tile(f, 2) + 1e-6) - np.log(twins + 1e-6))
    assert loss == pytest.approx(-expected, rel=1e-12)


def test_the_papers_ratios_are_never_replaced():
    """A squared MMD is between 0 and 2."""
    nearest, farthest = log_densities(np.array([[0.0], [2.0]]), np.zeros(5), np.array(FIVE_DECADES))
    assert nearest - farthest < LOG_LARGEST_RATIO


def test_a_twin_far_denser_than_its_graph_does_not_outweigh_the_others():
    log_f = torch.tensor([[0.0, 0.0, 0.0]])
    twins = torch.tensor([[-1.0, 10.0, 900.0]], requires_grad=True)
    loss = contrast(log_f, twins)
    loss.backward()
    expected = [math.exp(-1), math.exp(6) * (1 + 10 - 6), math.exp(6) * (1 + 900 - 6)]
    assert loss.item() == pytest.approx(np.mean(expected) - 1, rel=1e-5)
    np.testing.assert_allclose(3 * twins.grad[0], np.exp([-1, 6, 6]), rtol=1e-5)


def test_under_a_distance_of_ones_own_mixture_weights_are_learned():
    graphs, training = random_graphs(9), Contrastive(max_iter=2)
    detector = GraphKDEDetector(views=Density(Sums()), training=training, random_state=0)
    detector.fit(graphs)
    assert len({tuple(x) for x in detector.history_["mixture_weights"]}) == 3
    assert nearest_references(detector, graphs, 2)[0].shape == (9, 2)
