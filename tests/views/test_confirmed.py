"""Nearness to confirmed anomalies, and weights learned from them, beside plain transcriptions."""

import math

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import Statistics, read_graphs
from skgraphkde.combination import _weights, learn_weights, logistic_minimum
from skgraphkde.views.anomalies import ITSELF, Confirmed
from skgraphkde.views.base import Property
from skgraphkde.views.rows import folds
from tests.conftest import random_graphs
from tests.views.common import context_of, fit, scores_of


def view_of(known, anomalies):
    return Confirmed.of(fit(Statistics(), known), anomalies, context_of(anomalies))


def slow(statistics, graph, anomalies, own=-1):
    """Distance to the nearest anomaly minus that to the nearest known graph, without its fold."""
    metric = next(metric for metric, _ in statistics.metrics(np.array([own])))
    point = metric.whitened(statistics.table(context_of(graph)))[0]
    to_anomaly, to_known = (
        min(np.linalg.norm(point - x) for x in others)
        for others in (metric.whitened(statistics.table(context_of(anomalies))), metric.points)
    )
    return to_anomaly - to_known


@given(st.integers(0, 10**6))
def test_scores_are_differences_of_distances(seed):
    graphs = read_graphs(random_graphs(22, seed, max_nodes=14))
    known, anomalies, new = graphs[:15], graphs[15:18], graphs[18:]
    view, statistics = view_of(known, anomalies), fit(Statistics(), known)
    expected = [slow(statistics, new[i], anomalies) for i in range(4)]
    expected = np.where(view.copied(new) >= 0, ITSELF, expected)
    np.testing.assert_allclose(scores_of(view, new), expected, atol=1e-9)
    own = np.arange(15)
    expected = [slow(statistics, known[i], anomalies, own=i) for i in own]
    np.testing.assert_allclose(scores_of(view, known, own), expected, atol=1e-9)
    expected = [slow(statistics, anomalies[i], anomalies[np.arange(3) != i]) for i in range(3)]
    np.testing.assert_allclose(view.scores_of_anomalies(), expected, atol=1e-9)
    assert np.isnan(view_of(known, anomalies[:1]).scores_of_anomalies()).all()  # the only one


def test_a_copy_of_an_anomaly_is_nearest_to_it_and_the_reason_names_it():
    rings = [nx.cycle_graph(n) for n in range(10, 20)]
    anomalies = [nx.star_graph(12), nx.complete_graph(9)]
    view = view_of(read_graphs(rings), read_graphs(anomalies).replace(names=["star", "all"]))
    new = read_graphs([*anomalies, rings[3], nx.star_graph(13)])
    scores = scores_of(view, new)
    assert scores[:2].tolist() == [ITSELF, ITSELF]
    assert scores[2] > 0

    def text(i):
        unusual = Property("confirmed", view.name, -scores[[i]], np.zeros(1))
        return view.reason(new[i], unusual, np.zeros(10), context_of(new[i])).text

    assert text(0) == "the same as 'star', a confirmed anomaly"
    assert text(2) == "like 'star', a confirmed anomaly"
    shared = "standard deviation of the numbers of neighbors (3.09 and 2.93; usually 0)"
    assert text(3) == f"like 'star', a confirmed anomaly, in {shared}"


# -- weights of views ------------------------------------------------------------------------------

PRIOR = np.array([1.0, 0.5, 1.5])


def surprises(n_normal, n_anomalies, seed, away=2.0):
    """Surprises of three views, of which the first finds the anomalies."""
    rng = np.random.RandomState(seed)
    normal = rng.exponential(size=(n_normal, 3))
    anomalies = rng.exponential(size=(n_anomalies, 3))
    anomalies[:, 0] += away
    return normal, anomalies


def objective_slow(parameters, normal, anomalies, center, penalty):
    total = 0.0
    for rows, sign in ((normal, -1), (anomalies, 1)):
        for row in rows:
            z = parameters[0] + sum(w * x for w, x in zip(parameters[1:], row, strict=True))
            total += math.log(1 + math.exp(-sign * z)) / (2 * len(rows))
    return total + penalty * sum((w - c) ** 2 for w, c in zip(parameters[1:], center, strict=True))


@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([0.01, 0.1, 1.0]))
def test_no_other_parameters_have_a_smaller_loss(seed, n, penalty):
    data = (*surprises(30, n, seed), PRIOR, penalty)
    found = logistic_minimum(*data)
    least, rng = objective_slow(found, *data), np.random.RandomState(seed)
    for size in (1e-3, 0.1, 1.0):
        other = found + rng.normal(scale=size, size=4)
        other[1:] = np.maximum(other[1:], 0)
        assert objective_slow(other, *data) > least - 1e-7  # the tolerance of the optimizer


@given(st.integers(0, 10**6))
def test_a_view_that_finds_the_anomalies_gets_more_weight(seed):
    weights = learn_weights(PRIOR, *surprises(60, 20, seed, away=6.0))
    assert np.isclose(weights.views.mean(), 1)
    assert (weights.views >= 0).all()
    assert weights.views[0] > PRIOR[0] / PRIOR.mean()


@given(st.integers(0, 10**6))
def test_training_graphs_are_weighted_without_their_fold(seed):
    training, anomalies = surprises(50, 6, seed)
    weights = learn_weights(PRIOR, training, anomalies)
    fold, left_out = folds(training)
    for i in (0, 7, 49):
        expected = _weights(PRIOR, training[fold != left_out[i]], anomalies)
        np.testing.assert_allclose(weights.training[:, i], expected, atol=1e-12)
    order = np.random.RandomState(seed).permutation(50)
    other = learn_weights(PRIOR, training[order], anomalies[::-1])
    # The optimizer ends where the gradient is 1e-5.
    np.testing.assert_allclose(other.views, weights.views, atol=1e-2)
    np.testing.assert_allclose(other.training, weights.training[:, order], atol=1e-2)


def test_few_anomalies_change_little():
    """The prior counts as two anomalies."""
    views = learn_weights(PRIOR, *surprises(50, 1, 0, away=9.0)).views
    prior = PRIOR / PRIOR.mean()
    assert (views >= 2 / 3 * prior).all()
    assert views[0] > prior[0]


def test_anomalies_that_no_view_finds_leave_the_weights():
    """They are less surprising than any normal graph."""
    training = surprises(50, 0, 0)[0] + 5
    weights = learn_weights(PRIOR, training, np.full((40, 3), 0.01))
    np.testing.assert_allclose(weights.views, PRIOR / PRIOR.mean())
