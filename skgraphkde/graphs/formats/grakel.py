"""Graphs as GraKeL takes them: ``(edges, labels)`` or ``(edges, labels, edge labels)`` -> Graph.

GraKeL itself is not imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.arrays import sorted_labels
from skgraphkde.graphs.formats.common import Graph, columns_of, ends_of, number_ends
from skgraphkde.graphs.formats.matrices import read_pair


def read_triple(index: int, graph: Any, _: tuple[str, ...]) -> Graph:
    """Read edges (in any of GraKeL's forms, or an adjacency matrix) with labels of nodes and edges.

    Labels have the name "label". An edge label that is given for one direction holds for both.

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : tuple or list
    _ : tuple of str
        Names of node data, which this format does not need.
    """
    edges, values = graph[0], graph[1] or {}
    # GraKeL also stores feature vectors where labels belong.
    is_vector = isinstance(next(iter(values.values()), None), list | np.ndarray)
    of_nodes = {"x" if is_vector else "label": values} if values else {}
    of_edges = {"label": graph[2]} if len(graph) == 3 and graph[2] else {}
    data: dict[str, Any] = {"nodes": columns_of(of_nodes), "edges": columns_of(of_edges)}
    is_list_of_rows = isinstance(edges, list) and edges and isinstance(edges[0], list)
    if isinstance(edges, np.ndarray) or sp.issparse(edges) or is_list_of_rows:
        return replace(read_pair(index, (edges, None)), **data)
    nodes, ends, listed = _nodes_and_edges(index, edges)
    # The order of a set differs from process to process.
    names = [*values, *sorted_labels({node for node in nodes if node not in values})]
    weights = None if listed is None else lambda _: listed
    return Graph(index, names, number_ends(index, names, ends), "either", weights=weights, **data)


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
