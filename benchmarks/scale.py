"""Growth with the number of graphs. Nothing else may compute meanwhile: take --jobs 1."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmarks.methods import paper_detector
from benchmarks.protocol import load
from benchmarks.render import markdown
from skgraphkde import (
    MMD,
    Contrastive,
    Density,
    GraphBatch,
    GraphKDEDetector,
    NodeFeatures,
    References,
)

TITLE = "Growth with the number of graphs"
ABOUT = """\
Sparse random graphs of 15 to 25 nodes, a tree and a quarter as many edges again, as molecules are.
Degrees as node features, random features for the distance, 256 references drawn at random, all
cores. *Fit* is that of one view, *an epoch* one pass of training a GCN over the training graphs;
*score* scores the same graphs from a `GraphBatch`, with the defaults. One process fits and
another one scores, and *memory* is the peak of each, including the graphs and what made them. The
exponent is the slope of log seconds on log graphs from 10,000 graphs on: 1 is linear.
"""
ABOUT_REDDIT = """\
Large graphs: all 2,000 threads of REDDIT-BINARY (859,254 nodes), scored by a detector with the
settings of the paper, without training, whose references are one class of them. *Fit* includes
loading.
"""
SIZES = (1_000, 10_000, 100_000, 1_000_000)
N_REFERENCES = 256
# Graphs that are made at once.
PART = 100_000


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every number of graphs, an epoch up to 100,000 graphs, and large graphs."""
    sizes = [{"n_graphs": n, "max_iter": 0} for n in SIZES]
    epochs = [{"n_graphs": n, "max_iter": 1} for n in SIZES[:-1]]
    large = [{"dataset": "REDDIT-BINARY", "method": m} for m in ("exact", "random_features")]
    return sizes + epochs + large


def estimator(
    n_graphs: int = 0, max_iter: int = 0, dataset: str = "", method: str = ""
) -> GraphKDEDetector:
    """Degrees as node features, random features, a bounded number of references; GCNs train."""
    if dataset:
        return paper_detector(training=None, views__distance__method=method)(0)
    return GraphKDEDetector(
        features=NodeFeatures(("degree",)),
        encoder="gcn" if max_iter else "propagation",
        views=Density(MMD(method="random_features")),
        training=Contrastive(max_iter=max_iter) if max_iter else None,
        references=References("uniform", ratio=min(1.0, N_REFERENCES / n_graphs)),
        random_state=0,
    )


def measure(
    estimator: GraphKDEDetector, n_graphs: int = 0, dataset: str = "", **cell: Any
) -> dict[str, float]:
    """Seconds and peak memory: graphs are fitted and scored in a fresh process.

    Those of a data set are scored by a detector that another process has fitted to the normal ones.
    """
    if dataset:
        start = time.perf_counter()
        fitted = _in_fresh_process(_fit_normal, estimator, dataset)
        seconds = time.perf_counter() - start
        return {"fit_seconds": round(seconds, 3), **_in_fresh_process(_score, fitted, dataset)}
    fitted, values = _in_fresh_process(_fit, estimator, n_graphs)
    return values | _in_fresh_process(_score_random, fitted, n_graphs)


def _in_fresh_process(function: Callable, *arguments: Any) -> Any:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(function, *arguments).result()


def _fit(estimator: GraphKDEDetector, n_graphs: int) -> tuple[GraphKDEDetector, dict[str, float]]:
    graphs = _random_graphs(n_graphs)
    estimator.fit(graphs[:500])  # what is compiled or loaded at the first call
    start = time.perf_counter()
    estimator.fit(graphs)
    return estimator, {
        "fit_seconds": round(time.perf_counter() - start, 3),
        "epoch_seconds": round(sum(estimator.history_.get("seconds", [])[1:]), 3),
        "fit_memory_gib": _peak(),
    }


def _score_random(fitted: GraphKDEDetector, n_graphs: int) -> dict[str, float]:
    graphs = _random_graphs(n_graphs)
    fitted.score_samples(graphs[:500])
    return _scoring(fitted, graphs)


