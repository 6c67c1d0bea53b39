"""Novelty: graphs -> the share of their nodes in neighborhoods that no reference has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skgraphkde.computing.blocks import blocks
from skgraphkde.density.extremes import Extremes
from skgraphkde.density.parts import Known, Parts, means
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.refinement import refined
from skgraphkde.graphs.relations import messages
from skgraphkde.persistence import register
from skgraphkde.specification import Specification

# A new part counts as so many nodes in new neighborhoods. From 3 to 100 the data sets that chose
# the defaults agree within 0.2; with 1, one odd node of 25 drowns where most neighborhoods are new.
NEW_PART = 10
# It counts for less where more of the references' parts than this are in no other reference, as
# dates or combinations of many values are: they would hide one that is new.
COMMON = 0.01


@register
class Novelty(Specification):
    """Up to three views of their own: what a graph has that no training graph has.

    The first is the share of its nodes in neighborhoods that no reference has. The neighborhood of
    a node is its color after `radius` rounds of refinement (Weisfeiler and Leman, 1968), in which
    each node learns the colors of its neighbors, and the directions and categories of the edges to
    them. Two nodes have the same color if what can be reached from them in as many steps looks the
    same. Numbers and edge weights are ignored.

    Where there are categories, ten times the share of its *parts* that no reference has is added:
    of its nodes, by their category, or by each of their categories and by all of them together;
    and, if edges have directions or categories, of its edges, by the categories at their ends and
    their own. It finds a single odd part where all neighborhoods are new anyway. Parts of a kind
    of which references often have new ones (more than one in a hundred, each by the others) count
    for less, in proportion. Where numbers may be missing, nodes are also counted by which of theirs
    are. Edges are also counted where no label comes twice in a graph, as with regions of a brain.

    The second view, where nodes have several categories or edges are counted, is how rare its parts
    are: minus the mean of log((c + 1) / (n + k)), over nodes and over edges, with c of the n parts
    of the references alike, and k - 1 kinds of parts. It finds known categories that do not belong
    together.

    The last view, where edges have numbers, or nodes have some that a schema names or that are no
    positions by their names, is the largest of them: how many standard deviations one is from those
    of the references' nodes, or edges, of the same kind. It finds a single impossible reading.

    A training graph does not count among its own references.

    Parameters
    ----------
    radius : int, default=5
        Rounds of refinement, in [0, 100].
    categories : {"auto", "label", "degree"}, default="auto"
        What nodes are told apart by before the first round. "auto" is the labels, or, if the
        training graphs have none, the degrees. A label that `fit` did not see is new by itself.
    edges : {"auto"} or bool, default="auto"
        Whether edges are parts. "auto" is where they have directions or categories, or where no
        label comes twice in a graph. True finds two categories that are never neighbors in the
        training graphs; where labels alone tell nodes apart it costs 1.8 points of AUROC in the
        mean of nine data sets, so it is for those who look for that.

    See Also
    --------
    skgraphkde.inspection.novel_nodes : Which nodes are new, and from which radius on.

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
            Whether edges are parts. None: what suits the references.

        Raises
        ------
        ValueError
            If `categories` is "label" and the graphs have none, or `edges` is True and neither
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
            # Edges of labeled graphs without directions and data are seen by the neighborhoods,
            # unless these are all new, as with a name for each node.
            with_edges = references.edge_labels is not None or (
                by_label and (references.directed or _has_fixed_nodes(references))
            )
        return FittedNovelty(self, references, with_edges)


