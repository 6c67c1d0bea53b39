"""What a GPU does: ``make gpu``, which measures on the card and writes docs/benchmarks/gpu.md.

LGKDE on the card and on the CPU: fits and scores as by default and with one epoch of its network,
all pairs of distances, and how much the results differ.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.protocol import fit_and_score, fold, load
from benchmarks.render import markdown
from skgraphkde import LGKDE

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "gpu.md"
DEVICES = ("cuda", "cpu")
ONE_EPOCH = {"learn_encoder": True, "max_iter": 1}
#: Data set and parameters of LGKDE.
CASES: list[tuple[str, dict[str, Any]]] = [
    ("MUTAG", {}),
    ("PROTEINS", {}),
    ("NCI1", {}),
    ("NCI1", ONE_EPOCH),
]


def main() -> None:
    """Measure, print and write the page."""
    if not torch.cuda.is_available():
        raise SystemExit("torch sees no GPU: nothing was measured")
    rows = [measure(*case) for case in CASES]
    text = f"# On a GPU\n\n`make gpu`, on {torch.cuda.get_device_name()}, "
    text += f"torch {torch.__version__}.\n\n{__doc__}\nThe first fold of each data set, in seconds."
    text += f"\n\n{markdown(pd.DataFrame(rows), index=False)}\n"
    print(text)
    PAGE.write_text(text)


def measure(dataset: str, parameters: dict[str, Any]) -> dict[str, str]:
    """Seconds on each device as text, and how much scores and distances differ between them."""
    train, test, _ = fold(load(dataset), 0)
    values = {"data set": dataset, "network": "one epoch" if parameters else "untrained"}
    scores, distances = [], []
    for device in DEVICES:
        detector = LGKDE(device=device, random_state=0, **parameters)
        detector.fit(train[:50])  # compiles what is compiled at the first call
        of_test, seconds = fit_and_score(detector, train, test)
        start = time.perf_counter()
        distances.append(detector.pairwise_distances(train))
        seconds["pairs"] = time.perf_counter() - start
        scores.append(of_test)
        titles = {"fit_seconds": "fit", "score_seconds": "score", "pairs": "all pairs"}
        values |= {f"{titles[name]}, {device}": f"{x:.3f}" for name, x in seconds.items()}
    for name, (on_card, on_cpu) in {"scores": scores, "distances": distances}.items():
        values[f"{name} differ by"] = f"{np.abs(on_card - on_cpu).max():.2g}"
    return values


if __name__ == "__main__":
    main()
