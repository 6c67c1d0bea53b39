"""Drawing one graph: a batch of one graph and axes -> artists of its nodes and edges.

networkx draws nodes, edges and arrows. Edges show their direction, their category and their weight.
A large graph is drawn around one node, or around the nodes and edges that matter.
"""

from __future__ import annotations

import importlib.util
import textwrap
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from scipy.sparse.csgraph import dijkstra
from threadpoolctl import threadpool_limits

from skgraphkde.display.common import VERMILION
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import printable
from skgraphkde.graphs.naming import shown as abbreviated
from skgraphkde.graphs.readers import read_graphs

# Largest graph that is drawn whole, if one of its nodes matters more than the others, and largest
# one with long labels: they are below the nodes, in two lines of so many characters.
MAX_NODES, MAX_NODES_LONG, CHARACTERS = 60, 40, 14
# Largest graph that is laid out by all of its distances, and whose nodes have short labels.
MAX_NODES_LABELED = 100
# Characters that fit on a node.
LONGEST_LABEL = 3
# Centers of a large graph that are named below.
MAX_NAMED_CENTERS = 4
# Diameters in points of nodes with labels on them and below them.
LARGEST_NODE, SMALL_NODE = 14.0, 8.0
# Of labels, in points.
FONT, SMALLEST_FONT = 6.5, 4.5
# Distance between parallel lines; the picture is 2 wide.
GAP = 0.028

GRAY, PALE = "#8c8c8c", "#d0d0d0"
# Distinct with color blindness and without color, and not the colors of nodes (Okabe and Ito; Tol).
LOOKS: tuple[tuple[str, Any], ...] = (
    ("#6b6b6b", "solid"),
    ("#009E73", (0, (4, 1.5))),
    ("#E69F00", "solid"),
    ("#CC79A7", (0, (1, 1))),
    ("#56B4E9", (0, (5, 1.5, 1, 1.5))),
    ("#882255", "solid"),
    ("#999933", (0, (2, 1))),
    ("#332288", (0, (1, 1))),
)
# Bonds, as the lines that chemists draw.
BONDS: dict[str, tuple[Any, ...]] = {
    "single": ("solid",),
    "double": ("solid",) * 2,
    "triple": ("solid",) * 3,
    "aromatic": ("solid", (0, (2, 1.5))),
}
# Frequent categories of the references that have looks of their own before new categories.
N_COMMON = 6


class Drawing(NamedTuple):
    """The artists of a graph."""

    nodes: Any  # PathCollection
    edges: Any  # LineCollection, or a list of FancyArrowPatch for a directed graph
    shown: np.ndarray  # numbers of the nodes that are drawn, in ascending order


class EdgeStyle(NamedTuple):
    """The look of a category of edges."""

    name: str  # in the legend; "" for no entry
    color: str
    lines: tuple[Any, ...]  # several are parallel


