"""BaseGraphDetector: what a detector of one's own inherits."""

import networkx as nx
import numpy as np
import pytest
from skgraphkde.persistence.registry import _classes
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import skgraphkde
from skgraphkde import (
    BaseGraphDetector,
    GraphBatch,
    InvalidFileError,
    NodeFeatures,
    Split,
    persistence,
    register,
)
from tests.conftest import random_graphs
from tests.detectors.forging import find, replaced
from tests.estimator_checks import check_graph_detector


class EdgeCount(BaseGraphDetector):
    """The detector of the doctest."""

    def _fit_batch(self, graphs, rng):
        self.median_ = float(np.median(graphs.n_edges_per_graph))
        return self._score_batch(graphs)

    def _score_batch(self, graphs):
        return -abs(graphs.n_edges_per_graph - self.median_)


class Leaving(BaseGraphDetector):
    """Scores by the mean number of edges, each training graph by that of the others."""

    fail = None

    def _fit_batch(self, graphs, rng):
        counts = graphs.n_edges_per_graph
        self.seen_, self.mean_ = len(graphs), counts.mean()
        if graphs.labels is not None:
            self.labels_ = graphs.label_names
        if self.fail == "fit":
            raise RuntimeError("half way")
        if self.fail == "nan":
            return np.full(len(graphs), np.nan)
        if self.calibration != "loo":
            return None
        n = len(graphs)
        return -abs(counts - (counts.sum() - counts) / (n - 1))

    def _score_batch(self, graphs):
        return -abs(graphs.n_edges_per_graph - self.mean_)

    def _check_batch(self, graphs):
        if hasattr(self, "labels_") and graphs.labels is None:
            raise ValueError("these graphs have no labels")


PATHS = [nx.path_graph(n) for n in range(10, 30)]


@pytest.fixture
def registry():
    """Classes that a test registers are forgotten after it."""
    before = dict(_classes)
    yield
    _classes.clear()
    _classes.update(before)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "detector.skg"


def state_of(detector):
    return {key: value for key, value in vars(detector).items() if key.endswith("_")}


# -- scikit-learn's contract -----------------------------------------------------------------------


def test_a_detector_in_a_few_lines_passes_all_checks():
    check_graph_detector(EdgeCount(), PATHS)


def test_it_works_on_its_own():
    detector = EdgeCount().fit(PATHS)
    assert detector.fit(PATHS) is detector
    assert detector.predict([nx.path_graph(20), nx.complete_graph(20)]).tolist() == [1, -1]
    scores = detector.score_samples(PATHS)
    np.testing.assert_array_equal(scores, [-abs(n - 1 - 18.5) for n in range(10, 30)])
    np.testing.assert_array_equal(detector.decision_function(PATHS), scores - detector.offset_)
    p_values = detector.p_values([nx.path_graph(20), nx.complete_graph(20)])
    np.testing.assert_allclose(p_values, [1, 1 / 21])
    assert detector.select([nx.path_graph(20), nx.complete_graph(20)]).tolist() == [False, True]
    pipeline = make_pipeline(NodeFeatures(("degree",)), EdgeCount()).fit(PATHS)
    np.testing.assert_array_equal(pipeline.score_samples(PATHS), scores)


def test_what_a_subclass_must_define():
    with pytest.raises(NotImplementedError):
        BaseGraphDetector().fit(PATHS)
    with pytest.raises(NotFittedError, match="EdgeCount instance is not fitted"):
        EdgeCount().predict(PATHS)


# -- fit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fail", "graphs", "error"),
    [
        ("fit", PATHS, RuntimeError),
        ("nan", PATHS, ValueError),
        (None, PATHS[:1], ValueError),
        (None, [nx.Graph()], ValueError),
        (None, None, TypeError),
    ],
)
def test_a_failed_fit_keeps_the_old_one(fail, graphs, error):
    detector = Leaving().fit(PATHS)
    before, scores = state_of(detector), detector.score_samples(PATHS)
    detector.fail = fail
    with pytest.raises(error):
        detector.fit(graphs)
    assert state_of(detector) == before
    np.testing.assert_array_equal(detector.score_samples(PATHS), scores)


def test_fit_forgets_attributes_of_an_earlier_fit():
    detector = Leaving().fit(random_graphs(9))
    assert detector.labels_
    with pytest.raises(ValueError, match=r"earlier graphs had|have no labels"):
        detector.predict(PATHS)
    detector.fit(PATHS)
    assert not hasattr(detector, "labels_")
    assert detector.predict(PATHS).shape == (20,)


def test_scores_that_are_not_numbers_name_the_graph():
    class Odd(EdgeCount):
        def _score_batch(self, graphs):
            return np.where(graphs.n_nodes_per_graph == 12, np.nan, 1.0)

    with pytest.raises(ValueError, match="score of graph 2 is not a finite number"):
        Odd().fit(PATHS)
    detector = Odd().fit(PATHS[5:])
    with pytest.raises(ValueError, match="score of graph 2 is not a finite number"):
        detector.score_samples(PATHS)


# -- calibration -----------------------------------------------------------------------------------


