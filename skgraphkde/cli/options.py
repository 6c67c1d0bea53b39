"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import sys
from collections.abc import Iterator
from typing import Any

import click

from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.files import Contents, InvalidFileError, read
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.persistence.registry import is_registered

model_argument = click.argument("model", type=click.Path())
graphs_argument = click.argument("graphs", nargs=-1, required=True, type=click.Path())
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress bar.")
skip_errors_option = click.option(
    "--skip-errors",
    is_flag=True,
    help="Report graphs that cannot be read or scored on stderr, continue, and exit with code 3.",
)


def _detector_class(
    ctx: click.Context, parameter: click.Parameter, name: str | None
) -> type[BaseGraphDetector]:
    """The class that ``module:Class`` names, or the default one after importing ``module``."""
    if name is None:
        return GraphKDEDetector
    module, colon, class_name = name.partition(":")
    with _current_folder():
        try:
            found: Any = getattr(importlib.import_module(module), class_name, None)
        except (ImportError, TypeError, ValueError) as error:
            raise click.BadParameter(f"cannot import {module!r}: {error}") from error
    if not colon:
        return GraphKDEDetector
    if not (inspect.isclass(found) and issubclass(found, BaseGraphDetector)):
        raise click.BadParameter(f"{name!r} is not module:Class of a BaseGraphDetector")
    if not is_registered(found):
        raise click.BadParameter(
            f"{class_name} cannot be saved or loaded: decorate it with skgraphkde.register"
        )
    return found


@contextlib.contextmanager
def _current_folder() -> Iterator[None]:
    """Let modules be imported from the current folder."""
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


detector_option = click.option(
    "--detector",
    metavar="MODULE[:CLASS]",
    callback=_detector_class,
    help="A detector of your own, a subclass of BaseGraphDetector, or only the module of an "
    "encoder or a distance of your own. The module may be in the current folder. It is imported, "
    "which a model file alone cannot cause.  [default: GraphKDEDetector]",
)


def load_model(path: str, detector: type[BaseGraphDetector]) -> Contents:
    """A model file, whose detector must be of the class that the user named, or of the default."""
    try:
        contents = read(path)
    except InvalidFileError as error:
        if "not registered" not in str(error):
            raise
        raise click.ClickException(
            f"{path} contains an object of a class of your own: name its module with --detector "
            f"MODULE[:CLASS] ({error.__cause__})"
        ) from error
    found = type(contents.detector)
    if found is not detector:
        cure = f"give --detector {found.__module__}:{found.__qualname__}"
        raise click.ClickException(
            f"{path} contains an object of the class {found.__name__}: "
            f"{'leave out --detector' if found is GraphKDEDetector else cure}"
        )
    return contents
