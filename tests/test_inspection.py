import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from skgraphkde import GCN, MMD, Contrastive, Density, GraphKDEDetector, Readout, read_graphs
from skgraphkde.distances import DiscreteMeasures
from skgraphkde.inspection import mean_distances, nearest_references, node_contributions
from skgraphkde.inspection.wording import feature_words, usually
from tests.conftest import permuted, random_graphs

SETTINGS = {
    "defaults": {},
    "biased": {"views": (Density(MMD(estimator="biased")), "novelty")},
    "random features": {"views": (Density(MMD(method="random_features")), "novelty")},
    "mean": {"views": ("novelty", Density("mean"))},
    "trained": {"encoder": GCN(hidden_dim=8), "training": Contrastive(max_iter=2)},
}


@pytest.fixture(scope="module", params=SETTINGS)
def detector(request):
    options = {"random_state": 0, **SETTINGS[request.param]}
    return GraphKDEDetector(**options).fit(random_graphs(20, seed=1))


@pytest.fixture(scope="module")
def graphs():
    return [*random_graphs(8, seed=2), nx.Graph([(0, 1)]), *random_graphs(2, seed=1)]


@pytest.fixture(scope="module", autouse=True)
def labeled(graphs):
    nx.set_node_attributes(graphs[8], "C", "label")


def squared_distances(detector, graphs, view):
    """Signed, as the kernels take them."""
    model = detector.model_
    batches = detector.read(graphs), model.references
    measures = [model._measures(batch)[0] for batch in batches]
    P, Q = (DiscreteMeasures(x.points, x.weights, x.sizes) for x in measures)
    return model.views[view].distance_.squared(P, Q)


def rounding(detector):
    views = detector.model_.views
    methods = [getattr(views[i].distance_, "method", "exact") for i in detector.model_.densities]
    return 1e-5 if "random_features" in methods else 1e-9


@pytest.mark.parametrize("k", [1, 20])
def test_contributions_sum_to_the_squared_distance(detector, graphs, k):
    for view in detector.model_.densities:
        shares = node_contributions(detector, graphs, k, view=view)
        assert [len(x) for x in shares] == [len(graph) for graph in graphs]
        squared = squared_distances(detector, graphs, view)
        _, indices = nearest_references(detector, graphs, k, view=view)
        expected = np.take_along_axis(squared, indices, axis=1).mean(axis=1)
        np.testing.assert_allclose([x.sum() for x in shares], expected, atol=rounding(detector))


@given(st.integers(0, 10**6))
def test_contributions_follow_the_nodes(seed):
    detector = GraphKDEDetector().fit(random_graphs(12, seed=1))
    batch = read_graphs(random_graphs(4, seed))
    shuffled = permuted(batch, seed)
    for view in detector.model_.densities:
        one, other = (node_contributions(detector, x, view=view) for x in (batch, shuffled))
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(np.sort(a), np.sort(b), atol=1e-9)


def test_nearest_references_are_those_of_all_distances(detector, graphs):
    tolerance = rounding(detector)  # of squares: the root of a 0 that is rounded may be 1e-7
    for view in detector.model_.densities:
        distances, indices = nearest_references(detector, graphs, 4, view=view)
        squared = np.maximum(squared_distances(detector, graphs, view), 0)
        np.testing.assert_allclose(distances**2, np.sort(squared, axis=1)[:, :4], atol=tolerance)
        found = np.take_along_axis(squared, indices, axis=1)
        np.testing.assert_allclose(found, distances**2, atol=tolerance)
    assert nearest_references(detector, graphs, 99)[1].shape == (len(graphs), 20)


def test_the_most_typical_graph():
    """Cycles, and one star: a cycle is typical, the star the extreme."""
    graphs = [nx.cycle_graph(n) for n in (6, 7, 8, 9)] + [nx.star_graph(7)]
    detector = GraphKDEDetector(views=Density(MMD(estimator="biased"))).fit(graphs)
    D = detector.pairwise_distances(graphs)
    np.testing.assert_allclose(mean_distances(detector), D.sum(axis=1) / 4, atol=1e-6)
    assert mean_distances(detector).argmax() == 4


def test_planted_nodes_come_first(capsys):
    """A clique of four, hung into a cycle: its nodes are what is odd."""
    rng = np.random.RandomState(0)
    detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(12, 40)])
    aurocs = []
    for _ in range(30):
        graph = nx.cycle_graph(int(rng.randint(12, 40)))
        planted = [1000, 1001, 1002, 1003]
        graph.add_edges_from(nx.complete_graph(planted).edges)
        graph.add_edge(0, planted[0])
        shares = node_contributions(detector, [graph])[0]
        aurocs.append(roc_auc_score([node in planted for node in graph], shares))
    with capsys.disabled():
        print(f"\nplanted nodes against the others: AUROC {np.mean(aurocs):.3f}")
    assert np.mean(aurocs) > 0.95


def test_what_cannot_be_explained(graphs):
    for distance in (Readout("sum"), "sum"):
        detector = GraphKDEDetector(views=("novelty", Density(distance))).fit(graphs[:8])
        message = (
            f"the distance of Density(distance={distance!r}) is not a sum over nodes: use 'mmd', or"
        )
        with pytest.raises(ValueError, match=re.escape(message)):
            node_contributions(detector, graphs)
    assert nearest_references(detector, graphs, 2)[0].shape == (len(graphs), 2)
    with pytest.raises(ValueError, match="k must be an integer of at least 1, got 0"):
        nearest_references(detector, graphs, 0)
    for function in (nearest_references, node_contributions):
        with pytest.raises(NotFittedError):
            function(GraphKDEDetector(), graphs)
    with pytest.raises(NotFittedError):
        mean_distances(GraphKDEDetector())


def test_usual_values_in_words():
    known = np.linspace(3.9, 4.1, 201)
    assert usually(3.7, known) == ("3.7", "3.91 to 4.09")
    assert usually(4.0, np.full(9, 4.0)) == ("4", "4")
    assert usually(1.5851, np.full(9, 1.5853)) == ("1.5851", "1.5853")
    assert usually(0.5, np.full(9, 0.25), percent=True) == ("50%", "25%")
    assert usually(1.2, np.repeat([-3.47e-18, 3.47e-18], 10)) == ("1.2", "0")  # rounding
    assert usually(1e-9, np.full(9, 2e-9)) == ("1e-09", "2e-09")
    known = np.full(5, 0.25)
    said = feature_words("random_walk", "directed_return_3", 0.5, known, "")
    assert said == "walks of 3 steps along the directions come back more often: 0.5; usually 0.25"
    none, all_nodes = (
        feature_words("degree", "degree=2-3", x, known, "degree=2-3") for x in (0, 1)
    )
    assert none == "no node has degree 2 or more; usually 25%"
    assert all_nodes == "100% of the nodes have degree 2 or more; usually 25%"
    assert feature_words("degree", "degree=1", 0.5, known, "degree=2-3").startswith("50% of the")
    assert feature_words("edge", "log(1+edges)", np.log(3), np.full(5, np.log(2)), "") == (
        "2 edges of a node (geometric mean); usually 1"
    )
