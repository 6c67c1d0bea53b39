"""A detector for the referee, to copy: fit to a list of graphs, then a score for each graph."""

from typing import Any

import networkx as nx
import numpy as np

from skgraphkde import BaseGraphDetector, GraphBatch, Split

HELD_OUT = Split(fraction=0.3)  # of the training graphs, which place the threshold


class Template(BaseGraphDetector):
    """Distance from the mean share of triangles, in standard deviations: put yours here.

    Everything random comes from `rng`. The base class reads graphs and places the threshold.
    """

    def __init__(self, *, calibration: Any = HELD_OUT, random_state: Any = None) -> None:
        super().__init__(calibration=calibration, random_state=random_state)

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> None:
        """Learn from normal graphs; what is learned ends in an underscore."""
        values = self._values(graphs.to_networkx())
        self.mean_ = values.mean()
        self.std_ = max(values.std(), 1e-9)

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        """One number for each graph, lower for odder ones; it depends on this graph alone."""
        return -abs(self._values(graphs.to_networkx()) - self.mean_) / self.std_

    def _values(self, graphs: list[nx.Graph]) -> np.ndarray:
        return np.array([nx.transitivity(nx.Graph(graph)) for graph in graphs])
