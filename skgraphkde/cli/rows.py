"""A table that grows by blocks of rows: CSV, JSON lines or Parquet, in a file that survives a kill.

A block is in the file as soon as it is finished, and nothing before it is touched again. So what a
run leaves behind, however it ends, is the beginning of what it would have written, but for a last
line that may be cut off. A Parquet file cannot grow: its rows are collected as JSON lines beside
it, and it appears when all are there.

A column can depend on all rows. It is empty until they are there, and then the file is replaced, in
one step, by one that has it.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from skgraphkde.cli.codes import INTERRUPTED
from skgraphkde.cli.shell import cell, failure, note
from skgraphkde.graphs.naming import escaped
from skgraphkde.persistence import atomic_file, check_regular

#: How the name of a file ends -> its format.
ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
FORMATS = ("csv", "jsonl", "parquet")
#: How the values of a column are read.
VALUES: dict[type, Callable[[Any], Any]] = {
    str: str,
    float: float,
    bool: lambda x: {"True": True, "False": False}[str(x)],
}
COLLECTED = ".rows.jsonl"  # after the name of a Parquet file: its rows, until all are there


class RowFile:
    """The rows of a run, in a file or on stdout.

    Parameters
    ----------
    path : str
        "-" is stdout.
    columns : dict of str -> type
        The names of the columns, and whether they hold text (`str`), numbers (`float`) or truths
        (`bool`). The first column has the names of graphs. None is a missing value.
    form : {"csv", "jsonl", "parquet"}
    of_all : dict of str -> callable, default={}
        Columns that depend on all rows, and functions of these that return the values. Rows have
        None there.
    """

    def __init__(
        self,
        path: str,
        columns: dict[str, type],
        form: str,
        of_all: Mapping[str, Callable[[list[list]], list]] = MappingProxyType({}),
    ) -> None:
        self.path, self.columns, self.form, self.of_all = path, columns, form, of_all
        self.place = f"{path}{COLLECTED}" if form == "parquet" else path  # of the lines
        self.size = self.count = 0  # bytes and rows that are finished
        self._again = b""  # lines to write again, before any others
        if form == "parquet":
            _check_pyarrow()

    # -- an earlier run ----------------------------------------------------------------------------

    def check_new(self) -> None:
        """Raise an error if another run has left rows, which this one would replace."""
        if self.place != "-" and os.path.exists(self.path):  # since the options were checked
            raise click.UsageError(
                f"{self.path} exists: give --force to replace it, or --resume to go on"
            )
        if self.place != self.path and os.path.exists(self.place):
            raise click.UsageError(
                f"{self.place} has the rows of a run that was interrupted: give --resume to go on "
                "after them, or --force to begin again"
            )

    def resume(self) -> list[list]:
        """Keep the rows that are there, and return them; a last line that is cut off is not kept.

        Raises
        ------
        ValueError
            If the file is something else.
        """
        if self.form == "parquet" and not os.path.exists(self.place) and check_regular(self.path):
            self._collect_again()
        if self.place == "-" or check_regular(self.place) is None:
            return []
        rows: list[list] = []
        has_header = self.form == "csv"
        with open(self.place, "rb") as file:
            for number, line in enumerate(file):
                if not line.endswith(b"\n"):
                    self._check(self._is_beginning(line, number), number)
                    break
                if has_header and number == 0:
                    self._check(line == self._header(), number)
                else:
                    rows.append(self._parsed(line, number))
                self.size += len(line)
        self.count = len(rows)
        self._empty(rows)
        return rows

    def _empty(self, rows: list[list]) -> None:
        """Empty the columns that depend on all rows, of which there will be more."""
        places = [list(self.columns).index(name) for name in self.of_all]
        if any(row[i] is not None for row in rows for i in places):
            for row in rows:
                for i in places:
                    row[i] = None
            self.size, self._again = 0, self._lines(rows)

    def _is_beginning(self, line: bytes, number: int) -> bool:
        """Whether it may be the beginning of a line, of which the first can be told."""
        first = self._header() if self.form == "csv" else f'{{"{next(iter(self.columns))}": "'
        first = first if isinstance(first, bytes) else first.encode()
        return number > 0 or first[: len(line)] == line[: len(first)]

    def _parsed(self, line: bytes, number: int) -> list:
        """The values of a complete line."""
        try:
            text = line.decode()
            if self.form == "csv":
                (values,) = csv.reader([text], strict=True)
            else:
                values = json.loads(text, object_pairs_hook=self._values)
            pairs = zip(values, self.columns.values(), strict=True)
            return [None if x is None or x == "" else VALUES[kind](x) for x, kind in pairs]
        except (ValueError, KeyError, TypeError, csv.Error):
            self._check(False, number)
            raise

    def _values(self, pairs: list[tuple[str, Any]]) -> list:
        """The values of a record that has all columns, and no others."""
        if [name for name, _ in pairs] != list(self.columns):
            raise ValueError("other columns")
        return [value for _, value in pairs]

    def _check(self, is_ours: bool, number: int) -> None:
        if not is_ours:
            raise ValueError(
                f"line {number + 1} of {self.place} is not what this command writes: give another "
                "-o, or --force to replace the file, or the options of the run that wrote it"
            )

    def _collect_again(self) -> None:
        """Write the rows of a finished Parquet file as lines."""
        from pyarrow import parquet

        table = parquet.read_table(self.path)
        self._check(table.column_names == list(self.columns), 0)
        rows = zip(*(table[name].to_pylist() for name in self.columns), strict=True)
        with atomic_file(self.place) as file:
            file.write(self._lines(list(rows)))

    # -- this run ----------------------------------------------------------------------------------

    def name(self, name: str) -> str:
        """What a row says for a text, such as the name of a graph."""
        return cell(name) if self.form == "csv" else escaped(name)

    def add(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add a block of rows, which is in the file when the call returns."""
        texts = [[self.name(x) if isinstance(x, str) else x for x in row] for row in rows]
        self._write(self._lines(texts))
        self.count += len(rows)

    def finish(self) -> None:
        """Say that all rows are there."""
        self._write(b"")
        if self.of_all:
            self._fill()
        if self.form == "parquet":
            _write_parquet(self.place, self.path, self.columns)
            os.unlink(self.place)

    def _fill(self) -> None:
        """Fill the columns that depend on all rows."""
        first = int(self.form == "csv")
        with open(self.place, "rb") as file:
            rows = [self._parsed(line, i) for i, line in islice(enumerate(file), first, None)]
        for name, values_of in self.of_all.items():
            place = list(self.columns).index(name)
            for row, value in zip(rows, values_of(rows), strict=True):
                row[place] = value
        with atomic_file(self.place) as file:
            file.write((self._header() if self.form == "csv" else b"") + self._lines(rows))

    def _write(self, lines: bytes) -> None:
        lines, self._again = self._again + lines, b""
        if self.size == 0 and self.form == "csv":
            lines = self._header() + lines
        if self.place == "-":
            sys.stdout.write(lines.decode())
            sys.stdout.flush()
        elif self.size == 0:  # the old file goes when there is something to put in its place
            with atomic_file(self.place) as file:
                file.write(lines)
        else:
            with open(self.place, "r+b") as file:
                file.seek(self.size)
                file.truncate()
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        self.size += len(lines)

    def _header(self) -> bytes:
        return (",".join(self.columns) + "\n").encode()

    def _lines(self, rows: Sequence[Sequence[Any]]) -> bytes:
        """Rows, whose texts are as the file says them."""
        if self.form == "csv":
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            return text.getvalue().encode()
        records = (dict(zip(self.columns, row, strict=True)) for row in rows)
        return "".join(json.dumps(x, allow_nan=False) + "\n" for x in records).encode()

    @contextlib.contextmanager
    def resumable(self, option: str = "--resume") -> Iterator[None]:
        """Say in an error, and when the user interrupts, what is there and how to go on."""
        try:
            yield
        except KeyboardInterrupt:
            note(f"Interrupted{self._state(option)}")
            raise click.exceptions.Exit(INTERRUPTED) from None
        except (click.exceptions.Exit, BrokenPipeError):
            raise
        except (click.ClickException, OSError, ImportError, ValueError) as error:
            raise failure(error, self._state(option)) from error

    def _state(self, option: str) -> str:
        if self.place == "-" or self.count == 0:
            return ""
        rows = f"{self.count} row{'s' * (self.count > 1)}"
        return f"; {self.place} has {rows}, and the same command with {option} goes on after them"


