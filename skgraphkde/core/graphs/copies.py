"""Copies: a batch -> which graphs look the same, and whether more do than chance explains."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.stats import hypergeom, poisson

from skgraphkde.core.graphs.arrays import LARGEST, ROUNDING, codes_in, offsets, ranges, with_data
from skgraphkde.core.graphs.batch import GraphBatch, is_spatial
from skgraphkde.core.graphs.random_walks import return_probabilities
from skgraphkde.core.graphs.refinement import (
    Messages,
    hash64,
    hash_rows,
    messages,
    quantize,
    refine_to_the_end,
    refined,
)
from skgraphkde.core.graphs.schema import PARTS

# After so many rounds of refinement most graphs differ that ever will.
FEW_ROUNDS = 3
# Bits of a double that single precision lacks.
SINGLE_PRECISION_BITS = 29
# Probabilities that differ by less are equal: sums in another order do. It is irrational, so that
# no fraction lies halfway between its multiples.
WALK_UNIT = np.pi * 1e-10
# Numbers were rounded if they differ by no more, in units of a typical deviation, and so many times
# more from the numbers of all other graphs. Among points on a line, the first neighbor is so much
# nearer than the next one by chance once in a hundred.
ROUNDED = 2e-2
APART = 50
# A graph may be there with numbers rounded in fewer ways.
N_NEIGHBORS = 8
# Numbers are far from 0 if their median is so many times as large as their deviation from it.
FAR_FROM_0 = 1e3
# Copies exceed chance if graphs come k + 1 times as seldom as they do with less than this
# probability, for k = 2 and for larger k, numbers of graphs being 1.5 standard errors too large or
# too small. If all graphs are equally common, that is so by chance in one list of a hundred.
LEVEL = 0.05
LEVEL_BEYOND = 1e-3
ERRORS = 1.5
# Graphs are given again if by chance so many would be known with less than this probability.
LEVEL_KNOWN = 1e-3


def isomorphism_classes(batch: GraphBatch, known: GraphBatch | None = None) -> np.ndarray:
    """The first graph that looks the same as each one, in whatever order of the nodes.

    Two graphs look the same if refinement (Weisfeiler and Leman, 1968) gives their nodes the same
    colors, after however many rounds. Colors begin with the data of the nodes, with their names
    where these count, and with short random walks, which tell regular graphs apart, and pass along
    edges with the data of these. Numbers and weights count in single precision; those far from 0,
    such as seconds since 1970, less their median.

    Parameters
    ----------
    batch : GraphBatch
    known : GraphBatch, default=None
        Graphs whose median it is. None: all of them.

    Returns
    -------
    ndarray of shape (n_graphs,), int
        ``i`` itself for a graph that is the first of its kind.
    """
    batch = _without_offsets(batch, batch if known is None else known)
    hashes = _hash_graphs(batch, FEW_ROUNDS)
    _, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(counts[inverse] > 1)
    if len(repeated):
        some = batch[repeated]
        unweighted = with_data(some.adjacency, np.ones(some.adjacency.nnz))
        walks = return_probabilities(some.replace(adjacency=unweighted))
        colors, passed = _data_of_nodes(some, hash_rows(np.rint(walks / WALK_UNIT)))
        hashes[repeated] = _hash_of_graphs(some, refine_to_the_end(colors, passed))
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    return first[inverse]


def _without_offsets(batch: GraphBatch, known: GraphBatch) -> GraphBatch:
    """Graphs with numbers less the median of known ones, where it would hide differences."""
    changes = {}
    for part in PARTS:
        data = batch.data(part)
        numbers = known.data(part).numbers
        if numbers is None or not len(numbers):
            continue
        is_given = ~np.isnan(numbers).all(axis=0)
        centers = np.zeros(numbers.shape[1])
        centers[is_given] = np.nanmedian(numbers[:, is_given], axis=0)
        deviations = np.nan_to_num(np.abs(numbers - centers)).mean(axis=0)
        is_offset = np.abs(centers) > FAR_FROM_0 * deviations
        if is_offset.any():
            changes[part] = data._replace(numbers=data.numbers - np.where(is_offset, centers, 0.0))
    return batch.replace(**changes) if changes else batch


def _hash_graphs(batch: GraphBatch, n_rounds: int) -> np.ndarray:
    """Hash of each graph after some rounds of refinement, shape (n_graphs,)."""
    *_, colors = refined(*_data_of_nodes(batch), n_rounds)
    return _hash_of_graphs(batch, colors)


def _data_of_nodes(
    batch: GraphBatch, of_walks: np.ndarray | int = 0
) -> tuple[np.ndarray, list[Messages]]:
    """Colors of nodes by their data and their walks, and along what refinement passes them."""
    A = batch.adjacency
    arcs = None
    colors = hash64(hash_data(batch.n_nodes, batch.labels, batch.attributes) + of_walks)
    if batch.name_keys is not None:
        colors = hash64(colors + batch.name_keys)
    if batch.edge_labels is not None or batch.edge_attributes is not None or (A.data != 1).any():
        weights = A.data[:, np.newaxis]
        arcs = hash_data(A.nnz, batch.edge_labels, batch.edge_attributes, weights)
    return colors, messages(batch, arcs, weighted=False)


def _hash_of_graphs(batch: GraphBatch, colors: np.ndarray) -> np.ndarray:
    """Hash of each graph by the colors of its nodes and its own data, shape (n_graphs,)."""
    hashes = np.add.reduceat(hash64(colors.astype(np.uint64)), batch.node_ptr[:-1])  # modulo 2^64
    return hashes + hash_data(len(batch), batch.graph_labels, batch.graph_attributes)


def sample_by_content(batch: GraphBatch, most: int) -> np.ndarray:
    """Select at most `most` graphs by hashes of what they are.

    The selection depends neither on the order of graphs and nodes, nor on the names of categories,
    nor on digits that single precision lacks. A graph more or less changes few of the others that
    are selected. Copies of a graph have their share of the sample; among graphs that nothing but
    the names of their categories tells apart, their order decides.

    Parameters
    ----------
    batch : GraphBatch
    most : int

    Returns
    -------
    ndarray of int
        Indices, ascending.
    """
    if len(batch) <= most:
        return np.arange(len(batch))
    by_frequency = _hash_without_names(batch)
    order = np.lexsort((_hash_without_names(batch, by_frequency), by_frequency))
    hashes = pd.Series(by_frequency[order])
    place = hashes.groupby(hashes).cumcount().to_numpy(np.uint64)
    keys = hash64(hashes.to_numpy() + hash64(place))
    return np.sort(order[np.argsort(keys, kind="stable")[:most]])


def _hash_without_names(batch: GraphBatch, hashes: np.ndarray | None = None) -> np.ndarray:
    """Hash of each graph, in which each category is known by its frequency, in powers of root 2.

    Given hashes of the graphs, each category is known by those of its graphs instead.
    """
    changes = {}
    for part in PARTS:
        data = batch.data(part)
        labels, names, _ = data
        if labels is None:
            continue
        if hashes is None:
            counts = np.bincount(labels, minlength=len(names))
            of_names = np.rint(2 * np.log2(np.maximum(counts, 1)))
        else:
            sums = np.zeros(len(names), dtype=np.uint64)
            np.add.at(sums, labels, hash64(hashes)[batch.owner(part)])
            of_names = sums >> np.uint64(24)  # to be exact as doubles
        changes[part] = data._replace(labels=of_names[labels])
    return _hash_graphs(batch.replace(**changes), FEW_ROUNDS)


def kinds_of(known: GraphBatch, *others: GraphBatch) -> list[np.ndarray]:
    """Number the graphs of batches so that copies, and no others, have the same number.

    Coordinates, which features ignore, do not count.

    Parameters
    ----------
    known : GraphBatch
        Graphs that say what coordinates are.
    *others : GraphBatch

    Returns
    -------
    list of ndarray of int
        Numbers of the known graphs and of each other batch: the position of the first copy, see
        :func:`isomorphism_classes`.
    """
    batches = [known, *others]
    graphs = GraphBatch.concatenate(batches)
    if graphs.attributes is not None:
        graphs = _without_coordinates(graphs, is_spatial(known))
    # What other graphs are copies of does not depend on those beside them.
    kinds = isomorphism_classes(graphs, known if len(known) else None)
    return np.split(kinds, np.cumsum([len(batch) for batch in batches])[:-1])


def _without_coordinates(graphs: GraphBatch, are_coordinates: np.ndarray) -> GraphBatch:
    attributes = np.where(are_coordinates, 0.0, np.asarray(graphs.attributes))
    return graphs.replace(node=graphs.data("node")._replace(numbers=attributes))


# -- numbers that were rounded ---------------------------------------------------------------------


def kinds_but_for_rounding(graphs: GraphBatch) -> np.ndarray:
    """Number graphs so that copies have the same number, also if their numbers were rounded.

    A graph is near its copy, wherever the borders of rounding are, and far from all others. So
    graphs with the same structure and categories are compared by their sorted numbers; near ones
    form a cluster, in which refinement finds the copies. Where distinct graphs are close to each
    other, as many with one number each are, none is a copy of its neighbor.

    Parameters
    ----------
    graphs : GraphBatch

    Returns
    -------
    ndarray of shape (n_graphs,), int
        The position of the first copy.
    """
    (kinds,) = kinds_of(graphs)
    distinct, place = np.unique(kinds, return_inverse=True)
    if graphs.attributes is not None:
        graphs = _without_coordinates(graphs, is_spatial(graphs))
    some = _with_numbers_in_units(graphs[distinct])
    cluster, width = _clusters(some)
    near = np.flatnonzero(np.bincount(cluster)[cluster] > 1)
    if len(near):
        some = some[near]
        cluster = cluster[near]
        changes = {}
        for part in PARTS:
            data = some.data(part)
            if data.numbers is not None:
                numbers = _joined(data.numbers, cluster[some.owner(part)], width)
                changes[part] = data._replace(numbers=numbers)
        joined = isomorphism_classes(some.replace(**changes))
        distinct[near] = distinct[near[joined]]
    return distinct[place]


def _with_numbers_in_units(graphs: GraphBatch) -> GraphBatch:
    """Graphs with numbers in units of typical deviations, and weights as a number of edges."""
    A = graphs.adjacency
    changes = {}
    for part in PARTS:
        data = graphs.data(part)
        numbers = data.numbers
        if part == "edge" and (A.data != 1).any():
            weights = A.data[:, np.newaxis]
            numbers = weights if numbers is None else np.hstack([numbers, weights])
        if numbers is not None:
            changes[part] = data._replace(numbers=_in_units(numbers))
    unweighted = with_data(A, np.ones(A.nnz))
    return graphs.replace(adjacency=unweighted, **changes)


def _in_units(numbers: np.ndarray) -> np.ndarray:
    """Columns in units of their median deviation from the median, without those that equal it.

    Far away from it, units grow as the numbers do: there, digits are rounded, not decimals.
    """
    result = np.full(numbers.shape, np.nan)
    for j, column in enumerate(numbers.T):
        given = column[~np.isnan(column)]
        if len(given):
            center = np.median(given)
            deviations = np.abs(given - center)
            deviations = deviations[deviations > ROUNDING * abs(center)]
            unit = np.median(deviations) if len(deviations) else 1.0
            result[:, j] = np.arcsinh((column - center) / max(unit, 1 / LARGEST))
    return result


def _clusters(graphs: GraphBatch) -> tuple[np.ndarray, np.ndarray]:
    """The cluster of each graph, and the largest distance between neighbors in each one."""
    n = len(graphs)
    missing = {}
    tables = []
    sums, counts = np.zeros((2, n))
    for part in PARTS:
        data = graphs.data(part)
        numbers = data.numbers
        owner = graphs.owner(part)
        if numbers is None:
            continue
        missing[part] = data._replace(numbers=np.isnan(numbers))
        orders = [np.lexsort((column, owner)) for column in numbers.T]
        columns = [column[order] for column, order in zip(numbers.T, orders, strict=True)]
        table = np.nan_to_num(np.column_stack(columns))
        n_rows = np.bincount(owner, minlength=n)
        tables.append((table, offsets(n_rows)))
        sums += np.bincount(owner, table.sum(axis=1), n)
        counts += n_rows * table.shape[1]
    pairs = [np.zeros((2, 0), dtype=np.intp)]
    distances = [np.zeros(0)]
    if tables:
        structure = _hash_graphs(graphs.replace(**missing), FEW_ROUNDS)
        for alike in _with_near_values(structure, sums / np.maximum(counts, 1)):
            rows = [table[ranges(first[alike], first[alike + 1])] for table, first in tables]
            i, j, distance = _neighbors(np.hstack([x.reshape(len(alike), -1) for x in rows]))
            pairs.append(alike[np.array([i, j])])
            distances.append(distance)
    (i, j), distance = np.hstack(pairs), np.concatenate(distances)
    links = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    n_clusters, cluster = connected_components(links, directed=False)
    width = np.zeros(n_clusters)
    np.maximum.at(width, cluster[i], distance)
    return cluster, width


def _with_near_values(groups: np.ndarray, values: np.ndarray) -> Iterable[np.ndarray]:
    """The indices of each group in which two values, of graphs their means, are near each other."""
    order = np.lexsort((values, groups))
    is_same = np.diff(groups[order]) == 0
    is_near = np.diff(values[order]) < ROUNDED
    some = np.flatnonzero(np.isin(groups, groups[order[1:][is_same & is_near]]))
    return (
        some[members] for members in pd.Series(groups[some]).groupby(groups[some]).indices.values()
    )


def _neighbors(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of points that are near each other and far from all others, and their distances."""
    tree = cKDTree(points)
    k = min(len(points), N_NEIGHBORS + 1)
    nearest = tree.query(points, 2, p=np.inf, distance_upper_bound=ROUNDED)[0][:, 1]
    some = np.flatnonzero(np.isfinite(nearest))
    bound = APART * ROUNDED
    distances, others = tree.query(points[some], k, p=np.inf, distance_upper_bound=bound)
    # How far the next one is; that after the last of several is not known.
    after = np.full(len(some), np.inf if k == len(points) else 0.0)
    following = np.column_stack([distances[:, 1:], after])
    is_end = (distances < ROUNDED) & (following > 0) & (following >= APART * distances)
    n_near = np.where(is_end, np.arange(1, k + 1), 0).max(axis=1, initial=0)
    i, at = np.nonzero(np.arange(k) < n_near[:, np.newaxis])
    return some[i], others[i, at], distances[i, at]


