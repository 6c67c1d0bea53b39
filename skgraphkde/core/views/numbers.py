"""Numbers: the view of the node, or edge, whose numbers together are unlike all others."""

from __future__ import annotations

from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.spatial import cKDTree
from sklearn.metrics import pairwise_distances_argmin

from skgraphkde._utils import one_blas_thread
from skgraphkde._words import usual_range
from skgraphkde.core.graphs.arrays import ROUNDING, find_in
from skgraphkde.core.graphs.batch import GraphBatch, columns_without_places, is_spatial
from skgraphkde.core.graphs.copies import hash_data
from skgraphkde.core.graphs.refinement import hash_points
from skgraphkde.core.specification import at_least
from skgraphkde.core.views.base import Context, Facts, Property, View
from skgraphkde.core.views.categories import Vocabulary, means
from skgraphkde.core.views.namesakes import explain_numbers
from skgraphkde.core.views.rows import Whitening, check_size, folds, winsorized

# A tree looks at all of the points if they have more columns, which a matrix product does faster.
MOST_COLUMNS_OF_TREE = 15
# Kinds of nodes or edges that fewer references have are one kind.
MIN_GRAPHS_PER_KIND = 5
# The same for categories of graphs, each of which has one row.
MIN_GRAPHS_PER_CATEGORY = 10
# Variance that whitening adds, as a share of that of a number: rounding is no evidence.
RIDGE = 1e-3
# Distances beyond are cut to this one.
FARTHEST = 1e100
# Differences due to rounding, as in single precision or six digits, in units of the largest
# deviation from the mean of the column.
RELATIVE_ROUNDING = 2e-6


# Shares of missing numbers that deviate less from the mean, in standard deviations, are usual.
USUAL_DEVIATION = 2.5
# Points without a fold are kept if they take so little memory.
MOST_BYTES_KEPT = 1_000_000
# Rows of the shares of missing numbers.
GAPS = "gaps"


class Rows(NamedTuple):
    """Numbers of nodes, of edges, or of graphs, one row for each."""

    part: str  # "node", "edge", "graph", or GAPS: the shares of missing numbers of the graph
    category: str | None  # of the graphs, within which their numbers are compared
    names: tuple[str, ...]  # of the numbers
    values: np.ndarray  # (n_rows, n_numbers); NaN for a missing number
    kinds: np.ndarray  # (n_rows,), colors by category
    graph: np.ndarray  # (n_rows,), the graph of each row
    elements: np.ndarray  # (n_rows,), the nodes, the arcs, or the graphs


class OddRow(NamedTuple):
    """The row of a graph that is farthest from those of the references, and what it is told by."""

    rows: Rows
    elements: np.ndarray  # the node, arc or graph of the row, and of others that are out of range
    values: np.ndarray  # (n_numbers,)
    others: np.ndarray  # (n_others, n_numbers), of references, of the same kind
    low: np.ndarray  # (n_numbers,), the ends of their usual range
    high: np.ndarray
    is_missing: np.ndarray  # (n_numbers,)
    is_odd: np.ndarray  # (n_numbers,), beyond the usual range, or missing where none is
    scale: np.ndarray  # (n_numbers,)
    has_kind: bool  # False for the less common kinds, which are one
    has_kinds: bool  # False if all rows are compared

    def facts(self) -> Facts:
        """The first number beyond its range, or the only one; none of several usual ones."""
        index = np.flatnonzero(self.is_odd)
        j = int(index[0]) if len(index) else 0
        if not len(index) and len(self.values) > 1:
            return Facts(self.rows.part, n_known=len(self.others))
        return Facts.of(self.rows.part, self.values[j], self.others[:, j])


