"""``skgraphkde report``: a model file and graph files -> a page: which are odd, and why."""

from __future__ import annotations

import click

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
from skgraphkde.cli.runtime import GraphFiles, echo, opened
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.reporting.page import SUFFIXES, Page


@click.command(
    epilog=examples(
        "skgraphkde report model.skg new/ -o report.html",
        "skgraphkde report model.skg new/ -o report.html --alpha 0.05",
    )
)
@model_argument
@table_options
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputFile(to_stdout=True, suffixes=SUFFIXES),
    help="The HTML file.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="Bound on the expected share of normal graphs among those selected.",
)
@force_option
@detector_option
@reads_graphs
def report(
    model: str,
    files: GraphFiles,
    output: str,
    alpha: float,
    force: bool,
    detector: type[BaseGraphDetector],
) -> None:
    """Make a page that shows which GRAPHS are odd, and why.

    It is one file, which opens in any browser without a network: the distribution of the scores, a
    table to sort and filter, and for each graph the reasons, the nearest known graphs and, for the
    100 lowest scores, a picture. Known graphs are numbered as in `explain`.
    """
    contents = load_model(model, detector)
    page = Page(contents.detector, alpha)
    for graph, judged in files.judged(page.judge, files.read(contents.detector.schema_)):
        page.add(graph.name, graph.batch, judged, graph.nodes)
    if not page.listed:
        raise click.ClickException("no graph could be read: there is nothing to show")
    html = page.html(files.skipped)
    with opened(output) as file:
        file.write(html)
    n_anomalies = sum(row.judged.is_anomaly for row in page.listed)
    echo(f"{n_anomalies} of {len(page.listed)} graphs are anomalies: {output}", err=output == "-")
    files.exit_if_skipped()
