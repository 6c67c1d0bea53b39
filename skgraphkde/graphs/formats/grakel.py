"""Graphs as GraKeL takes them: ``(edges, labels)`` or ``(edges, labels, edge labels)`` -> Graph.

GraKeL itself is not imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.batch import sorted_labels
from skgraphkde.graphs.formats.common import Fields, Graph
from skgraphkde.graphs.formats.edges import ends_of, number_ends
from skgraphkde.graphs.formats.finish import graph_from_pairs
from skgraphkde.graphs.formats.matrices import read_pair
from skgraphkde.graphs.formats.nodes import require_nodes


def read_triple(index: int, graph: Any, fields: Fields) -> Graph:
    """Read edges (in any of GraKeL's forms, or an adjacency matrix) with node labels by node."""
    edges, values = graph[0], graph[1] or {}
    is_list_of_rows = isinstance(edges, list) and edges and isinstance(edges[0], list)
    if isinstance(edges, np.ndarray) or sp.issparse(edges) or is_list_of_rows:
        read = read_pair(index, (edges, None), fields)
        names, pairs = read.names, read.edges
        weights: Any = read.weights
    else:
        nodes, ends, weights = _nodes_and_edges(index, edges)
        # The order of a set differs from process to process.
        unlabeled = sorted_labels({node for node in nodes if node not in values})
        names = require_nodes(index, [*values, *unlabeled])
        pairs = number_ends(index, names, ends)
    # GraKeL also stores feature vectors where labels belong.
    is_vector = isinstance(next(iter(values.values()), None), list | np.ndarray)
    labels, vectors = (None, values) if is_vector else (values, None)
    # Weights have no name in this format, so they count even if the caller named no weight.
    fields = fields._replace(weight=None if weights is None else "weight")
    return graph_from_pairs(index, names, pairs, weights, labels, vectors, fields)


def _nodes_and_edges(index: int, edges: Any) -> tuple[list, list[tuple], list | None]:
    """All nodes that the edges mention, the edges, and their weights; None if no edge has one."""
    nodes: list = []
    pairs: list = []
    weights: list = []
    for key in edges:
        value = edges[key] if isinstance(edges, Mapping) else None
        if isinstance(value, Mapping | list | set | tuple):  # {u: {v: weight}} or {u: [v, ...]}
            nodes.append(key)
            pairs += [(key, v) for v in value]
            weights += value.values() if isinstance(value, Mapping) else [None] * len(value)
        elif value is None and isinstance(key, tuple) and len(key) == 3:  # [(u, v, weight), ...]
            pairs.append(key[:2])
            weights.append(key[2])
        else:  # {(u, v): weight} or [(u, v), ...]
            pairs.append(key)
            weights.append(value)
    ends = [ends_of(index, pair) for pair in pairs]
    is_weighted = any(weight is not None for weight in weights)
    return [*nodes, *chain(*ends)], ends, weights if is_weighted else None
