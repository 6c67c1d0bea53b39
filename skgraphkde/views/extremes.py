"""Extremes: the view of numbers that are far from those of the references.

A mean over nodes hides a single impossible value; the largest deviation does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import State, check, register
from skgraphkde.views.base import Property, Reason, View
from skgraphkde.views.parts import Vocabulary, places

# Nodes or edges of rarer kinds are compared with all nodes or edges.
MIN_COUNT_PER_KIND = 10
# Differences due to rounding, as in single precision or six digits, in units of the largest
# deviation from the mean of the column.
RELATIVE_ROUNDING = 2e-6


@register
class Extremes(View):
    """Largest deviation of a graph's numbers from those of the references.

    The score is minus the largest distance, in standard deviations, of a number from the mean of
    the references' nodes or edges of the same categories. It finds a single impossible value.
    ``views="auto"`` includes it if edges have numbers, or if nodes have numbers that a schema names
    or whose names are not those of coordinates.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        Categories of the references' nodes and edges.
    columns_ : ndarray of int
        Indices of the node numbers.
    of_edges_ : bool
        Whether numbers of edges are compared.
    centers_, scales_, missing_ : dict of str -> ndarray
        Mean, largest distance from the mean, and number of missing values of each column, by
        "nodes" and "edges".
    kinds_, sums_ : dict of str -> ndarray
        Categories of nodes and edges, and counts, sums and sums of squares of their numbers.

    Examples
    --------
    >>> from skgraphkde import Extremes, GraphKDEDetector
    >>> GraphKDEDetector(views=("density", Extremes())).views
    ('density', Extremes())
    """

    @property
    def name(self) -> str:
        """Name of the view."""
        return "extremes of numbers"

    def applies_to(self, graphs: GraphBatch) -> bool:
        """True if nodes or edges have numbers that are not coordinates."""
        has_numbers = graphs.schema.is_explicit_feature.any()
        return bool(has_numbers) or graphs.edge_attributes is not None

    def fit(self, references: GraphBatch) -> Self:
        """Learn the means and standard deviations of the references' numbers.

        Parameters
        ----------
        references : GraphBatch

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If neither nodes nor edges have numbers.
        """
        if not self.applies_to(references):
            raise ValueError(
                "Extremes needs numbers of nodes or of edges, and the graphs carry none: name "
                "them in GraphSchema(node_numbers=...), or omit the view"
            )
        self.vocabulary_ = Vocabulary.of(references, by_label=references.labels is not None)
        self.columns_ = np.flatnonzero(references.schema.is_explicit_feature)
        self.of_edges_ = references.edge_attributes is not None
        # Centered, because squares of large numbers, such as times, lose their last digits.
        self.centers_ = {"nodes": np.zeros(len(self.columns_)), "edges": np.zeros(1)}
        self.centers_ |= {what: _center(values) for what, values, *_ in self._numbers(references)}
        self.kinds_, self.sums_, self.missing_, self.scales_ = {}, {}, {}, {}
        for what, values, kinds, _ in self._numbers(references):
            self.kinds_[what], position = np.unique(kinds, return_inverse=True)
            self.sums_[what] = _sums(values, position)
            self.missing_[what] = np.isnan(values).sum(axis=0).astype(float)
            self.scales_[what] = _scale(values)
        return self

    def _numbers(
        self, graphs: GraphBatch
    ) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
        """Generate the numbers of nodes and of arcs, with the kind and the graph of each row."""
        if len(self.columns_):
            values = np.asarray(graphs.attributes)[:, self.columns_] - self.centers_["nodes"]
            yield "nodes", values, self.vocabulary_.node_kinds(graphs), graphs.graph_of_node
        if self.of_edges_:
            values = np.asarray(graphs.edge_attributes) - self.centers_["edges"]
            yield "edges", values, self.vocabulary_.edge_keys(graphs), graphs.graph_of_arc

    def deviations(
        self, graphs: GraphBatch, own: np.ndarray
    ) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """Generate deviations from the mean of the references' nodes or edges of the same kind.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,)
            Index of the reference that equals each graph, or -1. The numbers of that reference
            are excluded.

        Yields
        ------
        what : {"nodes", "edges"}
        deviations : ndarray of shape (n_rows, n_numbers)
            Absolute deviations in standard deviations. A missing number has deviation 0, or the
            square root of the number of references' values if no reference lacks the number.
        graph : ndarray of shape (n_rows,)
            Index of the graph of each row.
        """
        for what, values, kinds, graph in self._numbers(graphs):
            known, sums = self.kinds_[what], self.sums_[what]
            everything = sums.sum(axis=1, keepdims=True)
            position = np.minimum(np.searchsorted(known, kinds), max(len(known) - 1, 0))
            is_known = known[position] == kinds if len(known) else np.zeros(len(kinds), bool)
            of_kind, of_all = sums[:, position], np.repeat(everything, len(kinds), axis=1)
            is_own = own[graph] >= 0
            if is_own.any():
                pair = graph * (len(known) + 1) + np.where(is_known, position, len(known))
                for totals, group in ((of_kind, pair), (of_all, graph)):
                    _, group = np.unique(group, return_inverse=True)
                    totals -= _sums(values, group)[:, group] * is_own[:, np.newaxis]
            few = ~is_known | (of_kind[0].min(axis=1, initial=np.inf) < MIN_COUNT_PER_KIND)
            count, total, squares = np.where(few[:, np.newaxis], of_all, of_kind)
            count = np.maximum(count, 1)
            mean = total / count
            # Equal numbers differ by rounding.
            least = RELATIVE_ROUNDING * self.scales_[what] + 1e-14 * np.abs(
                mean + self.centers_[what]
            )
            variance = np.maximum(squares / count - mean**2, least**2)
            deviations = np.maximum(np.abs(values - mean) - least, 0) / np.sqrt(variance)
            # The first missing number deviates as much as one node or edge among all can.
            n_known = np.maximum(everything[0], 1)
            is_first = np.isnan(values) & (self._n_missing(what, values, graph, own) == 0)
            deviations = np.where(is_first, np.sqrt(n_known), np.nan_to_num(deviations))
            yield what, deviations, graph

    def _n_missing(
        self, what: str, values: np.ndarray, graph: np.ndarray, own: np.ndarray
    ) -> np.ndarray:
        """Number of missing values in the references, without those of the graph itself."""
        missing = np.repeat(self.missing_[what][np.newaxis], len(values), axis=0)
        is_own = own[graph] >= 0
        if is_own.any():
            lacking = np.isnan(values).astype(float)
            own_missing = np.column_stack([np.bincount(graph, x, len(own)) for x in lacking.T])
            missing = missing - own_missing[graph] * is_own[:, np.newaxis]
        return missing

    def scores(self, graphs: GraphBatch, own: np.ndarray) -> np.ndarray:
        """Score graphs by minus their largest deviation.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,)
            Index of the reference that equals each graph, or -1.

        Returns
        -------
        ndarray of shape (n_graphs,)
        """
        largest = np.zeros(len(graphs))
        for _, deviations, graph in self.deviations(graphs, own):
            np.maximum.at(largest, graph, deviations.max(axis=1, initial=0))
        return -largest

    # -- reasons -----------------------------------------------------------------------------------

    def properties(self, graphs: GraphBatch, own: np.ndarray) -> list[Property]:
        """Largest deviation of each number, in standard deviations.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int
            As for :meth:`scores`.

        Returns
        -------
        list of Property
        """
        found = []
        for what, deviations, graph in self.deviations(graphs, own):
            largest = np.zeros((len(graphs), deviations.shape[1]))
            np.maximum.at(largest, graph, deviations)
            least = np.full(len(graphs), 0.5)
            found += [Property("extreme", what, x, least, i) for i, x in enumerate(largest.T)]
        return found

    def reason(
        self,
        graph: GraphBatch,
        unusual: Property,
        known: np.ndarray,
        node_names: Sequence[Any] | None = None,
    ) -> Reason:
        """The most extreme number and its node or edge, see :meth:`View.reason`."""
        what, column = unusual.what, unusual.place
        found = {x: y for x, y, _ in self.deviations(graph, np.array([-1]))}
        row = int(found[what][:, column].argmax())
        called = range(graph.n_nodes) if node_names is None else node_names
        if what == "nodes":
            column = int(self.columns_[column])
            name, values = graph.schema.node_columns[column], graph.attributes
            where = f"node {called[row]}"
        else:
            name, values = graph.schema.edge_columns[column], graph.edge_attributes
            ends = graph.source_of_arc[row], graph.adjacency.indices[row]
            arrow = "->" if graph.directed else "-"
            where = f"edge {arrow.join(str(called[end]) for end in ends)}"
        kind = "categories" if what == "nodes" else "edges"
        of_column = np.asarray(values)[:, column]
        value = of_column[row]
        if np.isnan(value):
            rows = np.flatnonzero(np.isnan(of_column))
            n_missing, n = len(rows), len(of_column)
            if what == "edges" and not graph.directed:
                n_missing, n = n_missing // 2, n // 2
            text = f"{name} is missing at {n_missing} of {n} {what}, and in no known graph"
            return Reason(name, text, *places(graph, kind, rows))
        deviation = f"{unusual.values[0]:.1f} standard deviations from its kind"
        text = f"{name} {value:.4g} of {where}, {deviation}"
        return Reason(name, text, *places(graph, kind, np.array([row])))

    def complete(self, references: GraphBatch) -> None:
        """Check the numbers of values, see :meth:`View.complete`."""
        for what, values, *_ in self._numbers(references):
            n_values = self.sums_[what][0].sum(axis=0) + self.missing_[what]
            check((n_values == len(values)).all(), "Extremes: counts are not of the references")
        super().complete(references)

    def _take_fitted(self, state: State) -> None:
        self.vocabulary_ = state.take_instance("vocabulary_", Vocabulary)
        self.columns_ = state.take_array("columns_", np.int64, (None,), low=0)
        self.of_edges_ = state.take("of_edges_", bool)
        state.check(len(self.columns_) or self.of_edges_, "there are no numbers")
        parts = ("nodes",) * (len(self.columns_) > 0) + ("edges",) * self.of_edges_
        centers, kinds, sums, missing, scales = (
            State(state.owner, state.take(name, dict))
            for name in ("centers_", "kinds_", "sums_", "missing_", "scales_")
        )
        n_columns = {"nodes": len(self.columns_), "edges": None}
        self.centers_ = {x: centers.take_array(x, float, (n_columns[x],)) for x in n_columns}
        self.kinds_, self.sums_, self.missing_, self.scales_ = {}, {}, {}, {}
        for x in parts:
            n = len(self.centers_[x])
            self.kinds_[x] = kinds.take_array(x, np.uint64, (None,))
            is_ascending = (self.kinds_[x][1:] > self.kinds_[x][:-1]).all()
            state.check(is_ascending, "kinds_ is not ascending")
            self.sums_[x] = sums.take_array(x, float, (3, len(self.kinds_[x]), n), finite=False)
            counts, _, squares = self.sums_[x]
            state.check((counts >= 0).all() and (squares >= 0).all(), "sums_ is out of range")
            self.missing_[x] = missing.take_array(x, float, (n,), low=0)
            self.scales_[x] = scales.take_array(x, float, (n,), low=np.nextafter(0, 1))
        for items in (centers, kinds, sums, missing, scales):
            items.check_empty()
        super()._take_fitted(state)


def _center(values: np.ndarray) -> np.ndarray:
    """Mean of each column; 0 if the column has no numbers."""
    n_given = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    return np.nansum(values, axis=0) / n_given


def _scale(values: np.ndarray) -> np.ndarray:
    """Largest absolute value of each column; 1 if all values are 0 or missing."""
    largest = np.abs(np.nan_to_num(values)).max(axis=0, initial=0.0)
    return np.where(largest > 0, largest, 1.0)


def _sums(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Counts, sums and sums of squares without NaN, shape (3, n_groups, n_columns)."""
    n = int(group.max(initial=-1)) + 1
    given = ~np.isnan(values)
    filled = np.where(given, values, 0.0)
    return np.array(
        [
            np.column_stack([np.bincount(group, x, n) for x in part.T.astype(float)])
            if part.shape[1]
            else np.zeros((n, 0))
            for part in (given, filled, filled**2)
        ]
    )
