"""Detection with the other class for the anomaly, on sets where others may take it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.methods import METHODS
from benchmarks.protocol import METRICS, OTHER_CLASS, evaluate_fold
from benchmarks.render import averaged, markdown

TITLE = "Detection, the other class the anomaly"
ABOUT = """\
As in the detection table, but with the other class the anomaly; in percent. The paper has no such
figures: its anomalies are the smaller class, as in the detection table. A method that is good in
one table and bad in the other follows size, or something else that one class has more of.
"""


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every fold."""
    return [
        {"dataset": dataset, "method": method, "fold": fold}
        for dataset in datasets or ("AIDS", "BZR", "COX2", "DHFR", "PROTEINS")
        for method in METHODS
        for fold in range(n_folds)
    ]


def estimator(dataset: str, method: str, fold: int) -> Any:
    """The method, seeded with the fold."""
    return METHODS[method](fold)


def measure(estimator: Any, dataset: str, method: str, fold: int) -> dict[str, float]:
    """One fold."""
    return evaluate_fold(estimator, dataset, fold, OTHER_CLASS[dataset])


def report(rows: pd.DataFrame) -> str:
    """One table per data set."""
    parts = [ABOUT]
    for dataset, of_dataset in rows.groupby("dataset", sort=False):
        title = f"{dataset}, anomaly class {OTHER_CLASS[dataset]}"
        parts += [f"### {title}", markdown(averaged(of_dataset, "method", METRICS))]
    return "\n\n".join(parts)