def check_form(path: str, form: str | None) -> str:
    """The format that the user named, or that the ending of the path names; stdout has CSV.

    Raises
    ------
    click.UsageError
        If neither names one, or Parquet is to go to stdout.
    """
    if form is None and path == "-":
        form = "csv"
    form = form or ENDINGS.get(Path(path).suffix.lower())
    if form is None:
        raise click.UsageError(
            f"the ending of {path} names no format: use one of {', '.join(ENDINGS)}, or --format"
        )
    if form == "parquet" and path == "-":
        raise click.UsageError("a Parquet file is not text for stdout: give -o FILE.parquet")
    return form


def _check_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise click.ClickException(
            "Parquet needs pyarrow: pip install pyarrow, or write .csv or .jsonl"
        ) from error


def _write_parquet(lines: str, path: str, columns: dict[str, type]) -> None:
    """Write the rows that are in lines of JSON to a Parquet file, in one step."""
    import pyarrow
    from pyarrow import json as pyarrow_json
    from pyarrow import parquet

    types: dict[type, Callable] = {
        str: pyarrow.string,
        float: pyarrow.float64,
        bool: pyarrow.bool_,
    }
    schema = pyarrow.schema([(name, types[kind]()) for name, kind in columns.items()])
    table = schema.empty_table()
    if os.path.getsize(lines):
        options = pyarrow_json.ParseOptions(explicit_schema=schema)
        table = pyarrow_json.read_json(lines, parse_options=options)
    with atomic_file(path) as file:
        parquet.write_table(table, file)
