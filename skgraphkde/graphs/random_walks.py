"""Random walks: the probability that a walk returns to the node where it started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.arrays import scaled, take_blocks, with_data
from skgraphkde.graphs.batch import GraphBatch

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
    A = batch.simple if directed else batch.underlying
    sizes, first = batch.n_nodes_per_graph, batch.node_ptr[:-1]
    position = np.arange(batch.n_nodes) - first.repeat(sizes)  # of each node in its graph

    def steps(index: np.ndarray) -> tuple[tuple[sp.csr_array, sp.csr_array], Any]:
        """S and its transpose for some graphs, and their nodes."""
        if len(index) == len(batch):
            return _steps(A, directed), slice(None)
        some, nodes, _ = take_blocks(A, first[index], batch.node_ptr[index + 1])
        return _steps(some, directed), nodes

    is_sparse = np.zeros(len(batch), dtype=bool)
    for i in (sizes > MOST_DENSE_NODES).nonzero()[0]:
        is_sparse[i] = _stays_sparse(steps(np.array([i]))[0], n_steps)
    entries = np.diff(A.indptr[batch.node_ptr])
    is_exact = sizes * np.maximum(entries, sizes) <= EXACT_WALK_COST
    # One by one: probes must not depend on other graphs, and sparse powers take memory.
    parts = [
        *((x, _identity) for x in _chunks(sizes, (is_exact & ~is_sparse).nonzero()[0])),
        *((np.array([i]), _sparse_identity) for i in is_sparse.nonzero()[0]),
        *((np.array([i]), _signs) for i in (~is_exact & ~is_sparse).nonzero()[0]),
    ]
    result = np.empty((batch.n_nodes, n_steps - 1))
    for index, basis in parts:
        both, nodes = steps(index)
        result[nodes] = _walk(both, n_steps, basis(position[nodes]))
    return result.clip(0.0, 1.0)


def _chunks(sizes: np.ndarray, index: np.ndarray) -> list[np.ndarray]:
    """Split `index` into runs of graphs of like size, a cache full of numbers a run."""
    if len(index) < 2:
        return [index] if len(index) else []
    by_size = index[np.argsort(sizes[index], kind="stable")]
    octave = np.frexp(sizes[by_size])[1]
    load = np.cumsum(sizes[by_size] ** 2) // NUMBERS
    return np.split(by_size, np.flatnonzero(np.diff(octave) + np.diff(load)) + 1)


def _walk(
    steps: tuple[sp.csr_array, sp.csr_array], n_steps: int, basis: Iterable[Any]
) -> np.ndarray:
    """Row sums of (S^a Q) * (S'^b Q) for a + b = 2, ..., n_steps; `basis` is Q in blocks."""
    S, back = steps
    result = np.zeros((S.shape[0], n_steps - 1))
    for Q in basis:
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


def _stays_sparse(steps: tuple[sp.csr_array, sp.csr_array], n_steps: int) -> bool:
    """True if the powers of S up to half the steps take few products."""
    S, back = steps
    for step in (S,) if back is S else (S, back):
        limit = PRODUCTS_PER_NODE * step.shape[0]
        step = with_data(step, np.ones(step.nnz, bool))
        power, n_products = step, 0
        for _ in range(n_steps // 2 - 1):
            # A product per entry of S and entry of the row of the power that it meets.
            n_products += int(np.diff(power.indptr)[step.indices].sum())
            if n_products > limit:
                return False
            power = step @ power
    return True


def _steps(A: sp.csr_array, directed: bool) -> tuple[sp.csr_array, sp.csr_array]:
    """S and its transpose, which is the same array for undirected graphs."""
    strength = A @ np.ones(A.shape[1])
    positive = np.where(strength > 0, strength, 1.0)
    if not directed:
        S = scaled(A, 1.0 / np.sqrt(positive))
        return S, S
    S = with_data(A, A.data / positive.repeat(np.diff(A.indptr)))
    return S, sp.csr_array(S.T)


# Q by the position of each node in its graph.


def _identity(position: np.ndarray, width: int = 128) -> Iterator[np.ndarray]:
    """The identity of each graph, laid over each other, in blocks of columns."""
    total = int(position.max()) + 1
    for first in range(0, total, width):
        columns = np.arange(first, min(first + width, total))
        yield (position[:, np.newaxis] == columns).astype(float)


def _sparse_identity(position: np.ndarray) -> Iterator[sp.csr_array]:
    """The identity, in one block: powers of S have few entries in a row."""
    yield sp.eye_array(len(position), format="csr")


def _signs(position: np.ndarray) -> Iterator[np.ndarray]:
    """Random signs of variance 1 / N_PROBES, the same ones for the same number of nodes.

    In blocks of columns: all of them would take a hundred times the memory of a large graph.
    """
    rng = np.random.default_rng(0)  # a quadrature rule, part of the method: not the user's seed
    width = max(1, NUMBERS // len(position))
    for first in range(0, N_PROBES, width):
        shape = len(position), min(width, N_PROBES - first)
        yield rng.choice([-1.0, 1.0], shape) / np.sqrt(N_PROBES)
