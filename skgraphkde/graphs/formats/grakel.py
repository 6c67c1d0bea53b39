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
from skgraphkde.graphs.formats.common import Graph, ends_of, number_ends
from skgraphkde.graphs.formats.matrices import read_pair
from skgraphkde.graphs.schema import GraphSchema


def read_triple(index: int, graph: Any, schema: GraphSchema) -> Graph:
    """Read edges (in any of GraKeL's forms, or an adjacency matrix) with labels of nodes and edges.

    Labels have the name "label". An edge label that is given for one direction holds for both.

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : tuple or list
    schema : GraphSchema
    """
    edges, values = graph[0], graph[1] or {}
    # GraKeL also stores feature vectors where labels belong.
    is_vector = isinstance(next(iter(values.values()), None), list | np.ndarray)
    of_nodes = {"x" if is_vector else "label": values} if values else {}
    of_edges = {"label": graph[2]} if len(graph) == 3 and graph[2] else {}
    is_list_of_rows = isinstance(edges, list) and edges and isinstance(edges[0], list)
    if isinstance(edges, np.ndarray) or sp.issparse(edges) or is_list_of_rows:
        matrix = read_pair(index, (edges, None), schema)
        return replace(matrix, nodes=of_nodes, edges={**matrix.edges, **of_edges})
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
    # The order of a set differs from process to process.
    others = sorted_labels({node for node in (*nodes, *chain(*ends)) if node not in values})
    names = [*values, *others]
    pair_numbers = number_ends(index, names, ends)
    is_weighted = any(weight is not None for weight in weights)
    given = weights if is_weighted else None
    return Graph(index, names, pair_numbers, "either", of_nodes, of_edges, weights=given)
