"""Random walks: the probability that a walk returns to the node where it started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.arrays import ranges, scaled
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.schema import FittedSchema

# Graphs of more nodes are exact by sparse powers of S where few nodes can be reached in n_steps / 2
# steps, as in grids, chains, trees and molecules: where the powers take at most so many products
# for each node. Others are exact by dense powers while nodes x (matrix entries, or nodes) stay
# below the cost, a second on one core. The rest are probed with so many random vectors, at a cost
# linear in the number of edges (standard error at most sqrt(2 / 512) = 0.06 for a probability near
# 1, less below).
MOST_DENSE_NODES = 256
PRODUCTS_PER_NODE = 1_000
EXACT_WALK_COST = 5e8
N_PROBES = 512
# Numbers that a matrix of some columns may have: 8 MiB, a cache full.
NUMBERS = 2**20


def return_probabilities(batch: GraphBatch, n_steps: int, *, directed: bool = False) -> np.ndarray:
    """Probability that a random walk is back at its node after 2, ..., n_steps steps.

    With S = D^-1/2 A D^-1/2, which has the diagonal of (D^-1 A)^k for every power k, and any Q with
    Q Q' = I, the diagonal of S^(a+b) is the row sum of (S^a Q) * (S'^b Q). Q is the identity for
    small graphs, laid over each other in the columns because S is block-diagonal; for larger graphs
    it is a sparse identity, if powers of S stay sparse; for the largest others, it is a matrix of
    random signs, right in expectation.

    Parameters
    ----------
    batch : GraphBatch
    n_steps : int
    directed : bool, default=False
        Whether walks follow the arcs, with S = D^-1 A. Otherwise they are those of the underlying
        undirected graphs.

    Returns
    -------
    ndarray of shape (n_nodes, n_steps - 1)
        In [0, 1].
    """
    batch = _prepared(batch, directed)
    sizes = batch.n_nodes_per_graph
    entries = np.diff(batch.adjacency.indptr[batch.node_ptr])
    is_sparse = np.zeros(len(batch), dtype=bool)
    for i in np.flatnonzero(sizes > MOST_DENSE_NODES):
        is_sparse[i] = _stays_sparse(batch[i], n_steps)
    is_exact = sizes * np.maximum(entries, sizes) <= EXACT_WALK_COST
    # One by one: probes must not depend on other graphs, and sparse powers take memory.
    parts = [
        *((x, _identity) for x in _chunks(sizes, np.flatnonzero(is_exact & ~is_sparse))),
        *((np.array([i]), _sparse_identity) for i in np.flatnonzero(is_sparse)),
        *((np.array([i]), _signs) for i in np.flatnonzero(~is_exact & ~is_sparse)),
    ]
    result = np.empty((batch.n_nodes, n_steps - 1))
    for index, basis in parts:
        nodes = ranges(batch.node_ptr[index], batch.node_ptr[index + 1])
        result[nodes] = _walk(batch[index], n_steps, basis)
    return np.clip(result, 0.0, 1.0)


def _prepared(batch: GraphBatch, directed: bool) -> GraphBatch:
    """The graphs with nothing but the arcs along which walks go, one for each pair of nodes."""
    if directed:
        adjacency = batch.adjacency.copy()
        adjacency.sum_duplicates()
        return GraphBatch(batch.node_ptr, adjacency, schema=FittedSchema(directed=True))
    return GraphBatch(batch.node_ptr, batch.underlying)


def _chunks(sizes: np.ndarray, index: np.ndarray) -> list[np.ndarray]:
    """Split `index` into runs of graphs of like size, a cache full of numbers a run."""
    if not len(index):
        return []
    by_size = index[np.argsort(sizes[index], kind="stable")]
    octave = np.frexp(sizes[by_size])[1]
    load = np.cumsum(sizes[by_size] ** 2) // NUMBERS
    return np.split(by_size, np.flatnonzero(np.diff(octave) + np.diff(load)) + 1)


def _walk(batch: GraphBatch, n_steps: int, basis: Callable[..., Iterator[Any]]) -> np.ndarray:
    """Row sums of (S^a Q) * (S'^b Q) for a + b = 2, ..., n_steps; `basis` gives Q in blocks."""
    S, back = _steps(batch)
    result = np.zeros((batch.n_nodes, n_steps - 1))
    for Q in basis(batch):
        V = S @ Q
        W = V if back is S else back @ Q
        for k in range(2, n_steps + 1, 2):  # here V = S^(k/2) Q and W = S'^(k/2) Q
            result[:, k - 2] += _row_products(V, W)
            if k < n_steps:
                V, V_before = S @ V, V
                result[:, k - 1] += _row_products(V, V_before if W is V_before else W)
                W = V if back is S else back @ W
    return result


def _row_products(V: Any, W: Any) -> np.ndarray:
    """The row sums of V * W, of dense or of sparse matrices."""
    if sp.issparse(V):
        return np.asarray(V.multiply(W).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", V, W)


def _stays_sparse(graph: GraphBatch, n_steps: int) -> bool:
    """True if the powers of S up to half the steps take few products."""
    S, back = (
        sp.csr_array((np.ones(x.nnz, bool), x.indices, x.indptr), x.shape) for x in _steps(graph)
    )
    limit = PRODUCTS_PER_NODE * graph.n_nodes
    for step in (S, back):
        power, n_products = step, 0
        for _ in range(n_steps // 2 - 1):
            # A product per entry of S and entry of the row of the power that it meets.
            n_products += int(np.diff(power.indptr)[step.indices].sum())
            if n_products > limit:
                return False
            power = step @ power
    return True


def _steps(batch: GraphBatch) -> tuple[sp.csr_array, sp.csr_array]:
    """S and its transpose, which is the same array for undirected graphs."""
    strength = np.asarray(batch.adjacency.sum(axis=1)).ravel()
    positive = np.where(strength > 0, strength, 1.0)
    if not batch.directed:
        S = scaled(batch.adjacency, 1.0 / np.sqrt(positive))
        return S, S
    S = sp.csr_array(sp.diags_array(1.0 / positive) @ batch.adjacency)
    return S, sp.csr_array(S.T)


def _identity(batch: GraphBatch, width: int = 128) -> Iterator[np.ndarray]:
    """The identity of each graph, laid over each other, in blocks of columns."""
    position = np.arange(batch.n_nodes) - batch.node_ptr[batch.graph_of_node]
    total = int(batch.n_nodes_per_graph.max())
    for first in range(0, total, width):
        columns = np.arange(first, min(first + width, total))
        yield (position[:, np.newaxis] == columns).astype(float)


def _sparse_identity(batch: GraphBatch) -> Iterator[sp.csr_array]:
    """The identity, in one block: powers of S have few entries in a row."""
    yield sp.eye_array(batch.n_nodes, format="csr")


def _signs(batch: GraphBatch) -> Iterator[np.ndarray]:
    """Random signs of variance 1 / N_PROBES, the same ones for the same number of nodes.

    In blocks of columns: all of them would take a hundred times the memory of a large graph.
    """
    rng = np.random.default_rng(0)  # a quadrature rule, part of the method: not the user's seed
    width = max(1, NUMBERS // batch.n_nodes)
    for first in range(0, N_PROBES, width):
        shape = batch.n_nodes, min(width, N_PROBES - first)
        yield rng.choice([-1.0, 1.0], shape) / np.sqrt(N_PROBES)
