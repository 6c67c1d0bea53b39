"""Novelty: the view of new neighborhoods and new categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import StrOptions

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.views.base import Property, Reason
from skgraphkde.views.context import Context
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
    usual_radius_ : int
        The smallest radius at which a tenth of the references' nodes, or more, are in neighborhoods
        that no other reference has; ``radius + 1`` if there is none.

    See Also
    --------
    skgraphkde.explanation.novel_nodes : The smallest radius at which each node is new.

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
    usual_radius_: int

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

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Learn the neighborhoods and categories of the references.

        Parameters
        ----------
        references : GraphBatch
        context : Context
            Work on the references that views share.

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
        self.parts_ = CategoryCounts.of(references, by_label=by_label, with_edges=with_edges)
        self._fit(references, context, by_label=by_label)
        new_from = self.new_from(np.arange(len(references)), context)
        shares = np.cumsum(np.bincount(new_from, minlength=self.radius + 2)) / len(new_from)
        self.usual_radius_ = int(np.argmax(np.append(shares[:-1], 1.0) >= OFTEN_NEW))
        return self

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Minus the share of new nodes and parts, see :meth:`View.scores`."""
        scores = -self._new_shares(own, context)
        for kind, keys, graph in self.parts_.parts(graphs):
            known = self.parts_.known[kind]
            weight = NEW_PART_WEIGHT * MAX_CHANCE / max(known.chance, MAX_CHANCE)
            scores -= weight * means(known.is_new(keys, own[graph]), graph, len(graphs))
        return scores

    def _new_shares(self, own: np.ndarray, context: Context) -> np.ndarray:
        """Share of nodes in new neighborhoods, shape (n_graphs,)."""
        is_new = self.neighborhoods_.is_new(own, context)[-1]
        return means(is_new, context.graphs.graph_of_node, len(context.graphs))

    def new_from(self, own: np.ndarray, context: Context) -> np.ndarray:
        """Smallest radius at which each node's neighborhood is new.

        Parameters
        ----------
        own : ndarray of shape (n_graphs,), int
        context : Context
            As for :meth:`scores`.

        Returns
        -------
        ndarray of shape (n_nodes,), int
            0 if the node's initial color is new; ``radius + 1`` if all its neighborhoods are known.
        """
        return (~self.neighborhoods_.is_new(own, context)).sum(axis=0)

    # -- reasons -----------------------------------------------------------------------------------

    def properties(
        self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray, context: Context
    ) -> list[Property]:
        """Share of nodes in new neighborhoods; new parts are reasons for any detector."""
        least = 0.5 / graphs.n_nodes_per_graph
        return [Property("neighborhoods", "neighborhoods", self._new_shares(own, context), least)]

    def reason(
        self,
        graph: GraphBatch,
        unusual: Property,
        known: np.ndarray,
        context: Context,
        node_names: Sequence[Any] | None = None,
    ) -> Reason:
        """Number of nodes in new neighborhoods, see :meth:`View.reason`."""
        new_from = self.new_from(np.array([unusual.own]), context)
        new = np.flatnonzero(new_from <= self.radius)
        text = (
            f"{len(new)} of {len(new_from)} nodes are in neighborhoods that no known graph has "
            f"(on average {known.mean():.0%})"
        )
        first = new[np.argsort(new_from[new], kind="stable")][:LISTED]
        return Reason(unusual.what, text, tuple(first.tolist()), about=("neighborhoods",))
