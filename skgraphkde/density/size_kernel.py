"""Size kernel: the similarity of graphs in their numbers of nodes and edges."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from skgraphkde.graphs.batch import GraphBatch


@dataclass(frozen=True, eq=False)
class SizeKernel:
    """Gaussian kernel on (log number of nodes, log (1 + number of edges)), a factor of the density.

    A mean over nodes does not depend on the number of nodes, so the distance ignores size.

    Parameters
    ----------
    center, scale : ndarray of shape (2,)
        Mean of the two logarithms, and bandwidths.
    """

    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def fit(cls, graphs: GraphBatch) -> SizeKernel:
        """Fit to the sizes of graphs with Scott's bandwidth (1992), N^(-1/6) in two dimensions."""
        sizes = _log_sizes(graphs)
        spread = sizes.std(axis=0)
        scale = np.where(spread > 1e-12, spread, 1.0) * len(sizes) ** (-1 / 6)
        return cls(sizes.mean(axis=0), scale)

    def __call__(self, graphs: GraphBatch, references: GraphBatch) -> np.ndarray:
        """Log kernel between graphs and references, shape (n_graphs, n_references)."""
        x, y = ((_log_sizes(g) - self.center) / self.scale for g in (graphs, references))
        return -0.5 * cdist(x, y, "sqeuclidean") - math.log(2 * math.pi)


def _log_sizes(graphs: GraphBatch) -> np.ndarray:
    sizes = (graphs.n_nodes_per_graph, 1 + graphs.n_edges_per_graph)
    return np.log(np.column_stack(sizes).astype(float))