def draw_graph(
    ax: Any,
    batch: GraphBatch,
    values: np.ndarray | None,
    *,
    marked: Any = (),
    outlined: Any = (),
    numbered: Any = (),
    names: Sequence[Any] | None = None,
    edge_categories: Sequence[Hashable] = (),
    legend: bool = True,
    node_color: Any = "white",
    **colors: Any,
) -> Drawing:
    """Draw a batch of one graph.

    Parameters
    ----------
    ax : matplotlib Axes
    batch : GraphBatch
    values : ndarray of shape (n_nodes,) or None
        Importance of each node: of more than 60 nodes, 40 with long labels, those around the
        marked edges and outlined nodes are drawn, or else those around the largest value. None
        draws all.
    marked : sequence of (int, int), default=()
        Edges to mark, by the numbers of their nodes.
    outlined : sequence of int, default=()
        Nodes with a ring around them.
    numbered : sequence of int, default=()
        Nodes that have the numbers 1, 2, ... beside them.
    names : sequence, default=None
        Names of the nodes. None: their numbers.
    edge_categories : sequence, default=()
        Categories that have styles before others, so that pictures agree.
    legend : bool, default=True
        Draw a legend below the graph: categories of edges, and the part of a large graph that is
        shown.
    node_color : color or array-like, default="white"
        One color, or a number or color per node.
    **colors : dict
        "cmap", "vmin" and "vmax", for :func:`networkx.draw_networkx_nodes`.

    Returns
    -------
    Drawing
    """
    from matplotlib.artist import setp

    outlined = list(outlined)
    kinds = node_kinds(batch)
    are_long = max(map(len, kinds), default=0) > LONGEST_LABEL
    wanted = [*(node for edge in marked for node in edge), *outlined]
    shown, centers = _shown(batch, values, wanted, MAX_NODES_LONG if are_long else MAX_NODES)
    codes, styles = edge_styles(batch, edge_categories)
    edges = _edges_between(shown, batch, codes)
    graph = nx.empty_graph(shown.tolist())
    graph.add_edges_from(edges[["u", "v"]].to_numpy().tolist())
    positions = np.full((batch.n_nodes, 2), np.nan)
    are_bonds = batch.edge_labels is not None and not any(style.name for style in styles)
    positions[shown] = _layout(graph, are_bonds)
    most = MAX_NODES_LONG if are_long else MAX_NODES_LABELED
    has_labels = bool(kinds) and len(graph) <= most
    are_below = has_labels and are_long
    diameter = _diameter(ax, len(graph), SMALL_NODE if are_below else LARGEST_NODE)
    _mark(ax, graph, positions, marked)
    lines = _draw_edges(ax, edges, styles, positions, diameter, batch.directed)
    has_ring = np.isin(shown, outlined or centers)
    nodes = nx.draw_networkx_nodes(
        graph, positions, ax=ax, node_size=diameter**2,
        edgecolors=np.where(has_ring, "black", "#555555"), linewidths=np.where(has_ring, 2.2, 0.6),
        node_color=node_color if isinstance(node_color, str) else np.asarray(node_color)[shown],
        **colors,
    )  # fmt: skip
    words = _part_of(batch, shown, centers, names, kinds)
    if has_labels:
        _write_labels(ax, graph, kinds, positions, diameter, are_below)
    _write_numbers(ax, graph, positions, numbered, diameter)
    used = [styles[code] for code in np.unique(edges["code"]) if styles[code].name]
    if legend and (used or words):
        _draw_legend(ax, used, "\n".join(words))
    nodes.set_clip_on(False)  # axes that are fitted to the aspect cut through nodes
    if graph.size():
        setp(lines, clip_on=False, capstyle="butt")  # round ends would fill the gaps of dots
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    ax.axis("off")
    return Drawing(nodes, lines, shown)


def one_graph(graph: Any, read: Callable[[Any], GraphBatch] = read_graphs) -> GraphBatch:
    """Read a graph of any format as a batch of one, or raise ValueError."""
    batch = read([graph])
    if len(batch) != 1:
        raise ValueError(f"a picture shows one graph, got a GraphBatch of {len(batch)}")
    return batch


def check_marks(
    batch: GraphBatch,
    marked: Any = (),
    outlined: Any = (),
    numbered: Any = (),
    names: Any = None,
    **_: Any,
) -> None:
    """Raise ValueError unless these are edges and nodes of the graph, and a name for each node."""
    for u, v in marked:
        if not (min(u, v) >= 0 and max(u, v) < batch.n_nodes and batch.underlying[u, v]):
            raise ValueError(f"marked names the edge ({u}, {v}), which the graph does not have")
    for what, nodes in (("outlined", outlined), ("numbered", numbered)):
        for node in nodes:
            if not 0 <= node < batch.n_nodes:
                raise ValueError(f"{what} names the node {node}, which the graph does not have")
    if names is not None and len(names) != batch.n_nodes:
        raise ValueError(f"names must have one name for each of {batch.n_nodes} nodes")


# -- what is drawn ---------------------------------------------------------------------------------


def _shown(
    batch: GraphBatch, values: np.ndarray | None, wanted: list[int], most: int
) -> tuple[np.ndarray, list[int]]:
    """Numbers of the nodes to draw, and the centers around which they lie, if not all are drawn."""
    if values is None or batch.n_nodes <= most:
        return np.arange(batch.n_nodes), []
    centers = list(dict.fromkeys(wanted))[:most] or [int(np.argmax(values))]
    steps = dijkstra(batch.underlying, indices=centers, unweighted=True, min_only=True)
    # Of nodes equally far, those that matter.
    order = np.lexsort((-values, steps))[:most]
    return np.sort(order[np.isfinite(steps[order])]), centers


