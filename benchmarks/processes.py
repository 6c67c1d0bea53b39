"""More than one process. Nothing else may compute meanwhile: take --jobs 1."""

from __future__ import annotations

import time
from typing import Any

import joblib
import numpy as np
import pandas as pd
import torch
from dask.distributed import Client, LocalCluster

from benchmarks.protocol import load
from benchmarks.render import markdown
from skgraphkde import MMD, Density, GraphKDEDetector

TITLE = "More than one process"
ABOUT = """\
100,000 graphs, drawn with replacement from a data set, are scored by the defaults, fitted on 500 of
its graphs: in one process with one thread and with two; by two processes of joblib (`n_jobs=2`);
and by a Dask cluster of two processes on the same machine, one after the other in one run. A first
call, which starts what is needed, is not counted; for joblib, whose processes have to start and
import this package, it is in parentheses. Overhead is the time of two processes beyond half of the
time of one thread, per graph: what it costs to send a graph.
"""
DATASETS = ("MUTAG", "AIDS", "NCI1", "IMDB-BINARY")
N_GRAPHS = 100_000
LABELS = {
    "one_thread": "one thread, s",
    "two_threads": "two threads, s",
    "joblib": "joblib, s",
    "dask": "Dask, s",
}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Each data set once."""
    return [{"dataset": dataset} for dataset in datasets or DATASETS]


def estimator(dataset: str) -> GraphKDEDetector:
    """One view, by random features, which bound what a reference costs."""
    return GraphKDEDetector(views=Density(MMD(method="random_features")), random_state=0)


def measure(estimator: GraphKDEDetector, dataset: str) -> dict[str, float]:
    """Seconds by engine, and how much scores differ."""
    graphs, rng = load(dataset).graphs, np.random.RandomState(0)
    detector = estimator.fit(graphs[rng.permutation(len(graphs))[:500]])
    graphs = graphs[rng.randint(len(graphs), size=N_GRAPHS)]
    seconds, scores = {}, {}

    def score(name: str) -> None:
        start = time.perf_counter()
        scores[name] = detector.score_samples(graphs)
        seconds[name] = round(time.perf_counter() - start, 3)

    for n_threads, name in ((1, "one_thread"), (2, "two_threads")):
        torch.set_num_threads(n_threads)
        detector.score_samples(graphs[:1000])
        score(name)
    with joblib.parallel_config("loky", n_jobs=2):
        score("joblib_first")
        score("joblib")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config("dask"),
    ):
        score("dask")
        score("dask")
    expected = scores["one_thread"]
    difference = max(np.abs(found / expected - 1).max() for found in scores.values())
    return {**seconds, "difference": difference}


def report(rows: pd.DataFrame) -> str:
    """One row per data set."""
    rows = rows.set_index("dataset")
    table = rows[list(LABELS)].map("{:.1f}".format).rename(columns=LABELS)
    table["joblib, s"] += rows["joblib_first"].map(" ({:.1f})".format)
    for name in ("joblib", "dask"):
        overhead = 1e6 * (rows[name] - rows["one_thread"] / 2) / N_GRAPHS
        label = f"overhead of {LABELS[name].removesuffix(', s')}, µs per graph"
        table[label] = overhead.map("{:.0f}".format)
    table["largest relative difference of a score"] = rows["difference"].map("{:.0e}".format)
    return f"{ABOUT}\n\n{markdown(table)}"
