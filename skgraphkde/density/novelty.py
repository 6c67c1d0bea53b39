"""Novelty: graphs -> scores for new neighborhoods, rare categories and extreme numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skgraphkde.computing.blocks import blocks
from skgraphkde.density.extremes import Extremes
from skgraphkde.density.parts import CategoryCounts, ReferenceTable, means
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.refinement import refined
from skgraphkde.graphs.relations import messages
from skgraphkde.persistence import register
from skgraphkde.specification import Specification

# Weight of a new part, relative to a node in a new neighborhood. From 3 to 100, results on the data
# sets that chose the defaults agree within 0.2; with 1, one anomalous node of 25 is not visible if
# most neighborhoods are new.
NEW_PART_WEIGHT = 10
# The weight is lower if a larger share of the references' parts occurs in one reference only, such
# as dates or combinations of many values: unremarkable new parts would hide a remarkable one.
MAX_CHANCE = 0.01


@register
class Novelty(Specification):
    """Up to three views of a graph's differences from all training graphs.

    The first view is the share of nodes in new neighborhoods, which no reference has. The
    neighborhood of a node is its color after `radius` rounds of refinement (Weisfeiler and Leman,
    1968). In each round, a node collects the colors of its neighbors, and the directions and
    categories of the edges to them. Two nodes have the same color if their surroundings up to
    `radius` steps look the same. Numbers and edge weights are ignored.

    If there are categories, the first view adds ten times the share of new *parts*. Parts are
    nodes, by their category, or by each of several categories and by all of them together. If edges
    have directions or categories, edges are parts, too, by the categories at their ends and their
    own. The added term finds a single anomalous part even if all neighborhoods are new. A kind of
    part that is often new in the references themselves (in more than one of a hundred cases,
    leave-one-out) counts less, in proportion. If numbers may be missing, nodes are also counted by
    their set of missing numbers. Edges are also counted if no label occurs twice in a graph, such
    as regions of a brain.

    The second view is the rarity of parts: minus the mean of log((c + 1) / (n + k)), over nodes and
    over edges, where c of the n parts of the references are equal and there are k - 1 kinds of
    parts. It is used if nodes have several categories or edges are counted. It finds unusual
    combinations of known categories.

    The last view is the most extreme number: the largest distance, in standard deviations, of a
    number from the mean of the references' nodes or edges of the same kind. It is used if edges
    have numbers, or if nodes have numbers that a schema names or whose names are not those of
    coordinates. It finds a single impossible value.

    A training graph is not among its own references.

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

    See Also
    --------
    skgraphkde.inspection.novel_nodes : The new nodes, and the smallest radius at which each is new.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Novelty
    >>> GraphKDEDetector(novelty=Novelty(radius=3)).get_params()["novelty__radius"]
    3
    """

    _parameter_constraints: dict = {
        "radius": [Interval(Integral, 0, 100, closed="both")],
        "categories": [StrOptions({"auto", "label", "degree"})],
        "edges": [StrOptions({"auto"}), bool],
    }

    def __init__(
        self, radius: int = 5, categories: str = "auto", edges: str | bool = "auto"
    ) -> None:
        self.radius = radius
        self.categories = categories
        self.edges = edges

    def fit(self, references: GraphBatch, with_edges: bool | None = None) -> FittedNovelty:
        """Learn the neighborhoods of the references.

        Parameters
        ----------
        references : GraphBatch
        with_edges : bool, default=None
            Whether edges are parts. None follows the parameter `edges`.

        Returns
        -------
        FittedNovelty

        Raises
        ------
        ValueError
            If `categories` is "label" and the graphs have no labels, or `edges` is True and neither
            nodes nor edges have categories.
        """
        if self.categories == "label" and references.labels is None:
            raise ValueError(
                "novelty=Novelty(categories='label') needs node labels, and the graphs carry none: "
                "use categories='degree', or read them by GraphSchema(node_categories=...)"
            )
        by_label = self.categories != "degree" and references.labels is not None
        if self.edges is True and not by_label and references.edge_labels is None:
            raise ValueError(
                "novelty=Novelty(edges=True) needs categories of nodes or of edges, and the graphs "
                "carry none: name them in GraphSchema(node_categories=...)"
            )
        if with_edges is None and self.edges != "auto":
            with_edges = bool(self.edges)
        if with_edges is None:
            # Neighborhoods cover the edges of labeled graphs without directions and data, unless
            # all neighborhoods are new because each node has its own name.
            with_edges = references.edge_labels is not None or (
                by_label and (references.directed or _has_fixed_nodes(references))
            )
        return FittedNovelty(self, references, with_edges)


class FittedNovelty:
    """Novelty fitted to references: their neighborhoods, category counts and extremes.

    Parameters
    ----------
    specification : Novelty
    references : GraphBatch
    with_edges : bool
        Whether edges are parts. Updates of the references do not change it.

    Attributes
    ----------
    by_label : bool
        Whether the initial colors of nodes are labels; otherwise they are degrees.
    """

    def __init__(self, specification: Novelty, references: GraphBatch, with_edges: bool) -> None:
        self.specification, self._references = specification, references
        self.with_edges = with_edges
        self.by_label = specification.categories != "degree" and references.labels is not None
        self.parts = CategoryCounts(references, by_label=self.by_label, with_edges=with_edges)
        self.extremes = Extremes(references, self.parts)
        self._has_rarity = with_edges or len(references.schema.node_categories) > 1

    @cached_property
    def _known(self) -> ReferenceTable:
        """Neighborhoods of the references, computed lazily."""
        references = self._references
        blocks = [references[x] for x in _blocks(references)]
        colors = np.concatenate([self._last_colors(x, self.radius) for x in blocks])
        return ReferenceTable.of(colors, references.graph_of_node)

    @property
    def radius(self) -> int:
        """Rounds of refinement."""
        return self.specification.radius

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views, for tables and plots."""
        names = [f"novelty of neighborhoods of radius {self.radius}"]
        if self._has_rarity:
            names.append(f"rarity of {' and '.join(self.parts.kinds)}")
        if self.extremes:
            names.append("extremes of numbers")
        return tuple(names)

    def of(self, references: GraphBatch) -> FittedNovelty:
        """Novelty fitted to other references, with the same views."""
        return self.specification.fit(references, self.with_edges)

    def check_batch(self, graphs: GraphBatch) -> None:
        """Raise a ValueError if graphs lack the labels that are the initial colors."""
        if self.by_label:
            graphs.check_labels()

    def scores(self, graphs: GraphBatch, own: np.ndarray | None = None) -> np.ndarray:
        """Score graphs in each view.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), default=None
            Index of the reference that equals each graph and is excluded, or -1. None excludes no
            references.

        Returns
        -------
        ndarray of shape (n_views, n_graphs)
            Minus the surprise: higher for normal graphs.
        """
        scores = np.zeros((len(self.names), len(graphs)))
        for block in _blocks(graphs):
            some = graphs[block]
            own_of_graph = np.full(len(some), -1) if own is None else own[block]
            own_of_node = np.repeat(own_of_graph, some.n_nodes_per_graph)
            is_new = self._known.is_new(self._last_colors(some, self.radius), own_of_node)
            scores[0, block] = -self._surprise(is_new, some)
            for kind, keys, graph in self.parts.of(some):
                known, own_of_part = self.parts.known[kind], own_of_graph[graph]
                shares = means(known.is_new(keys, own_of_part), graph, len(some))
                weight = NEW_PART_WEIGHT * MAX_CHANCE / max(known.chance, MAX_CHANCE)
                scores[0, block] -= weight * shares
                if self._has_rarity and kind in self.parts.kinds:
                    log_shares = known.log_shares(keys, graph, own_of_part >= 0)
                    scores[1, block] += means(log_shares, graph, len(some))
            if self.extremes:
                scores[-1, block] = self.extremes.scores(some, own_of_graph)
        return scores

    @cached_property
    def known_shares(self) -> np.ndarray:
        """Share of each reference's nodes in neighborhoods that no other reference has."""
        graph = self._references.graph_of_node
        blocks = [self._references[x] for x in _blocks(self._references)]
        colors = np.concatenate([self._last_colors(x, self.radius) for x in blocks])
        return means(self._known.is_new(colors, graph), graph, len(self._references))

    def _surprise(self, is_new: np.ndarray, graphs: GraphBatch) -> np.ndarray:
        """Mean of `is_new` over the nodes of each graph."""
        return means(is_new, graphs.graph_of_node, len(graphs))

    def new_from(self, graphs: GraphBatch) -> np.ndarray:
        """Smallest radius at which each node's neighborhood is new.

        Parameters
        ----------
        graphs : GraphBatch

        Returns
        -------
        ndarray of shape (n_nodes,), int
            0 if the node's initial color is new; ``radius + 1`` if all its neighborhoods are known.
        """
        known_rounds = np.zeros(graphs.n_nodes, dtype=int)
        for colors, known in zip(self._rounds(graphs, self.radius), self._by_radius, strict=True):
            known_rounds += ~known.is_new(colors, -1)
        return known_rounds

    @cached_property
    def _by_radius(self) -> list[ReferenceTable]:
        """Neighborhoods of the references at each radius, which only reasons need."""
        blocks = [self._references[x] for x in _blocks(self._references)]
        rounds = zip(*(self._rounds(some, self.radius) for some in blocks), strict=True)
        graph = self._references.graph_of_node
        return [ReferenceTable.of(np.concatenate(colors), graph) for colors in rounds]

    def __reduce__(self) -> tuple[Any, ...]:
        # Colors are not valid in another process.
        return FittedNovelty, (self.specification, self._references, self.with_edges)

    def _last_colors(self, graphs: GraphBatch, n_rounds: int) -> np.ndarray:
        """Colors after `n_rounds` rounds, shape (n_nodes,)."""
        for colors in self._rounds(graphs, n_rounds):
            last = colors
        return last

    def _rounds(self, graphs: GraphBatch, n_rounds: int) -> Iterator[np.ndarray]:
        """Generate the colors after 0, 1, ..., `n_rounds` rounds, each of shape (n_nodes,)."""
        passed = messages(graphs, self.parts.edge_codes(graphs), weighted=False)
        return refined(self.parts.node_keys(graphs), passed, n_rounds)


def _has_fixed_nodes(graphs: GraphBatch) -> bool:
    """True if no label occurs twice in a graph, such as regions of a brain."""
    pairs = graphs.graph_of_node * len(graphs.label_names) + np.asarray(graphs.labels)
    return len(np.unique(pairs)) == graphs.n_nodes > len(graphs)


def _blocks(graphs: GraphBatch) -> list[slice]:
    """Blocks of graphs whose colors fit into working_memory."""
    return blocks(8.0 * (10 * graphs.n_nodes_per_graph + 4 * graphs.n_arcs_per_graph))
