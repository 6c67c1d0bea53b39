"""Nearness to confirmed anomalies, beside distances between all graphs written out."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import Statistics, read_graphs
from skgraphkde.views.base import Property
from skgraphkde.views.confirmed import ITSELF, Confirmed
from tests.conftest import random_graphs


def view_of(n_references, n_verdicts, seed, names=None):
    """The view, and its references and graphs with verdicts: every second is an anomaly."""
    graphs = read_graphs(random_graphs(n_references + n_verdicts, seed, max_nodes=14))
    known, judged = graphs[:n_references], graphs[n_references:]
    if names:
        judged = judged.replace(names=names)
    verdicts = np.where(np.arange(n_verdicts) % 2, 1, -1)
    removed = np.zeros(n_verdicts, dtype=bool)
    return Confirmed.of(Statistics().fit(known), judged, verdicts, removed), known, judged


def slow(statistics, graph, anomalies, own=-1, itself=-1):
    """Distance to the nearest anomaly minus that to the nearest known graph, without its fold."""
    metric = next(metric for metric, _ in statistics.metrics(np.array([own])))
    point = metric.whitened(statistics.table(graph))[0]
    points = np.delete(metric.whitened(statistics.table(anomalies)), [itself] * (itself >= 0), 0)
    to_anomaly, to_known = (
        min(np.linalg.norm(point - x) for x in others) for others in (points, metric.points)
    )
    return to_anomaly - to_known


@given(st.integers(0, 10**6))
def test_scores_are_differences_of_distances(seed):
    view, known, judged = view_of(15, 5, seed)
    anomalies, statistics = judged[[0, 2, 4]], Statistics().fit(known)
    new = read_graphs(random_graphs(4, seed + 1, max_nodes=14))
    expected = [slow(statistics, new[i], anomalies) for i in range(4)]
    expected = np.where(view.copied(new) >= 0, ITSELF, expected)
    np.testing.assert_allclose(view.scores(new, np.full(4, -1)), expected, atol=1e-9)
    own = np.arange(15)
    expected = [slow(statistics, known[i], anomalies, own=i) for i in own]
    np.testing.assert_allclose(view.scores(known, own), expected, atol=1e-9)
    itself = [0, -1, 1, -1, 2]
    expected = [slow(statistics, judged[i], anomalies, itself=itself[i]) for i in range(5)]
    np.testing.assert_allclose(view.scores_of_verdicts(), expected, atol=1e-9)


def test_the_only_anomaly_has_no_score():
    view, *_ = view_of(10, 2, 0)
    of_anomaly, of_normal = view.scores_of_verdicts()
    assert np.isnan(of_anomaly)
    assert np.isfinite(of_normal)


def test_a_copy_of_an_anomaly_is_nearest_to_it_and_the_reason_names_it():
    rings = [nx.cycle_graph(n) for n in range(10, 20)]
    judged = read_graphs([nx.star_graph(12), nx.complete_graph(9)]).replace(names=["star", "all"])
    removed = np.zeros(2, dtype=bool)
    view = Confirmed.of(Statistics().fit(read_graphs(rings)), judged, np.array([-1, -1]), removed)
    new = read_graphs([nx.star_graph(12), nx.complete_graph(9), rings[3]])
    star, full, ring = view.scores(new, np.full(3, -1))
    assert star == full == ITSELF
    assert ring > 0
    unusual = Property("confirmed", view.name, np.array([-star]), np.zeros(1))
    text = view.reason(new[0], unusual, np.zeros(10)).text
    assert text == "the same as 'star', a confirmed anomaly"
    near = read_graphs([nx.star_graph(13)])
    unusual = Property("confirmed", view.name, -view.scores(near, np.full(1, -1)), np.zeros(1))
    text = view.reason(near, unusual, np.zeros(10)).text
    shared = "standard deviation of the numbers of neighbors (3.09 and 2.93; usually 0)"
    assert text == f"like 'star', a confirmed anomaly, in {shared}"
    unusual = Property("confirmed", view.name, np.array([-ring]), np.zeros(1))
    assert view.reason(new[2], unusual, np.zeros(10)).text == "like 'star', a confirmed anomaly"


def test_an_update_keeps_the_verdicts():
    view, known, judged = view_of(15, 4, 3)
    updated = view.updated(known[:10])
    statistics = Statistics().fit(known[:10])
    expected = Confirmed.of(statistics, judged, view.verdicts_, view.removed_)
    own = np.full(4, -1)
    np.testing.assert_array_equal(updated.scores(judged, own), expected.scores(judged, own))
