"""Sets that chose nothing: what the defaults are worth where no label has had a say."""

from typing import Any

import numpy as np
import pandas as pd

from benchmarks import protocol
from benchmarks.methods import DEEP, METHODS, seeded
from benchmarks.paper_tables import MAKERS
from benchmarks.protocol import METRICS, evaluate, load
from benchmarks.render import markdown, mean_std

TITLE = "Sets that chose nothing"
ABOUT = """\
AUROC in percent on sets whose labels had no part in any choice of ours. ER_MD: ligands of the
estrogen receptor as complete graphs, inactive ones the anomaly, and active ones. Cuneiform: one of
30 signs is the anomaly, each in turn. MUTAG and AIDS with the other class for the anomaly (size
decides AIDS, either way). Four families of random graphs, 300 of them for training, with anomalies
of the same family and other parameters. Five folds, or draws. Edge data are not read.
"""
#: Data set and anomaly class -> column.
SETS = {
    ("ER_MD", -1): "ER_MD, inactive",
    ("ER_MD", 1): "ER_MD, active",
    ("MUTAG", 1): "MUTAG, mutagenic",
    ("AIDS", 1): "AIDS, inactive",
}
N_SIGNS = 30
N_TRAIN = 300
ROWS = ("defaults", "one view", "size only", "WL-SVM", "WL-iF", "statistics+ECOD", *DEEP)


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every set, the first fold of all first."""
    folds = [(name, anomaly, fold) for fold in range(n_folds) for name, anomaly in SETS]
    folds += [("Cuneiform", sign, 0) for sign in range(N_SIGNS)]
    folds += [(family, -1, seed) for seed in range(n_folds) for family in MAKERS]
    return [
        {"dataset": name, "anomaly_class": anomaly, "fold": fold, "method": method}
        for name, anomaly, fold in folds
        if datasets is None or name in datasets
        for method in ROWS
        if method not in DEEP or name in ("ER_MD", "MUTAG")  # two cores are not enough for more
    ]


estimator = seeded(METHODS)


def measure(estimator: Any, method: str, **cell: Any) -> dict[str, float]:
    """One fold, or one draw."""
    return evaluate(estimator, *graphs(**cell))


def graphs(dataset: str, anomaly_class: int, fold: int) -> tuple[Any, Any, np.ndarray]:
    """Training graphs, test graphs and targets."""
    if dataset in MAKERS:
        drawn = MAKERS[dataset](N_TRAIN + 150, 150, random_state=fold)
        return drawn.graphs[:N_TRAIN], drawn.graphs[N_TRAIN:], drawn.target[N_TRAIN:]
    return protocol.fold(load(dataset, anomaly_class), fold)


def report(rows: pd.DataFrame) -> str:
    """Methods by sets, with mean and mean rank."""
    keys = zip(rows["dataset"], rows["anomaly_class"], strict=True)
    rows = rows.assign(title=[SETS.get(key, key[0]) for key in keys])
    columns = [*SETS.values(), "Cuneiform", *MAKERS]
    means = rows.pivot_table(index="method", columns="title", values=METRICS[0], sort=False)
    means = means.reindex(columns=[name for name in columns if name in means])
    common = means.columns[means.notna().all()]
    ranks = means[common].rank(ascending=False).mean(axis=1)
    lines = {
        method: {
            **{k: mean_std(x) for k, x in of_method.groupby("title")[METRICS[0]]},
            "mean": f"{means.loc[method, common].mean():.1f}",
            "rank": f"{ranks[method]:.1f}",
        }
        for method, of_method in rows.groupby("method", sort=False)
    }
    table = pd.DataFrame(lines).T.reindex(columns=[*means.columns, "mean", "rank"])
    table.index.name = "method"
    return f"{markdown(table)}\n\nMean and rank over {', '.join(common)}."
