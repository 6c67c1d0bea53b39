"""Drift: how many graphs a planted change takes to be noticed, beside false alarms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import traces
from benchmarks.random_graphs import make_distribution_shift, make_watts_strogatz
from benchmarks.render import markdown
from examples import provenance_graphs
from skgraphkde import GraphBatch, GraphKDEDetector, read_graphs
from skgraphkde.monitoring import Alarm, DriftMonitor

TITLE = "Drift: delay against false alarms"
RATE = 0.001
N_TRAINING, N_BEFORE, N_SUDDEN, N_SLOW, N_FALSE = 300, 100, 300, 500, 1000
ABOUT = f"""\
The defaults are fitted to {N_TRAINING} graphs, and a `DriftMonitor` with its defaults watches new
ones: both tests together give at most {RATE:g} false alarms per graph on average, that is one in
{1 / RATE:,.0f} graphs. {N_BEFORE} graphs are as before, and then the change begins. *Sudden*: all
graphs are changed from then on. *One in five*: every fifth is. *Slow*: their share rises from 0
to 1 within {N_SLOW} graphs. The delay is the number of graphs from the change to the first alarm,
that one included: the median of the draws and, in brackets, the largest. "-" is no alarm within
{N_SUDDEN} graphs, or {N_SLOW} of a slow change.
"""
ONSETS = ("sudden", "one in five", "slow")


def _watts_strogatz(n_normal: int, n_changed: int, seed: int) -> GraphBatch:
    """Small worlds of 20 to 50 nodes, and then of 30 to 60."""
    normal = make_watts_strogatz(n_normal, random_state=seed).graphs
    if not n_changed:
        return normal
    changed = make_watts_strogatz(n_changed, n_nodes=(30, 60), random_state=seed + 1000).graphs
    return GraphBatch.concatenate([normal, changed])


def _erdos_renyi(n_normal: int, n_changed: int, seed: int) -> GraphBatch:
    """Independent edges with a probability of about 0.5, and then 0.3."""
    drawn = make_distribution_shift(
        "sparse", n_train=n_normal, n_test=max(n_changed, 1), random_state=seed
    )
    return (
        GraphBatch.concatenate([drawn.train, drawn.test[:n_changed]]) if n_changed else drawn.train
    )


def _servers(n_normal: int, n_changed: int, seed: int) -> GraphBatch:
    """Four activities in equal parts, and then one of them alone: nothing new, but another mix."""
    kinds = ["normal"] * (n_normal + 6 * n_changed)
    graphs, activities = provenance_graphs.draw_provenance_graphs(kinds, seed)
    servers = n_normal + np.flatnonzero(activities[n_normal:] == "server")[:n_changed]
    drawn = read_graphs(graphs, schema=provenance_graphs.SCHEMA)
    return drawn[np.r_[np.arange(n_normal), servers]]


def _attacked(attack: str) -> Callable[[int, int, int], GraphBatch]:
    def draw(n_normal: int, n_changed: int, seed: int) -> GraphBatch:
        kinds = ["normal"] * n_normal + [attack] * n_changed
        graphs, _ = provenance_graphs.draw_provenance_graphs(kinds, seed)
        return read_graphs(graphs, schema=provenance_graphs.SCHEMA)

    return draw


def _faulty(fault: str) -> Callable[[int, int, int], GraphBatch]:
    def draw(n_normal: int, n_changed: int, seed: int) -> GraphBatch:
        kinds = ["normal"] * n_normal + [fault] * n_changed
        return read_graphs(traces.draw_traces(kinds, seed), schema=traces.SCHEMA)

    return draw


DRIFTS: dict[str, tuple[str, Callable[[int, int, int], GraphBatch]]] = {
    "larger graphs": ("sizes", _watts_strogatz),
    "sparser graphs": ("wiring", _erdos_renyi),
    "flows reversed": ("wiring", _attacked("reversed_flow")),
    "two services exchanged": ("wiring", _faulty("other_order")),
    "a new action": ("categories", _attacked("new_action")),
    "calls fail more often": ("categories", _faulty("retries")),
    "slower calls": ("numbers", _faulty("slow")),
    "one activity of four": ("mix", _servers),
}
# A drift of each source of graphs, whose normal graphs are watched for false alarms.
SOURCES = ("larger graphs", "sparser graphs", "flows reversed", "slower calls")


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every change, and none, in each of some draws."""
    return [
        {"drift": drift, "onset": onset, "seed": seed}
        for seed in range(n_folds)
        for drift in DRIFTS
        for onset in (*ONSETS, *(["none"] if drift in SOURCES else []))
    ]


