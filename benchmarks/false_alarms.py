"""False alarms on fresh normal graphs, nominal beside observed."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.protocol import load
from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector, Split

TITLE = "False alarms on fresh normal graphs"
ABOUT = """\
The defaults are fitted on half of the normal graphs, and the other half is fresh; ten random
halves. The share of the fresh graphs that `predict` flags, in percent, as mean and 95% interval of
the mean, beside the nominal one, `contamination`. "loo" scores each training graph by the others;
"split" sets a third of the training half aside.
"""
CONTAMINATIONS = (0.05, 0.1, 0.2)
N_HALVES = 10


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every calibration on every data set."""
    grid = product(datasets or ("MUTAG", "AIDS", "PROTEINS", "NCI1"), ("loo", "split"))
    return [{"dataset": dataset, "calibration": calibration} for dataset, calibration in grid]


def estimator(dataset: str, calibration: str) -> GraphKDEDetector:
    """The defaults; "split" sets enough graphs aside for every contamination."""
    if calibration == "split":
        calibration = Split(fraction=1 / 3)
    return GraphKDEDetector(calibration=calibration, random_state=0)


def measure(estimator: GraphKDEDetector, dataset: str, calibration: str) -> dict[str, float]:
    """Observed rates: `predict` compares with a quantile of the calibration scores."""
    data = load(dataset)
    normal = np.flatnonzero(data.target == 1)
    rates: dict[float, list[float]] = {nominal: [] for nominal in CONTAMINATIONS}
    for seed in range(N_HALVES):
        order = np.random.RandomState(seed).permutation(normal)
        known, fresh = np.array_split(order, 2)
        for nominal in CONTAMINATIONS:
            estimator.set_params(contamination=nominal).fit(data.graphs[known])
            rates[nominal].append(float(np.mean(estimator.predict(data.graphs[fresh]) == -1)))
    values = {}
    for nominal, observed in rates.items():
        error = np.std(observed, ddof=1) / N_HALVES**0.5
        values[f"rate_{nominal}"] = round(float(np.mean(observed)), 5)
        values[f"error_{nominal}"] = round(float(error), 5)
    return values


def report(rows: pd.DataFrame) -> str:
    """One row per data set and calibration, one column per nominal rate."""
    lines = []
    for row in rows.to_dict("records"):
        line = {"dataset": row["dataset"], "calibration": row["calibration"]}
        for nominal in CONTAMINATIONS:
            rate, margin = 100 * row[f"rate_{nominal}"], 196 * row[f"error_{nominal}"]
            line[f"nominal {100 * nominal:g}"] = f"{rate:.1f} ± {margin:.1f}"
        lines.append(line)
    return markdown(pd.DataFrame(lines), index=False)
