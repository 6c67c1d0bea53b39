"""Copies: graphs that were given more than once, in whatever order of their nodes.

It takes a batch, and returns which graphs are alike, and whether there are more of them than chance
would give.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.stats import poisson

from skgraphkde._utils import compiled
from skgraphkde.graphs.arrays import offsets, with_data
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
# Numbers that differ by no more are equal, in units of the typical deviation from the median, and
# of the number itself far away from it: three digits, or single precision.
TOLERANCE = 1e-2
# Probabilities that differ by less are equal: sums in another order do. It is irrational, so that
# no fraction lies halfway between its multiples.
WALK_UNIT = np.pi * 1e-10
# Copies exceed chance if graphs come k + 1 times as seldom as they do with less than this
# probability, for k = 2 and for larger k, numbers of graphs being 1.5 standard errors too large or
# too small. If all graphs are equally common, that is so by chance in one list of a hundred.
LEVEL, LEVEL_BEYOND, ERRORS = 0.05, 1e-3, 1.5


def isomorphism_classes(batch: GraphBatch, n_known: int | None = None) -> np.ndarray:
    """The first graph that looks the same as each one.

    Two graphs look the same if refinement of colors (Weisfeiler and Leman, 1968), which begin with
    the categories of nodes and edges, ends with the same colors, random walks return to the nodes
    with the same probabilities, and the numbers of the nodes and edges of each color are the same,
    as are their means over the neighbors of each node. Weights count relative to their mean in a
    graph. Numbers that differ by no more than a hundredth of a typical deviation are the same: a
    copy in single precision, or from a file with few digits, is a copy.

    Parameters
    ----------
    batch : GraphBatch
    n_known : int, default=None
        Number of graphs, the first ones, by which numbers are scaled. The class of another graph
        that looks the same as one of these does not depend on the rest. None: all.

    Returns
    -------
    ndarray of shape (n_graphs,), int
        ``i`` itself for a graph that is the first of its kind.
    """
    kinds = _kinds(batch, _node_colors(batch, FEW_ROUNDS))
    _, inverse, counts = np.unique(kinds, return_inverse=True, return_counts=True)
    first, repeated = np.arange(len(batch)), np.flatnonzero(counts[inverse] > 1)
    if not len(repeated):
        return first
    some = batch[repeated]
    colors = _node_colors(some, MOST_ROUNDS)
    unweighted = with_data(some.adjacency, np.ones(some.adjacency.nnz))
    structure = some.replace(adjacency=unweighted)
    rounded = np.rint(return_probabilities(structure, WALK_STEPS) / WALK_UNIT)
    kinds = _kinds(some, hash64(hash_rows(rounded) + colors))
    known = batch if n_known is None else batch[:n_known]
    found = np.arange(len(some))
    order = np.argsort(kinds, kind="stable")
    _join(kinds, *_sorted_numbers(some, known, colors), order, TOLERANCE, found)
    first[repeated] = repeated[found]
    return first


def _node_colors(batch: GraphBatch, n_rounds: int) -> np.ndarray:
    """Colors of all nodes once they no longer split, or after so many rounds, shape (n_nodes,)."""
    colors = _data_colors(batch.n_nodes, batch.labels, batch.attributes)
    codes = None
    if batch.edge_labels is not None or batch.edge_attributes is not None:
        codes = _data_colors(batch.adjacency.nnz, batch.edge_labels, batch.edge_attributes)
    n_before = 0
    for new in refined(colors, messages(batch, codes, weighted=False), n_rounds):
        colors, n_colors = new, len(np.unique(new))
        if n_colors == n_before:
            break
        n_before = n_colors
    return colors


def _sorted_numbers(
    batch: GraphBatch, known: GraphBatch, colors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of graphs, in an order that does not depend on that of the nodes.

    Numbers of nodes and of arcs are sorted within the colors of a graph, each column by itself, so
    that they differ by no more than the numbers that were given.

    Parameters
    ----------
    batch, known : GraphBatch
        Graphs, and those by which numbers are scaled.
    colors : ndarray of shape (n_nodes,)

    Returns
    -------
    numbers : ndarray of shape (n_numbers,)
        Those of one graph after the other.
    first : ndarray of shape (n_graphs + 1,), int
        Position of the first one of each graph.
    """
    nodes, arcs, of_graphs = (
        _scaled(numbers, of_known)
        for numbers, of_known in zip(_numbers(batch), _numbers(known), strict=True)
    )
    A, source = batch.adjacency, batch.source_of_arc
    degrees = np.maximum(np.diff(A.indptr), 1)[:, np.newaxis]
    at_node = sp.csr_array((np.ones(A.nnz), np.arange(A.nnz), A.indptr), (len(colors), A.nnz))
    neighbors = with_data(A, np.ones(A.nnz)) @ nodes
    nodes = np.hstack([nodes, neighbors / degrees, at_node @ arcs / degrees])
    ends = hash64(hash64(colors)[source] + colors[A.indices])
    if batch.edge_labels is not None:
        ends = hash64(ends + np.asarray(batch.edge_labels).astype(np.uint64))
    parts = [
        (_sorted_within(nodes, batch.graph_of_node, colors), batch.graph_of_node),
        (_sorted_within(arcs, batch.graph_of_arc, ends), batch.graph_of_arc),
        (of_graphs, np.arange(len(batch))),
    ]
    numbers = np.concatenate([table.ravel() for table, _ in parts])
    owner = np.concatenate([np.repeat(graph, table.shape[1]) for table, graph in parts])
    first = offsets(np.bincount(owner, minlength=len(batch)))
    return numbers[np.argsort(owner, kind="stable")], first


