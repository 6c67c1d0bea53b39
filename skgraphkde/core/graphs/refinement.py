"""Relations and color refinement: what nodes see along their arcs.

Relations are the arcs of a batch by direction and category. Undirected graphs whose edges have no
categories have one kind of arcs, and no relations.

Refinement takes a color per node, and returns the colors after each round, in which a node gets a
new one by its own and by those of its neighbors (Weisfeiler and Leman, 1968). Nodes with equal
colors look alike up to some radius. Colors are hashes of 64 bits, the same in every process. Nodes
that look the same have equal colors in any batch; two others have equal colors with a probability
of 2^-64, so that of n distinct colors two are equal with one of about n^2 / 2^65: 3e-6 for ten
million.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from skgraphkde._utils import elementwise
from skgraphkde.core.graphs.arrays import codes_in, offsets, ranges, with_data
from skgraphkde.core.graphs.batch import GraphBatch

# Categories that are told apart; the others are one.
MOST_CATEGORIES = 16
# The increment of SplitMix64, without which the hash of 0 would be 0.
INCREMENT = np.uint64(0x9E3779B97F4A7C15)
# Trailing bits of a float that are ignored: sums in another order differ by up to 2^-40.
ROUNDING_BITS = 12
# Standardized numbers that differ by less than about this are equal.
UNIT = 1e-6
# Numbers that are hashed at once: 8 MiB, a cache full.
NUMBERS = 2**20


# -- relations -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EdgeGroups:
    """The categories of edges that are told apart: the 16 most frequent, and the others as one.

    They are in the order of :func:`by_frequency`.

    Parameters
    ----------
    directed : bool
    categories : tuple
        Those that are groups of their own; () without categories.
    has_others : bool
        Whether there are more.
    """

    directed: bool
    categories: tuple[Hashable, ...]
    has_others: bool

    @classmethod
    def fit(cls, batch: GraphBatch) -> Self:
        """Learn which categories are frequent."""
        if batch.edge_labels is None:
            return cls(batch.directed, (), False)
        of_nodes = batch.once(looks)
        ends = hash64(of_nodes)[batch.source_of_arc] + of_nodes[batch.adjacency.indices]
        present = by_frequency(batch.edge_labels, ends)
        categories = tuple(batch.edge_label_names[i] for i in present[:MOST_CATEGORIES])
        return cls(batch.directed, categories, len(present) > len(categories))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the groups; one without a name if there are no categories."""
        names = tuple(str(x) for x in self.categories)
        return (*names, "others") if self.has_others else names or ("",)

    @property
    def prefixes(self) -> list[str]:
        """Direction and name of each relation, to be written before a noun."""
        prefixes = []
        for direction in ("out ", "in ") if self.directed else ("",):
            prefixes += [direction + (f"{name} " if name else "") for name in self.names]
        return prefixes

    @property
    def n_relations(self) -> int:
        """Groups times directions; 0 if all arcs are alike."""
        n_groups = len(self.categories) + self.has_others
        return 2 * max(n_groups, 1) if self.directed else n_groups

    def of_arcs(self, batch: GraphBatch) -> np.ndarray:
        """The group of each arc, shape (n_arcs,); the number of groups if it is of none."""
        n_categories = len(self.categories)  # the code of all others, which are a group, or of none
        if batch.edge_labels is None:
            return np.full(batch.adjacency.nnz, n_categories)
        return codes_in(batch.edge_label_names, self.categories, n_categories)[batch.edge_labels]


def by_frequency(codes: np.ndarray, contents: np.ndarray) -> np.ndarray:
    """Order categories so that other names, or another order of the graphs, change nothing.

    Parameters
    ----------
    codes : ndarray of shape (n,), int
        The category of each of some things.
    contents : ndarray of shape (n,), uint64
        Hashes of these things, whose means decide on the order of equally frequent categories; if
        each thing is there twice, nothing changes.

    Returns
    -------
    ndarray of int
        The categories that are there, the most frequent first.
    """
    found = pd.Series(hash64(contents) / 2.0**64).groupby(codes).agg(["size", "mean"])
    return found.index.to_numpy()[np.lexsort((found["mean"].round(9), -found["size"]))]


def by_places(columns: np.ndarray, contents: np.ndarray) -> np.ndarray:
    """Order columns by where they are large, so that other names change nothing.

    Parameters
    ----------
    columns : ndarray of shape (n, n_columns)
        Values in units of their own; NaN counts as 0.
    contents : ndarray of shape (n,), uint64
        Hashes of what has the values, see :func:`by_frequency`.

    Returns
    -------
    ndarray of int, shape (n_columns,)
    """
    # Not linear: things that all look alike have weights that are all the same, and means of 0.
    means = hash64(contents) / 2.0**64 @ np.cbrt(np.nan_to_num(columns)) / max(len(contents), 1)
    return np.argsort(means.round(9), kind="stable")


