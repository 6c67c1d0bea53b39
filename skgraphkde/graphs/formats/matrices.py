"""Graphs as matrices: a pair (A, X) of adjacency and node features, or a sparse A -> Graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.formats.common import (
    NO_COLUMNS,
    Columns,
    Graph,
    as_floats,
    columns_of,
    is_a,
    listed_ids,
    row_labels,
    same_order,
)
from skgraphkde.graphs.problems import GraphError


def read_pair(index: int, graph: Any, _: tuple[str, ...] = ()) -> Graph:
    """Read an adjacency matrix, whose entries are weights, and node features or None.

    The matrix of an undirected graph is symmetric, up to rounding. Features have the name "x".

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : tuple, or sparse array
    _ : tuple of str
        Names of node data, which this format does not need.
    """
    A, X = (graph, None) if sp.issparse(graph) else graph
    if not (sp.issparse(A) or hasattr(A, "__array__") or isinstance(A, list | tuple)):
        raise GraphError(
            index,
            f" is a pair of a {type(A).__name__} and something else: give an adjacency matrix and "
            "node features, or the graph alone (targets belong in y, node features in the graph's "
            "node attributes)",
        )
    _check_order(index, A, X)
    matrix = A if sp.issparse(A) else _floats(index, "A", A)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(index, f": the adjacency matrix has shape {matrix.shape}, expected (n, n)")
    n = matrix.shape[0]
    if X is not None:
        table, X = X, _floats(index, "X", X)
        X = X[:, np.newaxis] if X.ndim == 1 else X
        if X.ndim != 2 or len(X) != n:
            raise GraphError(
                index, f" has {n} nodes in A, but X has shape {X.shape}: give X one row per node"
            )
        if is_a(table, "pandas", "DataFrame"):
            X = type(table)(X, columns=table.columns)
    A = sp.coo_array(matrix)
    A.data = _floats(index, "A", A.data)
    A.sum_duplicates()
    is_edge = A.data != 0  # also where it is not a number, for the error
    row, column, weights = A.row[is_edge], A.col[is_edge], A.data[is_edge]
    pairs = np.column_stack([row, column]).astype(np.int64)
    nodes = NO_COLUMNS if X is None else columns_of({"x": X})
    edges = Columns((), {"weight": weights}.get)  # also a number, for who names it
    return Graph(index, range(n), pairs, "both", nodes, edges, weights=lambda _: weights)


def _check_order(index: int, A: Any, X: Any) -> None:
    """Refuse tables of pandas whose rows and columns may stand for nodes in different orders."""
    rows, of_features = row_labels(A), row_labels(X)
    columns = list(getattr(A, "columns", ()))
    if rows is not None and not same_order(rows, columns):
        raise GraphError(
            index,
            f": the rows of A are the nodes {listed_ids(rows)}, and its columns are "
            f"{listed_ids(columns)}: bring them into the same order, as A.loc[A.columns] does",
        )
    nodes = list(range(len(of_features or ()))) if rows is None else rows
    if of_features is not None and not same_order(of_features, nodes):
        raise GraphError(
            index,
            f": the rows of X are the nodes {listed_ids(of_features)}, and those of A "
            f"are {listed_ids(nodes)}: bring them into the same order, or give X.to_numpy()",
        )


def _floats(index: int, name: str, matrix: Any) -> np.ndarray:
    try:
        return as_floats(matrix)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise GraphError(
            index, f" is not an (A, X) pair of numeric matrices; {name}: {error}"
        ) from error
