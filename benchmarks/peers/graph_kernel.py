"""Graph kernels of GraKeL with a detector of scikit-learn, as in the paper's first four rows."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from grakel import Propagation, VertexHistogram, WeisfeilerLehman
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM
from sklearn.utils._param_validation import StrOptions

from benchmarks.peers._seeds import fixed_seed
from skgraphkde import BaseGraphDetector, GraphBatch, register
from skgraphkde.persistence import State


@register
class GraphKernelDetector(BaseGraphDetector):
    """A graph kernel, and a one-class SVM or an isolation forest on its rows.

    The kernel is fitted on the training graphs alone: test graphs enter by their similarities to
    these. Graphs without node labels are labeled by degree. Labels that are not in the vocabulary
    of the training graphs count as one label.

    With ``calibration="loo"`` the calibration scores are the plain scores of the training graphs,
    as neither detector can leave a graph out: false alarms are too many. "split" has no such bias.

    Parameters
    ----------
    kernel : {"weisfeiler_lehman", "propagation"}, default="weisfeiler_lehman"
        Normalized; five rounds of refinement, or GraKeL's default of five rounds of propagation.
    detector : {"one_class_svm", "isolation_forest", "neighbors"}, default="one_class_svm"
        ``OneClassSVM(nu=0.1)``, 200 trees on half of the graphs each, or the mean of the five
        largest similarities.
    calibration, contamination, n_jobs, random_state, verbose
        As for BaseGraphDetector; `random_state` is the seed of the propagation kernel's hashing and
        of the forest.
    """

    _parameter_constraints: dict = {
        "kernel": [StrOptions({"weisfeiler_lehman", "propagation"})],
        "detector": [StrOptions({"one_class_svm", "isolation_forest", "neighbors"})],
        **BaseGraphDetector._parameter_constraints,
    }

    def __init__(
        self,
        kernel: str = "weisfeiler_lehman",
        detector: str = "one_class_svm",
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
        self.kernel = kernel
        self.detector = detector

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray | None:
        self.graphs_ = graphs
        self.seed_ = fixed_seed(self.random_state, rng)
        similarities = self._fit_detector()
        return self._detector.score_samples(similarities) if self.leaves_one_out else None

    def _fit_detector(self) -> np.ndarray:
        """Fit kernel and detector to the training graphs; their similarities to each other."""
        if self.kernel == "weisfeiler_lehman":
            self._kernel = WeisfeilerLehman(
                n_iter=5, base_graph_kernel=VertexHistogram, normalize=True
            )
        else:
            self._kernel = Propagation(normalize=True, random_state=self.seed_)
        if self.detector == "one_class_svm":
            self._detector = OneClassSVM(kernel="precomputed", nu=0.1)
            self._detector.random_state = self.seed_  # else it draws one from the global generator
        elif self.detector == "neighbors":
            self._detector = _Nearest()
        else:
            self._detector = IsolationForest(
                n_estimators=200, max_samples=0.5, random_state=self.seed_
            )
        labels = self._labels(self.graphs_)
        similarities = _quiet(self._kernel.fit_transform, _inputs(self.graphs_, labels))
        self._detector.fit(similarities)
        return similarities

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        return self._detector.score_samples(self._similarities(graphs))

    def _check_batch(self, graphs: GraphBatch) -> None:
        if self.graphs_.labels is not None and graphs.labels is None:
            raise ValueError("the training graphs had node labels; these graphs have none")

    def _similarities(self, graphs: GraphBatch) -> np.ndarray:
        """Kernel between graphs and the training graphs, shape (n_graphs, n_training)."""
        labels = self._labels(graphs)
        inputs = _inputs(graphs, labels)
        alone = np.zeros(len(graphs), dtype=bool)
        if self.kernel == "propagation":
            # GraKeL draws hashes of labels that no training graph has, for all graphs together.
            is_new = ~np.isin(labels, self._labels(self.graphs_))
            alone = np.logical_or.reduceat(is_new, graphs.node_ptr[:-1])
        parts = [[i] for i in np.flatnonzero(alone)] + [np.flatnonzero(~alone)]
        similarities = np.empty((len(graphs), len(self.graphs_)))
        for part in filter(len, parts):
            kernel = copy.deepcopy(self._kernel)  # which transform changes
            similarities[part] = _quiet(kernel.transform, [inputs[i] for i in part])
        return similarities

    def _labels(self, graphs: GraphBatch) -> np.ndarray:
        """Numbers for the labels of nodes, the same in every process.

        GraKeL draws hashes in the order of a set, and the order of a set of strings changes from
        process to process.
        """
        if self.graphs_.labels is None:
            return graphs.degrees.astype(int)
        number = {name: i for i, name in enumerate(self.graphs_.label_names)}
        return np.array([number.get(name, len(number)) for name in graphs.label_names])[
            graphs.labels
        ]

    def _take_fitted(self, state: State) -> None:
        """Take what was fitted; GraKeL's objects, which a file cannot contain, are fitted again."""
        self.graphs_ = state.take_instance("graphs_", GraphBatch)
        self.seed_ = state.take_count("seed_", 2**32 - 1)
        self._fit_detector()


class _Nearest:
    """Mean of the five largest similarities."""

    def fit(self, similarities: np.ndarray) -> None:
        """Nothing to learn."""

    def score_samples(self, similarities: np.ndarray) -> np.ndarray:
        """Higher for graphs with similar training graphs."""
        return np.sort(similarities, axis=1)[:, -5:].mean(axis=1)


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
