"""Updates: a model that lives with its graphs beside one that is fitted again."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.protocol import fold as fold_of
from benchmarks.protocol import load
from benchmarks.render import markdown, mean_std
from skgraphkde import GraphKDEDetector, References

TITLE = "Updates of a model"
ABOUT = """\
The defaults are fitted on a half of the training graphs of a fold, at random, which are all normal,
and then get the other half in ten updates (`partial_fit`). "All" keeps all graphs as references,
"window" the last ones and "reservoir" some of all, as many as were fitted. Below, the same without
updates, and fitted again on all graphs. AUROC in percent on the test fold; false alarms are the
share of its normal graphs that `predict` flags, in percent, at contamination 0.1; seconds are those
of all ten updates, beside those of scoring the same graphs in ten parts just before each, and of
the fit. Mean and standard deviation over folds.
"""
UPDATES = 10
ROWS: dict[str, References | None] = {
    "first half": None,
    "updates, all": None,
    "updates, window": References("window"),
    "updates, reservoir": References("reservoir"),
    "fitted again": None,
}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every way on every fold of a few small sets."""
    return [
        {"dataset": dataset, "method": method, "fold": fold}
        for dataset in datasets or ("MUTAG", "BZR", "IMDB-BINARY", "AIDS")
        for method in ROWS
        for fold in range(n_folds)
    ]


def estimator(dataset: str, method: str, fold: int) -> GraphKDEDetector:
    """The defaults, with references that are bounded or not."""
    return GraphKDEDetector(references=ROWS[method], random_state=fold)


def measure(estimator: GraphKDEDetector, dataset: str, method: str, fold: int) -> dict[str, float]:
    """One fold."""
    train, test, y = fold_of(load(dataset), fold)
    train = train[np.random.RandomState(fold).permutation(len(train))]
    half = len(train) // 2
    if ROWS[method] is not None:
        estimator.set_params(references__max_references=half)
    start = time.perf_counter()
    estimator.fit(train if method == "fitted again" else train[:half])
    values = {"fit_seconds": time.perf_counter() - start}
    values |= _updated(estimator, train[half:] if method.startswith("updates") else None)
    scores = estimator.score_samples(test)
    values["auroc"] = 100 * roc_auc_score(y, scores)
    values["false_alarms"] = 100 * float((scores[y == 1] < estimator.offset_).mean())
    return values


def _updated(detector: GraphKDEDetector, graphs: Any) -> dict[str, float]:
    """Update, if there are graphs, and say how long it took, and scoring the same graphs."""
    if graphs is None:
        return {"score_seconds": np.nan, "update_seconds": np.nan}
    seconds = {"score_seconds": 0.0, "update_seconds": 0.0}
    for part in np.array_split(np.arange(len(graphs)), UPDATES):
        for name, call in (
            ("score_seconds", detector.score_samples),
            ("update_seconds", detector.partial_fit),
        ):
            start = time.perf_counter()
            call(graphs[part])
            seconds[name] += time.perf_counter() - start
    return seconds


def report(rows: pd.DataFrame) -> str:
    """One row per data set and way."""
    lines = []
    for (dataset, method), of_row in rows.groupby(["dataset", "method"], sort=False):
        line = {"dataset": dataset, "method": method}
        line |= {
            "AUROC": mean_std(of_row["auroc"]),
            "false alarms": mean_std(of_row["false_alarms"]),
        }
        for name in ("update", "score", "fit"):
            column = of_row.get(f"{name}_seconds", pd.Series(dtype=float))
            line[f"seconds, {name}"] = mean_std(column, 2)
        lines.append(line)
    return f"{ABOUT}\n\n{markdown(pd.DataFrame(lines), index=False)}"
