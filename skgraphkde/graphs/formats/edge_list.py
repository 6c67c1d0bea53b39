"""Edge lists: a dict ``{"edges": [(u, v), ...]}`` with optional keys -> Graph."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from numbers import Integral
from typing import Any

from skgraphkde.graphs.formats.common import Fields, Graph, as_list, plain
from skgraphkde.graphs.formats.edges import ends_of, number_ends
from skgraphkde.graphs.formats.finish import graph_from_pairs
from skgraphkde.graphs.formats.nodes import longest, require_nodes


def read_edge_list(index: int, graph: Mapping, fields: Fields) -> Graph:
    """Read a dict of edges, which may list an edge in one direction or in both."""
    if graph.get("edges") is None:
        raise ValueError(
            f"graph {index} is a dict without 'edges': give it a list of pairs (u, v) of node ids"
        )
    edges = [ends_of(index, edge) for edge in as_list(index, graph["edges"], "edges")]
    labels, vectors = (plain(graph.get(name)) for name in (fields.label, fields.attributes))
    names = require_nodes(index, _node_ids(index, graph, edges, labels, vectors))
    pairs = number_ends(index, names, edges)
    weights = graph.get(fields.weight)
    return graph_from_pairs(index, names, pairs, weights, labels, vectors, fields)


def _node_ids(index: int, graph: Mapping, edges: list[tuple], labels: Any, vectors: Any) -> Any:
    """The node ids as listed or counted, else those that labels, attributes and edges mention."""
    n_nodes = graph.get("num_nodes")
    if graph.get("nodes") is not None:
        names = as_list(index, graph["nodes"], "nodes")
        if n_nodes is not None and n_nodes != len(names):
            raise ValueError(
                f"graph {index} has {len(names)} 'nodes', but 'num_nodes' is {n_nodes}: "
                "give only one of them"
            )
        return names
    if n_nodes is not None:
        if not isinstance(n_nodes, Integral):
            raise ValueError(f"graph {index}: 'num_nodes' is {n_nodes!r}, give an integer")
        return range(n_nodes)
    n_nodes = longest(labels, vectors)
    if n_nodes is not None:
        return range(n_nodes)
    by_node = [values for values in (labels, vectors) if isinstance(values, Mapping)]
    return list(dict.fromkeys(chain(*by_node, *edges)))
