"""Shared by all file formats: contents of files, checks of nodes and edges, defaults.

Each format has one function that takes a path and a GraphSchema. It returns networkx graphs, each
with its position in the file ("" for a single graph, else "#0", "#1", ...), or raises any error
that says what is wrong with the file.
"""

from __future__ import annotations

import gzip
import posixpath
import zipfile
import zlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx

from skgraphkde.graphs.assembly import names_in_schema
from skgraphkde.graphs.schema import CONVENTIONS, KINDS, GraphSchema

# The errors of reading a damaged zip; RuntimeError if it is encrypted.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
LARGEST_RATIO = 100  # how many times larger than the zip a file in it may be; usual is about 10

#: A file on disk, or in a zip.
AnyPath = Path | zipfile.Path
HIDDEN = (".", "__MACOSX")  # begin the names of files and folders that nobody means

# An error is in the place of a graph that cannot be read, where the others can.
Graphs = Iterable[tuple[str, nx.Graph | ValueError]]


class UnreadableError(ValueError):
    """A file that is of its format and cannot be read; the message names the file and the cure."""


def reason(error: Exception) -> str:
    """The text about an error of any kind that a parser has raised."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, KeyError):
        return f"{error} is missing"
    if isinstance(error, MemoryError):
        return "it takes more memory than there is"
    return str(error) or type(error).__name__


def read_content(path: AnyPath) -> bytes:
    """The contents of a file, unpacked if its name ends in ".gz"."""
    content = path.read_bytes() if isinstance(path, Path) else read_member(path.root, path.at)
    if path.suffix.lower() != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnreadableError(
            f"{path} is damaged or not a gzip file ({error}): delete it and get another copy"
        ) from error


@contextmanager
def reading_zip(path: str | Path | None) -> Iterator[None]:
    """Damages of a zip are errors that name it."""
    try:
        yield
    except DAMAGED as error:
        raise UnreadableError(
            f"{path} is damaged or not a zip file ({error}): delete it and get another copy"
        ) from error


def files_in_zip(path: Path) -> list[zipfile.Path]:
    """The files in a zip, folder by folder, without hidden ones.

    There are none in what is no zip, and in a damaged one, whose reader says so.

    Raises
    ------
    ValueError
        If a file has a place outside of the zip.
    """
    if path.suffix.lower() != ".zip" or not path.is_file():
        return []
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGED:
        return []
    names = sorted(archive.namelist(), key=lambda name: (posixpath.dirname(name), name))
    outside = [name for name in names if name.startswith("/") or ".." in name.split("/")]
    if outside:
        raise ValueError(
            f"{path} has {outside[0]!r}, which is outside of it: make the zip inside of the folder"
        )
    return [
        zipfile.Path(archive, name)
        for name in names
        if not any(part.startswith(HIDDEN) for part in name.split("/")) and not name.endswith("/")
    ]


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The contents of a file in a zip, unless that would fill the memory."""
    with reading_zip(archive.filename):
        member, packed = archive.getinfo(name), Path(archive.filename or "").stat().st_size
        if member.file_size > LARGEST_RATIO * packed + 2**20:
            raise ValueError(
                f"{archive.filename}, {name} would expand to {member.file_size} bytes, more than "
                f"{LARGEST_RATIO} times the size of the zip: it is not a data set"
            )
        with archive.open(member) as file:  # archive.read does not stop at the size in the header
            return file.read(max(member.file_size, 1))


def numbered(graphs: Iterable[nx.Graph]) -> Graphs:
    """The graphs of a file with their positions "#0", "#1", ..."""
    return ((f"#{i}", graph) for i, graph in enumerate(graphs))


def single_or_numbered(graphs: list[nx.Graph]) -> Graphs:
    """The graphs of a file of a format that usually holds one."""
    if not graphs:
        raise ValueError("it contains no graph")
    return [("", graphs[0])] if len(graphs) == 1 else numbered(graphs)


def check_nodes_and_edges(nodes: Sequence[Hashable], edges: Iterable[Sequence[Hashable]]) -> None:
    """Raise a ValueError if a node is listed twice, or an edge ends at one that is not listed.

    networkx would merge the first and add the second without a word.

    Parameters
    ----------
    nodes : sequence of hashable
    edges : iterable of pairs of hashable
    """
    twice = repeated(nodes)
    if twice:
        raise ValueError(f"the node {twice[0]!r} is listed twice: list it once")
    known = set(nodes)
    for u, v in edges:
        for end in (u, v):
            if end not in known:
                raise ValueError(
                    f"the edge ({u!r}, {v!r}) ends at {end!r}, a node that is not listed: list "
                    "all nodes"
                )


def repeated(names: Iterable[Any]) -> list[Any]:
    """The names that are there more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def names_read(schema: GraphSchema, part: str) -> list[str] | None:
    """The names of data of nodes, of edges, or of graphs, that may be read; None: all.

    Parameters
    ----------
    schema : GraphSchema
    part : {"node", "edge", "graph"}
    """
    values = {kind: getattr(schema, kind) for kind in KINDS if kind.startswith(part)}
    if "all" in values.values():
        return None
    conventions = [x for k, value in values.items() if value == "auto" for x in CONVENTIONS[k]]
    return [*names_in_schema(schema, part), *conventions]


def apply_defaults(
    graph: nx.Graph, part: str, defaults: dict[str, Any], schema: GraphSchema
) -> None:
    """Complete the data of nodes, edges or a graph by the defaults of what may be read.

    Parameters
    ----------
    graph : networkx.Graph
    part : {"node", "edge", "graph"}
    defaults : dict
        From names of attributes to values.
    schema : GraphSchema
    """
    names = names_read(schema, part)
    defaults = {name: x for name, x in defaults.items() if names is None or name in names}
    if part == "graph":
        graph.graph.update(defaults | graph.graph)
        return
    records = graph.nodes(data=True) if part == "node" else graph.edges(data=True)
    for *_, data in records if defaults else ():
        data.update(defaults | data)