def _fit_normal(estimator: GraphKDEDetector, dataset: str) -> GraphKDEDetector:
    data = load(dataset)
    return estimator.fit(data.graphs[data.target == 1])


def _score(fitted: GraphKDEDetector, dataset: str) -> dict[str, float]:
    return _scoring(fitted, load(dataset).graphs)


def _scoring(fitted: GraphKDEDetector, graphs: GraphBatch) -> dict[str, float]:
    start = time.perf_counter()
    fitted.score_samples(graphs)
    return {
        "score_seconds": round(time.perf_counter() - start, 3),
        "memory_gib": _peak(),
    }


def _peak() -> float:
    """The largest memory of this process so far."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 3)


def _random_graphs(n_graphs: int) -> GraphBatch:
    """Graphs in parts, as making them takes several times their memory."""
    sizes = [min(PART, n_graphs - first) for first in range(0, n_graphs, PART)]
    return GraphBatch.concatenate([_sparse_graphs(n, seed) for seed, n in enumerate(sizes)])


def _sparse_graphs(n_graphs: int, seed: int) -> GraphBatch:
    """Each node but the first links to an earlier one; then pairs of nodes at random."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(15, 26, n_graphs)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    first, size = np.repeat(ptr[:-1], sizes), np.repeat(sizes, sizes)
    nodes = np.arange(ptr[-1])
    earlier = first + np.floor(rng.random(ptr[-1]) * (nodes - first)).astype(int)
    some = rng.integers(0, ptr[-1], ptr[-1] // 4)
    others = first[some] + np.floor(rng.random(len(some)) * size[some]).astype(int)
    u, v = np.concatenate([nodes, some]), np.concatenate([earlier, others])
    u, v = u[u != v], v[u != v]
    upper = sp.csr_array((np.ones(len(u)), (u, v)), shape=(ptr[-1], ptr[-1]))
    adjacency = sp.csr_array(upper + upper.T)
    adjacency.data[:] = 1.0
    return GraphBatch(ptr, adjacency)


def report(rows: pd.DataFrame) -> str:
    """One row per number of graphs, the exponents, then the large graphs."""
    rows = rows.reindex(columns=rows.columns.union(["dataset", "method"]))
    large = rows[rows["dataset"].notna()].set_index("method")
    rows = rows[rows["dataset"].isna()].set_index("n_graphs").sort_index()
    plain, trained = rows[rows["max_iter"] == 0], rows[rows["max_iter"] == 1]
    table = pd.DataFrame(
        {
            "fit, s": plain["fit_seconds"].map("{:.1f}".format),
            "an epoch, s": trained["epoch_seconds"].map("{:.1f}".format),
            "score, s": plain["score_seconds"].map("{:.1f}".format),
            "graphs scored a second": (plain.index / plain["score_seconds"]).map("{:,.0f}".format),
            "memory of fitting, GiB": plain["fit_memory_gib"].map("{:.2f}".format),
            "of scoring": plain["memory_gib"].map("{:.2f}".format),
        }
    ).fillna("")
    table.index = [f"{int(n):,}" for n in table.index]
    table.index.name = "graphs"
    exponents = {
        "fit": _exponent(plain["fit_seconds"]),
        "an epoch": _exponent(trained["epoch_seconds"]),
        "score": _exponent(plain["score_seconds"]),
    }
    line = "; ".join(f"{name} {value:.2f}" for name, value in exponents.items())
    of_large = pd.DataFrame(
        {
            "fit, s": large["fit_seconds"].map("{:.1f}".format),
            "score, s": large["score_seconds"].map("{:.1f}".format),
            "memory of scoring, GiB": large["memory_gib"].map("{:.2f}".format),
        }
    )
    of_large.index = [method.replace("_", " ") for method in of_large.index]
    of_large.index.name = "distance"
    return (
        f"{ABOUT}\n\n{markdown(table)}\n\nExponents: {line}.\n\n"
        f"{ABOUT_REDDIT}\n\n{markdown(of_large)}"
    )


def _exponent(seconds: pd.Series) -> float:
    large = seconds[seconds.index >= 10_000]
    return np.polyfit(np.log(large.index), np.log(large), 1)[0] if len(large) > 1 else np.nan
