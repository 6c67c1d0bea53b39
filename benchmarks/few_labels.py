"""A few known anomalies: what they are worth for the choice of settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, ParameterGrid

from benchmarks import protocol
from benchmarks.protocol import evaluate, load
from benchmarks.render import markdown, mean_std
from skgraphkde import MMD, Density, GraphBatch, GraphKDEDetector
from skgraphkde.evaluation import OneClassKFold, get_detection_scorer

TITLE = "A few known anomalies"
ABOUT = """\
AUROC in percent on the test folds. Some anomalies of the training folds are known; a grid search
over six settings takes the one with the best AUROC in five one-class folds of the training graphs
and these anomalies, and fits it to the normal training graphs. No graph of a test fold has a part
in it. *None* are the defaults. The last row is the best of the six on each test fold, which no
search can know. The known anomalies are drawn anew in each of five folds.
"""
DATASETS = ("PROTEINS", "ENZYMES", "BZR")
NUMBERS = (0, 5, 10, 20)
BEST = -1
BIASED, CORRECTED = Density(MMD(estimator="biased")), Density(MMD(gammas=(1.0,)))
GRID = {
    "views": [
        (*densities, *others)
        for densities in ((BIASED, CORRECTED), (BIASED,), (CORRECTED,))
        for others in (("novelty",), ())
    ]
}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every number of known anomalies on every fold; -1 is the best on the test fold."""
    return [
        {"dataset": dataset, "n_known": n, "fold": index}
        for index in range(n_folds)
        for dataset in datasets or DATASETS
        for n in (*NUMBERS, BEST)
    ]


def estimator(dataset: str, n_known: int, fold: int) -> GridSearchCV:
    """The search."""
    return GridSearchCV(
        GraphKDEDetector(random_state=fold),
        GRID,
        scoring=get_detection_scorer("auroc"),
        cv=OneClassKFold(5, shuffle=True, random_state=fold),
        refit=False,
        error_score="raise",
    )


def measure(estimator: GridSearchCV, dataset: str, n_known: int, fold: int) -> dict[str, float]:
    """Choose the settings, fit them and score the test fold."""
    data = load(dataset)
    train, test, y_test = protocol.fold(data, fold)
    if n_known == BEST:
        settings = ParameterGrid(GRID)
        values = [_evaluate(estimator, x, train, test, y_test) for x in settings]
        return max(values, key=lambda x: x["auroc"])
    chosen: dict[str, Any] = {}
    if n_known:
        known = _anomalies(data, fold, n_known)
        graphs = GraphBatch.concatenate([train, known])
        y = np.repeat([1, -1], [len(train), len(known)])
        chosen = estimator.fit(graphs, y).best_params_
    return _evaluate(estimator, chosen, train, test, y_test)


def _evaluate(estimator: GridSearchCV, settings: dict, *data: Any) -> dict[str, float]:
    detector = GraphKDEDetector(**estimator.estimator.get_params(deep=False) | settings)
    return evaluate(detector, *data)


def _anomalies(data: Any, fold: int, n_known: int) -> GraphBatch:
    """Anomalies of the training folds."""
    _, test = protocol.split(data, fold)
    outside = np.setdiff1d(np.flatnonzero(data.target == -1), test)
    return data.graphs[np.random.RandomState(fold).permutation(outside)[:n_known]]


def report(rows: pd.DataFrame) -> str:
    """AUROC by number of known anomalies and data set."""
    names = {n: str(n) if n else "none" for n in NUMBERS} | {BEST: "best on the test fold"}
    table = pd.DataFrame(
        {
            dataset: {
                names[n]: mean_std(x["auroc"]) for n, x in of_set.groupby("n_known", sort=False)
            }
            for dataset, of_set in rows.groupby("dataset", sort=False)
        }
    ).reindex(list(names.values()))
    table.index.name = "known anomalies"
    return f"{ABOUT}\n\n{markdown(table)}"
