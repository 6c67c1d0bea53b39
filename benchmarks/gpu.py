"""What a GPU does: ``make gpu``, which measures on the card and writes docs/benchmarks/gpu.md.

All pairs of graphs like those of REDDIT-BINARY and COLLAB, by the fused kernels, by blocks in plain
torch and, if it is installed, by KeOps, on the same card in the same run; an epoch of training; and
scoring, with results beside those of the CPU.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch

from benchmarks.render import markdown
from skgraphkde import GCN, Contrastive, GraphBatch, GraphKDEDetector, load
from skgraphkde.distances.mmd import FIVE_DECADES
from skgraphkde.learned.engines import torch_tiles

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "gpu.md"
# Graphs and mean nodes, as in the sets, and the coordinates of the paper's encoder.
LIKE = {"REDDIT-BINARY": (800, 430), "COLLAB": (2000, 75)}
SMALL = {"REDDIT-BINARY": (4, 40), "COLLAB": (6, 10)}
DIM, REPETITIONS = 128, 3


def clouds(n_graphs: int, mean_nodes: int, device: str) -> tuple[torch.Tensor, sp.csr_array]:
    """Points of random graphs, and the weights of each graph on them."""
    rng = np.random.RandomState(0)
    sizes = np.maximum(2, rng.lognormal(np.log(mean_nodes), 0.5, n_graphs)).astype(int)
    points = torch.from_numpy(rng.standard_normal((sizes.sum(), DIM)) / np.sqrt(DIM))
    ptr = np.append(0, np.cumsum(sizes))
    data = np.repeat(1.0 / sizes, sizes)
    weights = sp.csr_array((data, np.arange(len(points)), ptr), shape=(n_graphs, len(points)))
    return points.float().to(device), weights


def seconds(function: Callable[[], Any], device: str) -> float:
    """The fastest of some calls, after one that compiles."""
    best = np.inf
    for _ in range(1 + REPETITIONS):
        start = time.perf_counter()
        function()
        if device == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


def keops_means(x: torch.Tensor, W: sp.csr_array, gammas: tuple[float, ...]) -> list:
    """W K W' by KeOps: K W' without K in memory, then a sparse product."""
    from pykeops.torch import LazyTensor

    columns = torch.from_numpy(W.T.toarray()).to(x)
    D = ((LazyTensor(x[:, None, :]) - LazyTensor(x[None, :, :])) ** 2).sum(-1)
    return [columns.T @ ((-gamma * D).exp() @ columns) for gamma in gammas]


def peak_flops(device: str) -> float:
    """Multiplications and additions a second that a product of matrices reaches."""
    n = 8192 if device == "cuda" else 512
    A = torch.ones(n, n, device=device)
    return 2 * n**3 / seconds(lambda: A @ A, device)


def all_pairs(sizes: dict[str, tuple[int, int]], device: str) -> pd.DataFrame:
    """Milliseconds of all pairs of graphs by each engine, and the share of the peak."""
    from skgraphkde.learned.engines import triton_gpu

    peak, rows = peak_flops(device), []
    for name, size in sizes.items():
        x, W = clouds(*size, device)
        fused, tiles = (
            seconds(partial(engine.kernel_means, x, W, None, None, FIVE_DECADES), device)
            for engine in (triton_gpu, torch_tiles)
        )
        keops = np.nan
        if importlib.util.find_spec("pykeops") is not None:
            keops = seconds(partial(keops_means, x, W, FIVE_DECADES), device)
        # Half of the pairs: a product of DIM coordinates, and an exponential per gamma.
        flops = len(x) ** 2 / 2 * (2 * DIM + 20 * len(FIVE_DECADES))
        rows.append(
            {
                "like": name,
                "graphs": size[0],
                "nodes": len(x),
                "fused, ms": 1e3 * fused,
                "plain torch / fused": tiles / fused,
                "KeOps / fused": keops / fused,
                "share of the peak": flops / fused / peak,
            }
        )
    return pd.DataFrame(rows)


def across_devices(device: str, folder: Path) -> pd.DataFrame:
    """Seconds of training and scoring on the card and on the CPU, and how the scores differ."""
    rng = np.random.RandomState(0)
    batch = GraphBatch.concatenate([_random_graph(rng) for _ in range(300)])
    rows, scores = [], {}
    for where in dict.fromkeys((device, "cpu")):
        training = Contrastive(max_iter=2)
        detector = GraphKDEDetector(
            encoder=GCN(hidden_dim=128), training=training, device=where, random_state=0
        )
        start = time.perf_counter()
        detector.fit(batch[:200])
        fitted = time.perf_counter()
        scores[where] = detector.score_samples(batch[200:])
        scored = time.perf_counter()
        detector.save(folder / f"{where}.skg")
        loaded = load(folder / f"{where}.skg").set_params(device="cpu")
        difference = np.abs(loaded.score_samples(batch[200:]) - scores[where]).max()
        rows.append(
            {
                "device": where,
                "fit, two epochs, s": fitted - start,
                "score 100 graphs, s": scored - fitted,
                "score of the file on the CPU differs by": difference,
            }
        )
    return pd.DataFrame(rows)


def _random_graph(rng: np.random.RandomState) -> GraphBatch:
    n = int(rng.randint(10, 60))
    upper = sp.triu(sp.random_array((n, n), density=0.1, rng=rng), 1)
    adjacency = sp.csr_array((upper + upper.T) > 0, dtype=float)
    return GraphBatch(np.array([0, n]), adjacency)


def _short(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return "" if np.isnan(value) else f"{value:.3g}"


def main() -> None:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="few graphs, in Triton's interpreter")
    small = parser.parse_args().small
    if not small and not torch.cuda.is_available():
        raise SystemExit("torch sees no GPU: nothing was measured")
    device = "cpu" if small else "cuda"
    name = "Triton's interpreter" if small else torch.cuda.get_device_name()
    with tempfile.TemporaryDirectory() as folder:
        tables = [all_pairs(SMALL if small else LIKE, device), across_devices(device, Path(folder))]
    text = f"# On a GPU\n\n`make gpu`, on {name}, torch {torch.__version__}.\n\n{__doc__}\n"
    text += "\n\n".join(markdown(table.map(_short), index=False) for table in tables) + "\n"
    print(text)
    if not small:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
