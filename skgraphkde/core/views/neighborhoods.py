"""Neighborhoods: graphs -> the neighborhood of each node, by radius, and the views of these.

The neighborhood of a node of radius h is its color after h rounds of refinement (Weisfeiler and
Leman, 1968). Those of all radii have one numbering, that of the references.
"""

from __future__ import annotations

from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from skgraphkde._utils import compiled
from skgraphkde.core.distances.base import nearest
from skgraphkde.core.graphs.arrays import frozen
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.refinement import factorize, messages, refined
from skgraphkde.core.specification import Interval, StrOptions, at_least
from skgraphkde.core.views.base import Context, Property, View
from skgraphkde.core.views.categories import (
    CategoryCounts,
    ReferenceTable,
    Vocabulary,
    counts_edges,
    means,
)


def count_pairs(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """How often each pair of a row and a column occurs."""
    return sp.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape)


def as_sets(counts: sp.csr_array) -> sp.csr_array:
    """The same with 1 for all numbers: which neighborhoods there are."""
    return sp.csr_array((np.ones_like(counts.data), counts.indices, counts.indptr), counts.shape)


class Neighborhoods:
    """The neighborhoods of known graphs of radius 0 to `radius`, and where else they occur.

    Parameters
    ----------
    known : GraphBatch
    radius : int
        Rounds of refinement.
    by_label : bool
        Whether the initial colors are the labels of the nodes, and not their degrees. Directions
        and categories of edges are part of a neighborhood.

    Attributes
    ----------
    table : ReferenceTable
        The colors of the known graphs.
    """

    def __init__(self, known: GraphBatch, radius: int, by_label: bool) -> None:
        self.vocabulary = known.once(Vocabulary.of, by_label)
        self.radius = radius
        colors = self._colors(known)
        self.table = ReferenceTable.of(colors.ravel(), np.tile(known.graph_of_node, radius + 1))

    def _colors(self, graphs: GraphBatch) -> np.ndarray:
        """Color of each node for each radius, shape (radius + 1, n_nodes)."""
        passed = messages(graphs, self.vocabulary.edge_codes(graphs), weighted=False)
        keys = self.vocabulary.keys_together(graphs, self.vocabulary.together)
        return np.array(list(refined(keys, passed, self.radius)))

    def numbers(self, graphs: GraphBatch) -> np.ndarray:
        """Number of the neighborhood of each node for each radius.

        Parameters
        ----------
        graphs : GraphBatch

        Returns
        -------
        ndarray of shape (radius + 1, n_nodes), int
            Position in `table`; neighborhoods that no reference has follow.
        """
        colors = self._colors(graphs)
        first, code = factorize(colors.ravel())
        number = self.table.find(colors.ravel()[first])
        is_new = number == len(self.table.colors)
        number[is_new] += np.arange(is_new.sum())
        return number[code].reshape(colors.shape)

    def nodes_around(self, graph: GraphBatch, node: int, radius: int) -> np.ndarray:
        """The other nodes up to `radius` edges away, of a batch of one graph."""
        steps = graph.steps_from(node, limit=radius)
        return np.flatnonzero((steps > 0) & (steps < np.inf))

    def is_new(self, own: np.ndarray, context: Context) -> np.ndarray:
        """Mark neighborhoods that no known graph has.

        Parameters
        ----------
        own : ndarray of shape (n_graphs,), int
            Index of the known graph that equals each graph and is excluded; -1 excludes none.
        context : Context
            Work on the graphs that views share.

        Returns
        -------
        ndarray of shape (radius + 1, n_nodes), bool
        """
        position = np.minimum(context.shared(self.numbers), len(self.table.colors))
        return self.table.is_new_at(position, own[context.graphs.graph_of_node])


