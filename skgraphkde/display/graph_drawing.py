"""Drawing one graph: a batch of one graph -> its nodes with labels, and its edges, on axes.

Edges show their direction, their category and their weight. A large graph is drawn around one node,
or around the nodes and edges that matter.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from scipy.sparse.csgraph import dijkstra

from skgraphkde.computing.threads import one_blas_thread
from skgraphkde.display.common import VERMILION
from skgraphkde.display.edge_styles import edge_styles, in_words
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import shown as legible
from skgraphkde.graphs.readers import read_graphs

# Largest graph that is drawn whole, if one of its nodes matters more than the others.
MOST_NODES = 60
# Largest graph that is laid out by all of its distances, and whose node labels are legible.
SMALL_GRAPH = 100
# How many characters fit on a node, and of how many labels the meanings fit below.
LONGEST_LABEL, MOST_MEANINGS = 3, 6
# Centers of a large graph that are named below.
NAMED = 4
# In points.
LARGEST_NODE, SMALLEST_FONT = 14.0, 4.5
# Parallel lines are this far apart; the picture is 2 wide.
GAP = 0.028


class Drawing(NamedTuple):
    """What was drawn."""

    nodes: Any  # PathCollection
    edges: Any  # LineCollection
    arrows: Any  # PathCollection; None of an undirected graph
    shown: np.ndarray  # numbers of the nodes that are drawn, in ascending order


class _Edges(NamedTuple):
    """The edges to draw; those with the same ends and category are one."""

    ends: np.ndarray  # (m, 2): positions among the nodes that are drawn
    groups: np.ndarray  # (m,): the style of each
    widths: np.ndarray  # (m,): in points
    styles: list[tuple[str, Any]]
    names: list[str]  # of the styles; [] if there is nothing to say about them
    lines: list[tuple[Any, ...]]  # the line styles of each style: several are parallel lines


def draw_graph(
    ax: Any,
    batch: GraphBatch,
    values: np.ndarray | None,
    *,
    marked: Any = (),
    outlined: Any = (),
    names: Sequence[Any] | None = None,
    edge_categories: Sequence[Hashable] = (),
    legend: bool = True,
    **colors: Any,
) -> Drawing:
    """Draw a batch of one graph.

    Parameters
    ----------
    ax : matplotlib Axes
    batch : GraphBatch
    values : ndarray of shape (n_nodes,) or None
        How much each node matters: of more than 60 nodes, those around what is marked and
        outlined are drawn, or else those around the largest value. None draws all.
    marked : sequence of (int, int), default=()
        Edges to mark, by the numbers of their nodes.
    outlined : sequence of int, default=()
        Nodes with a ring around them.
    names : sequence, default=None
        What the nodes are called. None: their numbers.
    edge_categories : sequence, default=()
        The categories that have styles before others, so that pictures agree.
    legend : bool, default=True
        Whether to say below the graph what is shown: categories of edges, labels that were
        shortened, and which part of a large graph.
    **colors : dict
        For ``ax.scatter``: "c", a color or one per node, "cmap", "vmin", "vmax".

    Returns
    -------
    Drawing
    """
    outlined = list(outlined)
    shown, centers = _shown(batch, values, [*(node for edge in marked for node in edge), *outlined])
    edges = _edges(batch, shown, edge_categories)
    positions = _layout(_simple(len(shown), edges.ends))
    diameter = _diameter(ax, len(shown))
    _mark(ax, shown, positions, marked)
    lines, arrows = _draw_edges(ax, positions, edges, diameter / 2, batch.directed)
    if not isinstance(colors["c"], str):
        colors["c"] = np.asarray(colors["c"])[shown]
    widths = np.where(np.isin(shown, [] if outlined else centers) & (len(shown) > 1), 2.0, 0.6)
    nodes = ax.scatter(
        *positions.T, s=diameter**2, edgecolors="#555555", linewidths=widths, zorder=2, **colors
    )
    if outlined:
        _ring(ax, positions[np.isin(shown, outlined)], diameter)
    used = np.unique(edges.groups).tolist() if edges.names else []
    words = []
    if len(shown) < batch.n_nodes:
        called = [legible(x if names is None else names[x], 20) for x in centers[:NAMED]]
        called += ["..."] * (len(centers) > NAMED)
        around = f"around node{'s' * (len(centers) > 1)} {', '.join(called)}"
        words += textwrap.wrap(f"{len(shown)} of {batch.n_nodes} nodes, {around}", 48)
    if batch.labels is not None and len(shown) <= SMALL_GRAPH:
        words += _write_labels(ax, batch, shown, positions, nodes, diameter)
    if legend and (used or words):
        _draw_legend(ax, edges, used, "\n".join(words))
    for artist in (nodes, lines, arrows):
        if artist is not None:
            artist.set_clip_on(False)  # an axis that is fitted to the aspect cuts through nodes
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    ax.axis("off")
    return Drawing(nodes, lines, arrows, shown)


def one_graph(graph: Any, read: Callable[[Any], GraphBatch] = read_graphs) -> GraphBatch:
    """A graph in any format as a batch of one, or a ValueError."""
    batch = read([graph])
    if len(batch) != 1:
        raise ValueError(f"a picture shows one graph, got a GraphBatch of {len(batch)}")
    return batch


def check_marks(
    batch: GraphBatch, marked: Any = (), outlined: Any = (), names: Any = None, **_: Any
) -> None:
    """Raise ValueError unless these are edges and nodes of the graph, and a name for each node."""
    for u, v in marked:
        if not (min(u, v) >= 0 and max(u, v) < batch.n_nodes and batch.underlying[u, v]):
            raise ValueError(f"marked names the edge ({u}, {v}), which the graph does not have")
    for node in outlined:
        if not 0 <= node < batch.n_nodes:
            raise ValueError(f"outlined names the node {node}, which the graph does not have")
    if names is not None and len(names) != batch.n_nodes:
        raise ValueError(f"names must have one name for each of {batch.n_nodes} nodes")


# -- what is drawn ---------------------------------------------------------------------------------


def _shown(
    batch: GraphBatch, values: np.ndarray | None, wanted: list[int]
) -> tuple[np.ndarray, list[int]]:
    """The nodes to draw: all, or those nearest to the centers; and the centers."""
    if values is None or batch.n_nodes <= MOST_NODES:
        return np.arange(batch.n_nodes), []
    centers = list(dict.fromkeys(wanted))[:MOST_NODES] or [int(np.argmax(values))]
    steps = dijkstra(batch.underlying, indices=centers, unweighted=True, min_only=True)
    order = np.lexsort((-values, steps))[:MOST_NODES]  # of nodes equally far, those that matter
    return np.sort(order[np.isfinite(steps[order])]), centers


def _edges(batch: GraphBatch, shown: np.ndarray, categories: Sequence[Hashable]) -> _Edges:
    """The edges between some nodes, undirected ones once."""
    arcs = batch.adjacency.tocoo()
    position = np.full(batch.n_nodes, -1)
    position[shown] = np.arange(len(shown))
    ends = np.column_stack([position[arcs.row], position[arcs.col]])
    is_drawn = (ends >= 0).all(axis=1)
    if not batch.directed:
        is_drawn &= ends[:, 0] < ends[:, 1]
    groups, styles, names, lines = edge_styles(batch, categories)
    keys = np.column_stack([ends, groups])[is_drawn]
    keys, index = np.unique(keys, axis=0, return_inverse=True)
    weights = np.bincount(index.reshape(-1), arcs.data[is_drawn], len(keys))
    widths = np.full(len(keys), 1.5)
    if np.any(arcs.data != arcs.data[:1]):
        widths = 0.1 + 3.9 * weights / weights.max(initial=0)
    return _Edges(keys[:, :2], keys[:, 2], widths, styles, names, lines)


def _simple(n: int, ends: np.ndarray) -> nx.Graph:
    """The simple undirected graph."""
    graph = nx.empty_graph(n)
    graph.add_edges_from(ends.tolist())
    return graph


def _layout(graph: nx.Graph) -> np.ndarray:
    """The positions of the nodes, the same each time, shape (n_nodes, 2)."""
    with one_blas_thread():  # which wait for each other longer than such a graph takes
        if len(graph) <= SMALL_GRAPH and nx.is_connected(graph):
            positions = nx.kamada_kawai_layout(graph)
        else:
            positions = nx.spring_layout(graph, seed=0)
    return np.array(list(positions.values()))


def _diameter(ax: Any, n_nodes: int) -> float:
    """Of the nodes, in points, so that they have room on the axes."""
    width, height = ax.bbox.size * 72 / ax.figure.dpi
    return min(LARGEST_NODE, 0.4 * min(width, height) / np.sqrt(n_nodes))


# -- edges -----------------------------------------------------------------------------------------


def _draw_edges(
    ax: Any, positions: np.ndarray, edges: _Edges, radius: float, directed: bool
) -> tuple[Any, Any]:
    """Draw lines, and heads at their ends which touch nodes of a radius in points."""
    from matplotlib.collections import LineCollection

    segments, colors, widths, lines, heads = [], [], [], [], []
    for edge, shift, line in _strokes(edges):
        start, end = positions[edges.ends[edge]]
        forward = (end - start) / max(np.hypot(*(end - start)), 1e-12)
        # The same side for u -> v and v -> u, which are strokes of one bundle.
        turn = 1 if edges.ends[edge, 0] < edges.ends[edge, 1] else -1
        aside = turn * shift * np.array([-forward[1], forward[0]])
        segments.append([start + aside, end + aside])
        colors.append(edges.styles[edges.groups[edge]][0])
        widths.append(edges.widths[edge])
        lines.append(line)
        heads.append(_head(forward, radius, edges.widths[edge]))
    drawn = LineCollection(segments, colors=colors, linewidths=widths, linestyles=lines, zorder=1)
    ax.add_collection(drawn)
    if not directed:
        return drawn, None
    return drawn, _draw_heads(ax, heads, [segment[1] for segment in segments], colors)


def _mark(ax: Any, shown: np.ndarray, positions: np.ndarray, marked: Any) -> None:
    """Draw a broad line behind some edges."""
    from matplotlib.collections import LineCollection

    position = {node: k for k, node in enumerate(shown.tolist())}
    segments = []
    for u, v in marked:
        if u in position and v in position:
            segments.append([positions[position[u]], positions[position[v]]])
    if segments:
        look = {"colors": VERMILION, "alpha": 0.35, "linewidths": 8, "capstyle": "round"}
        ax.add_collection(LineCollection(segments, zorder=0.5, **look))


def _ring(ax: Any, positions: np.ndarray, diameter: float) -> None:
    """Draw a ring around some nodes, which is seen without colors."""
    look = {"facecolors": "none", "edgecolors": "black", "linewidths": 2.0, "zorder": 2.5}
    ax.scatter(*positions.T, s=(diameter + 6) ** 2, clip_on=False, **look)


def _strokes(edges: _Edges) -> Iterator[tuple[int, float, Any]]:
    """The lines of all edges: the edge, how far aside, and the line style."""
    bundles: dict[tuple[int, int], list[tuple[int, Any]]] = {}
    for edge, (u, v) in enumerate(edges.ends.tolist()):
        bundle = bundles.setdefault((min(u, v), max(u, v)), [])
        bundle += [(edge, line) for line in edges.lines[edges.groups[edge]]]
    for bundle in bundles.values():
        for i, (edge, line) in enumerate(bundle):
            yield edge, GAP * (i - (len(bundle) - 1) / 2), line


def _head(forward: np.ndarray, radius: float, width: float) -> np.ndarray:
    """A triangle, in points, whose tip is where an arrow meets the node at (0, 0)."""
    aside = np.array([-forward[1], forward[0]])
    tip = -radius * forward
    base = tip - (0.7 * radius + width) * forward
    half = (0.3 * radius + 0.6 * width) * aside
    return np.array([tip, base + half, base - half])


def _draw_heads(ax: Any, heads: list[np.ndarray], ends: list, colors: list[str]) -> Any:
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path
    from matplotlib.transforms import IdentityTransform

    paths = [Path(np.vstack([head, head[:1]]), closed=True) for head in heads]
    drawn = PathCollection(
        paths, sizes=[1.0], offsets=np.reshape(ends, (-1, 2)), offset_transform=ax.transData,
        facecolors=colors, linewidths=0, zorder=1.5,
    )  # fmt: skip
    drawn.set_transform(IdentityTransform())  # points, not data
    ax.add_collection(drawn, autolim=False)
    return drawn


# -- words -----------------------------------------------------------------------------------------


def _write_labels(
    ax: Any,
    batch: GraphBatch,
    shown: np.ndarray,
    positions: np.ndarray,
    nodes: Any,
    diameter: float,
) -> list[str]:
    """Write labels on the nodes; return lines that say what shortened ones stand for."""
    codes = np.asarray(batch.labels)[shown]
    used = np.unique(codes).tolist()
    names = [in_words(batch.label_names[code]) for code in used]
    short = dict(zip(used, shortened(names), strict=True))
    size = min(8.0, 1.35 * diameter / max(map(len, short.values())))
    if size < SMALLEST_FONT:
        return []
    nodes.update_scalarmappable()
    backgrounds = nodes.get_facecolor()
    for i, code in enumerate(codes.tolist()):
        color = _legible(backgrounds[i % len(backgrounds)])
        style = {"ha": "center", "va": "center", "fontsize": size, "color": color}
        ax.text(*positions[i], short[code], zorder=3, **style)
    pairs = [(short[code], name) for code, name in zip(used, names, strict=True)]
    meanings = [f"{few}: {name}".replace(" ", "\xa0") for few, name in pairs if few != name]
    return textwrap.wrap(", ".join(meanings), 48) if len(meanings) <= MOST_MEANINGS else []


def _legible(background: np.ndarray) -> str:
    """White or black, whichever contrasts more (WCAG 2)."""
    rgb = background[:3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return "white" if luminance < 0.179 else "black"


def shortened(names: Sequence[str]) -> list[str]:
    """Each name in at most three characters, or four, all different.

    Examples
    --------
    >>> shortened(["C", "Cl"]), shortened(["process", "file"]), shortened(["region 9", "region 10"])
    (['C', 'Cl'], ['pro', 'fil'], ['r9', 'r10'])
    """
    rules: list[Callable[[str], str]] = [
        lambda name: name[:LONGEST_LABEL].strip(),
        lambda name: re.sub(r"([^\W\d_])[^\W\d_]*|[^\w?]|_", r"\1", name)[: LONGEST_LABEL + 1],
        lambda name: name[:1] + name[1 - LONGEST_LABEL :],
    ]
    for rule in rules:
        few = [name if len(name) <= LONGEST_LABEL else rule(name) for name in names]
        if len(set(few)) == len(set(names)):
            return few
    return [str(i) for i in range(len(names))]


def _draw_legend(ax: Any, edges: _Edges, used: list[int], words: str) -> None:
    """Below the graph, where it hides nothing."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=edges.styles[x][0], linestyle=edges.styles[x][1]) for x in used]
    ax.legend(
        handles, [edges.names[x] for x in used], title=words or None, loc="upper center",
        bbox_to_anchor=(0.5, 0.02), ncols=3, fontsize=7, title_fontsize=7, frameon=False,
        handlelength=1.8, columnspacing=1.2,
    )  # fmt: skip
