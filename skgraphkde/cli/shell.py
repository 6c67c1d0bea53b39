"""How all commands behave: errors and warnings on stderr, exit codes, files, progress."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import click
from tqdm import tqdm

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files import FileGraph, attempt, chunks
from skgraphkde.persistence import atomic_file

SKIPPED = 3  # exit code


class Commands(click.Group):
    """Turns errors about the input, and warnings, into one line each."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # the reader of our output has stopped: click exits quietly
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
    """Errors that are reported and counted while the other files are processed."""

    def __init__(self, skip_errors: bool) -> None:
        self.count = 0
        self.on_error = self._report if skip_errors else None

    def _report(self, error: Exception) -> None:
        self.count += 1
        tqdm.write(f"Skipped: {' '.join(str(error).split())}", file=sys.stderr)

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
