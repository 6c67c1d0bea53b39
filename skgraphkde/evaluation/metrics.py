"""Metrics of detection: targets and scores -> AUROC, AUPRC, false positive rate, a report, scorers.

Targets are 1 for normal graphs and -1 for anomalies. Scores are higher for normal graphs, as those
of every scikit-learn outlier detector. Each metric states the class that counts as positive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, make_scorer, roc_auc_score, roc_curve
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

CLASSES = {"anomaly": -1, "normal": 1}

_TITLES = {
    "auroc": "AUROC",
    "auprc_anomaly": "AUPRC, anomaly",
    "auprc_normal": "AUPRC, normal",
    "fpr95": "FPR at 95% TPR",
    "false_alarms": "False alarms",
    "misses": "Misses",
}


def auroc(y_true: Any, y_score: Any) -> float:
    """Area under the ROC curve: the probability that a normal graph scores above an anomaly.

    Parameters
    ----------
    y_true : array-like of shape (n_graphs,)
        1 for normal, -1 for anomalies.
    y_score : array-like of shape (n_graphs,)
        Scores from `score_samples` or `decision_function`, higher for normal.

    Returns
    -------
    float
        In [0, 1]; ties count half. The choice of the positive class does not change it.

    Raises
    ------
    ValueError
        If `y_true` contains values other than 1 and -1, or only one of them.

    Examples
    --------
    >>> from skgraphkde.evaluation import auroc
    >>> auroc([1, 1, -1], [0.9, 0.4, 0.5])
    0.5
    """
    return float(roc_auc_score(*with_positive(y_true, y_score, "normal")))


def auprc(y_true: Any, y_score: Any, *, positive: str) -> float:
    """Area under the precision-recall curve, as average precision.

    Unlike the ROC curve, it depends on which class is positive: random scores reach the share of
    that class.

    Parameters
    ----------
    y_true : array-like of shape (n_graphs,)
        1 for normal, -1 for anomalies.
    y_score : array-like of shape (n_graphs,)
        Higher for normal.
    positive : {"anomaly", "normal"}
        The class to retrieve.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If `y_true` contains values other than 1 and -1, or only one of them; or if `positive` is
        not a class.

    Examples
    --------
    >>> from skgraphkde.evaluation import auprc
    >>> y_true, y_score = [1, 1, 1, -1], [0.9, 0.8, 0.1, 0.4]
    >>> auprc(y_true, y_score, positive="anomaly")
    0.5
    >>> round(auprc(y_true, y_score, positive="normal"), 3)
    0.917
    """
    is_positive, y_score = with_positive(y_true, y_score, positive)
    return float(average_precision_score(is_positive, y_score))


def fpr_at_tpr(y_true: Any, y_score: Any, *, tpr: float = 0.95, positive: str = "anomaly") -> float:
    """False positive rate at the threshold that finds the share `tpr` of the positives.

    With `positive="anomaly"`, this is the share of normal graphs that raise a false alarm when 95%
    of the anomalies must be found.

    Parameters
    ----------
    y_true : array-like of shape (n_graphs,)
        1 for normal, -1 for anomalies.
    y_score : array-like of shape (n_graphs,)
        Higher for normal.
    tpr : float, default=0.95
        In (0, 1]. The threshold is the first at which the true positive rate reaches it.
    positive : {"anomaly", "normal"}, default="anomaly"

    Returns
    -------
    float
        In [0, 1]; lower is better.

    Raises
    ------
    ValueError
        If `y_true` contains values other than 1 and -1, or only one of them; or if `tpr` is out of
        range.

    Examples
    --------
    >>> from skgraphkde.evaluation import fpr_at_tpr
    >>> fpr_at_tpr([1, 1, 1, 1, -1, -1], [0.9, 0.8, 0.7, 0.2, 0.1, 0.3])
    0.25
    """
    if not 0 < tpr <= 1:
        raise ValueError(f"tpr must be in (0, 1], got {tpr}")
    is_positive, y_score = with_positive(y_true, y_score, positive)
    fprs, tprs, _ = roc_curve(is_positive, y_score, drop_intermediate=False)
    return float(fprs[np.searchsorted(tprs, tpr - 1e-12)])


def detection_report(
    y_true: Any,
    y_score: Any,
    *,
    offset: float | None = None,
    output_dict: bool = False,
) -> Any:
    """Report of all metrics, next to the values that random scores would reach.

    Parameters
    ----------
    y_true : array-like of shape (n_graphs,)
        1 for normal, -1 for anomalies.
    y_score : array-like of shape (n_graphs,)
        Higher for normal.
    offset : float, default=None
        Scores below it are alarms. Pass the detector's ``offset_`` with `score_samples`, or 0 with
        `decision_function`. None omits false alarms and misses.
    output_dict : bool, default=False
        Whether to return a dict instead of text.

    Returns
    -------
    str or dict of float
        "auroc", "auprc_anomaly", "auprc_normal", "fpr95" and "anomalies", the share of anomalies;
        with `offset` also "false_alarms", the share of normal graphs below it, and "misses", the
        share of anomalies at or above it.

    Raises
    ------
    ValueError
        If `y_true` contains values other than 1 and -1, or only one of them.

    Examples
    --------
    >>> from skgraphkde.evaluation import detection_report
    >>> print(detection_report([1, 1, 1, 1, -1, -1], [9, 8, 7, 2, 1, 3], offset=2.5))
                         value  chance
    AUROC                0.875   0.500
    AUPRC, anomaly       0.833   0.333
    AUPRC, normal        0.950   0.667
    FPR at 95% TPR       0.250   0.950
    False alarms         0.250
    Misses               0.500
    """
    is_normal, y_score = with_positive(y_true, y_score, "normal")
    report = {
        "auroc": auroc(y_true, y_score),
        "auprc_anomaly": auprc(y_true, y_score, positive="anomaly"),
        "auprc_normal": auprc(y_true, y_score, positive="normal"),
        "fpr95": fpr_at_tpr(y_true, y_score),
        "anomalies": float(np.mean(~is_normal)),
    }
    if offset is not None:
        report["false_alarms"] = float(np.mean(y_score[is_normal] < offset))
        report["misses"] = float(np.mean(y_score[~is_normal] >= offset))
    if output_dict:
        return report
    share = report["anomalies"]
    chance = {"auroc": 0.5, "auprc_anomaly": share, "auprc_normal": 1 - share, "fpr95": 0.95}
    lines = [f"{'':<18}{'value':>8}{'chance':>8}"]
    for name, title in _TITLES.items():
        if name in report:
            by_chance = f"{chance[name]:8.3f}" if name in chance else ""
            lines.append(f"{title:<18}{report[name]:8.3f}{by_chance}")
    return "\n".join(lines)


_SCORERS = {
    "auroc": make_scorer(auroc, response_method="decision_function"),
    "auprc_anomaly": make_scorer(auprc, response_method="decision_function", positive="anomaly"),
    "auprc_normal": make_scorer(auprc, response_method="decision_function", positive="normal"),
    "neg_fpr95": make_scorer(
        fpr_at_tpr, response_method="decision_function", greater_is_better=False
    ),
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
        ``scorer(estimator, X, y)``; the estimator is an outlier detector of scikit-learn's kind,
        whose `decision_function` is higher for normal.

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
    if name not in _SCORERS:
        raise ValueError(f"there is no scorer {name!r}: choose one of {', '.join(_SCORERS)}")
    return _SCORERS[name]


def check_target(y: Any) -> np.ndarray:
    """Check that a target is 1 for normal graphs and -1 for anomalies, and flatten it.

    Any other coding is an error: with 0 and 1, a metric could be inverted unnoticed.

    Parameters
    ----------
    y : array-like of shape (n_graphs,)

    Returns
    -------
    ndarray of shape (n_graphs,)

    Raises
    ------
    ValueError
        If `y` contains values other than 1 and -1.

    Examples
    --------
    >>> from skgraphkde.evaluation.metrics import check_target
    >>> check_target([1, -1, 1])
    array([ 1, -1,  1])
    """
    y = column_or_1d(y)
    values = set(np.unique(y).tolist())
    if y.dtype == bool or not values <= {1, -1}:
        found = ", ".join(map(repr, sorted(values, key=str)[:5]))
        raise ValueError(
            f"y must be 1 for normal graphs and -1 for anomalies, got {found}. If 1 marks "
            "anomalies, pass np.where(y == 1, -1, 1); if 0 does, np.where(y == 0, -1, 1)"
        )
    return y


def with_positive(y_true: Any, y_score: Any, positive: str) -> tuple[np.ndarray, np.ndarray]:
    """Targets and scores in the form of scikit-learn's metrics, for either positive class.

    Parameters
    ----------
    y_true : array-like of shape (n_graphs,)
        1 for normal, -1 for anomalies.
    y_score : array-like of shape (n_graphs,)
        Higher for normal.
    positive : {"anomaly", "normal"}

    Returns
    -------
    is_positive : ndarray of shape (n_graphs,), bool
    y_score : ndarray of shape (n_graphs,)
        Higher for positives.

    Raises
    ------
    ValueError
        If `y_true` contains values other than 1 and -1, or only one of them; or if `positive` is
        not a class.

    Examples
    --------
    >>> from skgraphkde.evaluation.metrics import with_positive
    >>> is_positive, y_score = with_positive([1, -1], [0.5, 0.25], "anomaly")
    >>> is_positive.tolist(), y_score.tolist()
    ([False, True], [-0.5, -0.25])
    """
    if positive not in CLASSES:
        raise ValueError(f"positive must be 'anomaly' or 'normal', got {positive!r}")
    y_true = check_target(y_true)
    y_score = check_array(y_score, ensure_2d=False, dtype=float, input_name="y_score")
    y_score = column_or_1d(y_score)
    check_consistent_length(y_true, y_score)
    if len(np.unique(y_true)) < 2:
        kind = "normal" if y_true[0] == 1 else "anomalous"
        raise ValueError(f"all graphs are {kind}: a detection metric needs both kinds")
    return y_true == CLASSES[positive], CLASSES[positive] * y_score
