"""``skgraphkde find``: graph files -> a page: which of them are not like the others, and why."""

from __future__ import annotations

import warnings
from typing import Any

import click

from skgraphkde.cli.fitted import MOST_NAMES, schema_words
from skgraphkde.cli.options import (
    OutputFile,
    contamination_option,
    examples,
    force_option,
    reads_graphs,
    schema_of,
    schema_options,
    table_options,
)
from skgraphkde.cli.runtime import GraphFiles, echo, note, opened
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.files import read_batch_and_ids
from skgraphkde.graphs.naming import listed
from skgraphkde.graphs.problems import IgnoredWarning
from skgraphkde.graphs.schema import unread_attributes
from skgraphkde.inspection.results import to_judge
from skgraphkde.reporting.page import SUFFIXES, Page

# Anomalies that are printed, at most.
PRINTED = 5


@click.command(
    epilog=examples(
        "skgraphkde find graphs/ -o report.html",
        "skgraphkde find edges.csv --graph-column case --nodes nodes.csv -o report.html",
        "skgraphkde find library.smi --schema molecule -o report.html",
    )
)
@table_options
@click.option(
    "-o", "--output", required=True, type=OutputFile(suffixes=SUFFIXES), help="The HTML file."
)
@contamination_option
@click.option("--random-state", type=int, default=0, show_default=True, help="Seed.")
@force_option
@schema_options
@reads_graphs
def find(
    files: GraphFiles,
    output: str,
    contamination: Any,
    random_state: int,
    force: bool,
    **schema_settings: Any,
) -> None:
    """Find the GRAPHS that are not like the others, and make a page that shows why.

    Each graph is judged by the others. No graph has to be known as normal, but most should be; to
    judge new graphs by known ones, use `fit` and `report`. An anomaly is beyond the fence of a box
    plot of the scores, unless --contamination gives a share.
    """
    contamination = "auto" if contamination is None else contamination
    detector = GraphKDEDetector(
        schema=schema_of(schema_settings), contamination=contamination, random_state=random_state
    )
    detector.validate()  # before files are read
    batch, ids = read_batch_and_ids(files.progress(), detector.given_schema, files.on_error)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IgnoredWarning)
        detector.fit(batch)
    note(f"Read: {schema_words(detector.schema_)}")
    ignored = detector.schema_.ignored
    unread = unread_attributes(detector.given_schema, ignored)
    if ignored:
        are_molecules = all(str(x).lower().endswith((".smi", ".sdf")) for x in files.sources)
        schema = "molecule" if are_molecules else "all"
        cure = f". Whatever is odd there is not found: --schema {schema} reads it"
        note(f"Not read: {listed(ignored, MOST_NAMES)}{cure * any(x.is_readable for x in unread)}")
    page = Page(detector, alpha=0.1)
    known, own = to_judge(detector, None)
    page.add_all(known, known.names or (), [ids[i] for i in detector.calibration_graphs_], own)
    html = page.html(files.skipped)
    with opened(output) as file:
        file.write(html)
    anomalies = sorted(
        (row for row in page.listed if row.judged.is_anomaly), key=lambda row: row.judged.decision
    )
    echo(f"{len(anomalies)} of {len(known)} graphs are not like the others: {output}")
    n = PRINTED if len(anomalies) > PRINTED + 1 else len(anomalies)
    for row in anomalies[:n]:
        echo(f"  {row.brief}: {row.reason}")
    if len(anomalies) > n:
        echo(f"  and {len(anomalies) - n} more")
    files.exit_if_skipped()
