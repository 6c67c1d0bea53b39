"""A graph with colored nodes: a graph and numbers for its nodes -> NodeContributionsDisplay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skgraphkde.display.common import check_numbers, open_axes
from skgraphkde.display.graph_drawing import check_marks, draw_graph, one_graph
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.inspection import node_contributions


@dataclass(eq=False, repr=False)
class NodeContributionsDisplay:
    """A graph, its nodes colored by their contributions to the distance to the nearest references.

    Red nodes make the graph unusual, blue nodes make it similar to the references, and white nodes
    do neither; see :func:`skgraphkde.inspection.node_contributions`. Without contributions, all
    nodes are white. Nodes carry their categories, shortened if they are long, and edges are drawn
    with their directions, their categories, and weights as widths. Bonds that are called single,
    double, triple and aromatic look as chemists draw them. Of a graph of more than 60 nodes, 60 are
    drawn: those around the marked edges and outlined nodes, or around the largest contribution.

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
            Draw a legend below the graph: categories of edges, labels that were shortened, and the
            part of a large graph that is shown.
        **marks
            Nodes and edges to point at, such as those of :func:`skgraphkde.inspection.explain`:
            "marked", a sequence of (int, int), edges by the numbers of their nodes; "outlined", a
            sequence of int, nodes with a ring around them; "names", names of the nodes; and
            "edge_categories", a sequence, those that have the first styles, so that pictures agree.
        """
        check_marks(self.graph, **marks)
        self.ax_, self.figure_ = open_axes(ax)
        colors: dict[str, Any] = {}
        if self.contributions is not None:
            sizes = np.abs(self.contributions)
            vmax = vmax or sizes.max() or 1.0
            colors = {
                "node_color": self.contributions,
                "vmin": -vmax,
                "vmax": vmax,
                "cmap": "RdBu_r",
            }
        self.nodes_, self.edges_, self.shown_ = draw_graph(
            self.ax_, self.graph, self.contributions, legend=legend, **marks, **colors
        )
        if colorbar and self.contributions is not None:
            label = "contribution to the squared distance"
            self.figure_.colorbar(self.nodes_, ax=self.ax_, shrink=0.8, label=label)
        return self
