"""Find graph files: paths of files and folders -> paths of files, and tables, in order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from skgraphkde.graphs.files.common import AnyPath, files_in_zip
from skgraphkde.graphs.files.csv import is_node_table, node_table_of
from skgraphkde.graphs.files.tables import Source, TableFiles, tables_in
from skgraphkde.graphs.files.walk import FORMATS, PACKED, OnError, suffix_of

__all__ = ["find_files"]

# The first columns of the tables that commands and pages write, which may lie among the graphs.
OF_COMMANDS = (b"graph,score,", b"graph,node,contribution,", b"graph,verdict")


def find_files(paths: Iterable[str | os.PathLike], on_error: OnError = None) -> list[Any]:
    """Find the graph files among paths.

    Parameters
    ----------
    paths : iterable of str or path-like
        Files, and folders that are searched with their subfolders, each once, also behind symbolic
        links. Hidden files and folders are skipped. A table of nodes, ``NAME.nodes.csv``, is no
        graph of its own: it is read with the edge list ``NAME.csv``. A folder or a zip may have
        tables of many graphs instead, ``edges.csv``, ``nodes.csv`` and ``graphs.csv``. A zip of
        graph files is read as a folder. Tables that the shell commands have written into a folder
        are left out.
    on_error : callable, default=None
        Called with the error of each path that cannot be used, of each subfolder that cannot be
        searched, and of each table of nodes without an edge list, which are then skipped. None:
        raise the error.

    Returns
    -------
    list of Path, zipfile.Path or TableFiles
        In the order of `paths`; the files of a folder are sorted and come before those of its
        subfolders.

    Raises
    ------
    ValueError
        If a path does not exist, a folder contains no graph file, a file has another suffix, or a
        table of nodes has no edge list.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skgraphkde.graphs.files import find_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "b.gml").touch()
    ...     Path(folder, "a.json.gz").touch()
    ...     [path.name for path in find_files([folder])]
    ['a.json.gz', 'b.gml']
    """
    files: list[Source] = []
    for path in map(Path, paths):
        search = _files_in if path.is_dir() else _sources_of
        found = list(search(path, on_error))
        wrong = _what_is_wrong(path, found)
        if wrong is None:
            files += found
        else:
            (on_error or _raise)(ValueError(wrong))
    files = _without_node_tables(files, on_error)
    if len(files) == 1:
        return files
    return [replace(x, prefix=f"{x.place}#") if isinstance(x, TableFiles) else x for x in files]


def _sources_of(path: Path, on_error: OnError) -> list[Source]:
    """The graph files and the tables in a zip, folder by folder, or else the file."""
    try:
        members = files_in_zip(path)
    except ValueError as error:
        (on_error or _raise)(error)
        return []
    if any(x.name.endswith("_graph_indicator.txt") for x in members):  # of the TU collection
        return [path]
    found: list[Source] = []
    for _, group in groupby(members, lambda x: str(x.parent)):
        files = list(group)
        tables = tables_in(files, with_edges_alone=True)
        read = set() if tables is None else {str(x) for x in tables.files}
        found += [] if tables is None else [tables]
        found += [
            x for x in files if str(x) not in read and _is_graph(x) and suffix_of(x) != PACKED
        ]
    return found or [path]


def _what_is_wrong(path: Path, found: list[Source]) -> str | None:
    """The error of a path that cannot be used, with its cure; None if it can be used."""
    known = f"{', '.join(FORMATS)}; all but {PACKED} also as .gz"
    if path.is_dir():
        return None if found else f"the folder {path} contains no graph file ({known})"
    if not path.exists():
        return f"{path} does not exist: give a graph file or a folder of graph files"
    if suffix_of(path) is None:
        return f"{path} does not have the suffix of a graph file: give one of {known}"
    return None


def _files_in(folder: Path, on_error: OnError) -> Iterator[Source]:
    searched = set()
    for here, subfolders, names in os.walk(folder, onerror=on_error or _raise, followlinks=True):
        real = os.path.realpath(here)
        if real in searched:  # by a link to it, or to a folder above
            subfolders.clear()
            continue
        searched.add(real)
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        tables = tables_in(Path(here, name) for name in names)
        if tables is not None:
            yield tables
        read = () if tables is None else tables.paths
        for path in (Path(here, name) for name in sorted(names)):
            if path not in read and _is_graph(path):
                yield from _sources_of(path, on_error)


def _is_graph(path: AnyPath) -> bool:
    """True for a file that is not hidden, has a known suffix and is no table of ours."""
    if path.name.startswith(".") or suffix_of(path) is None:
        return False
    if path.suffix.lower() != ".csv" or not path.is_file():
        return True
    with path.open("rb") as file:
        return not file.read(max(map(len, OF_COMMANDS))).startswith(OF_COMMANDS)


def _raise(error: Exception) -> None:
    raise error


def _without_node_tables(files: list[Source], on_error: OnError) -> list[Source]:
    """Leave out the tables of nodes, each of which must have an edge list."""
    paths = [x for x in files if not isinstance(x, TableFiles)]
    tables = [x for x in paths if is_node_table(x)]
    if not tables:
        return files
    lists = (x for x in paths if suffix_of(x) == ".csv" and not is_node_table(x))
    read = {str(node_table_of(x)) for x in lists}
    for table in tables:
        if str(table) not in read:
            (on_error or _raise)(
                ValueError(
                    f"{table} is a table of nodes, and no edge list is given that has its name "
                    'without ".nodes": give that as well, or leave the table out'
                )
            )
    return [x for x in files if isinstance(x, TableFiles) or not is_node_table(x)]
