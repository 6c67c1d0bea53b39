"""Find graph files and read their graphs one at a time: paths -> graphs with names.

The functions of this module take paths of files and folders. They return graphs with the names of
their files, keeping no more graphs in memory than one file holds, or raise one error that names the
file and the cure. Nothing in a file is executed, fetched or unpacked to disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files.gml import read_gml
from skgraphkde.graphs.files.graphml import read_graphml
from skgraphkde.graphs.files.json import read_json
from skgraphkde.graphs.files.reading import Graphs, Reading
from skgraphkde.graphs.files.tu import read_tu
from skgraphkde.graphs.readers import read_graphs

__all__ = [
    "FileGraph",
    "attempt",
    "chunks",
    "find_files",
    "iter_graphs",
    "read_batch",
    "read_files",
]

#: Suffix -> the name of the format, its reader, and what to do if a file cannot be read.
FORMATS: dict[str, tuple[str, Callable[[Path, Reading], Graphs], str]] = {
    ".graphml": ("GraphML", read_graphml, "rewrite it with networkx.write_graphml"),
    ".gml": ("GML", read_gml, "rewrite it with networkx.write_gml"),
    ".json": (
        "node-link JSON",
        read_json,
        "write what networkx.node_link_data returns, or a list of such graphs",
    ),
    ".zip": ("a set of the TU collection", read_tu, "give NAME.zip as downloaded"),
}

# A chunk ends at this many graphs or nodes, whichever comes first.
CHUNK_GRAPHS, CHUNK_NODES = 1_000, 50_000

# Called with the error of a file or a graph, which is then skipped. None: raise the error.
OnError = Callable[[Exception], None] | None


class FileGraph(NamedTuple):
    """A graph from a file."""

    name: str  # the path of the file, and "#0", "#1", ... if the file can hold many graphs
    nodes: list[Any]  # the file's node ids, in the order of the batch
    batch: GraphBatch  # of this one graph


def find_files(paths: Iterable[str | os.PathLike]) -> list[Path]:
    """Find the graph files among paths.

    Parameters
    ----------
    paths : iterable of str or path-like
        Files, and folders that are searched with their subfolders. Hidden files and folders are
        skipped.

    Returns
    -------
    list of Path
        In the order of `paths`; the files of a folder are sorted and come before those of its
        subfolders.

    Raises
    ------
    ValueError
        If a path does not exist, a folder contains no graph file, or a file has another suffix.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skgraphkde.graphs.files import find_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "b.gml").touch()
    ...     Path(folder, "a.json").touch()
    ...     [path.name for path in find_files([folder])]
    ['a.json', 'b.gml']
    """
    known = ", ".join(FORMATS)
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            before = len(files)
            files += _files_in(path)
            if len(files) == before:
                raise ValueError(f"the folder {path} contains no graph file ({known})")
        elif not path.exists():
            raise ValueError(f"{path} does not exist: give a graph file or a folder of graph files")
        elif path.suffix.lower() not in FORMATS:
            raise ValueError(
                f"{path} does not have the suffix of a graph file: give one of {known}"
            )
        else:
            files.append(path)
    return files


def _files_in(folder: Path) -> Iterator[Path]:
    for here, subfolders, names in os.walk(folder, onerror=_raise):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and os.path.splitext(name)[1].lower() in FORMATS:
                yield Path(here, name)


def _raise(error: OSError) -> None:
    raise error


def iter_graphs(
    files: Iterable[Path], reading: Reading | None = None, on_error: OnError = None
) -> Iterator[tuple[str, nx.Graph]]:
    """Read files one by one.

    Parameters
    ----------
    files : iterable of Path
        As returned by :func:`find_files`.
    reading : Reading, default=None
        None: ``Reading()``.
    on_error : callable, default=None
        Called with the error of each file that cannot be read, which is then skipped. None: raise
        the error.

    Yields
    ------
    name : str
        The path of the file, and "#0", "#1", ... if the file can hold many graphs.
    graph : networkx.Graph
        With the node ids and attributes of the file.

    Raises
    ------
    ValueError
        If a file is broken or not a regular file.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> from skgraphkde.graphs.files import find_files, iter_graphs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nx.write_graphml(nx.path_graph(3), f"{folder}/path.graphml")
    ...     [(name[-12:], len(graph)) for name, graph in iter_graphs(find_files([folder]))]
    [('path.graphml', 3)]
    """
    for path in files:
        for position, graph in attempt(on_error, read_file, path, reading or Reading()) or ():
            yield f"{path}{position}", graph


def read_files(
    files: Iterable[Path], reading: Reading | None = None, on_error: OnError = None
) -> Iterator[FileGraph]:
    """Like :func:`iter_graphs`, but check each graph and convert it to a batch of one."""
    reading = reading or Reading()
    for name, graph in iter_graphs(files, reading, on_error):
        batch = attempt(on_error, _convert, name, graph, reading)
        if batch is not None:
            yield FileGraph(name, list(graph), batch)


def chunks(graphs: Iterable[FileGraph]) -> Iterator[list[FileGraph]]:
    """Group graphs into lists that are small enough for memory and worth processing together."""
    chunk: list[FileGraph] = []
    n_nodes = 0
    for graph in graphs:
        chunk.append(graph)
        n_nodes += graph.batch.n_nodes
        if len(chunk) == CHUNK_GRAPHS or n_nodes >= CHUNK_NODES:
            yield chunk
            chunk, n_nodes = [], 0
    if chunk:
        yield chunk


def read_batch(files: Iterable[Path], reading: Reading | None = None) -> GraphBatch:
    """Read all graphs of files into one batch; the parameters are those of :func:`iter_graphs`.

    Raises
    ------
    ValueError
        If a file cannot be read, or graphs differ in their node data.
    """
    batches = []
    first = None
    for chunk in chunks(read_files(files, reading)):
        first = first or chunk[0]
        for graph in chunk:
            if _node_data(graph) != _node_data(first):
                raise ValueError(
                    f"{graph.name} has {_node_data(graph)}, but {first.name} has "
                    f"{_node_data(first)}: give all graphs the same node data, or do not read it"
                )
        batches.append(GraphBatch.concatenate([graph.batch for graph in chunk]))
    return GraphBatch.concatenate(batches)


def _node_data(graph: FileGraph) -> str:
    labels, attributes = graph.batch.labels, graph.batch.attributes
    width = 0 if attributes is None else attributes.shape[1]
    return f"{'no ' if labels is None else ''}node labels and {width} node attributes"


def attempt(on_error: OnError, function: Callable, *arguments: Any) -> Any:
    """Call a function; if it raises a ValueError, pass the error to `on_error` and return None."""
    try:
        return function(*arguments)
    except ValueError as error:
        if on_error is None:
            raise
        on_error(error)


# -- one file --------------------------------------------------------------------------------------


def read_file(path: Path, reading: Reading) -> Graphs:
    """The graphs of a file; this call raises all errors, iterating over the result none.

    Parameters
    ----------
    path : Path
        With a suffix in :data:`FORMATS`.
    reading : Reading
        The names of what is read, which some formats need to know.

    Raises
    ------
    ValueError
        If the file cannot be read.
    """
    if not path.is_file():  # opening a pipe would wait forever
        raise ValueError(f"{path} is not a regular file: leave it out")
    title, read, cure = FORMATS[path.suffix.lower()]
    try:
        return read(path, reading)
    except (MemoryError, ImportError):  # not the fault of the file
        raise
    except Exception as error:  # parsers raise many kinds of errors for broken files
        reason = _reason(error).removeprefix(f"{path}").strip(" ,")[:300]
        raise ValueError(f"{path} cannot be read as {title} ({reason}): {cure}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return str(error) or type(error).__name__


# -- networkx -> GraphBatch ------------------------------------------------------------------------


def _convert(name: str, graph: nx.Graph, reading: Reading) -> GraphBatch:
    """A batch of one graph; `graph` itself is changed."""
    _check_present(name, graph, [reading.node_label, *(reading.node_attributes or ())])
    columns = reading.columns
    attributes = ", ".join(columns)
    if len(columns) > 1:
        for data in graph.nodes.values():
            values = [data.get(key) for key in columns]
            if None not in values:
                data[attributes] = [x for v in values for x in (v if isinstance(v, list) else [v])]
    try:
        return read_graphs(
            [graph],
            node_label=reading.label,
            node_attributes=attributes,
            edge_weight=reading.edge_weight,
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}{str(error).removeprefix('graph 0')}") from error


def _check_present(name: str, graph: nx.Graph, wanted: list[str | None]) -> None:
    """Check that the nodes have the attributes that the user named."""
    present = {key for data in graph.nodes.values() for key in data}
    for key in filter(None, wanted):
        if key not in present:
            known = ", ".join(sorted(map(repr, present))[:10]) or "no attributes"
            raise ValueError(f"{name} has no node attribute {key!r}: its nodes have {known}")
