"""``skgraphkde fit``: graph files -> a model file."""

from __future__ import annotations

import ast
import json
import time
import warnings
from difflib import get_close_matches
from typing import Any

import click

from skgraphkde.cli.fitted import echo_fitted
from skgraphkde.cli.options import (
    OutputFile,
    contamination_option,
    detector_option,
    examples,
    force_option,
    reads_graphs,
    schema_of,
    schema_options,
    table_options,
)
from skgraphkde.cli.runtime import GraphFiles, echo
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.detectors.settings import paper_settings
from skgraphkde.graphs.files import read_batch
from skgraphkde.graphs.problems import IgnoredWarning


def _parse_settings(
    ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    """Values are JSON or Python literals; other text stands for itself and needs no quotes."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE")
        settings[name] = _literal(value)
    return settings


def _literal(text: str) -> Any:
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError):
            continue
    return text


@click.command(
    epilog=examples(
        "skgraphkde fit normal/ -o model.skg",
        "skgraphkde fit a.graphml b.graphml more/ -o model.skg --node-category element",
        "skgraphkde fit normal/ -o model.skg --node-number temp --edge-category kind --directed",
        "skgraphkde fit MUTAG.zip -o model.skg --paper --set training__max_iter=20",
        "skgraphkde fit normal/ -o model.skg --set encoder=gcn --set encoder__n_layers=3",
        "skgraphkde fit normal/ -o model.skg --detector mine:SizeDetector",
    )
)
@table_options
@click.option("-o", "--output", required=True, type=OutputFile(), help="The model file.")
@contamination_option
@click.option(
    "--calibration",
    type=click.Choice(["loo", "split", "train"]),
    help="Which scores determine the threshold.",
)
@click.option("--paper", is_flag=True, help="The settings of the paper: trains a network.")
@click.option("--random-state", type=int, default=0, show_default=True, help="Seed.")
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_parse_settings,
    help="Any parameter of the detector, such as encoder__n_layers. The value is JSON or a Python "
    "literal; other text is a string. Takes precedence over other options.",
)
@force_option
@detector_option
@schema_options
@reads_graphs
def fit(
    files: GraphFiles,
    output: str,
    contamination: float | str | None,
    calibration: str | None,
    paper: bool,
    random_state: int,
    settings: dict[str, Any],
    force: bool,
    detector: type[BaseGraphDetector],
    **schema_settings: Any,
) -> None:
    """Learn what normal GRAPHS look like, and write it to a file.

    The file remembers which data of nodes, edges and graphs were read; `score` and `explain` read
    the same.
    """
    start = time.perf_counter()
    if paper and detector is not GraphKDEDetector:
        raise click.UsageError("--paper has the settings of GraphKDEDetector, not of --detector")
    model = detector(**(paper_settings() if paper else {}))
    named = {
        "contamination": contamination,
        "calibration": calibration,
        "schema": schema_of(schema_settings),
    }
    parameters = {name: value for name, value in named.items() if value is not None}
    try:
        model.set_params(**{"random_state": random_state, **parameters, **settings})
    except ValueError as error:  # no such parameter
        known = model.get_params()
        unknown = [x for x in (name.split("__")[0] for name in settings) if x not in known]
        similar = [x for name in unknown[:1] for x in get_close_matches(name, known, 1)]
        hint = f" Did you mean {similar[0]!r}?" if similar else ""
        raise click.UsageError(f"{error}{hint}") from error
    model.validate()  # before files are read
    batch = read_batch(files.progress(), model.given_schema, files.on_error)
    echo(f"read            {batch.n_graphs} graphs, {batch.n_nodes} nodes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IgnoredWarning)  # echo_fitted prints these attributes
        model.fit(batch)
    model.save(output)
    echo_fitted(model)
    echo(f"saved           {output}, after {time.perf_counter() - start:.1f} seconds")
    files.exit_if_skipped()
