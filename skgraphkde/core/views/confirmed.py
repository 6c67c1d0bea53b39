"""Confirmed: the view of a graph's nearness to anomalies that somebody confirmed."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np

from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.copies import kinds_of
from skgraphkde.core.views.base import Context, Property, View
from skgraphkde.core.views.statistics import Statistics

# The score of a confirmed anomaly that is given again. No distance is negative.
ITSELF = -1e9
# Copies are searched among the graphs at no larger distance.
NEAR = 1e-2


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

    anomalies_: GraphBatch
    embedding_: Any

    def __init__(self, view: View, statistics: Statistics | None = None) -> None:
        self.view = view
        self.statistics = statistics

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Take the anomalies, at least one, and their context in place of the references."""
        self.anomalies_ = references
        self.embedding_ = context.embedding
        return self

    @cached_property
    def _context(self) -> Context:
        return Context(self.anomalies_, self.embedding_, {})

    def distances_to_anomalies(self, context: Context, own: np.ndarray) -> np.ndarray:
        """Distances to the anomalies, shape (n_graphs, n_anomalies), see :meth:`View.distances`."""
        return self.view.distances(context, self._context, own)

    def statistics_of_anomalies(self) -> np.ndarray:
        """Statistics of the anomalies, shape (n_anomalies, n_statistics)."""
        assert self.statistics is not None  # in which they are compared
        return self.statistics.table(self._context)

    @property
    def name(self) -> str:
        """Name of the view."""
        return f"confirmed: {self.view.name}"

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Distance to the nearest anomaly, see :meth:`View.scores`; ITSELF for a copy of one.

        No reference is an anomaly.
        """
        scores = self.distances_to_anomalies(context, own).min(axis=1)
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

    def properties(
        self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray, context: Context
    ) -> list[Property]:
        """Minus the score, see :meth:`View.properties`."""
        return [Property("confirmed", self.name, -scores, np.zeros(len(graphs)))]
