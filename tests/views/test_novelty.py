"""Novelty: which neighborhoods are in no reference, against neighborhoods written out."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from skgraphkde import GraphKDEDetector, GraphSchema, NodeFeatures, Novelty, read_graphs
from skgraphkde.explanation import novel_nodes
from tests.conftest import densities, random_graphs

NOBODY = np.full(12, -1)


def neighborhood(graph, node, radius, label):
    """What can be reached from a node in so many steps, as nested tuples."""
    own = str(graph.nodes[node]["label"]) if label else str(graph.degree[node])
    if not radius:
        return (own,)
    inner = neighborhood(graph, node, radius - 1, label)
    around = sorted(neighborhood(graph, v, radius - 1, label) for v in graph[node])
    return (inner, tuple(around))


def scores_slow(graphs, references, own, radius, label):
    """Minus the share of nodes in new neighborhoods, and minus ten times that of new labels."""
    scores = []
    for graph, left_out in zip(graphs, own, strict=True):
        known = {
            neighborhood(reference, node, radius, label)
            for i, reference in enumerate(references)
            if i != left_out
            for node in reference
        }
        new = [neighborhood(graph, node, radius, label) not in known for node in graph]
        scores.append(-np.mean(new))
        if label:
            labels = {
                str(reference.nodes[node]["label"])
                for i, reference in enumerate(references)
                if i != left_out
                for node in reference
            }
            of_nodes = [str(label) for _, label in graph.nodes(data="label")]
            scores[-1] -= 10 * np.mean([label not in labels for label in of_nodes])
    return scores


@pytest.mark.parametrize("working_memory", [1024, 0.001])
@pytest.mark.parametrize("categories", ["label", "degree"])
@given(st.integers(0, 10**6), st.integers(0, 3))
def test_scores_equal_the_definition(working_memory, categories, seed, radius):
    references, new = random_graphs(12, seed=seed), random_graphs(6, seed=seed + 1)
    with config_context(working_memory=working_memory):
        novelty = Novelty(radius, categories).fit(read_graphs(references))
        known = novelty.scores(read_graphs(references), NOBODY)
        of_new = novelty.scores(read_graphs(new), NOBODY[:6])
        alone = novelty.scores(read_graphs(references), np.arange(12))
    is_label = categories == "label"
    assert known.tolist() == [0] * 12
    expected = scores_slow(new, references, NOBODY[:6], radius, is_label)
    np.testing.assert_allclose(of_new, expected, atol=1e-12)
    expected = scores_slow(references, references, range(12), radius, is_label)
    np.testing.assert_allclose(alone, expected, atol=1e-12)
    if not is_label:  # no labels count in addition
        np.testing.assert_allclose(novelty.known_shares, -np.array(expected), atol=1e-12)


def test_some_are_left_out_and_others_are_not(graphs):
    novelty, batch = Novelty(2).fit(read_graphs(graphs)), read_graphs(graphs)
    own = np.where(np.arange(12) % 2, np.arange(12), -1)
    expected = np.where(own < 0, 0, novelty.scores(batch, np.arange(12)))
    np.testing.assert_array_equal(novelty.scores(batch, own), expected)


def test_new_from_is_the_smallest_radius(graphs):
    batch = read_graphs(random_graphs(6, seed=5))
    smallest = Novelty(3).fit(read_graphs(graphs)).new_from(batch)
    for radius in range(4):
        novelty = Novelty(radius).fit(read_graphs(graphs))
        of_graphs = np.split(smallest, batch.node_ptr[1:-1])
        shares = [np.mean(x <= radius) + 10 * np.mean(x == 0) for x in of_graphs]
        np.testing.assert_allclose(-novelty.scores(batch, NOBODY[:6]), shares)
    assert smallest.min() >= 0
    assert smallest.max() == 4


def test_a_label_that_fit_did_not_see_is_new_by_itself(graphs):
    odd = nx.path_graph(4)
    nx.set_node_attributes(odd, dict(enumerate("CXNC")), "label")
    novelty = Novelty(2).fit(read_graphs(graphs))
    smallest = novelty.new_from(read_graphs([odd])).tolist()
    assert smallest[1] == 0
    assert smallest[0] == smallest[2] == 1  # it is next to it


def test_labels_that_only_other_graphs_of_a_batch_have_are_unknown(graphs):
    """The vocabulary of a batch may be larger than what its references use."""
    odd = nx.path_graph(2)
    nx.set_node_attributes(odd, "X", "label")
    everything = read_graphs([*graphs, odd])
    novelty = Novelty(0).fit(everything[:-1])
    assert novelty.scores(everything[[-1]], NOBODY[:1]).tolist() == [-11]


def test_edge_weights_are_ignored(graphs):
    heavy = [graph.copy() for graph in graphs]
    for graph in heavy:
        nx.set_edge_attributes(graph, 7.5, "weight")
    novelty = Novelty(3).fit(read_graphs(graphs))
    batch = read_graphs(heavy, schema=GraphSchema(edge_weight="weight"))
    assert novelty.scores(batch, NOBODY).tolist() == [0] * 12


def test_degrees_where_there_are_no_labels():
    graphs = random_graphs(8, labels="")
    auto, degree = (Novelty(2, x).fit(read_graphs(graphs)) for x in ("auto", "degree"))
    new = read_graphs(random_graphs(5, seed=9, labels=""))
    assert not auto.parts_.vocabulary.by_label
    expected = degree.scores(new, NOBODY[:5])
    np.testing.assert_array_equal(auto.scores(new, NOBODY[:5]), expected)
    with pytest.raises(ValueError, match=r"needs node labels.*use categories='degree'"):
        Novelty(2, "label").fit(read_graphs(graphs))


def test_graphs_without_the_labels_of_fit_are_refused(graphs):
    detector = GraphKDEDetector(features=NodeFeatures(("degree",))).fit(graphs)
    with pytest.raises(ValueError, match="no graph has the node attribute 'label'"):
        detector.score_samples(random_graphs(3, labels=""))


def test_novel_nodes_of_a_detector(graphs):
    detector = GraphKDEDetector(views=(*densities(), Novelty(radius=2))).fit(graphs)
    new = random_graphs(4, seed=7)
    found = novel_nodes(detector, new)
    assert [len(x) for x in found] == [len(graph) for graph in new]
    with pytest.raises(ValueError, match="no view of novelty"):
        novel_nodes(GraphKDEDetector(views="density").fit(graphs), new)


@pytest.mark.parametrize("parameters", [{"radius": -1}, {"radius": 2.5}, {"categories": "color"}])
def test_bad_parameters(parameters, graphs):
    name = next(iter(parameters))
    with pytest.raises(ValueError, match=f"'{name}' parameter of Novelty must be"):
        GraphKDEDetector(views=("density", Novelty(**parameters))).fit(graphs)
