"""Novelty: the view of new neighborhoods and new categories."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import StrOptions

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import State, register
from skgraphkde.views.base import Property, Reason
from skgraphkde.views.neighborhoods import NeighborhoodView
from skgraphkde.views.parts import LISTED, CategoryCounts, counts_edges, means

# Weight of a new part, relative to a node in a new neighborhood. From 3 to 100, results on the data
# sets that chose the defaults agree within 0.2; with 1, one anomalous node of 25 is not visible if
# most neighborhoods are new.
NEW_PART_WEIGHT = 10
# The weight is lower if a larger share of the references' parts occurs in one reference only, such
# as dates or combinations of many values: unremarkable new parts would hide a remarkable one.
MAX_CHANCE = 0.01
# Where such a share of the references' nodes is new, new nodes are nothing unusual.
OFTEN_NEW = 0.1


@register
class Novelty(NeighborhoodView):
    """Share of a graph's nodes in new neighborhoods, and of its nodes and edges of new categories.

    A neighborhood is new if no reference has it. The neighborhood of a node is its color after
    `radius` rounds of refinement (Weisfeiler and Leman, 1968). In each round, a node collects the
    colors of its neighbors, and the directions and categories of the edges to them. Two nodes have
    the same color if their surroundings up to `radius` steps look the same. Numbers and edge
    weights are ignored.

    If there are categories, the view adds ten times the share of new *parts*. Parts are nodes, by
    their category, or by each of several categories and by all of them together. If edges have
    directions or categories, edges are parts, too, by the categories at their ends and their own.
    The added term finds a single anomalous part even if all neighborhoods are new. A kind of part
    that is often new in the references themselves (in more than one of a hundred cases,
    leave-one-out) counts less, in proportion. If numbers may be missing, nodes are also counted by
    their set of missing numbers. Edges are also counted if no label occurs twice in a graph, such
    as regions of a brain.

    Parameters
    ----------
    radius : int, default=5
        Rounds of refinement, in [0, 100].
    categories : {"auto", "label", "degree"}, default="auto"
        Initial colors of nodes. "auto" uses the labels, or the degrees if the training graphs have
        no labels. A node whose label `fit` did not see is always new.
    edges : {"auto"} or bool, default="auto"
        Whether edges are parts. "auto" is True if edges have directions or categories, or if no
        label occurs twice in a graph. True finds two categories that are never neighbors in the
        training graphs; for graphs with labels only, it costs 1.8 points of AUROC in the mean of
        nine data sets, so it is for those who look for such pairs.

    Attributes
    ----------
    parts_ : CategoryCounts
        Nodes and edges of the references by their categories.

    See Also
    --------
    skgraphkde.inspection.novel_nodes : The new nodes, and the smallest radius at which each is new.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Novelty
    >>> GraphKDEDetector(views=("density", Novelty(radius=3))).views
    ('density', Novelty(radius=3))
    """

    summary = "Surroundings of nodes, and categories, that no known graph has."
    _parameter_constraints: dict = {
        **NeighborhoodView._parameter_constraints,
        "categories": [StrOptions({"auto", "label", "degree"})],
        "edges": [StrOptions({"auto"}), bool],
    }

    parts_: CategoryCounts

    def __init__(
        self, radius: int = 5, categories: str = "auto", edges: str | bool = "auto"
    ) -> None:
        super().__init__(radius)
        self.categories = categories
        self.edges = edges

    @property
    def name(self) -> str:
        """Name of the view, with the radius."""
        return f"novelty of neighborhoods of radius {self.radius}"

    def fit(self, references: GraphBatch) -> Self:
        """Learn the neighborhoods and categories of the references.

        Parameters
        ----------
        references : GraphBatch

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If `categories` is "label" and the graphs have no labels, or `edges` is True and neither
            nodes nor edges have categories.
        """
        if self.categories == "label" and references.labels is None:
            raise ValueError(
                "Novelty(categories='label') needs node labels, and the graphs carry none: "
                "use categories='degree', or read them by GraphSchema(node_categories=...)"
            )
        by_label = self.categories != "degree" and references.labels is not None
        if self.edges is True and not by_label and references.edge_labels is None:
            raise ValueError(
                "Novelty(edges=True) needs categories of nodes or of edges, and the graphs "
                "carry none: name them in GraphSchema(node_categories=...)"
            )
        with_edges = counts_edges(self.edges, references, by_label=by_label)
        return self._fit(references, by_label, with_edges)

    def _fit(self, references: GraphBatch, by_label: bool, with_edges: bool) -> Self:
        self.parts_ = CategoryCounts.of(references, by_label=by_label, with_edges=with_edges)
        for name in ("known_shares", "usual_radius"):
            self.__dict__.pop(name, None)
        return super().fit(references)

    @property
    def _by_label(self) -> bool:
        return self.parts_.vocabulary.by_label

    def updated(self, references: GraphBatch) -> Novelty:
        """Copy of the view with other references and the same kinds of parts."""
        return clone(self)._fit(references, self._by_label, self.parts_.with_edges)

    def scores(self, graphs: GraphBatch, own: np.ndarray) -> np.ndarray:
        """Score graphs by minus their share of new nodes and parts.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int
            Index of the reference that equals each graph and is excluded; -1 excludes none.

        Returns
        -------
        ndarray of shape (n_graphs,)
        """
        scores = -self._new_shares(graphs, own)
        for kind, keys, graph in self.parts_.parts(graphs):
            known = self.parts_.known[kind]
            weight = NEW_PART_WEIGHT * MAX_CHANCE / max(known.chance, MAX_CHANCE)
            scores -= weight * means(known.is_new(keys, own[graph]), graph, len(graphs))
        return scores

    def _new_shares(self, graphs: GraphBatch, own: np.ndarray) -> np.ndarray:
        """Share of nodes in new neighborhoods, shape (n_graphs,)."""
        is_new = self.neighborhoods.is_new(graphs, own)[-1]
        return means(is_new, graphs.graph_of_node, len(graphs))

    @cached_property
    def known_shares(self) -> np.ndarray:
        """Share of each reference's nodes in neighborhoods that no other reference has."""
        return self._new_shares(self.references_, np.arange(len(self.references_)))

    @cached_property
    def usual_radius(self) -> int:
        """The smallest radius at which a tenth of the references' own nodes are new, or more.

        Each reference is compared with the others. ``radius + 1`` if there is no such radius.
        """
        new_from = self.new_from(self.references_, np.arange(len(self.references_)))
        shares = np.cumsum(np.bincount(new_from, minlength=self.radius + 2)) / len(new_from)
        return int(np.argmax(np.append(shares[:-1], 1.0) >= OFTEN_NEW))

    def new_from(self, graphs: GraphBatch, own: np.ndarray | None = None) -> np.ndarray:
        """Smallest radius at which each node's neighborhood is new.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int, default=None
            As for :meth:`scores`. None: no graph is a reference.

        Returns
        -------
        ndarray of shape (n_nodes,), int
            0 if the node's initial color is new; ``radius + 1`` if all its neighborhoods are known.
        """
        own = np.full(len(graphs), -1) if own is None else own
        return (~self.neighborhoods.is_new(graphs, own)).sum(axis=0)

    # -- reasons -----------------------------------------------------------------------------------

    def properties(self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray) -> list[Property]:
        """Share of nodes in new neighborhoods; new parts are reasons for any detector.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int
            As for :meth:`scores`.
        scores : ndarray of shape (n_graphs,)
            Not used.

        Returns
        -------
        list of Property
        """
        least = 0.5 / graphs.n_nodes_per_graph
        return [Property("neighborhoods", "neighborhoods", self._new_shares(graphs, own), least)]

    def reason(
        self,
        graph: GraphBatch,
        unusual: Property,
        known: np.ndarray,
        node_names: Sequence[Any] | None = None,
    ) -> Reason:
        """Number of nodes in new neighborhoods, see :meth:`View.reason`."""
        new_from = self.new_from(graph, np.array([unusual.own]))
        new = np.flatnonzero(new_from <= self.radius)
        text = (
            f"{len(new)} of {len(new_from)} nodes are in neighborhoods that no known graph has "
            f"(on average {known.mean():.0%})"
        )
        first = new[np.argsort(new_from[new], kind="stable")][:LISTED]
        return Reason(unusual.what, text, tuple(first.tolist()), about=("neighborhoods",))

    def complete(self, references: GraphBatch) -> None:
        """Check the tables, and set the references."""
        self.parts_.check_fits(references)
        super().complete(references)

    def _take_fitted(self, state: State) -> None:
        self.parts_ = state.take_instance("parts_", CategoryCounts)
        state.check("references_" in state, "references_ is missing")
        super()._take_fitted(state)
