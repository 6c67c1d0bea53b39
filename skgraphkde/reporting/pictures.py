"""Pictures inside of a page: scores, distances or a graph -> the address of an SVG, `data:...`.

Each picture is a document of its own in an `<img>`: no name in it can become a part of the page,
and no two pictures share ids.
"""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np

from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.display import DensityDisplay, GraphMapDisplay, NodeContributionsDisplay
from skgraphkde.display.common import pyplot
from skgraphkde.display.graph_drawing import draw_graph
from skgraphkde.graphs.batch import GraphBatch

# Known graphs on a map, at most: SMACOF costs the square of all.
MAPPED = 300


def distribution(scores: np.ndarray, offset: float) -> str:
    """A histogram of scores with the threshold."""
    figure, ax = _figure(5.5, 3.6)
    DensityDisplay.from_predictions(
        scores, offset=offset, y=np.where(scores < offset, -1, 1), ax=ax
    )
    return _address(figure)


def graph_map(detector: GraphKDEDetector, graphs: GraphBatch, scores: np.ndarray) -> str | None:
    """New graphs among known ones, by the first distance; None if all are alike, or too few."""
    references = detector.density_.references
    some = np.unique(np.linspace(0, len(references) - 1, MAPPED).round().astype(int))
    together = GraphBatch.concatenate([references[some], detector.read(graphs)])
    D = detector.pairwise_distances(together)
    if len(D) < 3 or not D.any():
        return None
    known = np.arange(len(D)) < len(some)
    of_known = detector.calibration_scores_
    if not detector.leaves_one_out or len(of_known) != len(references):
        of_known = detector.score_samples(references)
    figure, ax = _figure(5.5, 4.6)
    GraphMapDisplay.from_predictions(
        D, np.concatenate([of_known[some], scores]), offset=detector.offset_, known=known, ax=ax
    )
    return _address(figure)


def graph_picture(
    graph: GraphBatch, shares: np.ndarray | None = None, numbered: Any = (), marked: Any = ()
) -> str:
    """One graph, with its nodes colored by their shares.

    Parameters
    ----------
    graph : GraphBatch
        Of one graph. Of a large one, the part around the node of the largest share, or degree, is
        drawn.
    shares : ndarray of shape (n_nodes,), default=None
        None: all nodes are white.
    numbered : sequence of int, default=()
        Nodes that get the numbers 1, 2, ...: what is said by colors is said without them, too.
    marked : sequence of (int, int), default=()
        Edges to mark.
    """
    figure, ax = _figure(4, 4)
    if shares is None:
        degrees = np.asarray(graph.underlying.sum(axis=1), dtype=float).reshape(-1)
        drawn = draw_graph(ax, graph, degrees, marked=marked, c="white")
        drawn_nodes, shown = drawn.nodes, drawn.shown
    else:
        display = NodeContributionsDisplay.from_predictions(
            graph, shares, ax=ax, colorbar=False, marked=marked
        )
        drawn_nodes, shown = display.nodes_, display.shown_
    positions = dict(zip(shown.tolist(), drawn_nodes.get_offsets(), strict=True))
    aside = np.sqrt(drawn_nodes.get_sizes()[0]) / 2
    box = {"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": "black"}
    for number, node in enumerate(numbered, 1):
        if node in positions:
            ax.annotate(
                str(number), positions[node], (aside, aside), textcoords="offset points",
                fontsize=7, ha="center", va="center", bbox=box, zorder=4, annotation_clip=False,
            )  # fmt: skip
    return _address(figure)


def _figure(width: float, height: float) -> tuple[Any, Any]:
    """A figure that no window and no notebook shows, and its axes."""
    pyplot()  # or an error that says what to install
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _address(figure: Any) -> str:
    from matplotlib import rc_context

    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "skgraphkde"}):  # the same picture has the same ids
        figure.savefig(file, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()
