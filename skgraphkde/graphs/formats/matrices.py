"""Graphs as matrices: a pair (A, X) of adjacency and node features, or a sparse A -> Graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.formats.common import Graph, as_floats, is_a, listed_ids
from skgraphkde.graphs.problems import GraphError
from skgraphkde.graphs.schema import GraphSchema, names_in_schema


def read_pair(index: int, graph: Any, schema: GraphSchema) -> Graph:
    """Read an adjacency matrix, whose entries are weights, and node features or None.

    The matrix of an undirected graph is symmetric, up to rounding. Features have the name "x".

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : tuple, or sparse array
    schema : GraphSchema
        One that names "weight" reads it as data of the edges, too.
    """
    A, X = (graph, None) if sp.issparse(graph) else graph
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
            f"{listed_ids(A.columns)}: bring them into the same order, as A.loc[A.columns] does",
        )
    matrix = A if sp.issparse(A) else _floats(index, A)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(index, f": the adjacency matrix has shape {matrix.shape}, expected (n, n)")
    A = sp.coo_array(matrix)
    A.data = _floats(index, A.data)
    A.sum_duplicates()
    is_edge = A.data != 0  # also where it is not a number, for the error
    row, column, weights = A.row[is_edge], A.col[is_edge], A.data[is_edge]
    return Graph(
        index,
        range(matrix.shape[0]) if names is None else names,
        np.column_stack([row, column]).astype(np.int64),
        "both",
        {} if X is None else {"x": X},
        {"weight": weights} if "weight" in names_in_schema(schema, "edge") else {},
        weights=weights,
    )


def _floats(index: int, matrix: Any) -> np.ndarray:
    try:
        return as_floats(matrix)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise GraphError(
            index,
            f" is not an adjacency matrix of numbers, or a pair of one and node features: {error}",
        ) from error
