"""Graphs of networkx, directed or not, with or without parallel edges -> Graph."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from numbers import Integral
from typing import Any

import networkx as nx
import numpy as np

from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.core.graphs.schema import GraphSchema, conventional_names, names_in_schema
from skgraphkde.reading.formats.common import Graph, columns_of_graph, flattened, is_missing


def read_networkx(index: int | str, graph: nx.Graph, schema: GraphSchema) -> Graph:
    """Read a graph with any hashable node ids.

    Parameters
    ----------
    index : int or str
        The position of the graph in the caller's list, or its name in a file.
    graph : networkx.Graph
    schema : GraphSchema
    """
    name = name_of(graph)
    index = name if name and isinstance(index, int) else index  # as results and pages call it
    names = list(graph)
    if any(map(operator.ne, names, names)):  # NaN, of which each is a node of its own
        raise GraphError(
            index,
            " has a node whose id is NaN, as a missing end of an edge becomes: drop "
            "or name such edges before the graph is built",
        )
    number = {name: k for k, name in enumerate(names)}
    triples = graph.edges(data=True)
    if graph.is_multigraph():
        triples = graph.edges(keys=True, data=True)
    edges = list(iter(triples))  # whose len() would walk all of them once more
    ends = chain.from_iterable((edge[0], edge[1]) for edge in edges)
    pairs = np.fromiter(map(number.__getitem__, ends), np.int64, 2 * len(edges)).reshape(-1, 2)
    return Graph(
        index,
        names,
        pairs,
        "arcs" if graph.is_directed() else "edges",
        _columns([data for _, data in graph.nodes(data=True)], schema, "node"),
        _edge_columns(graph, edges, schema),
        columns_of_graph(graph.graph, schema),
        is_simple=not graph.is_multigraph(),
        name=name,
    )


def _edge_columns(graph: nx.Graph, edges: Sequence[tuple], schema: GraphSchema) -> dict[str, Any]:
    """The data of edges, with the keys of parallel edges as "key", if they say what an edge is.

    Keys that only count, as networkx gives them, and keys of which each is of one edge, do not,
    unless the schema names them, as fit read them of other graphs.
    """
    columns = _columns([edge[-1] for edge in edges], schema, "edge")
    if not graph.is_multigraph() or "key" in columns:
        return columns
    keys = [edge[2] for edge in edges]
    are_names = any(not isinstance(key, Integral) for key in keys)
    is_named = "key" in names_in_schema(schema, "edge")
    if is_named or (are_names and len(set(keys)) < len(keys)):
        is_read = schema.reads_all("edge") or "key" in conventional_names(schema, "edge")
        columns["key"] = list(map(str, keys)) if is_read else None
    return columns


def name_of(graph: nx.Graph) -> str:
    """The name of a graph; "" if it has none.

    Parameters
    ----------
    graph : networkx.Graph
    """
    given = graph.graph.get("name")
    return str(given) if isinstance(given, Hashable) and not is_missing(given) else ""


def _columns(
    records: Sequence[Mapping[str, Any]], schema: GraphSchema, part: str
) -> dict[str, Any]:
    """Columns of a dict per node, or per edge; None for those that are not read."""
    read = set(conventional_names(schema, part))
    reads_all = schema.reads_all(part)
    distinct = dict.fromkeys(map(tuple, records))
    fullest = max(distinct, key=len, default=())  # whose names are in the order of a table
    columns: dict[str, Any] = dict.fromkeys(chain(fullest, chain.from_iterable(distinct)))
    # Names of dicts with what is read.
    outer = {x[:i] for x in read if "." in x for i, character in enumerate(x) if character == "."}
    for name in columns:
        if name in read or str(name) in outer or reads_all:
            columns[name] = [record.get(name) for record in records]
    return flattened(columns)


def simplified(graph: nx.MultiGraph) -> nx.Graph:
    """The graph as a Graph or DiGraph if no edges are parallel, else as it is."""
    if any(len(keys) > 1 for _, neighbors in graph.adjacency() for keys in neighbors.values()):
        return graph
    return nx.DiGraph(graph) if graph.is_directed() else nx.Graph(graph)
