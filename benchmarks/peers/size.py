"""Size alone: the detector that every detector of graphs should be compared with."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.preprocessing import StandardScaler

from skgraphkde import BaseGraphDetector, GraphBatch, register
from skgraphkde.persistence import State


@register
class SizeKDE(BaseGraphDetector):
    """Kernel density of (log nodes, log (1 + edges)), standardized, with Scott's bandwidth.

    With ``calibration="loo"`` each training graph is scored without its own kernel; the scale and
    the bandwidth stay.
    """

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray:
        sizes = _log_sizes(graphs)
        scaler = StandardScaler().fit(sizes)
        self.mean_, self.scale_ = scaler.mean_, scaler.scale_
        self.bandwidth_ = len(sizes) ** (-1 / 6)
        self.centers_, index, self.counts_ = np.unique(
            sizes, axis=0, return_inverse=True, return_counts=True
        )
        others = self.counts_ - np.eye(len(self.counts_), dtype=int)
        return self._log_densities(self.centers_, others)[index]

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        sizes, index = np.unique(_log_sizes(graphs), axis=0, return_inverse=True)
        return self._log_densities(sizes, self.counts_)[index]

    def _log_densities(self, sizes: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Log densities at log sizes; `counts` is the number of kernels at each center."""
        x, centers = ((values - self.mean_) / self.scale_ for values in (sizes, self.centers_))
        variance = self.bandwidth_**2
        log_sum = logsumexp(-cdist(x, centers, "sqeuclidean") / (2 * variance), axis=1, b=counts)
        return log_sum - np.log(2 * np.pi * variance * counts.sum(axis=-1))

    def _take_fitted(self, state: State) -> None:
        self.mean_ = state.take_array("mean_", float, (2,))
        self.scale_ = state.take_array("scale_", float, (2,), low=1e-300)
        self.bandwidth_ = state.take_number("bandwidth_", 1e-100, 1)
        self.centers_ = state.take_array("centers_", float, (None, 2))
        self.counts_ = state.take_array("counts_", np.int64, (len(self.centers_),), low=1)


def _log_sizes(graphs: GraphBatch) -> np.ndarray:
    return np.log(np.column_stack([graphs.n_nodes_per_graph, 1 + graphs.n_edges_per_graph]))
