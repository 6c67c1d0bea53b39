"""Rows -> a table in a file: CSV or JSON lines that grow by blocks, or Parquet.

A block is in the file as soon as it is appended. However a run ends, the file has the first rows of
the table, and at most its last line is cut off. A Parquet file cannot grow: its rows are collected
as JSON lines in a file beside it.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import click
import pandas as pd

from skgraphkde.cli.runtime import opened
from skgraphkde.graphs.naming import escaped, unescaped
from skgraphkde.saving import atomic_file

#: Suffix of a file -> format.
SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
FORMATS = ("csv", "jsonl", "parquet")
COLLECTED = ".rows.jsonl"  # after the name of a Parquet file: its rows, until it is complete
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

Row = dict[str, Any]


# -- cells -----------------------------------------------------------------------------------------


def write_rows(file: IO[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write rows of a CSV, see :func:`cell`."""
    csv.writer(file, lineterminator="\n").writerows(map(cell, row) for row in rows)


def cell(value: Any) -> Any:
    """The cell of a CSV for a value: text is printable and never a formula of a spreadsheet.

    Different texts have different cells.
    """
    if value is None or isinstance(value, int | float):
        return value
    text = escaped(str(value))
    return f"'{text}" if _is_formula(text) else text


def text_of(cell: str) -> str:
    """The text for which :func:`cell` gives this cell."""
    return unescaped(cell.removeprefix("'") if _is_formula(cell) else cell)


def _is_formula(text: str) -> bool:
    # Some spreadsheets take the wide forms of these characters for the same, and hide a quote.
    first = unicodedata.normalize("NFKC", text.lstrip("'")[:1])
    return first in {"=", "+", "-", "@"} and not NUMBER.fullmatch(text)


# -- tables ----------------------------------------------------------------------------------------


class Table:
    """A table of one row per graph.

    Parameters
    ----------
    path : str
        "-" is stdout.
    columns : dict of str -> dtype
        Names and types, of which the first is the name of the graph.
    form : {"csv", "jsonl", "parquet"}
    """

    def __init__(self, path: str, columns: Mapping[str, Any], form: str) -> None:
        self.path, self.columns, self.form = path, dict(columns), form
        self.place = f"{path}{COLLECTED}" if form == "parquet" else path  # where rows are appended
        self.n_rows = 0
        self._earlier: list[Row] | None = []  # written before the first rows of this run

    def cell(self, value: Any) -> Any:
        """A value as the file has it."""
        if self.form == "csv":
            return cell(value)
        return escaped(value) if isinstance(value, str) else value

    def read(self) -> list[Row]:
        """The complete rows in the file, as it has them; a last line that was cut off is left out.

        Raises
        ------
        ValueError
            If the file is not a table of these columns.
        """
        try:
            return self._read()
        except (ValueError, TypeError, csv.Error) as error:
            raise ValueError(
                f"{self.place} was not written by this command with these options: choose another "
                "-o, pass --force to replace the file, or give the options of the run that wrote it"
            ) from error

    def _read(self) -> list[Row]:
        if not os.path.exists(self.place):
            return _read_parquet(self.path, list(self.columns)) if self.form == "parquet" else []
        content = Path(self.place).read_bytes().decode(errors="replace")
        start = self._header() or '{"graph": "'
        if content[: len(start)] != start[: len(content)]:
            raise ValueError("something else")
        lines = content.split("\n")[:-1]  # the last one is empty or cut off
        if self.form == "csv":
            cells = csv.reader(lines[1:], strict=True)
            return [dict(zip(self.columns, row, strict=True)) for row in cells]
        rows = [json.loads(line) for line in lines]
        if not all(list(row) == list(self.columns) for row in rows):
            raise ValueError("other columns")
        return rows

    def resume(self, emptied: str) -> list[Row]:
        """The rows of an earlier run, after which this run goes on.

        The column `emptied`, which depends on all rows, is emptied.
        """
        rows = self.read()
        nothing = "" if self.form == "csv" else None
        self._earlier = [row | {emptied: nothing} if emptied in row else row for row in rows]
        self.n_rows = len(rows)
        return rows

    def append(self, rows: Iterable[Row]) -> None:
        """Append rows, which are in the file when the call returns; missing values are None."""
        new = [{name: self.cell(row.get(name)) for name in self.columns} for row in rows]
        if self._earlier is not None:  # until now, the file is as it was
            self._write(self._earlier + new)
            self._earlier = None
        elif self.path == "-":
            self._write_lines(sys.stdout, new)
        else:
            with open(self.place, "a", encoding="utf-8", newline="") as file:
                self._write_lines(file, new)
                os.fsync(file.fileno())
        self.n_rows += len(new)

    def fill(self, column: str, values_of: Callable[[list[Row]], list]) -> None:
        """Fill a column that depends on all rows."""
        rows = self.read()
        for row, value in zip(rows, values_of(rows), strict=True):
            row[column] = value
        self._write(rows)

    def finish(self) -> None:
        """Write the Parquet file, if it is one."""
        if self.form == "parquet":
            frame = pd.DataFrame(self.read(), columns=list(self.columns)).astype(self.columns)
            with atomic_file(self.path) as file:
                frame.to_parquet(file, index=False)
            os.unlink(self.place)

    def _write(self, rows: list[Row]) -> None:
        """Write the whole table, in place of what is there."""
        with opened(self.place) as file:
            file.write(self._header())
            self._write_lines(file, rows)

    def _header(self) -> str:
        return f"{','.join(self.columns)}\n" if self.form == "csv" else ""

    def _write_lines(self, file: IO[str], rows: list[Row]) -> None:
        if self.form == "csv":
            csv.writer(file, lineterminator="\n").writerows(row.values() for row in rows)
        else:
            file.writelines(json.dumps(row, allow_nan=False) + "\n" for row in rows)
        file.flush()


def table_format(path: str, form: str | None) -> str:
    """The format that the user named, or that of the suffix of the path; stdout is CSV.

    Raises
    ------
    click.UsageError
        If there is none, Parquet is to go to stdout, or pyarrow is missing.
    """
    default = "csv" if path == "-" else SUFFIXES.get(Path(path).suffix.lower())
    form = form or default
    if form is None:
        raise click.UsageError(
            f"the ending of {path} names no format: use one of {', '.join(SUFFIXES)}, or --format"
        )
    if form == "parquet" and path == "-":
        raise click.UsageError("a Parquet file is not text for stdout: give -o FILE.parquet")
    if form == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise click.ClickException(
            "Parquet needs pyarrow: pip install pyarrow, or write .csv or .jsonl"
        )
    return form


def _read_parquet(path: str, columns: list[str]) -> list[Row]:
    """The rows of a complete Parquet file; none if it does not exist."""
    if not os.path.exists(path):
        return []
    frame = pd.read_parquet(path)
    if list(frame) != columns:
        raise ValueError("other columns")
    return frame.astype(object).where(frame.notna(), None).to_dict("records")
