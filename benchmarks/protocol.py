"""The protocol of every accuracy table: which graphs are trained on, which are scored, and how.

Five stratified folds over the classes; one class is the anomaly; fit on the other graphs of four
folds, score the fifth whole. No label reaches fit.
"""

import functools
import time
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve
from sklearn.utils import Bunch

from skgraphkde.datasets import fetch_tu_dataset
from skgraphkde.model_selection import OneClassKFold

#: In the order of the paper's tables.
DATASETS = ["MUTAG", "PROTEINS", "DD", "ENZYMES", "DHFR", "BZR", "COX2", "AIDS", "IMDB-BINARY"]
DATASETS += ["NCI1", "COLLAB", "REDDIT-BINARY"]
#: The sets that two cores finish in hours, the cheapest first.
SMALL = ["MUTAG", "IMDB-BINARY", "BZR", "COX2", "AIDS", "ENZYMES", "DHFR", "PROTEINS", "NCI1"]
#: Further sets of the paper, which are measured where somebody has their files.
FURTHER = ["Mutagenicity", "NCI109", "FRANKENSTEIN", "Tox21_AhR_training"]
#: Sets with two classes, which are measured in both orientations.
BOTH = ("MUTAG", "BZR", "COX2", "DHFR", "PROTEINS", "AIDS", "IMDB-BINARY", "NCI1")
#: What follows the name of a set whose other class is the anomaly.
OTHER = ", other class"
METRICS = ("auroc", "auprc_anomaly", "auprc_normal", "fpr95")
N_FOLDS = 5


@functools.lru_cache(maxsize=2)
def load(dataset: str, anomaly_class: int | None = None) -> Bunch:
    """A data set of the TU collection; it stays in memory for the next cell.

    With ", other class" after its name, the anomaly is the class that else is normal. For a set
    that the twelve do not have, it is the rarest class.
    """
    name = dataset.removesuffix(OTHER)
    data = fetch_tu_dataset(name, anomaly_class=anomaly_class)
    if data.anomaly_class is None:
        classes, counts = np.unique(data.classes, return_counts=True)
        data = fetch_tu_dataset(name, anomaly_class=int(classes[counts.argmin()]))
    if name == dataset:
        return data
    (other,) = {*data.classes.tolist()} - {data.anomaly_class}
    return fetch_tu_dataset(name, anomaly_class=other)


def split(data: Bunch, index: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the training graphs and of the test graphs of one of the five folds."""
    kfold = OneClassKFold(5, shuffle=True, random_state=0, anomaly_class=data.anomaly_class)
    folds = kfold.split(data.graphs, data.classes)
    return list(folds)[index]


def fold(data: Bunch, index: int) -> tuple[Any, Any, np.ndarray]:
    """Training graphs, test graphs and targets of the test graphs of one of the five folds."""
    train, test = split(data, index)
    return data.graphs[train], data.graphs[test], data.target[test]


def evaluate(estimator: Any, train: Any, test: Any, y_test: np.ndarray) -> dict[str, float]:
    """Fit, score and evaluate: metrics in percent, and the seconds of fitting and scoring."""
    scores, seconds = fit_and_score(estimator, train, test)
    return metrics(y_test, scores) | seconds


def fit_and_score(estimator: Any, train: Any, test: Any) -> tuple[np.ndarray, dict[str, float]]:
    """Scores of the test graphs, and the seconds of fitting and scoring."""
    times = [time.perf_counter()]
    estimator.fit(train)
    times.append(time.perf_counter())
    scores = estimator.score_samples(test)
    times.append(time.perf_counter())
    fit, score = np.diff(times).round(3).tolist()
    return scores, {"fit_seconds": fit, "score_seconds": score}


def metrics(y: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """METRICS in percent, for targets of 1 and -1 and scores that are higher for normal graphs."""
    fpr, tpr, _ = roc_curve(y == -1, -scores, drop_intermediate=False)
    values = {
        "auroc": roc_auc_score(y, scores),
        "auprc_anomaly": average_precision_score(y == -1, -scores),
        "auprc_normal": average_precision_score(y == 1, scores),
        "fpr95": fpr[np.searchsorted(tpr, 0.95 - 1e-12)],
    }
    return {name: round(100 * float(value), 4) for name, value in values.items()}


def evaluate_fold(estimator: Any, dataset: str, index: int) -> dict[str, float]:
    """The same for one fold of a data set."""
    return evaluate(estimator, *fold(load(dataset), index))
