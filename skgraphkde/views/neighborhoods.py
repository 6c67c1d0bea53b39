"""Neighborhoods: graphs -> the neighborhood of each node, by radius; base class of views on them.

The neighborhood of a node of radius h is its color after h rounds of refinement (Weisfeiler and
Leman, 1968). Those of all radii have one numbering, that of the references.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from skgraphkde._utils import blocks, compiled
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.refinement import factorize, refined
from skgraphkde.graphs.relations import messages
from skgraphkde.views.base import View
from skgraphkde.views.context import Context
from skgraphkde.views.parts import Vocabulary


def _counts(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """How often each pair of a row and a column occurs."""
    counts = sp.coo_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape)
    return counts.tocsr()


def as_sets(counts: sp.csr_array) -> sp.csr_array:
    """The same with 1 for all numbers: which neighborhoods there are."""
    return sp.csr_array((np.ones_like(counts.data), counts.indices, counts.indptr), counts.shape)


class Neighborhoods:
    """The neighborhoods of reference graphs of radius 0 to `radius`, and where else they occur.

    Parameters
    ----------
    references : GraphBatch
    radius : int
        Rounds of refinement.
    by_label : bool
        Whether the initial colors are the labels of the nodes, and not their degrees. Directions
        and categories of edges are part of a neighborhood.

    Attributes
    ----------
    colors : ndarray of shape (n_colors,), uint64
        Distinct colors of the references, ascending.
    owners : ndarray of shape (n_colors,), int
        The only reference that has a color; -2 if several have it.
    counts, columns : csr_array of int
        Numbers of nodes with each color, by reference and by color.
    column_sets : csr_array of int
        References that have each color.
    totals, n_kinds : ndarray of shape (n_references,), int
        Number of nodes, times the number of radii, and of colors of each reference.
    """

    def __init__(self, references: GraphBatch, radius: int, by_label: bool) -> None:
        self.vocabulary = Vocabulary.of(references, by_label=by_label)
        self.radius, self.n_references = radius, len(references)
        colors = self._colors(references)
        self.colors, number = np.unique(colors, return_inverse=True)
        graph = np.tile(references.graph_of_node, radius + 1)
        self.counts = _counts(graph, number.ravel(), (len(references), len(self.colors)))
        self.columns = self.counts.T.tocsr()
        self.column_sets = as_sets(self.columns)
        self.totals, self.n_kinds = self.counts.sum(axis=1), np.diff(self.counts.indptr)
        first = self.columns.indptr[:-1]
        is_owned = np.diff(self.columns.indptr) == 1
        self.owners = np.where(is_owned, self.columns.indices[first], -2)

    def _colors(self, graphs: GraphBatch) -> np.ndarray:
        """Color of each node for each radius, shape (radius + 1, n_nodes)."""
        passed = messages(graphs, self.vocabulary.edge_codes(graphs), weighted=False)
        return np.array(list(refined(self.vocabulary.node_keys(graphs), passed, self.radius)))

    def numbers(self, graphs: GraphBatch) -> np.ndarray:
        """Number of the neighborhood of each node for each radius.

        Parameters
        ----------
        graphs : GraphBatch

        Returns
        -------
        ndarray of shape (radius + 1, n_nodes), int
            Index in `colors`; neighborhoods that no reference has follow.
        """
        colors = self._colors(graphs)
        first, code = factorize(colors.ravel())
        distinct, n = colors.ravel()[first], len(self.colors)
        number = np.minimum(np.searchsorted(self.colors, distinct), n - 1)
        is_new = self.colors[number] != distinct
        number[is_new] = n + np.arange(is_new.sum())
        return number[code].reshape(colors.shape)

    def count(self, context: Context) -> sp.csr_array:
        """Numbers of nodes of graphs with each neighborhood.

        Parameters
        ----------
        context : Context

        Returns
        -------
        csr_array of int
        """
        graphs, numbers = context.graphs, context.shared(self.numbers)
        graph = np.tile(graphs.graph_of_node, self.radius + 1)
        return _counts(graph, numbers.ravel(), (len(graphs), int(numbers.max()) + 1))

    def is_new(self, own: np.ndarray, context: Context) -> np.ndarray:
        """Mark neighborhoods that no reference has.

        Parameters
        ----------
        own : ndarray of shape (n_graphs,), int
            Index of the reference that equals each graph and is excluded; -1 excludes none.
        context : Context
            Work on the graphs that views share.

        Returns
        -------
        ndarray of shape (radius + 1, n_nodes), bool
        """
        owners = np.append(self.owners, -1)
        numbers = np.minimum(context.shared(self.numbers), len(self.colors))
        of_node = own[context.graphs.graph_of_node]
        return (numbers == len(self.colors)) | ((of_node >= 0) & (owners[numbers] == of_node))

    def shared(self, counts: sp.csr_array, columns: sp.csr_array) -> np.ndarray:
        """Sum over neighborhoods of the smaller count of a graph and of a reference.

        Parameters
        ----------
        counts : csr_array
            Of graphs, see :meth:`count`.
        columns : csr_array
            Of the references, see `columns`.

        Returns
        -------
        ndarray of shape (n_graphs, n_references)
        """
        out = np.zeros((counts.shape[0], self.n_references))
        graphs, known = ((x.indptr, x.indices, x.data) for x in (counts, columns))
        _add_minima(*graphs, *known, out)
        return out


class NeighborhoodView(View):
    """Base class of views of the neighborhoods of a graph.

    Parameters
    ----------
    radius : int, default=5
        Radius of the largest neighborhood, in [0, 100].

    Attributes
    ----------
    references_ : GraphBatch
    neighborhoods_ : Neighborhoods
        The neighborhoods of the references, which views of the same radius share.
    """

    _parameter_constraints: dict = {"radius": [Interval(Integral, 0, 100, closed="both")]}

    references_: GraphBatch
    neighborhoods_: Neighborhoods

    def __init__(self, radius: int = 5) -> None:
        self.radius = radius

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Learn the neighborhoods of the references, see :meth:`View.fit`."""
        self._fit(references, context, by_label=references.labels is not None)
        return self

    def _fit(self, references: GraphBatch, context: Context, *, by_label: bool) -> None:
        self.references_ = references
        self.neighborhoods_ = context.shared(Neighborhoods, self.radius, by_label)

    def check_batch(self, graphs: GraphBatch) -> None:
        """Raise a ValueError if graphs lack the labels of the training graphs."""
        self.neighborhoods_.vocabulary.check_batch(graphs)


