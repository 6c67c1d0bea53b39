import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate

from skgraphkde import GraphKDEDetector, read_graphs
from skgraphkde.metrics import auprc, auroc, fpr_at_tpr
from skgraphkde.model_selection import OneClassKFold, get_detection_scorer
from tests.conftest import random_graphs


class Known(BaseEstimator):
    """The score of a "graph" is the graph."""

    def fit(self, X, y=None):
        self.seen_ = X
        return self

    def score_samples(self, X):
        return np.asarray(X, dtype=float)


@given(
    n_normal=st.integers(4, 20),
    n_anomalies=st.integers(4, 20),
    n_splits=st.integers(2, 4),
    seed=st.integers(0, 99),
)
def test_train_on_normal_test_on_all(n_normal, n_anomalies, n_splits, seed):
    y = np.random.RandomState(seed).permutation([1] * n_normal + [-1] * n_anomalies)
    cv = OneClassKFold(n_splits, shuffle=True, random_state=seed)
    tested = []
    for train, test in cv.split(y, y):
        assert (y[train] == 1).all()
        # All normal graphs that are not tested are trained on.
        assert set(train) == set(np.flatnonzero(y == 1)) - set(test)
        assert abs((y[test] == -1).sum() - n_anomalies / n_splits) < 1
        tested.extend(test)
    assert sorted(tested) == list(range(len(y)))
    assert cv.get_n_splits() == n_splits


def test_several_classes_are_all_stratified():
    classes = np.repeat([1, 2, 3], [10, 20, 5])
    cv = OneClassKFold(5, shuffle=True, random_state=0, anomaly_class=3)
    expected = StratifiedKFold(5, shuffle=True, random_state=0).split(classes, classes)
    for (train, test), (all_train, all_test) in zip(
        cv.split(classes, classes), expected, strict=True
    ):
        np.testing.assert_array_equal(test, all_test)
        np.testing.assert_array_equal(train, all_train[classes[all_train] != 3])


def test_order_is_kept_unless_shuffled():
    y = np.array([1] * 6 + [-1] * 3)
    assert [test.tolist() for _, test in OneClassKFold(3).split(y, y)] == [
        [0, 1, 6],
        [2, 3, 7],
        [4, 5, 8],
    ]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "needs y"),
        ([0, 1] * 5, r"np\.where\(y == 1, -1, 1\)"),
        ([1] * 10, "no graph of y is of the anomaly class -1"),
        ([1, -1] * 4, "inconsistent numbers of samples"),
    ],
)
def test_what_cannot_be_split(y, message):
    with pytest.raises(ValueError, match=message):
        list(OneClassKFold(2).split(range(10), y))


def test_folds_in_a_grid_search():
    graphs = read_graphs(random_graphs(24, labels=""))
    y = np.where(np.arange(24) % 4 == 0, -1, 1)
    search = GridSearchCV(
        GraphKDEDetector(max_iter=0, random_state=0),
        {"n_layers": [1, 2]},
        scoring=get_detection_scorer("auroc"),
        cv=OneClassKFold(2),
        error_score="raise",
    ).fit(graphs, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_scorers_say_what_they_mean():
    X = np.arange(10.0)
    y = np.where(X < 3, -1, 1)
    y[[1, 7]] *= -1
    estimator = Known().fit(X)
    assert get_detection_scorer("auroc")(estimator, X, y) == auroc(y, X)
    assert get_detection_scorer("neg_fpr95")(estimator, X, y) == -fpr_at_tpr(y, X)
    for positive in ("anomaly", "normal"):
        scorer = get_detection_scorer(f"auprc_{positive}")
        assert scorer(estimator, X, y) == auprc(y, X, positive=positive)


def test_scorers_travel():
    scorer = pickle.loads(pickle.dumps(get_detection_scorer("auroc")))
    assert repr(scorer) == "get_detection_scorer('auroc')"
    assert scorer(Known(), [1.0, 0.0], [1, -1]) == 1


@pytest.mark.parametrize("name", ["auroc", "auprc_anomaly", "auprc_normal", "neg_fpr95"])
def test_zeros_and_ones_are_refused_loudly(name):
    X, y = np.arange(8.0), np.array([0, 1] * 4)
    with pytest.raises(ValueError, match="y must be 1 for normal"):
        cross_validate(Known(), X, y, scoring=get_detection_scorer(name), cv=2, error_score="raise")


def test_an_estimator_with_a_decision_function_only():
    class Decides(BaseEstimator):
        def decision_function(self, X):
            return np.asarray(X)

    assert get_detection_scorer("auroc")(Decides(), [0.0, 1.0], [-1, 1]) == 1


def test_no_such_scorer():
    with pytest.raises(ValueError, match="no scorer is named 'roc_auc': take one of auroc"):
        get_detection_scorer("roc_auc")