def test_loo_uses_what_fit_returns():
    detector = Leaving(contamination=0.2).fit(PATHS)
    counts = np.arange(9, 29)
    expected = [-abs(c - np.delete(counts, i).mean()) for i, c in enumerate(counts)]
    np.testing.assert_allclose(detector.calibration_scores_, expected)
    quantile = np.quantile(expected, 0.2, method="weibull")
    assert detector.offset_ == pytest.approx(quantile, rel=1e-8)
    verdicts = detector.fit_predict(PATHS)
    np.testing.assert_array_equal(verdicts == -1, detector.calibration_scores_ < detector.offset_)


def test_train_uses_plain_scores():
    detector = Leaving(calibration="train", contamination=0.2).fit(PATHS)
    scores = detector.score_samples(PATHS)
    np.testing.assert_array_equal(detector.calibration_scores_, scores)
    assert detector.offset_ == pytest.approx(np.quantile(scores, 0.2), rel=1e-8)
    np.testing.assert_array_equal(detector.fit_predict(PATHS), detector.predict(PATHS))
    for method in (detector.p_values, detector.select):
        with pytest.raises(ValueError, match="calibration='train' includes each training"):
            method(PATHS)


@pytest.mark.parametrize("calibration", [Split(0.5), Split(0.25)], ids=str)
def test_split_uses_graphs_set_aside(calibration):
    detector = Leaving(calibration=calibration, contamination=0.2, random_state=0).fit(PATHS)
    n = round(20 * calibration.fraction)
    assert detector.seen_ == 20 - n
    scores = detector.score_samples(PATHS)
    order = np.random.RandomState(0).permutation(20)
    np.testing.assert_array_equal(detector.calibration_scores_, scores[np.sort(order[:n])])
    assert detector.mean_ == np.mean([PATHS[i].number_of_edges() for i in order[n:]])
    expected = np.quantile(detector.calibration_scores_, 0.2, method="weibull")
    assert detector.offset_ == pytest.approx(expected, rel=1e-8)
    np.testing.assert_array_equal(detector.fit_predict(PATHS), detector.predict(PATHS))
    assert detector.p_values(PATHS).min() >= 1 / (n + 1)


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("registry")
def test_a_registered_detector_is_saved_and_loaded(path):
    register(EdgeCount)
    detector = EdgeCount(calibration=Split(0.5), contamination=0.2, random_state=3).fit(PATHS)
    detector.save(path, {"made": "today"})
    loaded = skgraphkde.load(path)
    assert type(loaded) is EdgeCount
    assert repr(loaded) == repr(detector)
    assert loaded.median_ == detector.median_
    assert loaded.offset_ == detector.offset_
    np.testing.assert_array_equal(loaded.calibration_scores_, detector.calibration_scores_)
    np.testing.assert_array_equal(loaded.predict(PATHS), detector.predict(PATHS))
    first = path.read_bytes()
    loaded.save(path, {"made": "today"})
    assert path.read_bytes() == first
    assert clone(loaded).fit(PATHS).offset_ == detector.offset_


@pytest.mark.usefixtures("registry")
def test_an_unregistered_detector_is_not_saved(path):
    with pytest.raises(TypeError, match=r"^EdgeCount cannot be saved.* skgraphkde\.register"):
        EdgeCount().fit(PATHS).save(path)
    with pytest.raises(NotFittedError):
        EdgeCount().save(path)
    register(EdgeCount)

    class Mine(EdgeCount):
        pass

    with pytest.raises(TypeError, match=r"^Mine cannot be saved"):
        Mine().fit(PATHS).save(path)
    assert not path.exists()
    EdgeCount().fit(PATHS).save(path)
    del _classes["EdgeCount"]
    with pytest.raises(InvalidFileError, match="class EdgeCount, which is not registered: import"):
        skgraphkde.load(path)


@pytest.mark.usefixtures("registry")
def test_attributes_of_many_kinds_come_back_and_others_are_refused(path):
    @register
    class Keeping(EdgeCount):
        def _fit_batch(self, graphs, rng):
            self.graphs_, self.names_ = graphs[:3], ("a", 1, None)
            self.split_, self.matrix_ = Split(0.3), np.eye(2)
            return super()._fit_batch(graphs, rng)

    detector = Keeping().fit(PATHS)
    detector.save(path)
    loaded = skgraphkde.load(path)
    assert isinstance(loaded.graphs_, GraphBatch)
    assert loaded.graphs_.n_nodes_per_graph.tolist() == [10, 11, 12]
    assert (loaded.names_, loaded.split_.fraction) == (("a", 1, None), 0.3)
    np.testing.assert_array_equal(loaded.matrix_, np.eye(2))
    detector.function_ = len
    with pytest.raises(ValueError, match=r"detector\.fitted\.function_ cannot be saved"):
        detector.save(path)


@pytest.mark.usefixtures("registry")
def test_forged_files_of_own_detectors(path):
    register(EdgeCount)
    EdgeCount().fit(PATHS).save(path)
    tree, arrays = persistence.read(path)
    items = (*find(tree, "detector", "fitted"), "dict")
    for place, value, message in (
        (find(tree, "n_seen"), "low", "n_seen is missing or not"),
        (find(tree, "parameters", "contamination"), 2, "'contamination' parameter"),
        ((*items, "predict"), 1, "predict is not a fitted attribute"),
        ((*items, "__class__"), 1, "__class__ is not a fitted"),
    ):
        path.write_bytes(replaced(tree, arrays, place, value))
        with pytest.raises(InvalidFileError, match=message):
            skgraphkde.load(path)
