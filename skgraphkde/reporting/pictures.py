"""Pictures inside of a page: scores, distances or a graph -> an SVG.

The page shows each as a document of its own in an `<img>`: no name in it can become a part of the
page, and no two pictures share ids.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.display import (
    DensityDisplay,
    GraphMapDisplay,
    NodeContributionsDisplay,
    NovelNodesDisplay,
)
from skgraphkde.display.graph_drawing import draw_graph
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.reporting.nodes import Nodes

# Known graphs on a map, at most: SMACOF costs the square of all.
MAPPED = 300
# Of a picture of a graph, in inches; of a line of its legend, in points, of characters of 7.
SIDE, LINE = 4.0, 10.5


def distribution(scores: np.ndarray, offset: float, verdicts: np.ndarray) -> str:
    """A histogram of scores with the threshold."""
    figure, ax = _figure(5.5, 3.6)
    DensityDisplay(scores, offset, verdicts).plot(ax)
    return _svg(figure)


def graph_map(
    detector: GraphKDEDetector, graphs: GraphBatch, scores: np.ndarray, own: np.ndarray
) -> str | None:
    """Graphs among known ones, by the first distance; None if all are alike, or too few.

    The scores of known graphs are by the other references, as those of new graphs are. If the
    graphs are references, so are the others, and have verdicts, too.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted.
    graphs : GraphBatch
    scores : ndarray of shape (n_graphs,)
    own : ndarray of shape (n_graphs,)
        The reference that each graph is, which is shown once; -1: none.
    """
    model = detector.model_
    some = np.unique(np.linspace(0, len(model.references) - 1, MAPPED).round().astype(int))
    some = np.setdiff1d(some, own)
    graphs, of_known = detector.read(graphs), np.empty(0)
    together = graphs
    if len(some):
        references = model.references[some]
        together = GraphBatch.concatenate([references, graphs])
        of_known = model.as_log_p_values(model.view_scores(references, own=some)).sum(axis=0)
    D = detector.pairwise_distances(together)
    if len(D) < 3 or not D.any():
        return None
    known = (np.arange(len(D)) < len(some)) & (own.max() < 0)
    figure, ax = _figure(5.5, 4.6)
    GraphMapDisplay.from_predictions(
        D,
        np.concatenate([of_known, scores]),
        offset=detector.offset_,
        known=known if known.any() else None,
        ax=ax,
    )
    return _svg(figure)


def graph_picture(
    graph: GraphBatch, found: Nodes | None = None, *, vmax: float | None = None, **marks: Any
) -> str:
    """One graph, its nodes colored by their shares or by the radius from which they are new.

    Parameters
    ----------
    graph : GraphBatch
        Of one graph. If it is large, the part around the marks is drawn, or around the node of the
        largest share or degree.
    found : Nodes, default=None
        The numbers that its colors show. Without any, all nodes are white.
    vmax : float, default=None
        The share of the fullest color.
    **marks
        As in :meth:`NodeContributionsDisplay.plot`.
    """
    figure, ax = _figure(SIDE, SIDE, (0, 0, 1, 1))
    colors = "" if found is None else found.colors
    if found is not None and found.new_from is not None and colors == "new":
        new_from = np.where(found.is_new, found.new_from, found.radius + 1)
        NovelNodesDisplay(graph, new_from, found.radius).plot(ax, colorbar=False, **marks)
    elif found is not None and found.shares is not None and colors == "shares":
        display = NodeContributionsDisplay(graph, found.shares)
        display.plot(ax, vmax=vmax, colorbar=False, **marks)
    else:
        draw_graph(ax, graph, graph.degrees.astype(float), **marks)
    _make_room(ax)
    return _svg(figure)


def _make_room(ax: Any) -> None:
    """Leave room for a legend below the axes, which a layout engine would do by drawing twice."""
    legend = ax.get_legend()
    if legend is not None:
        words = legend.get_title().get_text()
        n_lines = -(-len(legend.get_texts()) // 3) + (words.count("\n") + 1 if words else 0)
        below = (n_lines + 1) * LINE / (72 * SIDE)
        ax.set_position([0, below, 1, 1 - below])


def _figure(
    width: float, height: float, place: tuple[float, float, float, float] | None = None
) -> tuple[Any, Any]:
    """A transparent figure that no window shows, and its axes; without a place, laid out."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="none")
    if place is None:
        figure.set_layout_engine("constrained")
    ax = figure.subplots() if place is None else figure.add_axes(place)
    ax.set_facecolor("none")
    return figure, ax


def _svg(figure: Any) -> str:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    file = io.StringIO()
    figure.set_dpi(72)  # that of an SVG; savefig would draw everything once before
    # The same picture has the same ids; texts are texts, as outlines take most of a picture.
    options: Any = {"svg.hashsalt": "skgraphkde", "svg.fonttype": "none"}
    with rc_context(options | {"font.sans-serif": "DejaVu Sans"}):
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
    return file.getvalue()