class NeighborhoodCounts:
    """How often each reference has each neighborhood.

    Parameters
    ----------
    references : GraphBatch
    neighborhoods : Neighborhoods
        Those of the references.

    Attributes
    ----------
    counts : csr_array of int
        Numbers of nodes with each color, by reference.
    """

    def __init__(self, references: GraphBatch, neighborhoods: Neighborhoods) -> None:
        numbers = neighborhoods.numbers(references)
        graph = np.tile(references.graph_of_node, len(numbers))
        shape = len(references), int(numbers.max()) + 1
        self.counts = count_pairs(graph, numbers.ravel(), shape)

    def __getstate__(self) -> dict[str, Any]:
        return {"counts": self.counts}  # from which the rest follows

    @cached_property
    def columns(self) -> sp.csr_array:
        """Numbers of nodes with each color, by color."""
        return self.counts.T.tocsr()

    @cached_property
    def column_sets(self) -> sp.csr_array:
        """References that have each color."""
        return as_sets(self.columns)

    @cached_property
    def totals(self) -> np.ndarray:
        """The number of nodes of each reference, times the number of radii."""
        return self.counts.sum(axis=1)

    @cached_property
    def n_kinds(self) -> np.ndarray:
        """The number of colors of each reference."""
        return np.diff(self.counts.indptr)

    def in_common(
        self, graphs: GraphBatch, numbers: np.ndarray, columns: sp.csr_array
    ) -> tuple[np.ndarray, np.ndarray]:
        """Neighborhoods that a graph and a reference have in common.

        Parameters
        ----------
        graphs : GraphBatch
        numbers : ndarray of shape (radius + 1, n_nodes), int
            See :meth:`Neighborhoods.numbers`.
        columns : csr_array
            Of the references: `columns`, or `column_sets`.

        Returns
        -------
        shared : ndarray of shape (n_graphs, n_references)
            Sum over neighborhoods of the smaller number of a graph and of a reference.
        n_kinds : ndarray of shape (n_graphs,)
            Number of distinct neighborhoods of each graph.
        """
        shared = np.zeros((len(graphs), columns.shape[1]))
        n_kinds = np.zeros(len(graphs))
        # Read-only also during fit, so that it is compiled once.
        known = (frozen(x) for x in (columns.indptr, columns.indices, columns.data))
        _add_common(numbers, graphs.node_ptr, *known, shared, n_kinds)
        return shared, n_kinds


class NeighborhoodView(View):
    """Base class of views of the neighborhoods of a graph.

    Parameters
    ----------
    radius : int, default=5
        Radius of the largest neighborhood, in [0, 100].

    Attributes
    ----------
    neighborhoods_ : Neighborhoods
        The neighborhoods of the known graphs, which views of the same radius share.
    """

    graph_data: ClassVar[tuple[str, ...]] = ()
    _parameter_constraints: dict = {"radius": [Interval(Integral, 0, 100, closed="both")]}

    neighborhoods_: Neighborhoods

    def __init__(self, radius: int = 5) -> None:
        self.radius = radius

    def check_batch(self, graphs: GraphBatch) -> None:
        """Raise a ValueError if graphs lack the labels of the training graphs."""
        self.neighborhoods_.vocabulary.check_batch(graphs)


