"""Statistics: the view of a graph as a whole, by numbers such as its size, degrees and shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from skgraphkde._utils import compiled
from skgraphkde._words import USUAL
from skgraphkde.core.distances.base import nearest
from skgraphkde.core.graphs.arrays import ROUNDING, codes_in, offsets
from skgraphkde.core.graphs.batch import GraphBatch, columns_without_places
from skgraphkde.core.graphs.refinement import by_frequency
from skgraphkde.core.graphs.schema import PARTS
from skgraphkde.core.specification import at_least
from skgraphkde.core.views.base import Context, Property, View
from skgraphkde.core.views.categories import Vocabulary
from skgraphkde.core.views.rows import Whitening, check_size, folds, winsorized

# Categories that have a share of their own; the others are one.
MOST_CATEGORIES = 200
# Variance that whitening adds, in units of the variance of a statistic, beside the number of
# statistics per reference.
RIDGE = 0.1
# Categories that fewer references have are others, as are those that none has.
MIN_GRAPHS_PER_CATEGORY = 3


class Statistic(NamedTuple):
    """A number of each graph, and its change if a graph differs by one node or edge."""

    # What it is: ("nodes",), ("mean", "node", number), ("share", part, category, value), ...
    key: tuple
    values: np.ndarray  # (n_graphs,); NaN where a graph has none
    step: float
    # Of counts: "log" or "log1p", "most" for the largest one; "share", "nodes" for a share of them;
    # "fact"; "deviation" of the mean before it
    form: str = "number"
    kind: str = ""  # of its reason; "" if there is none
    fact: str = ""  # what programs and reasons of other kinds call it, whatever people say
    of: tuple[str, int] = ("", 0)  # the category that it is of, and the place of the value
    nodes: np.ndarray = np.empty(0)  # (n_nodes,), positive for those it is about; larger ones first


class Categorized(NamedTuple):
    """The values of one category in graphs: at each node, edge, graph, or pair of steps."""

    key: str
    part: str  # "node", "edge", "graph", or "pair" of two steps with the same value
    name: str
    codes: np.ndarray  # of each
    values: Sequence[Any]  # distinct ones, by code; two steps, for pairs
    graph: np.ndarray  # of each
    totals: np.ndarray  # (n_graphs,), by which the counts are divided
    nodes: np.ndarray  # (n_codes, 0 to 2), at which each is
    shared: Sequence[Any] = ()  # the value that the steps of each pair share


class Metric:
    """Euclidean distance between standardized and whitened rows.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        Rows from which means and covariances are learned, without far outliers; NaN counts as the
        mean.
    steps : ndarray of shape (n_columns,)
        The column would have this deviation, divided by the root of n_rows, if it did not vary; in
        units of the deviation of its number, or of its size, for the deviation of a number, and 0
        for the size.
    numbers : ndarray of shape (n_columns,), int
        The column with the size of the number: that of the mean, for the deviation of a number.
    """

    def __init__(self, table: np.ndarray, steps: np.ndarray, numbers: np.ndarray) -> None:
        n, n_columns = table.shape
        rows = table
        table = winsorized(table)
        self.means = np.nansum(table, axis=0) / np.maximum((~np.isnan(table)).sum(axis=0), 1)
        filled = np.where(np.isnan(table), self.means, table)
        deviations = filled.std(axis=0)
        size = np.sqrt((filled**2).mean(axis=0))[numbers]
        varies = deviations > ROUNDING * size
        of_numbers = np.where(varies, deviations, size)[numbers]
        of_numbers = np.where(of_numbers > 0, of_numbers, 1.0)
        is_structural = (steps > 0) & (numbers == np.arange(n_columns))
        of_constants = np.where(steps > 0, steps, 1.0) * of_numbers
        units = np.where(is_structural, steps, np.where(varies, 0.0, of_constants))
        # Differences of rounding are none, as in single precision.
        least = np.maximum(ROUNDING * size, 1e-6 * of_numbers)
        self.scales = np.maximum(np.sqrt(deviations**2 + units**2 / n), least)
        # Of few rows, each has a large share in the directions of many columns.
        self.whitening = Whitening(self.standardized(table), RIDGE + n_columns / n)
        self.points = self.whitened(rows)

    def standardized(self, table: np.ndarray) -> np.ndarray:
        """Rows in deviations from the means; 0 where a number is missing."""
        return np.nan_to_num((table - self.means) / self.scales)

    def whitened(self, table: np.ndarray) -> np.ndarray:
        """Rows as points, whose Euclidean distance is the metric."""
        return self.whitening(self.standardized(table))

    def away(self, rows: np.ndarray, known: np.ndarray) -> np.ndarray:
        """How far the nearest of some rows is from the means, in each column; 0 in most of them.

        In the others, all rows are beyond the usual range of the known rows, at the same side.
        """
        low, high = np.nanquantile(known, USUAL, axis=0, method="nearest")
        is_odd = (rows > high).all(axis=0) | (rows < low).all(axis=0)
        return np.where(is_odd, abs(self.standardized(rows)).min(axis=0), 0.0)


class Statistics(View):
    """Distance to the nearest references in statistics of the whole graph.

    The statistics are the numbers of nodes and edges (logarithms), density, mean, deviation and
    maximum of the degrees, clustering, connected components, independent cycles, the shares of
    nodes with degree 0, 1 and 2, and in directed graphs of sources and sinks; the share of each
    category of nodes and of edges, up to 200; pairs of steps with the same value of a category, see
    :class:`Vocabulary`; the mean and deviation of each number of nodes and of edges, and the share
    of those without it, if numbers may be missing; and the categories and numbers of the graph
    itself. They are standardized and whitened with shrinkage, so that statistics that always go
    together count once (Mahalanobis, 1936). A statistic that never varies in the references has the
    deviation that it would have if one of them differed by one node or edge.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of references whose distances are averaged.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        Categories of the references.
    categories_ : dict of str -> tuple
        Categories of nodes and edges that have a share of their own.
    columns_ : ndarray of int
        Indices of the node numbers that count, as for :class:`Numbers`.
    may_lack_ : bool
        Whether numbers may be missing.
    keys_ : tuple of tuple
        What each statistic is, as data.
    forms_ : tuple of str
        Their forms.
    of_ : tuple of (str, int)
        For each, the key in `categories_` and the place there of the value that it is of; one
        further for rare values, and ("", 0) if it is of none.
    table_ : ndarray of shape (n_references, n_statistics)
        Statistics of the references; NaN where nothing has a number.
    steps_ : ndarray of shape (n_statistics,)
        Change of each statistic if a reference differs by one node or edge.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Statistics
    >>> GraphKDEDetector(views=("density", Statistics(n_neighbors=3))).views
    ('density', Statistics(n_neighbors=3))
    """

    has_distances: ClassVar[bool] = True
    _parameter_constraints: dict = {"n_neighbors": [at_least(1, Integral)]}

    def __init__(self, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Learn the statistics of the references, see :meth:`View.fit`.

        Raises
        ------
        ValueError
            If there are too many.
        """
        self.vocabulary_ = references.once(Vocabulary.of, references.labels is not None)
        self.categories_ = {
            x.key: _most_frequent(x.codes, x.values, x.graph)
            for x in _categories(references, self.vocabulary_)
        }
        self.columns_ = columns_without_places(references)
        self.may_lack_ = references.schema.missing != "error"
        found = self._statistics(context)
        self.keys_ = tuple(statistic.key for statistic in found)
        self.forms_ = tuple(statistic.form for statistic in found)
        self.of_ = tuple(statistic.of for statistic in found)
        self.table_ = np.column_stack([statistic.values for statistic in found])
        self.steps_ = np.array([statistic.step for statistic in found])
        check_size("graph", self.table_.shape, 1, "statistics")
        return self

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Minus the mean distance to the nearest references, see :meth:`View.scores`."""
        table = self.table(context)
        scores = np.empty(len(graphs))
        for metric, rows in self.metrics(own):
            # Distances are those of differences, so that copies are at distance 0.
            distances = cdist(metric.whitened(table[rows]), metric.points)
            nobody = np.full(len(distances), -1)
            scores[rows] = -nearest(distances, nobody, min(self.n_neighbors, len(metric.points)))
        return scores

    def distances(self, context: Context, others: Context, own: np.ndarray) -> np.ndarray:
        """Distances between whitened statistics, see :meth:`View.distances`."""
        table = self.table(context)
        known = self.table(others)
        distances = np.empty((len(table), len(known)))
        for metric, rows in self.metrics(own):
            distances[rows] = cdist(metric.whitened(table[rows]), metric.whitened(known))
        return distances

    def table(self, context: Context) -> np.ndarray:
        """Statistics of graphs, shape (n_graphs, n_statistics); NaN where nothing has a number."""
        return np.column_stack([statistic.values for statistic in self._statistics(context)])

    def metrics(self, own: np.ndarray) -> Iterator[tuple[Metric, np.ndarray]]:
        """Generate metrics, each with a mask of the graphs that it measures.

        Parameters
        ----------
        own : ndarray of shape (n_graphs,), int
            As for :meth:`scores`. References are measured by a metric learned without them.

        Yields
        ------
        metric : Metric
        rows : ndarray of shape (n_graphs,), bool
        """
        fold = np.full(len(own), -1)
        is_reference = own >= 0
        if is_reference.any():
            fold[is_reference] = self._folds[0][own[is_reference]]
        for i in np.unique(fold).tolist():
            yield (self._metric if i < 0 else self._folds[1][i]), fold == i

    @cached_property
    def _metric(self) -> Metric:
        return Metric(self.table_, self.steps_, self.subjects)

    @property
    def metric(self) -> Metric:
        """The metric of all references."""
        return self._metric

    @property
    def subjects(self) -> np.ndarray:
        """The statistic itself, or the mean, right before it, of which it is the deviation."""
        return np.arange(len(self.forms_)) - (np.array(self.forms_) == "deviation")

    @cached_property
    def _folds(self) -> tuple[np.ndarray, list[Metric]]:
        """The fold left out for each reference, and for each a metric learned of the others.

        Of up to 20 references, each is left out alone.
        """
        fold, left_out = folds(self._metric.standardized(self.table_))
        parts = (self.table_[fold != i] for i in range(int(fold.max()) + 1))
        return left_out, [Metric(table, self.steps_, self.subjects) for table in parts]

    def here(self, j: int, graphs: GraphBatch) -> tuple[np.ndarray, list[Any]]:
        """Where graphs have the category that a statistic is of.

        Parameters
        ----------
        j : int
        graphs : GraphBatch

        Returns
        -------
        nodes : ndarray of int
            Those with the category, or at the ends of such edges and pairs; empty for statistics of
            the whole graph.
        values : list
            Rare ones, and those that pairs of steps share; no other ones.
        """
        key, place = self.of_[j]
        for x in _categories(graphs, self.vocabulary_):
            if x.key == key:
                known = self.categories_[key]
                values = x.shared
                index = np.flatnonzero(codes_in(x.values, known, len(known))[x.codes] == place)
                if place == len(known):
                    values = [x.values[code] for code in x.codes]
                found = dict.fromkeys(values[i] for i in index.tolist() if values)
                return np.unique(x.nodes[index]), list(found)
        return np.empty(0, dtype=np.int64), []

    def _statistics(self, context: Context) -> list[Statistic]:
        return [
            *context.shared(structure),
            *self._shares(context.graphs),
            *self._numbers(context.graphs),
        ]

    def _shares(self, graphs: GraphBatch) -> Iterator[Statistic]:
        """Shares of the categories of nodes and edges."""
        for x in _categories(graphs, self.vocabulary_):
            known = self.categories_[x.key]
            n = len(known) + 1
            columns = codes_in(x.values, known, len(known))
            counts = np.bincount(x.graph * n + columns[x.codes], minlength=len(graphs) * n)
            shares = counts.reshape(len(graphs), n) / np.maximum(x.totals, 1)[:, np.newaxis]
            form = "share" if x.part in ("node", "edge") else "fact"
            step = 1 / max(x.totals.mean(), 1)
            keys: list[tuple] = [("share", x.part, x.name, value) for value in known]
            keys.append(("rare", x.part, x.name))
            for place, (key, share) in enumerate(zip(keys, shares.T, strict=True)):
                yield Statistic(key, share, step, form, of=(x.key, place))

    def _numbers(self, graphs: GraphBatch) -> Iterator[Statistic]:
        """Numbers of graphs, means and deviations of those of nodes and of edges."""
        nodes = graphs.attributes
        edges = graphs.edge_attributes
        schema = graphs.schema
        if graphs.graph_attributes is not None:
            for name, column in zip(schema.graph_columns, graphs.graph_attributes.T, strict=True):
                yield Statistic(("number", "graph", name), column, 0.0)
        names = schema.node_columns
        of_node = graphs.graph_of_node
        of_arc = graphs.graph_of_arc
        columns = [
            ("node", names[j], np.asarray(nodes)[:, j], of_node) for j in self.columns_.tolist()
        ]
        columns += [
            ("edge", name, np.asarray(edges)[:, j], of_arc)
            for j, name in enumerate(schema.edge_columns)
        ]
        for part, column_name, column, graph in columns:
            is_given = ~np.isnan(column)
            n = len(graphs)
            count = np.bincount(graph, is_given.astype(float), n)
            divisor = np.where(count > 0, count, np.nan)
            mean = np.bincount(graph, np.where(is_given, column, 0.0), n) / divisor
            # Once more, for what rounding has left of far numbers.
            mean += np.bincount(graph, np.where(is_given, column - mean[graph], 0.0), n) / divisor
            squares = np.where(is_given, column - mean[graph], 0.0) ** 2
            deviation = np.sqrt(np.bincount(graph, squares, n) / divisor)
            deviation[deviation <= ROUNDING * np.abs(mean)] = 0  # of equal numbers
            yield Statistic(("mean", part, column_name), mean, 0.0)
            one = 1 / np.sqrt(max(count.mean(), 1))  # of its nodes or edges
            yield Statistic(
                ("deviation", part, column_name), deviation, one, "deviation",
            )  # fmt: skip
            if self.may_lack_:
                n_parts = np.maximum(np.bincount(graph, minlength=n), 1)
                yield Statistic(
                    ("without", part, column_name),
                    1 - count / n_parts, 1 / n_parts.mean(), "share",
                )  # fmt: skip

    # -- reasons -----------------------------------------------------------------------------------

    def properties(
        self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray, context: Context
    ) -> list[Property]:
        """Statistics of the structure; other statistics are reasons for any detector."""
        least = np.tile(self.steps_ / 2, (len(graphs), 1))
        return [
            Property(x.kind, x.fact, x.values, least[:, place], place, both=True)
            for place, x in enumerate(context.shared(structure))
            if x.kind
        ]


def structure(graphs: GraphBatch) -> list[Statistic]:
    """Statistics of the structure."""
    U = graphs.underlying
    graph = graphs.graph_of_node
    n = len(graphs)
    n_nodes = graphs.n_nodes_per_graph.astype(float)
    degrees = graphs.degrees.astype(float)
    node = 1 / n_nodes.mean()

    def mean(values: np.ndarray) -> np.ndarray:
        return np.bincount(graph, values, n) / n_nodes

    n_edges = n_nodes * mean(degrees) / 2
    n_pairs = np.maximum(n_nodes * (n_nodes - 1) / 2, 1)
    _, component = connected_components(U, directed=False)
    first = np.unique(component, return_index=True)[1]
    n_components = np.bincount(graph[first], minlength=n).astype(float)
    # Of equal parts, the first is the largest.
    sizes = np.bincount(component)[component] - component / len(component)
    elsewhere = 1 * (sizes < np.maximum.reduceat(sizes, graphs.node_ptr[:-1])[graph])
    elsewhere[first] *= 2  # one node of each part before others
    largest = np.maximum.reduceat(degrees, graphs.node_ptr[:-1])
    n_wedges = np.bincount(graph, degrees * (degrees - 1), n)
    n_triangles = triangles(U)
    n_cycles = n_edges - n_nodes + n_components
    found = [
        Statistic(("nodes",), np.log(n_nodes), node, "log"),
        Statistic(("edges",), np.log1p(n_edges), 1 / (1 + n_edges.mean()), "log1p"),
        Statistic(
            ("density",), n_edges / n_pairs, (1 / n_pairs).mean(),
            "share",
        ),
        Statistic(("mean degree",), mean(degrees), node),
        Statistic(
            ("deviation of degrees",),
            np.sqrt(np.maximum(mean(degrees**2) - mean(degrees) ** 2, 0)), node,
        ),
        Statistic(
            ("largest degree",), np.log1p(largest), 1 / (1 + largest.mean()),
            "most", "size", "degrees", nodes=degrees * (degrees == largest[graph]),
        ),
        Statistic(
            ("triangles",),
            6 * np.bincount(graph, n_triangles, n) / np.maximum(n_wedges, 1), node,
            "share", "statistics", "triangles", nodes=n_triangles,
        ),
        Statistic(
            ("pieces",),
            np.log(n_components), np.log(2), "log", "size", "pieces", nodes=elsewhere,
        ),
        Statistic(
            ("rounds",),
            np.log1p(n_cycles), 1 / (1 + n_cycles.mean()), "log1p", "size", "rounds",
        ),
    ]  # fmt: skip
    shares = [
        (("degree 0",), degrees == 0, "isolated nodes"),
        (("degree 1",), degrees == 1, "degrees"),
        (("degree 2",), degrees == 2, "degrees"),
    ]
    if graphs.directed:
        to = np.bincount(graphs.adjacency.indices, minlength=graphs.n_nodes) > 0
        out = np.diff(graphs.adjacency.indptr) > 0
        shares += [
            (("sources",), out & ~to, "sources"),
            (("sinks",), to & ~out, "sinks"),
        ]
    return found + [
        Statistic(key, mean(has), node, "nodes", "statistics", fact, nodes=1 * has)
        for key, has, fact in shares
    ]


def _categories(graphs: GraphBatch, vocabulary: Vocabulary) -> Iterator[Categorized]:
    """Generate the categories of nodes, edges and graphs, and the pairs of steps."""
    ends = np.column_stack([graphs.source_of_arc, graphs.adjacency.indices])
    nodes = {"node": np.arange(graphs.n_nodes)[:, np.newaxis], "edge": ends}
    nodes["graph"] = np.empty((len(graphs), 0), dtype=np.int64)
    for part in PARTS:
        labels = graphs.data(part).labels
        graph = graphs.owner(part)
        if labels is None:
            continue
        totals = np.bincount(graph, minlength=len(graphs))
        for name in graphs.values_by_category(part):
            values, own = graphs.category(part, name)
            key = f"{part} {name}"
            codes = own[labels]
            yield Categorized(key, part, name, codes, values, graph, totals, nodes[part])
    for i in vocabulary.who:
        first, second = vocabulary.same_value(graphs, i)
        steps = vocabulary.steps_of_pairs(graphs, first, second)
        known = list(dict.fromkeys(steps))
        graph = graphs.graph_of_node[first]
        name = vocabulary.names[i]
        shared = [graphs.values_by_category("node")[name][code] for code in graphs.labels[first]]
        yield Categorized(
            f"pair {name}", "pair", name, codes_in(steps, known), known, graph,
            np.ones(len(graphs), dtype=np.int64), np.column_stack([first, second]), shared,
        )  # fmt: skip


def _most_frequent(codes: np.ndarray, values: Sequence[Any], graph: np.ndarray) -> tuple:
    """The most frequent categories, by their numbers of graphs, that several graphs have."""
    pairs, counts = np.unique(graph * len(values) + codes, return_counts=True)
    category = pairs % len(values)
    n_graphs = np.bincount(pairs % len(values))
    order = by_frequency(category, counts.astype(np.uint64))[:MOST_CATEGORIES]
    return tuple(values[i] for i in order if n_graphs[i] >= MIN_GRAPHS_PER_CATEGORY)


def triangles(graphs: sp.csr_array) -> np.ndarray:
    """Numbers of triangles of a simple undirected graph, each counted at one node, (n_nodes,).

    Edges are followed from the end of lower degree, so that a hub is met once for each of its edges
    (Chiba and Nishizeki, 1985): the time grows with the number of edges to the power of 1.5.
    """
    degrees = np.diff(graphs.indptr)
    n = graphs.shape[0]
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(degrees, kind="stable")] = np.arange(n)
    source = np.repeat(np.arange(n), degrees)
    kept = rank[source] < rank[graphs.indices]
    indptr = offsets(np.bincount(source[kept], minlength=n))
    return _closed(indptr, graphs.indices[kept])


@compiled
def _closed(indptr, indices):
    """Number of pairs of arcs u -> v -> w, for each u, with an arc u -> w."""
    n = len(indptr) - 1
    out = np.zeros(n)
    mark = np.full(n, -1)
    for u in range(n):
        for a in range(indptr[u], indptr[u + 1]):
            mark[indices[a]] = u
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            for b in range(indptr[v], indptr[v + 1]):
                out[u] += mark[indices[b]] == u
    return out
