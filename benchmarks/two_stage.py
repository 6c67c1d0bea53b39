"""Two stages: representations learned for something else, then a density or a detector."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.methods import DEEP, METHODS, PAPER_NAMES
from benchmarks.protocol import METRICS, evaluate_fold
from benchmarks.render import averaged, of_paper, read_paper, side_by_side

TITLE = "Two-stage methods"
ABOUT = """\
MUTAG, percent; methods as in the detection table. The text of the paper does not say which class
its AUPRC takes for positive: ours is given for both. Its code takes the anomalies, which are 72% of
its test graphs and 34% of ours. The figures of LGKDE, InfoGraph and GAE fit the first share, those
of the kernels the second.
"""


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every fold; the detection table has the deep detectors."""
    methods = [method for method in METHODS if method not in DEEP]
    return [{"method": method, "fold": fold} for method in methods for fold in range(n_folds)]


def estimator(method: str, fold: int) -> Any:
    """The method, seeded with the fold."""
    return METHODS[method](fold)


def measure(estimator: Any, method: str, fold: int) -> dict[str, float]:
    """One fold."""
    return evaluate_fold(estimator, "MUTAG", fold)


def report(rows: pd.DataFrame) -> str:
    """One table."""
    ours = averaged(rows, "method", METRICS)
    paper = of_paper(read_paper("two_stage"), "method", "metric")
    paper = paper.rename(index={name: ours for ours, name in PAPER_NAMES.items()})
    paper = paper.rename(columns={"auprc": "auprc_normal"})
    titles = {
        "auroc": "AUROC",
        "auprc_anomaly": "AUPRC, anomaly",
        "auprc_normal": "AUPRC, normal",
        "fpr95": "FPR95",
    }
    return f"{ABOUT}\n\n{side_by_side(ours, paper, titles)}"
