"""Edge lists: a dict ``{"edges": [(u, v), ...]}`` with optional keys -> Graph."""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import chain
from numbers import Integral
from typing import Any

from skgraphkde.graphs.formats.common import (
    Columns,
    Graph,
    as_list,
    columns_of_graph,
    ends_of,
    length,
    longest,
    number_ends,
    plain,
)
from skgraphkde.graphs.naming import shown
from skgraphkde.graphs.problems import GraphError

_RESERVED = ("edges", "nodes", "num_nodes", "directed", "edge_data", "graph")
_TYPES: dict[str, tuple[type, str]] = {
    "directed": (bool, "True or False"),
    "edge_data": (Mapping, "a dict of name -> values"),
    "graph": (Mapping, "a dict of name -> value of the graph"),
}


def read_edge_list(index: int, graph: Mapping, node_names: tuple[str, ...]) -> Graph:
    """Read a dict of edges, which may list an undirected edge in one direction or in both.

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : mapping
    node_names : tuple of str
        Names of node data that may be read; some formats count their nodes by them.
    """
    if graph.get("edges") is None:
        raise GraphError(
            index, " is a dict without 'edges': give it a list of pairs (u, v) of node ids"
        )
    for key, (kind, cure) in _TYPES.items():
        if key in graph and not isinstance(graph[key], kind):
            raise GraphError(index, f": {key!r} must be {cure}, got {shown(repr(graph[key]))}")
    of_edges = graph.get("edge_data", {})
    listed = graph["edges"]
    listed = listed if isinstance(listed, Set) else as_list(index, listed, "edges")
    edges = [ends_of(index, edge) for edge in listed]
    data = {name: x for name, x in graph.items() if name not in _RESERVED}
    columns = [plain(data.get(name)) for name in node_names]
    names = _node_ids(index, graph, edges, columns)
    pairs = number_ends(index, names, edges)

    def in_order(name: Any, values: Any) -> Any:
        if isinstance(listed, Set) and not isinstance(values, Mapping | None):
            raise GraphError(
                index,
                f": 'edges' is a {type(listed).__name__}, which has no order for "
                f"{name!r} to follow: give a list of edges",
            )
        return values

    return Graph(
        index,
        names,
        pairs,
        "arcs" if graph.get("directed") else "either",
        Columns([k for k, x in data.items() if k in node_names or _is_column(x)], data.get),
        Columns(list(of_edges), lambda name: in_order(name, of_edges.get(name))),
        columns_of_graph(graph.get("graph", {})),
        weights=lambda name: in_order(name, of_edges.get(name, data.get(name))),
    )


def _is_column(values: Any) -> bool:
    return isinstance(values, Mapping) or length(plain(values)) is not None


def _node_ids(index: int, graph: Mapping, edges: list[tuple], columns: list) -> Any:
    """The node ids as listed or counted, else those that node data and edges mention."""
    n_nodes = graph.get("num_nodes")
    if graph.get("nodes") is not None:
        names = as_list(index, graph["nodes"], "nodes")
        if n_nodes is not None and n_nodes != len(names):
            raise GraphError(
                index,
                f" has {len(names)} 'nodes', but 'num_nodes' is {n_nodes}: give only one of them",
            )
        return names
    if n_nodes is not None:
        if not isinstance(n_nodes, Integral) or isinstance(n_nodes, bool):
            raise GraphError(index, f": 'num_nodes' is {n_nodes!r}, give an integer")
        return range(n_nodes)
    n_nodes = longest(*columns)
    if n_nodes is not None:
        return range(n_nodes)
    by_node = [values for values in columns if isinstance(values, Mapping)]
    return list(dict.fromkeys(chain(*by_node, *edges)))
