import numpy as np
import pytest
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.model_selection import cross_validate

from skgraphkde.evaluation import auprc, auroc, fpr_at_tpr, get_detection_scorer


class Known(OutlierMixin, BaseEstimator):
    """The score of a "graph" is the graph."""

    def fit(self, X, y=None):
        self.seen_ = X
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)


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


def test_zeros_and_ones_are_refused_loudly():
    X, y = np.arange(8.0), np.array([0, 1] * 4)
    with pytest.raises(ValueError, match="y must be 1 for normal"):
        cross_validate(
            Known(), X, y, scoring=get_detection_scorer("auroc"), cv=2, error_score="raise"
        )


def test_no_such_scorer():
    with pytest.raises(ValueError, match="there is no scorer 'roc_auc': choose one of auroc"):
        get_detection_scorer("roc_auc")
