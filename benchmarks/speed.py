"""Speed of the exact distance between all pairs of graphs. Nothing else may compute meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import torch
from threadpoolctl import threadpool_limits

from benchmarks.protocol import DATASETS, load
from benchmarks.render import markdown
from skgraphkde import GCN, GraphBatch, NodeFeatures, paper_settings
from skgraphkde.distances.engines.cpu import TILE
from skgraphkde.distances.engines.cpu_loops import gaussian
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.mmd import FittedMMD
from skgraphkde.propagation import MessageFlow, node_colors

TITLE = "Speed of all pairs of distances"
ABOUT = """\
Squared MMD between all pairs of the first graphs of each data set, up to 10,000 nodes; label (or
attribute) and degree as node features, an untrained encoder of width 128, five gammas, single
precision, all cores; the embedding is not counted. Medians of three, side by side in one run.
*Ours* merges nodes of one color first, which is counted. *Tiles* is ours without merging. *Blocks*
is torch by blocks of graphs: cdist, five exponentials, sums over nodes. *KeOps* sums the kernels of
all nodes with those of one graph at a time, for a tenth of the graphs, extrapolated. *Pair by pair*
is the formula, on 300 random pairs, extrapolated. *The limit* is what the matrix products and the
exponentials of half of all pairs of points, after merging, take by themselves, in the cache, on all
cores, measured in this run. *Error* is the largest difference from double precision.
"""
MAX_NODES, N_PAIRS, BLOCK = 10_000, 300, 64
GAMMAS = paper_settings()["views"].distance.gammas
MMD = FittedMMD(GAMMAS)


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """One per data set."""
    return [{"dataset": dataset} for dataset in datasets or DATASETS]


def estimator(dataset: str) -> None:
    """No estimator: the distance alone is measured."""


def measure(estimator: None, dataset: str) -> dict[str, float]:
    """Seconds of each implementation, and how far their results are from double precision."""
    graphs = _first_graphs(load(dataset).graphs)
    kinds = [kind for kind in ("label", "attribute") if _has(graphs, kind)][:1]
    features = NodeFeatures((*kinds, "degree")).fit_transform(graphs)
    encoder = GCN(hidden_dim=128, n_layers=2).build(features.attributes.shape[1], seed=0).eval()
    with torch.no_grad():
        flow = MessageFlow.unmerged(features, 2)
        encoder.standardize([flow])
        Z = encoder(flow)
        ptr = features.node_ptr
        values = _seconds_of_all(features, Z, ptr)
    colors = node_colors(features, 2)[-1]
    n_points = len(np.unique(colors))
    values |= {"graphs": len(graphs), "nodes": len(Z), "points": n_points}
    per_product, per_exponential = _limits()
    half = n_points * (n_points + 1) / 2
    values["limit"] = half * (per_product + len(GAMMAS) * per_exponential)
    return {name: round(float(value), 6) for name, value in values.items()}


def _first_graphs(graphs: GraphBatch) -> GraphBatch:
    order = np.random.RandomState(0).permutation(len(graphs))
    n = np.searchsorted(np.cumsum(graphs.n_nodes_per_graph[order]), MAX_NODES)
    return graphs[np.sort(order[: max(2, n)])]


def _has(graphs: GraphBatch, kind: str) -> bool:
    return (graphs.labels if kind == "label" else graphs.attributes) is not None


def _seconds_of_all(features: GraphBatch, Z: torch.Tensor, ptr: np.ndarray) -> dict[str, float]:
    points = Z.numpy()
    clouds = DiscreteMeasures.from_clouds(points, ptr)

    def merged() -> np.ndarray:
        colors = node_colors(features, 2)[-1]
        return MMD.squared(DiscreteMeasures.from_colors(points, colors, colors, ptr))

    pairs = np.random.RandomState(0).randint(len(ptr) - 1, size=(N_PAIRS, 2))
    by_pair, of_pairs = _median(lambda: _pair_by_pair(Z, ptr, pairs))
    exact = MMD.squared(DiscreteMeasures.from_clouds(points.astype(float), ptr))
    ours, squared = _median(merged)
    tiles, _ = _median(lambda: MMD.squared(clouds))
    blocks, of_blocks = _median(lambda: _blocks(Z, ptr))
    n = len(ptr) - 1
    some = range(0, n, 10)
    keops, _ = _median(lambda: _keops(Z, ptr, some))
    return {
        "ours": ours,
        "tiles": tiles,
        "blocks": blocks,
        "keops": keops / len(some) * n,
        "pairs": by_pair / N_PAIRS * n * (n + 1) / 2,
        "difference": np.abs(squared - exact).max(),
        "difference_blocks": np.abs(of_blocks.numpy() - exact).max(),
        "difference_pairs": np.abs(of_pairs.numpy() - exact[tuple(pairs.T)]).max(),
    }


def _median(function: Callable[[], Any]) -> tuple[float, Any]:
    """Median seconds of three calls after a first one, and what it returns."""
    result, times = function(), []
    for _ in range(3):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), result


def _pair_by_pair(Z: torch.Tensor, ptr: np.ndarray, pairs: np.ndarray) -> torch.Tensor:
    """The paper's eq. mmd_distance, as written."""
    values = []
    for i, j in pairs:
        x, y = Z[ptr[i] : ptr[i + 1]], Z[ptr[j] : ptr[j + 1]]
        squared = [
            torch.exp(-gamma * torch.cdist(x, x) ** 2).mean()
            + torch.exp(-gamma * torch.cdist(y, y) ** 2).mean()
            - 2 * torch.exp(-gamma * torch.cdist(x, y) ** 2).mean()
            for gamma in GAMMAS
        ]
        values.append(torch.stack(squared).max())
    return torch.stack(values)


