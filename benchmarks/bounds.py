"""How many references: AUROC, false alarms and seconds for several bounds."""

import functools
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import library, suites
from benchmarks.render import markdown, mean_std
from skgraphkde import GraphKDEDetector
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.reading.files import find_files, read_batch

TITLE = "How many references"
ABOUT = """\
`max_references` bounds the training graphs with which each graph is compared. *In a list* is the
AUROC of a list with its own odd graphs, each judged by the others, as `find` does: one in a hundred
of 10,000 molecules of the [library](library.md), one in twenty of the others. *Known normal* is the
AUROC of new graphs, after a fit to the normal graphs of the same list; *false alarms* is the share
of new normal graphs that it flags, at `contamination=0.1`. *Against all* is the mean difference
from the same draw with all references, with the standard deviation over draws. CPU seconds of that
fit and of scoring 1,000 graphs, one thread; where few references have few different nodes, their
distances are exact, and take longer.
"""
BOUNDS = (250, 500, 1_000, 2_000, 5_000, 0)  # 0: all
N_MOLECULES, N_NEW, ODD_SHARE = 10_000, 4_000, 0.05
# Graphs that the fit gets, by data set; larger bounds are all of them.
SIZES = {"molecules": N_MOLECULES, "T/NCI1": 1_642, "T/REDDIT-BINARY": 800, "R/sepsis": 588}
N_DRAWS = 3


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every bound that a data set exceeds, and none."""
    return [
        {"dataset": dataset, "draw": draw, "bound": bound}
        for dataset, size in SIZES.items()
        for draw in range(N_DRAWS)
        for bound in BOUNDS
        if bound < size
    ]


def estimator(dataset: str, draw: int, bound: int) -> GraphKDEDetector:
    """The defaults with a bound."""
    schema = suites.PEOPLE["sepsis"] if dataset == "R/sepsis" else None
    schema = "molecule" if dataset == "molecules" else schema
    return GraphKDEDetector(schema=schema, max_references=bound or None, random_state=0)


def measure(estimator: GraphKDEDetector, dataset: str, draw: int, bound: int) -> dict[str, float]:
    """AUROCs in percent, the share of false alarms, and CPU seconds."""
    known, target, new, new_target = drawn(dataset, draw)
    in_list = roc_auc_score(target, estimator.fit(known).training_scores_)
    started = time.process_time()
    estimator.fit(known[target == 1])
    fitted = time.process_time()
    scores = estimator.score_samples(new)
    seconds = (time.process_time() - fitted) * 1_000 / len(new)
    return {
        "list_auroc": round(100 * float(in_list), 3),
        "new_auroc": round(100 * float(roc_auc_score(new_target, scores)), 3),
        "false_alarms": round(float((scores < estimator.offset_)[new_target == 1].mean()), 4),
        "fit_seconds": round(fitted - started, 2),
        "score_seconds": round(seconds, 2),
    }


@functools.lru_cache(maxsize=1)
def drawn(dataset: str, draw: int) -> tuple[GraphBatch, np.ndarray, GraphBatch, np.ndarray]:
    """A list with its target, and new graphs with theirs (1 normal, -1 odd)."""
    if dataset == "molecules":
        return *_molecules(N_MOLECULES, draw), *_molecules(N_NEW, 100 + draw)
    graphs, target = suites.everything(dataset)
    rng = np.random.RandomState(draw)
    normal, odd = (rng.permutation(np.flatnonzero(target == y)) for y in (1, -1))
    n = SIZES[dataset]
    n_odd = round(ODD_SHARE / (1 - ODD_SHARE) * n)
    listed = rng.permutation(np.append(normal[:n], odd[:n_odd]))
    new = np.append(normal[n:], odd[n_odd:])
    return graphs[listed], target[listed], graphs[new], target[new]


def _molecules(n_molecules: int, seed: int) -> tuple[GraphBatch, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "molecules.smi")
        kinds = library.write(path, n_molecules, seed)
        batch = read_batch(find_files([str(path)]), "molecule")
    return batch, np.where(kinds == "normal", 1, -1)


def report(rows: pd.DataFrame) -> str:
    """One row per data set and bound."""
    rows = rows.set_index(["dataset", "bound", "draw"])
    aurocs = rows[["list_auroc", "new_auroc"]]
    against_all = aurocs - aurocs.xs(0, level="bound").reindex(rows.index.droplevel("bound")).values
    table = {}
    for (dataset, bound), group in rows.groupby(level=["dataset", "bound"], sort=False):
        difference = against_all.loc[group.index]
        table[dataset, f"{bound:,}" if bound else "all"] = {
            "in a list": mean_std(group["list_auroc"]),
            "against all": mean_std(difference["list_auroc"]) if bound else "",
            "known normal": mean_std(group["new_auroc"]),
            "against all ": mean_std(difference["new_auroc"]) if bound else "",
            "false alarms": f"{group['false_alarms'].mean():.1%}",
            "fit, s": f"{group['fit_seconds'].mean():.1f}",
            "score, s": f"{group['score_seconds'].mean():.2f}",
        }
    frame = pd.DataFrame(table).T.rename_axis(["data set", "references"]).reset_index()
    return markdown(frame.set_index("data set"))
