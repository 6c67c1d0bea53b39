"""One graph in a call, as a service scores it. Take --jobs 1."""

import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.end_to_end import fit_grakel
from benchmarks.methods import defaults
from benchmarks.protocol import fold, load
from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector

TITLE = "One graph in a call"
ABOUT = """\
The defaults are fitted to the training graphs of the first fold, and score its test graphs, of
networkx, one in a call. Milliseconds of the first 300 calls, each the faster of two, with one
thread; *in a batch*: all in one call. *GraKeL* is the median of the same calls of its kernel and
the SVM of the table [end to end](end_to_end.md), in the same run.
"""
DATASETS = ("MUTAG", "PROTEINS", "NCI1")
N_CALLS = 300


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """One per data set."""
    return [{"dataset": dataset} for dataset in datasets or DATASETS]


estimator = defaults


def measure(estimator: GraphKDEDetector, dataset: str) -> dict[str, float]:
    """Milliseconds of a call."""
    train, test, _ = fold(load(dataset), 0)
    graphs = test.to_networkx()
    with threadpool_limits(1):
        estimator.fit(train)
        some = (graphs * -(-N_CALLS // len(graphs)))[:N_CALLS]
        score, peer = estimator.score_samples, fit_grakel(train.to_networkx())
        seconds = np.array([[_seconds(score, [g]) for g in some] for _ in range(2)]).min(0)
        of_peer = np.array([[_seconds(peer, [g]) for g in some] for _ in range(2)]).min(0)
        _seconds(score, graphs)
        in_batch = _seconds(score, graphs) / len(graphs)
    p50, p99 = np.percentile(seconds, (50, 99))
    values = {"p50": p50, "p99": p99, "mean": seconds.mean(), "in_batch": in_batch}
    values["grakel"] = np.median(of_peer)
    milliseconds = {name: round(1e3 * float(value), 3) for name, value in values.items()}
    return {"references": len(train), **milliseconds}


def _seconds(score: Callable[[list[nx.Graph]], np.ndarray], graphs: list[nx.Graph]) -> float:
    start = time.perf_counter()
    score(graphs)
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
            "GraKeL, ms": rows["grakel"].map("{:.1f}".format),
            "call / GraKeL": (rows["p50"] / rows["grakel"]).map("{:.2f}".format),
        }
    )
    return markdown(table)
