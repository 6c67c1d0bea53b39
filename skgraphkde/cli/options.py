"""Arguments and options that several commands share, and how their values are read."""

from __future__ import annotations

import ast
import functools
import inspect
import os
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from skgraphkde._words import graphs_of_column
from skgraphkde.cli.output import TABLES, OutputFile, check_output
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.problems import MissingError
from skgraphkde.core.graphs.schema import KINDS, SCHEMAS, GraphSchema, validated
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.reading.cases import KINDS as KINDS_OF_CASES
from skgraphkde.reading.cases import CaseRule
from skgraphkde.saving import load

SKIPPED = 3  # the exit code if graphs were skipped, as requested


def examples(*lines: str) -> str:
    """The end of a help text."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def literal(text: str) -> Any:
    """The value of a Python literal; other text stands for itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _together(*options: Callable) -> Callable:
    """Several options as one decorator, in their order."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


model_argument = click.argument("model", type=click.Path())
contamination_option = click.option(
    "--contamination",
    metavar="SHARE",
    callback=lambda ctx, parameter, value: None if value is None else literal(value),
    help='Share of normal graphs below the threshold; "auto" assumes none, and flags scores '
    "that are far below the others, as the outliers of a box plot are.",
)


def output_option(help_text: str, *suffixes: str, required: bool = True) -> Callable:
    """The options -o and --force, of commands that are decorated with `reads_graphs`."""
    return _together(
        click.option(
            "-o", "--output", required=required, type=OutputFile(*suffixes), help=help_text
        ),
        click.option("--force", is_flag=True, help="Replace the output if it exists."),
    )


table_output_option = output_option(
    "A file: .csv, .jsonl or .ndjson (JSON lines), or .parquet.  [default: stdout, as CSV]",
    *TABLES,
    required=False,
)


# -- graphs ----------------------------------------------------------------------------------------

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
# Before the fields of TableFiles, as `graphs` is an argument, the options of `read_batch`, and the
# fields of CaseRule.
_TABLE = "table_"
_CSV = "csv_"
_CASE = "case_"


def _separator(ctx: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    text = "\t" if text in ("tab", "\\t") else text
    if text is not None and len(text) != 1:
        raise click.BadParameter(f"{text!r} is not one character, or tab")
    return text


def _log_option(what: str, help_text: str) -> Callable:
    return click.option(f"--{what}", f"csv_{what}", metavar="NAME", help=help_text)


#: The options for tables of many graphs, of commands that are decorated with `reads_graphs`.
table_options = _together(
    click.option(
        "--graph-column",
        "table_graph",
        metavar="NAME",
        help="GRAPHS is a table of edges (CSV, Parquet) of many graphs, and this is the column "
        "that says to which graph each belongs; or the column of --graphs.",
    ),
    click.option(
        "--source-column",
        "table_source",
        metavar="NAME",
        help="Column of an edge's first end.  [default: source]",
    ),
    click.option(
        "--target-column",
        "table_target",
        metavar="NAME",
        help="Column of an edge's second end.  [default: target]",
    ),
    click.option(
        "--node-column",
        "table_node",
        metavar="NAME",
        help="Column of the node's id in --nodes.  [default: node]",
    ),
    click.option(
        "--graphs",
        "table_graphs",
        type=_FILE,
        metavar="FILE",
        help="Table of graphs, one row each: beside a table of edges, or beside files, which it "
        "calls by their names with or without suffix.",
    ),
    click.option(
        "--nodes",
        "table_nodes",
        type=_FILE,
        metavar="FILE",
        help="Table of nodes, with the columns of the graph and the node.",
    ),
    click.option(
        "--cases",
        "case_by",
        type=click.Choice(KINDS_OF_CASES),
        help="GRAPHS is one table of edges, or one graph, and its cases are judged: what hangs "
        "together; each node with its surroundings; or windows of time.",
    ),
    click.option(
        "--window",
        "case_window",
        metavar="TIME",
        help="Cases are those of windows of this length, such as 7D or 12h.",
    ),
    click.option(
        "--time-column",
        "case_time",
        metavar="NAME",
        help="Column of the time of an edge; cases have the hours since their first edge.",
    ),
    click.option(
        "--hops",
        "case_hops",
        type=click.IntRange(1),
        help="How far an ego reaches.  [default: 1]",
    ),
    click.option(
        "--least",
        "case_least",
        type=click.IntRange(1),
        help="Leave out cases with fewer edges.  [default: 1]",
    ),
    click.option(
        "--egos-of",
        "case_of",
        metavar="NAME=VALUE",
        help="Egos of nodes with this value in --nodes only, such as kind=account.",
    ),
    click.option(
        "--smiles-column",
        "csv_smiles_column",
        metavar="NAME",
        help="GRAPHS are tables of molecules (CSV, .smi with a header), and this is the column of "
        'their SMILES.  [default: the one called like "smiles"]',
    ),
    _log_option(
        "case",
        "GRAPHS are event logs (CSV, XES), and this is the column of the case.  [default, also of "
        "the next four: as in XES]",
    ),
    _log_option("activity", "Column of the activity of an event."),
    _log_option("timestamp", "Column of the time of an event."),
    _log_option("resource", "Column of who did it."),
    _log_option("start", "Column of when it began, if its time is that of its end."),
    click.option(
        "--spans",
        is_flag=True,
        help="GRAPHS are spans (JSON of OpenTelemetry), of which a trace may have some in each.",
    ),
    click.option(
        "--separator",
        "csv_separator",
        metavar="CHAR",
        callback=_separator,
        help="What separates the cells of tables, such as ; or tab.  [default: recognized]",
    ),
    click.option(
        "--decimal",
        "csv_decimal",
        type=click.Choice([",", "."]),
        help="Decimal mark of tables.  [default: recognized]",
    ),
    click.option(
        "--encoding",
        "csv_encoding",
        metavar="NAME",
        help="Encoding of tables.  [default: UTF-8, or else Windows-1252]",
    ),
)


truth_option = click.option(
    "--truth",
    metavar="COLUMN",
    help="Data of graphs, nodes or edges that say which graphs are odd: not read; a command with "
    "a result compares it with that.",
)


column_option = click.option(
    "--column",
    metavar="COLUMN",
    help="Data of graphs whose two values say to which pile each belongs, and are not read; "
    "COLUMN=VALUE: those with the value, and all others.",
)


def _with_listed(
    ctx: click.Context, parameter: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """The paths, and those that standard input lists in place of "-"."""
    if "-" not in paths:
        return paths
    listed = sys.stdin.read().splitlines()
    found = tuple(path for path in [*paths, *listed] if path not in ("-", ""))
    if not found:
        raise click.BadParameter('"-" reads paths from standard input, which has none')
    return found


def _taken(options: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Remove the options whose names begin with a prefix; those that were given, without it."""
    values = {name: options.pop(name) for name in [*options] if name.startswith(prefix)}
    return {name.removeprefix(prefix): x for name, x in values.items() if x is not None}


