"""One graph in a call, as a service scores it. Take --jobs 1."""

from __future__ import annotations

import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import torch

from benchmarks.protocol import fold, load
from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector

TITLE = "One graph in a call"
ABOUT = """\
The defaults are fitted to the training graphs of the first fold, and score its test graphs, of
networkx, one in a call. Milliseconds of the first 300 calls, each the faster of two, with one
thread; *in a batch* is what a graph takes if all are scored in one call. *Graphs a second* are
scored, one in a call, by so many threads of one process, or by two processes with one thread each,
on two cores.
"""
DATASETS = ("MUTAG", "PROTEINS", "NCI1")
N_CALLS = 300


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """One per data set."""
    return [{"dataset": dataset} for dataset in datasets or DATASETS]


def estimator(dataset: str) -> GraphKDEDetector:
    """The defaults."""
    return GraphKDEDetector(random_state=0)


def measure(estimator: GraphKDEDetector, dataset: str) -> dict[str, float]:
    """Milliseconds of a call, and graphs a second of several threads and processes."""
    train, test, _ = fold(load(dataset), 0)
    graphs = test.to_networkx()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        estimator.fit(train)
        some = (graphs * -(-N_CALLS // len(graphs)))[:N_CALLS]
        seconds = np.array([[_seconds(estimator, [g]) for g in some] for _ in range(2)]).min(0)
        _seconds(estimator, graphs)
        values = {
            "references": len(train),
            "p50": round(1e3 * float(np.percentile(seconds, 50)), 3),
            "p99": round(1e3 * float(np.percentile(seconds, 99)), 3),
            "mean": round(1e3 * float(seconds.mean()), 3),
            "in_batch": round(1e3 * _seconds(estimator, graphs) / len(graphs), 3),
        }
        for n in (1, 2, 8):
            with ThreadPoolExecutor(n) as pool:
                values[f"threads_{n}"] = _per_second(pool, n, estimator, some)
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            values["processes_2"] = _per_second(pool, 2, estimator, some)
    finally:
        torch.set_num_threads(before)
    return values


def _seconds(estimator: GraphKDEDetector, graphs: list[nx.Graph]) -> float:
    start = time.perf_counter()
    estimator.score_samples(graphs)
    return time.perf_counter() - start


def _per_second(pool: Executor, n: int, estimator: GraphKDEDetector, graphs: list) -> float:
    """Graphs a second, after a first round in which workers start and compile."""
    parts = [graphs[i::n] for i in range(n)]
    list(pool.map(_score_all, [estimator] * n, [part[:5] for part in parts]))
    start = time.perf_counter()
    busy = list(pool.map(_score_all, [estimator] * n, parts))
    if isinstance(pool, ThreadPoolExecutor):
        return round(len(graphs) / (time.perf_counter() - start), 1)
    return round(sum(len(part) / seconds for part, seconds in zip(parts, busy, strict=True)), 1)


def _score_all(estimator: GraphKDEDetector, graphs: list[nx.Graph]) -> float:
    torch.set_num_threads(1)
    estimator.score_samples(graphs[:1])  # a process embeds the references first
    start = time.perf_counter()
    for graph in graphs:
        estimator.score_samples([graph])
    return time.perf_counter() - start


def report(rows: pd.DataFrame) -> str:
    """One row per data set."""
    rows = rows.set_index("dataset")
    table = pd.DataFrame(
        {
            "references": rows["references"].map("{:.0f}".format),
            "p50, ms": rows["p50"].map("{:.1f}".format),
            "p99, ms": rows["p99"].map("{:.1f}".format),
            "in a batch, ms": rows["in_batch"].map("{:.2f}".format),
            "call / share of a batch": (rows["mean"] / rows["in_batch"]).map("{:.1f}".format),
            **{
                f"graphs a second, {n} thread{'s' * (n > 1)}": rows[f"threads_{n}"].map(
                    "{:.0f}".format
                )
                for n in (1, 2, 8)
            },
            "2 processes": rows["processes_2"].map("{:.0f}".format),
        }
    )
    return f"{ABOUT}\n\n{markdown(table)}"
