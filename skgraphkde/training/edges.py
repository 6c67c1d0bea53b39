"""Twins with other edges: one with edges removed, one with edges added (Algorithm 1 of the paper).

They do not depend on what is learned, so they are made once per fit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn import get_config

from skgraphkde.graphs.batch import GraphBatch

# Numbers closer than this, relative to the largest, count as equal: LAPACK's error is 1e-14 n.
TOLERANCE = 1e-9


def spectral_twins(
    batch: GraphBatch,
    energy_thresholds: tuple[float, float] = (0.5, 0.75),
    max_ratio: float = 10.0,
    cut: float = 0.5,
) -> list[GraphBatch]:
    """Bend the spectrum of every graph: a twin with edges removed, a twin with edges added.

    The adjacency is symmetric, so its eigenpairs do the work of the paper's SVD: |lambda| are the
    singular values. Sorted by |lambda|, the head is the shortest prefix that holds the share tau_1
    of the energy sum lambda^2, the tail all that follows the shortest prefix that holds tau_2. With
    r = min(mean |head| / mean |tail|, max_ratio), removal divides the head by r, addition
    multiplies the tail by r. The rebuilt matrix is cut back to a graph: an entry is an edge if it
    is above `cut` times the weight of that edge, or times the graph's mean weight if there is none.

    Of eigenvalues of equal size the positive ones come first, and the eigenvectors of one
    eigenvalue are never separated: the twin of a graph does not depend on the order of its nodes.

    Parameters
    ----------
    batch : GraphBatch
    energy_thresholds : tuple of float, default=(0.5, 0.75)
        (tau_1, tau_2), in (0, 1].
    max_ratio : float, default=10.0
        Upper bound of r. Also r where the tail is empty or zero.
    cut : float, default=0.5
        Where the rebuilt matrix is cut.

    Returns
    -------
    list of GraphBatch
        ``[removed, added]``. A new edge has the graph's mean weight, an edge that stays its own.
    """
    parts: list[list[tuple[np.ndarray, ...]]] = [[], []]
    for index in _by_size(batch.n_nodes_per_graph):
        A = _dense(batch, index)
        eigenvalues, U = np.linalg.eigh(A)
        first_node = batch.node_ptr[index]
        weight = np.where(A > 0, A, _mean_weight(A))
        for part, modified in zip(
            parts, _bent_spectra(eigenvalues, energy_thresholds, max_ratio), strict=True
        ):
            rebuilt = (U * modified[:, np.newaxis, :]) @ U.swapaxes(1, 2)
            part.append(_edges(A, rebuilt > (cut + TOLERANCE) * weight, first_node))
    return [_with_edges(batch, part) for part in parts]


def _bent_spectra(
    eigenvalues: np.ndarray, energy_thresholds: tuple[float, float], max_ratio: float
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (g, n) after removal and after addition, in their own order."""
    size = np.abs(eigenvalues)
    largest = size.max(axis=1, keepdims=True)
    unit = np.where(largest > 0, largest, 1.0) * TOLERANCE
    level = np.round(size / unit)  # equal for eigenvalues of equal size
    order = np.lexsort((-eigenvalues, -level), axis=1)
    ordered = np.take_along_axis(eigenvalues, order, axis=1)
    energy = np.cumsum(ordered**2, axis=1)
    prefixes = []
    for threshold in energy_thresholds:
        goal = (threshold - 1e-9) * energy[:, -1:]
        last = np.argmax(energy >= goal, axis=1)[:, np.newaxis]
        boundary = np.take_along_axis(ordered, last, axis=1)
        inside = np.arange(size.shape[1]) <= last
        prefixes.append(inside | (np.abs(ordered - boundary) <= 10 * unit))
    head, tail = prefixes[0], ~prefixes[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_head = (np.abs(ordered) * head).sum(1) / head.sum(1)
        mean_tail = (np.abs(ordered) * tail).sum(1) / tail.sum(1)
        ratio = np.fmin(mean_head / mean_tail, max_ratio)[:, np.newaxis]  # no tail: max_ratio
    back = np.argsort(order, axis=1)
    return (
        np.take_along_axis(np.where(head, ordered / ratio, ordered), back, axis=1),
        np.take_along_axis(np.where(tail, ordered * ratio, ordered), back, axis=1),
    )


def _by_size(sizes: np.ndarray) -> Iterator[np.ndarray]:
    """Graphs of one size together, as many as fit into working_memory five times."""
    limit = get_config()["working_memory"] * 2**20 / (5 * 8)
    for n in np.unique(sizes):
        index = np.flatnonzero(sizes == n)
        step = max(1, int(limit // n**2))
        yield from np.split(index, range(step, len(index), step))


def _dense(batch: GraphBatch, index: np.ndarray) -> np.ndarray:
    """The adjacency matrices of graphs of one size n, shape (len(index), n, n)."""
    n = int(batch.n_nodes_per_graph[index[0]])
    block = batch[index].adjacency.tocoo()
    dense = np.zeros((len(index), n, n))
    dense[block.row // n, block.row % n, block.col % n] = block.data
    return dense


def _mean_weight(A: np.ndarray) -> np.ndarray:
    """Mean weight of the edges of each graph (inf without edges), shape (g, 1, 1)."""
    n_entries = (A > 0).sum((1, 2), keepdims=True)
    return np.where(n_entries > 0, A.sum((1, 2), keepdims=True) / np.maximum(n_entries, 1), np.inf)


def _edges(A: np.ndarray, is_edge: np.ndarray, first_node: np.ndarray) -> tuple[np.ndarray, ...]:
    """Rows, columns and weights of the edges above the diagonal of `is_edge` (g, n, n)."""
    graph, row, column = np.nonzero(np.triu(is_edge, k=1))
    kept = A[graph, row, column]
    weight = np.where(kept > 0, kept, _mean_weight(A)[graph, 0, 0])
    return row + first_node[graph], column + first_node[graph], weight


def _with_edges(batch: GraphBatch, parts: list[tuple[np.ndarray, ...]]) -> GraphBatch:
    """The batch with the edges that `parts` list from above the diagonal."""
    row, column, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    upper = sp.coo_array((weight, (row, column)), shape=batch.adjacency.shape).tocsr()
    adjacency = sp.csr_array(upper + upper.T)
    adjacency.sort_indices()
    return batch.replace(adjacency=adjacency)


# -- random edges ----------------------------------------------------------------------------------


def random_edge_twins(
    batch: GraphBatch, ratio: float, rng: np.random.RandomState
) -> list[GraphBatch]:
    """Remove, or add, a share of the edges of every graph at random (the paper's ablation).

    Parameters
    ----------
    batch : GraphBatch
    ratio : float
        The share, in [0, 1].
    rng : RandomState

    Returns
    -------
    list of GraphBatch
        ``[removed, added]``. A graph without room for all new edges gets as many as fit; a new edge
        has the graph's mean weight.
    """
    parts: list[list[tuple[np.ndarray, ...]]] = [[], []]
    for index in _by_size(batch.n_nodes_per_graph):
        A = _dense(batch, index)
        has_edge = A > 0
        count = np.floor(ratio * has_edge.sum((1, 2)) / 2 + 1e-9).astype(int)
        ticket = np.triu(1 + rng.random_sample(A.shape), k=1)  # 0 on and below the diagonal
        removed = has_edge & ~_largest(ticket * has_edge, count)
        added = has_edge | _largest(ticket * ~has_edge, count)
        for part, is_edge in zip(parts, (removed, added), strict=True):
            part.append(_edges(A, is_edge, batch.node_ptr[index]))
    return [_with_edges(batch, part) for part in parts]


def _largest(values: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Marks the count[g] largest of the positive entries of each values[g]."""
    flat = values.reshape(len(values), -1)
    rank = np.argsort(np.argsort(-flat, axis=1), axis=1)
    return ((rank < count[:, np.newaxis]) & (flat > 0)).reshape(values.shape)
