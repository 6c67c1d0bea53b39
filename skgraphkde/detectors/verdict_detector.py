"""VerdictDetector: a detector that learns from the anomalies in its target."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.detectors.learning import checked_verdicts
from skgraphkde.graphs.readers import read_graphs
from skgraphkde.persistence import register

__all__ = ["VerdictDetector"]


@register
class VerdictDetector(GraphKDEDetector):
    """GraphKDEDetector whose `fit` learns from the anomalies that are known.

    It fits the normal graphs, and calls :meth:`GraphKDEDetector.learn` with the anomalies. Use it
    where folds contain both, as in ``GridSearchCV`` with scikit-learn's splitters. Parameters,
    attributes and other methods are those of :class:`GraphKDEDetector`.

    Examples
    --------
    >>> from skgraphkde import VerdictDetector
    >>> from skgraphkde.datasets import load_mutag
    >>> molecules, y = load_mutag(return_X_y=True)
    >>> detector = VerdictDetector().fit(molecules[:120], y[:120])
    >>> detector.model_.views[-1]
    Confirmed()
    """

    def fit(self, graphs: Any, y: Any = None) -> Self:
        """Fit the normal graphs, then learn from the anomalies.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
            At least 2 normal graphs, and any number of anomalies.
        y : array-like of shape (n_graphs,), default=None
            1 for a normal graph, -1 for a known anomaly. None: all graphs are normal.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            As for ``fit`` and ``learn`` of :class:`GraphKDEDetector`. The detector is then
            unchanged.
        """
        if y is None:
            return super().fit(graphs)
        self.validate()
        batch = read_graphs(graphs, schema=self.specification("schema"))
        is_anomaly = checked_verdicts(y, len(batch)) == -1
        if is_anomaly.all():
            raise ValueError("y has no normal graph: the detector is fitted to those with y = 1")
        fitted = GraphKDEDetector.fit(copy.copy(self), batch[~is_anomaly])
        if is_anomaly.any():
            fitted.learn(batch[is_anomaly], np.full(is_anomaly.sum(), -1))
        self.__dict__ = fitted.__dict__  # in one step, for other threads
        return self

    def partial_fit(self, graphs: Any, y: Any = None) -> Self:
        """Add normal graphs to the references, then learn from the anomalies.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
        y : array-like of shape (n_graphs,), default=None
            As for :meth:`fit`.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            As for ``partial_fit`` and ``learn`` of :class:`GraphKDEDetector`. The detector is then
            unchanged.
        """
        if y is None:
            return super().partial_fit(graphs)
        if not hasattr(self, "model_"):
            return self.fit(graphs, y)
        batch, updated = self.read(graphs), copy.copy(self)
        is_anomaly = checked_verdicts(y, len(batch)) == -1
        if not is_anomaly.all():
            GraphKDEDetector.partial_fit(updated, batch[~is_anomaly])
        if is_anomaly.any():
            updated.learn(batch[is_anomaly], np.full(is_anomaly.sum(), -1))
        self.__dict__ = updated.__dict__  # in one step, for other threads
        return self

    def fit_predict(self, graphs: Any, y: Any = None) -> np.ndarray:
        """Fit, and classify the graphs.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
        y : array-like of shape (n_graphs,), default=None
            As for :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_graphs,), int
            1 for a normal graph, -1 for an anomaly; without `y`, each graph is compared with the
            others.
        """
        if y is None:
            return super().fit_predict(graphs)
        return self.fit(graphs, y).predict(graphs)
