"""Pictures: numbers about graphs, or one graph and numbers of its nodes -> matplotlib axes.

The functions take what a detector returns, and draw on the axes that you pass or on new ones.
Normal graphs are blue circles, anomalies are vermilion triangles. RDKit draws molecules, networkx
other graphs. matplotlib is imported when something is drawn. Curves of detection are those of
:class:`sklearn.metrics.RocCurveDisplay`.
"""

from __future__ import annotations

import importlib.util
import io
import textwrap
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.decomposition import KernelPCA
from sklearn.manifold import smacof
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from skgraphkde._messages import printable, shown
from skgraphkde._words import category_text
from skgraphkde._words import number as printed
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.schema import FittedSchema
from skgraphkde.reading.readers import read_graphs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

Style = dict[str, Any]

__all__ = ["plot_graph", "plot_map", "plot_scores"]

# Readable with color blindness, too (Okabe and Ito).
BLUE = "#0072B2"
VERMILION = "#D55E00"
GRAY = "#777777"
PALE = "#F5DCC8"  # inside of a line that is marked
BOND_COLOR = (0.94, 0.65, 0.42)  # of a bond that is marked
# Looks of the first categories of edges, distinct without color, too, and not the colors of nodes,
# and of all others. Each has a contrast of 3 with the grounds of light and of dark pages.
LOOKS: tuple[tuple[str, Any], ...] = (
    ("#6b6b6b", "solid"),
    ("#00805E", (0, (4, 1.5))),
    ("#A86E00", "solid"),
    ("#B85C8F", (0, (1, 1))),
    ("#2480B5", (0, (5, 1.5, 1, 1.5))),
    ("#882255", "solid"),
    ("#7D7D22", (0, (2, 1))),
    ("#332288", (0, (1, 1))),
)
OTHERS = ("others", GRAY, (0, (1, 2)))
# Looks of marked edges of other categories.
MARKED_LOOKS: tuple[tuple[str, Any], ...] = (
    ("black", "solid"),
    ("black", (0, (4, 1.5))),
    ("black", (0, (1, 1))),
)
# Behind labels below nodes; hardly seen on a light page, and on the ground of a dark one.
GROUND = "#f5f6f7"
# Largest graph that is drawn whole, with labels of at most so many characters or longer ones, and
# nodes of the part that is drawn of a larger one.
MAX_NODES = 60
MAX_NODES_LONG = 40
LONGEST_ON_NODE = 3
PART = 24
# Edges for each node that a graph has at most which is nearly a tree.
MOST_EDGES_OF_TREE = 1.1
# Nodes in a row of a sequence, at most, and the part of a row by which every second one is lower.
IN_ROW = 5
LOWER = 0.25
# Diameters in points of nodes with labels on them, and below them, in lines of so many characters.
LARGEST_NODE = 14.0
SMALL_NODE = 10.0
CHARACTERS = 14
# Of labels, in points.
FONT = 6.5
SMALLEST_FONT = 4.5
# Characters of a name in the legend, at most, and of names that need one column less.
LONGEST_NAME = 40
LONG_NAME = 15
# The brightness of a color by its red, green and blue, and that below which digits are white.
LUMA = (0.299, 0.587, 0.114)
DARK = 0.52
# How far the first edge from one node to another bends, as a share of its length, and each other
# one more than that before it.
BEND = 0.06
NEXT_BEND = 0.12
BENDS = [f"arc3,rad={BEND + NEXT_BEND * i:.2f}" for i in range(9)]
# Of a molecule, in pixels: an inch, the longest bond and the smallest letters; and the share of its
# width that is left free on each side, where numbers may be.
INCH = 150
BOND = 50
SMALLEST_LETTER = 10
PADDING = 0.1
# Directions from an atom in which its number may be.
AROUND = np.column_stack([f(np.arange(16) * np.pi / 8) for f in (np.sin, np.cos)])


# -- many graphs -----------------------------------------------------------------------------------


