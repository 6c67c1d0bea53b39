"""MMD time against graph size: single pairs of graphs, as in the paper's figure, and blocks."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.protocol import load
from benchmarks.render import markdown
from skgraphkde import GCN, NodeFeatures, paper_settings
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.mmd import FittedMMD
from skgraphkde.distances.random_features import draw_frequencies
from skgraphkde.propagation import MessageFlow

TITLE = "MMD time against graph size"
ABOUT = """\
REDDIT-BINARY in twelve bins of equal numbers of graphs; 50 random pairs from each bin, embedded by
an untrained encoder of width 128, five gammas. Milliseconds per pair, mean and standard deviation
over the pairs. *One pair per call* is what the paper measures; *all pairs in one call*, of the same
graphs, is what fit and score do. The paper, on an RTX 4090: 1.51 ± 0.13 ms at 24.5 nodes, 2.03 ±
0.58 at 1,987.9.
"""
ENGINES = ("exact", "random_features")
N_BINS, N_PAIRS = 12, 50


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every bin with both engines."""
    return [
        {"engine": engine, "size_bin": i}
        for i in range(N_BINS)
        for engine in ("exact", "random_features")
    ]


def estimator(engine: str, size_bin: int) -> None:
    """No estimator: the distance alone is measured."""


def measure(estimator: None, engine: str, size_bin: int) -> dict[str, float]:
    """Milliseconds per pair."""
    graphs = load("REDDIT-BINARY").graphs
    members = np.array_split(np.argsort(graphs.n_nodes_per_graph, kind="stable"), N_BINS)[size_bin]
    rng = np.random.RandomState(size_bin)
    pairs = members[np.array([rng.choice(len(members), 2, replace=False) for _ in range(N_PAIRS)])]
    features = NodeFeatures(paper_settings()["features"]).fit_transform(graphs)
    encoder = GCN(hidden_dim=128, n_layers=2).build(features.attributes.shape[1], seed=0).eval()
    frequencies = draw_frequencies(128, 512) if engine == "random_features" else None
    distance = FittedMMD(paper_settings()["views"].distance.gammas, frequencies=frequencies)

    def embedded(index: np.ndarray) -> DiscreteMeasures:
        with torch.no_grad():
            Z = encoder(MessageFlow.unmerged(features[index], 2)).numpy()
        return DiscreteMeasures.from_clouds(Z, features[index].node_ptr)

    P, Q = (embedded(side) for side in pairs.T)
    times = []
    distance.squared(P[:1], Q[:1])  # the first call is slow
    for i in range(N_PAIRS):
        start = time.perf_counter()
        distance.squared(P[i : i + 1], Q[i : i + 1])
        times.append(time.perf_counter() - start)
    start = time.perf_counter()
    distance.squared(P, Q)
    together = (time.perf_counter() - start) / N_PAIRS**2
    return {
        "nodes": round(float(graphs.n_nodes_per_graph[members].mean()), 1),
        "pair_ms": round(1e3 * float(np.mean(times)), 4),
        "pair_ms_std": round(1e3 * float(np.std(times)), 4),
        "block_ms": round(1e3 * together, 5),
    }


def report(rows: pd.DataFrame) -> str:
    """One row per bin."""
    table = pd.DataFrame(index=sorted(set(rows["nodes"])))
    for engine, of_engine in rows.groupby("engine"):
        of_engine = of_engine.set_index("nodes")
        single = of_engine[["pair_ms", "pair_ms_std"]].to_numpy()
        name = engine.replace("_", " ")
        table[f"{name}, one pair per call"] = [f"{m:.2f} ± {s:.2f}" for m, s in single]
        table[f"{name}, all pairs in one call"] = of_engine["block_ms"].map("{:.3f}".format)
    table.index.name = "mean nodes"
    return f"{ABOUT}\n\n{markdown(table)}"
