"""Model selection for one-class detectors: splits and scorers that cannot be read upside down.

In come graphs with targets, 1 for normal and -1 for anomalies. Out go folds whose training part
holds normal graphs only, and scorers for GridSearchCV and cross_validate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_consistent_length, column_or_1d

from skgraphkde.metrics import auprc, auroc, check_target, fpr_at_tpr

__all__ = ["OneClassKFold", "get_detection_scorer"]


class OneClassKFold:
    """Stratified folds to test on, and the normal graphs of the other folds to train on.

    This is the protocol of one-class detection: the detector sees normal graphs only, and is
    scored on graphs of both kinds that it has not seen.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether to shuffle each class before it is split.
    random_state : int, RandomState instance or None, default=None
        Draws the order, with ``shuffle=True``.
    anomaly_class : int, default=-1
        The value of `y` that marks anomalies. With the default, `y` has to be 1 and -1; with any
        other, `y` may hold several classes, each of which is spread over the folds.

    Examples
    --------
    >>> from skgraphkde.datasets import load_mutag
    >>> from skgraphkde.model_selection import OneClassKFold
    >>> graphs, y = load_mutag(return_X_y=True)
    >>> for train, test in OneClassKFold(2).split(graphs, y):
    ...     print(sorted(set(y[train].tolist())), sorted(set(y[test].tolist())))
    [1] [-1, 1]
    [1] [-1, 1]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        anomaly_class: int = -1,
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.anomaly_class = anomaly_class

    def split(self, X: Any, y: Any, groups: None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Indices of training and test graphs, fold by fold.

        Parameters
        ----------
        X : sequence of graphs
            Only its length matters.
        y : array-like of shape (n_graphs,)
        groups : None
            Ignored.

        Yields
        ------
        train, test : ndarray of int

        Raises
        ------
        ValueError
            If `y` is not given, has other values than 1 and -1 (unless `anomaly_class` says what
            marks anomalies), or has no anomaly.
        """
        if y is None:
            raise ValueError("OneClassKFold needs y: 1 for normal graphs, -1 for anomalies")
        y = check_target(y) if self.anomaly_class == -1 else column_or_1d(y)
        if not np.any(y == self.anomaly_class):
            raise ValueError(
                f"no graph of y is of the anomaly class {self.anomaly_class}: it has "
                f"{np.unique(y).tolist()}"
            )
        check_consistent_length(X, y)
        folds = StratifiedKFold(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)
        for train, test in folds.split(np.zeros(len(y)), y):
            yield train[y[train] != self.anomaly_class], test

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds; arguments are ignored."""
        return self.n_splits


class _DetectionScorer:
    """scikit-learn's signature of a scorer, around a metric of this package."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        scores = getattr(estimator, "score_samples", None) or estimator.decision_function
        return _METRICS[self.name](y, scores(X))

    def __repr__(self) -> str:
        return f"get_detection_scorer({self.name!r})"


_METRICS: dict[str, Callable[[Any, Any], float]] = {
    "auroc": auroc,
    "auprc_anomaly": lambda y, score: auprc(y, score, positive="anomaly"),
    "auprc_normal": lambda y, score: auprc(y, score, positive="normal"),
    "neg_fpr95": lambda y, score: -fpr_at_tpr(y, score),
}


def get_detection_scorer(name: str) -> Callable[[Any, Any, Any], float]:
    """A scorer for GridSearchCV or cross_validate, higher for better detectors.

    scikit-learn's own "average_precision" takes normal graphs for the positive class without
    saying so, and its "roc_auc" is inverted without a word where anomalies are coded 1 and normal
    graphs 0. These name the positive class, and refuse any target but 1 and -1.

    Parameters
    ----------
    name : {"auroc", "auprc_anomaly", "auprc_normal", "neg_fpr95"}
        "neg_fpr95" is minus the false positive rate where 95 % of the anomalies are found.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``; the estimator has `score_samples` or `decision_function`,
        higher for normal.

    Raises
    ------
    ValueError
        If there is no such scorer.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.datasets import load_mutag
    >>> from skgraphkde.model_selection import OneClassKFold, get_detection_scorer
    >>> graphs, y = load_mutag(return_X_y=True)
    >>> detector = GraphKDEDetector(node_features=["degree"], max_iter=0, random_state=0)
    >>> scores = cross_val_score(
    ...     detector, graphs, y, cv=OneClassKFold(2), scoring=get_detection_scorer("auroc")
    ... )
    >>> bool(scores.mean() > 0.7)
    True
    """
    if name not in _METRICS:
        raise ValueError(f"no scorer is named {name!r}: take one of {', '.join(_METRICS)}")
    return _DetectionScorer(name)
