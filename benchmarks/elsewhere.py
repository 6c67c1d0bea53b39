"""Graphs from elsewhere: sets of views on suites of tasks that a benchmark has not tuned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import suites
from benchmarks.peers.statistics import StatisticsDetector
from benchmarks.render import markdown
from skgraphkde import MMD, Density, GraphKDEDetector, Split

TITLE = "Graphs from elsewhere"
ABOUT = """\
AUROC in percent, mean over folds, and the share of fresh normal graphs that are flagged at
`contamination=0.1`. **T**: the twelve sets of the detection table; their labels chose the defaults.
**O**: eight of them with the other class for the anomaly. **R**: eight real tasks from outside of
the collection, with the schema that a user would write. **P**: fit on one collection, find another,
by structure alone. Large sets are subsampled (`benchmarks/suites.py`). *General* was found on one
half of the sets (every second one, in both orientations), and its views are no defaults yet.
"""

GENERAL = (
    Density(MMD(estimator="biased")),
    Density(MMD(gammas=(1.0,), estimator="unbiased")),
    "tanimoto",
    "neighbors",
    "statistics",
)


def _general(*more: str, without: int | None = None) -> Callable[[bool], GraphKDEDetector]:
    views = tuple(view for i, view in enumerate(GENERAL) if i != without)
    return lambda has_numbers: GraphKDEDetector(
        views=(*views, *more, *("numbers",) * has_numbers), random_state=0
    )


def _statistics(detector: str) -> Callable[[bool], StatisticsDetector]:
    return lambda has_numbers: StatisticsDetector(
        detector, calibration=Split(fraction=0.3), random_state=0
    )


#: Names -> functions that make the detector, from whether the graphs have numbers.
METHODS: dict[str, Callable[[bool], Any]] = {
    "defaults": lambda has_numbers: GraphKDEDetector(random_state=0),
    "general": _general(),
    "general and novelty": _general("novelty"),
    **{
        f"general without {name}": _general(without=i)
        for i, name in enumerate(("biased", "unbiased", "tanimoto", "neighbors", "statistics"))
    },
    "statistics, neighbors": _statistics("neighbors"),
    "statistics, Mahalanobis": _statistics("mahalanobis"),
    "statistics, isolation forest": _statistics("forest"),
}
SUITES = {"T": "main orientation", "O": "other orientation", "R": "real tasks", "P": "pairs"}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every fold; `datasets` are cases such as "R/zoo"."""
    return [
        {"dataset": case, "method": method, "fold": fold}
        for case in datasets or suites.CASES
        for method in METHODS
        for fold in range(min(n_folds, suites.n_folds(case)))
    ]


def estimator(dataset: str, method: str, fold: int) -> Any:
    """The method; only graphs with numbers get the view of numbers."""
    suite, name = dataset.split("/")
    schema = suites.PEOPLE[name] if suite == "R" else None
    numbers = ("node_numbers", "edge_numbers")
    has_numbers = schema is not None and any(schema.named(kind) for kind in numbers)
    return METHODS[method](has_numbers)


def measure(estimator: Any, dataset: str, method: str, fold: int) -> dict[str, float]:
    """AUROC and false alarms of one fold."""
    train, test, y = suites.fold(dataset, fold)
    scores = estimator.fit(train).score_samples(test)
    flagged = scores[y == 1] < estimator.offset_
    auroc = round(100 * roc_auc_score(y, scores), 4)
    return {"auroc": auroc, "false_alarms": round(float(np.mean(flagged)), 4)}


def report(rows: pd.DataFrame) -> str:
    """A table of suites, then one of cases for each suite."""
    methods = [method for method in METHODS if (rows["method"] == method).any()]
    suite = rows["dataset"].str[0]
    parts = [ABOUT]
    for value, digits in (("auroc", 1), ("false_alarms", 3)):
        of_case = rows.pivot_table(value, "method", "dataset", sort=False).loc[methods]
        means = of_case.T.groupby(of_case.columns.str[0], sort=False).mean().T
        parts += [f"### {value.replace('_', ' ')}", markdown(means.round(digits))]
    for name, about in SUITES.items():
        some = rows[suite == name]
        if len(some):
            table = some.pivot_table("auroc", "method", "dataset", sort=False)
            found = [method for method in methods if method in table.index]
            parts += [f"### {name}: {about}", markdown(table.loc[found].round(1))]
    return "\n\n".join(parts)
