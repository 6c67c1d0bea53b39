"""Copies: graphs that were given more than once, in whatever order of their nodes.

It takes a batch, and returns which graphs are alike, and whether there are more of them than chance
would give.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.stats import poisson

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.random_walks import return_probabilities
from skgraphkde.graphs.refinement import hash64, hash_rows, refined
from skgraphkde.graphs.relations import messages

# Colors that still split after so many rounds belong to paths and trees that differ far away.
MOST_ROUNDS = 30
# After so many rounds few graphs are left that could be copies.
FEW_ROUNDS = 3
# Steps of the walks that tell apart what refinement cannot, such as regular graphs.
WALK_STEPS = 16
NUMBERS = ("attributes", "edge_attributes", "graph_attributes")
# Numbers that differ by less, in standard deviations, are equal.
GRID = 1e-3
# Probabilities that differ by less are equal: sums in another order do. It is irrational, so that
# no fraction lies halfway between its multiples.
WALK_UNIT = np.pi * 1e-10
# Copies exceed chance if graphs come k + 1 times as seldom as they do with less than this
# probability, for k = 2 and for larger k, numbers of graphs being 1.5 standard errors too large or
# too small. If all graphs are equally common, that is so by chance in one list of a hundred.
LEVEL, LEVEL_BEYOND, ERRORS = 0.05, 1e-3, 1.5


def isomorphism_classes(batch: GraphBatch) -> np.ndarray:
    """The first graph that looks the same as each one.

    Two graphs look the same if refinement of colors (Weisfeiler and Leman, 1968), which begin with
    all data of nodes and edges, ends with the same colors, and random walks return to the nodes
    with the same probabilities. Weights count relative to their mean in a graph. Numbers are equal
    if they agree to a thousandth of a standard deviation: a copy in single precision, or from a
    file with few digits, is a copy.

    Parameters
    ----------
    batch : GraphBatch

    Returns
    -------
    ndarray of shape (n_graphs,), int
        ``i`` itself for a graph that is the first of its kind.
    """
    batch = _rounded(batch)
    kinds = _kinds(batch, _node_colors(batch, FEW_ROUNDS))
    _, inverse, counts = np.unique(kinds, return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(counts[inverse] > 1)
    if len(repeated):
        some = batch[repeated]
        colors = _node_colors(some, MOST_ROUNDS)
        rounded = np.rint(return_probabilities(some, WALK_STEPS) / WALK_UNIT)
        kinds[repeated] += _kinds(some, hash64(hash_rows(rounded) + colors))
    _, first, inverse = np.unique(kinds, return_index=True, return_inverse=True)
    return first[inverse]


def _rounded(batch: GraphBatch) -> GraphBatch:
    """The graphs with rounded numbers, and weights relative to their mean in a graph."""
    numbers = {x: getattr(batch, x) for x in NUMBERS}
    rounded = {name: _to_grid(x) for name, x in numbers.items() if x is not None}
    A, graph = batch.adjacency, batch.graph_of_arc
    mean = np.bincount(graph, A.data, len(batch)) / np.maximum(batch.n_arcs_per_graph, 1)
    relative = A.data / mean[graph]
    weights = _to_grid(relative[:, np.newaxis])[:, 0]
    # A weight of 0 would be no edge.
    weights = np.where(weights > 0, weights, relative)
    adjacency = sp.csr_array((weights, A.indices, A.indptr), shape=A.shape)
    return batch.replace(adjacency=adjacency, **rounded, schema=batch.schema)


def _to_grid(columns: np.ndarray) -> np.ndarray:
    """Columns rounded to multiples of a thousandth of their standard deviation."""
    step = GRID * np.nanstd(columns, axis=0) if len(columns) else np.ones(columns.shape[1])
    step = np.where((step > 0) & np.isfinite(step), step, 1.0)
    return np.where(step == 1.0, columns, np.rint(columns / step) * step)


def _node_colors(batch: GraphBatch, n_rounds: int) -> np.ndarray:
    """Colors of all nodes once they no longer split, or after so many rounds, shape (n_nodes,)."""
    colors = _data_colors(batch.n_nodes, batch.labels, batch.attributes)
    codes = None
    if batch.edge_labels is not None or batch.edge_attributes is not None:
        codes = _data_colors(batch.adjacency.nnz, batch.edge_labels, batch.edge_attributes)
    n_before = 0
    for new in refined(colors, messages(batch, codes, weighted=True), n_rounds):
        colors, n_colors = new, len(np.unique(new))
        if n_colors == n_before:
            break
        n_before = n_colors
    return colors


def _data_colors(n: int, labels: np.ndarray | None, numbers: np.ndarray | None) -> np.ndarray:
    """Colors by the data of each node, arc, or graph, shape (n,)."""
    colors = hash64(np.zeros(n, dtype=np.uint64))
    if labels is not None:
        colors = hash64(colors + np.asarray(labels).astype(np.uint64))
    if numbers is not None:
        colors = hash64(colors + hash_rows(np.asarray(numbers)))
    return colors


def _kinds(batch: GraphBatch, colors: np.ndarray) -> np.ndarray:
    """One color for each graph, by those of its nodes, in any order; shape (n_graphs,)."""
    of_graph = np.add.reduceat(hash64(colors), batch.node_ptr[:-1])  # modulo 2^64
    of_graph = hash64(of_graph + batch.n_nodes_per_graph.astype(np.uint64))
    if batch.graph_labels is None and batch.graph_attributes is None:
        return of_graph
    return hash64(of_graph + _data_colors(len(batch), batch.graph_labels, batch.graph_attributes))


def has_excess_duplicates(n_copies: np.ndarray) -> bool:
    """True if graphs repeat more often than random draws, each with its own chance, would give.

    Let f_k graphs come k times. If the graphs are drawn at random, the expectations of k! f_k are
    the moments of a measure, so by Cauchy and Schwarz

        E f_{k+1} >= k / (k + 1) (E f_k)^2 / E f_{k-1},

    however common each graph is: where many graphs come twice, some come three times. In a list
    that contains another list twice, none does, and all graphs come equally often.

    Parameters
    ----------
    n_copies : ndarray of shape (n_distinct,), int
        How often each graph comes.
    """
    if len(n_copies) > 1 and n_copies.min() == n_copies.max() > 1:
        return True  # all equally often
    f = np.bincount(n_copies, minlength=4).astype(float)
    error = ERRORS * np.sqrt(f)
    k = np.arange(2, len(f))
    k = k[f[k] > 1]
    most_before, least = (f + error)[k - 1] + 1, np.maximum(f - error, 0)[k]
    expected = k / (k + 1) * least**2 / most_before
    level = np.where(k == 2, LEVEL, LEVEL_BEYOND)
    return bool((poisson.cdf(np.append(f, 0)[k + 1], expected) < level).any())