def _joined(numbers: np.ndarray, cluster: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Numbers the groups of near numbers in each column; no group is of two clusters."""
    result = np.full(numbers.shape, np.nan)
    for j, column in enumerate(numbers.T):
        order = np.lexsort((column, cluster))
        gap = np.diff(column[order], prepend=np.nan)  # neither of the first number nor next to NaN
        is_same = gap <= width[cluster[order]] + ROUNDING
        is_same[1:] &= cluster[order[1:]] == cluster[order[:-1]]
        result[order, j] = np.cumsum(~is_same)
    return np.where(np.isnan(numbers), np.nan, result)


class KnownGraphs:
    """Graphs that were fitted, to notice if they are given again.

    These are copies of new ones, see :func:`kinds_of`; hashes say which of them may be.

    Parameters
    ----------
    graphs : GraphBatch
        All of them.
    sample : ndarray of int
        Indices of those that repeat each other as often as new graphs repeat them.

    Attributes
    ----------
    n_repeated : int
        Number of these that look like another one.
    """

    def __init__(self, graphs: GraphBatch, sample: np.ndarray) -> None:
        self._vocabularies = {part: graphs.data(part).names for part in PARTS}
        self._is_spatial = None if graphs.attributes is None else is_spatial(graphs)
        graphs = self._without_coordinates(graphs)
        kinds = isomorphism_classes(graphs)
        _, of_sample, counts = np.unique(kinds[sample], return_inverse=True, return_counts=True)
        self._n = len(sample)
        self.n_repeated = int((counts[of_sample] > 1).sum())
        self._distinct = graphs[np.unique(kinds)]
        self._hashes_of_distinct = self._hashes(self._distinct)

    def _without_coordinates(self, graphs: GraphBatch) -> GraphBatch:
        if self._is_spatial is None:
            return graphs
        return _without_coordinates(graphs, self._is_spatial)

    def _hashes(self, graphs: GraphBatch) -> np.ndarray:
        """Hash of each graph, which does not depend on the others."""
        changes = {}
        for part in PARTS:
            data = graphs.data(part)
            if data.labels is not None:
                codes = codes_in(data.names, self._vocabularies[part])
                changes[part] = data._replace(labels=codes[data.labels])
        graphs = graphs.replace(**changes)
        hashes = np.empty(len(graphs), dtype=np.uint64)
        # Weights are no part of the hash where all are 1.
        is_weighted = np.bincount(graphs.graph_of_arc, graphs.adjacency.data != 1, len(graphs)) > 0
        for some in (np.flatnonzero(is_weighted), np.flatnonzero(~is_weighted)):
            if len(some):
                hashes[some] = _hash_graphs(graphs[some], FEW_ROUNDS)
        return hashes

    def contain(self, graphs: GraphBatch) -> np.ndarray:
        """Mark graphs that look like a known one.

        Parameters
        ----------
        graphs : GraphBatch
            Graphs that were read as the known ones.

        Returns
        -------
        ndarray of shape (n_graphs,), bool
        """
        graphs = self._without_coordinates(graphs)
        hashes = self._hashes(graphs)
        is_known = np.isin(hashes, self._hashes_of_distinct)
        some = np.flatnonzero(is_known)
        if len(some):
            known = self._distinct[np.isin(self._hashes_of_distinct, hashes[some])]
            both = GraphBatch.concatenate([known, graphs[some]])
            kinds = isomorphism_classes(both, self._distinct)
            is_known[some] = kinds[len(known) :] < len(known)
        return is_known

    def exceed_chance(self, n_known: int, n: int) -> bool:
        """True if so many known ones among n graphs mean that graphs are given again.

        Small graphs repeat by chance. If new graphs come from the same source, each subset of all
        graphs is as likely to be the new ones, and the number of repeated graphs among these has a
        hypergeometric distribution (Fisher's exact test).
        """
        n_repeated = self.n_repeated + n_known
        return bool(hypergeom.sf(n_known - 1, self._n + n, n_repeated, n) < LEVEL_KNOWN)


def hash_data(n_rows: int, labels: np.ndarray | None, *tables: np.ndarray | None) -> np.ndarray:
    """Hash the data of nodes, arcs or graphs, with numbers in single precision.

    Parameters
    ----------
    n_rows : int
    labels : ndarray of shape (n_rows,), int, or None
    *tables : ndarray of shape (n_rows, n_columns), or None

    Returns
    -------
    ndarray of shape (n_rows,), uint64
    """
    columns = [np.zeros(n_rows) if labels is None else np.asarray(labels)]
    for table in tables:
        if table is not None:
            columns.append(quantize(table, SINGLE_PRECISION_BITS).astype(float))
    return hash_rows(np.column_stack(columns))


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
    for k in range(2, len(f)):
        if f[k] > 1:
            most_before = f[k - 1] + ERRORS * np.sqrt(f[k - 1]) + 1
            fewest = max(f[k] - ERRORS * np.sqrt(f[k]), 0)
            expected = k / (k + 1) * fewest**2 / most_before
            n_next = f[k + 1] if k + 1 < len(f) else 0
            if poisson.cdf(n_next, expected) < (LEVEL if k == 2 else LEVEL_BEYOND):
                return True
    return False
