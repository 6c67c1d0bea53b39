"""``skgraphkde score``: a model file and graph files -> a row of a table for each graph."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from skgraphkde.calibration import discoveries
from skgraphkde.cli.options import (
    OutputFile,
    detector_option,
    examples,
    force_option,
    load_model,
    model_argument,
    reads_graphs,
    table_options,
)
from skgraphkde.cli.runtime import GraphFiles
from skgraphkde.cli.table import FORMATS, Row, Table, table_format
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.explanation.results import judge
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files import Source, TableFiles, read_files

COLUMNS: dict[str, Any] = {
    "graph": "string",
    "score": float,
    "decision": float,
    "verdict": "string",
    "p_value": float,
}
NUMBERS = ("score", "decision", "p_value")  # columns that tell one model from another


@click.command(
    epilog=examples(
        "skgraphkde score model.skg new/ -o scores.csv",
        "skgraphkde score model.skg new/ -o scores.csv --resume",
        "skgraphkde score model.skg new/ -o scores.csv --alpha 0.1 --reasons",
        "skgraphkde score model.skg new/ -o scores.parquet --force",
        "skgraphkde score model.skg new/ --skip-errors | grep anomaly",
        "find new/ -name '*.gml' -mtime -1 | skgraphkde score model.skg -",
    )
)
@model_argument
@table_options
@click.option(
    "-o",
    "--output",
    default="-",
    type=OutputFile(to_stdout=True),
    help="A file: .csv, .jsonl (JSON lines) or .parquet.  [default: stdout, as CSV]",
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="The format, whatever the file is called."
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True),
    help="Add the column selected: bound on the expected share of normal graphs among those "
    "selected.",
)
@click.option("--reasons", is_flag=True, help="Add the column reason, for anomalies.")
@click.option(
    "--resume",
    is_flag=True,
    help="Keep the rows that the file has, and score the graphs that have none.",
)
@force_option
@detector_option
@reads_graphs
def score(
    model: str,
    files: GraphFiles,
    output: str,
    form: str | None,
    alpha: float | None,
    reasons: bool,
    resume: bool,
    force: bool,
    detector: type[BaseGraphDetector],
) -> None:
    """Judge GRAPHS, one row of a table each.

    The columns are graph, the name of the file; score, higher for normal graphs; decision, the
    score minus the threshold; verdict, normal or anomaly; and p_value, the share of normal graphs
    that score as low (empty for a model fitted with --calibration train). In a name, what cannot
    be printed is written as an escape, and in a CSV a quote precedes what a spreadsheet would
    compute.

    With --alpha, selected is True for the graphs that are anomalies at that false-discovery rate.
    It depends on all rows: it is empty until they are there, and filled in at the end. With
    --reasons, reason is the first reason for each anomaly, in words, and empty for normal
    graphs.

    Rows are in the file as soon as they are finished. However a run ends, the same command with
    --resume goes on, and the file has in the end the rows that it would have had.
    """
    if resume and (force or output == "-"):
        cure = "without --force" if force else "with -o FILE"
        raise click.UsageError(f"--resume goes on after the rows of a file: give it {cure}")
    if alpha is not None and output == "-":
        raise click.UsageError("--alpha fills in a column when all rows are there: give -o FILE")
    columns = COLUMNS | ({} if alpha is None else {"selected": bool})
    columns |= {"reason": "string"} if reasons else {}
    table = Table(output, columns, table_format(output, form))
    if table.place != output and Path(table.place).exists() and not (resume or force):
        raise click.UsageError(
            f"{table.place} has the rows of a run that was interrupted: give --resume to go on "
            "after them, or --force to begin again"
        )
    fitted = load_model(model, detector).detector
    _check_can(fitted, alpha, reasons)
    known = _resumed(table, files.sources, fitted) if resume else set()
    unseen = [path for path in files.sources if table.cell(str(path)) not in known]
    read = files.read(fitted.schema_, unseen)
    new = (graph for graph in read if table.cell(graph.name) not in known)
    try:
        for pairs in files.judged_chunks(partial(_judge, fitted, reasons), new):
            table.append({"graph": graph.name} | row for graph, row in pairs)
        table.append([])  # the file has at least its header
        if alpha is not None:
            table.fill("selected", partial(_selected, alpha))
        table.finish()
    except BaseException as error:
        if table.place != "-" and table.n_rows:
            option = "--resume in place of --force" if force else "--resume"
            error.add_note(
                f"; {table.place} has {table.n_rows} row{'s' * (table.n_rows > 1)}, and the same "
                f"command with {option} goes on after them"
            )
        raise
    files.exit_if_skipped()


def _check_can(detector: BaseGraphDetector, alpha: float | None, reasons: bool) -> None:
    """Check that a detector has what the columns need."""
    if alpha is not None and not detector.is_calibrated_:
        raise click.ClickException(
            "a model that was fitted with --calibration train has no p-values, which --alpha "
            "needs: leave it out, or fit the model with another --calibration"
        )
    if reasons and not isinstance(detector, GraphKDEDetector):
        raise click.ClickException(
            f"{type(detector).__name__} has no reasons, only GraphKDEDetector: leave out --reasons"
        )


def _resumed(table: Table, files: list[Source], detector: BaseGraphDetector) -> set[str]:
    """The names of graphs that have rows, as the table has them.

    Raises
    ------
    ValueError
        If this model does not give the last row its numbers.
    """
    rows = table.resume("selected")
    if rows:
        _check_model(rows[-1], table, files, detector)
    return {row["graph"] for row in rows}


def _check_model(row: Row, table: Table, files: list[Source], detector: BaseGraphDetector) -> None:
    name = row["graph"]
    names = (name, name.rpartition("#")[0])  # of a file, or of one that holds many graphs
    own = [x for x in files if isinstance(x, TableFiles) or table.cell(str(x)) in names]
    if not own:
        raise ValueError(
            f"the last row of {table.place} is that of {name}, which is not among the graphs: "
            "give the same graphs again, another -o, or --force to replace the file"
        )
    for graph in read_files(own, detector.schema_):
        if table.cell(graph.name) == name:
            (now,) = _judge(detector, False, graph.batch, [graph.nodes])
            numbers = [[_number(x.get(column)) for column in NUMBERS] for x in (row, now)]
            if not np.allclose(numbers[0], numbers[1], rtol=1e-6, atol=1e-6, equal_nan=True):
                old, new = (", ".join(f"{x:.6g}" for x in y) for y in numbers)
                raise ValueError(
                    f"{table.place} was written with another model: there {name} has the score, "
                    f"decision and p-value {old}, and by this model {new}. Give the model and the "
                    "graphs of the file, or --force to replace it"
                )


def _judge(
    detector: BaseGraphDetector, with_reasons: bool, batch: GraphBatch, ids: list
) -> list[Row]:
    """The rows of graphs, without their names."""
    judged = judge(detector, batch, n_reasons=0)
    rows: list[Row] = [
        {"score": x.score, "decision": x.decision, "verdict": x.verdict, "p_value": x.p_value}
        for x in judged
    ]
    anomalies = [i for i, x in enumerate(judged) if x.is_anomaly]
    if with_reasons and anomalies:
        names = [ids[i] for i in anomalies]
        explained = judge(detector, batch[anomalies], n_reasons=1, node_names=names)
        for i, x in zip(anomalies, explained, strict=True):
            rows[i]["reason"] = x.why
    return rows


def _selected(alpha: float, rows: list[Row]) -> list[bool]:
    """For each row, True if it is a discovery among all."""
    return discoveries(np.array([_number(row["p_value"]) for row in rows]), alpha).tolist()


def _number(value: Any) -> float:
    return float("nan") if value in ("", None) else float(value)
