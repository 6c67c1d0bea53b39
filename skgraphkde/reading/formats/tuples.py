"""Graphs as tuples -> Graph: pairs (A, X) of an adjacency matrix and node features, and triples.

Triples are graphs as GraKeL takes them, ``(edges, labels)`` or ``(edges, labels, edge labels)``.
A matrix alone is a pair without features. GraKeL itself is not imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.core.graphs.arrays import sorted_labels
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.core.graphs.schema import GraphSchema, names_in_schema
from skgraphkde.reading.formats.common import (
    Graph,
    as_floats,
    ends_of,
    is_a,
    listed_ids,
    number_ends,
    plain,
    without_last_digits,
)


def read_pair(index: int, graph: Any, schema: GraphSchema) -> Graph:
    """Read an adjacency matrix, whose entries are weights, and node features or None.

    The matrix of an undirected graph is symmetric, up to rounding. Features have the name "x".

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : tuple, or array
    schema : GraphSchema
        One that names "weight" in `edge_numbers`, but not in `edge_weight`, reads entries of any
        sign, as numbers of edges that are otherwise alike.
    """
    A, X = graph if isinstance(graph, tuple) else (graph, None)
    if not (sp.issparse(A) or hasattr(A, "__array__") or isinstance(A, list | tuple)):
        raise GraphError(
            index,
            f" is a pair of a {type(A).__name__} and something else: give an adjacency matrix and "
            "node features, or the graph alone (targets belong in y, node features in the graph's "
            "node attributes)",
        )
    names = list(A.index) if is_a(A, "pandas", "DataFrame") else None
    if names is not None and names != list(A.columns):
        raise GraphError(
            index,
            f": the rows of A are the nodes {listed_ids(names)}, and its columns are "
            f"{listed_ids(A.columns)}: bring them into the same order, as A.loc[A.columns] does, "
            "or make graphs of tables with read_tables",
        )
    matrix = A if sp.issparse(A) else _numbers(index, A)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        pairs = ""
        if matrix.ndim == 2 and 2 in matrix.shape:
            edges = "A" if matrix.shape[1] == 2 else "A.T"
            pairs = f'; if its rows are pairs of nodes, give {{"edges": {edges}}}'
            if matrix.shape[1] != 2:
                pairs = f'; if its columns are pairs of nodes, give {{"edges": {edges}}}'
        raise GraphError(
            index, f": the adjacency matrix has shape {matrix.shape}, expected (n, n){pairs}"
        )
    A = sp.coo_array(matrix)
    if A.data.dtype.kind in "iub":
        A.data = _floats(index, A.data)
    A.sum_duplicates()
    A.data = _floats(index, without_last_digits(np.column_stack([A.row, A.col]), A.data))
    is_edge = A.data != 0  # also where it is not a number, for the error
    row = A.row[is_edge]
    column = A.col[is_edge]
    weights = A.data[is_edge]
    are_numbers = schema.edge_weight is None and "weight" in schema.named("edge_numbers")
    return Graph(
        index,
        range(matrix.shape[0]) if names is None else names,
        np.column_stack([row, column]).astype(np.int64),
        "both",
        {} if X is None else {"x": X},
        {"weight": weights} if "weight" in names_in_schema(schema, "edge") else {},
        weights=None if are_numbers else weights,
    )


def _numbers(index: int, matrix: Any) -> np.ndarray:
    """An array in the precision in which it was given."""
    given = plain(matrix)
    is_single = isinstance(given, np.ndarray) and given.dtype in (np.float32, np.float16)
    return given if is_single else _floats(index, matrix)


def _floats(index: int, matrix: Any) -> np.ndarray:
    try:
        return as_floats(matrix)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise GraphError(
            index,
            f" is not an adjacency matrix of numbers, or a pair of one and node features: {error}",
        ) from error


def read_grakel(index: int, graph: Any, schema: GraphSchema) -> Graph:
    """Read an object of GraKeL, which holds a dict of edges or a matrix, or both.

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : grakel.Graph
    schema : GraphSchema
    """
    if graph.edge_dictionary is None:
        triple = graph.adjacency_matrix, graph.index_node_labels, graph.index_edge_labels
        return read_triple(index, triple, schema)
    edges = {node: {} for node in graph.vertices} | graph.edge_dictionary
    return read_triple(index, (edges, graph.node_labels, graph.edge_labels), schema)


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
    edges = graph[0]
    values = graph[1] or {}
    # GraKeL also stores feature vectors where labels belong.
    is_vector = isinstance(next(iter(values.values()), None), list | np.ndarray)
    of_nodes = {"x" if is_vector else "label": values} if values else {}
    of_edges = {"label": graph[2]} if len(graph) == 3 and graph[2] else {}
    is_list_of_rows = isinstance(edges, list) and edges and isinstance(edges[0], list)
    if isinstance(edges, np.ndarray) or sp.issparse(edges) or is_list_of_rows:
        matrix = read_pair(index, (edges, None), schema)
        return replace(matrix, node=of_nodes, edge={**matrix.edge, **of_edges})
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


def is_triple(graph: Any) -> bool:
    """True if `graph` is edges with dicts of labels, as in GraKeL, rather than a pair (A, X)."""
    if not isinstance(graph, list | tuple) or len(graph) not in (2, 3):
        return False
    edges, *labels = graph
    if not all(part is None or isinstance(part, Mapping) for part in labels):
        return False
    if isinstance(edges, Mapping | set | frozenset):
        return True
    are_edges = isinstance(edges, list | tuple | np.ndarray) or sp.issparse(edges)
    return are_edges and (labels[0] is not None or len(labels) == 2)
