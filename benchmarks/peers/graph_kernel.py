"""Graph kernels of GraKeL with a detector of scikit-learn, as in the paper's first four rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from grakel import Propagation, VertexHistogram, WeisfeilerLehman
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM

from skgraphkde import GraphBatch, read_graphs


class GraphKernelDetector(OutlierMixin, BaseEstimator):
    """A graph kernel, and a one-class SVM or an isolation forest on its rows.

    The kernel is fitted on the training graphs alone: test graphs enter by their similarities to
    these. Graphs without node labels are labeled by degree.

    Parameters
    ----------
    kernel : {"weisfeiler_lehman", "propagation"}
        Normalized. Five rounds of refinement; or GraKeL's default of five of propagation.
    detector : {"one_class_svm", "isolation_forest"}
        ``OneClassSVM(nu=0.1)``, or 200 trees on half of the graphs each.
    random_state : int or None
        Of the propagation kernel's hashing and of the forest.
    """

    def __init__(self, kernel: str, detector: str, random_state: Any = None) -> None:
        self.kernel = kernel
        self.detector = detector
        self.random_state = random_state

    def fit(self, graphs: Any, y: Any = None) -> GraphKernelDetector:
        """Compute the kernel of the training graphs and fit the detector to it."""
        if self.kernel == "weisfeiler_lehman":
            self.kernel_ = WeisfeilerLehman(
                n_iter=5, base_graph_kernel=VertexHistogram, normalize=True
            )
        else:
            self.kernel_ = Propagation(normalize=True, random_state=self.random_state)
        if self.detector == "one_class_svm":
            self.detector_ = OneClassSVM(kernel="precomputed", nu=0.1)
        else:
            self.detector_ = IsolationForest(
                n_estimators=200, max_samples=0.5, random_state=self.random_state
            )
        self.codes_: dict[Any, int] = {}
        self.detector_.fit(self._quiet(self.kernel_.fit_transform, graphs))
        return self

    def score_samples(self, graphs: Any) -> np.ndarray:
        """The detector's score of each graph, higher for normal."""
        return self.detector_.score_samples(self._quiet(self.kernel_.transform, graphs))

    def _quiet(self, method: Any, graphs: Any) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # GraKeL warns of every format it converts
            return np.nan_to_num(method(_triples(read_graphs(graphs), self.codes_)))


def _triples(graphs: GraphBatch, codes: dict[Any, int]) -> list[tuple]:
    """GraKeL's input: {edge: weight}, {node: label} of each graph.

    Labels become numbers, which `codes` remembers: GraKeL draws hashes in the order of a set, and
    the order of a set of strings changes from process to process.
    """
    if graphs.labels is None:
        labels = graphs.degrees.astype(int)
    else:
        number = [codes.setdefault(name, len(codes)) for name in graphs.label_names]
        labels = np.array(number)[graphs.labels]
    triples = []
    for graph, start in zip(graphs, graphs.node_ptr[:-1], strict=True):
        edges = sp.coo_array(graph.adjacency)
        ends = zip(edges.row.tolist(), edges.col.tolist(), strict=True)
        of_graph = labels[start : start + graph.n_nodes].tolist()
        triples.append((dict.fromkeys(ends, 1.0), dict(enumerate(of_graph))))
    return triples
