"""Graphs of igraph: an ``igraph.Graph`` -> Graph. igraph itself is not imported."""

from __future__ import annotations

from typing import Any

from skgraphkde.graphs.formats.common import Columns, Graph, columns_of_graph, pair_array


def read_igraph(index: int, graph: Any, _: tuple[str, ...]) -> Graph:
    """Read a graph; messages name its nodes by the attribute "name" if it has one.

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : igraph.Graph
    _ : tuple of str
        Names of node data, which this format does not need.
    """
    given = graph.vs.attributes()
    names = graph.vs["name"] if "name" in given else range(graph.vcount())
    pairs = pair_array(graph.get_edgelist())
    kind = "arcs" if graph.is_directed() else "edges"
    of_nodes, of_edges = _columns(graph.vs, ("name",)), _columns(graph.es)
    of_graph = {name: graph[name] for name in graph.attributes()}
    whole = columns_of_graph(of_graph)
    return Graph(index, names, pairs, kind, of_nodes, of_edges, whole)


def _columns(sequence: Any, ignored: tuple[str, ...] = ()) -> Columns:
    def get(name: str) -> list | None:
        return sequence[name] if name in sequence.attributes() else None

    return Columns([name for name in sequence.attributes() if name not in ignored], get)
