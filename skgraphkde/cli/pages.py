"""``skgraphkde find`` and ``report``: graph files -> a page: which graphs are odd, and why."""

from __future__ import annotations

from typing import Any

import click
import numpy as np
import pandas as pd

from skgraphkde._messages import listed, shown
from skgraphkde.cli.info import echo_what_is_read, fit_quietly
from skgraphkde.cli.options import (
    contamination_option,
    detector_option,
    examples,
    load_model,
    model_argument,
    output_option,
    read_with_gaps,
    reads_graphs,
    schema_of,
    schema_options,
    table_options,
    truth_option,
)
from skgraphkde.cli.output import TABLES, OutputFile, echo, open_output, write_model, write_table
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.cli.score import table_of
from skgraphkde.cli.truth import add_what_files_say, echo_truth
from skgraphkde.cli.verdicts import Verdicts, read_verdicts, verdicts_option
from skgraphkde.detectors.estimator import GraphKDEDetector
from skgraphkde.detectors.verdicts import ANOMALY
from skgraphkde.explanation.of_groups import GroupInWords
from skgraphkde.explanation.results import (
    Judgement,
    group_numbers,
    groups_of,
    judge,
    judge_some,
    row_numbers,
    to_judge,
    with_shared,
)
from skgraphkde.page.page import SUFFIXES, Page
from skgraphkde.page.rows import BRIEF

PRINTED = 5  # anomalies, at most


@click.command(
    epilog=examples(
        "skgraphkde find graphs/ -o report.html",
        "skgraphkde find edges.csv --graph-column case --nodes nodes.csv -o report.html",
        "skgraphkde find library.smi --schema molecule -o report.html",
        "skgraphkde find graphs/ --verdicts verdicts.csv -o report.html",
        "skgraphkde find graphs/ -o scores.csv --save model.skg",
    )
)
@table_options
@output_option("The HTML file, or a table: .csv, .jsonl or .parquet.", *SUFFIXES, *TABLES)
@contamination_option
@verdicts_option
@truth_option
@click.option("--save", "saved", type=OutputFile(), help="A file for the model, too.")
@click.option("--random-state", type=int, default=0, show_default=True, help="Seed.")
@schema_options
@reads_graphs
def find(
    files: GraphFiles,
    output: str,
    contamination: Any,
    verdicts: str | None,
    saved: str | None,
    random_state: int,
    **schema_settings: Any,
) -> None:
    """Find the GRAPHS that are not like the others, and show why on a page.

    Each graph is judged by the others. No graph has to be known as normal, but most should be; to
    judge new graphs by known ones, use `fit` and `report`. An anomaly is beyond the fence of a box
    plot of the scores, as usually 2 to 5 in a hundred normal graphs are, too, unless
    --contamination gives a share. If values are missing, as where files are from several programs,
    they are evidence, unless --missing error says otherwise.

    Small groups that are alike and unlike all others are listed, too: anomalies hide each other
    there. Mark graphs on the page, save the verdicts, and give the same command again with
    --verdicts. It replaces the page.
    """
    detector = GraphKDEDetector(
        schema=schema_of(schema_settings),
        contamination="auto" if contamination is None else contamination,
        random_state=random_state,
    )
    detector.validate()  # before files are read
    if saved is not None:
        files.check_apart()
    marked = Verdicts("", {}, {}) if verdicts is None else read_verdicts(verdicts)
    batch, schema = read_with_gaps(files, schema_settings)
    detector.set_params(schema=schema)
    names = list(batch.names or ())
    fit_quietly(files, detector.fit, batch, verdicts=marked.of(names, files))
    echo_what_is_read(files, detector, "odd")
    known, own = to_judge(detector, None)
    if output.lower().endswith(SUFFIXES):
        page = Page(detector, alpha=0.1)
        with files.stage("Judging"):
            page.add_all(known, names, known.ids_by_graph(), own, files.origins, files.unread)
        judged = [row.judged for row in page.listed]
        with files.stage("Drawing"), open_output(output) as file:
            file.write(page.html([*files.skipped], marked.ranks, files.notes))
        groups = page.groups
    else:
        with files.stage("Judging"):
            groups = groups_of(detector, files.unread)
            judged = judge(detector, known, n_reasons=0, own=own)
            is_odd = np.array([x.is_anomaly for x in judged])
            for group in groups:  # a graph that is like one that stands out has its own reason
                is_odd[group.members] |= is_odd[group.members].any()
            judged = judge_some(detector, known, np.flatnonzero(is_odd), judged, own=own)
        table = table_of(known, judged)
        table["group"] = group_numbers(groups, len(known))
        table["row"] = row_numbers(detector.training_scores_, groups)
        _mark_alike(table, groups)
        own_reasons = [x.why if x.reasons else None for x in judged]
        table["reason"] = with_shared(own_reasons, groups)
        table["codes"] = [x.codes for x in judged]
        add_what_files_say(table, files, names)
        write_table(table, output)
    _echo_anomalies(detector, names, judged, groups, output)
    echo_truth(files, [x.score for x in judged], detector.verdicts_)
    if saved is not None:
        write_model(detector, saved)


