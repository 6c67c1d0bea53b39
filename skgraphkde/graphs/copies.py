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
from skgraphkde.graphs.refinement import color_rows, mix, refined
from skgraphkde.graphs.relations import messages

# Colors that still split after so many rounds belong to paths and trees that differ far away.
MOST_ROUNDS = 30
# Steps of the walks that tell apart what refinement cannot, such as regular graphs.
WALK_STEPS = 16
# Numbers that differ by less, in standard deviations, are equal.
GRID = 1e-3
# Digits (binary) of the probabilities that are compared: sums in another order differ by less.
WALK_BITS = 30
# Copies exceed chance if graphs come k + 1 times as seldom as they do with less than this
# probability. It is large for graphs given twice, as a mistake costs only p-values that are too
# careful; small beyond, as numbers of common graphs (stars, cliques) have gaps by nature.
LEVELS = {2: 0.2, 3: 1e-3, 4: 1e-3, 5: 1e-3}


def first_copies(batch: GraphBatch) -> np.ndarray:
    """The first graph that looks the same as each one.

    Two graphs look the same if refinement of colors (Weisfeiler and Leman, 1968), which begin with
    all data of nodes and edges, ends with the same colors, and random walks return to the nodes
    with the same probabilities. Numbers are equal if they agree to a thousandth of a standard
    deviation: a copy in single precision, or from a file with few digits, is a copy.

    Parameters
    ----------
    batch : GraphBatch

    Returns
    -------
    ndarray of shape (n_graphs,), int
        ``i`` itself for a graph that is the first of its kind.
    """
    batch = _rounded(batch)
    kinds = _kinds(batch, _node_colors(batch))
    _, inverse, counts = np.unique(kinds, return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(counts[inverse] > 1)
    if len(repeated):
        some = batch[repeated]
        walks = return_probabilities(some, WALK_STEPS)
        rounded = np.rint(walks * 2.0**WALK_BITS)
        kinds[repeated] += _kinds(some, mix(color_rows(rounded) + _node_colors(some)))
    _, first, inverse = np.unique(kinds, return_index=True, return_inverse=True)
    return first[inverse]


def _rounded(batch: GraphBatch) -> GraphBatch:
    """The same graphs, their numbers rounded."""
    rounded = {
        name: None if values is None else _to_grid(np.asarray(values))
        for name, values in (
            ("attributes", batch.attributes),
            ("edge_attributes", batch.edge_attributes),
        )
    }
    A = batch.adjacency
    weights = _to_grid(A.data[:, np.newaxis])[:, 0]
    # A weight of 0 would be no edge.
    weights = np.where(weights > 0, weights, A.data)
    adjacency = sp.csr_array((weights, A.indices, A.indptr), shape=A.shape)
    return batch.replace(adjacency=adjacency, **rounded, schema=batch.schema)


def _to_grid(columns: np.ndarray) -> np.ndarray:
    """Columns rounded to multiples of a thousandth of their standard deviation."""
    step = GRID * np.nanstd(columns, axis=0) if len(columns) else np.ones(columns.shape[1])
    step = np.where((step > 0) & np.isfinite(step), step, 1.0)
    return np.where(step == 1.0, columns, np.rint(columns / step) * step)


def _node_colors(batch: GraphBatch) -> np.ndarray:
    """Colors of all nodes once they no longer split, shape (n_nodes,)."""
    colors = mix(np.zeros(batch.n_nodes, dtype=np.uint64))
    if batch.labels is not None:
        colors = mix(colors + np.asarray(batch.labels).astype(np.uint64))
    if batch.attributes is not None:
        colors = mix(colors + color_rows(np.asarray(batch.attributes)))
    passed, before = messages(batch, _edge_codes(batch), weighted=True), 0
    for new in refined(colors, passed, MOST_ROUNDS):
        colors, n_colors = new, len(np.unique(new))
        if n_colors == before:
            break
        before = n_colors
    return colors


def _edge_codes(batch: GraphBatch) -> np.ndarray | None:
    """A number for all that is known of each arc but its weight; None if nothing is."""
    codes = None
    if batch.edge_labels is not None:
        codes = mix(np.asarray(batch.edge_labels).astype(np.uint64))
    if batch.edge_attributes is not None:
        numbers = color_rows(np.asarray(batch.edge_attributes))
        codes = numbers if codes is None else mix(codes + numbers)
    return codes


def _kinds(batch: GraphBatch, colors: np.ndarray) -> np.ndarray:
    """One color for each graph, by those of its nodes, in any order; shape (n_graphs,)."""
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mix(colors))])  # modulo 2^64
    of_graph = total[batch.node_ptr[1:]] - total[batch.node_ptr[:-1]]
    return mix(of_graph + batch.n_nodes_per_graph.astype(np.uint64))


def exceed_chance(n_copies: np.ndarray) -> bool:
    """Whether graphs come more often than they do if each is drawn at random, with its own chance.

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
    f = np.bincount(n_copies, minlength=max(LEVELS) + 2).astype(float)
    least = {k: k / (k + 1) * f[k] ** 2 / (f[k - 1] + 1) for k in LEVELS}
    return any(poisson.cdf(f[k + 1], least[k]) < level for k, level in LEVELS.items())
