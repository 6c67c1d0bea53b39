"""Tanimoto: the view of a graph's similarity to the most similar reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skgraphkde.computing.compiled import compiled
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import register
from skgraphkde.views.base import Property, Reason
from skgraphkde.views.neighborhoods import NeighborhoodView, blocks_of_pairs, nearest


@register
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

    Attributes
    ----------
    neighborhoods_ : Neighborhoods
        Neighborhoods of the references.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Tanimoto
    >>> GraphKDEDetector(views=("density", Tanimoto(radius=3))).views
    ('density', Tanimoto(radius=3))
    """

    @property
    def name(self) -> str:
        """Name of the view."""
        return "Tanimoto similarity"

    def scores(self, graphs: GraphBatch, own: np.ndarray) -> np.ndarray:
        """Score graphs by their similarity to the most similar reference.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int
            Index of the reference that equals each graph and is excluded; -1 excludes none.

        Returns
        -------
        ndarray of shape (n_graphs,)
            In [0, 1].
        """
        return self._most_similar(graphs, own)[0]

    def _most_similar(self, graphs: GraphBatch, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Similarity to the most similar reference, and its index."""
        known, counts = self.neighborhoods_.counts, self.neighborhoods_.count(graphs)
        columns, totals = self.neighborhoods_.columns, known.sum(axis=1)
        scores, index = np.empty(len(graphs)), np.empty(len(graphs), dtype=int)
        for block in blocks_of_pairs(len(graphs), known.shape[0]):
            some = counts[block]
            shared = np.zeros((some.shape[0], known.shape[0]))
            rows = some.indptr, some.indices, some.data
            _add_minima(*rows, columns.indptr, columns.indices, columns.data, shared)
            of_both = some.sum(axis=1)[:, np.newaxis] + totals - shared
            distances, index[block] = nearest(-shared / of_both, own[block], 1)
            scores[block] = -distances
        return scores, index

    def properties(self, graphs: GraphBatch, own: np.ndarray) -> list[Property]:
        """Dissimilarity to the most similar reference.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int
            As for :meth:`scores`.

        Returns
        -------
        list of Property
        """
        dissimilarity = 1 - self.scores(graphs, own)
        return [Property("neighborhoods", self.name, dissimilarity, 0.5 / graphs.n_nodes_per_graph)]

    def reason(
        self,
        graph: GraphBatch,
        unusual: Property,
        known: np.ndarray,
        node_names: Sequence[Any] | None = None,
    ) -> Reason:
        """The most similar reference and the similarity, see :meth:`View.reason`."""
        score, index = self._most_similar(graph, np.array([-1]))
        text = (
            f"most like known graph {index[0]}, with which it shares {score[0]:.0%} of the "
            f"neighborhoods of both (on average {1 - known.mean():.0%})"
        )
        return Reason(self.name, text)


@compiled(nogil=True)
def _add_minima(indptr, indices, data, first, rows, values, out):
    """out[i, j] += the sum over columns of the smaller count of graph i and of reference j."""
    for i in range(len(out)):
        for a in range(indptr[i], indptr[i + 1]):
            column = indices[a]
            if column < len(first) - 1:
                for b in range(first[column], first[column + 1]):
                    out[i, rows[b]] += min(data[a], values[b])
