"""Detection: the paper's three main tables, with the peers in the same run on the same folds."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import protocol
from benchmarks.methods import DEEP, METHODS, PAPER_NAMES, seeded
from benchmarks.protocol import BOTH, DATASETS, FURTHER, METRICS, OTHER, SMALL, evaluate, load
from benchmarks.render import against_paper, markdown, mean_std, read_paper, rounded

TITLE = "Detection"
ABOUT = """\
Five folds over the classes; fitted on the normal graphs of four, scored on the fifth. Mean and
standard deviation over the folds, in percent (the paper's are over five runs). Labels of these data
sets were used to choose the defaults, so their mean is optimistic. *Paper settings* are
`LGKDE.published()`; the *floor* is the features of the nodes alone, without convolution, in the
biased MMD. In italics, below ours: the figure of the paper. The number of folds is in parentheses
after a data set, and after a figure that has fewer. Empty cells did not run.
"""
BEST_EPOCH = "auroc_best_epoch"
ABOUT_EPOCHS = """\
AUROC of the epoch with the lowest held-out loss, as above; of the epoch that is best on the test
fold, which needs its labels and is **no result**; and, in italics, the paper's figure.
"""
ABOUT_ORIENTATIONS = """\
AUROC on sets of two classes, with either for the anomaly; above, it is the smaller one. A method
that is good in one orientation and bad in the other follows size, or something else that one class
has more of.
"""
CAPTIONS = {
    "auroc": "AUROC",
    "auprc_anomaly": "AUPRC, anomalies positive",
    "auprc_normal": "AUPRC, normal graphs positive",
    "fpr95": "FPR at 95% TPR, anomalies positive (lower is better)",
}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every fold, the first fold of all first, the cheap data sets first."""
    names = datasets or SMALL
    sets = [*names, *(name + OTHER for name in names if name in BOTH)]
    grid = product(range(n_folds), sets, METHODS)
    return [{"dataset": name, "method": method, "fold": fold} for fold, name, method in grid]


estimator = seeded(METHODS)


def measure(estimator: Any, dataset: str, method: str, fold: int) -> dict[str, float]:
    """One fold; for deep detectors also the AUROC of the epoch that is best on the test fold."""
    train, test, y = protocol.fold(load(dataset), fold)
    values, best = evaluate(estimator, train, test, y), np.nan
    if method in DEEP:
        of_epochs = estimator.scores_by_epoch(test)
        best = round(100 * max(roc_auc_score(y, scores) for scores in of_epochs), 4)
    return {**values, BEST_EPOCH: best}


def report(rows: pd.DataFrame) -> str:
    """One table per metric: methods by data sets, then mean and mean rank."""
    parts = []
    measured = set(rows["dataset"])
    names = [*DATASETS, *(name for name in FURTHER if name in measured)]
    for metric in METRICS:
        # The paper does not say which class its AUPRC takes for positive: it stands below both.
        paper = read_paper(metric.partition("_")[0])
        table = against_paper(rows, metric, names, list(METHODS), paper, PAPER_NAMES, DEEP)
        parts += [f"### {CAPTIONS[metric]}", table]
    parts += ["### Both orientations", _of_orientations(rows)]
    parts += ["### Deep detectors, and the epoch that labels would choose", _of_epochs(rows)]
    parts += ["### All methods on the folds that all have", _on_common_folds(rows)]
    return "\n\n".join(parts)


def _of_orientations(rows: pd.DataFrame) -> str:
    """AUROC with either class of a set for the anomaly, and the mean of both."""
    lines = []
    for method in METHODS:
        auroc = rows[rows["method"] == method].groupby("dataset")["auroc"].mean()
        main, other = auroc.reindex(BOTH), auroc.reindex([name + OTHER for name in BOTH])
        other.index = main.index
        if other.notna().any():
            for title, of_sets in (("", main), (OTHER, other), (", mean", (main + other) / 2)):
                mean = of_sets.mean() if other.notna().all() else np.nan
                lines.append({"method": method + title, **of_sets, "mean": mean})
    return f"{ABOUT_ORIENTATIONS}\n\n{rounded(pd.DataFrame(lines), index=False)}"


def _on_common_folds(rows: pd.DataFrame) -> str:
    """Mean AUROC and mean rank of all methods, deep ones included, on the folds that all have."""
    rows = rows[rows["dataset"].isin(DATASETS)]
    auroc = rows.pivot_table(index=["dataset", "fold"], columns="method", values="auroc")
    auroc = auroc.reindex(columns=[x for x in METHODS if x in auroc]).dropna()
    of_dataset = auroc.groupby(level="dataset").mean()
    ranks = of_dataset.rank(axis=1, ascending=False).mean()
    table = pd.DataFrame({"mean AUROC": of_dataset.mean(), "mean rank": ranks})
    n_folds = auroc.groupby(level="dataset").size()
    folds = ", ".join(f"{name} ({n_folds[name]})" for name in DATASETS if name in n_folds)
    return f"{rounded(table)}\n\nFolds of each data set: {folds}."


def _of_epochs(rows: pd.DataFrame) -> str:
    """AUROC of the epoch that the held-out loss chose, of the best on the test fold, published."""
    paper = read_paper("auroc").set_index(["method", "dataset"])["mean"]
    lines = []
    for method in DEEP:
        of_method = rows[rows["method"] == method].groupby("dataset")
        for title, column in (("", "auroc"), (", best epoch on the test fold", BEST_EPOCH)):
            cells = {name: mean_std(values) for name, values in of_method[column]}
            lines.append({"method": method + title, **cells})
        figures = {name: f"*{paper[method, name]:.1f}*" for name, _ in of_method}
        lines.append({"method": "*in the paper*", **figures})
    table = pd.DataFrame(lines)
    table = table.reindex(columns=["method", *[name for name in DATASETS if name in table]])
    return f"{ABOUT_EPOCHS}\n\n{markdown(table, index=False)}"
