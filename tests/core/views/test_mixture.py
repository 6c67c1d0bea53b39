"""Weights of bandwidths that are learned from log densities of graphs and of their twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from skgraphkde import KDE, Density, GraphKDEDetector, NodeFeatures, read_graphs
from skgraphkde.core.views import density as density_module
from skgraphkde.core.views.density import graphs_with_twins
from skgraphkde.core.views.mixture import MAX_LOGIT, contrast, learn_weights
from tests.conftest import random_graphs

SCALES = st.sampled_from([1.0, 30.0, 300.0])  # distances that are negative make ratios large


def densities_of(seed, scale, n=40, n_bandwidths=5):
    rng = np.random.RandomState(seed)
    of_graphs, of_twins = scale * rng.standard_normal((2, n, n_bandwidths))
    return of_graphs, of_twins - 1


@given(st.integers(0, 10**6), SCALES)
def test_the_gradient_is_that_of_the_loss(seed, scale):
    of_graphs, of_twins = densities_of(seed, scale)
    logits = np.random.RandomState(seed).standard_normal(5)
    _, gradient = contrast(logits, of_graphs, of_twins)
    for k, step in enumerate(1e-5 * np.eye(5)):
        up, down = (contrast(x, of_graphs, of_twins)[0] for x in (logits + step, logits - step))
        assert (up - down) / 2e-5 == pytest.approx(gradient[k], abs=1e-5)


@given(st.integers(0, 10**6), SCALES)
def test_learned_weights_are_a_minimum_in_whatever_order(seed, scale):
    of_graphs, of_twins = densities_of(seed, scale)
    logits = learn_weights(of_graphs, of_twins)
    loss, gradient = contrast(logits, of_graphs, of_twins)
    assert loss <= contrast(np.zeros(5), of_graphs, of_twins)[0]
    is_free = np.abs(logits) < MAX_LOGIT - 1e-9
    assert np.abs(gradient[is_free]).max(initial=0.0) < (1e-9 if is_free.all() else 1e-4)
    order = np.random.RandomState(seed).permutation(len(of_graphs))
    again = learn_weights(of_graphs[order], of_twins[order])
    np.testing.assert_allclose(again, logits, atol=1e-6)


def test_the_bandwidth_that_tells_twins_apart_has_the_weight():
    of_graphs, of_twins = np.zeros((30, 3)), np.zeros((60, 3))
    of_twins[:, 1] = -4
    assert softmax(learn_weights(of_graphs, of_twins))[1] > 0.9


def test_weights_are_equal_where_twins_say_nothing():
    of_graphs = np.random.RandomState(0).standard_normal((20, 4))
    assert np.ptp(learn_weights(of_graphs, of_graphs)) < 1e-6
    assert not learn_weights(of_graphs, np.full((20, 4), -np.inf)).any()


def test_a_view_learns_from_its_references(monkeypatch):
    graphs = read_graphs(random_graphs(30, max_nodes=14))
    view = Density(kernels=KDE(bandwidths=(1e-3, 0.2, 50.0), size_kernel=False))
    detector = GraphKDEDetector(features=NodeFeatures("given"), views=view).fit(graphs)
    learned = detector.model_.views[0].mixture_weights_
    assert np.ptp(learned) > 0.1
    assert detector.set_params(views__kernels__weights="equal").fit(graphs)
    assert np.ptp(detector.model_.views[0].mixture_weights_) == 0
    monkeypatch.setattr(density_module, "MAX_NODES", 1)  # no graph is small enough
    detector.set_params(views__kernels__weights="learned").fit(graphs)
    assert np.ptp(detector.model_.views[0].mixture_weights_) == 0


def test_few_and_small_graphs_have_twins(monkeypatch):
    graphs = read_graphs(random_graphs(30, max_nodes=14))
    assert len(graphs_with_twins(graphs)) == 30
    monkeypatch.setattr(density_module, "MAX_NODES", 8)
    small = np.flatnonzero(graphs.n_nodes_per_graph <= 8)
    np.testing.assert_array_equal(graphs_with_twins(graphs), small)
    monkeypatch.setattr(density_module, "MAX_CUBES", 3 * 8**3)
    assert 3 <= len(graphs_with_twins(graphs)) < len(small)