def _rule_of(options: dict[str, Any]) -> CaseRule | None:
    """What a case is, by the options; None if no cases are to be made."""
    if options and "by" not in options:
        raise click.UsageError(
            "--window, --time-column, --hops, --least and --egos-of say how --cases makes graphs: "
            f"give --cases {' or '.join(KINDS_OF_CASES)}"
        )
    try:
        return CaseRule(**options) if options else None
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def reads_graphs(
    command: Callable, *, required: bool = True, renews_model: bool = False
) -> Callable:
    """Add GRAPHS and the options for reading them; the command gets them as `files`.

    An output that exists is refused without --force, but for a page that verdicts are from, and one
    that the command reads always. Skipped graphs make an exit code.

    Parameters
    ----------
    command : callable
    required : bool, default=True
        Whether GRAPHS must be given.
    renews_model : bool, default=False
        Whether the output may be the model.
    """

    @functools.wraps(command)
    def with_files(
        graphs: tuple[str, ...],
        skip_errors: bool,
        quiet: bool,
        output: str | None,
        spans: bool,
        truth: str | None = None,
        column: str | None = None,
        **options: Any,
    ) -> None:
        outputs = [path for path in (options.get("saved"), output) if path is not None]
        read = [options.get(x) for x in ("verdicts", *(() if renews_model else ("model",)))]
        named = [os.path.realpath(x) for x in (*outputs, *read) if x is not None]
        for path in outputs:
            check_output(path)
            if named.count(os.path.realpath(path)) > 1:
                raise click.UsageError(f"{path} is another file of this command: name a new one")
        tables = _taken(options, _TABLE)
        of_csv = _taken(options, _CSV)
        rule = _rule_of(_taken(options, _CASE))
        if rule is not None and "graph" in tables:
            raise click.UsageError("--cases makes graphs, and --graph-column names them: give one")
        files = GraphFiles(
            graphs,
            tables,
            of_csv,
            outputs,
            truth,
            rule,
            column,
            spans=spans,
            skip_errors=skip_errors,
            quiet=quiet,
        )
        if "call" in options:
            column = tables.get("graph", "" if rule is None else "case")
            called = graphs_of_column(column) | (options["call"] or {})
            options["call"] = called or None
        options.pop("force")  # for `check_output`
        command(files=files, output=output, **options)
        if files.skipped:
            raise click.exceptions.Exit(SKIPPED)

    add = _together(
        click.argument(
            "graphs", nargs=-1, required=required, type=click.Path(), callback=_with_listed
        ),
        click.option(
            "--skip-errors",
            is_flag=True,
            help="Report graphs that cannot be read on stderr, continue, and exit with code 3.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="No bars, and no lines of stages."),
    )
    return add(with_files)


# -- models ----------------------------------------------------------------------------------------


def _import_own(ctx: click.Context, parameter: click.Parameter, name: str | None) -> Any:
    """The module, or the class of ``module:Class``, that the user named."""
    if name is None:
        return None
    sys.path.insert(0, os.getcwd())
    try:
        found = pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise click.BadParameter(f"cannot import {name!r}: {error}") from error
    if ":" in name and not (inspect.isclass(found) and issubclass(found, BaseGraphDetector)):
        raise click.BadParameter(f"{name!r} is not module:Class of a BaseGraphDetector")
    return found


detector_option = click.option(
    "--detector",
    "own",
    metavar="MODULE[:CLASS]",
    callback=_import_own,
    help="A detector of your own, a subclass of BaseGraphDetector, or only the module of a "
    "view or an encoder of your own. The module may be in the current folder. It is "
    "imported, which a model file alone cannot cause.  [default: GraphKDEDetector]",
)


def load_model(path: str, own: Any) -> Any:
    """The detector in a file, which may contain classes of the module that the user named."""
    trusted = []
    if own is not None:
        trusted = _classes_of(own)
    found = load(path, trusted)
    if isinstance(found, BaseGraphDetector):
        return found
    raise ValueError(f"{path} holds a monitor of drift: give the file of a detector")


def _classes_of(own: Any) -> list[str]:
    """The names of all classes of a module, or of the module of a class."""
    module = own if inspect.ismodule(own) else sys.modules[own.__module__]
    names = [name for name, _ in inspect.getmembers(module, inspect.isclass)]
    return [f"{module.__name__}.{name}" for name in names]


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


def _names(ctx: click.Context, parameter: click.Parameter, text: str | None) -> dict | None:
    if text is None:
        return None
    pairs = [pair.split("=") for pair in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise click.BadParameter(f"{text!r} is not of the form nodes=NAME,edges=NAME,graphs=NAME")
    names = {what.strip(): noun.strip() for what, noun in pairs}
    if len(names) < len(pairs):
        raise click.BadParameter(f"{text!r} names one of them twice")
    return names


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
        help="What a missing value is.  [default: error; in find, indicate if there are any]",
    ),
    click.option(
        "--call",
        metavar="NAMES",
        callback=_names,
        help="What you call nodes, edges and graphs: nodes=steps,graphs=cases.  [default: by what "
        "is read]",
    ),
    click.option(
        "--schema",
        type=click.Choice(list(SCHEMAS)),
        help='"all" reads everything, by its type; "molecule" what there is of molecules, besides '
        "what other options name.",
    ),
)


def read_with_gaps(files: GraphFiles, options: dict[str, Any]) -> tuple[GraphBatch, Any]:
    """Read graphs; if values are missing, as evidence, unless the user said otherwise.

    Parameters
    ----------
    files : GraphFiles
    options : dict
        Those of `schema_options`.

    Returns
    -------
    batch : GraphBatch
    schema : GraphSchema or None
        By which it was read.
    """
    schema = schema_of(options)
    files.takes_gaps = options["missing"] is None
    try:
        return files.read(schema), schema
    except (MissingError, click.ClickException) as error:
        is_missing = isinstance(error.__cause__ or error, MissingError)
        if not (is_missing and files.takes_gaps):
            raise
    schema = schema_of({**options, "missing": "indicate"})
    return files.read(schema), schema


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
        if kind in given:  # besides "all", or those of "molecule"; an empty name means none
            names = tuple(filter(None, given[kind]))
            kept = [*(["all"] if schema.is_all(kind) else []), *schema.named(kind)]
            given[kind] = tuple(dict.fromkeys([*kept, *names])) if names else None
    try:
        schema.set_params(**given).validate()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return schema if given or options["schema"] else None
