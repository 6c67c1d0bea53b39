"""``skgraphkde fit``: graph files -> a model file."""

from __future__ import annotations

import ast
import json
import time
import warnings
from typing import Any

import click

from skgraphkde.cli.options import (
    detector_option,
    echo_schema,
    force_option,
    quiet_option,
    schema_of,
    schema_options,
    skip_errors_option,
    training_graphs_argument,
)
from skgraphkde.cli.shell import Progress, Skipped, check_file, echo, examples
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.detectors.settings import paper_settings
from skgraphkde.graphs.files import read_batch
from skgraphkde.graphs.schema import unread_attributes


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
@training_graphs_argument
@click.option("-o", "--output", required=True, callback=check_file, help="The model file.")
@click.option("--contamination", type=float, help="Share of normal graphs below the threshold.")
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
@skip_errors_option
@quiet_option
def fit(
    graphs: tuple[str, ...],
    output: str,
    contamination: float | None,
    calibration: str | None,
    paper: bool,
    random_state: int,
    settings: dict[str, Any],
    force: bool,
    detector: type[BaseGraphDetector],
    skip_errors: bool,
    quiet: bool,
    **schema_settings: Any,
) -> None:
    """Learn what normal GRAPHS look like, and write it to a file.

    The file remembers which data of nodes and edges were read; `score` and `explain` read the same.
    """
    start = time.perf_counter()
    named = {"contamination": contamination, "calibration": calibration}
    parameters = {name: value for name, value in named.items() if value is not None}
    if paper and detector is not GraphKDEDetector:
        raise click.UsageError("--paper has the settings of GraphKDEDetector, not of --detector")
    model = detector(**(paper_settings() if paper else {}))
    schema = schema_of(schema_settings)
    if schema is not None:
        parameters["schema"] = schema
    try:
        model.set_params(**{"random_state": random_state, **parameters, **settings})
    except ValueError as error:  # no such parameter
        raise click.UsageError(" ".join(str(error).split())) from error
    model.validate()  # before files are read
    skipped = Skipped(skip_errors)
    files = skipped.find_files(graphs, output)
    progress = Progress(len(files), quiet)
    batch = read_batch(progress.reading(files), model.specification("schema"), skipped.on_error)
    progress.says("computing")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "not read: ")  # which is said below
        model.fit(batch)
    progress.says("writing")
    model.save(output)
    progress.close()
    echo(f"read            {batch.n_graphs} graphs, {batch.n_nodes} nodes")
    echo_fitted(model)
    echo(f"saved           {output}, after {time.perf_counter() - start:.1f} seconds")
    skipped.exit_if_any()


def echo_fitted(detector: BaseGraphDetector) -> None:
    """Say what was fitted."""
    echo_schema(detector.schema_)
    if unread_attributes(detector.specification("schema"), detector.schema_.left_out):
        echo(
            "  to read it    fit with --schema all, or name what to read: --node-number NAME, "
            "--edge-category NAME, ..."
        )
    if isinstance(detector, GraphKDEDetector):
        density = detector.density_
        references, features = density.references, density.features
        kinds = ", ".join(features.kinds_)
        echo(f"references      {references.n_graphs} graphs, {references.n_nodes} nodes")
        echo(f"node features   {kinds} ({features.n_features_out_} columns)")
        for i, name in enumerate(density.views):
            echo(f"view {i}          {name}")
            if i < len(density.bandwidths):
                bandwidths = ", ".join(f"{h:.4g}" for h in density.bandwidths[i])
                echo(f"  bandwidths    {bandwidths}")
    echo(
        f"threshold       {detector.offset_:.6g} (calibration {detector.calibration!r}, "
        f"contamination {detector.contamination_:g})"
    )
