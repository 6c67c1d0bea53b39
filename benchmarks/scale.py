"""Growth with the number of graphs. Nothing else may compute meanwhile: take --jobs 1."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmarks.render import markdown
from skgraphkde import LGKDE, MMD, Density, GraphBatch, GraphKDEDetector, NodeFeatures

TITLE = "Growth with the number of graphs"
ABOUT = """\
Sparse random graphs of 15 to 25 nodes, a tree and a quarter as many edges again, as molecules are.
Degrees as node features, random features for the distance, 256 references drawn at random, all
cores. *Fit* is that of one view, *an epoch* one pass of training a GCN over the training graphs;
*score* scores as many new graphs from a `GraphBatch`, with that view, in another process. *Memory*
is the peak of each, including the graphs and what made them. The exponent is the slope of log
seconds on log graphs from 10,000 graphs on: 1 is linear.
"""
SIZES = (1_000, 10_000, 100_000, 1_000_000)
N_REFERENCES = 256
# Graphs that are made at once.
PART = 100_000


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every number of graphs, and an epoch up to 100,000 graphs."""
    sizes = [{"n_graphs": n, "max_iter": 0} for n in SIZES]
    return sizes + [{"n_graphs": n, "max_iter": 1} for n in SIZES[:-1]]


def estimator(n_graphs: int, max_iter: int) -> GraphKDEDetector:
    """Degrees as node features, random features, a bounded number of references; LGKDE trains."""
    parameters = {"features": NodeFeatures(("degree",)), "max_references": N_REFERENCES}
    parameters |= {"random_state": 0}
    if max_iter:
        return LGKDE(learn_encoder=True, max_iter=max_iter, **parameters)
    return GraphKDEDetector(views=Density(MMD(method="random_features")), **parameters)


def measure(estimator: GraphKDEDetector, n_graphs: int, max_iter: int) -> dict[str, float]:
    """Seconds and peak memory of a process that fits, and of another one that scores."""
    fitted, values = in_fresh_process(_fit, estimator, n_graphs)
    return values | in_fresh_process(_score, fitted, n_graphs)


def in_fresh_process(function: Callable, *arguments: Any) -> Any:
    """Result of a function in a process of its own, whose memory is that of the function."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(function, *arguments).result()


def _fit(estimator: GraphKDEDetector, n_graphs: int) -> tuple[GraphKDEDetector, dict[str, float]]:
    graphs = _random_graphs(n_graphs)
    estimator.fit(graphs[:500])  # what is compiled or loaded at the first call
    start = time.perf_counter()
    estimator.fit(graphs)
    values = {"fit_seconds": round(time.perf_counter() - start, 3)}
    history = getattr(estimator, "history_", {"seconds": []})
    values["epoch_seconds"] = round(sum(history["seconds"][1:]), 3)
    return estimator, values | {"fit_memory_gib": peak()}


def _score(fitted: GraphKDEDetector, n_graphs: int) -> dict[str, float]:
    graphs = _random_graphs(n_graphs, 1_000)
    fitted.score_samples(graphs[:500])
    start = time.perf_counter()
    fitted.score_samples(graphs)
    return {"score_seconds": round(time.perf_counter() - start, 3), "memory_gib": peak()}


def peak() -> float:
    """The largest memory of this process so far."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 3)


def _random_graphs(n_graphs: int, first_seed: int = 0) -> GraphBatch:
    """Graphs in parts, as making them takes several times their memory."""
    sizes = [min(PART, n_graphs - first) for first in range(0, n_graphs, PART)]
    parts = [_sparse_graphs(n, seed) for seed, n in enumerate(sizes, first_seed)]
    return GraphBatch.concatenate(parts)


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
    """One row per number of graphs, and the exponents."""
    rows = rows.set_index("n_graphs").sort_index()
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
    timed = (plain["fit_seconds"], trained["epoch_seconds"], plain["score_seconds"])
    exponents = zip(("fit", "an epoch", "score"), map(_exponent, timed), strict=True)
    line = "; ".join(f"{name} {value:.2f}" for name, value in exponents)
    return f"{markdown(table)}\n\nExponents: {line}."


def _exponent(seconds: pd.Series) -> float:
    large = seconds[seconds.index >= 10_000]
    return np.polyfit(np.log(large.index), np.log(large), 1)[0] if len(large) > 1 else np.nan
