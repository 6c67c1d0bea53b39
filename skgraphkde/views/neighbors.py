"""Neighbors: the view of the number of neighborhoods by which a graph differs from references."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import register
from skgraphkde.specification import at_least
from skgraphkde.views.base import Property, Reason
from skgraphkde.views.neighborhoods import NeighborhoodView, blocks_of_pairs, nearest


@register
class Neighbors(NeighborhoodView):
    """Distance to the nearest references: how many distinct neighborhoods differ.

    The distance of two graphs is the square root of the number of distinct neighborhoods, of any
    radius up to `radius`, that one of them has and the other lacks. The score is minus the mean
    distance to the nearest `n_neighbors` references. It depends on numbers, not on shares: a graph
    with many different new parts is far from all others, whatever else it has. A graph with few
    distinct neighborhoods, such as a ring or a complete graph, is near to everything, even if all
    of them are new: combine this view with :class:`Novelty` or :class:`Tanimoto`.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of references whose distances are averaged.
    radius : int, default=5
        Radius of the largest neighborhood, in [0, 100], see :class:`Novelty`.

    Attributes
    ----------
    neighborhoods_ : Neighborhoods
        Neighborhoods of the references.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Neighbors
    >>> GraphKDEDetector(views=("density", Neighbors(n_neighbors=3))).views
    ('density', Neighbors(n_neighbors=3))
    """

    _parameter_constraints: dict = {
        **NeighborhoodView._parameter_constraints,
        "n_neighbors": [at_least(1, Integral)],
    }

    def __init__(self, n_neighbors: int = 5, radius: int = 5) -> None:
        super().__init__(radius)
        self.n_neighbors = n_neighbors

    @property
    def name(self) -> str:
        """Name of the view."""
        return "neighborhoods that differ from the nearest graphs"

    def scores(self, graphs: GraphBatch, own: np.ndarray) -> np.ndarray:
        """Score graphs by minus the mean distance to the nearest references.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int
            Index of the reference that equals each graph and is excluded; -1 excludes none.

        Returns
        -------
        ndarray of shape (n_graphs,)
        """
        return -self._nearest(graphs, own)[0]

    def _nearest(self, graphs: GraphBatch, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean distance to the nearest references, and the index of the nearest one."""
        counts, columns = self.neighborhoods_.count(graphs), self.neighborhoods_.columns.sign()
        (n_references, n_known), n_kinds = columns.shape, columns.sum(axis=1)
        distances, index = np.empty(len(graphs)), np.empty(len(graphs), dtype=int)
        for block in blocks_of_pairs(len(graphs), n_references):
            some = counts[block].sign()
            shared = (some[:, :n_known] @ columns.T).toarray()
            differing = some.sum(axis=1)[:, np.newaxis] + n_kinds - 2 * shared
            found = nearest(np.sqrt(differing), own[block], self.n_neighbors)
            distances[block], index[block] = found
        return distances, index

    def properties(self, graphs: GraphBatch, own: np.ndarray) -> list[Property]:
        """Mean distance to the nearest references.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int
            As for :meth:`scores`.

        Returns
        -------
        list of Property
        """
        distances = self._nearest(graphs, own)[0]
        return [Property("neighborhoods", self.name, distances, np.full(len(graphs), 0.5))]

    def reason(
        self,
        graph: GraphBatch,
        unusual: Property,
        known: np.ndarray,
        node_names: Sequence[Any] | None = None,
    ) -> Reason:
        """The nearest reference and what differs, see :meth:`View.reason`."""
        i = int(self._nearest(graph, np.array([-1]))[1][0])
        own = self.neighborhoods_.count(graph).sign().toarray()[0] > 0
        other = np.zeros(len(own), dtype=bool)
        other[self.neighborhoods_.counts[[i]].indices] = True
        text = (
            f"{np.sum(own & ~other)} neighborhoods that known graph {i}, the nearest one, lacks, "
            f"and {np.sum(other & ~own)} less (on average {np.mean(known**2):.0f} differ)"
        )
        return Reason(self.name, text)