class FittedNovelty:
    """What :class:`Novelty` has learned of the references.

    Parameters
    ----------
    specification : Novelty
    references : GraphBatch
    with_edges : bool
        Whether edges are parts. It stays as `fit` found it when the references change.

    Attributes
    ----------
    by_label : bool
        Whether nodes are told apart by labels, or by degrees.
    """

    def __init__(self, specification: Novelty, references: GraphBatch, with_edges: bool) -> None:
        self.specification, self._references = specification, references
        self.with_edges = with_edges
        self.by_label = specification.categories != "degree" and references.labels is not None
        self.parts = Parts(references, by_label=self.by_label, with_edges=with_edges)
        self.extremes = Extremes(references, self.parts)
        self._has_rarity = with_edges or len(references.schema.node_categories) > 1

    @cached_property
    def _known(self) -> Known:
        """The neighborhoods of the references, which take as many rounds as a file says."""
        references = self._references
        blocks = [references[x] for x in _blocks(references)]
        colors = np.concatenate([self._last_colors(x, self.radius) for x in blocks])
        return Known.of(colors, references.graph_of_node)

    @property
    def radius(self) -> int:
        """Rounds of refinement."""
        return self.specification.radius

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views, for tables and pictures."""
        names = [f"novelty of neighborhoods of radius {self.radius}"]
        if self._has_rarity:
            names.append(f"rarity of {' and '.join(self.parts.kinds)}")
        if self.extremes:
            names.append("extremes of numbers")
        return tuple(names)

    def of(self, references: GraphBatch) -> FittedNovelty:
        """The same views of other references."""
        return self.specification.fit(references, self.with_edges)

    def check_batch(self, graphs: GraphBatch) -> None:
        """Raise a ValueError if graphs lack the labels by which nodes are told apart."""
        if self.by_label:
            graphs.check_labels()

    def scores(self, graphs: GraphBatch, own: np.ndarray | None = None) -> np.ndarray:
        """Minus the surprise of each view.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), default=None
            The reference that each graph is, to be left out (-1: none). None leaves nothing out.

        Returns
        -------
        ndarray of shape (n_views, n_graphs)
        """
        scores = np.zeros((len(self.names), len(graphs)))
        for block in _blocks(graphs):
            some = graphs[block]
            of_graph = np.full(len(some), -1) if own is None else own[block]
            of_node = np.repeat(of_graph, some.n_nodes_per_graph)
            is_new = self._known.is_new(self._last_colors(some, self.radius), of_node)
            scores[0, block] = -self._surprise(is_new, some)
            for kind, keys, graph in self.parts.of(some):
                known, of_part = self.parts.known[kind], of_graph[graph]
                shares = means(known.is_new(keys, of_part), graph, len(some))
                weight = NEW_PART * COMMON / max(known.chance, COMMON)
                scores[0, block] -= weight * shares
                if self._has_rarity and kind in self.parts.kinds:
                    log_shares = known.log_shares(keys, graph, of_part >= 0)
                    scores[1, block] += means(log_shares, graph, len(some))
            if self.extremes:
                scores[-1, block] = self.extremes.scores(some, of_graph)
        return scores

    @cached_property
    def known_shares(self) -> np.ndarray:
        """The share of each reference's nodes in neighborhoods that no other one has."""
        graph = self._references.graph_of_node
        blocks = [self._references[x] for x in _blocks(self._references)]
        colors = np.concatenate([self._last_colors(x, self.radius) for x in blocks])
        return means(self._known.is_new(colors, graph), graph, len(self._references))

    def _surprise(self, is_new: np.ndarray, graphs: GraphBatch) -> np.ndarray:
        """One number for each graph, from one for each node."""
        return means(is_new, graphs.graph_of_node, len(graphs))

    def new_from(self, graphs: GraphBatch) -> np.ndarray:
        """The smallest radius at which each node's neighborhood is new.

        Returns
        -------
        ndarray of shape (n_nodes,), int
            0 for a node that is new by itself; ``radius + 1`` if all its neighborhoods are known.
        """
        known_rounds = np.zeros(graphs.n_nodes, dtype=int)
        for colors, known in zip(self._rounds(graphs, self.radius), self._by_radius, strict=True):
            known_rounds += ~known.is_new(colors, -1)
        return known_rounds

    @cached_property
    def _by_radius(self) -> list[Known]:
        """What is known at each radius; only reasons need more than the last."""
        blocks = [self._references[x] for x in _blocks(self._references)]
        rounds = zip(*(self._rounds(some, self.radius) for some in blocks), strict=True)
        graph = self._references.graph_of_node
        return [Known.of(np.concatenate(colors), graph) for colors in rounds]

    def __reduce__(self) -> tuple[Any, ...]:
        # Colors mean nothing to another process.
        return FittedNovelty, (self.specification, self._references, self.with_edges)

    def _last_colors(self, graphs: GraphBatch, n_rounds: int) -> np.ndarray:
        """Colors after the last round, shape (n_nodes,)."""
        for colors in self._rounds(graphs, n_rounds):
            last = colors
        return last

    def _rounds(self, graphs: GraphBatch, n_rounds: int) -> Iterator[np.ndarray]:
        """Colors after 0, 1, ..., `n_rounds` rounds, each of shape (n_nodes,)."""
        passed = messages(graphs, self.parts.edge_codes(graphs), weighted=False)
        return refined(self.parts.node_keys(graphs), passed, n_rounds)


def _has_fixed_nodes(graphs: GraphBatch) -> bool:
    """Whether no label comes twice in a graph, as regions in a brain: edges are then by name."""
    pairs = graphs.graph_of_node * len(graphs.label_names) + np.asarray(graphs.labels)
    return len(np.unique(pairs)) == graphs.n_nodes > len(graphs)


def _blocks(graphs: GraphBatch) -> list[slice]:
    """Blocks of graphs whose colors fit into working_memory."""
    return blocks(8.0 * (10 * graphs.n_nodes_per_graph + 4 * graphs.n_arcs_per_graph))
