"""Capacity grid: width and depth of the encoder under three forms of the density."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.methods import paper_detector
from benchmarks.protocol import evaluate_fold
from benchmarks.render import averaged, of_paper, read_paper, side_by_side
from skgraphkde import GCN

TITLE = "Capacity"
ABOUT = """\
AUROC on MUTAG in percent, at the settings of the paper except for width and depth of the encoder
and the density: bandwidths with learned weights, with equal weights, or h = 0.1 alone.
"""
FORMS: dict[str, dict[str, Any]] = {
    "learned": {},
    "fixed": {"training__learn_weights": False},
    "single": {"views__kernels__bandwidths": (0.1,)},
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
    """The changed settings of the paper, seeded with the fold."""
    encoder = GCN(hidden_dim=hidden_dim, n_layers=n_layers)
    return paper_detector(encoder=encoder, **FORMS[weights])(fold)


def measure(
    estimator: Any, weights: str, hidden_dim: int, n_layers: int, fold: int
) -> dict[str, float]:
    """One fold."""
    return evaluate_fold(estimator, "MUTAG", fold)


def report(rows: pd.DataFrame) -> str:
    """Widths by depths, one table per form."""
    parts = [ABOUT]
    paper = read_paper("capacity")
    for form, of_form in rows.groupby("weights", sort=False):
        ours = averaged(of_form, ["hidden_dim", "n_layers"], ["auroc"])["auroc"].unstack()
        published = of_paper(paper[paper["weights"] == form], "hidden_dim", "n_layers")
        titles = {depth: f"L = {depth}" for depth in DEPTHS}
        parts += [f"### Weights: {form}", side_by_side(ours, published, titles)]
    return "\n\n".join(parts)