class Numbers(View):
    """The node, edge or graph whose numbers together are least like those of any reference.

    The numbers of each node are a point, relative to the mean of the nodes of the same categories,
    and whitened, so that two numbers that always go together are known to do so. The score of a
    graph is minus the largest distance of one of its nodes, or edges, to the nearest one of the
    same categories in a reference, or of its own numbers to those of a reference: of any, and, for
    each category of the graph, of one that has the same. If numbers may be missing, so much of the
    distance of its shares of missing numbers from their means counts, too, as is beyond 2.5
    standard deviations. The view finds an impossible value, a value between those that occur, and
    two usual values that contradict each other. Numbers that look like coordinates do not count
    unless a schema names them, nor numbers of edges that the names of their ends explain, which
    :class:`Namesakes` compares.

    Parameters
    ----------
    n_points : int, default=10000
        Largest number of distinct nodes, and of edges, of the references that are kept.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        Categories of the references' nodes and edges.
    columns_ : ndarray of int
        Indices of the node numbers.
    of_edges_, of_graphs_ : bool
        Whether numbers of edges, and of graphs, count.
    parts_ : tuple of str
        What each of `points_` is about: nodes, edges, graphs, or their shares of missing numbers.
    points_ : list of NumberPoints
        Numbers of the references' nodes, of their edges, and of the references, also within each
        of their categories.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Numbers
    >>> GraphKDEDetector(views=("density", Numbers(n_points=1000))).views
    ('density', Numbers(n_points=1000))
    """

    _parameter_constraints: dict = {"n_points": [at_least(2, Integral)]}

    vocabulary_: Vocabulary
    references_: GraphBatch
    points_: list[NumberPoints]

    def __init__(self, n_points: int = 10_000) -> None:
        self.n_points = n_points

    def applies_to(self, graphs: GraphBatch) -> bool:
        """True if nodes, edges or graphs have numbers that are not coordinates."""
        has_others = _are_of_edges(graphs) or graphs.graph_attributes is not None
        has_numbers = graphs.attributes is not None and not graphs.once(is_spatial).all()
        return has_others or has_numbers

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Learn the numbers of the references, their nodes and their edges.

        Parameters
        ----------
        references : GraphBatch
        context : Context
            Not used.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If neither nodes nor edges nor graphs have numbers, or there are too many.
        """
        if not self.applies_to(references):
            raise ValueError(
                "Numbers needs numbers of nodes, edges or graphs that do not look like "
                "coordinates, as 'x' does: name them in GraphSchema(node_numbers=...), or omit the "
                "view"
            )
        self.vocabulary_ = references.once(Vocabulary.of, references.labels is not None)
        self.columns_ = columns_without_places(references)
        self.may_lack_ = references.schema.missing != "error"
        self.of_edges_ = _are_of_edges(references)
        self.of_graphs_ = references.graph_attributes is not None
        self.references_ = references
        tables = self._rows(references)
        self.parts_ = tuple(rows.part for rows in tables)
        for rows in tables:
            if rows.part != GAPS:  # which are fewer
                check_size(rows.part, rows.values.shape, self.parts_.count(rows.part), "numbers")
        self.points_ = [
            NumberPoints(rows, np.ones(len(rows.graph), dtype=bool), self.n_points)
            for rows in tables
        ]
        return self

    @cached_property
    def _reference_rows(self) -> list[Rows]:
        return self._rows(self.references_)

    @cached_property
    def _folds(self) -> tuple[np.ndarray, np.ndarray]:
        """The fold of each reference, and the fold that is left out for it.

        Of up to 20 references, each is left out alone.
        """
        lengths = [  # of all rows of a reference, in any units
            np.bincount(rows.graph, points.lengths(rows.values, rows.kinds), len(self.references_))
            for rows, points in zip(self._reference_rows, self.points_, strict=True)
        ]
        return folds(np.column_stack(lengths))

    @cached_property
    def _largest_of_references(self) -> list[np.ndarray]:
        """What :meth:`_largest` returns of the references, each among those of other folds.

        It is kept in place of the points without each fold, which are many.
        """
        found, (_, left_out) = [], self._folds
        for place, rows in enumerate(self._reference_rows):
            largest = np.zeros(len(left_out))
            for fold in np.unique(left_out).tolist():
                largest += _farthest(rows, left_out == fold, self._points_without(place, fold))
            found.append(largest)
        return found

    def _points_without(self, place: int, fold: int) -> NumberPoints:
        """Points of some rows of the references, without those of a fold; -1: of all."""
        if fold < 0:
            return self.points_[place]
        found = self._points_of_folds.get((place, fold))
        if found is None:
            rows, (of_references, _) = self._reference_rows[place], self._folds
            found = NumberPoints(rows, of_references[rows.graph] != fold, self.n_points)
            if found.points.nbytes <= MOST_BYTES_KEPT:
                self._points_of_folds[place, fold] = found
        return found

    @cached_property
    def _points_of_folds(self) -> dict[tuple[int, int], NumberPoints]:
        """Small points without a fold, by the place of their rows and the fold."""
        return {}

    def check_batch(self, graphs: GraphBatch) -> None:
        """Raise a ValueError if graphs lack the labels of the training graphs."""
        self.vocabulary_.check_batch(graphs)

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Minus the largest distance of a node, an edge or itself, see :meth:`View.scores`."""
        return -np.max(self._largest(graphs, own), axis=0)

    def _largest(self, graphs: GraphBatch, own: np.ndarray) -> list[np.ndarray]:
        """Largest distance of a node, and of an edge, of each graph, and that of the graph."""
        is_new = own < 0
        tables = zip(self._rows(graphs), self.points_, strict=True)
        found = [_farthest(rows, is_new, points) for rows, points in tables]
        if not is_new.all():
            for largest, of_references in zip(found, self._largest_of_references, strict=True):
                largest[~is_new] = of_references[own[~is_new]]
        return found

    def _rows(self, graphs: GraphBatch) -> list[Rows]:
        """Numbers of nodes, of edges and of graphs; these again within each of their categories."""
        tables = []
        if len(self.columns_):
            values = np.asarray(graphs.attributes)
            kinds = self.vocabulary_.node_kinds(graphs)
            columns = graphs.schema.node_columns
            names = tuple(columns[j] for j in self.columns_.tolist())
            index = np.arange(graphs.n_nodes)
            graph = graphs.graph_of_node
            tables.append(Rows("node", None, names, values[:, self.columns_], kinds, graph, index))
        if self.of_edges_:
            index = np.arange(graphs.adjacency.nnz)
            if not graphs.directed:
                index = np.flatnonzero(graphs.source_of_arc < graphs.adjacency.indices)
            values = np.asarray(graphs.edge_attributes)[index]
            kinds = self.vocabulary_.edge_keys(graphs)[index]
            names = graphs.schema.edge_columns
            graph = graphs.graph_of_arc[index]
            tables.append(Rows("edge", None, names, values, kinds, graph, index))
        index = np.arange(len(graphs))
        alike = np.zeros(len(graphs), dtype=np.uint64)
        if self.may_lack_:
            for rows in list(tables):  # a graph with fewer numbers has fewer that are unusual
                shares = [means(x, rows.graph, len(graphs)) for x in np.isnan(rows.values).T]
                names = tuple(f"share of {rows.part}s without {name}" for name in rows.names)
                values = np.column_stack(shares)
                tables.append(Rows(GAPS, None, names, values, alike, index, index))
        if self.of_graphs_:
            values = np.asarray(graphs.graph_attributes)
            names = graphs.schema.graph_columns
            tables.append(Rows("graph", None, names, values, alike, index, index))
            for category in self.vocabulary_.values["graph"]:
                kinds = self.vocabulary_.keys_alone(graphs, "graph", category)
                tables.append(Rows("graph", category, names, values, kinds, index, index))
        return tables

    # -- findings ----------------------------------------------------------------------------------

    def properties(
        self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray, context: Context
    ) -> list[Property]:
        """Largest distance of a node, and of an edge, and that of the graph itself.

        Shares of missing numbers are reasons for any detector.
        """
        least = np.full(len(graphs), 0.1)
        found = [
            Property("extreme", self.name, x, least, i)
            for i, x in enumerate(self._largest(graphs, own))
        ]
        return [x for x, part in zip(found, self.parts_, strict=True) if part != GAPS]

    def oddest(self, graph: GraphBatch, unusual: Property) -> OddRow:
        """The row of a graph that is farthest from those of the references, and these.

        If it has numbers out of range, it is that of the same kind in which the one that is
        farthest out is farther out still.
        """
        rows = self._rows(graph)[unusual.place]
        all_rows = self._reference_rows[unusual.place]
        fold = -1 if unusual.own < 0 else int(self._folds[1][unusual.own])
        points = self._points_without(unusual.place, fold)
        row = points.distances(rows.values, rows.kinds).argmax()
        codes = points.codes_of(rows.kinds)
        is_other = all_rows.graph != unusual.own
        code = int(codes[row])
        others = all_rows.values[is_other & (points.codes_of(all_rows.kinds) == code)]
        low, high = np.array([usual_range(column) for column in others.T]).T
        alike = np.flatnonzero(codes == code)
        scale = points.scale[: len(low)]
        values = rows.values[alike]
        may_lack = np.isnan(all_rows.values[is_other]).any(axis=0)
        is_missing = np.isnan(values)
        is_odd = np.where(is_missing, ~may_lack, ~((low <= values) & (values <= high)))
        beyond = np.nan_to_num(np.maximum(low - values, values - high) / scale, nan=-np.inf)
        [at] = out = np.flatnonzero(alike == row)
        if beyond[at].max() > 0 and not (is_odd & is_missing)[at].any():
            order = np.argsort(-beyond[:, beyond[at].argmax()], kind="stable")
            at = order[0]
            out = order[(beyond[order][:, is_odd[at]] > 0).any(axis=1)]
        return OddRow(
            rows,
            rows.elements[alike[out]],
            values[at],
            others,
            low,
            high,
            is_missing[at],
            is_odd[at],
            scale,
            has_kind=code > 0,
            has_kinds=len(points.kinds) > 0,
        )