def _edges_between(shown: np.ndarray, batch: GraphBatch, codes: np.ndarray) -> pd.DataFrame:
    """Edges between some nodes, undirected ones once: u, v, code of the style, and width."""
    arcs = batch.adjacency.tocoo()
    edges = pd.DataFrame({"u": arcs.row, "v": arcs.col, "code": codes, "weight": arcs.data})
    is_drawn = edges["u"].isin(shown) & edges["v"].isin(shown)
    if not batch.directed:
        is_drawn &= edges["u"] < edges["v"]
    edges = edges[is_drawn].groupby(["u", "v", "code"], as_index=False)["weight"].sum()
    is_weighted = np.any(arcs.data != arcs.data[:1])
    same = min(1.5, 4 * len(shown) / max(len(edges), 1))  # many edges are thin
    edges["width"] = 0.1 + 3.9 * edges["weight"] / edges["weight"].max() if is_weighted else same
    return edges


# -- where it is drawn -----------------------------------------------------------------------------


def _layout(graph: nx.Graph, are_bonds: bool) -> np.ndarray:
    """Positions of the nodes, the same in each call, shape (n_nodes, 2)."""
    if are_bonds and importlib.util.find_spec("rdkit"):
        return _molecule_layout(graph)
    # Several threads wait for each other longer than such a graph takes.
    with threadpool_limits(1, user_api="blas"):
        if len(graph) <= MAX_NODES_LABELED:
            return _layout_of_pieces(graph)
        return np.array(list(nx.spring_layout(graph, seed=0).values()))


def _layout_of_pieces(graph: nx.Graph) -> np.ndarray:
    """Positions of the nodes, the connected pieces side by side in rows, the largest first."""
    pieces = sorted(nx.connected_components(graph), key=len, reverse=True)
    sides = np.sqrt([len(piece) for piece in pieces])
    longest = max(sides[0], np.sqrt(len(graph)))
    positions: dict[int, np.ndarray] = {}
    x = y = height = 0.0
    for piece, side in zip(pieces, sides, strict=True):
        if x and x + side > 1.1 * longest:
            x, y, height = 0.0, y - height, 0.0
        center = np.array([x + side / 2, y - side / 2])
        inside = _layout_of_piece(graph.subgraph(sorted(piece)))
        positions |= {node: center + 0.4 * side * place for node, place in inside.items()}
        x, height = x + side, max(height, side)
    return _centered(np.array([positions[node] for node in graph]))


def _layout_of_piece(graph: nx.Graph) -> dict[int, np.ndarray]:
    """Positions of connected nodes: a chain in lines to and fro, others by their distances."""
    ends = sorted(node for node, degree in graph.degree if degree == 1)
    if len(ends) == 2 and graph.size() == len(graph) - 1:
        n_columns = max(3, round(0.9 * np.sqrt(len(graph))))
        row, column = np.divmod(np.arange(len(graph)), n_columns)
        column = np.where(row % 2, n_columns - 1 - column, column)
        places = _centered(np.column_stack([column, -row]))
        return dict(zip(nx.dfs_preorder_nodes(graph, ends[0]), places, strict=True))
    # Powers of distances leave more room between the branches of a tree.
    steps = dict(nx.all_pairs_shortest_path_length(graph))
    far = {u: {v: d**0.7 for v, d in from_u.items()} for u, from_u in steps.items()}
    return nx.kamada_kawai_layout(graph, dist=far, pos=nx.kamada_kawai_layout(graph))


def _centered(positions: np.ndarray) -> np.ndarray:
    """Positions around zero, 2 wide."""
    positions = positions - (positions.min(axis=0) + positions.max(axis=0)) / 2
    return positions / max(np.abs(positions).max(), 1e-9)


def _molecule_layout(graph: nx.Graph) -> np.ndarray:
    """Positions of atoms as chemists draw them, by RDKit, shape (n_nodes, 2)."""
    from rdkit import Chem
    from rdkit.Chem import rdDepictor

    molecule, place = Chem.RWMol(), {node: i for i, node in enumerate(graph)}
    for _ in graph:
        molecule.AddAtom(Chem.Atom("C"))
    for u, v in graph.edges:
        molecule.AddBond(place[u], place[v], Chem.BondType.SINGLE)
    molecule.UpdatePropertyCache(strict=False)
    rdDepictor.Compute2DCoords(molecule)
    return _centered(molecule.GetConformer().GetPositions()[:, :2])


def _diameter(ax: Any, n_nodes: int, largest: float) -> float:
    """Diameter of the nodes in points, such that they have room on the axes."""
    width, height = ax.bbox.size * 72 / ax.figure.dpi
    return min(largest, 0.4 * min(width, height) / np.sqrt(n_nodes))


# -- artists ---------------------------------------------------------------------------------------


