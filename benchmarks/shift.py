"""Distribution shift: the normal graphs of the test are not those of the training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.methods import METHODS
from benchmarks.random_graphs import make_distribution_shift
from benchmarks.render import averaged, markdown, of_paper, read_paper
from skgraphkde.evaluation import auroc

TITLE = "Distribution shift"
ABOUT = """\
Fitted on 2,000 Erdos-Renyi graphs with p around 0.5, scored on 500 normal graphs with p around 0.5,
0.3 or 0.7, and 500 anomalies; AUROC in percent, "loss" is the mean of the two falls. When shifted
half of the anomalies are normal graphs with half of their edges moved at random, which leaves an
Erdos-Renyi graph an Erdos-Renyi graph: on these no detector can do better than chance, and 75 is
what a perfect one reaches. The paper's figures for the shifts are above that, so its rewired graphs
must have been others.
"""
SCENARIOS = ("in_distribution", "sparse", "dense")
ROWS = (
    "paper settings",
    "paper settings, untrained",
    "defaults",
    "size only",
    "WL-SVM",
    "GAE+KDE",
)


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every draw; a "fold" is a seed here."""
    return [{"method": method, "seed": seed} for seed in range(n_folds) for method in ROWS]


def estimator(method: str, seed: int) -> Any:
    """The method, with a seed."""
    return METHODS[method](seed)


def measure(estimator: Any, method: str, seed: int) -> dict[str, float]:
    """AUROC in the three scenarios, after one training; and on the rewired graphs alone."""
    drawn = {name: make_distribution_shift(name, random_state=seed) for name in SCENARIOS}
    estimator.fit(drawn["in_distribution"].train)
    values = {}
    for name, scenario in drawn.items():
        scores = estimator.score_samples(scenario.test)
        y, rewired = scenario.target, scenario.parameters["rewired"] > 0
        values[name] = 100 * auroc(y, scores)
        if name != "in_distribution":
            shown = (y == 1) | rewired
            values[f"{name}_rewired"] = 100 * auroc(y[shown], scores[shown])
    shifted = np.mean([values["sparse"], values["dense"]])
    values["loss"] = values["in_distribution"] - shifted
    return {name: round(float(value), 4) for name, value in values.items()}


def report(rows: pd.DataFrame) -> str:
    """One table, the paper's three methods below ours."""
    columns = [*SCENARIOS, "loss", "sparse_rewired", "dense_rewired"]
    ours = averaged(rows, "method", columns)
    paper = of_paper(read_paper("shift"), "method", "scenario")
    paper = ("*" + paper + "*").rename(index=lambda name: f"*{name}, in the paper*")
    titles = {
        "in_distribution": "in distribution",
        "sparse_rewired": "sparse, rewired only",
        "dense_rewired": "dense, rewired only",
    }
    table = pd.concat([ours, paper]).rename(columns=titles)
    return f"{ABOUT}\n\n{markdown(table)}"
