"""One vector of descriptors per graph, and an outlier detector for vectors: the usual approach."""

import copy
import warnings

import netlsd
import networkx as nx
import numpy as np
import scipy.sparse as sp
from pyod.models.ecod import ECOD
from sklearn.ensemble import IsolationForest

from skgraphkde import BaseGraphDetector, GraphBatch


class NetLSDForest(BaseGraphDetector):
    """NetLSD's heat trace and an isolation forest of 200 trees.

    Calibration scores are the plain scores of the training graphs: false alarms are too many.
    """

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray:
        self.forest_ = IsolationForest(n_estimators=200, random_state=rng).fit(_traces(graphs))
        return self._score_batch(graphs)

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        return self.forest_.score_samples(_traces(graphs))


def _traces(graphs: GraphBatch) -> np.ndarray:
    """Of the normalized Laplacian, relative to that of a graph without edges; (n_graphs, 250)."""
    return np.array([netlsd.heat(sp.csr_matrix(graph.adjacency)) for graph in graphs])


class StatisticsECOD(BaseGraphDetector):
    """A dozen statistics of each graph, with the shares of its node labels, and PyOD's ECOD.

    Calibration scores are the plain scores of the training graphs, as for NetLSDForest.
    """

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray:
        self.label_names_ = tuple(graphs.label_names)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a statistic may be constant
            self.detector_ = ECOD().fit(self._statistics(graphs))
        return self._score_batch(graphs)

    def _check_batch(self, graphs: GraphBatch) -> None:
        if self.label_names_ and graphs.labels is None:
            raise ValueError("the training graphs had node labels; these graphs have none")

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        # ECOD ranks vectors among all that it is given, and keeps what it has computed.
        detector = copy.copy(self.detector_)
        rows = self._statistics(graphs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return -np.concatenate([detector.decision_function(row[None]) for row in rows])

    def _statistics(self, graphs: GraphBatch) -> np.ndarray:
        """Common statistics of networkx, shape (n_graphs, 10 + number of labels)."""
        rows = []
        for graph in graphs:
            network = nx.from_scipy_sparse_array(graph.adjacency)
            degrees = graph.degrees
            components = [len(nodes) for nodes in nx.connected_components(network)]
            n, m = graph.n_nodes, network.number_of_edges()
            row = [np.log(n), np.log1p(m), nx.density(network), nx.average_clustering(network)]
            row += [nx.transitivity(network), len(components), max(components) / n]
            row += [degrees.mean(), degrees.std(), degrees.max()]
            if self.label_names_:
                labels = np.array(graph.label_names, dtype=object)[graph.labels]
                row += [np.mean(labels == name) for name in self.label_names_]
            rows.append(row)
        return np.round(rows, 10)  # rounding errors must not decide ranks
