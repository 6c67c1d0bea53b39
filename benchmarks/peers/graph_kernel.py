"""Graph kernels of GraKeL with a detector of scikit-learn, as in the paper's first four rows."""

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from grakel import Propagation, VertexHistogram, WeisfeilerLehman
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM

from skgraphkde import BaseGraphDetector, GraphBatch


class GraphKernelDetector(BaseGraphDetector):
    """A graph kernel, and a one-class SVM, an isolation forest or neighbors on its rows.

    The kernel is fitted on the training graphs alone: test graphs enter by their similarities to
    these. Graphs without node labels are labeled by degree. New labels count as one label.

    `kernel` is "weisfeiler_lehman" or "propagation", normalized, of five rounds. `detector` is
    "svm", ``OneClassSVM(nu=0.1)``; "forest", 200 trees on half of the graphs each; or "neighbors",
    the mean of the five largest similarities. With ``calibration="loo"`` the calibration scores are
    the plain scores of the training graphs: false alarms are too many. "split" has no such bias.
    """

    def __init__(
        self,
        kernel: str = "weisfeiler_lehman",
        detector: str = "svm",
        *,
        calibration: Any = "loo",
        random_state: Any = None,
    ) -> None:
        super().__init__(calibration=calibration, random_state=random_state)
        self.kernel = kernel
        self.detector = detector

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray:
        self.graphs_, seed = graphs, int(rng.randint(2**31))
        self.kernel_ = WeisfeilerLehman(n_iter=5, base_graph_kernel=VertexHistogram, normalize=True)
        if self.kernel == "propagation":
            self.kernel_ = Propagation(normalize=True, random_state=seed)
        if self.detector == "svm":
            self.detector_ = OneClassSVM(kernel="precomputed", nu=0.1)
            self.detector_.random_state = seed  # else it draws one from the global generator
        elif self.detector == "forest":
            self.detector_ = IsolationForest(n_estimators=200, max_samples=0.5, random_state=seed)
        similarities = _quiet(self.kernel_.fit_transform, _inputs(graphs, self._labels(graphs)))
        if self.detector != "neighbors":
            self.detector_.fit(similarities)
        return self._scores(similarities)

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        return self._scores(self._similarities(graphs))

    def _check_batch(self, graphs: GraphBatch) -> None:
        if self.graphs_.labels is not None and graphs.labels is None:
            raise ValueError("the training graphs had node labels; these graphs have none")

    def _scores(self, similarities: np.ndarray) -> np.ndarray:
        if self.detector == "neighbors":
            return np.sort(similarities, axis=1)[:, -5:].mean(axis=1)
        return self.detector_.score_samples(similarities)

    def _similarities(self, graphs: GraphBatch) -> np.ndarray:
        """Kernel between graphs and the training graphs, shape (n_graphs, n_training)."""
        labels, alone = self._labels(graphs), np.zeros(len(graphs), dtype=bool)
        inputs = _inputs(graphs, labels)
        if self.kernel == "propagation":
            # GraKeL draws hashes of labels that no training graph has, for all graphs together.
            is_new = ~np.isin(labels, self._labels(self.graphs_))
            alone = np.logical_or.reduceat(is_new, graphs.node_ptr[:-1])
        parts = [[i] for i in np.flatnonzero(alone)] + [np.flatnonzero(~alone)]
        similarities = np.empty((len(graphs), len(self.graphs_)))
        for part in filter(len, parts):
            kernel = copy.deepcopy(self.kernel_)  # which transform changes
            similarities[part] = _quiet(kernel.transform, [inputs[i] for i in part])
        return similarities

    def _labels(self, graphs: GraphBatch) -> np.ndarray:
        """Numbers for the labels of nodes: GraKeL hashes labels in the order of a set."""
        if self.graphs_.labels is None:
            return graphs.degrees.astype(int)
        number = {name: i for i, name in enumerate(self.graphs_.label_names)}
        numbers = [number.get(name, len(number)) for name in graphs.label_names]
        return np.array(numbers)[graphs.labels]


def _quiet(method: Callable, inputs: list[tuple]) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # GraKeL warns of every format that it converts
        return np.nan_to_num(method(inputs))


def _inputs(graphs: GraphBatch, labels: np.ndarray) -> list[tuple]:
    """GraKeL's input: {node: {neighbor: weight}} and {node: label} of each graph.

    Nodes without neighbors are included, which a list of edges would lose.
    """
    inputs = []
    for graph, of_graph in zip(graphs, np.split(labels, graphs.node_ptr[1:-1]), strict=True):
        adjacency = graph.adjacency
        neighbors = np.split(adjacency.indices, adjacency.indptr[1:-1])
        edges = {node: dict.fromkeys(row.tolist(), 1.0) for node, row in enumerate(neighbors)}
        inputs.append((edges, dict(enumerate(of_graph.tolist()))))
    return inputs
