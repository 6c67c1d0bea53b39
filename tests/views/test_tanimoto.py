"""Similarities of graphs by their neighborhoods, against counting written out."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from skgraphkde import GraphKDEDetector, Neighbors, Tanimoto, read_graphs
from skgraphkde.inspection import explain
from tests.conftest import random_graphs
from tests.views.common import fit, scores_of
from tests.views.test_novelty import neighborhood


def counts_slow(graph, radius, label):
    """How many nodes have each neighborhood, of each radius."""
    return Counter(
        (r, neighborhood(graph, node, r, label)) for r in range(radius + 1) for node in graph
    )


def tanimoto_slow(a, b):
    return (a & b).total() / (a | b).total()


def differing_slow(a, b):
    return np.sqrt(len(set(a) ^ set(b)))


@pytest.mark.parametrize("working_memory", [1024, 0.001])
@pytest.mark.parametrize("labels", ["CNO", ""])
@given(st.integers(0, 10**6), st.integers(0, 3))
def test_scores_equal_the_definition(working_memory, labels, seed, radius):
    graphs, new = (random_graphs(n, seed + n, labels=labels) for n in (12, 5))
    known = [counts_slow(x, radius, bool(labels)) for x in graphs]
    views = (
        (Tanimoto(radius), tanimoto_slow, max),
        (Neighbors(3, radius), differing_slow, lambda values: -np.mean(sorted(values)[:3])),
    )
    for view, slow, pooled in views:
        for some, own in ((new, [-1] * 5), (graphs, range(12))):
            expected = []
            for graph, left_out in zip(some, own, strict=True):
                counts = counts_slow(graph, radius, bool(labels))
                others = [slow(counts, x) for i, x in enumerate(known) if i != left_out]
                expected.append(pooled(others))
            with config_context(working_memory=working_memory):
                found = scores_of(fit(view, read_graphs(graphs)), read_graphs(some), own)
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_fewer_references_than_neighbors():
    references = read_graphs(random_graphs(3))
    few, most = (fit(Neighbors(k), references) for k in (2, 50))
    for own in (np.full(3, -1), np.arange(3)):
        np.testing.assert_array_equal(
            scores_of(most, references, own), scores_of(few, references, own)
        )


@pytest.mark.parametrize("view", ["tanimoto", "neighbors"])
def test_reasons_name_the_nearest_known_graph(view):
    graphs = random_graphs(30)
    detector = GraphKDEDetector(views=("density", view)).fit(graphs)
    odd = [nx.gnp_random_graph(40, 0.1, seed=0)]
    nx.set_node_attributes(odd[0], {node: "CNO"[node % 3] for node in odd[0]}, "label")
    reasons = explain(detector, odd, n_reasons=20).set_index("what")
    [text] = reasons.loc[[detector.model_.view_names[1]], "reason"]
    assert "known graph" in text


def test_copies_are_most_similar():
    graphs = random_graphs(20)
    references = read_graphs(graphs)
    assert (scores_of(fit(Tanimoto(), references), references) == 1).all()
    assert (scores_of(fit(Neighbors(1), references), references) == 0).all()


@pytest.mark.parametrize("view", [Tanimoto(2), Neighbors(2, 2)])
def test_labels_of_its_own_are_those_of_a_new_graph(view):
    """A reference is scored as if it were none: its labels differ from each other, known or not."""
    graphs = random_graphs(8, seed=0)
    for i, graph in enumerate(graphs):
        names = {node: f"{i}.{node}" for node in graph if node % 3}
        nx.set_node_attributes(graph, names, "label")
    batch = read_graphs(graphs)
    known = scores_of(fit(view, batch), batch, range(8))
    for i in range(8):
        others = read_graphs(graphs[:i] + graphs[i + 1 :])
        [expected] = scores_of(fit(view, others), read_graphs(graphs[i : i + 1]))
        assert known[i] == pytest.approx(expected, abs=1e-12)