class ComparedNeighborhoods(NeighborhoodView):
    """Base class of views that compare the neighborhoods of a graph with those of each reference.

    Attributes
    ----------
    counts_ : NeighborhoodCounts
        Those of the references, which views of the same radius share.
    """

    has_distances: ClassVar[bool] = True

    counts_: NeighborhoodCounts

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Learn the neighborhoods of the references, see :meth:`View.fit`."""
        by_label = references.labels is not None
        self.neighborhoods_ = context.shared(Neighborhoods, self.radius, by_label)
        self.counts_ = context.shared(NeighborhoodCounts, self.neighborhoods_)
        return self

    def distances(self, context: Context, others: Context, own: np.ndarray) -> np.ndarray:
        """Distances by the neighborhoods of both graphs, see :meth:`View.distances`."""
        by_label = self.neighborhoods_.vocabulary.by_label
        known = others.shared(Neighborhoods, self.radius, by_label)
        counts = others.shared(NeighborhoodCounts, known)
        return self._distances_to(known, counts, context)

    def properties(
        self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray, context: Context
    ) -> list[Property]:
        """None: how similar graphs are says nothing to people."""
        return []

    def _distances_to(
        self, neighborhoods: Neighborhoods, known: NeighborhoodCounts, context: Context
    ) -> np.ndarray:
        """Distances to known graphs, shape (n_graphs, n_known)."""
        raise NotImplementedError(f"{type(self).__name__} has no distances between graphs")


@compiled
def _add_common(numbers, node_ptr, first, references, known, shared, n_kinds):
    """Add what :meth:`NeighborhoodCounts.in_common` returns; columns are those of a CSR matrix."""
    for i in range(len(shared)):
        found = np.sort(numbers[:, node_ptr[i] : node_ptr[i + 1]].flatten())
        start = 0
        for stop in range(1, len(found) + 1):
            if stop < len(found) and found[stop] == found[start]:
                continue
            column = found[start]
            n_nodes = stop - start
            if column < len(first) - 1:
                for b in range(first[column], first[column + 1]):
                    shared[i, references[b]] += min(n_nodes, known[b])
            n_kinds[i] += 1
            start = stop


# Any new part counts so many times as much as all nodes in new neighborhoods, if no reference has
# one of its kind. With 2 to 4, results on the data sets that chose the defaults agree within 0.3.
ANY_NEW_WEIGHT = 3
# Weight of a new part, relative to a node in a new neighborhood, if a tenth of the references have
# such parts, or more.
NEW_PART_WEIGHT = 10
# That weight is lower if a larger share of the references' parts occurs in one reference only, such
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

    If there are categories, the view also adds a term for each kind of *parts*. Parts are nodes, by
    their category, or by each of several categories and by all of them together; and the
    *surroundings* of a node, its edges and neighbors by the same categories. If edges have
    directions or categories, edges are parts, too, by the categories at their ends and their own,
    and by each of their own alone; so they are if no label occurs twice in a graph, such as regions
    of a brain. Graphs are parts by each of their own categories. If numbers may be missing, nodes
    are also counted by their set of missing numbers.

    The term of a graph with any new part is 3 (1 - p / 0.1), where p is the share of references
    that have a new part of the kind, each compared with the others. What is seldom new thus counts
    most, such as a functional group that no known molecule has: large neighborhoods are new
    everywhere, and would hide it. If p is 0.1 or more, surroundings do not count, and the term of
    other kinds is ten times the share of new parts, or less if more than one part of a hundred is
    new in the references.

    For a new *value*, of one category of nodes, edges or graphs by itself, that term is multiplied
    by 10 ** (6 (1 - q / 0.05)), or by 1 if q is larger than 0.05. Here, q is the share of the other
    references that have a value of their own, in this category or in one where fewer have. If none
    has, a new value outweighs everything else; where new names and dates are usual, it does not.

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

    graph_data: ClassVar[tuple[str, ...]] = ("graph_categories",)
    uses_all_graphs = True
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
        return f"novelty of radius {self.radius}"

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Learn the neighborhoods and categories of the training graphs.

        Parameters
        ----------
        references : GraphBatch
            All training graphs.
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
        self.parts_ = context.shared(CategoryCounts.of, by_label, with_edges)
        self.neighborhoods_ = context.shared(Neighborhoods, self.radius, by_label)
        is_owned = self.neighborhoods_.is_new(np.arange(len(references)), context)
        shares = np.append(is_owned.mean(axis=1), 1.0)
        self.usual_radius_ = int(np.argmax(shares >= OFTEN_NEW))
        return self

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Minus the share of new nodes and the terms of new parts, see :meth:`View.scores`."""
        scores = -self._new_shares(own, context)
        for table, keys, graph in self.parts_.parts(graphs):
            known = table.known
            share = means(known.is_new(keys, own[graph]), graph, len(graphs))
            if table.surprise:
                of_new, of_reference = table.factors
                factors = np.where(own >= 0, of_reference, of_new)
                scores -= np.where(share > 0, ANY_NEW_WEIGHT * table.surprise * factors, 0.0)
            else:
                scores -= NEW_PART_WEIGHT * MAX_CHANCE / max(known.chance, MAX_CHANCE) * share
        return scores

    def _new_shares(self, own: np.ndarray, context: Context) -> np.ndarray:
        """Share of nodes in new neighborhoods, shape (n_graphs,)."""
        return means(
            self.neighborhoods_.is_new(own, context)[-1],
            context.graphs.graph_of_node,
            len(context.graphs),
        )

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


class Tanimoto(ComparedNeighborhoods):
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

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Similarity to the most similar reference, in [0, 1], see :meth:`View.scores`."""
        return 1 - nearest(self._distances_to(self.neighborhoods_, self.counts_, context), own, 1)

    def _distances_to(
        self, neighborhoods: Neighborhoods, known: NeighborhoodCounts, context: Context
    ) -> np.ndarray:
        numbers = context.shared(neighborhoods.numbers)
        graphs = context.graphs
        shared, _ = known.in_common(graphs, numbers, known.columns)
        totals = len(numbers) * graphs.n_nodes_per_graph
        return 1 - shared / (totals[:, np.newaxis] + known.totals - shared)


class Neighbors(ComparedNeighborhoods):
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

    _parameter_constraints: dict = {
        **NeighborhoodView._parameter_constraints,
        "n_neighbors": [at_least(1, Integral)],
    }

    def __init__(self, n_neighbors: int = 5, radius: int = 5) -> None:
        super().__init__(radius)
        self.n_neighbors = n_neighbors

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Minus the mean distance to the nearest references, see :meth:`View.scores`."""
        distances = self._distances_to(self.neighborhoods_, self.counts_, context)
        return -nearest(distances, own, min(self.n_neighbors, len(self.counts_.n_kinds) - 1))

    def _distances_to(
        self, neighborhoods: Neighborhoods, known: NeighborhoodCounts, context: Context
    ) -> np.ndarray:
        numbers = context.shared(neighborhoods.numbers)
        shared, n_kinds = known.in_common(context.graphs, numbers, known.column_sets)
        return np.sqrt(n_kinds[:, np.newaxis] + known.n_kinds - 2 * shared)
