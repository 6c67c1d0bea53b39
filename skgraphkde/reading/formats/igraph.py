"""Graphs of igraph: an ``igraph.Graph`` -> Graph. igraph itself is not imported."""

from __future__ import annotations

from typing import Any

from skgraphkde.core.graphs.schema import GraphSchema, names_in_schema
from skgraphkde.reading.formats.common import Graph, columns_of_graph, pair_array


def read_igraph(index: int, graph: Any, schema: GraphSchema) -> Graph:
    """Read a graph; messages name its nodes by the attribute "name" if it has one.

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : igraph.Graph
    schema : GraphSchema
        Only one that names "name" reads it as data, too.
    """
    nodes = {name: graph.vs[name] for name in graph.vs.attributes()}
    names = nodes.get("name", range(graph.vcount()))
    if "name" not in names_in_schema(schema, "node"):
        nodes.pop("name", None)
    return Graph(
        index,
        names,
        pair_array(graph.get_edgelist()),
        "arcs" if graph.is_directed() else "edges",
        nodes,
        {name: graph.es[name] for name in graph.es.attributes()},
        columns_of_graph({name: graph[name] for name in graph.attributes()}, schema),
    )
