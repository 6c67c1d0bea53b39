"""Detection: the paper's three main tables, with the peers in the same run on the same folds."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.methods import METHODS, PAPER_NAMES
from benchmarks.protocol import DATASETS, METRICS, SMALL, evaluate_fold
from benchmarks.render import against_paper, read_paper

TITLE = "Detection"
ABOUT = """\
Five folds over the classes; fitted on the graphs of four folds that are not of the anomaly class,
scored on the fifth. Mean and standard deviation over the folds, in percent (the paper's are over
five runs). Labels of these data sets were used to choose the defaults, so the row *defaults* and
its mean are optimistic. *Paper settings* are `paper_settings()`; *untrained* is the same with
`training=None`. The *floor* is the features of the nodes alone, without convolution, in the biased
MMD. In italics, below ours: the figure of the paper. The number of folds is in parentheses after a
data set, and after a figure that has fewer. Empty cells did not run.
"""
# The paper does not say which class its AUPRC takes for positive: its figures stand below both.
PAPER_TABLE = {
    "auroc": "auroc",
    "auprc_anomaly": "auprc",
    "auprc_normal": "auprc",
    "fpr95": "fpr95",
}
CAPTIONS = {
    "auroc": "AUROC",
    "auprc_anomaly": "AUPRC, anomalies positive",
    "auprc_normal": "AUPRC, normal graphs positive",
    "fpr95": "FPR at 95% TPR, anomalies positive (lower is better)",
}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every fold, the first fold of all first, the cheap data sets first."""
    return [
        {"dataset": dataset, "method": method, "fold": fold}
        for fold in range(n_folds)
        for dataset in datasets or SMALL
        for method in METHODS
    ]


def estimator(dataset: str, method: str, fold: int) -> Any:
    """The method, seeded with the fold."""
    return METHODS[method](fold)


def measure(estimator: Any, dataset: str, method: str, fold: int) -> dict[str, float]:
    """One fold."""
    return evaluate_fold(estimator, dataset, fold)


def report(rows: pd.DataFrame) -> str:
    """One table per metric: methods by data sets, then mean and mean rank."""
    parts = [ABOUT]
    for metric in METRICS:
        paper = read_paper(PAPER_TABLE[metric])
        table = against_paper(rows, metric, DATASETS, list(METHODS), paper, PAPER_NAMES)
        parts += [f"### {CAPTIONS[metric]}", table]
    return "\n\n".join(parts)
