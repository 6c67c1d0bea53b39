"""Shared by the readers of files: contents of files, and lists of nodes and edges -> a graph.

Each format has one function that takes a path and a GraphSchema. It returns networkx graphs, each
with its position in the file ("" for a single graph, else "#0", "#1", ...), or raises any error
that says what is wrong with the file.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import networkx as nx

from skgraphkde.graphs.formats.networkx import simplified

#: A file on disk, or in a zip.
AnyPath = Path | zipfile.Path

# An error is in the place of a graph that cannot be read, where the others can.
Graphs = Iterable[tuple[str, nx.Graph | ValueError]]

#: The errors of reading damaged zips and gzip files; RuntimeError if a zip is encrypted.
DAMAGED = (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError, RuntimeError)


class UnreadableError(ValueError):
    """A complete message about a file, whatever its format; it names the file and the remedy."""


def damaged(path: Any, error: Exception) -> UnreadableError:
    """The error that a zip or a gzip file is damaged."""
    return UnreadableError(f"{path} is damaged ({error}): delete it and get another copy")


def read_content(path: AnyPath) -> bytes:
    """The contents of a file, unpacked if its name ends in ".gz"."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix.lower() == ".gz" else content
    except DAMAGED as error:
        raise damaged(path, error) from error


def numbered(graphs: Iterable[nx.Graph]) -> Graphs:
    """The graphs of a file with their positions "#0", "#1", ..."""
    return ((f"#{i}", graph) for i, graph in enumerate(graphs))


def single_or_numbered(graphs: list[nx.Graph]) -> Graphs:
    """The graphs of a file of a format that usually holds one."""
    if not graphs:
        raise ValueError("it contains no graph")
    return [("", graphs[0])] if len(graphs) == 1 else numbered(graphs)


def build_graph(
    directed: bool, nodes: Iterable[tuple], edges: Iterable[tuple], data: dict[str, Any]
) -> nx.Graph:
    """The graph of lists of nodes and edges; with parallel edges, if there are any.

    networkx alone would merge nodes that are listed twice, and add unknown ends of edges.

    Parameters
    ----------
    directed : bool
    nodes : iterable of (id, dict)
    edges : iterable of (id, id, dict, bool)
        False for an edge that goes both ways, and is two arcs of a directed graph.
    data : dict
        Of the graph.

    Raises
    ------
    ValueError
        If a node is listed twice, or an edge ends at one that is not listed.
    """
    graph: nx.MultiGraph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.graph.update(data)
    for node, of_node in nodes:
        if node in graph:
            raise ValueError(f"the node {node!r} is listed twice: list it once")
        graph.add_nodes_from([(node, of_node)])
    for u, v, of_edge, is_one_way in edges:
        for end in (u, v):
            if end not in graph:
                raise ValueError(
                    f"the edge ({u!r}, {v!r}) ends at {end!r}, a node that is not listed: list "
                    "all nodes"
                )
        graph.add_edges_from([(u, v, of_edge)])
        if directed and not is_one_way and u != v:
            graph.add_edges_from([(v, u, of_edge)])
    return simplified(graph)
