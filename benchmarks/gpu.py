"""What a GPU does: ``make gpu``, which measures on the card and writes docs/benchmarks/gpu.md.

Training and scoring with a GCN, on graphs like those of COLLAB, on the card and on the CPU, and how
much the scores differ.
"""

from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import torch

from benchmarks.protocol import fit_and_score
from benchmarks.render import markdown
from skgraphkde import GCN, Contrastive, GraphKDEDetector, read_graphs

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "gpu.md"


def main() -> None:
    """Measure, print and write the page."""
    if not torch.cuda.is_available():
        raise SystemExit("torch sees no GPU: nothing was measured")
    rng = np.random.RandomState(0)
    graphs = read_graphs(
        [nx.fast_gnp_random_graph(rng.randint(50, 100), 0.1, seed=rng) for _ in range(600)]
    )
    detector = GraphKDEDetector(
        views="density", encoder=GCN(hidden_dim=128), training=Contrastive(), random_state=0
    )
    rows, scores = [], {}
    for device in ("cuda", "cpu"):
        for max_iter in (1, 5):  # the first compiles, and is not counted
            detector.set_params(encoder__device=device, training__max_iter=max_iter)
            scores[device], seconds = fit_and_score(detector, graphs[:500], graphs[500:])
        fit, score = seconds["fit_seconds"], seconds["score_seconds"]
        times = {"fit, five epochs, s": f"{fit:.2f}", "score 100 graphs, s": f"{score:.3f}"}
        rows.append({"device": device, **times})
    difference = np.abs(scores["cuda"] - scores["cpu"]).max()
    text = f"# On a GPU\n\n`make gpu`, on {torch.cuda.get_device_name()}, "
    text += f"torch {torch.__version__}.\n\n{__doc__}\n{markdown(pd.DataFrame(rows), index=False)}"
    text += f"\n\nScores differ by {difference:.2g} at most.\n"
    print(text)
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