def _blocks(Z: torch.Tensor, ptr: np.ndarray) -> torch.Tensor:
    """A block of graphs against all graphs at a time."""
    n = len(ptr) - 1
    sizes = torch.from_numpy(np.diff(ptr))
    graph_of_node = torch.repeat_interleave(torch.arange(n), sizes)
    means = Z.new_empty((len(GAMMAS), n, n))
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        D = torch.cdist(Z[ptr[first] : ptr[last]], Z) ** 2
        rows = graph_of_node[ptr[first] : ptr[last]] - first
        for s, gamma in enumerate(GAMMAS):
            K = torch.exp(-gamma * D)
            half = K.new_zeros((last - first, K.shape[1])).index_add_(0, rows, K)
            sums = K.new_zeros((n, last - first)).index_add_(0, graph_of_node, half.T)
            means[s, first:last] = sums.T / (sizes[first:last, None] * sizes)
    own = means.diagonal(dim1=1, dim2=2)
    return (own[:, :, None] + own[:, None, :] - 2 * means).amax(0)


def _keops(Z: torch.Tensor, ptr: np.ndarray, some: Iterable[int]) -> torch.Tensor:
    """Sums of the kernels between all nodes and those of one graph at a time, for some graphs."""
    from pykeops.torch import LazyTensor  # looks for a compiler when it is imported

    x, gammas = LazyTensor(Z[:, None, :]), LazyTensor(-torch.tensor(GAMMAS, dtype=Z.dtype))
    sums = []
    for j in some:
        y = LazyTensor(Z[None, ptr[j] : ptr[j + 1], :])
        sums.append((((x - y) ** 2).sum(-1) * gammas).exp().sum(1))
    return torch.stack(sums)


def _limits() -> tuple[float, float]:
    """Seconds per pair of points for a matrix product (d = 128), and for a kernel, in the cache."""
    rng, n_threads = np.random.default_rng(0), torch.get_num_threads()
    y, x = (rng.standard_normal((TILE, 128), np.float32) for _ in range(2))
    D = np.empty((TILE, TILE), np.float32)
    with threadpool_limits(1, user_api="blas"):
        product, _ = _median(lambda: [np.matmul(y, x.T, out=D) for _ in range(100)][-1])
    t, out, gamma = D[:16].ravel() ** 2, np.empty(16 * TILE, np.float32), np.float32(0.1)
    kernel, _ = _median(lambda: [gaussian(t, gamma, out) for _ in range(100)][-1])
    return product / (100 * D.size * n_threads), kernel / (100 * t.size * n_threads)


def report(rows: pd.DataFrame) -> str:
    """One row per data set."""
    rows = rows.set_index("dataset").reindex(
        [name for name in DATASETS if name in set(rows["dataset"])]
    )
    table = rows[["graphs", "nodes", "points"]].astype(int).astype(object)
    table["ours, s"] = rows["ours"].map("{:.3f}".format)
    others = {"tiles": "tiles", "blocks": "blocks", "keops": "KeOps", "pairs": "pair by pair"}
    for name, title in others.items():
        table[f"{title} / ours"] = (rows[name] / rows["ours"]).map("{:.1f}".format)
    table["ours / limit"] = (rows["ours"] / rows["limit"]).map("{:.1f}".format)
    for name, title in (("difference", "ours"), ("difference_blocks", "blocks")):
        table[f"error, {title}"] = rows[name].map("{:.0e}".format)
    return f"{ABOUT}\n\n{markdown(table)}"
