"""Shared by the readers of files: contents of files, and lists of nodes and edges -> a graph.

Each format has one function that takes a path and a GraphSchema. It returns networkx graphs, each
with its position in the file ("" for a single graph, else "#0", "#1", ...), or raises any error
that says what is wrong with the file.
"""

from __future__ import annotations

import gzip
import json
import os
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PureWindowsPath
from typing import Any

import networkx as nx

from skgraphkde._messages import shown
from skgraphkde.core.graphs.schema import GraphSchema, names_in_schema
from skgraphkde.reading.formats.networkx import simplified
from skgraphkde.reading.problems import UnreadableError

#: A file on disk, or in a zip.
AnyPath = Path | zipfile.Path

# An error is in the place of a graph that cannot be read, where the others can.
Graphs = Iterable[tuple[str, nx.Graph | ValueError]]

#: The errors of reading damaged zips and gzip files; RuntimeError if a zip is encrypted, or packed
#: by an unknown method.
DAMAGED = (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError, RuntimeError)

# Data of nodes that say where a program has drawn them, if data are there that go with a drawing:
# the speed of D3, the colors of Gephi, Sigma and vis.js.
PLACES = ("x", "y", "z", "vx", "vy", "fx", "fy")
DRAWINGS = ({"vx", "vy"}, {"r", "g", "b"}, {"size", "color"})

BLANKS: Any = re.compile(r"\s*")  # matches anywhere


def name_of(path: Any) -> str:
    """What a file is called in tables and pages: its path, with "/" on every system."""
    return str(path).replace(os.sep, "/")


def damaged(path: Any, error: Exception) -> UnreadableError:
    """The error that a zip or a gzip file is damaged, or cannot be unpacked."""
    if isinstance(error, RuntimeError):
        return UnreadableError(f"{path} cannot be unpacked ({error}): unpack it first")
    return UnreadableError(f"{path} is damaged ({error}): delete it and get another copy")


def open_zip(path: Path) -> zipfile.ZipFile:
    """A zip, if the names of its members, which begin with its own, lead to one file in it each.

    Graphs are called by them, and people judge graphs by their names: /home/me/graph.gml in a zip
    is not the file of that name.
    """
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGED as error:
        raise damaged(path, error) from error
    files = [name for name in archive.namelist() if not name.endswith("/")]
    n_of = Counter(map(posixpath.normpath, files))  # "./a" is "a"
    for name in archive.namelist():
        place = PureWindowsPath(name)
        called = f"{path} has a member called {shown(name)!r}"
        if not name:
            raise UnreadableError(f"{path} has a member without a name: pack the files again")
        if place.anchor or ".." in place.parts:  # of any system: a drive, a slash or a backslash
            raise UnreadableError(
                f"{called}, which leads out of the zip: pack the files again, from the folder that "
                "they are in"
            )
        n = n_of[posixpath.normpath(name)]
        if n > 1:
            raise UnreadableError(
                f"{called} {n} times, of which all but the last are hidden: unpack it with another "
                "program, and give each file a name of its own"
            )
    return archive


def read_content(path: AnyPath) -> bytes:
    """The contents of a file, unpacked if its name ends in ".gz"."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix.lower() == ".gz" else content
    except DAMAGED as error:
        raise damaged(path, error) from error


def decoded(content: bytes) -> str:
    """Text in an encoding of Unicode, or else in Latin-1 as Windows has it."""
    try:
        return content.decode(json.detect_encoding(content))
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def documents(content: str | bytes) -> list[Any]:
    """The documents of JSON: one, or one in each line, or one after the other."""
    text = decoded(content) if isinstance(content, bytes) else content
    found = []
    end = BLANKS.match(text).end()
    while end < len(text):
        document, end = json.JSONDecoder().raw_decode(text, end)
        found.append(document)
        end = BLANKS.match(text, end).end()
    return found


def numbered(graphs: Iterable[nx.Graph]) -> Graphs:
    """The graphs of a file with their positions "#0", "#1", ..."""
    return ((f"#{i}", graph) for i, graph in enumerate(graphs))


def single_or_numbered(graphs: list[nx.Graph]) -> Graphs:
    """The graphs of a file of a format that usually holds one."""
    if not graphs:
        raise ValueError("it contains no graph")
    return [("", graphs[0])] if len(graphs) == 1 else list(numbered(graphs))


def named_places(places: Mapping[str, Any], schema: GraphSchema) -> dict[str, Any]:
    """The coordinates of a node in a drawing that the schema names; the others are no data."""
    return {name: places[name] for name in names_in_schema(schema, "node") if name in places}


def without_places(data: dict[str, Any], schema: GraphSchema) -> dict[str, Any]:
    """The data of a node without coordinates that are those of a drawing, unless they are named."""
    if not ({"x", "y"} <= data.keys() and any(marks <= data.keys() for marks in DRAWINGS)):
        return data
    return {k: x for k, x in data.items() if k not in PLACES} | named_places(data, schema)


def build_graph(
    directed: bool, nodes: Iterable[tuple], edges: Iterable[tuple], data: dict[str, Any]
) -> nx.Graph:
    """The graph of lists of nodes and edges; with parallel edges, if there are any.

    networkx alone would merge nodes that are listed twice, and add unknown ends of edges. An end
    "1" is the node 1 if there is no other.

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
    edges = list(edges)
    by_text: dict[str, Any] = {}
    if not all(u in graph and v in graph for u, v, *_ in edges):
        by_text = {str(node): node for node in graph}
    for source, target, of_edge, is_one_way in edges:
        u, v = (x if x in graph else by_text.get(str(x)) for x in (source, target))
        if u is None or v is None:
            stranger = source if u is None else target
            raise ValueError(
                f"the edge ({source!r}, {target!r}) ends at {stranger!r}, a node that is not "
                "listed: list all nodes"
            )
        graph.add_edges_from([(u, v, of_edge)])
        if directed and not is_one_way and u != v:
            graph.add_edges_from([(v, u, of_edge)])
    return simplified(graph)