def looks(batch: GraphBatch) -> np.ndarray:
    """Hash of each node by its graph and its surroundings, without any data.

    Parameters
    ----------
    batch : GraphBatch

    Returns
    -------
    ndarray of shape (n_nodes,), uint64
    """
    same = np.zeros(batch.n_nodes, dtype=np.uint64)
    *_, colors = refined(same, messages(batch, None, weighted=False), 3)
    of_graphs = np.add.reduceat(hash64(colors), batch.node_ptr[:-1])  # modulo 2^64
    return colors + of_graphs[batch.graph_of_node]


def relations(batch: GraphBatch) -> sp.csr_array | None:
    """The arcs of all relations in one matrix, by the node that they tell.

    Parameters
    ----------
    batch : GraphBatch
        With the group of each arc as `edge_labels`, as NodeFeatures makes it; those past
        `edge_label_names` are of none.

    Returns
    -------
    csr_array of shape (n_relations * n_nodes, n_nodes), or None
        Row ``r * n_nodes + i`` has the arcs of node i in relation r: of directed graphs, those from
        the node in each group, then those to it. Rows are the weights of the arcs divided by their
        sum: a product averages. None if there are no relations.
    """
    n_groups = len(batch.edge_label_names)
    n = batch.n_nodes
    if not (batch.directed or n_groups):
        return None
    n_groups = max(n_groups, 1)
    A = batch.adjacency
    groups = np.zeros(A.nnz, np.intp) if batch.edge_labels is None else batch.edge_labels
    kept = groups < n_groups
    starts = groups[kept].astype(np.int64) * n  # where the rows of an arc's relation begin
    sources = batch.source_of_arc[kept]
    targets = A.indices[kept]
    weights = A.data[kept]
    rows = starts + sources
    columns = targets
    if batch.directed:
        rows = np.concatenate([rows, n_groups * n + starts + targets])
        columns = np.concatenate([targets, sources])
        weights = np.tile(weights, 2)
    shape = (1 + batch.directed) * n_groups * n, n
    means = sp.csr_array((weights, (rows, columns)), shape=shape)
    means.data /= (means @ np.ones(n)).repeat(np.diff(means.indptr))
    return means


def messages(batch: GraphBatch, groups: np.ndarray | None, *, weighted: bool) -> list[Messages]:
    """Along what color refinement passes colors, with a key for each arc.

    Parameters
    ----------
    batch : GraphBatch
    groups : ndarray of shape (n_arcs,) or None
        A number for the category of each arc.
    weighted : bool
        Whether weights tell arcs apart.
    """
    A = batch.adjacency
    weights = A.data if weighted else np.ones(1)
    if (weights == weights[:1]).all():
        weights = weights[:1]
    # Never 0: a node's own color must not count as that of a neighbor.
    keys = hash64(quantize(weights))
    if groups is not None:
        keys = hash64(keys + hash64(groups.astype(np.uint64) + np.uint64(1)))
    passed = [Messages(A.indices, A.indptr, keys)]
    if batch.directed:
        # The arcs by the node at which they end, with their positions.
        back = sp.csr_array(with_data(A, np.arange(A.nnz)).T)
        keys = keys if len(keys) == 1 else keys[back.data]
        passed.append(Messages(back.indices, back.indptr, hash64(keys + np.uint64(1))))
    U = batch.underlying  # which encoders see as well
    if weighted and U is not A:
        if not batch.directed:
            # Only parallel edges: colors must not depend on the other graphs of the batch.
            counts = with_data(A, np.ones(A.nnz)).copy()
            counts.sum_duplicates()
            U = U.copy()
            U.data[counts.data == 1] = 0
            U.eliminate_zeros()
        passed.append(Messages(U.indices, U.indptr, hash64(quantize(U.data) + np.uint64(2))))
    return passed


# -- refinement ------------------------------------------------------------------------------------


class Messages(NamedTuple):
    """Arcs along which colors pass, by the node that they reach."""

    indices: np.ndarray  # (n_arcs,): the nodes whose colors pass
    indptr: np.ndarray  # (n_nodes + 1,)
    keys: np.ndarray  # (n_arcs,) or (1,), uint64: what kind of arc it is, never 0


def refined(
    colors: np.ndarray, messages: Sequence[Messages], n_rounds: int
) -> Iterator[np.ndarray]:
    """Refine colors.

    Parameters
    ----------
    colors : ndarray of shape (n_nodes,), uint64
    messages : sequence of Messages
        For each direction in which colors pass, see :func:`messages`.
    n_rounds : int

    Yields
    ------
    ndarray of shape (n_nodes,), uint64
        The colors after 0, 1, ..., `n_rounds` rounds.
    """
    yield colors
    for _ in range(n_rounds):
        new = hash64(colors)
        for indices, indptr, keys in messages:
            if len(keys) == 1:  # a node tells all its neighbors the same
                told = hash64(colors + keys)[indices]
            else:
                told = hash64(colors[indices] + keys)
            totals = np.zeros(len(told) + 1, dtype=np.uint64)
            np.cumsum(told, out=totals[1:])  # modulo 2^64, as differences are
            new += totals[indptr[1:]] - totals[indptr[:-1]]
        colors = hash64(new)
        yield colors


