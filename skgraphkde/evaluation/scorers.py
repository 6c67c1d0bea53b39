"""Scorers for model selection: the name of a metric -> a scorer for GridSearchCV.

:func:`get_detection_scorer` returns a function of a fitted detector, graphs and targets. Its value
is higher for better detectors, and it rejects targets other than 1 and -1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skgraphkde.evaluation.metrics import auprc, auroc, fpr_at_tpr


class _DetectionScorer:
    """Metric of this package with scikit-learn's signature of a scorer."""

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
    """Make a scorer for GridSearchCV or cross_validate, higher for better detectors.

    scikit-learn's "average_precision" silently uses normal graphs as the positive class, and its
    "roc_auc" is silently inverted if anomalies are coded 1 and normal graphs 0. These scorers name
    the positive class, and reject all targets except 1 and -1.

    Parameters
    ----------
    name : {"auroc", "auprc_anomaly", "auprc_normal", "neg_fpr95"}
        "neg_fpr95" is the negated false positive rate at which 95% of the anomalies are found.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``; the estimator has `score_samples` or `decision_function`,
        higher for normal.

    Raises
    ------
    ValueError
        If `name` is unknown.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skgraphkde import GraphKDEDetector, NodeFeatures
    >>> from skgraphkde.datasets import load_mutag
    >>> from skgraphkde.evaluation import OneClassKFold, get_detection_scorer
    >>> graphs, y = load_mutag(return_X_y=True)
    >>> detector = GraphKDEDetector(features=NodeFeatures(("degree",)))
    >>> scores = cross_val_score(
    ...     detector, graphs, y, cv=OneClassKFold(2), scoring=get_detection_scorer("auroc")
    ... )
    >>> bool(scores.mean() > 0.7)
    True
    """
    if name not in _METRICS:
        raise ValueError(f"there is no scorer {name!r}: choose one of {', '.join(_METRICS)}")
    return _DetectionScorer(name)
