"""``skgraphkde explain``: a model file and graph files -> the nodes and references of scores."""

from __future__ import annotations

import contextlib
import heapq
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import pandas as pd

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
from skgraphkde.cli.table import write_rows
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.detectors.model import GraphModel
from skgraphkde.explanation import novel_nodes
from skgraphkde.explanation.contributions import shares_of
from skgraphkde.explanation.results import Judgement, judge
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files import FileGraph
from skgraphkde.graphs.naming import known_name, shown
from skgraphkde.saving import atomic_file
from skgraphkde.views import Novelty

PICTURED = 6  # graphs in a picture, at most
LISTED = 5  # nodes of a graph on stdout, at most
REASONS = 3  # of a graph on stdout, at most


class _Explanation(NamedTuple):
    judgement: Judgement
    nodes: pd.DataFrame  # contribution, rank, view, new_from


@click.command(
    epilog=examples(
        "skgraphkde explain model.skg odd.graphml",
        "skgraphkde explain model.skg new/ -o reasons.csv --picture reasons.png",
    )
)
@model_argument
@table_options
@click.option("-o", "--output", type=OutputFile(to_stdout=True), help="A CSV file with all nodes.")
@click.option(
    "--picture",
    type=OutputFile(suffixes=(".png", ".svg", ".pdf", ".jpg")),
    help=f"An image of the {PICTURED} graphs with the lowest scores. Rings and broad lines are "
    "nodes and edges that the reasons name.",
)
@click.option(
    "-k", type=click.IntRange(1), default=5, show_default=True, help="Number of references."
)
@force_option
@detector_option
@reads_graphs
def explain(
    model: str,
    files: GraphFiles,
    output: str | None,
    picture: str | None,
    k: int,
    force: bool,
    detector: type[BaseGraphDetector],
) -> None:
    """Say why GRAPHS have their scores: what is odd about them, which nodes and which references.

    The lines that begin with "because" name what few known graphs have: first what was never seen,
    then single nodes, edges and numbers, then means, unless these are much stronger. A strength of
    3 is one in twenty by chance, 10 is beyond doubt.

    It names the nodes that make a graph unlike its k nearest references, in the distance that is
    most surprised, these references, and the nodes in neighborhoods that no reference has.

    A view's surprise is minus the logarithm of its p-value. References are numbered 0, 1, ... in
    the order in which `fit` read them, without those that were not chosen as references. The
    columns of the CSV are graph; node, its id in the file; contribution, the node's share of the
    squared distance; rank, 1 for the largest share; view, the number of that distance; and
    new_from, the smallest radius at which the node's neighborhood is new, empty if it is known.
    """
    fitted = load_model(model, detector).detector
    if not isinstance(fitted, GraphKDEDetector):
        raise click.ClickException(f"{type(fitted).__name__} has no reasons, only GraphKDEDetector")
    read = files.read(fitted.schema_)
    lowest: list[tuple[FileGraph, _Explanation]] = []
    with opened(output) if output else contextlib.nullcontext() as file:
        if file:
            write_rows(file, [["graph", "node", "contribution", "rank", "view", "new_from"]])
        for graph, found in files.judged(partial(_explained, fitted, k), read):
            for line in _lines(graph, found, fitted.model_):
                echo(line, err=output == "-")
            if file:
                rows = zip(graph.nodes, found.nodes.itertuples(index=False), strict=True)
                write_rows(file, ((graph.name, node, *row) for node, row in rows))
            oddest = [*lowest, (graph, found)]
            lowest = heapq.nsmallest(PICTURED, oddest, key=lambda x: x[1].judgement.decision)
    if picture and lowest:
        _draw(lowest, picture, fitted.model_.references)
    files.exit_if_skipped()


