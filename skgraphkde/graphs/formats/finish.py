"""The last step of every reader: edges, labels and attributes -> one checked Graph.

The functions of this module take node ids, edges, and labels and attributes as the format holds
them. They return a :class:`~skgraphkde.graphs.formats.common.Graph` whose numbers are all usable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skgraphkde.graphs.batch import LARGEST
from skgraphkde.graphs.formats.common import Fields, Graph, is_label
from skgraphkde.graphs.formats.edges import check_range, check_weights, merge_directions, weights_of
from skgraphkde.graphs.formats.nodes import attribute_rows, values_per_node


def graph_from_pairs(
    index: int,
    names: Any,
    pairs: np.ndarray,
    weights: Any,
    labels: Any,
    vectors: Any,
    fields: Fields,
    cure: str | None = None,
) -> Graph:
    """A graph from pairs of node numbers, which may hold an edge in both directions.

    They must if `cure` is given, which is the call that adds missing directions.
    """
    check_range(index, names, pairs)
    no_loop = pairs[:, 0] != pairs[:, 1]
    if fields.weight is None or not len(pairs):
        weights = None
    else:
        weights = weights_of(index, names, pairs, weights, fields.weight)[no_loop]
    edges, weights = merge_directions(index, names, pairs[no_loop], weights, cure)
    return graph_from_edges(index, names, edges, weights, labels, vectors, fields)


def graph_from_edges(
    index: int,
    names: Any,
    edges: np.ndarray,
    weights: np.ndarray,
    labels: Any,
    vectors: Any,
    fields: Fields,
) -> Graph:
    """A graph from undirected edges; labels and attributes are dicts by node, sequences or None."""
    labels = values_per_node(index, names, labels, fields.label)
    vectors = values_per_node(index, names, vectors, fields.attributes)
    return checked(
        Graph(
            index,
            names,
            edges,
            weights,
            labels.tolist() if isinstance(labels, np.ndarray) else labels,
            attribute_rows(index, names, vectors, fields.attributes),
        )
    )


def checked(graph: Graph) -> Graph:
    """Return the graph if its labels are hashable and all its numbers are usable."""
    check_weights(graph.index, graph.names, graph.edges, graph.weights)
    if graph.attributes is not None:
        if graph.attributes.shape[1] == 0:
            return checked(replace(graph, attributes=None))
        usable = np.abs(graph.attributes) <= LARGEST  # not NaN, not infinite
        if not usable.all():
            node, column = np.argwhere(~usable)[0]
            raise ValueError(
                f"graph {graph.index}, node {graph.names[node]!r}: node attribute {column} is "
                f"{graph.attributes[node, column]}: impute, clip or drop it first"
            )
    for name, label in zip(graph.names, graph.labels or (), strict=False):
        if not is_label(label):
            raise ValueError(
                f"graph {graph.index}, node {name!r} has the label {label!r}: a label must be "
                "hashable and not NaN (a feature vector belongs in the attribute 'x')"
            )
    return graph
