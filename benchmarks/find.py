"""Find: one list that holds its own anomalies, and an analyst who looks at a few graphs at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import suites
from benchmarks.methods import peer
from benchmarks.protocol import SMALL
from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.copies import kinds_of

TITLE = "One list with its own anomalies"
ABOUT = """\
The four suites of [elsewhere](elsewhere.md), without DD, COLLAB and REDDIT-BINARY. Two thirds of the
normal graphs of a case, at most 400, and odd graphs that are 2, 5 or 10% of the list, judged by
each other, as `skgraphkde find` does; two draws. *Clean* is the same list, scored by the defaults
fitted on at most 400 other normal graphs. The others are fitted to the list, as `find` is. *Among
the first k* is the share of odd graphs among the k most anomalous, k being the number of odd ones:
the others are missed at first sight.
"""
ABOUT_LOOP = """\
An analyst looks at the most anomalous graphs without a verdict, a quarter of k at a time and at
least five, says of each whether it is odd, and fits again with all verdicts. Share of the odd
graphs found after k and after 2k looks, beside the order of the first fit. Labels of one half
chose how verdicts count; the other half confirms.
"""
SHARES, N_DRAWS = (0.02, 0.05, 0.1), 2
MAX_NORMAL, MIN_LOOKS = 400, 5
METHODS = ("find", "clean", "statistics, neighbors", "isolation forest")
CASES = tuple(x for x in suites.CASES if x[0] in "OP" or x[0] == "R" or x[2:] in SMALL)


def drawn(case: str, share: float, draw: int) -> tuple[GraphBatch, np.ndarray, GraphBatch]:
    """A list, its target, and other normal graphs.

    Graphs of one kind that look like one of the other are left out: no verdict tells them apart.
    """
    graphs, target = suites.everything(case)
    rng = np.random.RandomState(draw)
    (kinds,) = kinds_of(graphs)
    normal, odd = (rng.permutation(np.flatnonzero(target == y)) for y in (1, -1))
    odd = odd[~np.isin(kinds[odd], kinds[normal])]
    n = min(MAX_NORMAL, 2 * len(normal) // 3)
    listed = np.append(normal[:n], odd[: max(round(share / (1 - share) * n), 1)])
    listed = rng.permutation(listed)
    return graphs[listed], target[listed], graphs[normal[n : n + MAX_NORMAL]]
