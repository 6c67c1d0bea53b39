"""Fewer references: what a sample of the training graphs costs and saves."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.methods import paper_settings
from benchmarks.protocol import evaluate_fold
from benchmarks.render import averaged, markdown, read_paper

TITLE = "Reference sampling"
ABOUT = """\
PROTEINS, paper settings but for the references; a sample is drawn once the encoder is trained, so
that training takes as long as ever and scoring gets faster. AUROC in percent; speed-up of scoring
against all references, the mean of the ratios of the same fold, measured in one run. The paper's
speed-up is that of the whole.
"""
SAMPLINGS = ("stratified", "importance", "uniform")
RATIOS = (0.8, 0.5, 0.3)


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """All references, then every sampling and ratio, on every fold."""
    kinds = [("all", 1.0), *((sampling, ratio) for sampling in SAMPLINGS for ratio in RATIOS)]
    return [
        {"trained": trained, "sampling": sampling, "ratio": ratio, "fold": fold}
        for trained in (False, True)
        for fold in range(n_folds)
        for sampling, ratio in kinds
    ]


def estimator(trained: bool, sampling: str, ratio: float, fold: int) -> Any:
    """Paper settings with fewer references, seeded with the fold."""
    changes: dict[str, Any] = {} if trained else {"max_iter": 0}
    if sampling != "all":
        changes |= {"reference_sampling": sampling, "reference_ratio": ratio}
    return paper_settings(**changes)(fold)


def measure(
    estimator: Any, trained: bool, sampling: str, ratio: float, fold: int
) -> dict[str, float]:
    """One fold."""
    return evaluate_fold(estimator, "PROTEINS", fold)


def report(rows: pd.DataFrame) -> str:
    """A table for the trained and one for the untrained encoder."""
    by = ["sampling", "ratio"]
    paper = read_paper("sampling").set_index(by)
    parts = [ABOUT]
    for trained, of_kind in rows.groupby("trained"):
        full = of_kind[of_kind["sampling"] == "all"].set_index("fold")["score_seconds"]
        of_kind = of_kind.assign(speedup=of_kind["fold"].map(full) / of_kind["score_seconds"])
        table = averaged(of_kind, by, ["auroc"]).join(averaged(of_kind, by, ["speedup"], 2))
        if trained:
            table["*AUROC, paper*"] = paper["auroc"].map("*{:.1f}*".format)
            table["*speed-up, paper*"] = paper["speedup"].dropna().map("*{:.2f}*".format)
        n_folds = of_kind["fold"].nunique()
        title = "Trained" if trained else "Untrained"
        parts.append(f"### {title}, {n_folds} fold{'s' * (n_folds > 1)}")
        table.index = [f"{sampling}, {ratio:g}" for sampling, ratio in table.index]
        parts.append(markdown(table.rename(columns={"auroc": "AUROC", "speedup": "speed-up"})))
    return "\n\n".join(parts)