def _numbers(batch: GraphBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of nodes, of arcs with their relative weights, and of graphs, a column each."""
    A, graph = batch.adjacency, batch.graph_of_arc
    mean = np.bincount(graph, A.data, len(batch)) / np.maximum(batch.n_arcs_per_graph, 1)
    weights = (A.data / mean[graph])[:, np.newaxis]
    tables = (batch.attributes, batch.edge_attributes, batch.graph_attributes)
    sizes = (batch.n_nodes, A.nnz, len(batch))
    nodes, arcs, of_graphs = (
        np.empty((n, 0)) if table is None else np.asarray(table, dtype=float)
        for table, n in zip(tables, sizes, strict=True)
    )
    return nodes, np.hstack([arcs, weights]), of_graphs


def _scaled(columns: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Numbers in units in which the tolerance holds; a missing one, which is a color, is 0.

    The unit is the median deviation of the known numbers from their median, without those that
    equal it. Beyond, it grows as the number does. Columns that never vary are left out.
    """
    scaled = np.zeros(columns.shape)
    with np.errstate(over="ignore", invalid="ignore"):  # of the largest floats
        for j, column in enumerate(known.T):
            given = column[~np.isnan(column)]
            center = np.median(given) if len(given) else 0.0
            deviations = np.abs(given - center)
            apart = deviations[deviations > 1e-9 * abs(center)]
            unit = np.median(apart) if len(apart) else max(abs(center), 1.0)
            scaled[:, j] = np.arcsinh((columns[:, j] - center) / unit)
    scaled = np.nan_to_num(scaled)
    return scaled[:, np.ptp(scaled, axis=0) > 0] if len(scaled) else scaled


def _sorted_within(table: np.ndarray, graph: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """Each column of a table sorted within the graphs and their colors."""
    orders = [np.lexsort((column, colors, graph)) for column in table.T]
    columns = [column[order] for column, order in zip(table.T, orders, strict=True)]
    return np.column_stack(columns) if columns else table


@compiled
def _join(kinds, numbers, first, order, tolerance, found):
    """Each graph joins the first one with the same numbers, unless that has joined another."""
    leaders, n_leaders = np.empty(len(order), dtype=np.int64), 0
    for position in range(len(order)):
        i = order[position]
        if position > 0 and kinds[i] != kinds[order[position - 1]]:
            n_leaders = 0
        for leader in leaders[:n_leaders]:
            n = first[i + 1] - first[i]
            is_same = n == first[leader + 1] - first[leader]
            for k in range(n):
                if not is_same:
                    break
                difference = numbers[first[i] + k] - numbers[first[leader] + k]
                is_same = abs(difference) <= tolerance
            if is_same:
                found[i] = leader
                break
        if found[i] == i:
            leaders[n_leaders] = i
            n_leaders += 1


def _data_colors(n: int, labels: np.ndarray | None, numbers: np.ndarray | None) -> np.ndarray:
    """Colors by the categories and missing numbers of each node, arc, or graph, shape (n,)."""
    colors = hash64(np.zeros(n, dtype=np.uint64))
    if labels is not None:
        colors = hash64(colors + np.asarray(labels).astype(np.uint64))
    if numbers is not None and np.isnan(numbers).any():
        colors = hash64(colors + hash_rows(np.isnan(numbers).astype(float)))
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
