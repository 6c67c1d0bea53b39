"""Checks of a detector of graphs: scikit-learn's own, on rows as paths, and a few for graphs.

Each check takes an unfitted detector with a fixed `random_state`; the checks of graphs also take
at least ten networkx graphs.
"""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

from tests.conftest import with_data

METHODS = ("score_samples", "decision_function", "predict")


class RowsAsGraphs(OutlierMixin, BaseEstimator):
    """A detector of graphs behind the interface that scikit-learn's checks expect.

    Each row becomes a path with one node per column, which carries the column and its value.
    """

    def __init__(self, detector=None):
        self.detector = detector

    def fit(self, X, y=None):
        X = validate_data(self, X, ensure_min_samples=2)
        self.detector_ = clone(self.detector).fit(self._graphs(X))
        self.offset_ = self.detector_.offset_
        return self

    def score_samples(self, X):
        check_is_fitted(self)
        return self.detector_.score_samples(self._graphs(validate_data(self, X, reset=False)))

    def decision_function(self, X):
        return self.score_samples(X) - self.offset_

    def predict(self, X):
        return np.where(self.decision_function(X) < 0, -1, 1)

    @staticmethod
    def _graphs(X):
        path = nx.path_graph(X.shape[1])
        return [with_data(path.copy(), {"x": lambda j, row=row: [row[j], float(j)]}) for row in X]


def check_as_scikit_learn_does(detector):
    """scikit-learn's checks, which need ``calibration="train"``: fit_predict is fit and predict."""
    results = check_estimator(RowsAsGraphs(detector), on_fail=None, on_skip=None)
    failed = [(x["check_name"], x["exception"]) for x in results if x["status"] == "failed"]
    assert failed == []
    assert sum(x["status"] == "passed" for x in results) >= 45


def check_graph_detector(detector, graphs):
    """All checks of graphs."""
    before, prints = pickle.dumps(detector.get_params()), [fingerprint(g) for g in graphs]
    for check in GRAPH_CHECKS:
        check(clone(detector), list(graphs))
    assert pickle.dumps(detector.get_params()) == before, "a parameter has changed"
    assert [fingerprint(graph) for graph in graphs] == prints, "a graph has changed"


def fingerprint(graph):
    return repr((graph.graph, list(graph.nodes(data=True)), list(graph.edges(data=True))))


def results(detector, graphs):
    """What all methods return, one row a method; verdicts are signs, which rounding may change."""
    scores = detector.score_samples(graphs)
    np.testing.assert_array_equal(detector.decision_function(graphs), scores - detector.offset_)
    verdicts = np.where(scores < detector.offset_, -1, 1)
    np.testing.assert_array_equal(detector.predict(graphs), verdicts)
    assert scores.shape == (len(graphs),)
    assert np.isfinite(scores).all()
    return scores


def assert_same(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-7)


def check_fit_returns_the_detector_and_forgets(detector, graphs):
    for method in METHODS:
        with pytest.raises(NotFittedError):
            getattr(detector, method)(graphs)
    assert detector.fit(graphs[::2]) is detector
    detector.fit(graphs, y=np.ones(len(graphs)))
    assert_same(results(detector, graphs), results(clone(detector).fit(graphs), graphs))


def check_a_score_depends_on_its_graph_alone(detector, graphs):
    together = results(detector.fit(graphs), graphs)
    order = np.random.RandomState(0).permutation(len(graphs))
    assert_same(results(detector, [graphs[i] for i in order]), together[order])
    assert_same(np.concatenate([results(detector, [g]) for g in graphs]), together)


def check_order_and_names_of_nodes_do_not_matter(detector, graphs):
    expected, rng = results(detector.fit(graphs), graphs), np.random.RandomState(0)
    shuffled = []
    for graph in graphs:
        nodes, edges = list(graph.nodes(data=True)), list(graph.edges(data=True))
        other = type(graph)()
        other.add_nodes_from(nodes[i] for i in rng.permutation(len(nodes)))
        other.add_edges_from(edges[i] for i in rng.permutation(len(edges)))
        shuffled.append(nx.relabel_nodes(other, lambda node: f"node {node}"))
    assert_same(results(detector, shuffled), expected)


def check_a_failed_fit_changes_nothing(detector, graphs):
    expected = results(detector.fit(graphs), graphs)
    for bad in (graphs[0], [*graphs[:3], None]):
        for method in ("fit", *METHODS):
            with pytest.raises((TypeError, ValueError), match=r"\w"):
                getattr(detector, method)(bad)
    assert_same(results(detector, graphs), expected)


def check_copies_score_the_same(detector, graphs):
    expected = results(detector.fit(copy.deepcopy(graphs)), graphs)
    assert_same(results(pickle.loads(pickle.dumps(detector)), graphs), expected)
    assert_same(results(copy.deepcopy(detector), tuple(graphs)), expected)


GRAPH_CHECKS = (
    check_fit_returns_the_detector_and_forgets,
    check_a_score_depends_on_its_graph_alone,
    check_order_and_names_of_nodes_do_not_matter,
    check_a_failed_fit_changes_nothing,
    check_copies_score_the_same,
)
