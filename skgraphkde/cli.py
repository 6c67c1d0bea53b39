"""The command line: graph files -> a model file, scores, reasons.

In come the words of a shell. Out go files, lines on stdout, and an exit code: 0 if all is well, 1
for bad input (one line on stderr says which and the cure), 2 for words that are no command, 3 if
files were skipped, as asked. Everything is computed elsewhere.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from skgraphkde import persistence
from skgraphkde._shell import (
    Commands,
    Skipped,
    check_file,
    check_picture,
    check_text,
    examples,
    judged,
    opened,
    with_progress,
)
from skgraphkde._version import __version__
from skgraphkde.calibration import conformal_p_values
from skgraphkde.detector import PAPER, GraphKDEDetector
from skgraphkde.graph_files import FileGraph, Reading, find_files, read_batch, read_files
from skgraphkde.graphs import GraphBatch
from skgraphkde.inspection import nearest_references, node_contributions

__all__ = ["main"]

PICTURED = 6  # graphs in a picture, at most
LISTED = 5  # nodes of a graph on stdout, at most

_model = click.argument("model", type=click.Path())
_graphs = click.argument("graphs", nargs=-1, required=True, type=click.Path())
_quiet = click.option("-q", "--quiet", is_flag=True, help="No progress bar.")
_skip_errors = click.option(
    "--skip-errors",
    is_flag=True,
    help="Report graphs that cannot be read or scored on stderr, go on, end with exit code 3.",
)
_node_label = click.option(
    "--node-label",
    metavar="NAME",
    help='Node attribute that is a discrete label; "" for none.  [default: label, where there is '
    "one; in GML it is the node's name]",
)
_node_attributes = click.option(
    "--node-attributes",
    metavar="NAME",
    multiple=True,
    help="Node attribute that is a number or a list of numbers; give the option again for more, or "
    '"" for none.  [default: x, where there is one]',
)
_edge_weight = click.option("--edge-weight", metavar="NAME", help="Edge attribute: a weight.")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="skgraphkde")
def main() -> None:
    """Find the graphs that are not like the others.

    GRAPHS are files and folders: GraphML, GML, JSON (what networkx.node_link_data gives, or a list
    of it) and zips of the TU collection. Folders are searched with their subfolders.
    """


# -- fit -------------------------------------------------------------------------------------------


def _parse_settings(
    ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    """Values are JSON; text that is none stands for itself, so that it needs no quotes."""
    known = GraphKDEDetector().get_params()
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE with one of {', '.join(known)}")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


@main.command(
    epilog=examples(
        "skgraphkde fit normal/ -o model.skg",
        "skgraphkde fit a.graphml b.graphml more/ -o model.skg --node-label element",
        "skgraphkde fit normal/ -o model.skg --node-attributes x --node-attributes y",
        "skgraphkde fit MUTAG.zip -o model.skg --paper --set max_iter=20",
        "skgraphkde fit normal/ -o model.skg --set bandwidths='[0.1, 0.3]' --set n_layers=1",
    )
)
@_graphs
@click.option("-o", "--output", required=True, callback=check_file, help="The model file.")
@click.option("--contamination", type=float, help="Share of the graphs below the threshold.")
@click.option("--threshold", type=click.Choice(["loo", "split", "train"]), help="How it is set.")
@click.option("--paper", is_flag=True, help="The settings of the paper: trains a network.")
@click.option("--random-state", type=int, default=0, show_default=True, help="Seed.")
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_parse_settings,
    help="Any parameter of GraphKDEDetector, the value as JSON.",
)
@_node_label
@_node_attributes
@_edge_weight
@_quiet
def fit(
    graphs: tuple[str, ...],
    output: str,
    contamination: float | None,
    threshold: str | None,
    paper: bool,
    random_state: int,
    settings: dict[str, Any],
    node_label: str | None,
    node_attributes: tuple[str, ...],
    edge_weight: str | None,
    quiet: bool,
) -> None:
    """Learn what normal GRAPHS look like, and write it to a file.

    The file remembers which node and edge data were read; `score` and `explain` read the same.
    """
    start = time.perf_counter()
    named = {"contamination": contamination, "threshold": threshold}
    parameters = {name: value for name, value in named.items() if value is not None}
    base = PAPER if paper else {}
    detector = GraphKDEDetector(**{"random_state": random_state, **base, **parameters, **settings})
    names = tuple(filter(None, node_attributes)) if node_attributes else None
    reading = Reading(node_label, names, edge_weight)
    detector._validate_params()  # before files are read
    batch = read_batch(with_progress(find_files(graphs), quiet), reading)
    detector.fit(batch)
    persistence.save(detector, output, asdict(reading))
    click.echo(f"read            {batch.n_graphs} graphs, {batch.n_nodes} nodes")
    _echo_fitted(detector)
    click.echo(f"saved           {output}, after {time.perf_counter() - start:.1f} seconds")


def _echo_fitted(detector: GraphKDEDetector) -> None:
    references, kinds = detector.references_.graphs, ", ".join(detector.node_features_.kinds_)
    bandwidths = ", ".join(f"{h:.4g}" for h in detector.bandwidths_)
    click.echo(f"references      {references.n_graphs} graphs, {references.n_nodes} nodes")
    click.echo(f"node features   {kinds} ({detector.n_features_in_} columns)")
    click.echo(
        f"threshold       {detector.offset_:.6g} ({detector.threshold}, "
        f"contamination {detector.contamination:g})"
    )
    click.echo(f"bandwidths      {bandwidths}")


# -- score and explain -----------------------------------------------------------------------------


def _loaded(model: str) -> tuple[GraphKDEDetector, Reading]:
    """The detector, and how the graphs it was fitted on were read."""
    detector, notes, _ = persistence.read(model)
    return detector, Reading.of(notes)


def _read(
    graphs: tuple[str, ...], reading: Reading, skipped: Skipped, quiet: bool
) -> Iterator[FileGraph]:
    return read_files(with_progress(find_files(graphs), quiet), reading, skipped.on_error)


@main.command(
    epilog=examples(
        "skgraphkde score model.skg new/ -o scores.csv",
        "skgraphkde score model.skg new/ --skip-errors | grep anomaly",
    )
)
@_model
@_graphs
@click.option(
    "-o", "--output", default="-", callback=check_text, help="A CSV file.  [default: stdout]"
)
@_skip_errors
@_quiet
def score(model: str, graphs: tuple[str, ...], output: str, skip_errors: bool, quiet: bool) -> None:
    """Judge GRAPHS, one row of a CSV each.

    Its columns are graph, the name of the file; score, the log density; decision, the score above
    the threshold; verdict, normal or anomaly; and p_value, the share of normal graphs that are as
    odd (empty for a model fitted with --threshold train).
    """
    detector, reading = _loaded(model)
    skipped = Skipped(skip_errors)
    read = _read(graphs, reading, skipped, quiet)
    with opened(output) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["graph", "score", "decision", "verdict", "p_value"])
        for graph, row in judged(lambda batch: _rows(detector, batch), read, skipped):
            writer.writerow([graph.name, *row])
    skipped.exit_if_any()


def _rows(detector: GraphKDEDetector, batch: GraphBatch) -> list[tuple]:
    scores = detector.score_samples(batch)
    decisions = scores - detector.offset_
    p_values: list = [""] * len(scores)
    if detector.threshold != "train":  # whose calibration is no fair comparison
        p_values = conformal_p_values(scores, detector.calibration_scores_).tolist()
    verdicts = map(_verdict, decisions)
    return list(zip(scores.tolist(), decisions.tolist(), verdicts, p_values, strict=True))


def _verdict(decision: float) -> str:
    return "anomaly" if decision < 0 else "normal"


class _Reasons(NamedTuple):
    decision: float
    contributions: np.ndarray  # of the nodes
    distances: np.ndarray  # to the nearest references
    places: np.ndarray  # of these


@main.command(
    epilog=examples(
        "skgraphkde explain model.skg odd.graphml",
        "skgraphkde explain model.skg new/ -o reasons.csv --picture reasons.png",
    )
)
@_model
@_graphs
@click.option("-o", "--output", callback=check_text, help="A CSV file with all nodes.")
@click.option("--picture", callback=check_picture, help=f"An image of the {PICTURED} oddest.")
@click.option("-k", type=click.IntRange(1), default=5, show_default=True, help="Neighbors.")
@_skip_errors
@_quiet
def explain(
    model: str,
    graphs: tuple[str, ...],
    output: str | None,
    picture: str | None,
    k: int,
    skip_errors: bool,
    quiet: bool,
) -> None:
    """Say why: which nodes make GRAPHS unlike the k nearest references, and which these are.

    References have the numbers 0, 1, ... in the order in which `fit` read them, or in which
    reference_sampling chose them. The CSV has the columns graph; node, its id in the file;
    contribution, the node's share of the squared distance; and rank, 1 for the largest share.
    """
    detector, reading = _loaded(model)
    skipped = Skipped(skip_errors)

    def reasons_of(batch: GraphBatch) -> list[_Reasons]:
        distances, places = nearest_references(detector, batch, k)
        contributions = node_contributions(detector, batch, k)
        decisions = detector.decision_function(batch).tolist()
        return list(map(_Reasons, decisions, contributions, distances, places))

    oddest: list[tuple[FileGraph, _Reasons]] = []
    with opened(output) if output else contextlib.nullcontext() as file:
        write = csv.writer(file, lineterminator="\n").writerows if file else list
        write([["graph", "node", "contribution", "rank"]])
        for graph, reasons in judged(reasons_of, _read(graphs, reading, skipped, quiet), skipped):
            _echo_reasons(graph, reasons, err=output == "-")
            write(_node_rows(graph, reasons))
            oddest = sorted([*oddest, (graph, reasons)], key=lambda pair: pair[1].decision)
            oddest = oddest[:PICTURED]
    if picture and oddest:
        _draw(oddest, picture)
    skipped.exit_if_any()


def _echo_reasons(graph: FileGraph, reasons: _Reasons, err: bool) -> None:
    neighbors = zip(reasons.places, reasons.distances, strict=True)
    largest = np.argsort(-reasons.contributions, kind="stable")[:LISTED]
    nodes = (f"{graph.nodes[i]} ({reasons.contributions[i]:.3g})" for i in largest)
    click.echo(
        f"{graph.name}: {_verdict(reasons.decision)}, decision {reasons.decision:.4g}\n"
        f"  nearest references: {', '.join(f'{i} ({d:.3g})' for i, d in neighbors)}\n"
        f"  largest contributions: {', '.join(nodes)}",
        err=err,
    )


def _node_rows(graph: FileGraph, reasons: _Reasons) -> Iterator[tuple]:
    order = np.argsort(-reasons.contributions, kind="stable")
    ranks = (np.argsort(order) + 1).tolist()
    rows = zip(graph.nodes, reasons.contributions.tolist(), ranks, strict=True)
    return ((graph.name, *row) for row in rows)


def _draw(oddest: list[tuple[FileGraph, _Reasons]], path: str) -> None:
    from matplotlib.figure import Figure

    from skgraphkde.display import NodeContributionsDisplay

    limit = max(np.abs(reasons.contributions).max() for _, reasons in oddest)
    n_columns = min(3, len(oddest))
    n_rows = -(-len(oddest) // n_columns)
    figure = Figure(figsize=(4 * n_columns + 1, 4 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    for ax in axes.flat[len(oddest) :]:
        ax.axis("off")
    for ax, (graph, reasons) in zip(axes.flat, oddest, strict=False):
        display = NodeContributionsDisplay.from_predictions(
            graph.batch, reasons.contributions, ax=ax, vmax=limit, colorbar=False
        )
        ax.set_title(f"{Path(graph.name).name}, decision {reasons.decision:.3g}", fontsize=9)
    figure.colorbar(display.nodes_, ax=axes, shrink=0.6, label="share of the squared distance")
    figure.savefig(path, dpi=130)


# -- info ------------------------------------------------------------------------------------------


@main.command(epilog=examples("skgraphkde info model.skg"))
@_model
def info(model: str) -> None:
    """Say what is in a model file."""
    detector, notes, version = persistence.read(model)
    defaults = GraphKDEDetector().get_params()
    changed = {k: v for k, v in detector.get_params().items() if repr(v) != repr(defaults[k])}
    options = {k: v for k, v in asdict(Reading.of(notes)).items() if v is not None}
    click.echo(f"file            {model}, {os.path.getsize(model)} bytes, skgraphkde {version}")
    click.echo(f"parameters      {_listed(changed) or 'all defaults'}")
    click.echo(f"reads           {_listed(options) or 'node data under their default names'}")
    _echo_fitted(detector)


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())
