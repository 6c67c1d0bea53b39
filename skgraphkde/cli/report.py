"""``skgraphkde report``: a model file and graph files -> a page: which are odd, and why."""

from __future__ import annotations

import click

from skgraphkde.cli.options import (
    OutputFile,
    detector_option,
    examples,
    force_option,
    graphs_argument,
    load_model,
    model_argument,
    quiet_option,
    skip_errors_option,
    table_options,
)
from skgraphkde.cli.runtime import Skipped, echo, judged, opened, progress
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.graphs.files import read_files
from skgraphkde.reporting.page import SUFFIXES, Page


@click.command(
    epilog=examples(
        "skgraphkde report model.skg new/ -o report.html",
        "skgraphkde report model.skg new/ -o report.html --alpha 0.05",
    )
)
@model_argument
@graphs_argument
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
@skip_errors_option
@quiet_option
def report(
    model: str,
    graphs: tuple[str, ...],
    output: str,
    alpha: float,
    force: bool,
    detector: type[BaseGraphDetector],
    skip_errors: bool,
    quiet: bool,
) -> None:
    """Make a page that shows which GRAPHS are odd, and why.

    It is one file, which opens in any browser without a network: the distribution of the scores, a
    table to sort and filter, and for each graph the reasons, the nearest known graphs and, for the
    200 lowest scores, a picture. Known graphs are numbered as in `explain`.
    """
    contents = load_model(model, detector)
    skipped = Skipped(skip_errors)
    page = Page(contents.detector, alpha)
    files = progress(skipped.find_sources(graphs, output), quiet)
    read = read_files(files, contents.detector.schema_, skipped.on_error)
    for graph, finding in judged(page.judge, read, skipped):
        page.add(graph.name, graph.batch, finding, graph.nodes)
    if not page.listed:
        raise click.ClickException("no graph could be read: there is nothing to show")
    html = page.html()
    with opened(output) as file:
        file.write(html)
    n_anomalies = sum(entry.finding.is_anomaly for entry in page.listed)
    echo(f"{n_anomalies} of {len(page.listed)} graphs are anomalies: {output}", err=output == "-")
    skipped.exit_if_any()
