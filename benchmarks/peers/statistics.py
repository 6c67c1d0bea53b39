"""Statistics of whole graphs with a detector of vectors: what practitioners try first."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.covariance import EmpiricalCovariance
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from skgraphkde import BaseGraphDetector, GraphBatch, Statistics


class StatisticsDetector(BaseGraphDetector):
    """Sizes, degrees, clustering, shares and means, and a detector of scikit-learn on them.

    Parameters
    ----------
    detector : {"neighbors", "mahalanobis", "forest"}, default="neighbors"
        Mean distance to the five nearest, Mahalanobis distance, or isolation forest.
    """

    def __init__(
        self,
        detector: str = "neighbors",
        *,
        schema: Any = None,
        calibration: Any = "split",
        contamination: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            schema=schema,
            calibration=calibration,
            contamination=contamination,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.detector = detector

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray:
        self.statistics_ = Statistics().fit(graphs)
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
        return np.nan_to_num(self.statistics_.table(graphs))

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        X = self.scaler_.transform(self._table(graphs))
        if self.detector == "neighbors":
            return -self.model_.kneighbors(X)[0].mean(axis=1)
        if self.detector == "mahalanobis":
            return -self.model_.mahalanobis(X)
        return self.model_.score_samples(X)
