"""Speed of the exact distance between all pairs of graphs. Nothing else may compute meanwhile."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.protocol import DATASETS, load
from benchmarks.render import markdown
from skgraphkde import GCN, GraphBatch, NodeFeatures
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.distances.mmd import FIVE_DECADES, FittedMMD
from skgraphkde.core.graphs.refinement import factorize
from skgraphkde.core.points.propagation import MessageFlow, node_colors

TITLE = "Speed of all pairs of distances"
ABOUT = """\
Squared MMD between all pairs of the first graphs of each data set, up to 10,000 nodes; label (or
attribute) and degree as node features, an untrained encoder of width 128, five gammas, single
precision, all cores. Medians of three, side by side in one run. *Ours* merges nodes of one color
first, which is counted. *Blocks* is torch by blocks of graphs: cdist, five exponentials, sums over
nodes. *Pair by pair* is the formula, on 300 random pairs, extrapolated. *Error* is the largest
difference from double precision.
"""
MAX_NODES, N_PAIRS, BLOCK = 10_000, 300, 64
MMD = FittedMMD(FIVE_DECADES)


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """One per data set."""
    return [{"dataset": dataset} for dataset in datasets or DATASETS]


def estimator(dataset: str) -> None:
    """No estimator: the distance alone is measured."""


def measure(estimator: None, dataset: str) -> dict[str, float]:
    """Seconds of each implementation, and how far their results are from double precision."""
    graphs = load(dataset).graphs
    order = np.random.RandomState(0).permutation(len(graphs))
    n = np.searchsorted(np.cumsum(graphs.n_nodes_per_graph[order]), MAX_NODES)
    graphs = graphs[np.sort(order[: max(2, n)])]
    kind = "label" if graphs.labels is not None else "attribute"
    kinds = () if kind == "attribute" and graphs.attributes is None else (kind,)
    features = NodeFeatures((*kinds, "degree")).fit_transform(graphs)
    encoder = GCN(hidden_dim=128, n_layers=2).build(features.attributes.shape[1], seed=0).eval()
    with torch.no_grad():
        flow = MessageFlow.unmerged(features, 2)
        encoder.standardize([flow])
        values = _seconds_of_all(features, encoder(flow), features.node_ptr)
    values |= {"graphs": len(graphs), "nodes": graphs.n_nodes}
    values["points"] = len(np.unique(node_colors(features, 2)[-1]))
    return {name: round(float(value), 6) for name, value in values.items()}


def _seconds_of_all(features: GraphBatch, Z: torch.Tensor, ptr: np.ndarray) -> dict[str, float]:
    points = Z.numpy()

    def merged() -> np.ndarray:
        first, number = factorize(node_colors(features, 2)[-1])
        return MMD.squared(DiscreteMeasures.of_nodes(points[first], number, ptr))

    n = len(ptr) - 1
    pairs = np.random.RandomState(0).randint(n, size=(N_PAIRS, 2))
    exact = MMD.squared(DiscreteMeasures.from_clouds(points.astype(float), ptr))
    ours, squared = _median(merged)
    blocks, of_blocks = _median(lambda: _blocks(Z, ptr))
    by_pair, _ = _median(lambda: _pair_by_pair(Z, ptr, pairs))
    return {
        "ours": ours,
        "blocks": blocks,
        "pairs": by_pair / N_PAIRS * n * (n + 1) / 2,
        "difference": np.abs(squared - exact).max(),
        "difference_blocks": np.abs(of_blocks.numpy() - exact).max(),
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
            for gamma in FIVE_DECADES
        ]
        values.append(torch.stack(squared).max())
    return torch.stack(values)


def _blocks(Z: torch.Tensor, ptr: np.ndarray) -> torch.Tensor:
    """A block of graphs against all graphs at a time."""
    n = len(ptr) - 1
    sizes = torch.from_numpy(np.diff(ptr))
    graph_of_node = torch.repeat_interleave(torch.arange(n), sizes)
    means = Z.new_empty((len(FIVE_DECADES), n, n))
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        D = torch.cdist(Z[ptr[first] : ptr[last]], Z) ** 2
        rows = graph_of_node[ptr[first] : ptr[last]] - first
        for s, gamma in enumerate(FIVE_DECADES):
            K = torch.exp(-gamma * D)
            half = K.new_zeros((last - first, K.shape[1])).index_add_(0, rows, K)
            sums = K.new_zeros((n, last - first)).index_add_(0, graph_of_node, half.T)
            means[s, first:last] = sums.T / (sizes[first:last, None] * sizes)
    own = means.diagonal(dim1=1, dim2=2)
    return (own[:, :, None] + own[:, None, :] - 2 * means).amax(0)


def report(rows: pd.DataFrame) -> str:
    """One row per data set."""
    rows = rows.set_index("dataset")
    rows = rows.reindex([name for name in DATASETS if name in rows.index])
    table = rows[["graphs", "nodes", "points"]].astype(int).astype(object)
    table["ours, s"] = rows["ours"].map("{:.3f}".format)
    for name, title in (("blocks", "blocks"), ("pairs", "pair by pair")):
        table[f"{title} / ours"] = (rows[name] / rows["ours"]).map("{:.1f}".format)
    for name, title in (("difference", "ours"), ("difference_blocks", "blocks")):
        table[f"error, {title}"] = rows[name].map("{:.0e}".format)
    return markdown(table)
