"""Graphs of networkx, directed or not, with or without parallel edges -> Graph."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np

from skgraphkde.graphs.formats.common import Columns, Graph, columns_of_graph, is_missing
from skgraphkde.graphs.problems import GraphError


def read_networkx(index: int, graph: nx.Graph, _: tuple[str, ...] = ()) -> Graph:
    """Read a graph with any hashable node ids.

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : networkx.Graph
    _ : tuple of str
        Names of node data, which this format does not need.
    """
    names = list(graph)
    if any(map(operator.ne, names, names)):  # NaN, of which each is a node of its own
        raise GraphError(
            index,
            " has a node whose id is NaN, as a missing end of an edge becomes: drop "
            "or name such edges before the graph is built",
        )
    number = {name: k for k, name in enumerate(names)}
    edges = list(iter(graph.edges(data=True)))  # whose len() would walk all of them once more
    ends = chain.from_iterable((u, v) for u, v, _ in edges)
    pairs = np.fromiter(map(number.__getitem__, ends), np.int64, 2 * len(edges)).reshape(-1, 2)
    return Graph(
        index,
        names,
        pairs,
        "arcs" if graph.is_directed() else "edges",
        _columns([data for _, data in graph.nodes(data=True)]),
        _columns([data for *_, data in edges]),
        columns_of_graph(graph.graph),
        is_simple=not graph.is_multigraph(),
        name=_name(graph.graph.get("name")),
    )


def node_ids(graphs: Any) -> list[list] | None:
    """The ids of the nodes of networkx graphs; None for others.

    Parameters
    ----------
    graphs : sequence of graphs
    """
    are_networkx = isinstance(graphs, list | tuple | np.ndarray) and all(
        isinstance(graph, nx.Graph) for graph in graphs
    )
    return [list(graph) for graph in graphs] if are_networkx else None


def _name(value: Any) -> str:
    """The name of a graph; "" for what is missing or is no single value."""
    is_single = isinstance(value, Hashable) and not is_missing(value)
    return str(value) if is_single else ""


def _columns(records: Sequence[Mapping[str, Any]]) -> Columns:
    """Columns of a dict per node, or per edge."""

    def get(name: str) -> list | None:
        values = [record.get(name) for record in records]
        return values if any(value is not None for value in values) else None

    distinct = dict.fromkeys(map(tuple, records))
    fullest = max(distinct, key=len, default=())  # whose names are in the order of a table
    return Columns(dict.fromkeys(chain(fullest, chain.from_iterable(distinct))), get)


def simplified(graph: nx.MultiGraph) -> nx.Graph:
    """The graph as a Graph or DiGraph if no edges are parallel, else as it is."""
    if any(len(keys) > 1 for _, neighbors in graph.adjacency() for keys in neighbors.values()):
        return graph
    return nx.DiGraph(graph) if graph.is_directed() else nx.Graph(graph)
