"""Twins with other edges: one with edges removed, one with edges added (Algorithm 1 of the paper).

The twins do not depend on learned weights, so they are made once per fit. A kept edge keeps its
data, and a new edge has the data of another edge of its graph. :func:`with_edges` builds all twins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from skgraphkde.computing.blocks import working_memory
from skgraphkde.graphs.arrays import offsets
from skgraphkde.graphs.batch import GraphBatch

# Eigenvalues with a smaller difference, relative to the largest, are equal: LAPACK's error is
# 1e-14 n.
EIGENVALUE_TOL = 1e-9


class Block(NamedTuple):
    """Graphs of one size n as a stack of matrices."""

    graphs: np.ndarray  # (g,), indices in the batch
    A: np.ndarray  # (g, n, n), adjacency; weights of parallel arcs are summed
    is_symmetric: bool


def spectral_twins(
    batch: GraphBatch,
    energy_thresholds: tuple[float, float] = (0.5, 0.75),
    max_ratio: float = 10.0,
    cut: float = 0.5,
    rng: np.random.RandomState | None = None,
) -> list[GraphBatch]:
    """Make twins with edges removed or added by a change of the spectrum of each graph.

    The spectrum consists of the singular values of the adjacency, as in the paper. For a symmetric
    adjacency its eigenpairs are used, with |lambda| the singular values. Sorted by size, the head
    is the shortest prefix with the share tau_1 of the energy sum lambda^2, and the tail follows the
    shortest prefix with the share tau_2. With r = min(mean |head| / mean |tail|, max_ratio),
    removal divides the head by r, and addition multiplies the tail by r. The rebuilt matrix is
    thresholded to a graph: an entry is an edge if it is above `cut` times the weight of that edge,
    or times the graph's mean weight if there is no such edge.

    Positive eigenvalues precede negative ones of equal size, and the vectors of one eigenvalue, or
    of one singular value, are never separated. The edges of a twin thus do not depend on the order
    of the nodes.

    Parameters
    ----------
    batch : GraphBatch
    energy_thresholds : tuple of float, default=(0.5, 0.75)
        (tau_1, tau_2), in (0, 1].
    max_ratio : float, default=10.0
        Upper bound of r, and the value of r if the tail is empty or zero.
    cut : float, default=0.5
        Threshold of the rebuilt matrix, in units of the weight.
    rng : RandomState, default=None
        Generator of the data of new edges, not used if edges have no data. None is NumPy's global
        generator.

    Returns
    -------
    list of GraphBatch
        ``[removed, added]``. A new edge has the graph's mean weight and the data of a random edge
        of the graph; a kept edge keeps its own.
    """
    parts: list[list[tuple[np.ndarray, ...]]] = [[], []]
    for block in _blocks(batch):
        A = block.A
        values, left, right = _decomposed(block)
        weight = np.where(A > 0, A, _mean_weight(A))
        for part, modified in zip(
            parts, _bent_spectra(values, energy_thresholds, max_ratio), strict=True
        ):
            rebuilt = (left * modified[:, np.newaxis, :]) @ right
            part.append(_pairs(batch, block, rebuilt > (cut + EIGENVALUE_TOL) * weight))
    return [_with_pairs(batch, part, rng) for part in parts]


def _decomposed(block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Decompose into (values, L, R) with A = L diag(values) R."""
    if block.is_symmetric:
        eigenvalues, U = np.linalg.eigh(block.A)
        return eigenvalues, U, U.swapaxes(1, 2)
    left, values, right = np.linalg.svd(block.A)
    return values, left, right