def plot_scores(
    scores: Any,
    offset: float | None = None,
    y: Any = None,
    *,
    ax: Axes | None = None,
    bins: int = 30,
) -> Axes:
    """Draw a histogram of scores, with the threshold.

    Scores can have long lower tails: one may be -1000 where the others are 5. The axis extends
    below the median (of the normal graphs, if `y` is given) or the threshold, whichever is lower,
    by at most four times the distance from the median to the highest score. Graphs further down are
    counted in one hatched bar at the left end; the legend has their number.

    Parameters
    ----------
    scores : array-like of shape (n_graphs,)
        The result of ``detector.score_samples``, higher for normal graphs.
    offset : float, default=None
        The threshold to mark, ``detector.offset_``.
    y : array-like of shape (n_graphs,), default=None
        1 for normal, -1 for anomalies: each gets a histogram.
    ax : matplotlib Axes, default=None
        None opens a new figure.
    bins : int, default=30
        Number of bars, at least 1.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If a score is not finite, or `y` contains values other than 1 and -1 or has another length.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skgraphkde.plots import plot_scores
    >>> ax = plot_scores([3.1, 2.9, 2.4, -1000], offset=1.5)
    >>> ax.get_legend().get_texts()[-1].get_text()
    '1 further left: -1000'
    >>> plt.close(ax.figure)
    """
    scores = _check_numbers(scores, "scores")
    y = _check_target(y, scores)
    is_far = scores < lowest_shown(scores, offset, y)
    inside = scores[~is_far]
    if is_far.any() and offset is not None:  # the hatched bar is left of the threshold
        inside = np.append(inside, offset)
    edges = np.histogram_bin_edges(inside, bins)
    width = edges[1] - edges[0]
    if offset is not None:  # no bar is on both sides of the threshold
        n_left = int(np.ceil((offset - edges[0]) / width))
        edges = offset + width * np.arange(-n_left, len(edges) + 1 - n_left)
    lowest = edges[0]
    if is_far.any():  # a separate bar, one bar's width away from the others
        edges = np.concatenate([lowest - width * np.array([2, 1]), edges])
    ax = _open_axes(ax)
    for rows, label, color, _ in _groups(y, len(scores)):
        ax.hist(
            np.where(is_far, edges[0], scores)[rows], edges.tolist(),
            label=f"{label} ({rows.sum()})", color=color, alpha=0.65,
        )  # fmt: skip
    if offset is not None:
        ax.axvline(offset, color="black", linestyle="--", label="threshold")
    ax.margins(y=0.12)
    ax.spines[["top", "right"]].set_visible(False)
    ax.locator_params(axis="y", integer=True)
    ax.set(xlabel="score", ylabel="graphs")
    if is_far.any():
        ends = dict.fromkeys(map(printed, (scores.min(), scores[is_far].max())))
        text = f"{is_far.sum()} further left: {' to '.join(ends)}"
        ax.fill_between([], [], facecolor="none", edgecolor="black", hatch="////", label=text)
    # Where it hides no bar and not the threshold, wherever these are.
    ax.legend(
        frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2 if is_far.any() else 3
    )
    for bars in ax.containers:
        bars[0].set_hatch("////" if is_far.any() else "")
    return ax


