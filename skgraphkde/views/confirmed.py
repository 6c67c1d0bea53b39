"""Confirmed: the view of a graph's nearness to anomalies that somebody confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.copies import kinds_of
from skgraphkde.graphs.naming import USUAL, shown
from skgraphkde.persistence import State, register
from skgraphkde.views.base import Property, Reason, View
from skgraphkde.views.statistics import Statistics, in_words

# Statistics that a reason names.
MOST_SHARED = 2

# The score of a confirmed anomaly that is given again. No difference of distances is so low.
ITSELF = -1e9
# Copies are searched among the graphs whose statistics differ by no more, in deviations.
NEAR = 1e-2


@register
class Confirmed(View):
    """Distance to the nearest confirmed anomaly, minus that to the nearest reference.

    Both are distances between the statistics of whole graphs, whitened as in :class:`Statistics`.
    A confirmed anomaly itself, and a copy of it, is flagged whatever the other views say.
    :meth:`GraphKDEDetector.learn` adds the view to a detector; it cannot be named in `views`.

    Attributes
    ----------
    statistics_ : Statistics
        Statistics of the references, with the metric between them.
    graphs_ : GraphBatch
        Graphs with a verdict.
    verdicts_ : ndarray of shape (n_verdicts,), int
        -1 for an anomaly, of which there is at least one; 1 for a normal graph.
    removed_ : ndarray of shape (n_verdicts,), bool
        True for an anomaly that was a training graph, which another verdict brings back.
    """

    summary = "How near the graph is to confirmed anomalies, compared with known graphs."

    graphs_: GraphBatch
    verdicts_: np.ndarray
    removed_: np.ndarray
    statistics_: Statistics

    @classmethod
    def of(
        cls, statistics: Statistics, graphs: GraphBatch, verdicts: np.ndarray, removed: np.ndarray
    ) -> Self:
        """Create the view.

        Parameters
        ----------
        statistics : Statistics
            Fitted to the references.
        graphs : GraphBatch
            Graphs with a verdict.
        verdicts : ndarray of shape (n_graphs,), int
            -1 for an anomaly, of which there is at least one; 1 for a normal graph.
        removed : ndarray of shape (n_graphs,), bool
            True for an anomaly that was a training graph.

        Returns
        -------
        Confirmed
        """
        view = cls()
        view.statistics_, view.graphs_ = statistics, graphs
        view.verdicts_, view.removed_ = verdicts, removed
        return view

    @property
    def name(self) -> str:
        """Name of the view."""
        return "nearness to confirmed anomalies"

    @property
    def anomalies(self) -> GraphBatch:
        """The confirmed anomalies."""
        return self.graphs_[self.verdicts_ == -1]

    def updated(self, references: GraphBatch) -> Confirmed:
        """Copy of the view with other references and the same verdicts."""
        statistics = self.statistics_.updated(references)
        return Confirmed.of(statistics, self.graphs_, self.verdicts_, self.removed_)

    @cached_property
    def _table(self) -> np.ndarray:
        """Statistics of the anomalies."""
        return self.statistics_.table(self.anomalies)

    def scores(self, graphs: GraphBatch, own: np.ndarray) -> np.ndarray:
        """Score graphs by the difference of the two distances.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int
            Index of the reference that equals each graph and is excluded; -1 excludes none.

        Returns
        -------
        ndarray of shape (n_graphs,)
            Negative for graphs that are nearer to an anomaly than to a reference, and ITSELF for a
            copy of an anomaly. No reference is one.
        """
        scores, _, nearest = self._differences(graphs, own, np.full(len(graphs), -1))
        near = np.flatnonzero((own < 0) & (nearest <= NEAR))
        if len(near):
            scores[near[self.copied(graphs[near]) >= 0]] = ITSELF
        return scores

    def copied(self, graphs: GraphBatch) -> np.ndarray:
        """Index of the anomaly of which each graph is a copy, or -1, shape (n_graphs,)."""
        first = kinds_of(self.anomalies, graphs)[1]
        return np.where(first < len(self.anomalies), first, -1)

    def scores_of_verdicts(self) -> np.ndarray:
        """Score the graphs with a verdict, each anomaly by the others.

        Returns
        -------
        ndarray of shape (n_verdicts,)
            NaN for the only anomaly.
        """
        is_anomaly = self.verdicts_ == -1
        itself = np.where(is_anomaly, np.cumsum(is_anomaly) - 1, -1)
        scores, *_ = self._differences(self.graphs_, np.full(len(itself), -1), itself)
        return np.where(np.isfinite(scores), scores, np.nan)

    def _differences(
        self, graphs: GraphBatch, own: np.ndarray, itself: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scores without the anomaly that each graph is; index and distance of the nearest one."""
        table = self.statistics_.table(graphs)
        scores, nearest = np.empty(len(table)), np.empty(len(table))
        first = np.empty(len(table), dtype=int)
        for metric, rows in self.statistics_.metrics(own):
            points, anomalies = metric.whitened(table[rows]), metric.whitened(self._table)
            distances = cdist(points, anomalies)
            is_one = np.flatnonzero(itself[rows] >= 0)
            distances[is_one, itself[rows][is_one]] = np.inf
            first[rows], nearest[rows] = distances.argmin(axis=1), distances.min(axis=1)
            scores[rows] = nearest[rows] - metric.distances(table[rows], 1)
        return scores, first, nearest

    # -- reasons -----------------------------------------------------------------------------------

    def properties(self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray) -> list[Property]:
        """Minus the score, see :meth:`View.properties`."""
        return [Property("confirmed", self.name, -scores, np.zeros(len(graphs)))]

    def reason(
        self,
        graph: GraphBatch,
        unusual: Property,
        known: np.ndarray,
        node_names: Sequence[Any] | None = None,
    ) -> Reason:
        """The nearest confirmed anomaly, see :meth:`View.reason`."""
        own = np.array([unusual.own])
        _, first, nearest = self._differences(graph, own, np.array([-1]))
        is_copy = unusual.values[0] == -ITSELF
        anomalies, i = self.anomalies, int((self.copied(graph) if is_copy else first)[0])
        name = anomalies.names[i] if anomalies.names else ""
        one = f"{shown(name)!r}, a confirmed anomaly" if name else "a confirmed anomaly"
        if is_copy and name and graph.names == (name,):
            return Reason(self.name, "confirmed as an anomaly")
        if is_copy:
            return Reason(self.name, f"the same as {one}")
        if nearest[0] == 0:
            return Reason(self.name, f"the same as {one}, in its statistics")
        shared = self._shared(graph, i, unusual.own)
        return Reason(self.name, f"like {one}{f', in {shared}' * bool(shared)}")

    def _shared(self, graph: GraphBatch, i: int, own: int) -> str:
        """The statistics in which a graph and an anomaly are most unlike known graphs, in words."""
        statistics = self.statistics_
        [(metric, _)] = statistics.metrics(np.array([own]))
        rows = np.vstack([statistics.table(graph), self._table[i]])
        known = statistics.table_ if own < 0 else np.delete(statistics.table_, own, axis=0)
        low, high = np.nanquantile(known, USUAL, axis=0)
        is_odd = (rows > high).all(axis=0) | (rows < low).all(axis=0)
        away = np.where(is_odd, abs(metric.standardized(rows)).min(axis=0), 0.0)
        said: dict[int, str] = {}
        for j in np.argsort(-away, kind="stable"):
            if not away[j] > away.max() / 2 or len(said) == MOST_SHARED:
                break
            mean = statistics.subjects[j]  # which is plainer than a deviation
            k = mean if is_odd[mean] else j
            (x, known_range), (y, _) = (
                in_words(statistics.names_[k], row[k], known[:, k]) for row in rows
            )
            said[mean] = f"{statistics.names_[k]} ({x} and {y}; usually {known_range})"
        return " and ".join(said.values())

    def _take_fitted(self, state: State) -> None:
        self.statistics_ = state.take_instance("statistics_", Statistics)
        self.graphs_ = state.take_instance("graphs_", GraphBatch)
        self.verdicts_ = state.take_array("verdicts_", np.int64, (len(self.graphs_),))
        state.check(np.isin(self.verdicts_, (-1, 1)).all(), "verdicts_ are not -1 and 1")
        state.check((self.verdicts_ == -1).any(), "there is no anomaly")
        self.removed_ = state.take_array("removed_", bool, self.verdicts_.shape)
