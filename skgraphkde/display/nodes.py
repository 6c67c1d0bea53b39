"""A graph with colored nodes: a graph and numbers for its nodes -> displays of both kinds.

Contributions of nodes to a distance, and radii from which their neighborhoods are new.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skgraphkde.display.common import check_numbers, open_axes, shades
from skgraphkde.display.graph_drawing import check_marks, draw_graph, one_graph
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.inspection import node_contributions, novel_nodes
from skgraphkde.views import Novelty


class _NodesDisplay:
    """One graph on axes, with a color bar for its nodes."""

    graph: GraphBatch

    def _draw(
        self, ax: Any, values: np.ndarray | None, *, marks: dict[str, Any], **options: Any
    ) -> None:
        check_marks(self.graph, **marks)
        self.ax_, self.figure_ = open_axes(ax)
        drawing = draw_graph(self.ax_, self.graph, values, **marks, **options)
        self.nodes_, self.edges_, self.shown_ = drawing

    def _color_bar(self, label: str, **options: Any) -> Any:
        return self.figure_.colorbar(self.nodes_, ax=self.ax_, shrink=0.8, label=label, **options)


@dataclass(eq=False, repr=False)
class NodeContributionsDisplay(_NodesDisplay):
    """A graph, its nodes colored by their contributions to the distance to the nearest references.

    Red nodes make the graph unusual, blue nodes make it similar to the references, and white nodes
    do neither; see :func:`skgraphkde.inspection.node_contributions`. Without contributions, all
    nodes are white. Nodes have their categories on them, or below them if they are long; the long
    ones of more than 40 nodes are left out. Edges are drawn with their directions, their
    categories, and weights as widths. Bonds that are called single, double, triple and aromatic
    look as chemists draw them. Of a graph of more than 60 nodes, 40 with long categories, a part is
    drawn: that around the marked edges and outlined nodes, or around the largest contribution.

    Parameters
    ----------
    graph : GraphBatch
        A batch of one graph.
    contributions : ndarray of shape (n_nodes,), default=None
        In the order of the nodes. None draws the graph without colors.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
    shown_ : ndarray of int
        The numbers of the nodes that are drawn, in ascending order.
    nodes_ : matplotlib PathCollection
        In the order of `shown_`. A color bar for several axes takes this.
    edges_ : matplotlib LineCollection or list of matplotlib FancyArrowPatch
        Lines, or arrows of a directed graph; [] without edges.

    Examples
    --------
    Two graphs side by side, with the same range of colors:

    >>> import matplotlib.pyplot as plt
    >>> import networkx as nx
    >>> from skgraphkde.display import NodeContributionsDisplay
    >>> figure, axes = plt.subplots(1, 2, layout="constrained")
    >>> for ax, contributions in zip(axes, [[0.1, 0.0, -0.2], [0.3, 0.1, 0.1]]):
    ...     display = NodeContributionsDisplay.from_predictions(
    ...         nx.path_graph(3), contributions, vmax=0.3, colorbar=False, ax=ax
    ...     )
    >>> bar = figure.colorbar(display.nodes_, ax=axes, shrink=0.6)
    >>> plt.close(figure)
    """

    graph: GraphBatch
    contributions: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls, detector: Any, graph: Any, *, k: int = 5, view: int = 0, **options: Any
    ) -> Self:
        """Draw one graph with the contributions of its nodes under a fitted `detector`.

        They are contributions to the distance to the `k` nearest references, in the first distance
        or in the one that `view` names.
        """
        batch = one_graph(graph, detector.read)
        contributions = node_contributions(detector, batch, k, view=view)[0]
        return cls.from_predictions(batch, contributions, **options)

    @classmethod
    def from_predictions(cls, graph: Any, contributions: Any = None, **options: Any) -> Self:
        """Draw one graph, in any format that :func:`skgraphkde.read_graphs` takes.

        Raises
        ------
        ValueError
            If `graph` is a batch of several graphs, or `contributions` does not hold one finite
            number per node.
        """
        batch = one_graph(graph)
        if contributions is not None:
            contributions = check_numbers(contributions, "contributions")
            if len(contributions) != batch.n_nodes:
                raise ValueError(
                    f"got {len(contributions)} contributions for a graph of {batch.n_nodes} nodes: "
                    "pass one per node, in the order of the nodes"
                )
        return cls(batch, contributions).plot(**options)

    def plot(
        self,
        ax: Any = None,
        *,
        vmax: float | None = None,
        colorbar: bool = True,
        legend: bool = True,
        **marks: Any,
    ) -> Self:
        """Draw the graph.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None opens a new figure.
        vmax : float, default=None
            Colors range from -vmax to vmax. None takes the largest absolute contribution.
        colorbar : bool, default=True
            Draw a color bar. There is none without contributions.
        legend : bool, default=True
            Draw a legend below the graph: categories of edges, and the part of a large graph that
            is shown.
        **marks
            Nodes and edges to point at, such as those of :func:`skgraphkde.inspection.explain`:
            "marked", a sequence of (int, int), edges by the numbers of their nodes; "outlined", a
            sequence of int, nodes with a ring around them; "numbered", a sequence of int, nodes
            with 1, 2, ... beside them; "names", names of the nodes; and "edge_categories", a
            sequence, those that have the first styles, so that pictures agree.
        """
        from matplotlib.colors import ListedColormap

        colors: dict[str, Any] = {}
        if self.contributions is not None:
            vmax = vmax or np.abs(self.contributions).max() or 1.0
            colors = {"node_color": self.contributions, "vmin": -vmax, "vmax": vmax}
            colors["cmap"] = ListedColormap(shades("RdBu_r", 0.18, 0.82))
        self._draw(ax, self.contributions, legend=legend, marks=marks, **colors)
        if colorbar and colors:
            self._color_bar("contribution to the squared distance")
        return self


@dataclass(eq=False, repr=False)
class NovelNodesDisplay(_NodesDisplay):
    """A graph, its nodes colored by the smallest radius at which their neighborhood is new.

    The darker a node, the less of its surroundings it takes to be unlike every training graph; see
    :func:`skgraphkde.inspection.novel_nodes`. White nodes are known up to the largest radius.
    Categories, directions and weights are drawn as in :class:`NodeContributionsDisplay`, and of a
    large graph the part around the darkest node.

    Parameters
    ----------
    graph : GraphBatch
        A batch of one graph.
    new_from : ndarray of shape (n_nodes,), int
        In the order of the nodes; ``radius + 1`` for known ones.
    radius : int
        The largest radius.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
    shown_ : ndarray of int
        The numbers of the nodes that are drawn, in ascending order.
    nodes_ : matplotlib PathCollection
        In the order of `shown_`. A color bar for several axes takes this.
    edges_ : matplotlib LineCollection or list of matplotlib FancyArrowPatch
        Lines, or arrows of a directed graph; [] without edges.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.display import NovelNodesDisplay
    >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(20, 40)])
    >>> display = NovelNodesDisplay.from_estimator(detector, nx.lollipop_graph(3, 12))
    >>> display.new_from.tolist()
    [1, 1, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 0]
    >>> plt.close(display.figure_)
    """

    graph: GraphBatch
    new_from: np.ndarray
    radius: int

    @classmethod
    def from_estimator(cls, detector: Any, graph: Any, **options: Any) -> Self:
        """Draw one graph with the nodes that are new to a fitted `detector`."""
        batch = one_graph(graph, detector.read)
        new_from = novel_nodes(detector, batch)[0]
        return cls.from_predictions(
            batch, new_from, detector.model_.first(Novelty).radius, **options
        )

    @classmethod
    def from_predictions(cls, graph: Any, new_from: Any, radius: int, **options: Any) -> Self:
        """Draw one graph, in any format that :func:`skgraphkde.read_graphs` takes.

        Raises
        ------
        ValueError
            If `graph` is a batch of several graphs, or `new_from` does not hold one number per node
            between 0 and ``radius + 1``.
        """
        batch = one_graph(graph)
        numbers = check_numbers(new_from, "new_from")
        if len(numbers) != batch.n_nodes or not ((numbers >= 0) & (numbers <= radius + 1)).all():
            raise ValueError(
                f"new_from must have a number between 0 and {radius + 1} for each of "
                f"{batch.n_nodes} nodes, in the order of the nodes"
            )
        return cls(batch, numbers.astype(int), radius).plot(**options)

    def plot(
        self, ax: Any = None, *, colorbar: bool = True, legend: bool = True, **marks: Any
    ) -> Self:
        """Draw the graph.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None opens a new figure.
        colorbar : bool, default=True
            Draw a color bar of the radii.
        legend, **marks
            As in :class:`NodeContributionsDisplay`.
        """
        from matplotlib.colors import BoundaryNorm, ListedColormap

        n = self.radius + 2
        cmap = ListedColormap([*shades("YlOrRd", 0.7, 0.15, n - 1), "white"])
        norm = BoundaryNorm(np.arange(n + 1) - 0.5, n)
        colors = cmap(norm(self.new_from))
        self._draw(ax, -self.new_from, legend=legend, marks=marks, node_color=colors)
        self.nodes_.set(cmap=cmap, norm=norm)
        if colorbar:
            bar = self._color_bar("new from this radius", ticks=range(n))
            bar.ax.set_yticklabels([*map(str, range(n - 1)), "known"])
        return self