def refine_to_the_end(colors: np.ndarray, messages: Sequence[Messages]) -> np.ndarray:
    """Refine colors until no two nodes of one color see different colors.

    That takes as many rounds as the colors are steps apart, thousands in a long path. So each round
    looks only at the nodes next to those that have just got a new color (Hopcroft, 1971).

    Parameters
    ----------
    colors : ndarray of shape (n_nodes,), uint64
    messages : sequence of Messages
        See :func:`messages`.

    Returns
    -------
    ndarray of shape (n_nodes,), int
        A number for each color, which means nothing to other batches.
    """
    _, color = factorize(colors)
    n = len(color)
    n_colors = color.max() + 1
    sizes = np.bincount(color, minlength=n)
    hearers, first_arc, keys = _by_teller(messages)
    heard = np.zeros(n, dtype=np.uint64)
    new = np.arange(n)  # nodes that have just got their color
    while len(new):
        start = first_arc[new]
        stop = first_arc[new + 1]
        arcs = ranges(start, stop)
        told = hash64(hash64(color[new].astype(np.uint64)).repeat(stop - start) + keys[arcs])
        np.add.at(heard, hearers[arcs], told)  # modulo 2^64
        reached = pd.unique(hearers[arcs])
        before = color[reached]
        seen = hash64(hash64(before.astype(np.uint64)) + heard[reached])
        heard[reached] = 0
        # Nodes of a color that heard the same are a part of it. Those that heard nothing keep the
        # color; if there are none, the largest part does, so that most nodes rest.
        _, one, part, n_in_part = np.unique(seen, True, True, True)
        old = before[one]
        order = np.argsort(-n_in_part, kind="stable")
        _, first, whole = np.unique(old[order], True, True)
        have_all_heard = np.bincount(whole, n_in_part[order]) == sizes[old[order[first]]]
        is_new = np.ones(len(one), dtype=bool)
        is_new[order[first[have_all_heard]]] = False
        number = old.copy()
        number[is_new] = n_colors + np.arange(is_new.sum())
        n_colors += is_new.sum()
        np.subtract.at(sizes, old[is_new], n_in_part[is_new])
        sizes[number[is_new]] = n_in_part[is_new]
        is_moved = is_new[part]
        new = reached[is_moved]
        color[new] = number[part[is_moved]]
    return color


def _by_teller(messages: Sequence[Messages]) -> Messages:
    """All arcs by the node that tells its color, where `messages` has them by the node it tells."""
    n = len(messages[0].indptr) - 1
    tellers = np.concatenate([passed.indices for passed in messages])
    hearers = [np.arange(n).repeat(np.diff(passed.indptr)) for passed in messages]
    keys = [np.broadcast_to(passed.keys, len(passed.indices)) for passed in messages]
    order = np.argsort(tellers, kind="stable")
    first_arc = offsets(np.bincount(tellers, minlength=n))
    return Messages(np.concatenate(hearers)[order], first_arc, np.concatenate(keys)[order])


def hash_rows(columns: np.ndarray) -> np.ndarray:
    """A color for each row of a matrix of numbers, equal for rows that are equal up to rounding.

    Parameters
    ----------
    columns : ndarray of shape (n_nodes, n_columns)

    Returns
    -------
    ndarray of shape (n_nodes,), uint64
    """
    salts = hash64(np.arange(columns.shape[1], dtype=np.uint64))  # the same number, elsewhere
    totals = np.empty(len(columns), dtype=np.uint64)
    height = max(1, NUMBERS // max(columns.shape[1], 1))
    for first in range(0, len(columns), height):
        rows = slice(first, first + height)
        totals[rows] = hash64(quantize(columns[rows]) + salts).sum(axis=1, dtype=np.uint64)
    return hash64(totals)  # modulo 2^64


def hash_points(points: np.ndarray) -> np.ndarray:
    """A color for each row of a matrix of standardized numbers.

    Numbers are compared in one unit: their last digits depend on the order of the graphs whose
    means they were standardized by, and numbers near 0 have no others.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_columns)

    Returns
    -------
    ndarray of shape (n_points,), uint64
    """
    return hash_rows(np.rint(points / UNIT))


def quantize(values: np.ndarray, n_bits: int = ROUNDING_BITS) -> np.ndarray:
    """Floats as integers, equal up to rounding to all but `n_bits` bits."""
    values = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # -0 is 0
    half = np.uint64(1 << (n_bits - 1))
    return (values.view(np.uint64) + half) >> np.uint64(n_bits)


@elementwise("uint64(uint64)")
def hash64(x: np.ndarray) -> np.ndarray:
    """Hashes by SplitMix64 (Steele et al., OOPSLA 2014): a bijection, the same everywhere."""
    x = x + INCREMENT
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def factorize(colors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number distinct colors in the order in which they first come.

    Returns
    -------
    first : ndarray of int
        Where each distinct color first is, ascending.
    number : ndarray of shape (len(colors),), int
        The number of each color.
    """
    number, distinct = pd.factorize(colors)
    first = np.empty(len(distinct), dtype=np.intp)
    first[number[::-1]] = np.arange(len(colors) - 1, -1, -1)  # the last one that is written stays
    return first, number
