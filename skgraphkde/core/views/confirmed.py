"""Confirmed: the view of a graph's nearness to anomalies that somebody confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from skgraphkde._messages import shown
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.copies import kinds_of
from skgraphkde.core.views.base import Context, Property, Reason, View
from skgraphkde.core.views.categories import LISTED
from skgraphkde.core.views.statistics import FROM_SIZE, Statistics, in_words

# Statistics that a reason names.
MOST_SHARED = 2

# The score of a confirmed anomaly that is given again. No distance is negative.
ITSELF = -1e9
# Copies are searched among the graphs at no larger distance.
NEAR = 1e-2
# The fact that reasons of all views of confirmed anomalies state.
ABOUT = ("confirmed anomalies",)


class Confirmed(View):
    """Distance to the nearest confirmed anomaly, by the distances of another view.

    A graph that is near an anomaly is anomalous; how far it is from the references is what the
    other view says. A confirmed anomaly itself, and a copy of it, is flagged whatever the views
    say. :meth:`GraphKDEDetector.fit` adds these views if it gets verdicts; they cannot be named in
    `views`.

    Parameters
    ----------
    view : View
        The fitted view that has the distances.
    statistics : Statistics, default=None
        The fitted view that says what a graph and an anomaly have in common.

    Attributes
    ----------
    anomalies_ : GraphBatch
        The confirmed anomalies.
    embedding_ : Embedding
    """

    summary = "How near the graph is to confirmed anomalies."

    anomalies_: GraphBatch
    embedding_: Any

    def __init__(self, view: View, statistics: Statistics | None = None) -> None:
        self.view = view
        self.statistics = statistics

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Take the anomalies, at least one, and their context in place of the references."""
        self.anomalies_, self.embedding_ = references, context.embedding
        return self

    @cached_property
    def _context(self) -> Context:
        return Context(self.anomalies_, self.embedding_, {})

    @property
    def name(self) -> str:
        """Name of the view."""
        return f"nearness to confirmed anomalies: {self.view.name}"

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Distance to the nearest anomaly, see :meth:`View.scores`; ITSELF for a copy of one.

        No reference is an anomaly.
        """
        scores = self.view.distances(context, self._context, own).min(axis=1)
        near = np.flatnonzero((own < 0) & (scores <= NEAR))
        if len(near):
            scores[near[self.copied(graphs[near]) >= 0]] = ITSELF
        return scores

    def copied(self, graphs: GraphBatch) -> np.ndarray:
        """Index of the anomaly of which each graph is a copy, or -1, shape (n_graphs,)."""
        _, first = kinds_of(self.anomalies_, graphs)
        return np.where(first < len(self.anomalies_), first, -1)

    def scores_of_anomalies(self) -> np.ndarray:
        """Score each anomaly by the others, shape (n_anomalies,); infinite for the only one."""
        nobody = np.full(len(self.anomalies_), -1)
        distances = self.view.distances(self._context, self._context, nobody)
        np.fill_diagonal(distances, np.inf)
        return distances.min(axis=1)

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
        """The nearest confirmed anomaly, see :meth:`View.reason`; no text if nothing is shared."""
        [distances] = self.view.distances(context, self._context, np.array([unusual.own]))
        is_copy = unusual.values[0] == -ITSELF
        i = int(self.copied(graph)[0] if is_copy else distances.argmin())
        name = self.anomalies_.names[i] if self.anomalies_.names else ""
        one = f"{shown(name)!r}, a confirmed anomaly" if name else "a confirmed anomaly"
        if is_copy:
            is_itself = name and graph.names == (name,)
            text = "confirmed as an anomaly" if is_itself else f"the same as {one}"
            return Reason(self.name, text, about=ABOUT)
        is_same = self.view is self.statistics and distances[i] == 0
        if is_same or self.statistics is None:  # nobody knows what they share
            text = f"the same as {one}, in its statistics" if is_same else f"like {one}"
            return Reason(self.name, text, about=ABOUT)
        shared = self._shared(self.statistics, context, i, unusual.own)
        what = f"in what hardly any other {graph.schema.words.graph} has"
        text = f"like {one}, {what}: " if shared else ""
        nodes = dict.fromkeys(v for j in shared for v in self.statistics.here(j, graph)[0].tolist())
        return Reason(self.name, text, "", tuple(nodes)[:LISTED], (), ABOUT, tuple(shared.values()))

    def _shared(self, statistics: Statistics, context: Context, i: int, own: int) -> dict[int, str]:
        """The statistics in which a graph and an anomaly are most unlike known graphs, in words."""
        [(metric, _)] = statistics.metrics(np.array([own]))
        rows = np.vstack([statistics.table(context), statistics.table(self._context)[i]])
        known = statistics.table_ if own < 0 else np.delete(statistics.table_, own, axis=0)
        away = metric.away(rows, known)
        away[FROM_SIZE] *= not away[0]
        said: dict[int, str] = {}
        for j in np.argsort(-away.round(9), kind="stable"):  # rounding decides on no order
            if not away[j] > away.max() / 2 or len(said) == MOST_SHARED:
                break
            mean = statistics.subjects[j]  # which is plainer than a deviation
            k = int(mean if away[mean] else j)
            about = statistics.named(k, context.graphs), statistics.forms_[k], rows[:, k].tolist()
            text, usual = in_words(*about, known[:, k], "{} in both", "{} here and {} there")
            said[k] = f"{text} ({usual})" if usual else text
        return said
