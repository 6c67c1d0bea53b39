"""``skgraphkde score``: a model file and graph files -> a row of a CSV for each graph."""

from __future__ import annotations

import click

from skgraphkde.calibration import conformal_p_values
from skgraphkde.cli.options import (
    detector_option,
    graphs_argument,
    load_model,
    model_argument,
    quiet_option,
    skip_errors_option,
)
from skgraphkde.cli.shell import (
    Skipped,
    check_text,
    examples,
    judged,
    opened,
    with_progress,
    write_rows,
)
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files import find_files, read_files


@click.command(
    epilog=examples(
        "skgraphkde score model.skg new/ -o scores.csv",
        "skgraphkde score model.skg new/ --skip-errors | grep anomaly",
    )
)
@model_argument
@graphs_argument
@click.option(
    "-o", "--output", default="-", callback=check_text, help="A CSV file.  [default: stdout]"
)
@detector_option
@skip_errors_option
@quiet_option
def score(
    model: str,
    graphs: tuple[str, ...],
    output: str,
    detector: type[BaseGraphDetector],
    skip_errors: bool,
    quiet: bool,
) -> None:
    """Judge GRAPHS, one row of a CSV each.

    The columns are graph, the name of the file; score, higher for normal graphs; decision, the
    score above the threshold; verdict, normal or anomaly; and p_value, the share of normal graphs
    that score as low (empty for a model fitted with --calibration train). In a name, what cannot
    be printed is written as an escape, and a quote precedes what a spreadsheet would compute.
    """
    contents = load_model(model, detector)
    skipped = Skipped(skip_errors)
    files = with_progress(find_files(graphs, skipped.on_error), quiet)
    read = read_files(files, contents.detector.schema_.to_schema(), skipped.on_error)
    with opened(output) as file:
        write_rows(file, [["graph", "score", "decision", "verdict", "p_value"]])
        for graph, row in judged(lambda batch: _rows(contents.detector, batch), read, skipped):
            write_rows(file, [[graph.name, *row]])
    skipped.exit_if_any()


def _rows(detector: BaseGraphDetector, batch: GraphBatch) -> list[tuple]:
    scores = detector.score_samples(batch)
    decisions = scores - detector.offset_
    p_values: list = [""] * len(scores)
    if detector.is_calibrated_:
        p_values = conformal_p_values(scores, detector.calibration_scores_).tolist()
    verdicts = map(verdict, decisions)
    return list(zip(scores.tolist(), decisions.tolist(), verdicts, p_values, strict=True))


def verdict(decision: float) -> str:
    """What a decision means."""
    return "anomaly" if decision < 0 else "normal"
