"""Neighbors: the view of the number of neighborhoods by which a graph differs from references."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import known_name
from skgraphkde.specification import at_least
from skgraphkde.views.base import Property, Reason
from skgraphkde.views.context import Context
from skgraphkde.views.neighborhoods import NeighborhoodView, as_sets, nearest


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

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Neighbors
    >>> GraphKDEDetector(views=("density", Neighbors(n_neighbors=3))).views
    ('density', Neighbors(n_neighbors=3))
    """

    summary = "The number of kinds of surroundings that differ from the nearest known graphs."
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

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Minus the mean distance to the nearest references, see :meth:`View.scores`."""
        return -self._nearest(own, context)[0]

    def _nearest(self, own: np.ndarray, context: Context) -> tuple[np.ndarray, np.ndarray]:
        """Mean distance to the nearest references, and the index of the nearest one."""
        known = self.neighborhoods_
        counts = as_sets(known.count(context))
        n_kinds = np.diff(counts.indptr)

        def distances(block: slice) -> np.ndarray:
            shared = known.shared(counts[block], known.column_sets)
            return np.sqrt(n_kinds[block, np.newaxis] + known.n_kinds - 2 * shared)

        k = min(self.n_neighbors, known.n_references - 1)
        return nearest(distances, own, known.n_references, k)

    def properties(
        self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray, context: Context
    ) -> list[Property]:
        """Mean distance to the nearest references, see :meth:`View.properties`."""
        return [Property("neighborhoods", self.name, -scores, np.full(len(graphs), 0.5))]

    def reason(
        self,
        graph: GraphBatch,
        unusual: Property,
        known: np.ndarray,
        context: Context,
        node_names: Sequence[Any] | None = None,
    ) -> Reason:
        """The nearest reference and what differs, see :meth:`View.reason`."""
        i = int(self._nearest(np.array([unusual.own]), context)[1][0])
        counts = self.neighborhoods_.counts
        own = set(self.neighborhoods_.count(context).indices.tolist())
        other = set(counts.indices[slice(*counts.indptr[i : i + 2])].tolist())
        name = known_name(self.references_, i)
        text = (
            f"{len(own - other)} neighborhoods that {name}, the nearest one, lacks, and "
            f"{len(other - own)} less (on average {np.mean(known**2):.0f} differ)"
        )
        if own == other:
            text = f"few known graphs besides {name} have the same neighborhoods"
        return Reason(self.name, text, about=("neighborhoods",))
