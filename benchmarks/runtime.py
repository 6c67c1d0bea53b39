"""Runtime: fit and score, end to end. Nothing else may compute meanwhile: take --jobs 1."""

from itertools import product
from typing import Any

import pandas as pd

from benchmarks.methods import METHODS, seeded
from benchmarks.protocol import evaluate_fold
from benchmarks.render import averaged, markdown, of_paper, read_paper

TITLE = "Runtime"
ABOUT = """\
Seconds to fit a training fold and to score the test fold, in one run, with all cores; with
training, the mean number of epochs follows. In italics: the paper's figures, of an NVIDIA RTX 4090,
for the whole of training and testing. Empty cells did not run. In parentheses: folds.
"""
DATASETS = ("MUTAG", "PROTEINS", "NCI1", "COLLAB", "REDDIT-BINARY")


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every fold; the first three data sets by default."""
    grid = product(datasets or DATASETS[:3], range(n_folds), METHODS)
    return [{"dataset": name, "method": method, "fold": fold} for name, fold, method in grid]


estimator = seeded(METHODS)


def measure(estimator: Any, dataset: str, method: str, fold: int) -> dict[str, float]:
    """One fold: its metrics, seconds and number of epochs."""
    values = evaluate_fold(estimator, dataset, fold)
    losses = getattr(estimator, "history_", {}).get("loss") or getattr(estimator, "losses_", [0])
    total = round(values["fit_seconds"] + values["score_seconds"], 3)
    return values | {"total_seconds": total, "epochs": len(losses) - 1}


def report(rows: pd.DataFrame) -> str:
    """Methods by data sets, the paper's below."""
    ours = pd.DataFrame(
        {name: _of_dataset(rows) for name, rows in rows.groupby("dataset", sort=False)},
        index=[method for method in METHODS if method in set(rows["method"])],
    ).fillna("")
    ours.index.name = "method"
    paper = of_paper(read_paper("runtime"), "method", "dataset")
    paper = ("*" + paper + "*").rename(index=lambda name: f"*{name}, in the paper*")
    n_folds = rows.groupby("dataset")["fold"].nunique()
    table = pd.concat([ours, paper]).reindex(columns=list(DATASETS))
    table = table.rename(columns={name: f"{name} ({n_folds.get(name, 0)})" for name in DATASETS})
    return markdown(table)


def _of_dataset(rows: pd.DataFrame) -> pd.Series:
    """Seconds of each method, and epochs."""
    seconds = averaged(rows, "method", ["total_seconds"])["total_seconds"]
    epochs = rows.groupby("method", sort=False)["epochs"].mean()
    return seconds + epochs.map(lambda n: f", {n:.0f} epochs" if n else "")
