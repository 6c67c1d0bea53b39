"""Nearness to confirmed anomalies, and weights learned from them, beside plain transcriptions."""

import itertools
import math
import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphKDEDetector, LeaveOneOut, Statistics, read_graphs
from skgraphkde.core.scoring.combination import (
    _weights,
    learn_weights,
    logistic_minimum,
    nearness_weights,
)
from skgraphkde.core.views.confirmed import ITSELF, Confirmed
from skgraphkde.core.views.neighborhoods import NeighborhoodCounts, Neighborhoods
from skgraphkde.core.views.rows import folds
from skgraphkde.explanation import explain
from tests.conftest import random_graphs, with_data

APART = LeaveOneOut(copies="apart")
NAMES = ["density", "tanimoto", "neighbors", "statistics"]


def fitted(known, names=NAMES):
    return GraphKDEDetector(views=names, calibration=APART).fit(known)


def views_of(detector, anomalies):
    """A view of the anomalies for each view of the detector."""
    model = detector.model_
    context, statistics = model.context(anomalies), model.first(Statistics)
    return [Confirmed(view, statistics).fit(anomalies, context) for view in model.views]


def slow(view, context, i, others, own=-1):
    """Distance of graph i to the nearest of the others, each compared by itself."""
    graph = context(i)
    return min(
        float(view.distances(graph, context(j), np.array([own]))[0, 0]) for j in others if j != i
    )


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_scores_are_distances_to_the_nearest_anomaly(seed):
    graphs = read_graphs(random_graphs(22, seed, max_nodes=14))
    known, anomalies, new = graphs[:15], graphs[15:18], graphs[18:]
    detector = fitted(known)

    def context(i):
        return detector.model_.context(graphs[[i]])

    for view in views_of(detector, anomalies):
        found = view.scores(new, np.full(4, -1), detector.model_.context(new))
        expected = [slow(view.view, context, i, range(15, 18)) for i in range(18, 22)]
        expected = np.where(view.copied(new) >= 0, ITSELF, expected)
        np.testing.assert_allclose(found, expected, atol=1e-6)
        found = view.scores(known, np.arange(15), detector.model_.context(known))
        expected = [slow(view.view, context, i, range(15, 18), own=i) for i in range(15)]
        np.testing.assert_allclose(found, expected, atol=1e-6)
        expected = [slow(view.view, context, i, range(15, 18)) for i in range(15, 18)]
        np.testing.assert_allclose(view.scores_of_anomalies(), expected, atol=1e-6)
    for view in views_of(detector, anomalies[:1]):
        assert np.isposinf(view.scores_of_anomalies()).all()  # the only one


def test_distances_are_those_of_the_definitions():
    """Tanimoto and neighbors by sets of colors, statistics by their metric, density by MMD."""
    graphs = read_graphs([nx.star_graph(4), nx.cycle_graph(6), nx.path_graph(5)])
    detector = fitted(read_graphs([nx.gnp_random_graph(9, 0.3, seed=s) for s in range(12)]))
    context, model = detector.model_.context(graphs), detector.model_
    own = np.full(3, -1)
    of_density, tanimoto, neighbors, statistics = (
        view.distances(context, context, own) for view in model.views
    )
    np.testing.assert_allclose(of_density, model.distances(graphs, graphs), atol=1e-9)
    for distances in (tanimoto, neighbors, statistics):
        np.testing.assert_allclose(distances, distances.T, atol=1e-9)
        np.testing.assert_allclose(np.diag(distances), 0, atol=1e-9)
    neighborhoods = Neighborhoods(graphs, 5, by_label=False)
    counts = NeighborhoodCounts(graphs, neighborhoods).counts.toarray()
    for i, j in itertools.combinations(range(3), 2):
        shared = np.minimum(counts[i], counts[j]).sum()
        assert np.isclose(tanimoto[i, j], 1 - shared / np.maximum(counts[i], counts[j]).sum())
        assert np.isclose(neighbors[i, j] ** 2, ((counts[i] > 0) != (counts[j] > 0)).sum())


def case(seed, who=None, amount=1.0, n=5):
    """Up to five steps by as many people; two of them by one, if there is a name."""
    people = np.random.default_rng(seed).permutation([f"U{i}" for i in range(12)]).tolist()
    if who is not None:
        people[1] = people[3] = who
    graph = nx.path_graph(n, create_using=nx.DiGraph)
    amounts = [amount * (1 + (seed * 7 + v) % 10 / 20) for v in range(n)]
    steps = ["Create", "Approve", "Post", "Pay", "Archive"]
    data = {"activity": steps[:n], "resource": people[:n]}
    return with_data(graph, data | {"amount": amounts}, name=f"case {seed}")


