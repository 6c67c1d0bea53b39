"""``skgraphkde explain``: a model file and graph files -> the nodes and references of scores."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from skgraphkde.cli.options import (
    detector_option,
    force_option,
    graphs_argument,
    load_model,
    model_argument,
    quiet_option,
    skip_errors_option,
)
from skgraphkde.cli.score import verdict
from skgraphkde.cli.shell import (
    Skipped,
    check_picture,
    check_text,
    echo,
    examples,
    judged,
    opened,
    with_progress,
    write_rows,
)
from skgraphkde.density.graph_density import GraphDensity
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files import FileGraph, read_files
from skgraphkde.graphs.naming import shown
from skgraphkde.inspection import explain as explained
from skgraphkde.inspection import (
    nearest_references,
    node_contributions,
    novel_nodes,
    view_surprises,
)
from skgraphkde.inspection.reasons import POINTED, WEAKEST
from skgraphkde.persistence import atomic_file

PICTURED = 6  # graphs in a picture, at most
LISTED = 5  # nodes of a graph on stdout, at most
REASONS = 3  # of a graph on stdout, at most


class _Reasons(NamedTuple):
    decision: float
    surprises: np.ndarray  # of the views
    view: int  # the distance that is most surprised, to which the next three belong
    contributions: np.ndarray  # of the nodes
    distances: np.ndarray  # to the nearest references
    indices: np.ndarray  # of these
    new_from: np.ndarray | None  # radii at which the nodes' neighborhoods are new
    texts: list[str]  # the strongest reasons, in words
    nodes: list[int]  # at which they point
    edges: list[tuple[int, int]]


@click.command(
    epilog=examples(
        "skgraphkde explain model.skg odd.graphml",
        "skgraphkde explain model.skg new/ -o reasons.csv --picture reasons.png",
    )
)
@model_argument
@graphs_argument
@click.option("-o", "--output", callback=check_text, help="A CSV file with all nodes.")
@click.option(
    "--picture",
    callback=check_picture,
    help=f"An image of the {PICTURED} graphs with the lowest scores. Rings and broad lines are "
    "nodes and edges that the reasons name.",
)
@click.option(
    "-k", type=click.IntRange(1), default=5, show_default=True, help="Number of references."
)
@force_option
@detector_option
@skip_errors_option
@quiet_option
def explain(
    model: str,
    graphs: tuple[str, ...],
    output: str | None,
    picture: str | None,
    k: int,
    force: bool,
    detector: type[BaseGraphDetector],
    skip_errors: bool,
    quiet: bool,
) -> None:
    """Say why GRAPHS have their scores: what is odd about them, which nodes and which references.

    The lines that begin with "because" name what few known graphs have, the strongest first; a
    strength of 3 is one in twenty by chance, 10 is beyond doubt.

    It names the nodes that make a graph unlike its k nearest references, in the distance that is
    most surprised, these references, and the nodes in neighborhoods that no reference has.

    A view's surprise is minus the logarithm of its p-value. References are numbered 0, 1, ... in
    the order in which `fit` read them, without those that were not chosen as references. The
    columns of the CSV are graph; node, its id in the file; contribution, the node's share of the
    squared distance; rank, 1 for the largest share; view, the number of that distance; and
    new_from, the smallest radius at which the node's neighborhood is new, empty if it is known.
    """
    if output and picture and os.path.realpath(output) == os.path.realpath(picture):
        raise click.UsageError(f"{picture} cannot be the table and the picture: name two files")
    contents = load_model(model, detector)
    fitted = contents.detector
    if not isinstance(fitted, GraphKDEDetector):
        raise click.ClickException(f"{type(fitted).__name__} has no reasons, only GraphKDEDetector")
    skipped = Skipped(skip_errors)

    def reasons_of(batch: GraphBatch, ids: list) -> list[_Reasons]:
        surprises = view_surprises(fitted, batch)
        views = surprises[:, : len(fitted.density_.fitted_distances)].argmax(axis=1)
        new_from: list = [None] * len(batch)
        if fitted.density_.novelty is not None:
            new_from = novel_nodes(fitted, batch)
        table = explained(fitted, batch, k, n_reasons=REASONS, node_names=ids)
        reasons = []
        for i, view in enumerate(views.tolist()):
            decision = float(-surprises[i].sum() - fitted.offset_)
            (shares,) = node_contributions(fitted, batch[i], k, view=view)
            distances, indices = nearest_references(fitted, batch[i], k, view=view)
            of_view = (view, shares, distances[0], indices[0])
            own = table[table["graph"] == i]
            strong = own[own["strength"] >= WEAKEST]
            texts = [f"{x.reason} (strength {x.strength:.3g})" for x in strong.itertuples()]
            pointed = strong[strong["kind"].isin(POINTED)]
            named = (
                list(pointed["nodes"].explode().dropna()),
                [x for y in strong["edges"] for x in y],
            )
            reasons.append(_Reasons(decision, surprises[i], *of_view, new_from[i], texts, *named))
        return reasons

    files = with_progress(skipped.find_files(graphs, output, picture), quiet)
    read = read_files(files, fitted.schema_.to_schema(), skipped.on_error)
    lowest: list[tuple[FileGraph, _Reasons]] = []
    with opened(output) if output else contextlib.nullcontext() as file:
        if file:
            write_rows(file, [["graph", "node", "contribution", "rank", "view", "new_from"]])
        for graph, reasons in judged(reasons_of, read, skipped):
            _echo_reasons(graph, reasons, fitted.density_, err=output == "-")
            if file:
                write_rows(file, _node_rows(graph, reasons, fitted.density_))
            lowest = sorted([*lowest, (graph, reasons)], key=lambda pair: pair[1].decision)
            lowest = lowest[:PICTURED]
    if picture and lowest:
        _draw(lowest, picture, fitted.density_.references)
    skipped.exit_if_any()


def _echo_reasons(graph: FileGraph, reasons: _Reasons, density: GraphDensity, *, err: bool) -> None:
    neighbors = zip(reasons.indices, reasons.distances, strict=True)
    largest = np.argsort(-reasons.contributions, kind="stable")[:LISTED]
    nodes = (f"{shown(graph.nodes[i])} ({reasons.contributions[i]:.3g})" for i in largest)
    lines = [f"{graph.name}: {verdict(reasons.decision)}, decision {reasons.decision:.4g}"]
    lines += [f"  because {text}" for text in reasons.texts]
    if len(density.views) > 1:
        pairs = zip(density.views, reasons.surprises, strict=True)
        lines += [f"  surprise {surprise:.3g}: {name}" for name, surprise in pairs]
    lines.append(f"  {_sizes(graph.batch, density.references)}")
    of_view = f" (view {reasons.view})" if len(density.fitted_distances) > 1 else ""
    named = ", ".join(f"{i} ({d:.3g})" for i, d in neighbors)
    lines.append(f"  nearest references{of_view}: {named}")
    lines.append(f"  largest contributions{of_view}: {', '.join(nodes)}")
    if density.novelty is not None and reasons.new_from is not None:
        new = np.flatnonzero(reasons.new_from <= density.novelty.radius)
        first = new[np.argsort(reasons.new_from[new], kind="stable")][:LISTED]
        listed = [f"{shown(graph.nodes[i])} (from radius {reasons.new_from[i]})" for i in first]
        usual = density.novelty.known_shares.mean()
        of_all = f"{len(new)} of {len(reasons.new_from)} nodes (a known graph: {usual:.0%})"
        lines.append(f"  in new neighborhoods: {', '.join([of_all, *listed])}")
    for line in lines:
        echo(line, err=err)


def _sizes(graph: GraphBatch, references: GraphBatch) -> str:
    """Numbers of nodes and edges, beside those of the references: means over nodes hide them."""
    parts = []
    for what in ("nodes", "edges"):
        own, known = (getattr(x, f"n_{what}_per_graph") for x in (graph, references))
        parts.append(f"{own[0]} {what} (references: {known.min()} to {known.max()})")
    return ", ".join(parts)


def _node_rows(graph: FileGraph, reasons: _Reasons, density: GraphDensity) -> Iterator[tuple]:
    order = np.argsort(-reasons.contributions, kind="stable")
    ranks = (np.argsort(order) + 1).tolist()
    new_from = [""] * len(ranks)
    if density.novelty is not None and reasons.new_from is not None:
        new_from = [x if x <= density.novelty.radius else "" for x in reasons.new_from.tolist()]
    views = [reasons.view] * len(ranks)
    rows = zip(graph.nodes, reasons.contributions.tolist(), ranks, views, new_from, strict=True)
    return ((graph.name, *row) for row in rows)


def _draw(lowest: list[tuple[FileGraph, _Reasons]], path: str, references: GraphBatch) -> None:
    from matplotlib.figure import Figure

    from skgraphkde.display import NodeContributionsDisplay
    from skgraphkde.display.edge_styles import common_categories

    limit = max(np.abs(reasons.contributions).max() for _, reasons in lowest)
    n_columns = min(3, len(lowest))
    n_rows = -(-len(lowest) // n_columns)
    figure = Figure(figsize=(4 * n_columns + 1, 4 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    for ax in axes.flat[len(lowest) :]:
        ax.axis("off")
    marks: dict[str, Any] = {
        "edge_categories": common_categories(references, [x.batch for x, _ in lowest])
    }
    for ax, (graph, reasons) in zip(axes.flat, lowest, strict=False):
        shares, marks["names"] = reasons.contributions, graph.nodes
        marks |= {"outlined": reasons.nodes, "marked": reasons.edges}
        display = NodeContributionsDisplay.from_predictions(
            graph.batch, shares, ax=ax, vmax=limit, colorbar=False, **marks
        )
        title = f"{shown(Path(graph.name).name)}, decision {reasons.decision:.3g}"
        ax.set_title(title, fontsize=9, parse_math=False)
    figure.colorbar(display.nodes_, ax=axes, shrink=0.6, label="share of the squared distance")
    with atomic_file(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:], dpi=130)
