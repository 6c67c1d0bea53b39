"""How all commands behave: errors and warnings on stderr, exit codes, files, progress."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import click
from tqdm import tqdm

from skgraphkde.cli.codes import INTERRUPTED, SKIPPED
from skgraphkde.cli.words import in_shell
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files import FileGraph, attempt, chunks, find_files
from skgraphkde.graphs.naming import escaped, printable
from skgraphkde.persistence import atomic_file

LONGEST_MESSAGE = 1_000  # characters
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors about the input, and warnings, into one line each."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # which may lack the letters of a name
            stream.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = _show_once()
        try:
            yield
        except BrokenPipeError:  # the reader of our output has stopped: click exits quietly
            raise
        except KeyboardInterrupt:
            note("Interrupted")
            raise click.exceptions.Exit(INTERRUPTED) from None
        except (click.ClickException, OSError, ImportError, ValueError) as error:
            raise failure(error) from error


def failure(error: Exception, more: str = "") -> click.ClickException:
    """An error about the input as one line, which may say more about what to do."""
    if isinstance(error, click.ClickException):
        vars(error)["message"] = _one_line(error.message) + more
        return error
    message = str(error)
    if isinstance(error, OSError):
        what = error.strerror or message
        message = what if error.filename is None else f"{error.filename}: {what}"
    return click.ClickException(_one_line(message or type(error).__name__) + more)


def note(line: str) -> None:
    """Print one line to stderr, above a progress bar."""
    tqdm.write(printable(line), file=sys.stderr)


def _show_once() -> Callable[..., None]:
    """What shows a warning, once: Python forgets it when a package changes the filters."""
    before: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        line = f"Warning: {_one_line(message)}"
        if line not in before:
            before.add(line)
            note(line)

    return show


def _one_line(message: Exception | str) -> str:
    """A message, which may quote at length what a file says; its end says what to do."""
    text = " ".join(in_shell(str(message)).split()) or type(message).__name__
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[: LONGEST_MESSAGE // 2]} ... {text[-LONGEST_MESSAGE // 2 :]}"
    return printable(text)


def echo(line: str, *, err: bool = False) -> None:
    """Print one line, whatever names it contains, to stdout or stderr."""
    click.echo(printable(line), err=err)


def write_rows(file: IO[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write rows of a CSV: text is escaped, and never a formula that a spreadsheet computes."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerows([cell(value) for value in row] for row in rows)


def cell(value: Any) -> Any:
    """What a CSV says for a value, and for no other: so rows can be known by their names."""
    if isinstance(value, int | float):
        return value
    text = escaped(str(value))
    return f"'{text}" if _is_formula(text) and not NUMBER.fullmatch(text) else text


def text_of(written: str) -> str:
    """The escaped text for which a CSV says this."""
    return written[1:] if written.startswith("'") and _is_formula(written) else written


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet computes it, or would without quotes before it, which tell texts."""
    # Some spreadsheets take the wide forms of these characters for the same.
    return unicodedata.normalize("NFKC", text.lstrip("'")[:1]) in {"=", "+", "-", "@"}


class Skipped:
    """Errors that are reported and counted while the other files are processed; or that end it."""

    def __init__(self, skip_errors: bool) -> None:
        self.count = 0
        self.only: str | None = None  # the path without which nothing is left
        self.on_error = self._report if skip_errors else self._refuse

    def _report(self, error: Exception) -> None:
        self.count += 1
        note(f"Skipped: {failure(error).message}")

    def _refuse(self, error: Exception) -> None:
        message, cure = str(error), "; --skip-errors leaves out what cannot be used"
        is_of_all = message.startswith("none of")  # and nothing would be left
        if self.only is not None:
            start = message.removeprefix("the folder ")
            is_of_all |= start.startswith((f"{self.only} ", f"{self.only}: "))
        raise failure(error, "" if is_of_all else cure) from error

    def find_files(self, paths: Sequence[str], *outputs: str | None) -> list[Path]:
        """The graph files among paths, without what the command itself writes there.

        Raises
        ------
        click.UsageError
            If a path is that of an output, which would replace a graph.
        """
        own = {os.path.realpath(x) for x in outputs if x is not None and x != "-"}
        for path in paths:
            if os.path.realpath(path) in own:
                raise click.UsageError(f"{path} is a graph and the output: give another output")
        self.only = str(Path(paths[0])) if len(paths) == 1 else None
        files = [x for x in find_files(paths, self.on_error) if os.path.realpath(x) not in own]
        self.only = str(files[0]) if len(files) == 1 else None
        return files

    def exit_if_any(self) -> None:
        """Exit with the code for skipped files, if there were any."""
        if self.count:
            raise click.exceptions.Exit(SKIPPED)


