"""Pictures inside of a page: scores, distances or a graph -> an SVG.

The page shows each as a document of its own in an `<img>`: no name in it can become a part of the
page, and no two pictures share ids.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.page.drawing import draw_graph
from skgraphkde.page.nodes import Colors
from skgraphkde.plots import draw_molecule, is_molecule, plan_graph, plot_scores, shades

# Width and height of a histogram, in inches, and of a molecule, in pixels.
SCORES = (5.5, 3.0)
MOLECULE = 400, 400
# Of two piles; both are legible on a light and on a dark page.
PILES = "#0072b2", "#d55e00"
# Of a histogram of sizes, at most or about.
BARS = 25
# Characters of a name in a legend.
LEGIBLE = 20


def distribution(scores: np.ndarray, offset: float, verdicts: np.ndarray, noun: str) -> str:
    """A histogram of scores with the threshold, and a noun for what is counted."""
    figure = _figure()
    plot_scores(scores, offset, verdicts, ax=figure.subplots()).set_ylabel(noun)
    return _svg(figure)


def two_sizes(
    first: np.ndarray, second: np.ndarray, piles: tuple[str, str], nodes: str, graphs: str
) -> str:
    """Histograms of the sizes of two piles.

    Parameters
    ----------
    first, second : ndarray of int
        Numbers of nodes.
    piles : tuple of str
        What the piles are called.
    nodes, graphs : str
        Nouns for what is counted.
    """
    figure = _figure()
    ax = figure.subplots()
    both = np.concatenate([first, second])
    width = max(1, round(np.ptp(both) / BARS))
    edges = np.arange(both.min(), both.max() + width + 1, width) - 0.5
    for sizes, name, color in zip((first, second), piles, PILES, strict=True):
        label = f"{name[:LEGIBLE]} ({len(sizes)})"
        ax.hist(sizes, edges.tolist(), label=label, color=color, alpha=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.locator_params(integer=True)
    ax.set(xlabel=nodes, ylabel=graphs)
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return _svg(figure)


def graph_picture(
    graph: GraphBatch,
    looks: dict[str, Any],
    colors: Colors | None = None,
    marked: Sequence[tuple[int, int]] = (),
    outlined: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """One graph.

    Parameters
    ----------
    graph : GraphBatch
        Of one graph.
    looks : dict
        `edge_categories` and `category` as in :func:`skgraphkde.plots.plot_graph`.
    colors : Colors, default=None
        None: all nodes are white.
    marked, outlined
        As in :func:`skgraphkde.plots.plot_graph`.
    """
    values, radius, vmax = colors or Colors()
    rgba = None
    importance = graph.degrees.astype(float)
    if values is not None:
        rgba = np.asarray(shades(values, radius, vmax).to_rgba(values))
        importance = values if radius is None else -values
    if is_molecule(graph):
        from rdkit.Chem.Draw.rdMolDraw2D import MolDraw2DSVG

        return draw_molecule(MolDraw2DSVG(*MOLECULE), graph, rgba, marked, outlined)
    ends = np.ravel(marked).astype(int).tolist()
    centers = list(dict.fromkeys([*outlined, *ends]))
    plan = plan_graph(graph, importance, centers, marked, **looks)
    return draw_graph(plan, rgba, marked, outlined)


def _figure() -> Any:
    """A transparent figure that no window shows."""
    from matplotlib.figure import Figure

    return Figure(figsize=SCORES, facecolor="none", layout="constrained")


def _svg(figure: Any) -> str:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    file = io.StringIO()
    figure.set_dpi(72)  # that of an SVG; savefig would draw everything once before
    for ax in figure.axes:
        ax.set_facecolor("none")
    # The same picture has the same ids; texts are texts, as outlines take most of a picture.
    options: Any = {"svg.hashsalt": "skgraphkde", "svg.fonttype": "none"}
    with rc_context(options | {"font.sans-serif": "DejaVu Sans"}):
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
    return file.getvalue()