def plot_map(
    distances: Any,
    scores: Any,
    offset: float | None = None,
    y: Any = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw a map of at least 3 graphs in the plane: similar graphs are close together.

    Metric multidimensional scaling preserves the distances as well as a plane can. The darker a
    graph, the higher its score, with the tail cut off as in :func:`plot_scores`. Shapes are classes
    in `y`, or verdicts if there is no `y`; with `y`, rings mark the graphs below the threshold.

    Parameters
    ----------
    distances : array-like of shape (n_graphs, n_graphs)
        The result of ``detector.pairwise_distances``.
    scores, offset, y, ax
        As in :func:`plot_scores`. Without an offset there are no verdicts.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If `distances` is not a matrix of distances, `scores` or `y` have another length, there are
        fewer than 3 graphs, or all graphs are alike.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skgraphkde.plots import plot_map
    >>> ax = plot_map([[0, 3, 4], [3, 0, 5], [4, 5, 0]], [2.0, 1.5, -8.0], offset=0.0)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['normal', 'anomaly']
    >>> plt.close(ax.figure)
    """
    D = check_array(distances, dtype=float, input_name="distances")
    if D.shape[0] != D.shape[1] or not np.allclose(D, D.T) or (D < 0).any():
        raise ValueError("distances must be a symmetric matrix without negative numbers")
    if len(D) < 3 or not D.any():
        raise ValueError(f"a map needs at least 3 graphs, not all alike, got {len(D)}")
    scores = _check_numbers(scores, "scores")
    check_consistent_length(D, scores)
    y = _check_target(y, scores)
    scaling = KernelPCA(2, kernel="precomputed", eigen_solver="arpack", random_state=0)
    left, up = smacof(D, init=scaling.fit_transform(-0.5 * D**2), n_init=1)[0].T
    classes = y if y is not None or offset is None else np.where(scores < offset, -1, 1)
    values = np.maximum(scores, lowest_shown(scores, offset, y))
    # The lowest score is not white.
    shades: Style = {
        "cmap": "Greys",
        "vmin": values.min() - 0.3 * np.ptp(values),
        "vmax": values.max(),
    }
    ax = _open_axes(ax)
    for rows, label, color, marker in _groups(classes, len(D)):
        points = ax.scatter(
            left[rows], up[rows], c=values[rows], s=36, label=label, marker=marker,
            edgecolor=color, linewidth=1.5, **shades,
        )  # fmt: skip
    ax.figure.colorbar(points, ax=ax, label="score")
    if y is not None and offset is not None:
        ax.scatter(
            left[scores < offset], up[scores < offset], s=90, label="below the threshold",
            facecolor="none", edgecolor="black", linewidth=0.8,
        )  # fmt: skip
    ax.set_aspect("equal", adjustable="datalim")
    ax.axis("off")
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3)
    return ax


def lowest_shown(scores: np.ndarray, offset: float | None, y: np.ndarray | None) -> float:
    """The score below which a picture makes no difference, see :func:`plot_scores`."""
    normal = scores if y is None or not np.any(y == 1) else scores[y == 1]
    middle = np.median(normal)
    highest = scores.max()
    low = middle if offset is None else min(middle, offset)
    return low - 4 * (highest - middle) if highest > middle else -np.inf


# -- one graph -------------------------------------------------------------------------------------


def plot_graph(
    graph: Any,
    values: Any = None,
    *,
    radius: int | None = None,
    ax: Axes | None = None,
    vmax: float | None = None,
    colorbar: bool = True,
    marked: Sequence[tuple[int, int]] = (),
    outlined: Mapping[int, str] = MappingProxyType({}),
    edge_categories: Sequence[Hashable] = (),
    category: str | None = None,
) -> ScalarMappable | None:
    """Draw one graph, its nodes colored by their contributions, or by how new they are.

    Nodes have their categories on them, or below them if they are long. Edges are drawn with their
    directions, categories, and weights as widths. A graph whose nodes are elements and whose edges
    are bonds is drawn as chemists do, if RDKit is installed. Of another graph of more than 60
    nodes, 40 with long categories, a part of 24 is drawn: that around the marked edges and outlined
    nodes, all of which are drawn, or around the node that matters most, without values that with
    the most neighbors. A directed graph whose nodes follow each other in one order is drawn in
    rows, from left to right; dots stand for nodes that are left out. A category below a node is
    left out where it would cover another, or an outlined node.

    Parameters
    ----------
    graph : graph, or GraphBatch of one
        In any format that :func:`skgraphkde.read_graphs` takes; ``detector.read([graph])`` reads it
        as a detector does.
    values : array-like of shape (n_nodes,), default=None
        Without `radius`, contributions to a distance, such as those of
        :func:`skgraphkde.explanation.node_contributions`: red nodes make the graph unusual, blue
        ones make it like known graphs. None: all nodes are white.
    radius : int, default=None
        If `values` are those of :func:`skgraphkde.explanation.novel_nodes`, the largest radius. The
        darker a node, the less of its surroundings it takes to be unlike every known graph; white
        nodes are known up to this radius.
    ax : matplotlib Axes, default=None
        None opens a new figure.
    vmax : float, default=None
        Colors of contributions range from -vmax to vmax. None takes the largest absolute one.
    colorbar : bool, default=True
        Draw a color bar, if there are values.
    marked : sequence of (int, int), default=()
        Edges to mark, by the numbers of their nodes, such as those of
        :func:`skgraphkde.explanation.explain`.
    outlined : mapping of int to str, default={}
        Nodes with a ring around them, and what is written on each, or above its category, such as a
        number.
    edge_categories : sequence, default=()
        Categories that have the first looks, so that several pictures agree.
    category : str, default=None
        The category of nodes that is written. None: "label", or else the first one.

    Returns
    -------
    matplotlib ScalarMappable or None
        The colors, of which ``figure.colorbar`` makes one bar for several axes; None without
        values.

    Raises
    ------
    ValueError
        If `graph` is a batch of several graphs, there is not one finite value per node, or
        a mark is at no node or edge of the graph.

    Examples
    --------
    Two graphs side by side, with the same range of colors:

    >>> import matplotlib.pyplot as plt
    >>> import networkx as nx
    >>> from skgraphkde.plots import plot_graph
    >>> figure, axes = plt.subplots(1, 2, layout="constrained")
    >>> for ax, contributions in zip(axes, [[0.1, 0.0, -0.2], [0.3, 0.1, 0.1]]):
    ...     colors = plot_graph(nx.path_graph(3), contributions, vmax=0.3, colorbar=False, ax=ax)
    >>> bar = figure.colorbar(colors, ax=axes, shrink=0.6)
    >>> plt.close(figure)
    """
    batch = read_graphs([graph])
    if len(batch) != 1:
        raise ValueError(f"a picture shows one graph, got a GraphBatch of {len(batch)}")
    centers = list(dict.fromkeys([*outlined, *np.ravel(marked).astype(int).tolist()]))
    for node in centers:
        if not 0 <= node < batch.n_nodes:
            raise ValueError(f"node {node} is marked, but the graph has {batch.n_nodes}")
    if not all(batch.underlying[u, v] for u, v in marked):
        raise ValueError(f"one of the marked edges is none of the graph: {list(marked)}")
    importance = batch.degrees.astype(float)
    mappable = None
    colors = None
    if values is not None:
        values = _check_numbers(values, "values")
        if len(values) != batch.n_nodes:
            raise ValueError(
                f"got {len(values)} values for a graph of {batch.n_nodes} nodes: pass one per "
                "node, in the order of the nodes"
            )
        importance = values if radius is None else -values
        mappable = shades(values, radius, vmax)
        colors = mappable.to_rgba(values)
    ax = _open_axes(ax)
    if is_molecule(batch):
        from matplotlib.image import imread
        from rdkit.Chem.Draw.rdMolDraw2D import MolDraw2DCairo

        width, height = np.multiply(ax.bbox.size, INCH / ax.figure.dpi)
        drawer = MolDraw2DCairo(int(width), int(height))
        png = draw_molecule(drawer, batch, colors, marked, outlined)
        ax.imshow(imread(io.BytesIO(png)), interpolation="none")
    else:
        plan = plan_graph(batch, importance, centers, marked, edge_categories, category)
        below = _draw_legend(ax, plan)
        _draw_part(ax, plan, colors, marked, outlined, below)
    ax.axis("off")
    if mappable is not None and colorbar:
        label = "contribution to the squared distance"
        ticks = None
        if radius is not None:
            label = f"new from this radius ({radius + 1}: known)"
            ticks = range(radius + 2)
        ax.figure.colorbar(mappable, ax=ax, shrink=0.8, label=label, ticks=ticks)
    return mappable


def shades(values: np.ndarray, radius: int | None, vmax: float | None) -> ScalarMappable:
    """Colors of contributions, or of radii; black text is legible on all of them."""
    from matplotlib import cm, colormaps, colors

    if radius is None:
        vmax = vmax or np.abs(values).max() or 1.0
        hues = colormaps["RdBu_r"](np.linspace(0.18, 0.82, 256))
        hues[127:129] = 1  # 0 is white
        cmap = colors.ListedColormap(hues)
        return cm.ScalarMappable(colors.Normalize(-vmax, vmax), cmap)
    reds = colormaps["YlOrRd"](np.linspace(0.7, 0.15, radius + 1))
    norm = colors.BoundaryNorm(np.arange(radius + 3) - 0.5, radius + 2)
    return cm.ScalarMappable(norm, colors.ListedColormap([*reds, "white"]))


def node_kinds(batch: GraphBatch, category: str | None = None) -> list[str]:
    """A category of each node in words: "label", or else the first one; [] if there are none."""
    if batch.labels is None:
        return []
    values = batch.values_by_category("node")[category_of_kinds(batch, category)]
    words = [_in_words(value) for value in values]
    return [words[code] for code in batch.labels]


def category_of_kinds(batch: GraphBatch, category: str | None = None) -> str:
    """The category by which :func:`node_kinds` tells nodes apart, of graphs that have one."""
    names = list(batch.values_by_category("node"))
    wanted = category or "label"
    return wanted if wanted in names else names[0]


# -- molecules -------------------------------------------------------------------------------------


def is_molecule(batch: GraphBatch) -> bool:
    """True if nodes are elements, edges are bonds, and RDKit is installed."""
    has_data = batch.labels is not None and batch.edge_labels is not None
    if not has_data or batch.directed or importlib.util.find_spec("rdkit") is None:
        return False
    from rdkit import Chem

    table = Chem.GetPeriodicTable()
    elements = {table.GetElementSymbol(number) for number in range(1, 119)}
    bonds = {_in_words(name).upper() for name in batch.edge_label_names}
    return elements.issuperset(node_kinds(batch)) and bonds <= Chem.BondType.names.keys()


def has_hydrogens(batch: GraphBatch) -> bool:
    """True if atoms have charges and hydrogens, as those of ``schema="molecule"``."""
    values = batch.values_by_category("node")
    numbers = [x for name in ("charge", "hydrogens") for x in values.get(name, (None,))]
    return all(isinstance(x, int) for x in numbers)


def smiles_of(batch: GraphBatch) -> str:
    """The SMILES of a molecule, without stereochemistry; "" for other graphs."""
    if not is_molecule(batch) or not has_hydrogens(batch):
        return ""
    from rdkit import Chem

    return Chem.MolToSmiles(molecule_of(batch))


def molecule_of(batch: GraphBatch) -> Any:
    """The molecule of RDKit, not sanitized; with charges and hydrogens, if atoms have them.

    Parameters
    ----------
    batch : GraphBatch
        A molecule, by :func:`is_molecule`.
    """
    from rdkit import Chem

    molecule = Chem.RWMol()
    values = batch.values_by_category("node")
    codes = np.asarray(batch.labels).tolist()
    are_complete = has_hydrogens(batch)
    for kind, code in zip(node_kinds(batch), codes, strict=True):
        atom = Chem.Atom(kind)
        atom.SetNoImplicit(True)
        if are_complete:
            atom.SetFormalCharge(values["charge"][code])
            atom.SetNumExplicitHs(values["hydrogens"][code])
        molecule.AddAtom(atom)
    arcs = zip(batch.source_of_arc.tolist(), batch.adjacency.indices.tolist(), strict=True)
    for (u, v), code in zip(arcs, np.asarray(batch.edge_labels), strict=True):
        if u < v and molecule.GetBondBetweenAtoms(u, v) is None:
            name = _in_words(batch.edge_label_names[code]).upper()
            molecule.AddBond(u, v, Chem.BondType.names[name])
            for end in (u, v) if name == "AROMATIC" else ():
                molecule.GetAtomWithIdx(end).SetIsAromatic(True)
    molecule.UpdatePropertyCache(strict=False)
    return molecule


def draw_molecule(
    drawer: Any,
    batch: GraphBatch,
    colors: np.ndarray | None,
    marked: Sequence[tuple[int, int]] = (),
    outlined: Mapping[int, str] = MappingProxyType({}),
) -> Any:
    """Draw a molecule by RDKit, as it is, without sanitizing.

    Parameters
    ----------
    drawer : rdkit.Chem.Draw.rdMolDraw2D.MolDraw2D
    batch : GraphBatch
        A molecule, by :func:`is_molecule`.
    colors : ndarray of shape (n_atoms, 4) or None
    marked, outlined
        As in :func:`plot_graph`.

    Returns
    -------
    str or bytes
        The picture in the format of the drawer.
    """
    from rdkit.Geometry import Point2D

    molecule = molecule_of(batch)
    options = drawer.drawOptions()
    options.prepareMolsBeforeDrawing = options.clearBackground = False
    options.fixedBondLength = BOND
    options.highlightBondWidthMultiplier = 16
    options.minFontSize = SMALLEST_LETTER
    options.padding = PADDING
    options.useBWAtomPalette()
    bonds = [molecule.GetBondBetweenAtoms(int(u), int(v)).GetIdx() for u, v in marked]
    shown = [] if colors is None else map(tuple, colors.tolist())
    of_atoms = {atom: color for atom, color in enumerate(shown) if min(color) < 1}
    of_bonds = dict.fromkeys(bonds, BOND_COLOR)
    drawer.DrawMolecule(molecule, of_atoms.keys(), bonds, of_atoms, of_bonds)
    drawer.SetFillPolys(False)
    drawer.SetColour((0, 0, 0))
    drawer.SetLineWidth(2)
    letters = drawer.FontSize()
    drawer.SetFontSize(max(0.7 * letters, SMALLEST_LETTER))
    places = np.array([tuple(drawer.GetDrawCoords(i)) for i in range(batch.n_nodes)])
    arcs = batch.adjacency.tocoo()
    kinds = node_kinds(batch)
    radii = {v: (0.35 + 0.3 * len(kinds[v])) * letters for v in outlined}
    taken = [places, (places[arcs.row] + places[arcs.col]) / 2]
    for node, text in outlined.items():
        drawer.DrawArc(Point2D(*places[node]), radii[node], 0, 360, True)
        beside = places[node] + (radii[node] + 0.25 * letters * (1 + len(text))) * AROUND
        rings = [places[v] + radius * AROUND for v, radius in radii.items() if v != node]
        free = beside[cdist(beside, np.vstack([*taken, *rings])).min(axis=1).argmax()]
        drawer.DrawString(text, Point2D(*free), 0, True)
        taken.append(free[np.newaxis])
    drawer.FinishDrawing()
    return drawer.GetDrawingText()


# -- other graphs ----------------------------------------------------------------------------------


class Plan(NamedTuple):
    """What a picture of a graph shows, and where."""

    positions: dict[int, np.ndarray]  # of the nodes that are drawn
    gaps: np.ndarray  # (n_gaps, 2), where nodes are left out
    edges: pd.DataFrame  # u, v, code of the category, and width in points
    looks: list[tuple[str, str, Any]]  # name, color and line style of each category
    labels: dict[int, str]  # of all nodes that are drawn, or of none
    title: str  # how many nodes are drawn, if these are not all
    directed: bool

    @property
    def are_long(self) -> bool:
        """True if labels are below nodes."""
        return max(map(len, self.labels.values()), default=0) > LONGEST_ON_NODE

    @property
    def legend(self) -> dict[str, tuple[str, Any]]:
        """Color and line style of the categories of the edges, by their names."""
        codes = np.unique(self.edges["code"])
        return {self.looks[code][0]: self.looks[code][1:] for code in codes if self.looks[code][0]}

    def diameter(self, outlined: Mapping[int, str], shorter: float) -> float:
        """Diameter of nodes, in points, in a picture whose shorter side has so many."""
        longest = 0
        if self.are_long or not self.labels:  # what is written on nodes
            longest = max(map(len, outlined.values()), default=0)
        least = SMALL_NODE if self.are_long else LARGEST_NODE
        return min(
            0.4 * shorter / np.sqrt(len(self.positions)), max(least, 0.7 * FONT * longest + 4)
        )


def plan_graph(
    batch: GraphBatch,
    importance: np.ndarray,
    centers: list[int],
    marked: Sequence[tuple[int, int]] = (),
    edge_categories: Sequence[Hashable] = (),
    category: str | None = None,
) -> Plan:
    """Choose the nodes that a picture of a graph shows, and their places.

    Parameters
    ----------
    batch : GraphBatch
        Of one graph.
    importance : ndarray of shape (n_nodes,)
        Of a large graph, a part is drawn that has important nodes.
    centers : list of int
        Nodes that are always drawn.
    marked, edge_categories, category
        As in :func:`plot_graph`.
    """
    kinds = node_kinds(batch, category)
    nodes = _nodes_to_draw(batch, kinds, importance, centers)
    edges = _edges_between(batch, nodes)
    positions, gaps = _rows(batch, nodes)
    if not positions:
        graph = nx.Graph()
        graph.add_nodes_from(nodes.tolist())
        graph.add_edges_from(edges[["u", "v"]].to_numpy().tolist())
        positions = _layout(graph)
    title = ""
    if len(nodes) < batch.n_nodes:
        around = " around what is marked" if centers else ""
        title = f"{len(nodes)} {batch.schema.words.nodes}{around}, of {batch.n_nodes}"
    labels = {node: kinds[node] for node in (*centers, *nodes.tolist()) if kinds}
    looks = _looks(batch, edge_categories, marked)
    return Plan(positions, gaps, edges, looks, labels, title, batch.directed)


def _nodes_to_draw(
    batch: GraphBatch, kinds: list[str], importance: np.ndarray, centers: list[int]
) -> np.ndarray:
    """All nodes; of a large graph those around some, or around the most important one."""
    are_long = max(map(len, kinds), default=0) > LONGEST_ON_NODE
    if batch.n_nodes <= (MAX_NODES_LONG if are_long else MAX_NODES):
        return np.arange(batch.n_nodes)
    around = centers or [int(np.argmax(importance))]
    steps = batch.steps_from(around)
    # Of nodes equally far, those that matter.
    order = np.lexsort((-importance, steps))[: max(PART, len(around))]
    return np.sort(order[np.isfinite(steps[order])])


def _draw_part(
    ax: Axes,
    plan: Plan,
    colors: np.ndarray | None,
    marked: Sequence[tuple[int, int]],
    outlined: Mapping[int, str],
    below: float,
) -> None:
    """Draw some nodes and the edges between them by networkx, over a share that is left free."""
    positions, gaps, edges, looks, labels, _, directed = plan
    nodes = np.array(list(positions))
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_nodes_from(positions)
    graph.add_edges_from(edges[["u", "v"]].to_numpy().tolist())
    are_long = plan.are_long
    on_nodes = are_long or not labels
    diameter = plan.diameter(outlined, np.min(ax.bbox.size) * 72 / ax.figure.dpi)
    if len(marked):
        for width, color in ((9, VERMILION), (6.5, PALE)):
            broad = {"width": width, "edge_color": color, "arrows": False}
            nx.draw_networkx_edges(graph, positions, list(marked), ax=ax, **broad).set_zorder(0.5)
    _draw_edges(ax, graph, edges, looks, positions, diameter)
    has_ring = np.isin(nodes, list(outlined))
    circles = nx.draw_networkx_nodes(
        graph, positions, ax=ax, node_size=diameter**2,
        node_color="white" if colors is None else colors[nodes],
        edgecolors=np.where(has_ring, "black", "#555555"),
        linewidths=np.where(has_ring, 2.2, 0.6),
    )  # fmt: skip
    circles.set_clip_on(False)  # axes that are fitted to the aspect cut through nodes
    ax.margins(0.12)
    ax.autoscale_view()  # labels are where they will be
    low, high = ax.get_ylim()
    ax.set_ylim(high - (high - low) / (1 - below), high)
    for gap in gaps:
        _write(ax, "…", gap, 0.0, va="center", fontsize=2 * FONT)
    above, side = (0.0, "center") if on_nodes else (diameter / 2 + 2, "bottom")
    written = []
    for node, text in outlined.items():
        is_dark = on_nodes and colors is not None and colors[node, :3] @ LUMA < DARK
        number = _write(
            ax, text, positions[node], above, va=side, fontweight="bold", fontsize=FONT,
            color="white" if is_dark else "black",
        )  # fmt: skip
        written.append(number.get_window_extent().padded(4))  # with the circle
    _write_labels(ax, labels, positions, diameter, are_long, written)


def _edges_between(batch: GraphBatch, nodes: np.ndarray) -> pd.DataFrame:
    """Edges between some nodes, undirected ones once: u, v, code of the category, and width."""
    arcs = batch.adjacency.tocoo()
    codes = 0 if batch.edge_labels is None else batch.edge_labels
    edges = pd.DataFrame({"u": arcs.row, "v": arcs.col, "code": codes, "weight": arcs.data})
    is_drawn = edges["u"].isin(nodes) & edges["v"].isin(nodes)
    if not batch.directed:
        is_drawn &= edges["u"] < edges["v"]
    edges = edges[is_drawn].groupby(["u", "v", "code"], as_index=False)["weight"].sum()
    edges["width"] = min(1.5, 4 * len(nodes) / max(len(edges), 1))  # many edges are thin
    if np.any(arcs.data != arcs.data[:1]):
        edges["width"] = 0.1 + 3.9 * edges["weight"] / edges["weight"].max()
    return edges


def _looks(
    batch: GraphBatch, categories: Sequence[Hashable], marked: Sequence[tuple[int, int]]
) -> list[tuple[str, str, Any]]:
    """Name, color and line style of each category of the batch's edges; "" is in no legend."""
    if batch.edge_labels is None:
        return [("", GRAY, "solid")]
    names = batch.edge_label_names
    ends = {frozenset(edge) for edge in marked}
    arcs = zip(batch.source_of_arc.tolist(), batch.adjacency.indices.tolist(), strict=True)
    named = [
        names[code]
        for arc, code in zip(arcs, batch.edge_labels, strict=True)
        if frozenset(arc) in ends
    ]
    first = list(dict.fromkeys([*categories, *names]))[: len(LOOKS)]
    order = dict.fromkeys([*first, *named])
    looks = zip(order, LOOKS + MARKED_LOOKS, strict=False)
    by_name = {name: (_edge_words(batch.schema, name), *look) for name, look in looks}
    return [by_name.get(name, OTHERS) for name in names]


def _rows(batch: GraphBatch, nodes: np.ndarray) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """Positions in rows of nodes that follow each other in one order, and of what is left out."""
    order: list[int] = []
    if batch.directed:
        arcs = batch.adjacency.tocoo()
        order = _sequence(nx.DiGraph(zip(arcs.row.tolist(), arcs.col.tolist(), strict=True)))
    if not order or len(order) < batch.n_nodes:
        return {}, np.empty((0, 2))
    drawn = np.flatnonzero(np.isin(order, nodes))
    place = np.arange(len(drawn)) + np.cumsum(np.diff(drawn, prepend=drawn[0]) > 1)
    places = np.arange(place[-1] + 1)
    row, column = np.divmod(places, min(IN_ROW, int(np.ceil(np.sqrt(len(places))))))
    down = row + LOWER * (column % 2)  # lines that pass a node by do not cross it
    positions = np.column_stack([column, -down]).astype(float)
    of_node = dict(zip(np.array(order)[drawn].tolist(), positions[place], strict=True))
    return of_node, positions[~np.isin(places, place)]


def _sequence(graph: nx.DiGraph) -> list[int]:
    """The nodes in an order in which each is linked to the next one; [] if there is none."""
    order = list(nx.topological_sort(graph)) if nx.is_directed_acyclic_graph(graph) else []
    return order if all(graph.has_edge(*pair) for pair in pairwise(order)) else []


def _layout(graph: nx.Graph) -> dict[int, np.ndarray]:
    """Positions of the nodes, by their distances, the same in each call."""
    apart = {u: dict.fromkeys(graph, 0.6 * np.sqrt(len(graph)) + 1) for u in graph}
    positions: dict[int, np.ndarray] = {}
    # Powers of distances leave more room between the branches of what is nearly a tree.
    has_branches = graph.number_of_edges() <= MOST_EDGES_OF_TREE * len(graph)
    for power in (1.0, 0.7)[: 1 + has_branches]:
        for u, steps in nx.all_pairs_shortest_path_length(graph):
            apart[u] |= {v: d**power for v, d in steps.items()}
        positions = nx.kamada_kawai_layout(graph, dist=apart, pos=positions or None)
    return positions


def _draw_edges(
    ax: Axes,
    graph: nx.MultiGraph,
    edges: pd.DataFrame,
    looks: list[tuple[str, str, Any]],
    positions: dict[int, Any],
    diameter: float,
) -> None:
    """Draw edges; arrows, and edges between the same two nodes, are bent apart."""
    arrows: dict[str, Any] = {"arrows": False}
    if graph.is_directed() or edges.duplicated(["u", "v"]).any():
        arrows = {
            "arrows": True,
            "arrowstyle": "-|>" if graph.is_directed() else "-",
            "arrowsize": (0.7 * diameter + edges["width"]).tolist(),
            "connectionstyle": BENDS,
        }
    lines = nx.draw_networkx_edges(
        graph, positions, edges[["u", "v"]].to_numpy().tolist(), ax=ax, node_size=diameter**2,
        width=edges["width"].tolist(), style=[looks[code][2] for code in edges["code"]],
        edge_color=[looks[code][1] for code in edges["code"]], **arrows,
    )  # fmt: skip
    for line in np.ravel(lines):
        line.set(clip_on=False, capstyle="butt")  # round ends would fill the gaps of dots


def _write_labels(
    ax: Axes,
    labels: dict[int, str],
    positions: dict[int, Any],
    diameter: float,
    are_long: bool,
    written: list[Any],
) -> None:
    """Write labels on the nodes, if they can be read, or below them, over the edges.

    Where labels below nodes would cover each other, the first of them is written, and none where it
    would cover what is written before, in boxes that are given.
    """
    style: Style = {"va": "center"}
    font = min(8.0, 0.57 * diameter)
    aside = 0.0
    if are_long:
        box = {"facecolor": GROUND, "alpha": 0.7, "edgecolor": "none", "pad": 0.3}
        font = FONT
        aside = -diameter / 2 - 3
        style = {"va": "top", "bbox": box}
    if font >= SMALLEST_FONT:
        for node, label in labels.items():
            lines = textwrap.wrap(label, CHARACTERS, max_lines=2, placeholder="…")
            text = _write(ax, "\n".join(lines), positions[node], aside, fontsize=font, **style)
            box = text.get_window_extent().expanded(1, 1.2)
            if are_long and box.count_overlaps(written):
                text.remove()
            else:
                written.append(box)


def _write(ax: Any, text: str, position: np.ndarray, above: float, **style: Any) -> Any:
    """Write text so many points above a position; dollars are not mathematics."""
    style |= {"ha": "center", "textcoords": "offset points", "parse_math": False}
    return ax.annotate(text, position, (0.0, above), annotation_clip=False, zorder=3, **style)


def _draw_legend(ax: Axes, plan: Plan) -> float:
    """Draw the categories of edges below the graph, and how many of its nodes are shown.

    Returns the share of the height of the axes that this takes.
    """
    from matplotlib.lines import Line2D

    looks = plan.legend.items()
    lines = {name: Line2D([], [], color=color, linestyle=style) for name, (color, style) in looks}
    if not (lines or plan.title):
        return 0.0
    legend = ax.legend(
        lines.values(), lines.keys(), title=plan.title or None, loc="lower center", frameon=False,
        bbox_to_anchor=(0.5, 0), borderaxespad=0.4, fontsize=7, title_fontsize=8, handlelength=1.8,
        columnspacing=1.2, ncols=max(1, 3 - max(map(len, lines), default=0) // LONG_NAME),
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)
    return float(min(legend.get_window_extent().height / ax.bbox.height, 0.5))


# -- common ----------------------------------------------------------------------------------------


def _in_words(name: Hashable) -> str:
    """A category in words; a missing one is "?"."""
    values = name if isinstance(name, tuple) else (name,)
    return printable(" ".join("?" if value is None else str(value) for value in values))


def _edge_words(schema: FittedSchema, value: Any) -> str:
    """The categories of an edge in words: "status=paid, no channel", or its label alone."""
    values = value if len(schema.edge_categories) > 1 else (value,)
    return shown(", ".join(map(category_text, schema.edge_categories, values)), LONGEST_NAME)


def _open_axes(ax: Axes | None) -> Axes:
    """The caller's axes, or those of a new figure if `ax` is None."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(5, 4), layout="constrained")[1]


def _groups(y: np.ndarray | None, n: int) -> list[tuple[np.ndarray, str, str, str]]:
    """(mask, name, color, marker) of normal graphs and of anomalies, or of all without `y`."""
    if y is None:
        return [(np.ones(n, dtype=bool), "graphs", BLUE, "o")]
    return [(y == 1, "normal", BLUE, "o"), (y == -1, "anomaly", VERMILION, "^")]


def _check_numbers(values: Any, name: str) -> np.ndarray:
    """The values as a flat, nonempty array of finite numbers."""
    return column_or_1d(check_array(values, ensure_2d=False, dtype=float, input_name=name))


def _check_target(y: Any, scores: np.ndarray) -> np.ndarray | None:
    """The target as an array of 1 and -1, as long as `scores`; None without a target."""
    check_consistent_length(scores, y)
    if y is None or np.isin(y, (1, -1)).all():
        return None if y is None else np.asarray(y)
    raise ValueError(f"y must be 1 for normal graphs and -1 for anomalies, got {np.unique(y)}")