def _draw_edges(
    ax: Any,
    edges: pd.DataFrame,
    styles: list[EdgeStyle],
    positions: np.ndarray,
    diameter: float,
    directed: bool,
) -> Any:
    """Draw edges; lines between the same two nodes are parallel."""
    strokes = edges.assign(line=[list(styles[code].lines) for code in edges["code"]])
    strokes = strokes.explode("line", ignore_index=True)
    pair = [strokes[["u", "v"]].min(axis=1), strokes[["u", "v"]].max(axis=1)]
    bundle = strokes.groupby(pair)["u"]
    shift = GAP * (bundle.cumcount() - (bundle.transform("size") - 1) / 2).to_numpy()
    start, end = positions[strokes["u"]], positions[strokes["v"]]
    forward = (end - start) / np.maximum(np.linalg.norm(end - start, axis=1, keepdims=True), 1e-12)
    # The same side for u -> v and v -> u, which are strokes of one bundle.
    turn = np.where(strokes["u"] < strokes["v"], 1, -1)
    aside = (turn * shift)[:, None] * np.column_stack([-forward[:, 1], forward[:, 0]])
    # networkx draws lines between nodes: each stroke has two of its own, which are not drawn.
    ends = np.stack([start + aside, end + aside], axis=1).reshape(-1, 2)
    edgelist = np.arange(len(ends)).reshape(-1, 2).tolist()
    arrows = {"arrowsize": (0.7 * diameter + strokes["width"]).tolist()} if directed else {}
    return nx.draw_networkx_edges(
        nx.DiGraph(), ends, edgelist, ax=ax, arrows=directed, node_size=diameter**2,
        width=strokes["width"].tolist(), style=strokes["line"].tolist(),
        edge_color=[styles[code].color for code in strokes["code"]], **arrows,
    )  # fmt: skip


def _mark(ax: Any, graph: nx.Graph, positions: np.ndarray, marked: Any) -> None:
    """Draw a broad line behind some edges."""
    edgelist = [(u, v) for u, v in marked if graph.has_edge(u, v)]
    if edgelist:
        look = {"width": 8, "edge_color": VERMILION, "alpha": 0.35, "arrows": False}
        lines = nx.draw_networkx_edges(graph, positions, edgelist, ax=ax, **look)
        lines.set(zorder=0.5, capstyle="round")


# -- styles of edges -------------------------------------------------------------------------------


def common_categories(references: GraphBatch | None, graphs: Iterable[GraphBatch]) -> list:
    """Edge categories of all pictures, in the order in which they are given styles.

    Parameters
    ----------
    references : GraphBatch or None
        Their six most frequent categories come first.
    graphs : iterable of GraphBatch
        The graphs to draw. Their categories that the references lack come second.

    Returns
    -------
    list
        For `edge_categories` of :func:`draw_graph`.
    """
    known = [] if references is None else _by_frequency(references)
    new = [x for graph in graphs for x in _by_frequency(graph) if x not in known]
    return list(dict.fromkeys([*known[:N_COMMON], *new, *known]))


def _by_frequency(batch: GraphBatch) -> list[Hashable]:
    """The categories of edges that occur, the most frequent first."""
    codes = pd.Series([] if batch.edge_labels is None else batch.edge_labels, dtype=int)
    counts = codes.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    return [batch.edge_label_names[code] for code in counts.index]


def edge_styles(
    batch: GraphBatch, categories: Sequence[Hashable] = ()
) -> tuple[np.ndarray, list[EdgeStyle]]:
    """Index of the style of each arc, and the styles.

    The eight first categories have looks of their own: those of `categories`, or, without any,
    those of the graph, the most frequent ones if there are more.
    """
    if batch.edge_labels is None:
        return np.zeros(batch.adjacency.nnz, dtype=int), [EdgeStyle("", GRAY, ("solid",))]
    own = list(batch.edge_label_names)
    if not categories and len(own) > len(LOOKS):
        own = [*_by_frequency(batch), *own]
    rank = {name: i for i, name in enumerate(dict.fromkeys([*categories, *own]))}
    codes = np.array([rank[name] for name in batch.edge_label_names])[batch.edge_labels]
    names = [in_words(name) for name in rank]
    if not batch.directed and all(name.casefold() in BONDS for name in names):
        return codes, [EdgeStyle("", GRAY, BONDS[name.casefold()]) for name in names]
    looks = zip(names, LOOKS, strict=False)
    styles = [EdgeStyle(name, color, (line,)) for name, (color, line) in looks]
    others = np.unique(codes[codes >= len(LOOKS)])
    rest = names[others[0]] if len(others) == 1 else f"{len(others)} others"
    return np.minimum(codes, len(LOOKS)), [*styles, EdgeStyle(rest, PALE, ("solid",))]


