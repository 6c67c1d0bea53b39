"""What all file formats share: contents of files, networkx graphs, and defaults of attributes.

Each format has one function that takes a path and a GraphSchema. It returns networkx graphs (of
large ones, it may return batches of one graph), each with its position in the file ("" for a single
graph, else "#0", "#1", ...), or raises any error that says what is wrong with the file.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.schema import CONVENTIONS, KINDS, GraphSchema

Graphs = Iterable[tuple[str, nx.Graph | GraphBatch]]

# How many times larger than a packed file its contents may be; graphs have a ratio of about 10.
LARGEST_RATIO = 100


class DamagedError(ValueError):
    """A file whose packing is broken; the message names the file and the cure."""


def reason(error: Exception) -> str:
    """What is wrong, by an error of any kind that a parser has raised."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return str(error) or type(error).__name__


def largest_size(path: Path) -> int:
    """How many bytes a packed file may expand to, so that a small one cannot fill the memory."""
    return LARGEST_RATIO * path.stat().st_size + 2**20


def read_content(path: Path) -> bytes:
    """The contents of a file, unpacked if its name ends in ".gz"."""
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    limit = largest_size(path)
    try:
        with gzip.open(path) as file:
            content = file.read(limit + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DamagedError(
            f"{path} is damaged or not a gzip file ({error}): delete it and get another copy"
        ) from error
    if len(content) > limit:
        raise DamagedError(
            f"{path} would expand to more than {limit} bytes, {LARGEST_RATIO} times its size: "
            "unpack it, if it is a graph"
        )
    return content


def numbered(graphs: Iterable[nx.Graph | GraphBatch]) -> Graphs:
    """The graphs of a file with their positions "#0", "#1", ..."""
    return ((f"#{i}", graph) for i, graph in enumerate(graphs))


def single_or_numbered(graphs: list[nx.Graph]) -> Graphs:
    """The graphs of a file of a format that usually holds one."""
    if not graphs:
        raise ValueError("it contains no graph")
    return [("", graphs[0])] if len(graphs) == 1 else numbered(graphs)


# -- the schema ------------------------------------------------------------------------------------


def named(schema: GraphSchema, part: str) -> list[str]:
    """The names of data of nodes, or of edges, that the user wrote; `part` is "node" or "edge"."""
    names = [name for kind in KINDS if kind.startswith(part) for name in schema.named(kind)]
    if part == "edge" and schema.edge_weight is not None:
        names.append(schema.edge_weight)
    return names


def _names_read(schema: GraphSchema, part: str) -> list[str] | None:
    """The names of data that may be read; None: all."""
    names = named(schema, part)
    for kind in KINDS:
        if kind.startswith(part):
            value = getattr(schema, kind)
            if value == "all":
                return None
            if value == "auto":
                names += CONVENTIONS[kind]
    return names


# -- nodes and edges of a file -> a networkx graph -------------------------------------------------


class Edge(NamedTuple):
    """An edge of a file."""

    source: Any
    target: Any
    data: dict[str, Any]
    is_directed: bool


def add_node(nodes: dict[Any, dict[str, Any]], node: Any, data: dict[str, Any]) -> None:
    """Add a node to those of a graph, unless it is there."""
    if node in nodes:
        raise ValueError(f"the node {node!r} is listed twice: list it once")
    nodes[node] = data


def first_repeated(names: Iterable[Any]) -> Any:
    """The first name that was there before; None if there is none."""
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def to_graph(nodes: dict[Any, dict[str, Any]], edges: list[Edge], is_directed: bool) -> nx.Graph:
    """A graph with all nodes and edges, which may be parallel.

    Parameters
    ----------
    nodes : dict of id -> data
    edges : list of Edge
        If only some of them are directed, the others become two arcs each.
    is_directed : bool
        What the file says of the graph, in case that it has no edges.
    """
    number = {node: i for i, node in enumerate(nodes)}
    directed = any(edge.is_directed for edge in edges) or (is_directed and not edges)
    listed, pairs = [], set()
    for u, v, data, is_arc in edges:
        for end in (u, v):
            if end not in number:
                raise ValueError(
                    f"the edge ({u!r}, {v!r}) ends at {end!r}, a node that is not listed: list all "
                    "nodes"
                )
        listed.append((u, v, data))
        if directed and not is_arc and u != v:
            listed.append((v, u, dict(data)))
    for u, v, _ in listed:
        i, j = number[u], number[v]
        pairs.add((i, j) if directed or i < j else (j, i))
    kinds = {
        (False, False): nx.Graph,
        (False, True): nx.MultiGraph,
        (True, False): nx.DiGraph,
        (True, True): nx.MultiDiGraph,
    }
    graph = kinds[directed, len(pairs) < len(listed)]()
    graph.add_nodes_from(nodes.items())
    graph.add_edges_from(listed)
    return graph


class Defaults:
    """Values of the attributes that elements of a file do not mention.

    Parameters
    ----------
    schema : GraphSchema
        Only names that it may read get their default. With "all" these may be many, and a small
        file with many defaults and many nodes would fill the memory: no more than one default is
        applied for each byte of the file.
    size : int
        The number of bytes of the file.
    """

    def __init__(self, schema: GraphSchema, size: int) -> None:
        self.schema, self.size, self.count = schema, size, 0

    def apply(self, part: str, records: Iterable[dict[str, Any]], values: dict[str, Any]) -> None:
        """Complete the data of nodes, or of edges, in place."""
        names = _names_read(self.schema, part)
        if names is not None:
            values = {name: values[name] for name in names if name in values}
        for record in records if values else ():
            lacking = {name: x for name, x in values.items() if name not in record}
            self.count += len(lacking) if names is None else 0
            if self.count > self.size:
                raise ValueError(
                    f"it has more defaults than its {self.size} bytes let expect: name the "
                    "attributes that are to be read in the schema"
                )
            record |= lacking
