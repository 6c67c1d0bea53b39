"""Nearness to confirmed anomalies, beside distances between all graphs written out."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import Statistics, read_graphs
from skgraphkde.views.base import Property
from skgraphkde.views.confirmed import ITSELF, Confirmed
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
