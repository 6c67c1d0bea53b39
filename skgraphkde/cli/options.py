"""Arguments and options that several commands share, and how their values are read."""

from __future__ import annotations

import functools
import inspect
import os
import pkgutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from skgraphkde._version import __version__
from skgraphkde.cli.runtime import GraphFiles, echo, only_writer
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.schema import KINDS, SCHEMAS, GraphSchema, validated
from skgraphkde.saving import InvalidFileError, load


def examples(*lines: str) -> str:
    """The end of a help text."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _together(*options: Callable) -> Callable:
    """Several options as one decorator, in their order."""

    def add(command: Callable) -> Callable:
        for option in reversed(options):
            command = option(command)
        return command

    return add


# -- paths -----------------------------------------------------------------------------------------


class OutputFile(click.ParamType):
    """The path of a file to write, checked before anything takes long.

    Parameters
    ----------
    to_stdout : bool, default=False
        Accept "-", which is stdout.
    suffixes : sequence of str, default=()
        Suffixes that the path can have; any, if there are none.
    """

    name = "file"

    def __init__(self, *, to_stdout: bool = False, suffixes: Sequence[str] = ()) -> None:
        self.to_stdout, self.suffixes = to_stdout, suffixes

    def convert(self, value: str, param: Any, ctx: click.Context | None) -> str:
        """The path, if a file can be written there."""
        if value == "-" and self.to_stdout:
            return value
        if value == "-":
            self.fail("this output cannot go to stdout: give the path of a file")
        path = Path(value)
        if self.suffixes and path.suffix.lower() not in self.suffixes:
            self.fail(f"{value} does not have the suffix {' or '.join(self.suffixes)}")
        if not path.parent.is_dir():
            self.fail(f"the folder {path.parent} does not exist")
        if path.exists() and not path.is_file():
            self.fail(f"{value} is a folder or a device: give the path of a file")
        return value


def _lock_outputs(options: dict[str, Any]) -> list[str]:
    """The files that a command writes, locked until it ends.

    A file that exists is replaced only by a command that got ``--force``, if it has that option.
    Whether it exists is asked under the lock: another process may just have written it.
    """
    outputs = [x for x in (options.get("output"), options.get("picture")) if x is not None]
    replaces = options.get("force", True) or options.get("resume")
    for output in outputs:
        click.get_current_context().with_resource(only_writer(output))
        if output != "-" and os.path.exists(output) and not replaces:
            cure = "--resume to go on after its rows, " * ("resume" in options)
            raise click.UsageError(
                f"{output} exists: give --force to replace it, {cure}or another path"
            )
    return outputs


def _with_listed(
    ctx: click.Context, parameter: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """The paths, with those that standard input lists in place of "-".

    An empty list, such as that of a quiet day, leaves nothing to do, which is an error for `fit`.
    """
    if "-" not in paths:
        return paths
    content = sys.stdin.buffer.read()
    lines = content.split(b"\0") if b"\0" in content else content.splitlines()
    place = paths.index("-")
    others = [path for path in paths[place:] if path != "-"]
    paths = (*paths[:place], *(os.fsdecode(line) for line in lines if line), *others)
    if not paths and ctx.command.name == "fit":
        raise click.BadParameter('"-" reads paths from standard input, which has none')
    if not paths:
        echo("Nothing to do: standard input lists no files", err=True)
        ctx.exit(0)
    return paths


model_argument = click.argument("model", type=click.Path())


def _share(ctx: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    if value is None or value == "auto":
        return value
    try:
        share = float(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is neither a number nor 'auto'") from error
    if not 0 < share <= 0.5:
        raise click.BadParameter(f"{value} is not above 0 and at most 0.5, nor 'auto'")
    return share


contamination_option = click.option(
    "--contamination",
    metavar="SHARE",
    callback=_share,
    help='Share of normal graphs below the threshold; "auto" assumes none, but takes the lower '
    "fence of a box plot of the scores.",
)
force_option = click.option(
    "--force",
    is_flag=True,
    help="Replace files that exist.",
)
_graphs_options = _together(
    click.option(
        "--skip-errors",
        is_flag=True,
        help="Report graphs that cannot be read or scored on stderr, continue, and exit with code "
        "3.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="No progress bar."),
)
OF_TABLE = "table_"  # before the names of the fields of TableFiles, as `graphs` is an argument


def _table_option(name: str, field: str, help_text: str) -> Callable:
    is_file = name in ("--nodes", "--graphs")
    path = click.Path(exists=True, dir_okay=False, path_type=Path)
    return click.option(
        name,
        f"{OF_TABLE}{field}",
        type=path if is_file else str,
        metavar="FILE" if is_file else "NAME",
        help=help_text,
    )


#: The options for tables of many graphs, of commands that are decorated with `reads_graphs`.
table_options = _together(
    _table_option(
        "--graph-column",
        "graph",
        "GRAPHS is a table of edges (CSV, Parquet) of many graphs, and this is the column that "
        "says to which graph each belongs.",
    ),
    _table_option("--source-column", "source", "Column of an edge's first end.  [default: source]"),
    _table_option(
        "--target-column", "target", "Column of an edge's second end.  [default: target]"
    ),
    _table_option("--node-column", "node", "Column of the node's id in --nodes.  [default: node]"),
    _table_option("--graphs", "graphs", "Table of graphs, one row each."),
    _table_option(
        "--nodes", "nodes", "Table of nodes, with the columns of the graph and the node."
    ),
)


def reads_graphs(command: Callable, *, required: bool = True) -> Callable:
    """Add GRAPHS and the options for reading them; the command gets them as `files`.

    Parameters
    ----------
    command : callable
    required : bool, default=True
        Whether GRAPHS must be given.
    """

    @functools.wraps(command)
    def with_files(graphs: tuple[str, ...], skip_errors: bool, quiet: bool, **options: Any) -> None:
        fields = {name: options.pop(name) for name in [*options] if name.startswith(OF_TABLE)}
        tables = {k.removeprefix(OF_TABLE): v for k, v in fields.items() if v is not None}
        outputs = _lock_outputs(options)
        files = GraphFiles(graphs, outputs, tables, skip_errors=skip_errors, quiet=quiet)
        command(files=files, **options)

    graphs = click.argument(
        "graphs", nargs=-1, required=required, type=click.Path(), callback=_with_listed
    )
    return graphs(_graphs_options(with_files))


# -- models ----------------------------------------------------------------------------------------


def _detector_class(
    ctx: click.Context, parameter: click.Parameter, name: str | None
) -> type[BaseGraphDetector]:
    """The class that ``module:Class`` names, or the default one after importing ``module``."""
    if name is None:
        return GraphKDEDetector
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        found = pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise click.BadParameter(f"cannot import {name!r}: {error}") from error
    finally:
        sys.path.remove(folder)
    if ":" not in name:
        return GraphKDEDetector
    if not (inspect.isclass(found) and issubclass(found, BaseGraphDetector)):
        raise click.BadParameter(f"{name!r} is not module:Class of a BaseGraphDetector")
    return found


detector_option = click.option(
    "--detector",
    metavar="MODULE[:CLASS]",
    callback=_detector_class,
    help="A detector of your own, a subclass of BaseGraphDetector, or only the module of a "
    "view, an encoder or a distance of your own. The module may be in the current folder. It is "
    "imported, which a model file alone cannot cause.  [default: GraphKDEDetector]",
)


def load_model(path: str, detector: type[BaseGraphDetector]) -> Any:
    """A model file, whose detector must be of the class that the user named, or of the default."""
    try:
        contents = SimpleNamespace(detector=load(path), library_version=__version__)
    except InvalidFileError as error:
        error.add_note(
            "; if it contains a class of your own, name its module with --detector MODULE[:CLASS]"
        )
        raise
    found = type(contents.detector)
    if found is not detector:
        cure = f"give --detector {found.__module__}:{found.__qualname__}"
        raise click.ClickException(
            f"{path} contains an object of the class {found.__name__}: "
            f"{'leave out --detector' if found is GraphKDEDetector else cure}"
        )
    return contents


# -- the schema ------------------------------------------------------------------------------------

_ATTRIBUTES = {
    "node_categories": ("--node-category", "Node attribute that is a category", "label, node_type"),
    "node_numbers": ("--node-number", "Node attribute that is a number or a list of them", "x"),
    "edge_categories": ("--edge-category", "Edge attribute that is a category", "label, edge_type"),
    "edge_numbers": ("--edge-number", "Edge attribute that is a number or a list", "x, edge_attr"),
    "graph_categories": ("--graph-category", "Attribute of a graph that is a category", ""),
    "graph_numbers": ("--graph-number", "Attribute of a graph that is a number or a list", ""),
}


def _attribute_option(kind: str, name: str, what: str, default: str) -> Callable:
    default = f"{default}, if graphs have them" if default else "none"
    text = f'{what}; give the option again for more, or "" for none.  [default: {default}]'
    return click.option(name, kind, metavar="NAME", multiple=True, help=text)


#: The options that make up a GraphSchema.
schema_options = _together(
    *(_attribute_option(kind, *words) for kind, words in _ATTRIBUTES.items()),
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
        "--schema",
        type=click.Choice(list(SCHEMAS)),
        help='"all" reads everything, by its type; "molecule" what there is of molecules, besides '
        "what other options name.",
    ),
)


def schema_of(options: dict[str, Any]) -> GraphSchema | None:
    """The schema that the values of `schema_options` make up; None if none was given.

    Raises
    ------
    click.UsageError
        If they contradict each other.
    """
    given = {name: value for name, value in options.items() if value not in (None, ())}
    schema = validated(given.pop("schema", None))
    for kind in KINDS:
        if kind in given:  # besides those of "molecule"; an empty name means none
            names = tuple(filter(None, given[kind]))
            given[kind] = tuple(dict.fromkeys([*schema.named(kind), *names])) if names else None
    try:
        schema.set_params(**given).validate()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return schema if given or options["schema"] else None