def examples(*lines: str) -> str:
    """The end of a help text."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def check_file(ctx: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    """Check where a file will be written, before anything takes long.

    A file that exists is replaced only by a command that got ``--force``, if it has that option.
    """
    if path == "-":
        raise click.BadParameter("a model is not text for stdout: give the path of a file")
    if path is not None and not Path(path).parent.is_dir():
        raise click.BadParameter(f"the folder {Path(path).parent} does not exist")
    if path is not None and Path(path).exists() and not Path(path).is_file():
        raise click.BadParameter(f"{path} is a folder or a device: give the path of a file")
    if path is not None and os.path.lexists(path):
        _check_replaced(ctx, path)
    return path


def _check_replaced(ctx: click.Context, path: str) -> None:
    """Check whether a file that exists may be replaced, or extended."""
    options = ctx.params  # those that are eager: `force` and `resume`
    if options.get("force", True) or options.get("resume"):
        return
    cures = "--force to replace it, "
    if "resume" in options:
        cures += "--resume to go on after its rows, "
    raise click.BadParameter(f"{path} exists: give {cures}or another path")


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


class Progress:
    """One bar for a whole run, on stderr if that is a terminal: the files, and what is being done.

    Parameters
    ----------
    n_files : int
        How many there are in all.
    quiet : bool
        Whether to show nothing.
    """

    def __init__(self, n_files: int, quiet: bool) -> None:
        hidden = True if quiet else None
        self._bar = tqdm(total=n_files, unit="file", file=sys.stderr, disable=hidden)
        self._doing = ""

    def says(self, doing: str) -> None:
        """Show what is being done from now on."""
        if doing != self._doing:
            self._doing = doing
            self._bar.set_description(doing)

    def reading(self, files: Iterable[Path]) -> Iterator[Path]:
        """The files, each counted when the next one is asked for."""
        for file in files:
            self.says("reading")
            yield file
            self.passes(1)

    def passes(self, n_files: int) -> None:
        """Count files."""
        self._bar.update(n_files)

    def close(self) -> None:
        """Leave the bar as it is, on a line of its own."""
        self._bar.close()


def with_progress(files: list[Path], quiet: bool) -> Iterator[Path]:
    """The files of a run that does nothing but read and judge, with a bar."""
    progress = Progress(len(files), quiet)
    yield from progress.reading(files)
    progress.close()


def judged(
    judge: Callable[[GraphBatch, list], list], graphs: Iterable[FileGraph], skipped: Skipped
) -> Iterator[tuple[FileGraph, Any]]:
    """Each graph with what `judge` returns for it.

    It is called with many graphs at a time, and the ids of their nodes.
    """
    for chunk in chunks(graphs):
        yield from judge_all(judge, chunk, skipped)


def judge_all(
    judge: Callable[[GraphBatch, list], list], chunk: list[FileGraph], skipped: Skipped
) -> list[tuple[FileGraph, Any]]:
    """The graphs with what `judge` returns for them, without those that it fails at."""
    try:
        batch = GraphBatch.concatenate([graph.batch for graph in chunk])
        judgments = judge(batch, [graph.nodes for graph in chunk])
    except Exception:  # of which graph?
        judgments = [attempt(skipped.on_error, _judge_one, judge, graph) for graph in chunk]
    pairs = zip(chunk, judgments, strict=True)
    return [(graph, judgment) for graph, judgment in pairs if judgment is not None]


def _judge_one(judge: Callable[[GraphBatch, list], list], graph: FileGraph) -> Any:
    try:
        return judge(graph.batch, [graph.nodes])[0]
    except Exception as error:  # a detector or an encoder of a user's own can raise anything
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(f"{graph.name}: {reason}") from error