def _mark_alike(table: pd.DataFrame, groups: list[GroupInWords]) -> None:
    """Say of normal members of a group that stands out that they are alike, and in which row."""
    for group in groups:
        members = table.loc[group.members]
        if (members["verdict"] == "anomaly").any():
            alike = members.index[members["verdict"] == "normal"]
            table.loc[alike, "verdict"] = f"alike (row {members['row'].iloc[0]})"


def _echo_anomalies(
    detector: GraphKDEDetector,
    names: list[str],
    judged: list[Judgement],
    groups: list[GroupInWords],
    output: str,
) -> None:
    """Print how many graphs of the list are anomalies, and the first of them with their reasons."""
    is_unknown = detector.verdicts_ == 0
    order = np.argsort(detector.training_scores_, kind="stable")
    new = [i for i in order if is_unknown[i] and judged[i].is_anomaly]
    of_all = f"{len(new)} of {detector.schema_.words.counted(int(is_unknown.sum()), 'graph')}"
    n_confirmed = int((detector.verdicts_ == ANOMALY).sum())
    were = "was" if n_confirmed == 1 else "were"
    confirmed = f"; {n_confirmed} more {were} confirmed before" if n_confirmed else ""
    echo(f"{of_all} stand{'s' if len(new) == 1 else ''} out{confirmed}: {output}")
    lines: dict[str, None] = {}  # one for each graph, or for all that are alike
    for i in new:
        line = f"{shown(names[i], BRIEF)}: {shown(judged[i].why, BRIEF)}"
        for group in groups:
            # What was never seen is this one's alone.
            if i in group.members and not (
                judged[i].unusual and judged[i].unusual[0].kind == "new"
            ):
                others = [names[k] for k in group.members if detector.verdicts_[k] == 0]
                alike = f"{len(others)} alike ({listed(others, 3)})"
                line = f"{alike}: all have {shown(group.shared, BRIEF)}"
        lines[line] = None
    for line in list(lines)[:PRINTED]:
        echo(f"  {line}")
    if len(lines) > PRINTED:
        echo(f"  and {len(lines) - PRINTED} more")


@click.command(
    epilog=examples(
        "skgraphkde report model.skg new/ -o report.html",
        "skgraphkde report model.skg new/ -o report.html --alpha 0.05",
    )
)
@model_argument
@table_options
@output_option("The HTML file.", *SUFFIXES)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="Bound on the expected share of normal graphs among those selected.",
)
@truth_option
@detector_option
@reads_graphs
def report(
    model: str,
    files: GraphFiles,
    output: str,
    alpha: float,
    own: Any,
) -> None:
    """Make a page that shows which GRAPHS are odd, and why.

    It is one file, which opens in any browser without a network: the distribution of the scores, a
    table to sort and filter, and for each graph its data and the reasons; for the 50 lowest
    scores, a picture, beside that of the most similar graph that does not stand out.
    """
    fitted = load_model(model, own)
    batch = files.read(fitted.schema_)
    page = Page(fitted, alpha)
    with files.stage("Judging"):
        graphs = fitted.read(batch)
        names = batch.names or ()
        ids = batch.ids_by_graph()
        page.add_all(graphs, names, ids, origins=files.origins, unread=files.unread)
    with files.stage("Drawing"), open_output(output) as file:
        file.write(page.html([*files.skipped], notes=files.notes))
    n_anomalies = sum(row.judged.is_anomaly for row in page.listed)
    of_all = f"{n_anomalies} of {fitted.schema_.words.counted(len(batch), 'graph')}"
    echo(f"{of_all} stand{'s' if n_anomalies == 1 else ''} out: {output}")
    echo_truth(files, [row.judged.score for row in page.listed])
