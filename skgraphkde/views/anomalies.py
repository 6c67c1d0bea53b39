"""Confirmed: the view of a graph's nearness to anomalies that somebody confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.copies import kinds_of
from skgraphkde.graphs.naming import USUAL, shown
from skgraphkde.views.base import Context, Property, Reason, View
from skgraphkde.views.structure import Statistics, in_words

# Statistics that a reason names.
MOST_SHARED = 2

# The score of a confirmed anomaly that is given again. No difference of distances is so low.
ITSELF = -1e9
# Copies are searched among the graphs whose statistics differ by no more, in deviations.
NEAR = 1e-2


class Confirmed(View):
    """Distance to the nearest confirmed anomaly, minus that to the nearest reference.

    Both are distances between the statistics of whole graphs, whitened as in :class:`Statistics`.
    A confirmed anomaly itself, and a copy of it, is flagged whatever the other views say.
    :meth:`GraphKDEDetector.learn` adds the view to a detector; it cannot be named in `views`.

    Attributes
    ----------
    statistics_ : Statistics
        Statistics of the references, with the metric between them.
    anomalies_ : GraphBatch
        The confirmed anomalies.
    table_ : ndarray of shape (n_anomalies, n_statistics)
        Statistics of the anomalies.
    """

    summary = "How near the graph is to confirmed anomalies, compared with known graphs."

    statistics_: Statistics
    anomalies_: GraphBatch
    table_: np.ndarray

    @classmethod
    def of(cls, statistics: Statistics, anomalies: GraphBatch, context: Context) -> Self:
        """Create the view.

        Parameters
        ----------
        statistics : Statistics
            Fitted to the references.
        anomalies : GraphBatch
            At least one.
        context : Context
            Context of the anomalies.

        Returns
        -------
        Confirmed
        """
        view = cls()
        view.statistics_, view.anomalies_ = statistics, anomalies
        view.table_ = statistics.table(context)
        return view

    @property
    def name(self) -> str:
        """Name of the view."""
        return "nearness to confirmed anomalies"

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Difference of the two distances, see :meth:`View.scores`.

        It is negative for graphs that are nearer to an anomaly than to a reference, and ITSELF for
        a copy of an anomaly. No reference is one.
        """
        scores, _, nearest = self._differences(self.statistics_.table(context), own)
        near = np.flatnonzero((own < 0) & (nearest <= NEAR))
        if len(near):
            scores[near[self.copied(graphs[near]) >= 0]] = ITSELF
        return scores

    def copied(self, graphs: GraphBatch) -> np.ndarray:
        """Index of the anomaly of which each graph is a copy, or -1, shape (n_graphs,)."""
        first = kinds_of(self.anomalies_, graphs)[1]
        return np.where(first < len(self.anomalies_), first, -1)

    def scores_of_anomalies(self) -> np.ndarray:
        """Score each anomaly by the others, shape (n_anomalies,); NaN for the only one."""
        n = len(self.anomalies_)
        scores, *_ = self._differences(self.table_, np.full(n, -1), np.arange(n))
        return np.where(np.isfinite(scores), scores, np.nan)

    def _differences(
        self, table: np.ndarray, own: np.ndarray, itself: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scores without the anomaly that each graph is; index and distance of the nearest one."""
        scores, nearest = np.empty(len(table)), np.empty(len(table))
        first = np.empty(len(table), dtype=int)
        for metric, rows in self.statistics_.metrics(own):
            points, anomalies = metric.whitened(table[rows]), metric.whitened(self.table_)
            distances = cdist(points, anomalies)
            if itself is not None:
                distances[np.arange(len(points)), itself[rows]] = np.inf
            first[rows], nearest[rows] = distances.argmin(axis=1), distances.min(axis=1)
            scores[rows] = nearest[rows] - metric.distances(table[rows], 1)
        return scores, first, nearest

    # -- reasons -----------------------------------------------------------------------------------

    def properties(
        self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray, context: Context
    ) -> list[Property]:
        """Minus the score, see :meth:`View.properties`."""
        return [Property("confirmed", self.name, -scores, np.zeros(len(graphs)))]

    def reason(
        self,
        graph: GraphBatch,
        unusual: Property,
        known: np.ndarray,
        context: Context,
        node_names: Sequence[Any] | None = None,
    ) -> Reason:
        """The nearest confirmed anomaly, see :meth:`View.reason`."""
        table = self.statistics_.table(context)
        _, first, nearest = self._differences(table, np.array([unusual.own]))
        is_copy = unusual.values[0] == -ITSELF
        anomalies, i = self.anomalies_, int((self.copied(graph) if is_copy else first)[0])
        name = anomalies.names[i] if anomalies.names else ""
        one = f"{shown(name)!r}, a confirmed anomaly" if name else "a confirmed anomaly"
        if is_copy and name and graph.names == (name,):
            return Reason(self.name, "confirmed as an anomaly")
        if is_copy:
            return Reason(self.name, f"the same as {one}")
        if nearest[0] == 0:
            return Reason(self.name, f"the same as {one}, in its statistics")
        shared = self._shared(table, i, unusual.own)
        text = f"like {one}, in {shared}" if shared else f"like {one}"
        return Reason(self.name, text)

    def _shared(self, table: np.ndarray, i: int, own: int) -> str:
        """The statistics in which a graph and an anomaly are most unlike known graphs, in words."""
        statistics = self.statistics_
        [(metric, _)] = statistics.metrics(np.array([own]))
        rows = np.vstack([table, self.table_[i]])
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
                in_words(statistics.forms_[k], row[k], known[:, k]) for row in rows
            )
            said[mean] = f"{statistics.names_[k]} ({x} and {y}; usually {known_range})"
        return " and ".join(said.values())
