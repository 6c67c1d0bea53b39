"""What a GPU does: ``make gpu``, which measures on the card and writes docs/benchmarks/gpu.md.

Training and scoring with a GCN, on graphs like those of COLLAB, on the card and on the CPU, and how
much the scores differ.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch

from benchmarks.render import markdown
from skgraphkde import GCN, Contrastive, GraphBatch, GraphKDEDetector

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "gpu.md"


def random_graph(rng: np.random.RandomState) -> GraphBatch:
    """A graph of 50 to 100 nodes, a tenth of whose pairs are edges."""
    n = int(rng.randint(50, 100))
    upper = sp.triu(sp.random_array((n, n), density=0.1, rng=rng), 1)
    adjacency = sp.csr_array((upper + upper.T) > 0, dtype=float)
    return GraphBatch(np.array([0, n]), adjacency)


def main() -> None:
    """Measure, print and write the page."""
    if not torch.cuda.is_available():
        raise SystemExit("torch sees no GPU: nothing was measured")
    rng = np.random.RandomState(0)
    graphs = GraphBatch.concatenate([random_graph(rng) for _ in range(600)])
    rows, scores = [], {}
    for device in ("cuda", "cpu"):
        encoder = GCN(hidden_dim=128, device=device)
        for max_iter in (1, 5):  # the first compiles, and is not counted
            detector = GraphKDEDetector(
                views="density",
                encoder=encoder,
                training=Contrastive(max_iter=max_iter),
                random_state=0,
            )
            start = time.perf_counter()
            detector.fit(graphs[:500])
            fitted = time.perf_counter()
            scores[device] = detector.score_samples(graphs[500:])
            scored = time.perf_counter()
        rows.append(
            {
                "device": device,
                "fit, five epochs, s": f"{fitted - start:.2f}",
                "score 100 graphs, s": f"{scored - fitted:.3f}",
            }
        )
    difference = np.abs(scores["cuda"] - scores["cpu"]).max()
    text = f"# On a GPU\n\n`make gpu`, on {torch.cuda.get_device_name()}, "
    text += f"torch {torch.__version__}.\n\n{__doc__}\n{markdown(pd.DataFrame(rows), index=False)}"
    text += f"\n\nScores differ by {difference:.2g} at most.\n"
    print(text)
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
