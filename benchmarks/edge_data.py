"""Sets of the TU collection with the data of their edges, and without."""

from __future__ import annotations

import functools
from typing import Any

import pandas as pd

from benchmarks import protocol
from benchmarks.protocol import evaluate
from benchmarks.render import markdown, mean_std
from skgraphkde import GraphKDEDetector
from skgraphkde.datasets import fetch_tu_dataset

TITLE = "Data of edges"
ABOUT = """\
AUROC in percent of the defaults with the data of edges that the collection has (bond types; in
ER_MD and Cuneiform also lengths), and without, as in all other tables and in the paper. Five folds;
of Cuneiform one fold for each of 30 signs, each in turn the anomaly. *Labels of MUTAG and AIDS
chose the defaults*, without the data of edges; ER_MD and Cuneiform chose nothing.
"""
#: Data set and anomaly class -> column. None: the usual class.
SETS: dict[tuple[str, int | None], str] = {
    ("MUTAG", None): "MUTAG",
    ("AIDS", None): "AIDS",
    ("ER_MD", -1): "ER_MD, inactive",
    ("ER_MD", 1): "ER_MD, active",
}
N_SIGNS = 30


@functools.lru_cache(maxsize=1)
def _load(dataset: str, anomaly_class: int | None, edge_data: bool) -> Any:
    return fetch_tu_dataset(dataset, anomaly_class=anomaly_class, edge_data=edge_data)


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """All folds of all sets, without the data of edges and with it."""
    folds: list[tuple[str, int | None, int]] = [
        (name, anomaly, fold) for fold in range(n_folds) for name, anomaly in SETS
    ]
    folds += [("Cuneiform", sign, 0) for sign in range(N_SIGNS)]
    return [
        {"dataset": name, "anomaly_class": anomaly, "fold": fold, "edge_data": edge_data}
        for name, anomaly, fold in folds
        if datasets is None or name in datasets
        for edge_data in (False, True)
    ]


def estimator(
    dataset: str, anomaly_class: int | None, fold: int, edge_data: bool
) -> GraphKDEDetector:
    """The defaults, seeded with the fold."""
    return GraphKDEDetector(random_state=fold)


def measure(
    estimator: GraphKDEDetector,
    dataset: str,
    anomaly_class: int | None,
    fold: int,
    edge_data: bool,
) -> dict[str, float]:
    """One fold."""
    data = _load(dataset, anomaly_class, edge_data)
    return evaluate(estimator, *protocol.fold(data, fold))


def report(rows: pd.DataFrame) -> str:
    """Two rows: without the data of edges, and with it."""
    keys = zip(rows["dataset"], rows["anomaly_class"], strict=True)
    known = {(name, -9 if x is None else x): title for (name, x), title in SETS.items()}
    titles = [known.get((name, -9 if pd.isna(x) else int(x)), name) for name, x in keys]
    rows = rows.assign(title=titles)
    lines = {
        "with the data of edges" if edge_data else "without": {
            title: mean_std(of_set["auroc"]) for title, of_set in of_way.groupby("title")
        }
        for edge_data, of_way in rows.groupby("edge_data")
    }
    table = pd.DataFrame(lines).T.reindex(columns=[*SETS.values(), "Cuneiform"])
    table.index.name = "the defaults"
    return f"{ABOUT}\n\n{markdown(table)}"
