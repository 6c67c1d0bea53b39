"""How all commands behave: errors and warnings on stderr, exit codes, files, progress."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import click
from tqdm import tqdm

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files import FileGraph, attempt, chunks
from skgraphkde.graphs.naming import printable
from skgraphkde.persistence import atomic_file

SKIPPED = 3  # exit code
LONGEST_MESSAGE = 1_000  # characters
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Commands(click.Group):
    """Turns errors about the input, and warnings, into one line each."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # which may lack the letters of a name
                stream.reconfigure(errors="backslashreplace")
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # the reader of our output has stopped: click exits quietly
                raise
            except click.ClickException as error:
                vars(error)["message"] = _one_line(error.message)
                raise
            except OSError as error:
                what = error.strerror or str(error)
                message = what if error.filename is None else f"{error.filename}: {what}"
                raise click.ClickException(_one_line(message)) from error
            except ImportError as error:
                cure = 'pip install "skgraphkde[datasets,examples]"'
                raise click.ClickException(f"{error}: {cure}") from error
            except ValueError as error:
                raise click.ClickException(_one_line(error)) from error


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    tqdm.write(f"Warning: {_one_line(message)}", file=sys.stderr)


def _one_line(message: Exception | str) -> str:
    """A message, which may quote at length what a file says; its end says what to do."""
    text = " ".join(str(message).split()) or type(message).__name__
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[: LONGEST_MESSAGE // 2]} ... {text[-LONGEST_MESSAGE // 2 :]}"
    return printable(text)


def echo(line: str, *, err: bool = False) -> None:
    """Print one line, whatever names it contains, to stdout or stderr."""
    click.echo(printable(line), err=err)


def write_rows(file: IO[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write rows of a CSV: text is printable, and never a formula that a spreadsheet computes."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, int | float):
        return value
    text = printable(str(value))
    # Some spreadsheets take the wide forms of these characters for the same.
    is_formula = unicodedata.normalize("NFKC", text[:1]) in {"=", "+", "-", "@"}
    return f"'{text}" if is_formula and not NUMBER.fullmatch(text) else text


class Skipped:
    """Errors that are reported and counted while the other files are processed."""

    def __init__(self, skip_errors: bool) -> None:
        self.count = 0
        self.on_error = self._report if skip_errors else None

    def _report(self, error: Exception) -> None:
        self.count += 1
        tqdm.write(f"Skipped: {_one_line(error)}", file=sys.stderr)

    def exit_if_any(self) -> None:
        """Exit with the code for skipped files, if there were any."""
        if self.count:
            raise click.exceptions.Exit(SKIPPED)


def examples(*lines: str) -> str:
    """The end of a help text."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def check_file(ctx: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    """Check where a file will be written, before anything takes long."""
    if path == "-":
        raise click.BadParameter("a model is not text for stdout: give the path of a file")
    if path is not None and not Path(path).parent.is_dir():
        raise click.BadParameter(f"the folder {Path(path).parent} does not exist")
    if path is not None and Path(path).exists() and not Path(path).is_file():
        raise click.BadParameter(f"{path} is a folder or a device: give the path of a file")
    return path


def check_text(ctx: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    """The same for text, which can also go to stdout."""
    return path if path == "-" else check_file(ctx, parameter, path)


def check_picture(ctx: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    """The same for an image, whose format the suffix names."""
    if path is not None:
        from matplotlib.backend_bases import FigureCanvasBase

        if Path(path).suffix[1:].lower() not in FigureCanvasBase.filetypes:
            raise click.BadParameter(
                f"{path} does not have the suffix of an image: use .png, .svg or .pdf"
            )
    return check_file(ctx, parameter, path)


@contextlib.contextmanager
def opened(path: str) -> Iterator[IO[str]]:
    """Stdout, or a file that appears once it is complete."""
    if path == "-":
        yield sys.stdout
        return
    with atomic_file(path, "t", encoding="utf-8", newline="") as file:
        yield file


def with_progress(files: list[Path], quiet: bool) -> Iterable[Path]:
    """A progress bar on stderr, if that is a terminal."""
    return tqdm(files, unit="file", file=sys.stderr, disable=True if quiet else None)


def judged(
    judge: Callable[[GraphBatch], list], graphs: Iterable[FileGraph], skipped: Skipped
) -> Iterator[tuple[FileGraph, Any]]:
    """Each graph with what `judge` returns for it; it is called with many graphs at a time."""
    for chunk in chunks(graphs):
        try:
            judgments = judge(GraphBatch.concatenate([graph.batch for graph in chunk]))
        except Exception:  # of which graph?
            judgments = [attempt(skipped.on_error, _judge_one, judge, graph) for graph in chunk]
        for graph, judgment in zip(chunk, judgments, strict=True):
            if judgment is not None:
                yield graph, judgment


def _judge_one(judge: Callable[[GraphBatch], list], graph: FileGraph) -> Any:
    try:
        return judge(graph.batch)[0]
    except Exception as error:  # a detector or an encoder of a user's own can raise anything
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(f"{graph.name}: {reason}") from error
