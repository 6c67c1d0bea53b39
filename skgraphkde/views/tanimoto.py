"""Tanimoto: the view of a graph's similarity to the most similar reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import known_name
from skgraphkde.views.base import Property, Reason
from skgraphkde.views.context import Context
from skgraphkde.views.neighborhoods import NeighborhoodView, nearest


class Tanimoto(NeighborhoodView):
    """Similarity to the most similar reference, as a share of the neighborhoods of both graphs.

    The similarity of two graphs (Tanimoto, 1958; for counts, Ralaivola et al., Neural Networks
    2005) is sum_c min(a_c, b_c) / sum_c max(a_c, b_c), where a_c and b_c are the numbers of nodes
    with neighborhood c. It is 1 for graphs that look the same. Neighborhoods of all radii up to
    `radius` count, as for :class:`Novelty`. A small difference counts more in a small graph.

    Parameters
    ----------
    radius : int, default=5
        Radius of the largest neighborhood, in [0, 100].

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Tanimoto
    >>> GraphKDEDetector(views=("density", Tanimoto(radius=3))).views
    ('density', Tanimoto(radius=3))
    """

    summary = "The share of surroundings in common with the most similar known graph."

    @property
    def name(self) -> str:
        """Name of the view."""
        return "Tanimoto similarity to the most similar graph"

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Similarity to the most similar reference, in [0, 1], see :meth:`View.scores`."""
        return self._most_similar(own, context)[0]

    def _most_similar(self, own: np.ndarray, context: Context) -> tuple[np.ndarray, np.ndarray]:
        """Similarity to the most similar reference, and its index."""
        known, counts = self.neighborhoods_, self.neighborhoods_.count(context)
        totals = counts.sum(axis=1)

        def dissimilarity(block: slice) -> np.ndarray:
            shared = known.shared(counts[block], known.columns)
            return 1 - shared / (totals[block, np.newaxis] + known.totals - shared)

        distances, index = nearest(dissimilarity, own, known.n_references, 1)
        return 1 - distances, index

    def properties(
        self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray, context: Context
    ) -> list[Property]:
        """Dissimilarity to the most similar reference, see :meth:`View.properties`."""
        return [Property("neighborhoods", self.name, 1 - scores, 0.5 / graphs.n_nodes_per_graph)]

    def reason(
        self,
        graph: GraphBatch,
        unusual: Property,
        known: np.ndarray,
        context: Context,
        node_names: Sequence[Any] | None = None,
    ) -> Reason:
        """The most similar reference and the similarity, see :meth:`View.reason`."""
        score, index = self._most_similar(np.array([unusual.own]), context)
        text = (
            f"most like {known_name(self.references_, int(index[0]))}, with which it shares "
            f"{score[0]:.0%} of the "
            f"neighborhoods of both (on average {1 - known.mean():.0%})"
        )
        return Reason(self.name, text, about=("neighborhoods",))
