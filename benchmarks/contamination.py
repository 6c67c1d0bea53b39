"""Contamination: anomalies among the training graphs, and what is left of the density gap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.methods import METHODS
from benchmarks.protocol import N_FOLDS, evaluate, load
from benchmarks.render import averaged, of_paper, read_paper, side_by_side
from skgraphkde import GraphBatch
from skgraphkde.model_selection import OneClassKFold

TITLE = "Contamination and density gap"
ABOUT = """\
MUTAG: anomalies of the training folds, drawn at random, are trained on as if they were normal; a
training fold has 100 normal graphs and 50 anomalies. Densities are means over the graphs of the
test fold; their scale depends on the method, so compare within a table. Those of the defaults are
no densities but products of p-values. The paper does not say how its densities are scaled.
"""
COUNTS = (0, 5, 10, 20, 30, 40, 50)
ROWS = ("paper settings", "paper settings, untrained", "defaults")


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every number of anomalies on every fold."""
    return [
        {"method": method, "n_anomalies": count, "fold": fold}
        for method in ROWS
        for count in COUNTS
        for fold in range(n_folds)
    ]


def estimator(method: str, n_anomalies: int, fold: int) -> Any:
    """The method, seeded with the fold."""
    return METHODS[method](fold)


def measure(estimator: Any, method: str, n_anomalies: int, fold: int) -> dict[str, float]:
    """One fold."""
    mutag = load("MUTAG")
    splitter = OneClassKFold(N_FOLDS, shuffle=True, random_state=0)
    train, test = list(splitter.split(mutag.graphs, mutag.target))[fold]
    left = np.setdiff1d(np.flatnonzero(mutag.target == -1), test)
    smuggled = np.random.RandomState(fold).permutation(left)[:n_anomalies]
    graphs = GraphBatch.concatenate([mutag.graphs[train], mutag.graphs[smuggled]])
    y = mutag.target[test]
    values = evaluate(estimator, graphs, mutag.graphs[test], y)
    density = np.exp(estimator.score_samples(mutag.graphs[test]))
    values |= {"normal": density[y == 1].mean(), "anomaly": density[y == -1].mean()}
    return values | {"gap": values["normal"] - values["anomaly"]}


def report(rows: pd.DataFrame) -> str:
    """One table per method."""
    parts = [ABOUT]
    paper = of_paper(read_paper("contamination"), "n_anomalies", "quantity", 3)
    titles = {
        "auroc": "AUROC",
        "normal": "density of normal graphs",
        "anomaly": "of anomalies",
        "gap": "gap",
    }
    for method, of_method in rows.groupby("method", sort=False):
        ours = averaged(of_method, "n_anomalies", ["normal", "anomaly", "gap"], 3)
        ours["auroc"] = averaged(of_method, "n_anomalies", ["auroc"])["auroc"]
        parts += [f"### {method}", side_by_side(ours, paper, titles)]
    return "\n\n".join(parts)
