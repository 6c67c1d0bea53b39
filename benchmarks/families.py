"""Four families of random graphs: density gap and detection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from benchmarks import random_graphs
from benchmarks.methods import METHODS, density_detector
from benchmarks.protocol import evaluate
from benchmarks.render import averaged, of_paper, read_paper, side_by_side

TITLE = "Four families of random graphs"
ABOUT = """\
Fitted on 400 normal graphs, scored on 200 others and 200 anomalies, 20 to 50 nodes each. Densities
are means, their scale depends on the method: compare within a table; those of the defaults are no
densities but products of p-values. The rank correlation is
Spearman's, between the score and the target density of the paper over normal and anomalous graphs;
the target densities of the Barabasi-Albert and Watts-Strogatz graphs are higher for some anomalies
than for normal graphs.
"""
MAKERS = {
    "erdos_renyi": random_graphs.make_erdos_renyi,
    "barabasi_albert": random_graphs.make_barabasi_albert,
    "watts_strogatz": random_graphs.make_watts_strogatz,
    "stochastic_block": random_graphs.make_stochastic_block,
}
ROWS = {
    name: METHODS[name]
    for name in (
        "paper settings",
        "paper settings, untrained",
        "defaults",
        "one view",
        "size only",
        "WL-SVM",
    )
} | {"density settings": density_detector}
N_TRAIN = 400


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every family and draw; a "fold" is a seed here."""
    return [
        {"method": method, "family": family, "seed": seed}
        for seed in range(n_folds)
        for family in MAKERS
        for method in ROWS
    ]


def estimator(method: str, family: str, seed: int) -> Any:
    """The method, with a seed."""
    return ROWS[method](seed)


def measure(estimator: Any, method: str, family: str, seed: int) -> dict[str, float]:
    """Detection, densities, rank correlation."""
    drawn = MAKERS[family](N_TRAIN + 200, 200, random_state=seed)
    train, test = drawn.graphs[:N_TRAIN], drawn.graphs[N_TRAIN:]
    y = drawn.target[N_TRAIN:]
    values = evaluate(estimator, train, test, y)
    scores = estimator.score_samples(test)
    values |= {"normal": np.exp(scores[y == 1]).mean(), "anomaly": np.exp(scores[y == -1]).mean()}
    values |= {"gap": values["normal"] - values["anomaly"]}
    return values | {"spearman": spearmanr(scores, drawn.density[N_TRAIN:]).statistic}


def report(rows: pd.DataFrame) -> str:
    """One table per method; the paper's figures beside the settings of the paper."""
    parts = [ABOUT]
    paper = of_paper(read_paper("families"), "family", "quantity", 3)
    titles = {
        "auroc": "AUROC",
        "normal": "density of normal graphs",
        "anomaly": "of anomalies",
        "gap": "gap",
        "spearman": "rank correlation",
    }
    for method, of_method in rows.groupby("method", sort=False):
        ours = averaged(of_method, "family", ["normal", "anomaly", "gap", "spearman"], 3)
        ours.insert(0, "auroc", averaged(of_method, "family", ["auroc"])["auroc"])
        published = paper if method == "paper settings" else paper[:0]
        parts += [f"### {method}", side_by_side(ours, published, titles)]
    return "\n\n".join(parts)
