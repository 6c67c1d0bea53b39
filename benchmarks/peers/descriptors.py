"""A vector of descriptors a graph, and an outlier detector for vectors: the usual work-around."""

from __future__ import annotations

from typing import Any

import netlsd
import networkx as nx
import numpy as np
import scipy.sparse as sp
from pyod.models.ecod import ECOD
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.ensemble import IsolationForest

from skgraphkde import GraphBatch, read_graphs


class DescriptorDetector(OutlierMixin, BaseEstimator):
    """Descriptors of each graph, and a detector on them.

    Parameters
    ----------
    descriptor : {"netlsd", "statistics"}
        NetLSD's heat trace, and an isolation forest of 200 trees; or a dozen statistics of each
        graph, with the shares of its node labels, and PyOD's ECOD.
    random_state : int or None
        Of the forest.
    """

    def __init__(self, descriptor: str, random_state: Any = None) -> None:
        self.descriptor = descriptor
        self.random_state = random_state

    def fit(self, graphs: Any, y: Any = None) -> DescriptorDetector:
        """Fit the detector to the descriptors of the graphs."""
        batch = read_graphs(graphs)
        self.label_names_ = batch.label_names
        if self.descriptor == "netlsd":
            forest = IsolationForest(n_estimators=200, random_state=self.random_state)
            self.detector_ = forest.fit(_heat_traces(batch))
        else:
            self.detector_ = ECOD().fit(self._statistics(batch))
        return self

    def score_samples(self, graphs: Any) -> np.ndarray:
        """The detector's score of each graph, higher for normal."""
        batch = read_graphs(graphs)
        if self.descriptor == "netlsd":
            return self.detector_.score_samples(_heat_traces(batch))
        return -self.detector_.decision_function(self._statistics(batch))

    def _statistics(self, batch: GraphBatch) -> np.ndarray:
        """What one would compute with networkx, shape (n_graphs, 10 + number of labels)."""
        rows = []
        for graph in batch:
            network = nx.from_scipy_sparse_array(graph.adjacency)
            degrees = graph.degrees
            components = [len(nodes) for nodes in nx.connected_components(network)]
            n, m = graph.n_nodes, network.number_of_edges()
            row = [np.log(n), np.log1p(m), nx.density(network), nx.average_clustering(network)]
            row += [nx.transitivity(network), len(components), max(components) / n]
            rows.append([*row, degrees.mean(), degrees.std(), degrees.max()])
        shares = [
            [np.mean(labels == name) for name in self.label_names_] for labels in _names(batch)
        ]
        return np.hstack([rows, np.reshape(shares, (len(batch), len(self.label_names_)))])


def _heat_traces(batch: GraphBatch) -> np.ndarray:
    """Of the normalized Laplacian, relative to that of a graph without edges; (n_graphs, 250)."""
    return np.array([netlsd.heat(sp.csr_matrix(graph.adjacency)) for graph in batch])


def _names(batch: GraphBatch) -> list[np.ndarray]:
    """The node labels of each graph."""
    if batch.labels is None:
        return [np.empty(0)] * len(batch)
    names = np.array(batch.label_names, dtype=object)[batch.labels]
    return np.split(names, batch.node_ptr[1:-1])
