"""Graphs as GraKeL takes them: ``(edges, labels)`` or ``(edges, labels, edge labels)`` -> Graph.

GraKeL itself is not imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.arrays import sorted_labels
from skgraphkde.graphs.formats.columns import require_nodes, value_of_edge
from skgraphkde.graphs.formats.common import NO_COLUMNS, Graph, columns_of
from skgraphkde.graphs.formats.edges import ends_of, number_ends
from skgraphkde.graphs.formats.matrices import read_pair
from skgraphkde.graphs.problems import GraphError


def read_triple(index: int, graph: Any, _: tuple[str, ...]) -> Graph:
    """Read edges (in any of GraKeL's forms, or an adjacency matrix) with labels of nodes and edges.

    Labels have the name "label". An edge label that is given for one direction holds for both.
    """
    edges, values = graph[0], graph[1] or {}
    is_list_of_rows = isinstance(edges, list) and edges and isinstance(edges[0], list)
    if isinstance(edges, np.ndarray) or sp.issparse(edges) or is_list_of_rows:
        read = read_pair(index, (edges, None))
        names, pairs, kind, weights = read.names, read.pairs, read.kind, read.weights
    else:
        nodes, ends, listed = _nodes_and_edges(index, edges)
        # The order of a set differs from process to process.
        unlabeled = sorted_labels({node for node in nodes if node not in values})
        names = require_nodes(index, [*values, *unlabeled])
        pairs, kind = number_ends(index, names, ends), "either"
        weights = None if listed is None else lambda _: listed
    # GraKeL also stores feature vectors where labels belong.
    is_vector = isinstance(next(iter(values.values()), None), list | np.ndarray)
    of_nodes = {"x" if is_vector else "label": values} if values else {}
    of_edges = NO_COLUMNS
    if len(graph) == 3 and graph[2]:
        labels = _edge_labels(index, names, pairs, graph[2])
        of_edges = columns_of({"label": labels})
    return Graph(index, names, pairs, kind, columns_of(of_nodes), of_edges, weights)


def _edge_labels(index: int, names: Any, pairs: np.ndarray, labels: Mapping) -> list:
    """The label of each pair; None where neither direction has one."""
    ends = [ends_of(index, edge) for edge in labels]
    number_ends(index, names, ends)  # all are nodes
    pairs_by_name = [(names[u], names[v]) for u, v in pairs.tolist()]
    known = {*pairs_by_name, *(pair[::-1] for pair in pairs_by_name)}
    for pair in ends:
        if pair not in known:
            raise GraphError(
                index,
                f" has a label for the edge {pair!r}, which it does not have: remove "
                "it or add the edge",
            )
    return [value_of_edge(index, pair, labels, "label") for pair in pairs_by_name]


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