def _bent_spectra(
    values: np.ndarray, energy_thresholds: tuple[float, float], max_ratio: float
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues or singular values after removal and after addition, both of shape (g, n)."""
    size = np.abs(values)
    largest = size.max(axis=1, keepdims=True)
    unit = np.where(largest > 0, largest, 1.0) * EIGENVALUE_TOL
    level = np.round(size / unit)  # equal for values of equal size
    order = np.lexsort((-values, -level), axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
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


# -- graphs of one size as matrices, and back ------------------------------------------------------


def _blocks(batch: GraphBatch) -> Iterator[Block]:
    """Generate blocks of graphs of one size, with six arrays within working_memory."""
    sizes = batch.n_nodes_per_graph
    limit = working_memory() / (6 * 8)
    is_symmetric = _is_symmetric(batch)
    for n, symmetric in sorted(set(zip(sizes.tolist(), is_symmetric.tolist(), strict=True))):
        index = np.flatnonzero((sizes == n) & (is_symmetric == symmetric))
        step = max(1, int(limit // n**2))
        for some in np.split(index, range(step, len(index), step)):
            yield Block(some, _dense(batch, some), symmetric)


def _is_symmetric(batch: GraphBatch) -> np.ndarray:
    """Mark graphs with a symmetric adjacency, which includes undirected graphs."""
    symmetric = np.ones(len(batch), dtype=bool)
    if batch.directed:
        A = batch.adjacency.copy()
        A.sum_duplicates()
        symmetric[batch.graph_of_node[(A != A.T).tocoo().row]] = False
    return symmetric


def _dense(batch: GraphBatch, index: np.ndarray) -> np.ndarray:
    """Adjacency matrices of graphs of one size n, shape (len(index), n, n)."""
    n = int(batch.n_nodes_per_graph[index[0]])
    block = batch[index].adjacency.tocoo()
    cell = block.row.astype(np.int64) * n + block.col % n
    return np.bincount(cell, block.data, len(index) * n**2).reshape(-1, n, n)


def _mean_weight(A: np.ndarray) -> np.ndarray:
    """Mean weight of the edges of each graph (inf without edges), shape (g, 1, 1)."""
    n_entries = (A > 0).sum((1, 2), keepdims=True)
    return np.where(n_entries > 0, A.sum((1, 2), keepdims=True) / np.maximum(n_entries, 1), np.inf)


def _pairs(batch: GraphBatch, block: Block, is_edge: np.ndarray) -> tuple[np.ndarray, ...]:
    """Row, column and weight (if it is new) of each edge in `is_edge`, shape (g, n, n)."""
    graph, row, column = np.nonzero(is_edge & _is_listed(batch, is_edge.shape[1]))
    n_arcs = batch.n_arcs_per_graph[block.graphs]
    # Mean over arcs; parallel arcs count separately.
    mean_weight = block.A.sum((1, 2)) / np.maximum(n_arcs, 1)
    first_node = batch.node_ptr[block.graphs]
    return row + first_node[graph], column + first_node[graph], mean_weight[graph]


def _is_listed(batch: GraphBatch, n: int) -> np.ndarray:
    """Mark pairs of nodes that list an edge once, bool (n, n): above the diagonal, or ordered."""
    everything = np.ones((n, n), dtype=bool)
    return ~np.eye(n, dtype=bool) if batch.directed else np.triu(everything, k=1)


def _with_pairs(
    batch: GraphBatch,
    parts: list[tuple[np.ndarray, ...]],
    rng: np.random.RandomState | None,
) -> GraphBatch:
    """Batch with the edges in `parts` only."""
    row, column, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    row_of_edge, column_of_edge, edges = listed_edges(batch)
    key, key_of_edge = row * batch.n_nodes + column, row_of_edge * batch.n_nodes + column_of_edge
    kept, is_new = np.isin(key_of_edge, key), ~np.isin(key, key_of_edge)
    row, column, weight = row[is_new], column[is_new], weight[is_new]
    origin = np.zeros(len(row), dtype=np.int64)
    if has_edge_data(batch):
        ptr = np.searchsorted(row_of_edge, batch.node_ptr)  # the edges of a graph are contiguous
        graph = batch.graph_of_node[row]
        share = check_random_state(rng).random_sample(len(row))
        origin = edges[ptr[graph] + (share * np.diff(ptr)[graph]).astype(np.int64)]
    return with_edges(
        batch,
        np.concatenate([row_of_edge[kept], row]),
        np.concatenate([column_of_edge[kept], column]),
        np.concatenate([batch.adjacency.data[edges[kept]], weight]),
        np.concatenate([edges[kept], origin]),
    )


def has_edge_data(batch: GraphBatch) -> bool:
    """True if edges have categories or numbers."""
    return batch.edge_labels is not None or batch.edge_attributes is not None


def listed_edges(batch: GraphBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, column and arc of each edge; undirected edges are listed above the diagonal."""
    row = batch.source_of_arc
    column = batch.adjacency.indices.astype(np.int64)
    arcs = np.arange(len(row)) if batch.directed else np.flatnonzero(row < column)
    return row[arcs], column[arcs], arcs


def with_edges(
    batch: GraphBatch, row: np.ndarray, column: np.ndarray, weight: np.ndarray, origin: np.ndarray
) -> GraphBatch:
    """Replace the edges of a batch.

    Parameters
    ----------
    batch : GraphBatch
    row, column : ndarray of int, shape (m,)
        The ends of each edge, in any order. Undirected edges are listed once.
    weight : ndarray of shape (m,)
    origin : ndarray of int, shape (m,)
        Arc of `batch` that provides the data of each edge.

    Returns
    -------
    GraphBatch
    """
    if not batch.directed:
        row, column = np.concatenate([row, column]), np.concatenate([column, row])
        weight, origin = np.tile(weight, 2), np.tile(origin, 2)
    order = np.lexsort((column, row))
    indptr = offsets(np.bincount(row, minlength=batch.n_nodes))
    arcs = (weight[order], column[order], indptr)
    changes: dict[str, Any] = {"adjacency": sp.csr_array(arcs, shape=batch.adjacency.shape)}
    for name in ("edge_labels", "edge_attributes"):
        values = getattr(batch, name)
        if values is not None:
            changes[name] = values[origin[order]]
    return batch.replace(**changes)


# -- random edges ----------------------------------------------------------------------------------


def random_edge_twins(
    batch: GraphBatch, ratio: float, rng: np.random.RandomState
) -> list[GraphBatch]:
    """Make twins with a share of the edges removed or added at random (the paper's ablation).

    Parallel edges count as one, and are removed together.

    Parameters
    ----------
    batch : GraphBatch
    ratio : float
        Share of the edges, in [0, 1].
    rng : RandomState

    Returns
    -------
    list of GraphBatch
        ``[removed, added]``. A graph without room for all new edges becomes complete. A new edge
        has the graph's mean weight, and the data of a random edge of the graph.
    """
    parts: list[list[tuple[np.ndarray, ...]]] = [[], []]
    for block in _blocks(batch):
        has_edge = (block.A > 0) & _is_listed(batch, block.A.shape[1])
        count = np.floor(ratio * has_edge.sum((1, 2)) + 1e-9).astype(int)
        ticket = 1 + rng.random_sample(block.A.shape)
        gap = (block.A == 0) & _is_listed(batch, block.A.shape[1])
        removed = has_edge & ~_largest(ticket * has_edge, count)
        added = has_edge | _largest(ticket * gap, count)
        for part, is_edge in zip(parts, (removed, added), strict=True):
            part.append(_pairs(batch, block, is_edge))
    return [_with_pairs(batch, part, rng) for part in parts]


def _largest(values: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Mark the count[g] largest positive entries of each values[g]."""
    flat = values.reshape(len(values), -1)
    rank = np.argsort(np.argsort(-flat, axis=1), axis=1)
    return ((rank < count[:, np.newaxis]) & (flat > 0)).reshape(values.shape)
