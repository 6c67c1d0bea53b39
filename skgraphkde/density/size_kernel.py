"""The size kernel: how alike graphs are in their numbers of nodes and edges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import State, register


@register
@dataclass(frozen=True, eq=False)
class SizeKernel:
    """Gaussian kernel on (log number of nodes, log (1 + number of edges)), a factor of the density.

    The mean of a kernel over nodes cannot see how many nodes there are.

    Parameters
    ----------
    center, scale : ndarray of shape (2,)
    """

    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def fit(cls, graphs: GraphBatch) -> SizeKernel:
        """Standardize the sizes of the graphs; the bandwidth is Scott's (1992), N^(-1/6) in 2-D."""
        sizes = _log_sizes(graphs)
        spread = sizes.std(axis=0)
        scale = np.where(spread > 1e-12, spread, 1.0) * len(sizes) ** (-1 / 6)
        return cls(sizes.mean(axis=0), scale)

    def to_state(self) -> dict[str, Any]:
        """What a file keeps."""
        return {"center": self.center, "scale": self.scale}

    @classmethod
    def from_state(cls, state: State) -> SizeKernel:
        """The kernel in a file."""
        center = state.take_array("center", float, (2,))
        return cls(center, state.take_array("scale", float, (2,), low=np.finfo(float).tiny))

    def __call__(self, graphs: GraphBatch, references: GraphBatch) -> np.ndarray:
        """Log kernel between all `graphs` and `references`, shape (n, N)."""
        x, y = ((_log_sizes(g) - self.center) / self.scale for g in (graphs, references))
        return -0.5 * cdist(x, y, "sqeuclidean") - math.log(2 * math.pi)


def _log_sizes(graphs: GraphBatch) -> np.ndarray:
    sizes = (graphs.n_nodes_per_graph, 1 + graphs.n_edges_per_graph)
    return np.log(np.column_stack(sizes).astype(float))
