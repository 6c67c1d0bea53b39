"""Twins: perturbed copies of graphs with the same nodes (Algorithm 1 of the paper).

Twins with other edges do not depend on learned weights, so they are made once per fit. A kept edge
keeps its data, and a new edge has the data of another edge of its graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from skgraphkde._utils import working_memory
from skgraphkde.core.graphs.arrays import full_blocks, offsets, ranges
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.refinement import hash64
from skgraphkde.core.points.propagation import node_colors

# Eigenvalues with a smaller difference, relative to the largest, are equal: LAPACK's error is
# 1e-14 n.
EIGENVALUE_TOL = 1e-9
# Threshold of a rebuilt matrix, in units of the weight.
CUT = 0.5
# Largest factor by which a singular value is divided or multiplied (r_max of the paper), and the
# factor if there is no tail.
MAX_RATIO = 10.0


@dataclass(frozen=True)
class Twins:
    """Twins of graphs: some edges removed or added, and some node features swapped.

    The spectrum consists of the singular values of the adjacency A, or of A + I, sorted by size.
    For a symmetric matrix its eigenpairs are used, and sizes of eigenvalues are the singular
    values. The head is the shortest prefix with the share tau_1 of the energy, the sum of squares,
    and the tail follows the shortest prefix with the share tau_2. With r the mean size in the head
    divided by that in the tail, but at most 10, removal divides the head by r, and addition
    multiplies the tail by r. The rebuilt matrix is thresholded to a graph: an entry is an edge if
    it is above half of the weight of that edge, or of the graph's mean weight if there is no such
    edge.

    Positive eigenvalues precede negative ones of equal size, and the vectors of one eigenvalue, or
    of one singular value, are never separated. The edges of a twin thus do not depend on the order
    of the nodes.

    A kept edge keeps its data. A new edge has the graph's mean weight and the data of a random edge
    of the graph.

    Parameters
    ----------
    swap : float, default=0.2
        Share of a graph's nodes whose features are permuted among them (r_swap of the paper), in
        [0, 1], rounded down: at 0.2, graphs of fewer than 10 nodes swap none. If edges have
        categories or numbers, the data of the same share of a graph's edges are permuted, too.
    energies : tuple of float or None, default=(0.5, 0.75)
        (tau_1, tau_2) with 0 < tau_1 <= tau_2 <= 1. None keeps the edges.
    self_loops : bool, default=True
        Whether the spectrum is that of A + I, with a self-loop of the graph's mean weight at each
        node, as in the code of the paper. The twins have none. With the spectrum of A, half of the
        twins of small molecules equal their graph.
    p_pert : float, default=1.0
        Largest share of a graph's singular values that change, in (0, 1]: the largest of the head,
        or of the tail.
    """

    swap: float = 0.2
    energies: tuple[float, float] | None = (0.5, 0.75)
    self_loops: bool = True
    p_pert: float = 1.0

    def structural(self, batch: GraphBatch, rng: np.random.RandomState) -> list[GraphBatch]:
        """Make twins with edges removed and with edges added, and with other data of edges.

        Parameters
        ----------
        batch : GraphBatch
            Graphs, before their features are computed.
        rng : RandomState
            Generator of the data of edges, not used if edges have no data.

        Returns
        -------
        list of GraphBatch
            ``[removed, added]``, both parallel to `batch`; ``[batch]``, but for the data of its
            edges, if `energies` is None.
        """
        twins = [batch]
        if self.energies is not None:
            twins = [_with_pairs(batch, key, rng) for key in self._pairs(batch)]
        return [swap_edges(twin, self.swap, rng) for twin in twins]

    def with_edges_removed(self, batch: GraphBatch) -> GraphBatch:
        """Make twins that only lack edges. Nothing is random.

        Parameters
        ----------
        batch : GraphBatch

        Returns
        -------
        GraphBatch
        """
        removed, _ = self._pairs(batch)
        row, column, _ = _listed_edges(batch)
        kept = np.intersect1d(removed, row * batch.n_nodes + column)
        return _with_pairs(batch, kept, np.random.RandomState(0))  # there is no new edge

    def _pairs(self, batch: GraphBatch) -> list[np.ndarray]:
        """Pairs of nodes with an edge after removal, and after addition: u * n_nodes + v."""
        keys: tuple[list[np.ndarray], list[np.ndarray]] = [], []
        for first_node, A, is_symmetric in _blocks(batch):
            for of_twin, is_edge in zip(keys, self._edges_of_twins(A, is_symmetric), strict=True):
                graph, row, column = np.nonzero(is_edge)
                once = row != column if batch.directed else row < column
                row, column = (first_node[graph] + x for x in (row, column))
                of_twin.append((row * batch.n_nodes + column)[once])
        return [np.concatenate(key) for key in keys]

    def _edges_of_twins(self, A: np.ndarray, is_symmetric: bool) -> list[np.ndarray]:
        """Marks of the edges of the two twins, shape (g, n, n) each."""
        n_pairs = np.maximum((A > 0).sum((1, 2), keepdims=True), 1)
        mean_weight = A.sum((1, 2), keepdims=True) / n_pairs
        weight = np.where(A > 0, A, mean_weight)
        if self.self_loops:
            A = A + mean_weight * np.eye(A.shape[1])
        if is_symmetric:
            values, left = np.linalg.eigh(A)
            right = left.swapaxes(1, 2)
        else:
            left, values, right = np.linalg.svd(A)
        spectra = [modified[:, np.newaxis, :] for modified in self._bent_spectra(values)]
        return [(left * x) @ right > (CUT + EIGENVALUE_TOL) * weight for x in spectra]

    def _bent_spectra(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues or singular values after removal and after addition, both (g, n)."""
        size = np.abs(values)
        largest = size.max(axis=1, keepdims=True)
        unit = np.where(largest > 0, largest, 1.0) * EIGENVALUE_TOL
        level = np.round(size / unit)  # equal for values of equal size
        order = np.lexsort((-values, -level), axis=1)
        ordered = np.take_along_axis(values, order, axis=1)
        energy = np.cumsum((ordered / np.where(largest > 0, largest, 1.0)) ** 2, axis=1)
        prefixes = []
        for threshold in self.energies or ():
            goal = (threshold - 1e-9) * energy[:, -1:]
            last = np.argmax(energy >= goal, axis=1)[:, np.newaxis]
            boundary = np.take_along_axis(ordered, last, axis=1)
            inside = np.arange(size.shape[1]) <= last
            prefixes.append(inside | (np.abs(ordered - boundary) <= 10 * unit))
        head = prefixes[0]
        tail = ~prefixes[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean_head = (np.abs(ordered) * head).sum(1) / head.sum(1)
            mean_tail = (np.abs(ordered) * tail).sum(1) / tail.sum(1)
            ratio = np.fmin(mean_head / mean_tail, MAX_RATIO)[:, np.newaxis]  # if no tail, max
        most = math.ceil(self.p_pert * size.shape[1])
        head, tail = (_first_values(part, most, ordered, unit) for part in (head, tail))
        back = np.argsort(order, axis=1)
        return (
            np.take_along_axis(np.where(head, ordered / ratio, ordered), back, axis=1),
            np.take_along_axis(np.where(tail, ordered * ratio, ordered), back, axis=1),
        )


def _first_values(part: np.ndarray, most: int, ordered: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Marks of the first `most` values of a part of each spectrum, and of those equal to the last.

    Parameters
    ----------
    part : ndarray of shape (g, n), bool
    most : int
    ordered : ndarray of shape (g, n)
        Values of each spectrum, the largest first.
    unit : ndarray of shape (g, 1)
        Differences of values up to ten times this are rounding errors.
    """
    position = np.cumsum(part, axis=1)
    last = np.argmax(position == np.minimum(most, position[:, -1:]), axis=1)[:, np.newaxis]
    boundary = np.take_along_axis(ordered, last, axis=1)
    return part & ((position <= most) | (np.abs(ordered - boundary) <= 10 * unit))


def swap_features(batch: GraphBatch, swap_ratio: float, rng: np.random.RandomState) -> GraphBatch:
    """Permute the features of floor(swap_ratio * n) random nodes of each graph among these nodes.

    Parameters
    ----------
    batch : GraphBatch
        Graphs with their features as attributes.
    swap_ratio : float
        In [0, 1].
    rng : RandomState

    Returns
    -------
    GraphBatch
    """
    chosen, target = _exchanges(batch.node_ptr, swap_ratio, rng)
    attributes = np.array(batch.attributes)
    attributes[target] = attributes[chosen]
    return batch.with_node_numbers(attributes)


def swap_edges(batch: GraphBatch, swap_ratio: float, rng: np.random.RandomState) -> GraphBatch:
    """Permute the data of floor(swap_ratio * m) random edges of each graph among these edges.

    The category and the numbers of an edge move together, in both directions if it is undirected.
    Weights do not move. Parallel edges count separately.

    Parameters
    ----------
    batch : GraphBatch
        Graphs with the data that were read, before their features are computed.
    swap_ratio : float
        In [0, 1].
    rng : RandomState

    Returns
    -------
    GraphBatch
        `batch` itself, without random draws, if its edges have no data or the ratio is 0.
    """
    if not (swap_ratio and _has_edge_data(batch)):
        return batch
    row, column, edges = _listed_edges(batch)
    chosen, target = _exchanges(np.searchsorted(row, batch.node_ptr), swap_ratio, rng)
    origin = edges.copy()
    origin[target] = edges[chosen]
    return _with_edges(batch, row, column, batch.adjacency.data[edges], origin)


def find_copies(graphs: GraphBatch, twins: GraphBatch, n_rounds: int) -> np.ndarray:
    """Mark the twins that have the same nodes as their graph, as far as an encoder can tell.

    Parameters
    ----------
    graphs, twins : GraphBatch
        With their node features as attributes; those of graph i at i, i + n, ...
    n_rounds : int
        Number of layers of the encoder.

    Returns
    -------
    ndarray of shape (n_twins,), bool
    """
    hashes = []
    for batch in (graphs, twins):
        colors = hash64(node_colors(batch, n_rounds)[-1])
        hashes.append(np.add.reduceat(colors, batch.node_ptr[:-1]))  # modulo 2^64
    return np.resize(hashes[0], len(twins)) == hashes[1]


def _exchanges(
    ptr: np.ndarray, ratio: float, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Draw floor(ratio * n) random items of each graph, and a permutation of them.

    Graph i owns the items ``ptr[i]`` to ``ptr[i + 1] - 1``.
    """
    sizes = np.diff(ptr)
    graph = np.repeat(np.arange(len(sizes)), sizes)
    shuffled = np.lexsort((rng.random_sample(len(graph)), graph))  # random order in each graph
    count = np.floor(ratio * sizes + 1e-9).astype(int)
    chosen = shuffled[ranges(ptr[:-1], ptr[:-1] + count)]
    return chosen, chosen[np.lexsort((rng.random_sample(len(chosen)), graph[chosen]))]


# -- graphs of one size as matrices, and back ------------------------------------------------------


def _blocks(batch: GraphBatch) -> Iterator[tuple[np.ndarray, np.ndarray, bool]]:
    """Generate blocks of g graphs of one size n, with six arrays within working_memory.

    Yields
    ------
    first_node : ndarray of shape (g,), int
        Indices in the batch.
    A : ndarray of shape (g, n, n)
        Adjacency; weights of parallel arcs are summed.
    is_symmetric : bool
    """
    sizes = batch.n_nodes_per_graph
    limit = working_memory() / (6 * 8)
    is_symmetric = np.ones(len(batch), dtype=bool)  # undirected graphs are
    if batch.directed:
        summed = batch.adjacency.copy()
        summed.sum_duplicates()
        is_symmetric[batch.graph_of_node[(summed != summed.T).tocoo().row]] = False
    for n, symmetric in sorted(set(zip(sizes.tolist(), is_symmetric.tolist(), strict=True))):
        index = np.flatnonzero((sizes == n) & (is_symmetric == symmetric))
        step = max(1, int(limit // n**2))
        for some in np.split(index, range(step, len(index), step)):
            first_node = batch.node_ptr[some]
            yield first_node, full_blocks(batch.adjacency, first_node, n), symmetric


def _with_pairs(batch: GraphBatch, key: np.ndarray, rng: np.random.RandomState) -> GraphBatch:
    """Replace the edges of a batch by those between the pairs (u, v) in `key`, u * n_nodes + v."""
    row_of_edge, column_of_edge, edges = _listed_edges(batch)
    key_of_edge = row_of_edge * batch.n_nodes + column_of_edge
    kept = np.isin(key_of_edge, key)
    row, column = np.divmod(key[~np.isin(key, key_of_edge)], batch.n_nodes)
    graph = batch.graph_of_node[row]
    total_weight = np.bincount(batch.graph_of_arc, batch.adjacency.data, len(batch))
    weight = total_weight[graph] / np.maximum(batch.n_arcs_per_graph[graph], 1)
    origin = np.zeros(len(row), dtype=np.int64)
    if _has_edge_data(batch):
        ptr = np.searchsorted(row_of_edge, batch.node_ptr)  # the edges of a graph are contiguous
        share = rng.random_sample(len(row))
        origin = edges[ptr[graph] + (share * np.diff(ptr)[graph]).astype(np.int64)]
    return _with_edges(
        batch,
        np.concatenate([row_of_edge[kept], row]),
        np.concatenate([column_of_edge[kept], column]),
        np.concatenate([batch.adjacency.data[edges[kept]], weight]),
        np.concatenate([edges[kept], origin]),
    )


def _has_edge_data(batch: GraphBatch) -> bool:
    """True if edges have categories or numbers."""
    return batch.edge_labels is not None or batch.edge_attributes is not None


def _listed_edges(batch: GraphBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, column and arc of each edge; undirected edges are listed above the diagonal."""
    row = batch.source_of_arc
    column = batch.adjacency.indices.astype(np.int64)
    arcs = np.arange(len(row)) if batch.directed else np.flatnonzero(row < column)
    return row[arcs], column[arcs], arcs


def _with_edges(
    batch: GraphBatch, row: np.ndarray, column: np.ndarray, weight: np.ndarray, origin: np.ndarray
) -> GraphBatch:
    """Replace the edges of a batch; `origin` is the arc that provides the data of each edge.

    The edges may be in any order. Undirected edges are listed once.
    """
    if not batch.directed:
        row, column = np.concatenate([row, column]), np.concatenate([column, row])
        weight = np.tile(weight, 2)
        origin = np.tile(origin, 2)
    order = np.lexsort((column, row))
    indptr = offsets(np.bincount(row, minlength=batch.n_nodes))
    arcs = (weight[order], column[order], indptr)
    return batch.replace(
        adjacency=sp.csr_array(arcs, shape=batch.adjacency.shape),
        edge=batch.data("edge").take(origin[order]),
    )
