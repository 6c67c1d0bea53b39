"""Drawing one graph: nodes in colors, with their labels if these are legible."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.readers import read_graphs

# Largest graph that is laid out by all of its distances, and whose node labels are legible.
SMALL_GRAPH = 100


def draw_graph(ax: Any, batch: GraphBatch, is_dark: np.ndarray, **colors: Any) -> tuple[Any, Any]:
    """Draw a batch of one graph.

    Parameters
    ----------
    ax : matplotlib Axes
    batch : GraphBatch
    is_dark : ndarray of shape (n_nodes,), bool
        The nodes whose labels are to be white.
    **colors : dict
        For networkx: "node_color", "cmap", "vmin", "vmax".

    Returns
    -------
    nodes, edges : matplotlib PathCollection, LineCollection
    """
    graph = batch.to_networkx()[0]
    positions = _layout(graph)
    edges = nx.draw_networkx_edges(graph, positions, ax=ax, edge_color="#999999", width=1.5)
    nodes = nx.draw_networkx_nodes(
        graph, positions, ax=ax, edgecolors="#555555", linewidths=0.6,
        node_size=min(190, 9000 / len(graph)), **colors,
    )  # fmt: skip
    labels = nx.get_node_attributes(graph, "label") if len(graph) <= SMALL_GRAPH else {}
    for node, label in labels.items():
        color = "white" if is_dark[node] else "black"
        style = {"ha": "center", "va": "center", "fontsize": 8, "color": color}
        ax.text(*positions[node], str(label), **style)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    ax.axis("off")
    return nodes, edges


def one_graph(graph: Any) -> GraphBatch:
    """A graph in any format as a batch of one, or a ValueError."""
    batch = read_graphs([graph])
    if len(batch) != 1:
        raise ValueError(f"a picture shows one graph, got a GraphBatch of {len(batch)}")
    return batch


def _layout(graph: nx.Graph) -> dict:
    """The positions of the nodes, the same each time."""
    if len(graph) <= SMALL_GRAPH and nx.is_connected(graph):
        return nx.kamada_kawai_layout(graph)
    return nx.spring_layout(graph, seed=0)
