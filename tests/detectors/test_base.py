"""BaseGraphDetector: what a detector of one's own inherits."""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import BaseGraphDetector, Split
from tests.conftest import random_graphs
from tests.detectors.common import EdgeCount
from tests.estimator_checks import check_graph_detector


class Leaving(BaseGraphDetector):
    """Scores by the mean number of edges, each training graph by that of the others."""

    error = None
    scores = None

    def _fit_batch(self, graphs, rng):
        counts, n = graphs.n_edges_per_graph, len(graphs)
        self.seen_, self.mean_ = n, counts.mean()
        if graphs.labels is not None:
            self.labels_ = graphs.label_names
        if self.error is not None:
            raise self.error
        if self.scores is not None:
            return self.scores
        return -abs(counts - (counts.sum() - counts) / (n - 1))

    def _score_batch(self, graphs):
        return -abs(graphs.n_edges_per_graph - self.mean_)

    def _check_batch(self, graphs):
        if hasattr(self, "labels_") and graphs.labels is None:
            raise ValueError("these graphs have no labels")


PATHS = [nx.path_graph(n) for n in range(10, 30)]
NOT_FINITE = "graph 2: its score is not a finite number"
LONGER = [nx.path_graph(n) for n in range(30, 40)]


# -- scikit-learn's contract -----------------------------------------------------------------------


def test_a_detector_in_a_few_lines_passes_all_checks():
    check_graph_detector(EdgeCount(), PATHS)


# -- fit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("attributes", "graphs", "error"),
    [
        ({"error": RuntimeError("half way")}, LONGER, RuntimeError),
        ({"scores": np.full(10, np.nan)}, LONGER, ValueError),
        ({"contamination": 2}, LONGER, ValueError),
        ({}, [nx.Graph()], ValueError),
        ({}, None, TypeError),
    ],
    ids=["error", "nan", "parameter", "graph", "no graphs"],
)
def test_a_failed_fit_changes_nothing(method, attributes, graphs, error):
    detector = Leaving().fit(PATHS)
    scores = detector.score_samples(PATHS)
    vars(detector).update(attributes)
    before = dict(vars(detector))
    with pytest.raises(error):
        getattr(detector, method)(graphs)
    assert vars(detector) == before
    np.testing.assert_array_equal(detector.score_samples(PATHS), scores)


def test_fit_forgets_attributes_of_an_earlier_fit():
    detector = Leaving().fit(random_graphs(9))
    assert detector.labels_
    detector.fit(PATHS)
    assert not hasattr(detector, "labels_")
    assert detector.predict(PATHS).shape == (20,)


@pytest.mark.parametrize(
    ("scores", "of_fit", "of_predict"),
    [
        *[
            (
                x,
                r"Leaving\._fit_batch must return the scores of the 20",
                r"Leaving\._score_batch must return one score for each",
            )
            for x in (np.zeros(3), 0.0, np.zeros((20, 1)))
        ],
        (np.where(np.arange(20) == 2, np.nan, 1.0), NOT_FINITE, NOT_FINITE),
    ],
)
def test_wrong_scores_are_refused(scores, of_fit, of_predict):
    detector = Leaving()
    detector.scores = scores
    with pytest.raises(ValueError, match=of_fit):
        detector.fit(PATHS)
    detector.scores = None
    detector.fit(PATHS)._score_batch = lambda graphs: scores
    with pytest.raises(ValueError, match=of_predict):
        detector.predict(PATHS)


def test_an_error_names_the_position_in_the_list_of_the_user():
    def score_batch(graphs):
        return np.where(graphs.n_nodes_per_graph == PATHS[held_out].order(), np.nan, 1.0)

    detector = EdgeCount(calibration=Split(0.5), random_state=0)
    held_out = detector.fit(PATHS).calibration_graphs_[3]
    assert held_out > 3
    detector._score_batch = score_batch
    with pytest.raises(ValueError, match=f"^graph {held_out}: its score is not a finite number"):
        detector.fit(PATHS)


@pytest.mark.filterwarnings("error")
def test_fit_predict_gives_no_advice_to_call_fit_predict():
    for calibration in ("loo", Split(0.5)):
        assert len(EdgeCount(calibration=calibration, random_state=0).fit_predict(PATHS)) == 20


# -- calibration -----------------------------------------------------------------------------------


def test_loo_uses_what_fit_returns():
    detector = Leaving(contamination=0.2).fit(PATHS)
    counts = np.arange(9, 29)
    expected = [-abs(c - np.delete(counts, i).mean()) for i, c in enumerate(counts)]
    np.testing.assert_allclose(detector.calibration_scores_, expected)
    fourth = np.sort(expected)[3]  # p = 4 / 21 below, and 5 / 21 at it
    assert detector.offset_ == pytest.approx(fourth, rel=1e-8)
    verdicts = detector.fit_predict(PATHS)
    np.testing.assert_array_equal(verdicts == -1, detector.calibration_scores_ < detector.offset_)


def test_train_uses_plain_scores():
    detector = Leaving(calibration="train", contamination=0.2).fit(PATHS)
    scores = detector.score_samples(PATHS)
    np.testing.assert_array_equal(detector.calibration_scores_, scores)
    assert detector.offset_ == pytest.approx(np.quantile(scores, 0.2), rel=1e-8)
    np.testing.assert_array_equal(detector.fit_predict(PATHS), detector.predict(PATHS))


@pytest.mark.parametrize("calibration", [Split(0.5), Split(0.25)], ids=str)
def test_split_uses_graphs_set_aside(calibration):
    detector = Leaving(calibration=calibration, contamination=0.2, random_state=0).fit(PATHS)
    n = round(20 * calibration.fraction)
    assert detector.seen_ == 20 - n
    scores = detector.score_samples(PATHS)
    order = np.random.RandomState(0).permutation(20)
    np.testing.assert_array_equal(detector.calibration_graphs_, np.sort(order[:n]))
    np.testing.assert_array_equal(detector.calibration_scores_, scores[np.sort(order[:n])])
    assert detector.mean_ == np.mean([PATHS[i].number_of_edges() for i in order[n:]])
    k = int(0.2 * (n + 1))
    expected = np.sort(detector.calibration_scores_)[k - 1]
    assert detector.offset_ == pytest.approx(expected, rel=1e-8)
    np.testing.assert_array_equal(detector.fit_predict(PATHS), detector.predict(PATHS))
    assert detector.p_values(PATHS).min() >= 1 / (n + 1)


def test_what_a_method_of_a_subclass_returns_can_still_be_written_to():
    detector = Leaving()
    detector.scores = np.arange(20.0)
    detector.fit(PATHS)
    detector.scores[0] = 1.0