def estimator(drift: str, onset: str, seed: int) -> GraphKDEDetector:
    """The defaults."""
    return GraphKDEDetector(random_state=seed)


def measure(estimator: GraphKDEDetector, drift: str, onset: str, seed: int) -> dict[str, float]:
    """Delays of both tests; false alarms, and among how many graphs."""
    n_after = {"none": 0, "slow": N_SLOW}.get(onset, N_SUDDEN)
    n_before = N_FALSE if onset == "none" else N_BEFORE
    rng = np.random.RandomState(seed)
    share = {"sudden": 1.0, "one in five": 0.2, "slow": np.arange(n_after) / N_SLOW}.get(onset, 0)
    is_changed = rng.rand(n_after) < share
    n_normal = N_TRAINING + n_before + int((~is_changed).sum())
    drawn = DRIFTS[drift][1](n_normal, int(is_changed.sum()), seed)
    order = np.empty(n_after, dtype=int)
    order[~is_changed] = np.arange(N_TRAINING + n_before, n_normal)
    order[is_changed] = np.arange(n_normal, len(drawn))
    estimator.fit(drawn[:N_TRAINING])
    monitor = DriftMonitor(estimator, false_alarm_rate=RATE, random_state=seed)
    monitor.update(drawn[np.r_[np.arange(N_TRAINING, N_TRAINING + n_before), order]])
    alarms = monitor.alarms_
    values = {test: _delay([x for x in alarms if x.test == test]) for test in ("martingale", "mmd")}
    false = sum(alarm.at < n_before for alarm in alarms)
    return {"delay": _delay(alarms), **values, "false_alarms": false, "watched": n_before}


def _delay(alarms: list[Alarm]) -> float:
    return min((x.at - N_BEFORE + 1 for x in alarms if x.at >= N_BEFORE), default=np.inf)


def report(rows: pd.DataFrame) -> str:
    """Delays of each change, and false alarms."""
    parts = [ABOUT]
    for onset in ONSETS:
        lines = []
        for drift, of_drift in rows[rows["onset"] == onset].groupby("drift", sort=False):
            line = {"change": drift, "in": DRIFTS[str(drift)][0]}
            columns = {"delay": "first alarm", "martingale": "martingale", "mmd": "MMD"}
            lines.append(line | {title: _spread(of_drift[x]) for x, title in columns.items()})
        parts += [f"### {onset.capitalize()}", markdown(pd.DataFrame(lines), index=False)]
    n_alarms, n_graphs = rows["false_alarms"].sum(), rows["watched"].sum()
    unchanged = rows[rows["onset"] == "none"]
    n_unchanged = unchanged["false_alarms"].sum()
    sudden = rows.loc[rows["onset"] == "sudden", "delay"]
    parts += [
        "### False alarms",
        f"{n_unchanged} in {unchanged['watched'].sum():,} graphs of four sources without a change, "
        f"none at all in {(unchanged['false_alarms'] == 0).sum()} of {len(unchanged)} streams; "
        f"{n_alarms} in {n_graphs:,} with those before the changes. At most one in 1,000 is "
        "promised, on average over draws of training graphs; those of the MMD come in clusters, "
        "as all its tests have the same references.",
        f"At that rate {(sudden <= 100).sum()} of {len(sudden)} sudden changes are found within "
        f"100 graphs; the median takes {sudden.median():.0f}, the slowest {_graphs(sudden.max())}.",
    ]
    return "\n\n".join(parts)


def _spread(delays: pd.Series) -> str:
    return f"{_graphs(delays.median())} ({_graphs(delays.max())})"


def _graphs(delay: float) -> str:
    return f"{delay:.0f}" if np.isfinite(delay) else "-"
