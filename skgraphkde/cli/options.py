"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import click

from skgraphkde.cli.shell import echo
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.files import Contents, InvalidFileError, read
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.naming import listed
from skgraphkde.graphs.schema import KINDS, FittedSchema, GraphSchema
from skgraphkde.persistence.registry import is_registered

model_argument = click.argument("model", type=click.Path())


def _with_listed(
    ctx: click.Context, parameter: click.Parameter, paths: tuple[str, ...], none: str = "exit"
) -> tuple[str, ...]:
    """The paths, with those that standard input lists in place of "-".

    A list without paths, such as that of the files of a quiet day, leaves nothing to do, unless
    `none` says that the command can do without ("keep"), or cannot ("error").
    """
    if "-" not in paths:
        return paths
    content = sys.stdin.buffer.read()
    lines = content.split(b"\0") if b"\0" in content else content.splitlines()
    listed_there = [os.fsdecode(line) for line in lines if line]
    place = paths.index("-")
    others = [path for path in paths[place:] if path != "-"]
    paths = (*paths[:place], *listed_there, *others)
    if not paths and none == "error":
        raise click.BadParameter('"-" reads paths from standard input, which has none')
    if not paths:
        echo("Nothing to do: standard input lists no files", err=True)
    if not paths and none == "exit":
        ctx.exit(0)
    return paths


def _graphs_argument(none: str) -> Callable:
    callback = partial(_with_listed, none=none)
    return click.argument("graphs", nargs=-1, required=True, type=click.Path(), callback=callback)


graphs_argument, any_graphs_argument = _graphs_argument("exit"), _graphs_argument("keep")
training_graphs_argument = _graphs_argument("error")
force_option = click.option(
    "--force",
    is_flag=True,
    is_eager=True,  # paths that are checked after it look it up
    help="Replace files that exist.",
)
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


MOST_NAMES = 20  # in a line


# -- what is read of graphs ------------------------------------------------------------------------

_ABOUT = {
    "node_categories": ("--node-category", "Node attribute that is a category", "label, node_type"),
    "node_numbers": ("--node-number", "Node attribute that is a number or a list of them", "x"),
    "edge_categories": ("--edge-category", "Edge attribute that is a category", "label, edge_type"),
    "edge_numbers": ("--edge-number", "Edge attribute that is a number or a list", "x, edge_attr"),
}


def schema_options(command: Callable) -> Callable:
    """Options that make up a GraphSchema."""
    options = [
        click.option(
            name,
            kind,
            metavar="NAME",
            multiple=True,
            help=f'{what}; give the option again for more, or "" for none.  '
            f"[default: {default}, if graphs have them]",
        )
        for kind, (name, what, default) in _ABOUT.items()
    ]
    options += [
        click.option("--edge-weight", metavar="NAME", help="Edge attribute that is a weight."),
        click.option(
            "--directed/--undirected",
            default=None,
            help="Whether edges have a direction.  [default: as the graphs are]",
        ),
        click.option(
            "--missing",
            type=click.Choice(["error", "indicate"]),
            help="What a missing value is.  [default: error]",
        ),
        click.option(
            "--schema", type=click.Choice(["all"]), help='"all" reads everything, by its type.'
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def schema_of(options: dict[str, Any]) -> GraphSchema | None:
    """The schema that the options make up; None if there are none.

    Raises
    ------
    click.UsageError
        If they contradict each other.
    """
    everything = options.pop("schema") is not None
    schema = GraphSchema.everything() if everything else GraphSchema()
    changes: dict[str, Any] = {}
    for kind in KINDS:
        names = options.pop(kind)
        if names:
            changes[kind] = tuple(filter(None, names)) or None
    for name in ("edge_weight", "directed", "missing"):
        value = options.pop(name)
        if value is not None:
            changes[name] = value
    try:
        schema.set_params(**changes).validate()
    except ValueError as error:
        raise click.UsageError(" ".join(str(error).split())) from error
    return schema if changes or everything else None


def echo_schema(schema: FittedSchema) -> None:
    """Say what was read of the training graphs, and what was not."""
    parts = ["directed graphs" if schema.directed else "undirected graphs"]
    for kind in KINDS:
        value = getattr(schema, kind)
        names = value if kind.endswith("categories") else [name for name, _ in value]
        if names:
            parts.append(f"{kind.replace('_', ' ')} {listed([repr(x) for x in names], MOST_NAMES)}")
    if schema.edge_weight is not None:
        parts.append(f"edge weight {schema.edge_weight!r}")
    if schema.missing != "error":
        parts.append("missing values as evidence")
    echo(f"reads           {'; '.join(parts)}")
    if schema.left_out:
        echo(f"left out        {listed(schema.left_out, MOST_NAMES)}")