@pytest.mark.parametrize(
    ("odd", "new", "shared", "nodes"),
    [
        (("U1",), ("U2",), r"activity Approve and Pay with the same resource \(here U2\)", (1, 3)),
        ((None, 1, 3), (None, 1, 3), r".*\(activity=Pay\).*number of steps: 3 in both .*", ()),
        ((None, 9), (None, 6), r"average amount of steps: 7.5 here and 9.9 there \(usu.*\)", ()),
    ],
)
def test_what_a_graph_shares_with_an_anomaly_is_told_with_its_nodes(odd, new, shared, nodes):
    known = [case(i, "U9" if i < 3 else None, n=5 - i % 3 // 2) for i in range(80)]
    detector = GraphKDEDetector(schema="all").fit(
        [*known, case(80, *odd)], verdicts=[0] * 80 + [-1]
    )
    reasons = explain(detector, [case(81, *new)], n_reasons=20)
    [told] = reasons.query("kind == 'confirmed'").itertuples()
    like = "like 'case 80', a confirmed anomaly, in what hardly any other case has: "
    assert re.fullmatch(like + shared, told.more or told.reason)
    assert told.nodes == nodes


# -- weights of views ------------------------------------------------------------------------------

PRIOR = np.array([1.0, 0.5, 1.5])


def test_prior_weights_of_nearness_grow_with_the_anomalies():
    np.testing.assert_allclose(nearness_weights(4, 5), 1.0)
    np.testing.assert_allclose(nearness_weights(2, 10**9), 4.0)


def surprises(n_normal, n_anomalies, seed, away=2.0):
    """Surprises of three views, of which the first finds the anomalies."""
    rng = np.random.RandomState(seed)
    normal = rng.exponential(size=(n_normal, 3))
    anomalies = rng.exponential(size=(n_anomalies, 3))
    anomalies[:, 0] += away
    return normal, anomalies


def objective_slow(parameters, normal, anomalies, counts, center, penalty):
    total = 0.0
    for rows, sign, often in ((normal, -1, counts), (anomalies, 1, np.ones(len(anomalies)))):
        for row, count in zip(rows, often, strict=True):
            z = parameters[0] + sum(w * x for w, x in zip(parameters[1:], row, strict=True))
            total += count * math.log(1 + math.exp(-sign * z)) / (2 * sum(often))
    return total + penalty * sum((w - c) ** 2 for w, c in zip(parameters[1:], center, strict=True))


@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([0.01, 0.1, 1.0]))
def test_no_other_parameters_have_a_smaller_loss(seed, n, penalty):
    rng = np.random.RandomState(seed)
    data = (*surprises(30, n, seed), rng.choice([1.0, 5.0], 30), PRIOR, penalty)
    found = logistic_minimum(*data)
    least = objective_slow(found, *data)
    for size in (1e-3, 0.1, 1.0):
        other = found + rng.normal(scale=size, size=4)
        other[1:] = np.maximum(other[1:], 0)
        assert objective_slow(other, *data) > least - 1e-7  # the tolerance of the optimizer


@given(st.integers(0, 10**6))
def test_training_graphs_are_weighted_without_their_fold(seed):
    training, anomalies = surprises(50, 6, seed)
    judged = np.arange(50) % 7 == 0
    counts = np.where(judged, 5.0, 1.0)
    weights = learn_weights(PRIOR, training, anomalies, judged)
    fold, left_out = folds(training)
    for i in (0, 7, 49):
        rows = fold != left_out[i]
        expected = _weights(PRIOR, training[rows], anomalies, counts[rows])
        np.testing.assert_allclose(weights.training[:, i], expected, atol=1e-12)
    order = np.random.RandomState(seed).permutation(50)
    other = learn_weights(PRIOR, training[order], anomalies[::-1], judged[order])
    # The optimizer ends where the gradient is 1e-5.
    np.testing.assert_allclose(other.views, weights.views, atol=1e-2)
    np.testing.assert_allclose(other.training, weights.training[:, order], atol=1e-2)


def test_few_anomalies_change_little():
    """The prior counts as two anomalies."""
    views = learn_weights(PRIOR, *surprises(50, 1, 0, away=9.0), np.zeros(50, bool)).views
    prior = PRIOR / PRIOR.mean()
    assert (views >= 2 / 3 * prior).all()
    assert views[0] > prior[0]


def test_anomalies_that_no_view_finds_leave_the_weights():
    """They are less surprising than any normal graph."""
    training = surprises(50, 0, 0)[0] + 5
    weights = learn_weights(PRIOR, training, np.full((40, 3), 0.01), np.zeros(50, bool))
    np.testing.assert_allclose(weights.views, PRIOR / PRIOR.mean())
