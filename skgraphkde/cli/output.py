"""What commands write: lines on stdout and stderr, tables, and the paths of output files."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import click
import pandas as pd
from tqdm import tqdm

from skgraphkde._messages import printable
from skgraphkde.saving import atomic_file, dumped, file_behind, named_in_errors

TABLES = (".csv", ".jsonl", ".ndjson", ".parquet")
PAGE = b'<meta name="generator" content="skgraphkde">'  # near the beginning of each page


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Print each warning once, and errors about the input, on one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # its encoding may lack the letters of a name
            stream.reconfigure(errors="backslashreplace")
    shown: set[str] = set()  # Python forgets warnings when a package changes the filters

    def show(message: Any, *_: Any, **__: Any) -> None:
        line = f"Warning: {message_of(message)}"
        if line not in shown:
            shown.add(line)
            echo(line, err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        try:
            yield
        except BrokenPipeError:  # the reader of the output has stopped: click exits quietly
            raise
        except (OSError, ImportError, ValueError) as error:
            raise click.ClickException(message_of(error)) from error


def message_of(error: Exception) -> str:
    """The message of an error or a warning on one line."""
    text = str(error) or type(error).__name__
    return printable(" ".join(text.split()))


def echo(line: str, *, err: bool = False) -> None:
    """Print one line to stdout or stderr, above a progress bar, with names made printable."""
    with named_in_errors("standard error" if err else "standard output"):
        tqdm.write(printable(line), file=sys.stderr if err else sys.stdout)


def write_table(table: pd.DataFrame, path: str | None) -> None:
    """Write a table in the format of the suffix, one of `TABLES`; None is a CSV on stdout."""
    if path is None:
        with named_in_errors("standard output"):
            click.echo(table.to_csv(index=False), nl=False)
        return
    suffix = Path(path).suffix.lower()
    with open_output(path, "b" if suffix == ".parquet" else "t") as file:
        if suffix == ".parquet":
            table.to_parquet(file, index=False)
        elif suffix == ".csv":
            table.to_csv(file, index=False)
        else:
            table.to_json(file, orient="records", lines=True, double_precision=15)


def write_model(detector: Any, path: str) -> None:
    """Write a model file."""
    with open_output(path, "b") as file:
        file.write(dumped(detector))


@contextlib.contextmanager
def open_output(path: str, mode: str = "t") -> Iterator[IO]:
    """Open a file that appears when it is complete, if nothing is there that is to be kept."""
    options = {"encoding": "utf-8", "newline": ""} if mode == "t" else {}
    with atomic_file(path, mode, **options) as file:
        yield file
        check_output(path)  # another command may have written it since this one began


def check_output(path: str) -> None:
    """Refuse a file that exists without --force, but for a page that verdicts are from."""
    options = click.get_current_context().params
    is_next = options.get("verdicts") is not None and path == options["output"] and is_page(path)
    if os.path.exists(path) and not options["force"] and not is_next:
        raise click.UsageError(f"{path} exists: give --force to replace it, or another path")


def is_page(path: str) -> bool:
    """True for a file that exists and is a page of this library."""
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return PAGE in file.read(1000)


class OutputFile(click.ParamType):
    """The path of a file to write, checked before anything takes long.

    Parameters
    ----------
    *suffixes : str
        Suffixes that the path can have; any, if there are none.
    """

    name = "file"

    def __init__(self, *suffixes: str) -> None:
        self.suffixes = suffixes

    def convert(self, value: str, param: Any, ctx: click.Context | None) -> str:
        """The path, if a file can be written there."""
        path = Path(value)
        if self.suffixes and path.suffix.lower() not in self.suffixes:
            self.fail(f"{value} does not have the suffix {' or '.join(self.suffixes)}")
        try:
            target = file_behind(path)
        except OSError as error:
            self.fail(str(error))
        folder = target.parent if path.is_symlink() else path.parent
        if not os.access(folder, os.W_OK):
            self.fail(f"the folder {folder} does not exist, or cannot be written to")
        return value
