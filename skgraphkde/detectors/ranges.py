"""Range check: an error for graphs with numbers too large for the distances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skgraphkde.distances.base import FittedDistance
from skgraphkde.features import NodeFeatures
from skgraphkde.graphs.batch import GraphBatch


def check_range(
    graphs: GraphBatch, features: NodeFeatures, distances: Sequence[FittedDistance]
) -> None:
    """Check that the numbers of nodes and edges are in the range of all distances.

    Parameters
    ----------
    graphs : GraphBatch
    features : NodeFeatures
        Fitted features, which standardize the numbers.
    distances : sequence of FittedDistance

    Raises
    ------
    ValueError
        If a number is out of range; the message names the graph, the node or edge, and its most
        extreme number.
    """
    limit = min(distance.largest_coordinate for distance in distances)
    numbers, edges = features.block("attribute"), features.block("edge")
    if numbers is not None:
        node, column = _most_extreme(numbers.standardized(graphs), limit)
        if node is not None:
            graph, column = graphs.graph_of_node[node], numbers.used[column]
            where = f"graph {graph}, node {node - graphs.node_ptr[graph]}: node attribute"
            value = np.asarray(graphs.attributes)[node, column]
            _refuse(f"{where} {numbers.columns[column]!r} is {value:g}", limit)
    if edges is not None and edges.columns and graphs.edge_attributes is not None:
        arc, column = _most_extreme(edges.standardized(graphs), limit)
        if arc is not None:
            graph = graphs.graph_of_arc[arc]
            first = graphs.node_ptr[graph]
            ends = graphs.source_of_arc[arc] - first, graphs.adjacency.indices[arc] - first
            where = f"graph {graph}, edge ({ends[0]}, {ends[1]}): edge attribute"
            value = np.asarray(graphs.edge_attributes)[arc, column]
            _refuse(f"{where} {edges.columns[column]!r} is {value:g}", limit)


def _most_extreme(standardized: np.ndarray, limit: float) -> tuple:
    """Row and column of the largest absolute number; (None, None) if it is within the limit."""
    deviations = np.nan_to_num(np.abs(standardized), posinf=np.inf)
    if deviations.max(initial=0) <= limit:
        return None, None
    return np.unravel_index(deviations.argmax(), deviations.shape)


def _refuse(what: str, limit: float) -> None:
    advice = "which cannot be computed: clip it"
    if limit < FittedDistance.largest_coordinate:
        advice = "too large for random features: clip it, or use views=Density(MMD(method='exact'))"
    raise ValueError(
        f"{what}, more than {limit:.0e} standard deviations from the mean of the training graphs, "
        f"{advice}"
    )
