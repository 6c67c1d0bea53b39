"""Find the files of graphs in folders and zips, in order: paths -> sources."""

from __future__ import annotations

import os
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.reading.files.common import (
    DAMAGED,
    AnyPath,
    open_zip,
)
from skgraphkde.reading.files.csv import is_node_table, table_beside
from skgraphkde.reading.files.sources import FORMATS, PACKED, Source, suffix_of
from skgraphkde.reading.files.tables import (
    NO_OPTIONS,
    TableFiles,
    tables_in,
)
from skgraphkde.reading.problems import UnreadableError

# How the tables begin that commands and pages write, which may lie among the graphs.
OF_COMMANDS = (
    b"graph,score,",
    b"graph,node,contribution,",
    b"graph,verdict",
    b"kind,what,finding,",
)
# The same of tables in lines of JSON, whose names may be long.
IN_LINES = re.compile(rb'\{"graph":"(?:[^"\\]|\\.)*","(score|verdict|node|rank|kind|error)":')
HIDDEN = (".", "__MACOSX")  # begin the names of files and folders that nobody means
# Called with the error of a file or a graph, which is then skipped. None: raise the error.
OnError = Callable[[Exception], None] | None


def find_files(
    paths: Iterable[str | os.PathLike],
    on_error: OnError = None,
    tables: Mapping[str, str] = NO_OPTIONS,
    options: Mapping[str, str] = NO_OPTIONS,
) -> list[Source]:
    """Find the graph files among paths.

    Parameters
    ----------
    paths : iterable of str or path-like
        Files, and folders that are searched with their subfolders, each once, also behind symbolic
        links. Hidden files and folders are skipped. A table of nodes, ``NAME.nodes.csv``, is no
        graph of its own: it is read with the edge list ``NAME.csv``. A folder or a zip may have
        tables of many graphs instead, ``edges.csv``, ``nodes.csv`` and ``graphs.csv``. A zip of
        graph files is read as a folder. Tables, pages and models that the shell commands have
        written into a folder are left out, and so are other files, with a warning.
    on_error : callable, default=None
        Called with the error of each path that cannot be used, and of each subfolder that cannot be
        searched, which are then skipped. None: raise the error.
    tables : mapping, default={}
        Fields of :class:`TableFiles`, such as "graph", the column of the graph, by which tables of
        many graphs are found that have other names.
    options : mapping, default={}
        How these are written, as for :func:`iter_graphs`.

    Returns
    -------
    list of Path, zipfile.Path or TableFiles
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
    >>> from skgraphkde.reading.files import find_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "b.gml").touch()
    ...     Path(folder, "a.json.gz").touch()
    ...     [path.name for path in find_files([folder])]
    ['a.json.gz', 'b.gml']
    """
    refuse = on_error or raise_error
    known = (
        f"{', '.join(FORMATS)}; all but {PACKED} also as .gz; tables of many graphs, with "
        "--graph-column in the shell, also as .parquet"
    )
    files: list[Source] = []
    for path in map(Path, paths):
        if path.is_dir():
            found = list(_sources_in(_folders_of(path, refuse), tables, options))
            files += found
            if not found:
                refuse(ValueError(f"the folder {path} contains no graph file ({known})"))
        elif not path.exists():
            refuse(
                ValueError(f"{path} does not exist: give a graph file or a folder of graph files")
            )
        elif suffix_of(path) is None:
            refuse(
                ValueError(f"{path} does not have the suffix of a graph file: give one of {known}")
            )
        else:
            files += _sources_of(path, tables, options)
    for i, source in enumerate(files):
        if isinstance(source, TableFiles) and len(files) > 1:  # whose graphs may share names
            files[i] = replace(source, prefix=f"{Path(str(source.edges)).parent}#")
    return files


def _sources_of(
    path: AnyPath, given: Mapping[str, str], options: Mapping[str, str]
) -> list[Source]:
    """The tables and graph files in a zip that has some, or else the file itself.

    A table of nodes is no source beside its edge list, and a zip in a zip is not opened.
    """
    if is_node_table(path) and table_beside(path, "") is not None:
        return []
    if suffix_of(path) != PACKED or not path.is_file():
        return [path]
    if not isinstance(path, Path):
        return []
    try:
        archive = open_zip(path)
    except (UnreadableError, OSError):  # which its reader says
        return [path]
    return list(_sources_in(_folders_in(archive), given, options, in_zip=True)) or [path]


def _sources_in(
    folders: Iterable[list[AnyPath]],
    given: Mapping[str, str],
    options: Mapping[str, str],
    *,
    in_zip: bool = False,
) -> Iterator[Source]:
    """The tables and graph files of folders; a warning counts the other files, but for ours."""
    others = Counter[str]()
    for every in folders:
        tables = tables_in(every, given, options, with_edges_alone=in_zip)
        read = set()
        if tables is not None:
            yield tables
            read = {str(path) for path in tables.files}
        rest = [path for path in every if str(path) not in read]
        others.update(
            path.suffix or path.name
            for path in rest
            if suffix_of(path) is None and path.suffix not in (".html", ".skg")
        )
        for path in filter(_is_graph, rest):
            yield from _sources_of(path, given, options)
    if others and not in_zip:
        warn(f"left out, as no graph files: {listed([f'{n} {x}' for x, n in others.items()])}")


def _folders_of(folder: Path, refuse: Callable[[Exception], None]) -> Iterator[list[AnyPath]]:
    """The files in a folder, and in each of its subfolders."""
    searched = set()
    for here, subfolders, names in os.walk(folder, onerror=refuse, followlinks=True):
        real = os.path.realpath(here)
        if real in searched:  # by a link to it, or to a folder above
            subfolders.clear()
            continue
        searched.add(real)
        subfolders[:] = sorted(name for name in subfolders if not name.startswith(HIDDEN))
        yield [Path(here, name) for name in sorted(names) if not name.startswith(HIDDEN)]


def _folders_in(archive: zipfile.ZipFile) -> Iterator[list[AnyPath]]:
    """The files in each folder of a zip."""
    names = sorted(archive.namelist(), key=lambda name: (posixpath.dirname(name), name))
    for _, group in groupby(names, posixpath.dirname):
        files: list[AnyPath] = []
        for name in group:
            parts = posixpath.normpath(name).split("/")  # "./a" is "a"
            is_hidden = any(part.startswith(HIDDEN) for part in parts)
            if not is_hidden and not name.endswith("/"):
                files.append(zipfile.Path(archive, name))
        yield files


def _is_graph(path: AnyPath) -> bool:
    """True for a file that has a known suffix and is no table of ours."""
    if suffix_of(path) is None:
        return False
    if path.suffix.lower() not in (".csv", ".jsonl") or not path.is_file():
        return True
    try:
        with path.open("rb") as file:
            start = file.read(10_000).removeprefix(b"\xef\xbb\xbf")
    except DAMAGED:  # which its reader says
        return True
    return not (start.replace(b";", b",").startswith(OF_COMMANDS) or IN_LINES.match(start))


def raise_error(error: Exception) -> None:
    """Raise an error, where the user has given nothing else to do with it."""
    raise error
