"""Fewer references: what a sample of the training graphs costs and saves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.methods import paper_detector
from benchmarks.protocol import evaluate_fold
from benchmarks.render import averaged, markdown, read_paper
from skgraphkde import References

TITLE = "Reference sampling"
ABOUT = """\
PROTEINS, the settings of the paper except for the references, in mini-batches and in the density.
AUROC in percent; speed-up of scoring and of an epoch of training over all references, as means of
the ratios of the same fold, measured in one run. The paper's speed-up is that of the whole.
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
    """The settings of the paper with fewer references, seeded with the fold."""
    changes: dict[str, Any] = {} if trained else {"training": None}
    if sampling != "all":
        changes |= {"references": References(sampling, ratio)}
    return paper_detector(**changes)(fold)


def measure(
    estimator: Any, trained: bool, sampling: str, ratio: float, fold: int
) -> dict[str, float]:
    """One fold."""
    values = evaluate_fold(estimator, "PROTEINS", fold)
    epochs = estimator.history_.get("seconds", [])[1:]
    return values | {"epoch_seconds": round(float(np.mean(epochs)), 4) if epochs else np.nan}


def report(rows: pd.DataFrame) -> str:
    """One table for the untrained encoder and one for the trained one."""
    by = ["sampling", "ratio"]
    paper = read_paper("sampling").set_index(by)
    parts = [ABOUT]
    speedups = {"score_seconds": "speed-up of scoring", "epoch_seconds": "of an epoch"}
    for trained, of_kind in rows.groupby("trained"):
        full = of_kind[of_kind["sampling"] == "all"].set_index("fold")
        names = list(speedups)[: 1 + trained]
        ratios = {name: of_kind["fold"].map(full[name]) / of_kind[name] for name in names}
        table = averaged(of_kind, by, ["auroc"])
        table = table.join(averaged(of_kind.assign(**ratios), by, names, 2))
        if trained:
            table["*AUROC, paper*"] = paper["auroc"].map("*{:.1f}*".format)
            table["*speed-up, paper*"] = paper["speedup"].dropna().map("*{:.2f}*".format)
        n_folds = of_kind["fold"].nunique()
        title = "Trained" if trained else "Untrained"
        parts.append(f"### {title}, {n_folds} fold{'s' * (n_folds > 1)}")
        table.index = [f"{sampling}, {ratio:g}" for sampling, ratio in table.index]
        parts.append(markdown(table.rename(columns={"auroc": "AUROC", **speedups})))
    return "\n\n".join(parts)
