"""Graphs as matrices: a pair (A, X) of adjacency and node features, or a sparse A -> Graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.formats.common import Fields, Graph, plain
from skgraphkde.graphs.formats.finish import checked
from skgraphkde.graphs.formats.kinds import is_one_graph
from skgraphkde.graphs.formats.nodes import require_nodes


def read_pair(index: int, graph: Any, fields: Fields) -> Graph:
    """Read a symmetric adjacency matrix, whose entries are weights, and node features or None."""
    A, X = (graph, None) if sp.issparse(graph) else graph
    if is_one_graph(A):
        raise ValueError(
            f"graph {index} is a pair of a {type(A).__name__} and something else: give the graph "
            "alone (targets belong in y, node features in the node attribute "
            f"{fields.attributes!r})"
        )
    A = sp.coo_array(_as_float(index, "A", A))
    n = A.shape[0]
    names = require_nodes(index, range(n))
    if X is not None:
        X = np.asarray(plain(X))
        X = _as_float(index, "X", X[:, np.newaxis] if X.ndim == 1 else X)
        if len(X) != n:
            raise ValueError(
                f"graph {index} has {n} nodes in A, but X has shape {X.shape}: "
                "give X one row per node"
            )
    if A.shape != (n, n):
        raise ValueError(
            f"graph {index}: the adjacency matrix has shape {A.shape}, expected (n, n)"
        )
    A.sum_duplicates()
    upper = (A.row < A.col) & (A.data != 0)
    edges = np.column_stack([A.row[upper], A.col[upper]]).astype(np.int64)
    read = checked(Graph(index, names, edges, A.data[upper], None, X))
    asymmetry = abs(A - A.T).tocoo()
    if asymmetry.nnz and not asymmetry.data.max() <= 1e-8 * abs(A).max():
        worst = int(asymmetry.data.argmax())
        u, v = int(asymmetry.row[worst]), int(asymmetry.col[worst])
        raise ValueError(
            f"graph {index}: the adjacency matrix is not symmetric at ({u}, {v}): graphs are "
            "undirected, symmetrize it with A.maximum(A.T) (SciPy) or np.maximum(A, A.T)"
        )
    return read


def _as_float(index: int, name: str, matrix: Any) -> Any:
    """A copy of a matrix in double precision."""
    try:
        matrix = matrix if sp.issparse(matrix) else np.asarray(plain(matrix))
        if matrix.ndim != 2 or np.iscomplexobj(matrix):
            raise ValueError(
                "expected real numbers in two dimensions, got "
                f"{matrix.dtype} in {matrix.ndim} dimensions"
            )
        return matrix.astype(float)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ValueError(
            f"graph {index} is not an (A, X) pair of numeric matrices; {name}: {error}"
        ) from error
