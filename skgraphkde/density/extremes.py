"""Extremes: the largest deviation of numeric attributes from those of the references.

A mean over nodes hides a single impossible value; the largest deviation does not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skgraphkde.density.parts import CategoryCounts
from skgraphkde.graphs.batch import GraphBatch

# Nodes or edges of rarer kinds are compared with all nodes or edges.
MIN_COUNT_PER_KIND = 10
# Differences due to rounding, as in single precision or six digits, in units of the largest
# deviation from the mean of the column.
RELATIVE_ROUNDING = 2e-6


class Extremes:
    """Means and standard deviations of the references' numbers, by kind of node or edge.

    Parameters
    ----------
    references : GraphBatch
    parts : CategoryCounts
        Category counts of the references, which define the kinds.
    """

    def __init__(self, references: GraphBatch, parts: CategoryCounts) -> None:
        self.parts = parts
        self.of_nodes = np.flatnonzero(references.schema.is_explicit_feature)
        self.of_edges = references.edge_attributes is not None
        # Centered, because squares of large numbers, such as times, lose their last digits.
        self.centers = {"nodes": np.zeros(len(self.of_nodes)), "edges": np.zeros(1)}
        self.centers |= {what: _center(values) for what, values, *_ in self._numbers(references)}
        self.known, self.missing, self.scales = {}, {}, {}
        for what, values, kinds, _ in self._numbers(references):
            known, position = np.unique(kinds, return_inverse=True)
            self.known[what] = known, _sums(values, position)
            self.missing[what] = np.isnan(values).sum(axis=0).astype(float)
            self.scales[what] = _scale(values)

    def __bool__(self) -> bool:
        return bool(len(self.of_nodes) or self.of_edges)

    def _numbers(
        self, graphs: GraphBatch
    ) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
        """Generate the numbers of nodes and of arcs, with the kind and the graph of each row."""
        if len(self.of_nodes):
            values = self._centered("nodes", np.asarray(graphs.attributes)[:, self.of_nodes])
            kinds = np.zeros(graphs.n_nodes, dtype=np.uint64)
            if self.parts.by_label:
                kinds = self.parts.node_keys(graphs)
            yield "nodes", values, kinds, graphs.graph_of_node
        if self.of_edges:
            kinds = self.parts.edge_keys(graphs)
            values = self._centered("edges", np.asarray(graphs.edge_attributes))
            yield "edges", values, kinds, graphs.graph_of_arc

    def _centered(self, what: str, values: np.ndarray) -> np.ndarray:
        return values - self.centers[what]

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
            known, sums = self.known[what]
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
            least = RELATIVE_ROUNDING * self.scales[what] + 1e-14 * np.abs(
                mean + self.centers[what]
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
        missing = np.repeat(self.missing[what][np.newaxis], len(values), axis=0)
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
