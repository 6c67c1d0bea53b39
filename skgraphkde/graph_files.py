"""Graph files: GraphML, GML, JSON, zips of the TU collection -> graphs, one at a time.

In come paths of files and folders. Out go graphs with the names of their files, never more of them
in memory than one file holds; or one error that names the file and the cure.
:mod:`skgraphkde._file_formats` reads one file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx

from skgraphkde._file_formats import FORMATS, Reading, load
from skgraphkde.graphs import GraphBatch
from skgraphkde.readers import read_graphs

__all__ = ["FileGraph", "Reading", "find_files", "iter_graphs", "read_batch", "read_files"]

# What is put together at a time: up to so many graphs, fewer where they are large.
CHUNK_GRAPHS, CHUNK_NODES = 1_000, 50_000

# Takes the error of a file or a graph, which is then left out. None: the error is raised.
OnError = Callable[[Exception], None] | None


class FileGraph(NamedTuple):
    """A graph of a file."""

    name: str  # the path of the file; where it holds many graphs, the path and "#0", "#1", ...
    nodes: list[Any]  # the file's node ids, in the order of the batch
    batch: GraphBatch  # of this one graph


def find_files(paths: Iterable[str | os.PathLike]) -> list[Path]:
    """The graph files that paths lead to.

    Parameters
    ----------
    paths : iterable of str or path-like
        Files, and folders, which are searched with their subfolders, but for hidden files.

    Returns
    -------
    list of Path
        In the order of `paths`; those of one folder sorted, before those of its subfolders.

    Raises
    ------
    ValueError
        If a path leads nowhere, a folder holds no graph file, or a file has another suffix.
    """
    known = ", ".join(FORMATS)
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            before = len(files)
            files += _files_in(path)
            if len(files) == before:
                raise ValueError(f"the folder {path} holds no graph file ({known})")
        elif not path.exists():
            raise ValueError(f"{path} is not there: give a graph file or a folder of them")
        elif path.suffix.lower() not in FORMATS:
            raise ValueError(f"{path} has no suffix of a graph file: give one of {known}")
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
        As :func:`find_files` gives them.
    reading : Reading, default=None
        None: ``Reading()``.
    on_error : callable, default=None
        Called with the error of each file that cannot be read; the others are. None: raise it.

    Yields
    ------
    name : str
        The path of the file; of a file that can hold many graphs, the path and "#0", "#1", ...
    graph : networkx.Graph
        With the node ids and attributes of the file.

    Raises
    ------
    ValueError
        If a file is broken, or is none.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> from skgraphkde.graph_files import find_files, iter_graphs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nx.write_graphml(nx.path_graph(3), f"{folder}/path.graphml")
    ...     [(name[-12:], len(graph)) for name, graph in iter_graphs(find_files([folder]))]
    [('path.graphml', 3)]
    """
    for path in files:
        for place, graph in attempt(on_error, load, path, reading or Reading()) or ():
            yield f"{path}{place}", graph


def read_files(
    files: Iterable[Path], reading: Reading | None = None, on_error: OnError = None
) -> Iterator[FileGraph]:
    """As :func:`iter_graphs`, each graph checked and as a batch of its own."""
    reading = reading or Reading()
    for name, graph in iter_graphs(files, reading, on_error):
        batch = attempt(on_error, _convert, name, graph, reading)
        if batch is not None:
            yield FileGraph(name, list(graph), batch)


def chunks(graphs: Iterable[FileGraph]) -> Iterator[list[FileGraph]]:
    """Lists of as many graphs as are worth being treated together, and fit into memory."""
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
    """All graphs of files as one batch; parameters as for :func:`iter_graphs`.

    Raises
    ------
    ValueError
        If a file cannot be read, or graphs differ in what their nodes have.
    """
    batches = []
    first = None
    for chunk in chunks(read_files(files, reading)):
        first = first or chunk[0]
        for graph in chunk:
            if _node_data(graph) != _node_data(first):
                raise ValueError(
                    f"{graph.name} has {_node_data(graph)}, but {first.name} has "
                    f"{_node_data(first)}: give all graphs the same, or read none of it"
                )
        batches.append(GraphBatch.concatenate([graph.batch for graph in chunk]))
    return GraphBatch.concatenate(batches)


def _node_data(graph: FileGraph) -> str:
    labels, attributes = graph.batch.labels, graph.batch.attributes
    width = 0 if attributes is None else attributes.shape[1]
    return f"{'no ' if labels is None else ''}node labels and {width} node attributes"


def attempt(on_error: OnError, function: Callable, *arguments: Any) -> Any:
    """The result; None if there was an error and somebody took it."""
    try:
        return function(*arguments)
    except ValueError as error:
        if on_error is None:
            raise
        on_error(error)


# -- networkx -> GraphBatch ------------------------------------------------------------------------


def _convert(name: str, graph: nx.Graph, reading: Reading) -> GraphBatch:
    """A batch of one graph, which may be changed."""
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
    """Attributes that the user named are there."""
    there = {key for data in graph.nodes.values() for key in data}
    for key in filter(None, wanted):
        if key not in there:
            known = ", ".join(sorted(map(repr, there))[:10]) or "no attributes"
            raise ValueError(f"{name} has no node attribute {key!r}: its nodes have {known}")