def _are_of_edges(graphs: GraphBatch) -> bool:
    """True if edges have numbers, unless these are compared by the names of their ends."""
    return graphs.edge_attributes is not None and not graphs.once(explain_numbers)


def _farthest(rows: Rows, chosen: np.ndarray, known: NumberPoints) -> np.ndarray:
    """Largest distance of a row of each chosen graph, shape (n_graphs,); 0 for the others."""
    some = chosen[rows.graph]
    found = np.zeros(len(chosen))
    values = rows.values[some]
    kinds = rows.kinds[some]
    if rows.part == GAPS:  # some known graph or other is near to any share
        distances = np.maximum(known.lengths(values, kinds) - USUAL_DEVIATION, 0)
    else:
        distances = known.distances(values, kinds)
    np.maximum.at(found, rows.graph[some], distances)
    return found


class NumberPoints:
    """Rows of numbers of the references, whitened, in which nearest rows are found.

    Parameters
    ----------
    rows : Rows
        Rows of the references.
    some : ndarray of shape (n_rows,), bool
        Rows to learn from.
    n_points : int
        Largest number of rows that are kept.

    Attributes
    ----------
    kinds : ndarray of shape (n_kinds,), uint64
        Colors of the kinds that are told apart. Code 0 is all others, code i is ``kinds[i - 1]``.
    may_miss : ndarray of shape (n_numbers,), bool
        Numbers that are missing in some row.
    fill : ndarray of shape (n_numbers,)
        Replaces missing numbers.
    means : ndarray of shape (n_kinds + 1, n_columns)
        Columns are the numbers, then an indicator of each number that may be missing.
    scale : ndarray of shape (n_columns,)
    whitening : Whitening
    points : ndarray of shape (n_points, n_columns)
        Distinct rows, whitened.
    codes : ndarray of shape (n_points,), int
        Code of the kind of each point.
    rounding : float
        Distance that is due to rounding.
    distance_of_missing : float
        Distance of a row that lacks a number which no row of the references lacks.
    """

    def __init__(self, rows: Rows, some: np.ndarray, n_points: int) -> None:
        values = rows.values[some]
        kinds = rows.kinds[some]
        graph = rows.graph[some]
        fewest = MIN_GRAPHS_PER_KIND if rows.category is None else MIN_GRAPHS_PER_CATEGORY
        distinct, code = np.unique(kinds, return_inverse=True)
        owner = np.unique(graph * len(distinct) + code) % max(len(distinct), 1)
        n_graphs = np.bincount(owner, minlength=len(distinct))
        self.kinds = distinct[n_graphs >= fewest]
        codes = self.codes_of(kinds)
        typical = winsorized(values, codes)
        is_given = ~np.isnan(values)
        self.may_miss = ~is_given.all(axis=0)
        self.fill = np.where(is_given, typical, 0).sum(axis=0) / np.maximum(is_given.sum(axis=0), 1)
        table = self._filled(typical)
        mean = np.zeros(table.shape[1])
        deviations = np.zeros(table.shape[1])
        if len(table):  # all edges may be those of one reference, which is left out
            mean = table.mean(axis=0)
            deviations = table.std(axis=0)
        largest = np.abs(self._filled(values) - mean).max(axis=0, initial=0.0)
        least = _least_differences(largest, np.abs(mean))
        is_constant = largest <= ROUNDING * np.abs(mean)
        unit = np.where(mean != 0, np.abs(mean), 1.0)
        self.scale = np.maximum(np.where(is_constant, unit, deviations), least)
        n = len(self.kinds) + 1
        counts = np.maximum(np.bincount(codes, minlength=n), 1)
        of_kinds = sp.csr_array(
            (np.ones(len(codes)), (codes, np.arange(len(codes)))), (n, len(codes))
        )
        self.means = of_kinds @ table / counts[:, np.newaxis]
        centered = (table - self.means[codes]) / self.scale
        self.whitening = Whitening(centered, RIDGE)
        self.rounding = np.linalg.norm(least / self.scale) * self.whitening.norm
        self.distance_of_missing = np.sqrt(len(values))
        placed = self._placed(values, codes)
        # Each distinct row of a kind once, and of too many some by their content: neither their
        # order, nor the names of their kinds, nor last digits decide.
        points = pd.DataFrame({"place": hash_points(placed), "kind": codes}).drop_duplicates()
        if len(points) > n_points:
            points["hash"] = hash_data(len(points), None, values[points.index])
            points = points.sort_values(["hash", "place"])[:n_points]
        kept = np.sort(points.index)
        if len(np.unique(graph[codes == 0])) < fewest:  # too few to say what is usual
            kept = kept[codes[kept] > 0]
        self.points = placed[kept]
        self.codes = codes[kept]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_trees"}

    @cached_property
    def _trees(self) -> dict[int, cKDTree]:
        """For each kind a tree of its points."""
        kinds = np.unique(self.codes).tolist()
        return {code: cKDTree(self.points[self.codes == code]) for code in kinds}

    def lengths(self, values: np.ndarray, kinds: np.ndarray) -> np.ndarray:
        """Distance of each row from the mean of its kind, as :meth:`distances`."""
        return np.linalg.norm(self._placed(values, self.codes_of(kinds)), axis=1)

    def codes_of(self, kinds: np.ndarray) -> np.ndarray:
        """Code of each kind; 0 for all rare ones."""
        return find_in(self.kinds, kinds) + 1

    def _filled(self, values: np.ndarray) -> np.ndarray:
        """Numbers with the mean in place of missing ones, beside columns that mark these."""
        is_missing = np.isnan(values)
        filled = np.where(is_missing, self.fill, values)
        return np.column_stack([filled, is_missing[:, self.may_miss]])

    def _placed(self, values: np.ndarray, codes: np.ndarray) -> np.ndarray:
        return self.whitening((self._filled(values) - self.means[codes]) / self.scale)

    def distances(self, values: np.ndarray, kinds: np.ndarray) -> np.ndarray:
        """Distance of each row to the nearest known one of the same kind.

        Parameters
        ----------
        values : ndarray of shape (n_rows, n_numbers)
        kinds : ndarray of shape (n_rows,), uint64

        Returns
        -------
        ndarray of shape (n_rows,)
            0 if no row of the kind is known: nothing is known of its numbers.
        """
        codes = self.codes_of(kinds)
        points = self._placed(values, codes)
        found = np.zeros(len(values))
        for code in np.intersect1d(codes, self.codes).tolist():
            some = codes == code
            if points.shape[1] > MOST_COLUMNS_OF_TREE:
                known = self.points[self.codes == code]
                with one_blas_thread():
                    nearest = known[pairwise_distances_argmin(points[some], known)]
                found[some] = np.linalg.norm(points[some] - nearest, axis=1)
            else:
                found[some] = self._trees[code].query(points[some])[0]
        never_missed = (np.isnan(values) & ~self.may_miss).any(axis=1)
        found = np.clip(found - self.rounding, 0.0, FARTHEST)
        return np.where(never_missed, self.distance_of_missing, found)


def _least_differences(largest: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Differences of each column that are due to rounding, by its largest deviation and mean."""
    # Of a number that never varies, nothing else says what rounding is.
    of_constant = 1e-6 * np.where(size > 0, size, 1.0)
    return np.where(
        largest <= ROUNDING * size, of_constant, RELATIVE_ROUNDING * largest + ROUNDING * size
    )