def _explained(
    detector: GraphKDEDetector, k: int, batch: GraphBatch, ids: list
) -> list[_Explanation]:
    batch, novelty = detector.read(batch), detector.model_.first(Novelty)
    judgements = judge(detector, batch, k=k, n_reasons=REASONS, node_names=ids)
    new_from: list = [None] * len(batch)
    if novelty is not None:
        new_from = [
            pd.Series(radii, dtype=object).where(radii <= novelty.radius, None)
            for radii in novel_nodes(detector, batch)
        ]
    found = []
    for i, judged in enumerate(judgements):
        shares = shares_of(detector, batch[i], judged.references, judged.distances, judged.view)
        ranks = pd.Series(shares).rank(ascending=False, method="first").astype(int)
        columns = {
            "contribution": shares,
            "rank": ranks,
            "view": judged.view,
            "new_from": new_from[i],
        }
        found.append(_Explanation(judged, pd.DataFrame(columns)))
    return found


def _lines(graph: FileGraph, found: _Explanation, model: GraphModel) -> list[str]:
    """The lines on stdout about a graph."""
    judged = found.judgement
    lines = [f"{graph.name}: {judged.verdict}, decision {judged.decision:.4g}"]
    lines += [f"  because {x.text} (strength {x.strength:.3g})" for x in judged.unusual]
    if judged.is_anomaly and not judged.unusual:
        lines.append(f"  {judged.why}")
    if len(model.views) > 1:
        pairs = zip(model.view_names, judged.surprises, strict=True)
        lines += [f"  surprise {surprise:.3g}: {name}" for name, surprise in pairs]
    sizes = []  # means over nodes hide them
    for what in ("nodes", "edges"):
        own, known = (getattr(x, f"n_{what}_per_graph") for x in (graph.batch, model.references))
        sizes.append(f"{own[0]} {what} (references: {known.min()} to {known.max()})")
    nodes = found.nodes
    of_view = f" (view {judged.view})" if len(model.densities) > 1 else ""
    near = zip(judged.references, judged.distances, strict=True)
    references = [f"{known_name(model.references, i)} ({distance:.3g})" for i, distance in near]
    largest = nodes["contribution"].sort_values(ascending=False, kind="stable")[:LISTED]
    contributions = [f"{shown(graph.nodes[i])} ({share:.3g})" for i, share in largest.items()]
    lines.append(f"  {', '.join(sizes)}")
    lines.append(f"  nearest references{of_view}: {', '.join(references)}")
    lines.append(f"  largest contributions{of_view}: {', '.join(contributions)}")
    novelty = model.first(Novelty)
    if novelty is not None:
        new = nodes["new_from"].dropna().sort_values(kind="stable")
        usual = novelty.known_shares.mean()
        parts = [f"{len(new)} of {len(nodes)} nodes (a known graph: {usual:.0%})"]
        parts += [f"{shown(graph.nodes[i])} (from radius {x})" for i, x in new[:LISTED].items()]
        lines.append(f"  in new neighborhoods: {', '.join(parts)}")
    return lines


def _draw(lowest: list[tuple[FileGraph, _Explanation]], path: str, references: GraphBatch) -> None:
    from matplotlib.figure import Figure

    from skgraphkde.plots import plot_graph

    limit = max(found.nodes["contribution"].abs().max() for _, found in lowest)
    n_columns = min(3, len(lowest))
    n_rows = -(-len(lowest) // n_columns)
    figure = Figure(figsize=(4 * n_columns + 1, 4 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    for ax in axes.flat[len(lowest) :]:
        ax.axis("off")
    colors: Any = None
    for ax, (graph, found) in zip(axes.flat, lowest, strict=False):
        colors = plot_graph(
            graph.batch,
            found.nodes["contribution"].to_numpy(),
            ax=ax,
            vmax=limit,
            colorbar=False,
            outlined=found.judgement.nodes,
            marked=found.judgement.edges,
            edge_categories=references.edge_label_names,
        )
        title = f"{shown(Path(graph.name).name)}, decision {found.judgement.decision:.3g}"
        ax.set_title(title, fontsize=9, parse_math=False)
    figure.colorbar(colors, ax=axes, shrink=0.6, label="share of the squared distance")
    with atomic_file(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:], dpi=130)
