"""One vector of descriptors per graph, and an outlier detector for vectors: the usual approach."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import netlsd
import networkx as nx
import numpy as np
import scipy.sparse as sp
from pyod.models.ecod import ECOD
from sklearn.ensemble import IsolationForest
from sklearn.utils._param_validation import StrOptions

from benchmarks.peers._seeds import fixed_seed
from skgraphkde import BaseGraphDetector, GraphBatch, register
from skgraphkde.persistence import State


@register
class DescriptorDetector(BaseGraphDetector):
    """Descriptors of each graph, and a detector on them.

    With ``calibration="loo"`` the calibration scores are the plain scores of the training graphs,
    as neither detector can leave a graph out: false alarms are too many. "split" has no such bias.

    Parameters
    ----------
    descriptor : {"netlsd", "statistics"}, default="netlsd"
        NetLSD's heat trace and an isolation forest of 200 trees; or a dozen statistics of each
        graph, with the shares of its node labels, and PyOD's ECOD.
    calibration, contamination, n_jobs, random_state, verbose
        As for BaseGraphDetector; `random_state` is the seed of the forest.
    """

    _parameter_constraints: dict = {
        "descriptor": [StrOptions({"netlsd", "statistics"})],
        **BaseGraphDetector._parameter_constraints,
    }

    def __init__(
        self,
        descriptor: str = "netlsd",
        *,
        schema: Any = None,
        calibration: Any = "loo",
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
        self.descriptor = descriptor

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray | None:
        self.label_names_ = tuple(graphs.label_names)
        self.seed_ = fixed_seed(self.random_state, rng)
        self.descriptors_ = self._describe(graphs)
        self._fit_detector()
        return self._score(self.descriptors_) if self.leaves_one_out else None

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        return self._score(self._describe(graphs))

    def _check_batch(self, graphs: GraphBatch) -> None:
        if self.label_names_ and graphs.labels is None and self.descriptor == "statistics":
            raise ValueError("the training graphs had node labels; these graphs have none")

    def _fit_detector(self) -> None:
        if self.descriptor == "netlsd":
            detector = IsolationForest(n_estimators=200, random_state=self.seed_)
        else:
            detector = ECOD()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a statistic may be constant
            self._detector = detector.fit(self.descriptors_)

    def _score(self, descriptors: np.ndarray) -> np.ndarray:
        if self.descriptor == "netlsd":
            return self._detector.score_samples(descriptors)
        # ECOD ranks vectors among all that it is given, so it is given one at a time. It also keeps
        # what it has computed, which a copy forgets.
        detector = copy.copy(self._detector)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return -np.concatenate([detector.decision_function(row[None]) for row in descriptors])

    def _describe(self, graphs: GraphBatch) -> np.ndarray:
        return _heat_traces(graphs) if self.descriptor == "netlsd" else self._statistics(graphs)

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
            rows.append([*row, degrees.mean(), degrees.std(), degrees.max()])
        shares = [
            [np.mean(labels == name) for name in self.label_names_] for labels in _names(graphs)
        ]
        statistics = np.hstack([rows, np.reshape(shares, (len(graphs), len(self.label_names_)))])
        return np.round(statistics, 10)  # rounding errors must not decide ranks

    def _take_fitted(self, state: State) -> None:
        """Take what was fitted; the detector, which a file cannot contain, is fitted again."""
        self.label_names_ = state.take("label_names_", tuple)
        self.seed_ = state.take_count("seed_", 2**32 - 1)
        self.descriptors_ = state.take_array("descriptors_", float, (None, None))
        self._fit_detector()


def _heat_traces(graphs: GraphBatch) -> np.ndarray:
    """Of the normalized Laplacian, relative to that of a graph without edges; (n_graphs, 250)."""
    return np.array([netlsd.heat(sp.csr_matrix(graph.adjacency)) for graph in graphs])


def _names(graphs: GraphBatch) -> list[np.ndarray]:
    """The node labels of each graph."""
    if graphs.labels is None:
        return [np.empty(0)] * len(graphs)
    names = np.array(graphs.label_names, dtype=object)[graphs.labels]
    return np.split(names, graphs.node_ptr[1:-1])
