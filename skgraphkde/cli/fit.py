"""``skgraphkde fit``: graph files -> a model file."""

from __future__ import annotations

import inspect
from typing import Any

import click

from skgraphkde.cli.info import fit_quietly, save
from skgraphkde.cli.options import (
    contamination_option,
    detector_option,
    examples,
    literal,
    output_option,
    reads_graphs,
    schema_of,
    schema_options,
    table_options,
    truth_option,
)
from skgraphkde.cli.output import echo
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.cli.verdicts import read_verdicts, verdicts_option
from skgraphkde.detectors.estimator import GraphKDEDetector


def _parse_settings(
    ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE")
        settings[name] = literal(value)
    return settings


@click.command(
    epilog=examples(
        "skgraphkde fit normal/ -o model.skg",
        "skgraphkde fit a.graphml b.graphml more/ -o model.skg --node-category element",
        "skgraphkde fit normal/ -o model.skg --node-number temp --edge-category kind --directed",
        "skgraphkde fit MUTAG.zip -o model.skg --lgkde --set hidden_dim=32",
        "skgraphkde fit normal/ -o model.skg --set max_references=2000 --set views=density",
        "skgraphkde fit graphs/ -o model.skg --verdicts verdicts.csv",
        "skgraphkde fit normal/ -o model.skg --detector mine:SizeDetector",
    )
)
@table_options
@output_option("The model file.")
@contamination_option
@click.option(
    "--calibration",
    type=click.Choice(["loo", "split", "train"]),
    help="Which scores determine the threshold.",
)
@click.option("--lgkde", is_flag=True, help="LGKDE, the method of the paper, with a network.")
@click.option("--random-state", type=int, default=0, show_default=True, help="Seed.")
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_parse_settings,
    help="Any parameter of the detector, such as max_references. The value is a Python "
    "literal; other text is a string. Takes precedence over other options.",
)
@verdicts_option
@truth_option
@detector_option
@schema_options
@reads_graphs
def fit(
    files: GraphFiles,
    output: str,
    contamination: Any,
    calibration: str | None,
    lgkde: bool,
    random_state: int,
    settings: dict[str, Any],
    verdicts: str | None,
    own: Any,
    **schema_settings: Any,
) -> None:
    """Learn what normal GRAPHS look like, and write it to a file.

    The file remembers which data of nodes, edges and graphs were read; `score` and `report` read
    the same.
    """
    named = {
        "contamination": contamination,
        "calibration": calibration,
        "schema": schema_of(schema_settings),
    }
    parameters: dict[str, Any] = {"random_state": random_state}
    parameters |= {name: value for name, value in named.items() if value is not None}
    detector: Any = own if inspect.isclass(own) else GraphKDEDetector
    if lgkde and inspect.isclass(own):
        raise click.UsageError("--lgkde and --detector are two detectors: give one")
    if lgkde:
        from skgraphkde.learned import LGKDE  # needs torch

        detector = LGKDE
    try:
        model = detector().set_params(**parameters | settings)
    except ValueError as error:  # no such parameter
        raise click.UsageError(str(error)) from error
    model.validate()  # before files are read
    files.check_apart()
    if verdicts is not None and not isinstance(model, GraphKDEDetector):
        raise click.UsageError(f"a {type(model).__name__} does not learn from --verdicts")
    marked = None if verdicts is None else read_verdicts(verdicts)
    batch = files.read(model.given_schema)
    echo(
        f"read            {batch.schema.words.counted(batch.n_graphs, 'graph')}, "
        f"{batch.schema.words.counted(batch.n_nodes, 'node')}"
    )
    if files.truth is not None:
        echo(f"left out        {files.truth.column!r}, the truth")
    of_people = {} if marked is None else {"verdicts": marked.of(list(batch.names or ()), files)}
    save(fit_quietly(files, model.fit, batch, **of_people), output)
