"""Planted anomalies: whether detectors that train learn anything."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.methods import DEEP, METHODS
from benchmarks.protocol import evaluate
from benchmarks.render import markdown, mean_std

TITLE = "Planted anomalies"
ABOUT = """\
150 trees and cycles of 20 to 39 nodes for training; 50 others and 50 anomalies to score.
*Triangles*: an anomaly has five triangles more, and there are no labels. *Labels*: a tenth of the
nodes of a normal graph carry the second label, half of those of an anomaly. AUROC in percent with
the trained network and with the untrained one, and the training loss after the first and the last
epoch; three draws. A detector that passes here and fails elsewhere has learned something that is of
no use there.
"""
KINDS = ("triangles", "labels")
ROWS = ("defaults", *DEEP)


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on three draws of both kinds."""
    return [
        {"kind": kind, "method": method, "seed": seed}
        for seed in range(min(n_folds, 3))
        for kind in KINDS
        for method in ROWS
    ]


def estimator(kind: str, method: str, seed: int) -> Any:
    """The method, with a seed."""
    return METHODS[method](seed)


def measure(estimator: Any, kind: str, method: str, seed: int) -> dict[str, float]:
    """AUROC trained and untrained, and the losses."""
    rng = np.random.RandomState(seed)
    train = [_draw(kind, False, rng) for _ in range(150)]
    test = [_draw(kind, i >= 50, rng) for i in range(100)]
    y = np.repeat([1, -1], 50)
    values = evaluate(estimator, train, test, y) | {
        "untrained": np.nan,
        "first_loss": np.nan,
        "last_loss": np.nan,
    }
    if method in DEEP:
        untrained = estimator.scores_by_epoch(test)[0]
        values["untrained"] = round(100 * roc_auc_score(y, untrained), 4)
        values["first_loss"], *_, values["last_loss"] = estimator.history_["loss"][1:]
    return values


def _draw(kind: str, is_anomaly: bool, rng: np.random.RandomState) -> nx.Graph:
    n = rng.randint(20, 40)
    seed = int(rng.randint(2**31))
    graph = nx.cycle_graph(n) if rng.rand() < 0.5 else nx.random_labeled_tree(n, seed=seed)
    if kind == "labels":
        share = 0.5 if is_anomaly else 0.1
        labels = np.where(rng.permutation(n) < round(share * n), "b", "a").tolist()
        nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
    elif is_anomaly:
        for _ in range(5):
            nx.add_cycle(graph, rng.permutation(n)[:3].tolist())
    return graph


def report(rows: pd.DataFrame) -> str:
    """One table per kind."""
    parts = [ABOUT]
    for kind, of_kind in rows.groupby("kind", sort=False):
        lines = {}
        for method, of_method in of_kind.groupby("method", sort=False):
            lines[method] = {
                "AUROC": mean_std(of_method["auroc"]),
                "untrained": mean_std(of_method["untrained"]),
                "loss of the first epoch": mean_std(of_method["first_loss"], 5),
                "of the last": mean_std(of_method["last_loss"], 5),
            }
        table = pd.DataFrame(lines).T
        table.index.name = "method"
        parts += [f"### {kind.capitalize()}", markdown(table)]
    return "\n\n".join(parts)
