"""Threshold grid: AUROC and shares of changed edges over (tau_1, tau_2)."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.methods import paper_detector
from benchmarks.protocol import evaluate_fold, load
from benchmarks.render import averaged, of_paper, read_paper, side_by_side
from skgraphkde import SpectralEdges, Twins

TITLE = "Energy thresholds"
ABOUT = """\
The settings of the paper except for the energy thresholds. The AUROC is in percent. Shares of
changed edges are means and standard deviations over all graphs, in percent of a graph's edges, and
need no training. The spectrum is that of A, as in the text of the paper, or of A + I, with a
self-loop at each node, as in its code: the second gives the paper's table.
"""
GRID = list(product((0.45, 0.5, 0.55, 0.6), (0.7, 0.75, 0.8, 0.85)))
#: The "fold" of shares of edges, without self-loops and with them.
SHARES = {-1: "of A", -2: "of A + I"}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """The shares of edges on MUTAG, then every pair of thresholds on every fold."""
    shares = [
        {"dataset": "MUTAG", "tau_1": a, "tau_2": b, "fold": kind}
        for kind in SHARES
        for a, b in GRID
    ]
    return shares + [
        {"dataset": dataset, "tau_1": a, "tau_2": b, "fold": fold}
        for dataset in datasets or ["MUTAG"]
        for fold in range(n_folds)
        for a, b in GRID
    ]


def estimator(dataset: str, tau_1: float, tau_2: float, fold: int) -> Any:
    """The settings of the paper with other thresholds; None for the shares of edges."""
    if fold < 0:
        return None
    twins = Twins(edges=SpectralEdges(energy_thresholds=(tau_1, tau_2)))
    return paper_detector(training__twins=twins)(fold)


def measure(
    estimator: Any, dataset: str, tau_1: float, tau_2: float, fold: int
) -> dict[str, float]:
    """One fold, or the shares of edges."""
    empty = dict.fromkeys(("auroc", "fit_seconds", "added", "added_std", "removed", "removed_std"))
    if fold >= 0:
        values = evaluate_fold(estimator, dataset, fold)
        return empty | {name: values[name] for name in ("auroc", "fit_seconds")}
    graphs = load(dataset).graphs
    edges = SpectralEdges((tau_1, tau_2), self_loops=SHARES[fold] == "of A + I")
    removed, added = edges.twins(graphs)
    for name, twins in (("added", added), ("removed", removed)):
        change = np.abs(twins.n_edges_per_graph - graphs.n_edges_per_graph)
        percent = 100 * change / graphs.n_edges_per_graph
        empty |= {name: round(percent.mean(), 4), f"{name}_std": round(percent.std(), 4)}
    return empty


def report(rows: pd.DataFrame) -> str:
    """The AUROC by data set, then the shares of edges."""
    by = ["tau_1", "tau_2"]
    trained = rows[rows["fold"] >= 0]
    ours = pd.DataFrame(
        {name: averaged(of, by, ["auroc"])["auroc"] for name, of in trained.groupby("dataset")}
    )
    paper = of_paper(read_paper("thresholds"), by, "dataset")
    n_folds = trained.groupby("dataset")["fold"].nunique()
    titles = {name: f"{name} ({n_folds[name]})" for name in ours}
    parts = [ABOUT, "### AUROC (folds)", side_by_side(ours, paper, titles)]
    published = of_paper(read_paper("edge_changes"), by, "change")
    for kind, title in SHARES.items():
        shares = rows[rows["fold"] == kind].set_index(by)
        changes = pd.DataFrame(
            {
                name: [f"{m:.1f} ± {s:.1f}" for m, s in shares[[name, f"{name}_std"]].to_numpy()]
                for name in ("removed", "added")
            },
            index=shares.index,
        )
        parts += [f"### Changed edges, MUTAG, the spectrum {title}"]
        parts += [side_by_side(changes, published, {"removed": "removed", "added": "added"})]
    return "\n\n".join(parts)
