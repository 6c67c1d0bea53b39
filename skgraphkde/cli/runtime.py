"""The runtime of all commands: errors and warnings as lines, files, locks, graphs to skip."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, Any

import click
from filelock import FileLock, Timeout
from tqdm import tqdm

from skgraphkde.cli.exit_codes import INTERRUPTED, SKIPPED
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files import (
    FileGraph,
    Source,
    TableFiles,
    attempt,
    chunks,
    find_files,
    read_files,
)
from skgraphkde.graphs.files.tables import SUFFIXES
from skgraphkde.graphs.naming import printable
from skgraphkde.graphs.problems import GraphError
from skgraphkde.graphs.schema import FittedSchema
from skgraphkde.saving import atomic_file

LONGEST_MESSAGE = 1_000  # characters

#: A batch and the ids of the nodes of each graph -> a result for each graph.
Judge = Callable[[GraphBatch, list], list]


# -- lines on stdout and stderr --------------------------------------------------------------------


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Print warnings, and errors about the input, on one line each.

    The notes of an exception (:meth:`BaseException.add_note`) are printed at the end of the line.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # its encoding may lack the letters of a name
            stream.reconfigure(errors="backslashreplace")
    shown: set[str] = set()  # Python forgets warnings when a package changes the filters

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        line = f"Warning: {_one_line(str(message))}"
        if line not in shown:
            shown.add(line)
            note(line)

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        try:
            yield
        except KeyboardInterrupt as error:
            note(f"Interrupted{_notes(error)}")
            raise click.exceptions.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader of the output has stopped: click exits quietly
            raise
        except click.ClickException as error:
            # Which click declares final, and which is empty where click knows what to say.
            vars(error)["message"] = _one_line(error.message) + _notes(error)
            raise
        except (OSError, ImportError, ValueError) as error:
            raise click.ClickException(message_of(error)) from error


def message_of(error: Exception) -> str:
    """The message of an error and its notes on one line, without the number of an OSError."""
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return _one_line(text) + _notes(error)


def _notes(error: BaseException) -> str:
    return "".join(getattr(error, "__notes__", ()))


def _one_line(message: str) -> str:
    """A message on one line; a long one, which quotes a file, keeps its beginning and its end."""
    text = " ".join(message.split())
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[: LONGEST_MESSAGE // 2]} ... {text[-LONGEST_MESSAGE // 2 :]}"
    return printable(text)


def note(line: str) -> None:
    """Print one line to stderr, above a progress bar."""
    tqdm.write(printable(line), file=sys.stderr)


def echo(line: str, *, err: bool = False) -> None:
    """Print one line to stdout or stderr, with the names in it made printable."""
    click.echo(printable(line), err=err)


# -- output files ----------------------------------------------------------------------------------


@contextlib.contextmanager
def only_writer(path: str) -> Iterator[None]:
    """Hold the lock of an output file; "-" is stdout and has none.

    The operating system ends the lock with the process, so the file that a killed process leaves
    blocks nobody.

    Raises
    ------
    click.ClickException
        If another process holds the lock.
    """
    if path == "-":
        yield
        return
    lock = FileLock(f"{os.path.realpath(path)}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise click.ClickException(
            f"another process is writing {path}: wait until it has ended, or give another -o"
        ) from error
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows removes no open file
            # While it is locked. Who opened it before gets no lock on what has no name any more.
            os.unlink(lock.lock_file)
        lock.release()


@contextlib.contextmanager
def opened(path: str) -> Iterator[IO[str]]:
    """Stdout, or a file that appears once it is complete."""
    if path == "-":
        yield sys.stdout
        return
    with atomic_file(path, "t", encoding="utf-8", newline="") as file:
        yield file


# -- graphs of files -------------------------------------------------------------------------------


class GraphFiles:
    """The graph files of a command; those that cannot be used end it, or are skipped and listed.

    Outputs are no graphs.

    Parameters
    ----------
    paths : sequence of str
        Files and folders, or the table of edges if there are tables.
    outputs : sequence of str
        The files that the command writes; "-" is stdout.
    tables : dict
        The fields of TableFiles, without the path of the edges; empty if graphs have files.
    skip_errors : bool
        Report and list what cannot be used. False: the first error ends the command.
    quiet : bool
        No progress bar.
    """

    def __init__(
        self,
        paths: Sequence[str],
        outputs: Sequence[str],
        tables: dict[str, Any],
        *,
        skip_errors: bool,
        quiet: bool,
    ) -> None:
        self.paths, self.outputs, self.tables = paths, outputs, tables
        self.skip_errors, self.quiet = skip_errors, quiet
        self.skipped: list[str] = []  # what was said of each
        self._others_remain = self._are_tables = False

    def _have_tables(self) -> bool:
        """True if tables are in one of the folders or zips."""
        found = find_files(self.paths, on_error=lambda _: None)
        return any(isinstance(source, TableFiles) for source in found)

    @cached_property
    def sources(self) -> list[Source]:
        """The files, each once, or the tables.

        Raises
        ------
        click.UsageError
            If one of them is an output, which would replace a graph, or a table is missing.
        """
        if self.tables and not self._have_tables():
            tables = _table_files(self.paths, self.tables)
            self._without_outputs(tables.paths)
            self._are_tables = True
            return [tables]
        own = self._without_outputs(self.paths)
        self._others_remain = len(self.paths) > 1
        files: dict[str, Source] = {}
        for source in find_files(self.paths, self.on_error):
            if isinstance(source, TableFiles):
                self._without_outputs(source.paths)
                if {"nodes", "graphs"} & set(self.tables):
                    raise click.UsageError(
                        f"{source.place} has its own tables: leave out --nodes and --graphs"
                    )
                files[str(source)] = replace(source, **self.tables)
            elif os.path.realpath(str(source)) not in own:
                files[str(source)] = source
        self._others_remain = len(files) > 1
        self._are_tables = any(isinstance(x, TableFiles) for x in files.values())
        return [*files.values()]

    def _without_outputs(self, paths: Sequence[str | Path]) -> set[str]:
        """The real paths of the outputs, none of which may be among the paths."""
        own = {os.path.realpath(x) for x in self.outputs if x != "-"}
        for path in paths:
            if os.path.realpath(path) in own:
                raise click.UsageError(f"{path} is a graph and the output: give another output")
        return own

    def progress(self, sources: Sequence[Source] | None = None) -> tqdm:
        """The files, or some of them, with a progress bar on stderr if that is a terminal."""
        sources = self.sources if sources is None else sources
        return tqdm(sources, unit="file", file=sys.stderr, disable=self.quiet or None)

    def read(
        self, schema: FittedSchema, sources: Sequence[Source] | None = None
    ) -> Iterator[FileGraph]:
        """Read the files, or some of them, one by one."""
        return read_files(self.progress(sources), schema, self.on_error)

    def on_error(self, error: Exception) -> None:
        """Report the error of one file or graph, or raise it."""
        if self.skip_errors:
            self.skipped.append(message_of(error))
            note(f"Skipped: {self.skipped[-1]}")
            return
        cure = ""
        of_graph = isinstance(error, GraphError) and error.graph is not None
        concerns_all = isinstance(error, GraphError) and not of_graph
        if (self._others_remain and not concerns_all) or (self._are_tables and of_graph):
            cure = "; --skip-errors leaves out what cannot be used"
        raise click.ClickException(message_of(error) + cure) from error

    def judged(self, judge: Judge, graphs: Iterable[FileGraph]) -> Iterator[tuple[FileGraph, Any]]:
        """Pairs of a graph and its result, without graphs that `judge` fails at."""
        return chain.from_iterable(self.judged_chunks(judge, graphs))

    def judged_chunks(
        self, judge: Judge, graphs: Iterable[FileGraph]
    ) -> Iterator[list[tuple[FileGraph, Any]]]:
        """The pairs of many graphs at a time."""
        for chunk in chunks(graphs):
            try:
                batch = GraphBatch.concatenate([graph.batch for graph in chunk])
                batch = batch.replace(names=[graph.name for graph in chunk])
                results = judge(batch, [graph.nodes for graph in chunk])
            except Exception:  # which of the graphs it concerns is found out one by one
                results = [attempt(self.on_error, _judge_one, judge, graph) for graph in chunk]
            pairs = zip(chunk, results, strict=True)
            yield [(graph, result) for graph, result in pairs if result is not None]

    def exit_if_skipped(self) -> None:
        """Exit with the code for skipped files, if there were any."""
        if self.skipped:
            raise click.exceptions.Exit(SKIPPED)


def _table_files(paths: Sequence[str], given: dict[str, Any]) -> TableFiles:
    """The tables that the options of a command name."""
    if "graph" not in given or len(paths) != 1:
        what = "--graph-column" if "graph" in given else "a table of nodes or graphs"
        raise click.UsageError(
            f"{what} needs one table of edges, and --graph-column, the column of its graphs"
        )
    if not paths[0].lower().endswith(SUFFIXES):
        raise click.UsageError(
            f"--graph-column needs a table of edges ({', '.join(SUFFIXES)}), and {paths[0]} is "
            "none: leave the option out"
        )
    return TableFiles(Path(paths[0]), **given)


def _judge_one(judge: Judge, graph: FileGraph) -> Any:
    try:
        return judge(graph.batch, [graph.nodes])[0]
    except Exception as error:  # a user's own detector or encoder can raise anything
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(f"{graph.name}: {reason}") from error
