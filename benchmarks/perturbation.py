"""Perturbation ablation: what the twins differ in."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.methods import paper_detector
from benchmarks.protocol import METRICS, evaluate_fold
from benchmarks.render import averaged, of_paper, read_paper, side_by_side

TITLE = "Perturbation ablation"
ABOUT = """\
The settings of the paper except for the twins: swapped features, a bent spectrum, a fifth of the
edges at random, or features and spectrum; "none" is the untrained encoder. Percent. The paper does
not say which class its AUPRC takes for positive; ours is of the normal graphs.
"""
KINDS = ("features", "spectrum", "random_edges", "both", "none")


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every kind of twin on every fold."""
    return [
        {"dataset": dataset, "perturbation": kind, "fold": fold}
        for dataset in datasets or ("MUTAG", "PROTEINS")
        for fold in range(n_folds)
        for kind in KINDS
    ]


def estimator(dataset: str, perturbation: str, fold: int) -> Any:
    """The settings of the paper with other twins, seeded with the fold."""
    if perturbation == "none":
        return paper_detector(training=None)(fold)
    return paper_detector(training__twins=perturbation)(fold)


def measure(estimator: Any, dataset: str, perturbation: str, fold: int) -> dict[str, float]:
    """One fold."""
    return evaluate_fold(estimator, dataset, fold)


def report(rows: pd.DataFrame) -> str:
    """One table per data set."""
    parts = [ABOUT]
    paper = read_paper("perturbation")
    for dataset, of_dataset in rows.groupby("dataset", sort=False):
        ours = averaged(of_dataset, "perturbation", METRICS)
        ours = ours.rename(columns={"auprc_normal": "auprc"})
        published = of_paper(paper[paper["dataset"] == dataset], "perturbation", "metric")
        n_folds = of_dataset["fold"].nunique()
        parts.append(f"### {dataset}, {n_folds} fold{'s' * (n_folds > 1)}")
        parts.append(side_by_side(ours, published, {"auroc": "AUROC", "auprc": "AUPRC, normal"}))
    return "\n\n".join(parts)
