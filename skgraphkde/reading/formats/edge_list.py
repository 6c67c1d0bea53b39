"""Edge lists: a dict ``{"edges": [(u, v), ...]}`` with optional keys -> Graph."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from skgraphkde._messages import shown
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.core.graphs.schema import GraphSchema, conventional_names
from skgraphkde.reading.formats.common import (
    Graph,
    as_list,
    columns_of_graph,
    ends_of,
    length,
    longest,
    number_ends,
    number_of_nodes,
    plain,
)

_RESERVED = ("edges", "nodes", "num_nodes", "directed", "edge_data", "graph")
_TYPES: dict[str, tuple[type, str]] = {
    "directed": (bool, "True or False"),
    "edge_data": (Mapping, "a dict of name -> values"),
    "graph": (Mapping, "a dict of name -> value of the graph"),
}


def read_edge_list(index: int, graph: Mapping, schema: GraphSchema) -> Graph:
    """Read a dict of edges, which may list an undirected edge in one direction or in both.

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : mapping
    schema : GraphSchema
        What it names is data of nodes, whatever its form, and may say how many nodes there are.
    """
    if graph.get("edges") is None:
        raise GraphError(
            index, " is a dict without 'edges': give it a list of pairs (u, v) of node ids"
        )
    for key, (kind, remedy) in _TYPES.items():
        if key in graph and not isinstance(graph[key], kind):
            raise GraphError(index, f": {key!r} must be {remedy}, got {shown(repr(graph[key]))}")
    ends = [ends_of(index, edge) for edge in as_list(index, graph["edges"], "edges")]
    data = {name: values for name, values in graph.items() if name not in _RESERVED}
    edges = dict(graph.get("edge_data", {}))
    if schema.edge_weight in data:
        edges.setdefault(schema.edge_weight, data[schema.edge_weight])
    of_nodes = conventional_names(schema, "node")
    nodes = {}
    for name, x in data.items():
        if name in of_nodes or isinstance(x, Mapping) or length(plain(x)) is not None:
            nodes[name] = x
    of_graph = {x: y for x, y in data.items() if x not in nodes and x != schema.edge_weight}
    names = _node_ids(index, graph, ends, {name: plain(data.get(name)) for name in of_nodes})
    return Graph(
        index,
        names,
        number_ends(index, names, ends),
        "arcs" if graph.get("directed") else "either",
        nodes,
        edges,
        columns_of_graph(of_graph | dict(graph.get("graph", {})), schema),
    )


def _node_ids(index: int, graph: Mapping, edges: list[tuple], data: Mapping[str, Any]) -> Any:
    """The node ids as listed or counted, else those that node data and edges mention."""
    if graph.get("nodes") is not None:
        return as_list(index, graph["nodes"], "nodes")
    n_nodes = graph.get("num_nodes")
    if n_nodes is None:
        n_nodes = longest(data, data)
    if n_nodes is not None:
        return range(number_of_nodes(index, n_nodes))
    by_node = [values for values in data.values() if isinstance(values, Mapping)]
    return list(dict.fromkeys(chain(*by_node, *edges)))
