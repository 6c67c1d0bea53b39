"""Graph files of a command: paths and options -> one batch; what cannot be used is listed."""

from __future__ import annotations

import os
import warnings
import zipfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from skgraphkde._utils import stage
from skgraphkde.cli.output import echo, message_of
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.problems import GraphError, MissingError
from skgraphkde.core.graphs.schema import FittedSchema, GraphSchema
from skgraphkde.reading.cases import CaseRule, words_of_rows
from skgraphkde.reading.files import Source, TableFiles, find_files, read_batch
from skgraphkde.reading.files.beside import Beside, GraphTable
from skgraphkde.reading.files.common import AnyPath, name_of
from skgraphkde.reading.files.csv import has_matrix
from skgraphkde.reading.files.logs import SpanFiles
from skgraphkde.reading.files.sources import SplitFile, files_of, suffix_of
from skgraphkde.reading.files.tables import SUFFIXES
from skgraphkde.reading.truth import Truth

WITH_OPTIONS = {".csv", ".tsv", ".xes"}  # suffixes of files that have options


class GraphFiles:
    """The graph files of a command; those that cannot be used end it, or are skipped and listed.

    Parameters
    ----------
    paths : sequence of str
        Files and folders, or the table of edges if there are tables.
    tables : dict
        The fields of TableFiles that the user gave, without the path of the edges.
    options : dict
        The options of `read_batch` that the user gave.
    outputs : sequence of str, default=()
        What the command writes; no graph is among it.
    truth : str, default=None
        The column that says which graphs are odd.
    rule : CaseRule, default=None
        How one table or graph is split.
    column : str, default=None
        The column that says to which of two piles a graph belongs, or "column=value".
    spans : bool
        The files are those of spans.
    skip_errors : bool
        Report and list what cannot be used. False: the first error ends the command.
    quiet : bool
        No lines and no bars of stages.
    """

    def __init__(
        self,
        paths: Sequence[str],
        tables: dict[str, Any],
        options: dict[str, str],
        outputs: Sequence[str] = (),
        truth: str | None = None,
        rule: CaseRule | None = None,
        column: str | None = None,
        *,
        spans: bool,
        skip_errors: bool,
        quiet: bool,
    ) -> None:
        self.paths = paths
        self.tables = tables
        self.options = options
        self.spans = spans
        self.outputs = {os.path.realpath(path) for path in outputs if os.path.exists(path)}
        self.skip_errors = skip_errors
        self.quiet = quiet
        self.truth = None if truth is None else Truth(truth)
        self.rule = rule
        self.column_name, mark, self.value_of_first = (column or "").partition("=")
        if mark and not self.value_of_first:
            raise click.UsageError(f"--column {column} has no value after =: give one, or no =")
        self.column = Truth(self.column_name) if column else None
        self.origins: dict[str, str] = {}  # rows of a table in words, by the names of its cases
        self.unread: list[dict[str, Any]] = []  # data of each graph that the schema does not name
        self.said: np.ndarray | None = None  # by the truth, of each graph: as verdicts are
        self.names: list[str] = []  # of the graphs that were read
        self.takes_gaps = False  # whether missing values are an error also with `skip_errors`
        self.are_piles = False  # whether each path is a pile
        self.path_of: dict[str, int] = {}  # the number of the path of each source, by its name
        self.beside = Beside()  # what files say of graphs besides
        self.sources: list[Source] = []  # what `read` has read
        self.skipped = dict[str, None]()  # what was said of each
        self.notes = dict[str, None]()  # warnings of what was read

    def read(self, schema: GraphSchema | FittedSchema | str | None) -> GraphBatch:
        """The graphs, named by their files."""
        show = warnings.showwarning

        def note(message: Any, *rest: Any, **named: Any) -> None:
            self.notes[message_of(message)] = None
            show(message, *rest, **named)

        taken = self.truth or self.column
        with self.stage("Reading"), warnings.catch_warnings():
            warnings.showwarning = note
            self.sources = self._sources()
            self._check_outputs()
            self.beside = beside = self._beside()
            batch = read_batch(self.sources, schema, self.on_error, self.options, taken, beside)
        self.origins = {name: words_of_rows(rows) for name, rows in beside.rows.items()}
        self.unread = beside.unread(batch)
        if self.truth is not None:
            self.said = self.truth.verdicts(batch.names or ())
        self.names = list(batch.names or ())
        self._check_one(batch, schema)
        return batch

    def _check_one(self, batch: GraphBatch, schema: Any) -> None:
        """Say how several graphs are made of one, which nothing can be learned from."""
        is_fitted = isinstance(schema, FittedSchema)
        if len(batch) > 1 or len(self.paths) > 1 or self.skipped or is_fitted:
            return
        if self.rule is not None:
            remedy = "give --cases egos"
            if self.rule.window is not None:
                remedy = "take a shorter --window, or --cases egos"
            raise click.ClickException(
                f"{self.paths[0]} is one case, and others are needed to compare it with: {remedy}"
            )
        raise click.ClickException(
            f"{self.paths[0]} is one graph, and others are needed to compare it with: if a column "
            "says to which of many graphs a row belongs, give it as --graph-column; to judge the "
            "parts of one table or graph, give --cases components, egos or windows"
        )

    def check_apart(self) -> None:
        """Refuse to make a model of graphs that overlap: all others would be odd to it."""
        if self.rule is not None and self.rule.by == "egos":
            raise click.UsageError(
                "egos overlap, and are like each other for that: to a model of them, all egos of "
                "another table are odd; judge them by find, without --save, or give --cases "
                "components or windows"
            )

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Show on stderr what begins, and on a terminal how far it is."""
        return stage(name, not self.quiet)

    def _sources(self) -> list[Source]:
        """The files, each once, with what the options say of them."""
        if self.rule is not None:
            return self._cases(self.rule)
        if self._is_table and self.tables:
            return [self._table()]
        if self._are_tables and "graph" in self.tables:
            return self._several_tables()
        found = self._found()
        if self.spans:
            return self._spans(found)
        self._check_options(found)
        return found

    def _cases(self, rule: CaseRule) -> list[Source]:
        """The one table of edges, or the files of single graphs, that are split."""
        if "graphs" in self.tables:
            raise click.UsageError("--cases makes graphs, and --graphs describes them: give one")
        if self.spans:
            raise click.UsageError("--spans has a graph for each trace: leave --cases out")
        if self._is_table:
            path = Path(self.paths[0])
            if not self.tables and has_matrix(path, self.options):
                return [SplitFile(path, rule)]
            return [replace(self._table(), rule=rule, graph="case")]
        found = self._found()
        if any(isinstance(x, TableFiles) for x in found):
            raise click.UsageError(
                "--cases makes graphs of one table of edges, or of one graph: give its file"
            )
        return [SplitFile(x, rule) for x in found if isinstance(x, AnyPath)]

    def _table(self) -> TableFiles:
        """The one table of edges, and those that describe it."""
        if self.rule is None and "graph" not in self.tables:
            raise click.UsageError(
                "a table of edges needs --graph-column, the column of its graphs; or --cases, "
                "which makes graphs of one table: components, egos or windows"
            )
        if not os.path.exists(self.paths[0]):
            raise click.UsageError(f"{self.paths[0]} does not exist: give a table of edges")
        return TableFiles(Path(self.paths[0]), **self.tables)

    def _several_tables(self) -> list[Source]:
        """Tables of edges, whose graphs have names that begin with those of their files."""
        for name in ("nodes", "graphs"):
            if name in self.tables:
                raise click.UsageError(
                    f"--{name} is of one table of edges, and {len(self.paths)} are given: "
                    "put each table of edges and what describes it into a folder of its own, as "
                    "edges.csv, nodes.csv and graphs.csv"
                )
        prefixes = [f"{name_of(Path(path))}#" for path in self.paths]
        self.path_of = {prefix: k for k, prefix in enumerate(prefixes)}
        return [
            TableFiles(Path(path), **self.tables, prefix=prefix)
            for path, prefix in zip(self.paths, prefixes, strict=True)
        ]

    def _found(self) -> list[Source]:
        """The files that are there, without a table that describes their graphs."""
        of_tables = {} if self._describes_files else self.tables
        found = dict[tuple[str, ...], Source]()
        for k, paths in enumerate([[x] for x in self.paths] if self.are_piles else [self.paths]):
            for source in find_files(paths, self.on_error, of_tables, self.options):
                if self.are_piles and isinstance(source, TableFiles) and not source.prefix:
                    source = replace(source, prefix=f"{name_of(Path(self.paths[k]))}#")
                found[tuple(map(str, files_of(source)))] = source
                self.path_of[name_of(source)] = k
        have_tables = any(isinstance(x, TableFiles) for x in found.values())
        if self._describes_files:
            if have_tables:
                raise click.UsageError(
                    "--graphs is a table beside files of graphs, or beside one table of edges: "
                    "name that table in place of its folder"
                )
            described = os.path.realpath(self.tables["graphs"])
            found = {key: x for key, x in found.items() if os.path.realpath(key[0]) != described}
        elif self.tables and not have_tables:
            raise click.UsageError(
                "--graph-column and the other options of tables need one table of edges "
                f"({', '.join(SUFFIXES)}), with the columns source and target: name these by "
                "--source-column and --target-column, or leave the options out"
            )
        return list(found.values())

    def _spans(self, found: Sequence[Source]) -> list[Source]:
        """The files of spans, over which those of a trace may be spread, but in two piles."""
        if not self.are_piles:
            return [SpanFiles(tuple(found))]
        sources: list[Source] = []
        path_of = self.path_of
        self.path_of = {}
        for k, path in enumerate(self.paths):
            prefix = f"{name_of(Path(path))}#"
            of_pile = tuple(x for x in found if path_of[name_of(x)] == k)
            sources.append(SpanFiles(of_pile, prefix))
            self.path_of[prefix] = k
        return sources

    def _check_options(self, sources: Sequence[Source]) -> None:
        """Refuse options of tables and logs where no file has them."""
        suffixes = {suffix_of(x) for source in sources for x in files_of(source)}
        readers = WITH_OPTIONS | ({".smi"} if "smiles_column" in self.options else set())
        if self.options and suffixes.isdisjoint(readers):
            named = [f"--{name.replace('_', '-')}" for name in self.options]
            raise click.UsageError(
                f"no table ({', '.join(sorted(WITH_OPTIONS))}) is there for {', '.join(named)}: "
                "leave that out, or give one"
            )

    @property
    def _is_table(self) -> bool:
        """True if the user gave one file of a table."""
        return len(self.paths) == 1 and self.paths[0].lower().endswith(SUFFIXES)

    @property
    def _are_tables(self) -> bool:
        """True if the user gave several files of tables."""
        are_tables = [os.path.isfile(x) and x.lower().endswith(SUFFIXES) for x in self.paths]
        return len(are_tables) > 1 and all(are_tables)

    @property
    def _describes_files(self) -> bool:
        """True if the user gave a table of graphs, and none of edges."""
        if self._is_table:
            return False
        return "graphs" in self.tables and set(self.tables) <= {"graphs", "graph"}

    def _beside(self) -> Beside:
        """What gets what files say besides."""
        if not self._describes_files:
            return Beside()
        return Beside(GraphTable(Path(self.tables["graphs"]), self.tables.get("graph", "graph")))

    def _check_outputs(self) -> None:
        """Refuse to replace a file that graphs are read from, also in a folder."""
        for source in self.sources if self.outputs else ():
            for file in files_of(source):
                place = str(file.root.filename) if isinstance(file, zipfile.Path) else str(file)
                if os.path.realpath(place) in self.outputs:
                    raise click.UsageError(
                        f"{place} is a graph and the output: give another output"
                    )

    def on_error(self, error: Exception) -> None:
        """Report the error of one file or graph, or raise it."""
        is_evidence = self.takes_gaps and isinstance(error, MissingError)
        if self.skip_errors and not is_evidence:
            text = message_of(error)
            if text not in self.skipped:  # when the same was read before
                self.skipped[text] = None
                echo(f"Skipped: {text}", err=True)
            return
        is_graph = isinstance(error, GraphError) and error.graph is not None
        others_remain = is_graph or len(self.paths) > 1 or os.path.isdir(self.paths[0])
        cure = "; --skip-errors leaves out what cannot be used" if others_remain else ""
        raise click.ClickException(message_of(error) + cure) from error