def nearest(
    distances_of: Callable[[slice], np.ndarray], own: np.ndarray, n_references: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest references of graphs, without the graphs themselves.

    Parameters
    ----------
    distances_of : callable
        Function of a slice of the graphs that returns an array of their distances to all
        references. The slices are such that it fits into working_memory.
    own : ndarray of shape (n_graphs,)
        Index of the reference that equals each graph and is excluded, or -1.
    n_references : int
    k : int
        Number of nearest references, smaller than n_references if a graph is one of them.

    Returns
    -------
    mean : ndarray of shape (n_graphs,)
        Mean distance to the k nearest references.
    first : ndarray of shape (n_graphs,), int
        Index of the nearest one.
    """
    mean, first = np.empty(len(own)), np.empty(len(own), dtype=int)
    for block in blocks(np.full(len(own), 8.0 * 4 * n_references)):
        distances, of_block = distances_of(block), own[block]
        is_own = of_block >= 0
        distances[np.flatnonzero(is_own), of_block[is_own]] = np.inf
        mean[block] = np.partition(distances, k - 1, axis=1)[:, :k].mean(axis=1)
        first[block] = distances.argmin(axis=1)
    return mean, first


@compiled
def _add_minima(indptr, indices, values, first, references, known, out):
    """out[i, j] += the sum over columns of the smaller value of graph i and of reference j."""
    for i in range(len(out)):
        for a in range(indptr[i], indptr[i + 1]):
            column = indices[a]
            if column < len(first) - 1:
                for b in range(first[column], first[column + 1]):
                    out[i, references[b]] += min(values[a], known[b])
