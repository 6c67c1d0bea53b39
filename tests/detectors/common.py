"""A detector of its own that several tests use."""

import numpy as np

from skgraphkde import BaseGraphDetector


class EdgeCount(BaseGraphDetector):
    """The detector of the doctest."""

    def _fit_batch(self, graphs, rng):
        self.median_ = float(np.median(graphs.n_edges_per_graph))
        return self._score_batch(graphs)

    def _score_batch(self, graphs):
        return -abs(graphs.n_edges_per_graph - self.median_)