# -- words -----------------------------------------------------------------------------------------


def node_kinds(batch: GraphBatch) -> list[str]:
    """A category of each node in words: "label", or else the first one; [] if there are none."""
    if batch.labels is None:
        return []
    by_category = batch.values_by_category("node")
    values = by_category.get("label", next(iter(by_category.values())))
    words = [in_words(value) for value in values]
    return [words[code] for code in batch.labels]


def _part_of(
    batch: GraphBatch,
    shown: np.ndarray,
    centers: list[int],
    names: Sequence[Any] | None,
    kinds: list[str],
) -> list[str]:
    """Lines that say which part of the graph is shown, none if it is whole."""
    if len(shown) == batch.n_nodes:
        return []
    called = [abbreviated(x if names is None else names[x], 20) for x in centers]
    if kinds:
        called = [
            f"{name} ({abbreviated(kinds[x], 20)})" for name, x in zip(called, centers, strict=True)
        ]
    called[MAX_NAMED_CENTERS:] = ["..."] * (len(called) > MAX_NAMED_CENTERS)
    around = f"around node{'s' * (len(centers) > 1)} {', '.join(called)}"
    return textwrap.wrap(f"{len(shown)} of {batch.n_nodes} nodes, {around}", 48)


def _write_labels(
    ax: Any,
    graph: nx.Graph,
    kinds: list[str],
    positions: np.ndarray,
    diameter: float,
    are_below: bool,
) -> None:
    """Write labels on the nodes, if they can be read, or below them, over the edges."""
    style: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 3}
    longest, aside = max(len(kinds[node]) for node in graph), (0.0, 0.0)
    style["fontsize"] = min(8.0, 1.35 * diameter / max(longest, 1))
    if are_below:
        box = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.3}
        style |= {"va": "top", "fontsize": FONT, "bbox": box}
        aside = (0.0, -diameter / 2 - 3)
    if style["fontsize"] >= SMALLEST_FONT:
        for node in graph:
            lines = textwrap.wrap(kinds[node], CHARACTERS, max_lines=2, placeholder="…")
            _write(ax, "\n".join(lines), positions[node], aside, **style)


def _write_numbers(
    ax: Any, graph: nx.Graph, positions: np.ndarray, nodes: Any, diameter: float
) -> None:
    """Write 1, 2, ... beside nodes, in the middle of the widest angle between their edges."""
    for number, node in enumerate(nodes, 1):
        if node in graph:
            x, y = (positions[list(graph[node])] - positions[node]).T
            angles = np.sort([-np.pi / 2, *np.arctan2(y, x)])  # labels are below
            gaps = np.diff(angles, append=angles[0] + 2 * np.pi)
            middle = angles[gaps.argmax()] + gaps.max() / 2
            aside = (diameter / 2 + 6) * np.array([np.cos(middle), np.sin(middle)])
            style = {"ha": "center", "va": "center", "fontsize": FONT, "fontweight": "bold"}
            _write(ax, str(number), positions[node], aside, zorder=4, **style)


def _write(ax: Any, text: str, position: np.ndarray, aside: Any, **style: Any) -> None:
    """Write text so many points aside of a position; dollars are not mathematics."""
    style |= {"textcoords": "offset points", "annotation_clip": False, "parse_math": False}
    ax.annotate(text, position, aside, **style)


def in_words(name: Hashable) -> str:
    """A category in words; a missing one is "?"."""
    values = name if isinstance(name, tuple) else (name,)
    return printable(" ".join("?" if value is None else str(value) for value in values))


def _draw_legend(ax: Any, styles: list[EdgeStyle], words: str) -> None:
    """Draw the legend below the graph, where it hides nothing."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=style.color, linestyle=style.lines[0]) for style in styles]
    legend = ax.legend(
        handles, [style.name for style in styles], title=words or None, loc="upper center",
        bbox_to_anchor=(0.5, 0.02), ncols=3, fontsize=7, title_fontsize=7, frameon=False,
        handlelength=1.8, columnspacing=1.2,
    )  # fmt: skip
    for text in (legend.get_title(), *legend.get_texts()):
        text.set_parse_math(False)
