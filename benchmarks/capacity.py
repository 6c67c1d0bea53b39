"""Capacity grid: width and depth of the encoder under three forms of the density."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.methods import paper_settings
from benchmarks.protocol import evaluate_fold
from benchmarks.render import averaged, of_paper, read_paper, side_by_side

TITLE = "Capacity"
ABOUT = """\
AUROC on MUTAG in percent, paper settings but for what is named: bandwidths with learned weights,
with equal weights, or h = 0.1 alone.
"""
FORMS: dict[str, dict[str, Any]] = {
    "learned": {},
    "fixed": {"learn_weights": False},
    "single": {"bandwidths": (0.1,)},
}
WIDTHS, DEPTHS = (32, 64, 128, 256), (1, 2, 3, 4, 5)


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every form, width and depth on every fold."""
    return [
        {"weights": form, "hidden_dim": width, "n_layers": depth, "fold": fold}
        for fold in range(n_folds)
        for form in FORMS
        for width in WIDTHS
        for depth in DEPTHS
    ]


def estimator(weights: str, hidden_dim: int, n_layers: int, fold: int) -> Any:
    """Paper settings, changed, seeded with the fold."""
    return paper_settings(hidden_dim=hidden_dim, n_layers=n_layers, **FORMS[weights])(fold)


def measure(
    estimator: Any, weights: str, hidden_dim: int, n_layers: int, fold: int
) -> dict[str, float]:
    """One fold."""
    return evaluate_fold(estimator, "MUTAG", fold)


def report(rows: pd.DataFrame) -> str:
    """Widths by depths, a table a form."""
    parts = [ABOUT]
    paper = read_paper("capacity")
    for form, of_form in rows.groupby("weights", sort=False):
        ours = averaged(of_form, ["hidden_dim", "n_layers"], ["auroc"])["auroc"].unstack()
        published = of_paper(paper[paper["weights"] == form], "hidden_dim", "n_layers")
        titles = {depth: f"L = {depth}" for depth in DEPTHS}
        parts += [f"### Weights: {form}", side_by_side(ours, published, titles)]
    return "\n\n".join(parts)
