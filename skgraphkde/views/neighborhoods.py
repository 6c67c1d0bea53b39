"""Neighborhoods: graphs -> numbers of nodes with each neighborhood; base class of views on them.

The neighborhood of a node of radius h is its color after h rounds of refinement (Weisfeiler and
Leman, 1968). The columns of the matrix are the neighborhoods of all radii.
"""

from __future__ import annotations

from functools import cached_property
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from skgraphkde.computing.blocks import blocks
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.refinement import factorize, refined
from skgraphkde.graphs.relations import messages
from skgraphkde.persistence import State, register
from skgraphkde.views.base import View
from skgraphkde.views.parts import Vocabulary


@register
class Neighborhoods:
    """Numbers of nodes of reference graphs with each neighborhood of radius 0 to `radius`.

    Parameters
    ----------
    vocabulary : Vocabulary
        Initial colors of nodes: the labels, or the degrees if the references have no labels.
        Directions and categories of edges are part of a neighborhood.
    radius : int
        Rounds of refinement.

    Attributes
    ----------
    colors : ndarray of shape (n_colors,), uint64
        Neighborhoods of the references, ascending.
    counts : csr_array of shape (n_references, n_colors)
    """

    colors: np.ndarray
    counts: sp.csr_array

    def __init__(self, vocabulary: Vocabulary, radius: int) -> None:
        self.vocabulary, self.radius = vocabulary, radius

    @classmethod
    def of(cls, references: GraphBatch, radius: int) -> Self:
        """Count the neighborhoods of reference graphs."""
        by_label = references.labels is not None
        found = cls(Vocabulary.of(references, by_label=by_label), radius)
        colors, graph = found._colors(references)
        found.colors, column = np.unique(colors, return_inverse=True)
        found.counts = _table(graph, column, (len(references), len(found.colors)))
        return found

    @cached_property
    def columns(self) -> sp.csc_array:
        """The same counts, by column."""
        return sp.csc_array(self.counts)

    def count(self, graphs: GraphBatch) -> sp.csr_array:
        """Count the neighborhoods of other graphs.

        Parameters
        ----------
        graphs : GraphBatch

        Returns
        -------
        csr_array of shape (n_graphs, n_colors + n_new)
            The columns of `counts`, then a column for each neighborhood that no reference has.
        """
        colors, graph = self._colors(graphs)
        first, code = factorize(colors)
        distinct, n_known = colors[first], len(self.colors)
        column = np.minimum(np.searchsorted(self.colors, distinct), n_known - 1)
        is_new = self.colors[column] != distinct
        column[is_new] = n_known + np.arange(is_new.sum())
        return _table(graph, column[code], (len(graphs), n_known + int(is_new.sum())))

    def _colors(self, graphs: GraphBatch) -> tuple[np.ndarray, np.ndarray]:
        """Colors of all nodes for each radius, and the graph of each."""
        passed = messages(graphs, self.vocabulary.edge_codes(graphs), weighted=False)
        rounds = list(refined(self.vocabulary.node_keys(graphs), passed, self.radius))
        return np.concatenate(rounds), np.tile(graphs.graph_of_node, self.radius + 1)

    def to_state(self) -> dict[str, Any]:
        """State to save."""
        names = ("vocabulary", "radius", "colors", "counts")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild the counts from their saved state."""
        found = cls(state.take_instance("vocabulary", Vocabulary), state.take_count("radius"))
        found.colors = state.take_array("colors", np.uint64, (None,))
        found.counts = state.take_instance("counts", sp.csr_array)
        state.check(len(found.colors) > 0, "there are no neighborhoods")
        state.check((found.colors[1:] > found.colors[:-1]).all(), "colors is not ascending")
        state.check(found.counts.shape[1] == len(found.colors), "counts does not fit the colors")
        return found


class NeighborhoodView(View):
    """Base class of views that compare a graph's neighborhoods with those of each reference.

    Parameters
    ----------
    radius : int, default=5
        Radius of the largest neighborhood, in [0, 100].
    """

    _parameter_constraints: dict = {"radius": [Interval(Integral, 0, 100, closed="both")]}

    neighborhoods_: Neighborhoods

    def __init__(self, radius: int = 5) -> None:
        self.radius = radius

    def fit(self, references: GraphBatch) -> Self:
        """Count the neighborhoods of the references.

        Parameters
        ----------
        references : GraphBatch

        Returns
        -------
        self
        """
        self.neighborhoods_ = Neighborhoods.of(references, self.radius)
        return self

    def check_batch(self, graphs: GraphBatch) -> None:
        """Raise a ValueError if graphs lack the labels of the training graphs."""
        self.neighborhoods_.vocabulary.check_batch(graphs)


def _table(graph: np.ndarray, column: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """Number of times that each pair occurs."""
    return sp.coo_array((np.ones(len(graph)), (graph, column)), shape=shape).tocsr()


def blocks_of_pairs(n_graphs: int, n_references: int) -> list[slice]:
    """Blocks of graphs whose distances to all references fit into working_memory."""
    return blocks(np.full(n_graphs, 8.0 * 6 * n_references))


def nearest(distances: np.ndarray, own: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest references of graphs, without the graphs themselves.

    Parameters
    ----------
    distances : ndarray of shape (n_graphs, n_references)
        Changed in place.
    own : ndarray of shape (n_graphs,)
        Index of the reference that equals each graph and is excluded, or -1.
    k : int
        Number of references; fewer if there are fewer others.

    Returns
    -------
    mean : ndarray of shape (n_graphs,)
        Mean distance to the k nearest references.
    first : ndarray of shape (n_graphs,), int
        Index of the nearest one.
    """
    is_own = own >= 0
    distances[np.flatnonzero(is_own), own[is_own]] = np.inf
    k = max(1, min(k, distances.shape[1] - 1))
    return np.partition(distances, k - 1, axis=1)[:, :k].mean(axis=1), distances.argmin(axis=1)
