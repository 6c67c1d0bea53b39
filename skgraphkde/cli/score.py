"""``skgraphkde score``: a model file and graph files -> a row of a table for each graph."""

from __future__ import annotations

from typing import Any

import click
import numpy as np
import pandas as pd

from skgraphkde._messages import printable
from skgraphkde.cli.options import (
    detector_option,
    examples,
    load_model,
    model_argument,
    reads_graphs,
    table_options,
    table_output_option,
    truth_option,
)
from skgraphkde.cli.output import write_table
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.cli.truth import add_what_files_say, echo_truth
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.scoring.calibration import discoveries
from skgraphkde.detectors.estimator import GraphKDEDetector
from skgraphkde.explanation.results import N_REASONS, Judgement, judge


@click.command(
    epilog=examples(
        "skgraphkde score model.skg new/ -o scores.csv",
        "skgraphkde score model.skg new/ -o scores.csv --alpha 0.1 --reasons",
        "skgraphkde score model.skg new/ -o scores.csv --together --alpha 0.1",
        "skgraphkde score model.skg new/ -o scores.parquet --force",
        "skgraphkde score model.skg new/ --skip-errors | grep anomaly",
        "find new/ -name '*.gml' -mtime -1 | skgraphkde score model.skg -",
    )
)
@model_argument
@table_options
@table_output_option
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True),
    help="Add the column selected: bound on the expected share of normal graphs among those "
    "selected.",
)
@click.option(
    "--together",
    is_flag=True,
    help="Judge GRAPHS as one list: for p_value and selected, views in which the list is odd count "
    "more, so that these depend on all of GRAPHS.",
)
@click.option("--reasons", is_flag=True, help="Add the column reason, for anomalies.")
@truth_option
@detector_option
@reads_graphs
def score(
    model: str,
    files: GraphFiles,
    output: str | None,
    alpha: float | None,
    together: bool,
    reasons: bool,
    own: Any,
) -> None:
    """Judge GRAPHS, one row of a table each.

    The columns are graph, the name of the file; score, higher for normal graphs; decision, the
    score minus the threshold; verdict, normal or anomaly; and p_value, the share of normal graphs
    that score as low (empty for a model fitted with --calibration train).

    With --alpha, selected is True for the graphs that are anomalies at that false-discovery rate.
    With --reasons, reason is the first reason for each anomaly, in words, and empty for normal
    graphs. JSON lines and Parquet also have findings, a list of the strong reasons of each anomaly
    (or else of the weak ones), with kind, what, part, value, low, high, n_known, nodes and edges.
    """
    fitted = load_model(model, own)
    if (alpha is not None or together) and not fitted.is_calibrated_:
        option = "--together" if together else "--alpha"
        raise click.ClickException(
            f"a model that was fitted with --calibration train has no p-values, which {option} "
            "needs: leave it out, or fit the model with another --calibration"
        )
    if reasons and not isinstance(fitted, GraphKDEDetector):
        raise click.ClickException(
            f"{type(fitted).__name__} has no reasons, only GraphKDEDetector: leave out --reasons"
        )
    batch = fitted.read(files.read(fitted.schema_))
    with files.stage("Judging"):
        judged = judge(fitted, batch, n_reasons=N_REASONS * reasons)
    table = table_of(batch, judged)
    if together:
        with files.stage("Judging together"):
            table["p_value"] = fitted.p_values(batch, adapt=True)
    if alpha is not None:
        n_scores = len(fitted.calibration_scores_)
        table["selected"] = discoveries(table["p_value"].to_numpy(), alpha, n_scores)
    if reasons:
        table["reason"] = [x.why if x.is_anomaly else None for x in judged]
        if output is not None and not output.lower().endswith(".csv"):  # which has no lists
            table["findings"] = [[y.record() for y in x.told] * x.is_anomaly for x in judged]
    add_what_files_say(table, files, list(batch.names or ()))
    write_table(table, output)
    echo_truth(files, table["score"].tolist(), err=output is None)


def table_of(batch: GraphBatch, judged: list[Judgement]) -> pd.DataFrame:
    """Names, scores and verdicts of graphs, one row each."""
    columns = {
        "graph": [printable(name) for name in batch.names or ()],
        "score": [x.score for x in judged],
        "decision": [x.decision for x in judged],
        "verdict": [x.verdict for x in judged],
        "p_value": np.array([x.p_value for x in judged], dtype=float),
    }
    return pd.DataFrame(columns)
