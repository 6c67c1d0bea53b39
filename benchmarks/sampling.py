"""Some of the training graphs for references, chosen by their densities."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks import protocol
from benchmarks.protocol import evaluate, load
from benchmarks.render import mean_std, of_paper, read_paper, side_by_side
from skgraphkde import LGKDE

TITLE = "Sampling of references"
ABOUT = """\
`LGKDE()` fitted to a share of the training graphs of PROTEINS; AUROC in percent. *Stratified* keeps
graphs of low, middle and high density, a third each, in the ratio 90 : 80 : 70. *Importance* draws
them with probabilities proportional to 1 / (1 + exp(m - f)), where f is the density, divided by the
largest, and m its median; *at random* draws all alike. Densities are those of a fit to all graphs,
without a graph's own kernel. *Speedup* is the time of a fit and of the scores with all graphs,
divided by that with some, in one process; the fit that chooses is not counted. The paper samples
the references of each batch of a training, so its speedup is another one. `max_references` samples
by content, which is at random for this purpose.
"""
RULES = ("stratified", "importance", "at random")
SHARES = (0.8, 0.5, 0.3)


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every fold: the rules of a cell share a fit."""
    grid = product(datasets or ["PROTEINS"], range(n_folds))
    return [{"dataset": name, "fold": fold} for name, fold in grid]


def estimator(dataset: str, fold: int) -> LGKDE:
    """LGKDE, seeded with the fold."""
    return LGKDE(random_state=fold)


def measure(estimator: LGKDE, dataset: str, fold: int) -> dict[str, float]:
    """AUROC and speedup of each rule and share."""
    train, test, y = protocol.fold(load(dataset), fold)
    clone(estimator).fit(train[:50])  # what is compiled or loaded at the first call
    of_all = evaluate(estimator, train, test, y)
    values = {"all, auroc": of_all["auroc"]}
    density = np.exp(estimator.training_scores_ - estimator.training_scores_.max())
    rng = np.random.RandomState(fold)
    for rule, share in product(RULES, SHARES):
        index = sampled(rule, share, density, rng)
        of_some = evaluate(clone(estimator), train[index], test, y)
        seconds = [x["fit_seconds"] + x["score_seconds"] for x in (of_all, of_some)]
        values[f"{rule}, {share}, auroc"] = of_some["auroc"]
        values[f"{rule}, {share}, speedup"] = round(seconds[0] / seconds[1], 2)
    return values


def report(rows: pd.DataFrame) -> str:
    """Rules and shares, the paper's figures beside ours."""
    names = ["all", *(f"{rule}, {x}" for rule, x in product(RULES, SHARES))]
    titles = {"auroc": 1, "speedup": 2}
    ours = pd.DataFrame(index=pd.Index(names, name="references"), columns=list(titles))
    for name, (quantity, digits) in product(names, titles.items()):
        column = f"{name}, {quantity}"
        text = mean_std(rows[column], digits) if column in rows else ""
        ours.loc[name, quantity] = text
    paper = of_paper(read_paper("sampling"), "references", "quantity", 2)
    return side_by_side(ours, paper, {"auroc": "AUROC", "speedup": "speedup"})


def sampled(rule: str, share: float, density: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Indices of a share of graphs, ascending."""
    n = len(density)
    if rule == "stratified":
        thirds = np.array_split(np.argsort(density, kind="stable"), 3)
        parts = []
        for third, kept in zip(thirds, (0.9, 0.8, 0.7), strict=True):
            parts.append(rng.permutation(third)[: round(share / 0.8 * kept * len(third))])
        return np.sort(np.concatenate(parts))
    weight = np.ones(n)
    if rule == "importance":
        weight = 1 / (1 + np.exp(np.median(density) - density))
    return np.sort(rng.choice(n, round(share * n), replace=False, p=weight / weight.sum()))
