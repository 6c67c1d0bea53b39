"""Checks of independence: a graph's result depends on the graph alone.

Each check takes an unfitted estimator and a list of graphs. It raises an AssertionError if a result
changes with the other graphs in the list, with their order, or with the order and names of nodes.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from skgraphkde.testing.common import (
    as_rows,
    assert_same,
    fitted,
    methods_of,
    results_of,
    skip_unless_networkx,
)
from skgraphkde.testing.registry import register_check


@register_check()
def check_subset_invariance(estimator: Any, graphs: Any) -> None:
    """A graph's result does not depend on the other graphs in the list."""
    together = results_of(fitted(estimator, graphs), graphs)
    half = len(graphs) // 2
    for part in (slice(0, half), slice(half, None), slice(half // 2, half // 2 + 3)):
        expected = {name: rows[part] for name, rows in together.items()}
        what = "depends on the other graphs in the list"
        assert_same(results_of(estimator, graphs[part]), expected, what)


@register_check()
def check_order_invariance(estimator: Any, graphs: Any) -> None:
    """Reordering the graphs reorders the results, and changes nothing else."""
    together = results_of(fitted(estimator, graphs), graphs)
    order = np.random.RandomState(0).permutation(len(graphs))
    expected = {name: rows[order] for name, rows in together.items()}
    what = "depends on the order of the graphs"
    assert_same(results_of(estimator, [graphs[i] for i in order]), expected, what)


@register_check()
def check_one_graph(estimator: Any, graphs: Any) -> None:
    """A list of one graph has one result."""
    fitted(estimator, graphs)
    for name in methods_of(estimator):
        shape = np.shape(as_rows(getattr(estimator, name)([graphs[-1]])))
        assert shape[:1] == (1,), f"{name} gives the shape {shape} for a list of one graph"


@register_check()
def check_node_order(estimator: Any, graphs: Any) -> None:
    """The order of a graph's nodes and edges does not matter."""
    skip_unless_networkx(graphs)
    expected = results_of(fitted(estimator, graphs), graphs)
    shuffled = [_shuffled(graph, np.random.RandomState(0)) for graph in graphs]
    assert_same(results_of(estimator, shuffled), expected, "depends on the order of the nodes")


def _shuffled(graph: nx.Graph, rng: np.random.RandomState) -> nx.Graph:
    nodes, edges = list(graph.nodes(data=True)), list(graph.edges(data=True))
    result = type(graph)()
    result.graph.update(graph.graph)
    result.add_nodes_from(nodes[i] for i in rng.permutation(len(nodes)))
    result.add_edges_from(edges[i] for i in rng.permutation(len(edges)))
    return result


@register_check()
def check_node_names(estimator: Any, graphs: Any) -> None:
    """The names of the nodes do not matter."""
    skip_unless_networkx(graphs)
    expected = results_of(fitted(estimator, graphs), graphs)
    renamed = [
        nx.relabel_nodes(graph, {node: f"node {node}" for node in graph}) for graph in graphs
    ]
    assert_same(results_of(estimator, renamed), expected, "depends on the names of the nodes")
