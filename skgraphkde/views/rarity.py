"""Rarity: the view of nodes and edges of rare categories."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import State, register
from skgraphkde.views.base import Property, View
from skgraphkde.views.parts import CategoryCounts, counts_edges, means


@register
class Rarity(View):
    """Mean rarity of a graph's nodes and edges by their categories.

    The score is the mean of log((c + 1) / (n + k)) over nodes, plus the mean over edges, where c of
    the n parts of the references are equal and there are k - 1 kinds of parts. It finds unusual
    combinations of known categories. ``views="auto"`` includes it if nodes have several categories,
    or edges are counted.

    Parameters
    ----------
    edges : {"auto"} or bool, default="auto"
        Whether edges are counted, as for :class:`Novelty`.

    Attributes
    ----------
    parts_ : CategoryCounts
        Nodes and edges of the references by their categories.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Rarity
    >>> GraphKDEDetector(views=("density", Rarity(edges=True))).views
    ('density', Rarity(edges=True))
    """

    summary = "How rare the nodes and edges are by their categories, on average."
    _parameter_constraints: dict = {"edges": [StrOptions({"auto"}), bool]}

    parts_: CategoryCounts

    def __init__(self, edges: str | bool = "auto") -> None:
        self.edges = edges

    @property
    def name(self) -> str:
        """Name of the view, with the kinds of parts."""
        return (
            f"rarity of {' and '.join(self.parts_.kinds)}" if hasattr(self, "parts_") else "rarity"
        )

    def applies_to(self, graphs: GraphBatch) -> bool:
        """True if nodes have several categories, or edges are counted."""
        with_edges = counts_edges(self.edges, graphs, by_label=graphs.labels is not None)
        return with_edges or len(graphs.schema.node_categories) > 1

    def fit(self, references: GraphBatch) -> Self:
        """Count the categories of the references.

        Parameters
        ----------
        references : GraphBatch

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If neither nodes nor edges have categories.
        """
        if references.labels is None and references.edge_labels is None:
            raise ValueError(
                "Rarity needs categories of nodes or of edges, and the graphs carry none: name "
                "them in GraphSchema(node_categories=...), or omit the view"
            )
        by_label = references.labels is not None
        return self._fit(references, counts_edges(self.edges, references, by_label=by_label))

    def _fit(self, references: GraphBatch, with_edges: bool) -> Self:
        by_label = references.labels is not None
        self.parts_ = CategoryCounts.of(references, by_label=by_label, with_edges=with_edges)
        return self

    def updated(self, references: GraphBatch) -> Rarity:
        """Copy of the view with other references and the same kinds of parts."""
        return clone(self)._fit(references, self.parts_.with_edges)

    def check_batch(self, graphs: GraphBatch) -> None:
        """Raise a ValueError if graphs lack the labels of the training graphs."""
        self.parts_.vocabulary.check_batch(graphs)

    def scores(self, graphs: GraphBatch, own: np.ndarray) -> np.ndarray:
        """Score graphs by the mean log frequency of their nodes and edges.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int
            Index of the reference that equals each graph and is excluded; -1 excludes none.

        Returns
        -------
        ndarray of shape (n_graphs,)
        """
        scores = np.zeros(len(graphs))
        for kind, keys, graph in self.parts_.parts(graphs):
            if kind in self.parts_.kinds:
                log_shares = self.parts_.known[kind].log_shares(keys, graph, own[graph] >= 0)
                scores += means(log_shares, graph, len(graphs))
        return scores

    def properties(self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray) -> list[Property]:
        """No properties: rare parts are reasons for any detector."""
        return []

    def complete(self, references: GraphBatch) -> None:
        """Check the tables, see :meth:`View.complete`."""
        self.parts_.check_fits(references)
        super().complete(references)

    def _take_fitted(self, state: State) -> None:
        self.parts_ = state.take_instance("parts_", CategoryCounts)
        state.check(self.parts_.kinds, "there are no parts")
        super()._take_fitted(state)
