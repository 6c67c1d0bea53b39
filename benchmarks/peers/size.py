"""Size alone: the detector that a table of graph detectors must be measured against."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skgraphkde import GraphBatch, read_graphs


class SizeKDE(OutlierMixin, BaseEstimator):
    """Kernel density of (log nodes, log (1 + edges)), standardized, Scott's bandwidth."""

    def fit(self, graphs: Any, y: Any = None) -> SizeKDE:
        """Fit the density to the sizes of the training graphs."""
        self.pipeline_ = make_pipeline(StandardScaler(), KernelDensity(bandwidth="scott"))
        self.pipeline_.fit(_log_sizes(read_graphs(graphs)))
        return self

    def score_samples(self, graphs: Any) -> np.ndarray:
        """Log density of each graph's size."""
        return self.pipeline_.score_samples(_log_sizes(read_graphs(graphs)))


def _log_sizes(graphs: GraphBatch) -> np.ndarray:
    return np.log(np.column_stack([graphs.n_nodes_per_graph, 1 + graphs.n_edges_per_graph]))
