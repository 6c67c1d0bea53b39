"""How the commands of the shell behave: errors, warnings, files that are written, progress.

In come exceptions and paths. Out go lines on stderr, exit codes, and files that are there whole or
not at all. :mod:`skgraphkde.cli` has the commands.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import click
from tqdm import tqdm

from skgraphkde.graph_files import FileGraph, attempt, chunks
from skgraphkde.graphs import GraphBatch

SKIPPED = 3  # exit code


class Commands(click.Group):
    """Errors that name what is wrong with the input become one line, warnings become one, too."""

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # whoever reads our output has enough: click ends quietly
                raise
            except OSError as error:
                what = error.strerror or str(error)
                message = what if error.filename is None else f"{error.filename}: {what}"
                raise click.ClickException(message) from error
            except ImportError as error:
                cure = 'pip install "skgraphkde[datasets,examples]"'
                raise click.ClickException(f"{error}: {cure}") from error
            except ValueError as error:
                raise click.ClickException(" ".join(str(error).split())) from error


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    tqdm.write(f"Warning: {message}", file=sys.stderr)


class Skipped:
    """Errors that are reported and counted, where the user wants the other files nevertheless."""

    def __init__(self, skip_errors: bool) -> None:
        self.count = 0
        self.on_error = self._report if skip_errors else None

    def _report(self, error: Exception) -> None:
        self.count += 1
        tqdm.write(f"Skipped: {' '.join(str(error).split())}", file=sys.stderr)

    def exit_if_any(self) -> None:
        if self.count:
            raise click.exceptions.Exit(SKIPPED)


def examples(*lines: str) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def check_file(ctx: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    """Where a file is to be written, before anything takes long."""
    if path == "-":
        raise click.BadParameter("that is no text for stdout: give the path of a file")
    if path is not None and not Path(path).parent.is_dir():
        raise click.BadParameter(f"there is no folder {Path(path).parent}")
    if path is not None and Path(path).exists() and not Path(path).is_file():
        raise click.BadParameter(f"{path} is a folder or a device: give the path of a file")
    return path


def check_text(ctx: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    """The same of a text, which can go to stdout."""
    return path if path == "-" else check_file(ctx, parameter, path)


def check_picture(ctx: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    if path is not None:
        from matplotlib.backend_bases import FigureCanvasBase

        if Path(path).suffix[1:].lower() not in FigureCanvasBase.filetypes:
            raise click.BadParameter(f"{path} has no suffix of an image: take .png, .svg or .pdf")
    return check_file(ctx, parameter, path)


@contextlib.contextmanager
def opened(path: str) -> Iterator[IO[str]]:
    """Stdout, or a file that gets its name when all is written."""
    if path == "-":
        yield sys.stdout
        return
    temporary = Path(path).parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "x", encoding="utf-8", newline="") as file:
            yield file
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def with_progress(files: list[Path], quiet: bool) -> Iterable[Path]:
    """A bar on stderr, if that is a terminal."""
    return tqdm(files, unit="file", file=sys.stderr, disable=True if quiet else None)


def judged(
    judge: Callable[[GraphBatch], list], graphs: Iterable[FileGraph], skipped: Skipped
) -> Iterator[tuple[FileGraph, Any]]:
    """Each graph with what `judge` says of it, which is asked for many at a time."""
    for chunk in chunks(graphs):
        try:
            judgments = judge(GraphBatch.concatenate([graph.batch for graph in chunk]))
        except ValueError:  # of which graph?
            judgments = [attempt(skipped.on_error, _judge_one, judge, graph) for graph in chunk]
        for graph, judgment in zip(chunk, judgments, strict=True):
            if judgment is not None:
                yield graph, judgment


def _judge_one(judge: Callable[[GraphBatch], list], graph: FileGraph) -> Any:
    try:
        return judge(graph.batch)[0]
    except ValueError as error:
        raise ValueError(f"{graph.name}: {error}") from error
