"""``skgraphkde score``: a model file and graph files -> a row of a table for each graph."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import click
import numpy as np

from skgraphkde.calibration import conformal_p_values, discoveries
from skgraphkde.cli.lock import only_writer
from skgraphkde.cli.options import (
    detector_option,
    force_option,
    graphs_argument,
    load_model,
    model_argument,
    quiet_option,
    skip_errors_option,
)
from skgraphkde.cli.rows import FORMATS, RowFile, check_form
from skgraphkde.cli.shell import Progress, Skipped, check_text, examples, judge_all
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files import FileGraph, chunks, read_files
from skgraphkde.inspection import explain
from skgraphkde.inspection.reasons import WEAKEST

COLUMNS = {"graph": str, "score": float, "decision": float, "verdict": str, "p_value": float}
# Blocks of graphs begin at every so many files, wherever a run begins: the last digits of a score
# depend on which graphs are computed together, and a run that goes on writes the same digits.
FILES = 250
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
@graphs_argument
@click.option(
    "-o",
    "--output",
    default="-",
    callback=check_text,
    help="A file: .csv, .jsonl (JSON lines) or .parquet.  [default: stdout, as CSV]",
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="Whatever the name of the file ends in."
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
    is_eager=True,
    help="Keep the rows that the file has, and score the graphs that have none.",
)
@force_option
@detector_option
@skip_errors_option
@quiet_option
def score(
    model: str,
    graphs: tuple[str, ...],
    output: str,
    form: str | None,
    alpha: float | None,
    reasons: bool,
    resume: bool,
    force: bool,
    detector: type[BaseGraphDetector],
    skip_errors: bool,
    quiet: bool,
) -> None:
    """Judge GRAPHS, one row of a table each.

    The columns are graph, the name of the file; score, higher for normal graphs; decision, the
    score above the threshold; verdict, normal or anomaly; and p_value, the share of normal graphs
    that score as low (empty for a model fitted with --calibration train). In a name, what cannot
    be printed is written as an escape, and in a CSV a quote precedes what a spreadsheet would
    compute.

    With --alpha, selected is True for the graphs that are anomalies at that false-discovery rate.
    It depends on all rows: it is empty until they are there, and filled in at the end. With
    --reasons, reason is what is most odd about each anomaly, in words, and empty for normal graphs.

    Rows are in the file as soon as they are finished. However a run ends, the same command with
    --resume goes on, and the file is in the end what it would have been.
    """
    if resume and (force or output == "-"):
        cure = "without --force" if force else "with -o FILE"
        raise click.UsageError(f"--resume goes on after the rows of a file: give it {cure}")
    if alpha is not None and output == "-":
        raise click.UsageError("--alpha fills in a column when all rows are there: give -o FILE")
    rows = _row_file(output, check_form(output, form), alpha, reasons)
    click.get_current_context().with_resource(only_writer(output))
    if not (resume or force):
        rows.check_new()
    contents = load_model(model, detector)
    _check_can(contents.detector, alpha, reasons)
    skipped = Skipped(skip_errors)
    files = skipped.find_files(graphs, output)
    earlier = _Earlier(rows, files, contents.detector) if resume else None
    judge = partial(_rows, contents.detector, list(rows.columns)[1:])
    progress = Progress(len(files), quiet)
    with rows.resumable("--resume in place of --force" if force else "--resume"):
        for chunk in _blocks(files, contents.detector, earlier, progress, skipped):
            lacking = {id(x) for x in chunk if earlier is None or not earlier.has(x.name)}
            if lacking:
                progress.says("computing")
                judged = judge_all(judge, chunk, skipped)
                progress.says("writing")
                rows.add([[x.name, *row] for x, row in judged if id(x) in lacking])
        progress.says("writing")
        rows.finish()
    progress.close()
    skipped.exit_if_any()


def _row_file(output: str, form: str, alpha: float | None, reasons: bool) -> RowFile:
    """The table of a run, with the columns that were asked for."""
    columns, of_all = dict(COLUMNS), {}
    if alpha is not None:
        columns["selected"] = bool
        of_all["selected"] = partial(_selected, list(columns).index("p_value"), alpha)
    if reasons:
        columns["reason"] = str
    return RowFile(output, columns, form, of_all)


def _selected(place: int, alpha: float, rows: list[list]) -> list[bool]:
    """Whether each row is a discovery among all; `place` is that of the p-value."""
    p_values = np.array([row[place] for row in rows], dtype=float)
    return discoveries(p_values, alpha).tolist()


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


def _blocks(
    files: list[Path],
    detector: BaseGraphDetector,
    earlier: _Earlier | None,
    progress: Progress,
    skipped: Skipped,
) -> Iterator[list[FileGraph]]:
    """Graphs that are computed together, without files that need not be read again."""
    schema = detector.schema_.to_schema()
    for start in range(0, len(files), FILES):
        some = files[start : start + FILES]
        if earlier is not None and earlier.has_all_of(some):
            progress.passes(len(some))
        else:
            yield from chunks(read_files(progress.reading(some), schema, skipped.on_error))


class _Earlier:
    """The rows that an earlier run has left.

    Parameters
    ----------
    rows : RowFile
    files : list of Path
        Those of this run.
    detector : BaseGraphDetector
        Must give the last row its numbers: other rows of another model would go unnoticed.
    """

    def __init__(self, rows: RowFile, files: list[Path], detector: BaseGraphDetector) -> None:
        there = rows.resume()
        self._written = rows.name
        self._names = Counter(row[0] for row in there)
        self._repeated = {path for path, count in Counter(files).items() if count > 1}
        if there:
            self._check_last(there[-1], rows, files, detector)

    def _check_last(
        self, row: list, rows: RowFile, files: list[Path], detector: BaseGraphDetector
    ) -> None:
        """Raise a ValueError if another run would have written this row."""
        name, place, file = row[0], rows.place, _file_of(row[0])
        path = next((x for x in files if self._written(str(x)) == file), None)
        if path is None:
            raise ValueError(
                f"the last row of {place} is that of {name}, which is not among the graphs: give "
                "the same graphs again, another -o, or --force to replace the file"
            )
        for graph in read_files([path], detector.schema_.to_schema()):
            if self._written(graph.name) == name:
                (now,) = _rows(detector, NUMBERS, graph.batch, [graph.nodes])
                there = [row[list(rows.columns).index(column)] for column in NUMBERS]
                for column, old, new in zip(NUMBERS, there, now, strict=True):
                    if not _is_close(old, new):
                        raise ValueError(
                            f"{place} has the {column} {_shown(old)} for {name}, which is "
                            f"{_shown(new)} by this model: give the model and the graphs that the "
                            "file is of, or --force to replace it"
                        )

    def has_all_of(self, files: list[Path]) -> bool:
        """Whether all graphs of these files have rows, as far as the names of the files say.

        A file with the row of a graph that has no number, "#0", holds one graph. How many there
        are in another one, only reading it says.
        """
        names = (self._written(str(path)) for path in files)
        return self._repeated.isdisjoint(files) and all(self._names[name] for name in names)

    def has(self, name: str) -> bool:
        """Whether there is a row for a graph; each row is that of one graph."""
        written = self._written(name)
        self._names[written] -= 1
        return self._names[written] >= 0


def _is_close(old: float | None, new: float | None) -> bool:
    if old is None or new is None:
        return old is new
    return math.isclose(old, new, rel_tol=1e-6, abs_tol=1e-6)


def _shown(number: float | None) -> str:
    return "nothing" if number is None else f"{number:.6g}"


def _file_of(name: str) -> str:
    """The file of a graph, which may be one of several there."""
    return re.sub(r"#\d+$", "", name)


def _rows(
    detector: BaseGraphDetector, columns: Sequence[str], batch: GraphBatch, ids: list
) -> list[tuple]:
    """The values of some columns for each graph."""
    scores = detector.score_samples(batch)
    decisions = scores - detector.offset_
    values: dict[str, list] = {"score": scores.tolist(), "decision": decisions.tolist()}
    values["verdict"] = [verdict(x) for x in values["decision"]]
    if detector.is_calibrated_:
        p_values = conformal_p_values(scores, detector.calibration_scores_)
        values["p_value"] = p_values.tolist()
    if "reason" in columns:
        values["reason"] = _reasons(detector, batch, ids, np.flatnonzero(decisions < 0))
    nothing = [None] * len(scores)
    return list(zip(*(values.get(name, nothing) for name in columns), strict=True))


def _reasons(
    detector: BaseGraphDetector, batch: GraphBatch, ids: list, index: np.ndarray
) -> list[str | None]:
    """What is most odd about some of the graphs, in words, and None for the others."""
    reasons: list[str | None] = [None] * len(batch)
    if isinstance(detector, GraphKDEDetector) and len(index):
        table = explain(
            detector, batch[index], n_reasons=1, node_names=[ids[i] for i in index.tolist()]
        )
        strong = table[table["strength"] >= WEAKEST]
        for i, reason in zip(index[strong["graph"]].tolist(), strong["reason"], strict=True):
            reasons[i] = reason
    return reasons


def verdict(decision: float) -> str:
    """What a decision means."""
    return "anomaly" if decision < 0 else "normal"
