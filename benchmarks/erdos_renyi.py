"""Erdos-Renyi graphs: whether the density peaks where the true one does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from benchmarks.methods import METHODS, density_detector, paper_detector
from benchmarks.random_graphs import make_erdos_renyi
from benchmarks.render import averaged, markdown, of_paper, read_paper, side_by_side

TITLE = "Recovery of the density of Erdos-Renyi graphs"
ABOUT = """\
Fitted on 2,000 graphs with 20 to 50 nodes and p from Beta(2, 2), scored on 1,000 others. The rank
correlation is Spearman's, between the score and the density of Beta(2, 2) at p. Densities are
divided by the largest of the 1,000; the paper does not say how its own are scaled. Nodes carry
their normalized degree, as in the paper. *Density settings* are `density_settings()`: node features
as given, one wide kernel, and the bandwidth of the largest leave-one-out likelihood. Of the five
kernels of the paper settings the distance takes the one with the largest MMD; *widest kernel* has
gamma = 0.01 alone.
"""
ROWS = {
    name: METHODS[name]
    for name in (
        "paper settings",
        "paper settings, untrained",
        "defaults",
        "one view",
        "size only",
    )
} | {
    "density settings": density_detector,
    "widest kernel": paper_detector(views__distance__gammas=(0.01,)),
    "widest kernel, untrained": paper_detector(views__distance__gammas=(0.01,), training=None),
}
RANGES = {f"{low:.1f}-{low + 0.2:.1f}": low for low in (0.0, 0.2, 0.4, 0.6, 0.8)}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every draw; a "fold" is a seed here."""
    return [{"method": method, "seed": seed} for seed in range(n_folds) for method in ROWS]


def estimator(method: str, seed: int) -> Any:
    """The method, with a seed."""
    return ROWS[method](seed)


def measure(estimator: Any, method: str, seed: int) -> dict[str, float]:
    """Mean relative density by range of p, and rank correlations."""
    drawn = make_erdos_renyi(3000, random_state=seed)
    train, test = np.split(np.arange(3000), [2000])
    estimator.fit(drawn.graphs[train])
    scores = estimator.score_samples(drawn.graphs[test])
    p, true = drawn.parameters["p"][test], drawn.density[test]
    density = np.exp(scores - scores.max())
    values = {"spearman": spearmanr(scores, true).statistic}
    for name, low in RANGES.items():
        inside = (p >= low) & (p < low + 0.2)
        values |= {name: density[inside].mean(), f"{name} std": density[inside].std()}
    sizes = drawn.graphs[test].n_nodes_per_graph
    values["spearman_size"] = spearmanr(scores, sizes).statistic
    return {name: round(float(value), 5) for name, value in values.items()}


def report(rows: pd.DataFrame) -> str:
    """Rank correlations, then densities by range."""
    titles = {"spearman": "with the true density", "spearman_size": "with the number of nodes"}
    correlations = averaged(rows, "method", list(titles), 3).rename(columns=titles)
    ours = averaged(rows, "method", list(RANGES), 3).T
    paper = of_paper(read_paper("erdos_renyi").assign(method="paper settings"), "p", "method", 3)
    return "\n\n".join(
        [
            ABOUT,
            "### Rank correlation of the score",
            markdown(correlations),
            "### Mean relative density by range of p",
            side_by_side(ours, paper, {name: name for name in ours}),
        ]
    )
