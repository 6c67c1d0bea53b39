"""Random walks: a batch -> the probabilities that a walk returns to the node where it started."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from skgraphkde._utils import one_blas_thread
from skgraphkde.core.graphs.arrays import full_blocks, offsets, scaled
from skgraphkde.core.graphs.batch import GraphBatch

#: Steps of the walks.
STEPS = (2, 3, 4)
# Numbers of products for the powers of a graph's matrix up to which they are computed, and beyond
# which they are not, some seconds on one core. Between these, they are unless random vectors take
# fewer, as with a node of thousands of neighbors. Other graphs are probed with so many vectors, at
# a cost linear in the number of edges. The standard error is at most sqrt(2 / 512) = 0.06 for a
# probability near 1, less below; of directed graphs it can be larger, as at a node with few arcs
# that many others point to.
FEW_PRODUCTS = 2e7
MAX_PRODUCTS = 5e8
N_PROBES = 512
# Numbers that a block of rows or columns may have: 8 MiB, a cache full.
NUMBERS = 2**20
# Share of the n^3 products of full matrices from which these are faster than sparse ones.
DENSE = 0.1


def return_probabilities(batch: GraphBatch, *, directed: bool = False) -> np.ndarray:
    """Probability that a random walk is back at its node after 2, 3 and 4 steps.

    With S = D^-1/2 A D^-1/2, which has the diagonals of the powers of D^-1 A, these are the row
    sums of S * S', S^2 * S' and S^2 * (S^2)'. For the largest graphs, S^k Q takes the place of S^k,
    where Q has random signs and Q Q' = I in expectation. D are the out-degrees.

    Parameters
    ----------
    batch : GraphBatch
    directed : bool, default=False
        Whether walks follow the arcs. Otherwise they are those of the underlying undirected graphs.

    Returns
    -------
    ndarray of shape (n_nodes, 3)
        In [0, 1]; 0 for an isolated node.
    """
    A = batch.simple if directed else batch.underlying
    strength = A @ np.ones(batch.n_nodes)
    strength[strength == 0] = 1
    S = scaled(A, 1 / np.sqrt(strength))
    back = sp.csr_array(S.T) if directed else S
    matrices = [S, back] if directed else [S]
    n_products = np.sum([_products_by_row(x) for x in matrices], axis=0)
    n_arcs = np.sum([np.diff(x.indptr) for x in matrices], axis=0)
    of_powers, of_graph = (np.add.reduceat(x, batch.node_ptr[:-1]) for x in (n_products, n_arcs))
    is_exact = of_powers <= np.clip(2.0 * N_PROBES * of_graph, FEW_PRODUCTS, MAX_PRODUCTS)
    result = np.empty((batch.n_nodes, len(STEPS)))
    sizes = batch.n_nodes_per_graph
    is_dense = is_exact & (of_powers > DENSE * sizes.astype(float) ** 3)
    for index, P in _full_matrices(S, batch, np.flatnonzero(is_dense)):
        with one_blas_thread():
            P2 = P @ P
        steps = [P * P.swapaxes(1, 2), P2 * P.swapaxes(1, 2), P2 * P2.swapaxes(1, 2)]
        for k, x in enumerate(steps):
            result[index, k] = x.sum(axis=2)
    rows = np.flatnonzero((is_exact & ~is_dense).repeat(sizes))
    cuts = np.flatnonzero(np.diff(n_products[rows].cumsum() // NUMBERS)) + 1
    for block in np.split(rows, cuts):
        V = S if len(block) == batch.n_nodes else S[block]
        V2 = V @ S
        W = V
        W2 = V2
        if directed:
            W = back if len(block) == batch.n_nodes else back[block]
            W2 = W @ back
        for k, (x, y) in enumerate([(V, W), (V2, W), (V2, W2)]):
            result[block, k] = x.multiply(y).sum(axis=1)
    for i in np.flatnonzero(~is_exact):
        nodes = slice(*batch.node_ptr[i : i + 2])
        some = S[nodes, nodes]
        result[nodes] = _probed(some, some if back is S else back[nodes, nodes])
    return result.clip(0, 1)


def _full_matrices(
    S: sp.csr_array, batch: GraphBatch, graphs: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Generate nodes of graphs of one size n, shape (g, n), and their blocks of S, (g, n, n)."""
    sizes = batch.n_nodes_per_graph[graphs]
    for n in np.unique(sizes).tolist():
        same = graphs[sizes == n]
        step = max(1, NUMBERS // n**2)
        for some in np.split(same, range(step, len(same), step)):
            first = batch.node_ptr[some]
            yield first[:, np.newaxis] + np.arange(n), full_blocks(S, first, n)


def _products_by_row(S: sp.csr_array) -> np.ndarray:
    """Number of products that each row of S^2 takes."""
    return np.diff(offsets(np.diff(S.indptr)[S.indices])[S.indptr])


def _probed(S: sp.csr_array, back: sp.csr_array) -> np.ndarray:
    """Estimates for one graph, in blocks of columns; the same for the same number of nodes."""
    n = S.shape[0]
    rng = np.random.default_rng(0)  # a quadrature rule, part of the method: not the user's seed
    result = np.zeros((n, len(STEPS)))
    width = max(1, NUMBERS // n)
    for first in range(0, N_PROBES, width):
        Q = rng.choice([-1.0, 1.0], (n, min(width, N_PROBES - first)))
        V = S @ Q
        W = V if back is S else back @ Q
        V2 = S @ V
        W2 = V2 if back is S else back @ W
        for k, (x, y) in enumerate([(V, W), (V2, W), (V2, W2)]):
            result[:, k] += np.einsum("ij,ij->i", x, y)
    return result / N_PROBES
