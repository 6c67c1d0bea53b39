"""Graphs as vectors of their sizes or statistics, with detectors of scikit-learn: tried first."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.covariance import EmpiricalCovariance
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from skgraphkde import BaseGraphDetector, GraphBatch, Statistics
from skgraphkde.core.views.base import Context


class SizeKDE(BaseGraphDetector):
    """Kernel density of (log nodes, log (1 + edges)), standardized, with Scott's bandwidth.

    Each training graph is scored without its own kernel; the scale and the bandwidth stay.
    """

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray:
        self.scaler_ = StandardScaler().fit(_log_sizes(graphs))
        sizes = self.scaler_.transform(_log_sizes(graphs))
        self.variance_ = len(sizes) ** (-1 / 3)
        self.centers_, index, self.counts_ = np.unique(
            sizes, axis=0, return_inverse=True, return_counts=True
        )
        others = self.counts_ - np.eye(len(self.counts_), dtype=int)
        return self._log_densities(self.centers_, others)[index]

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        sizes = self.scaler_.transform(_log_sizes(graphs))
        return self._log_densities(sizes, self.counts_)

    def _log_densities(self, sizes: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Log densities at sizes; `counts` is the number of kernels at each center."""
        exponents = -cdist(sizes, self.centers_, "sqeuclidean") / (2 * self.variance_)
        log_sum = logsumexp(exponents, axis=1, b=counts)
        return log_sum - np.log(2 * np.pi * self.variance_ * counts.sum(axis=-1))


def _log_sizes(graphs: GraphBatch) -> np.ndarray:
    return np.log(np.column_stack([graphs.n_nodes_per_graph, 1 + graphs.n_edges_per_graph]))


def _context(graphs: GraphBatch) -> Context:
    return Context(graphs, lambda _: {}, {})


class StatisticsDetector(BaseGraphDetector):
    """Sizes, degrees, clustering, shares and means, and a detector of scikit-learn on them.

    `detector` is "neighbors", the mean distance to the five nearest; "mahalanobis"; or "forest".
    """

    def __init__(
        self, detector: str = "neighbors", *, calibration: Any = "split", random_state: Any = None
    ) -> None:
        super().__init__(calibration=calibration, random_state=random_state)
        self.detector = detector

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray:
        self.statistics_ = Statistics().fit(graphs, _context(graphs))
        self.scaler_ = StandardScaler().fit(self._table(graphs))
        X = self.scaler_.transform(self._table(graphs))
        if self.detector == "neighbors":
            self.model_ = NearestNeighbors(n_neighbors=min(5, len(X))).fit(X)
        elif self.detector == "mahalanobis":
            self.model_ = EmpiricalCovariance().fit(X)
        else:
            self.model_ = IsolationForest(random_state=rng).fit(X)
        return self._score_batch(graphs)

    def _table(self, graphs: GraphBatch) -> np.ndarray:
        return np.nan_to_num(self.statistics_.table(_context(graphs)))

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        X = self.scaler_.transform(self._table(graphs))
        if self.detector == "neighbors":
            return -self.model_.kneighbors(X)[0].mean(axis=1)
        if self.detector == "mahalanobis":
            return -self.model_.mahalanobis(X)
        return self.model_.score_samples(X)
