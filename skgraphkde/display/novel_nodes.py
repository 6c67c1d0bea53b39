"""A graph with its novel nodes: a graph and radii -> NovelNodesDisplay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skgraphkde.display.common import check_numbers, open_axes
from skgraphkde.display.graph_drawing import check_marks, draw_graph, one_graph
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.inspection import novel_nodes
from skgraphkde.views import Novelty


@dataclass(eq=False, repr=False)
class NovelNodesDisplay:
    """A graph, its nodes colored by the smallest radius at which their neighborhood is new.

    The darker a node, the less of its surroundings it takes to be unlike every training graph; see
    :func:`skgraphkde.inspection.novel_nodes`. White nodes are known up to the largest radius.
    Categories, directions and weights are drawn as in :class:`NodeContributionsDisplay`, and of a
    graph of more than 60 nodes the 60 around the darkest one.

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
        check_marks(self.graph, **marks)
        self.ax_, self.figure_ = open_axes(ax)
        from matplotlib import colormaps
        from matplotlib.colors import BoundaryNorm, ListedColormap

        n = self.radius + 2
        shades = colormaps["YlOrRd"](np.linspace(0.95, 0.2, n - 1))
        cmap = ListedColormap([*shades, "white"])
        norm = BoundaryNorm(np.arange(n + 1) - 0.5, n)
        colors = cmap(norm(self.new_from))
        self.nodes_, self.edges_, self.shown_ = draw_graph(
            self.ax_, self.graph, -self.new_from, legend=legend, **marks, node_color=colors
        )
        self.nodes_.set(cmap=cmap, norm=norm)
        if colorbar:
            bar = self.figure_.colorbar(
                self.nodes_, ax=self.ax_, shrink=0.8, ticks=range(n), label="new from this radius"
            )
            bar.ax.set_yticklabels([*map(str, range(n - 1)), "known"])
        return self
