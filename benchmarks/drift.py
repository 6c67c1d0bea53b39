"""Drift: how many graphs a planted change takes to be noticed, beside false alarms."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import typed
from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector
from skgraphkde.monitoring import DriftMonitor

TITLE = "Drift: delay against false alarms"
N_TRAINING, N_BEFORE, N_SUDDEN, N_SLOW, N_FALSE = 300, 100, 300, 500, 1000
ABOUT = f"""\
The defaults are fitted to {N_TRAINING} graphs, and a `DriftMonitor` with its defaults watches new
ones: at most one false alarm in 1,000 graphs on average. Graphs and changes are those of
[another table](typed.md). The change begins after {N_BEFORE} graphs. *Sudden*: all graphs are
changed from then on. *One in five*: every fifth is, at random. *Slow*: their share rises from 0 to
1 within {N_SLOW} graphs. The delay is the number of graphs from the change to the first alarm: the
median of the draws and, in brackets, the largest. "-" is no alarm within {N_SUDDEN} graphs, or
{N_SLOW} of a slow change.
"""
ONSETS = ("sudden", "one in five", "slow")
CHANGES = (
    "identifiers as labels, denser graph",
    "edge categories shuffled",
    "two categories that go together, apart",
    "edge numbers 1.6 times as large",
    "smooth number 1.3 times as large",
    "missing values where there were few",
    "one node in 25 of a category never seen",
)


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every change, and none, in each of three draws."""
    grid = product(range(min(n_folds, 3)), CHANGES, (*ONSETS, "none"))
    return [{"drift": drift, "onset": onset, "seed": seed} for seed, drift, onset in grid]


def estimator(drift: str, onset: str, seed: int) -> GraphKDEDetector:
    """The defaults, with the schema of the graphs."""
    return GraphKDEDetector(schema=typed.CASES[drift][1], random_state=seed)


def measure(estimator: GraphKDEDetector, drift: str, onset: str, seed: int) -> dict[str, float]:
    """The delay; false alarms, and among how many graphs."""
    make, rng = typed.CASES[drift][0], np.random.RandomState(seed)
    n_before = N_FALSE if onset == "none" else N_BEFORE
    n_after = {"none": 0, "slow": N_SLOW}.get(onset, N_SUDDEN)
    share = np.arange(n_after) / N_SLOW
    if onset != "slow":
        share = np.full(n_after, 1.0 if onset == "sudden" else 0.2)
    estimator.fit([make(rng, False) for _ in range(N_TRAINING)])
    monitor = DriftMonitor(estimator, random_state=seed)
    graphs = [make(rng, False) for _ in range(n_before)]
    monitor.update([*graphs, *(make(rng, is_changed) for is_changed in rng.rand(n_after) < share)])
    at = np.array([alarm.at for alarm in monitor.alarms_])
    delay = min(at[at >= n_before] - n_before + 1, default=np.inf)
    return {"delay": delay, "false_alarms": np.sum(at < n_before), "watched": n_before}


def report(rows: pd.DataFrame) -> str:
    """Delays of each change, and false alarms."""
    delays = rows[rows["onset"] != "none"].groupby(["drift", "onset"], sort=False)["delay"]
    table = delays.agg(lambda x: f"{_graphs(x.median())} ({_graphs(x.max())})").unstack()
    table.index.name = "change"
    unchanged = rows[rows["onset"] == "none"]
    n_none = (unchanged["false_alarms"] == 0).sum()
    text = (
        f"### False alarms\n\n{unchanged['false_alarms'].sum()} in {unchanged['watched'].sum():,} "
        f"graphs without a change, none at all in {n_none} of {len(unchanged)} streams."
    )
    return f"{markdown(table[list(ONSETS)])}\n\n{text}"


def _graphs(delay: float) -> str:
    return f"{delay:.0f}" if np.isfinite(delay) else "-"
