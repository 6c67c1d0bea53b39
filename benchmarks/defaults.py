"""What each part of one view adds: one factor at a time."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import protocol
from benchmarks.methods import seeded
from benchmarks.protocol import DATASETS, SMALL, evaluate, load
from benchmarks.render import markdown, mean_std
from skgraphkde import (
    GCN,
    KDE,
    LGKDE,
    MMD,
    Density,
    GraphKDEDetector,
    NodeFeatures,
    Propagation,
)

TITLE = "What each part of one view adds"
ABOUT = """\
AUROC in percent of one view, the density under the MMD of which a share of the bias is removed,
with what the row names changed, by random features. The views are in
[another table](elsewhere.md). Labels of these data sets were used to choose the defaults, so the
means are optimistic. The number of folds is in parentheses after a data set, and after a figure
that has fewer. *Mean* is over the data sets that all rows have, *difference* is from the first row
over those that both have.
"""


def _one_view() -> Density:
    return Density(MMD(method="random_features"), KDE())


def _changed(**changes: Any) -> Callable[[int], GraphKDEDetector]:
    def detector(seed: int) -> GraphKDEDetector:
        detector = GraphKDEDetector(encoder=Propagation(), views=_one_view(), random_state=seed)
        return detector.set_params(**changes)

    return detector


class _Trained(LGKDE):
    """That view, with the network of LGKDE."""

    def _views(self) -> list[Any]:
        return [_one_view()]


def _trained(seed: int) -> LGKDE:
    return _Trained(
        features=NodeFeatures(),
        scale_points=False,
        learn_encoder=True,
        early_stopping=True,
        max_iter=20,
        random_state=seed,
    )


VARIANTS: dict[str, Callable[[int], Any]] = {
    "defaults": _changed(),
    "defaults, exact up to 100,000 nodes": _changed(views__distance__method="auto"),
    "features: label, else attribute, else degree": _changed(features=NodeFeatures("given")),
    "no convolution": _changed(encoder__n_layers=0),
    "one convolution": _changed(encoder__n_layers=1),
    "three convolutions": _changed(encoder__n_layers=3),
    "untrained GCN": _changed(encoder=GCN()),
    "trained GCN, 20 epochs": _trained,
    "biased MMD": _changed(views__distance__estimator="biased"),
    "unbiased MMD": _changed(views__distance__estimator="unbiased"),
    "no convolution, biased (the floor)": _changed(
        encoder__n_layers=0, views__distance__estimator="biased"
    ),
    "one kernel, gamma = 1": _changed(views__distance__gammas=(1.0,)),
    "one kernel, gamma = 100": _changed(views__distance__gammas=(100.0,)),
    "no size": _changed(views__kernels__size_kernel=False),
    "the paper's bandwidths": _changed(views__kernels__bandwidths=(0.01, 0.1, 1.0, 10.0, 100.0)),
}

TRAINED = ("trained GCN, 20 epochs",)


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every variant on every fold, the first fold of all first; no training on the large sets."""
    grid = product(range(n_folds), datasets or DATASETS, VARIANTS)
    return [
        {"dataset": dataset, "variant": variant, "fold": fold}
        for fold, dataset, variant in grid
        if variant not in TRAINED or dataset in SMALL
    ]


estimator = seeded(VARIANTS, "variant")


def measure(estimator: Any, dataset: str, variant: str, fold: int) -> dict[str, float]:
    """One fold, and the false alarms among its normal graphs."""
    train, test, y = protocol.fold(load(dataset), fold)
    values = evaluate(estimator, train, test, y)
    alarms = 100 * np.mean(estimator.predict(test[y == 1]) == -1)
    return {**values, "false_alarms": round(float(alarms), 4)}


def report(rows: pd.DataFrame) -> str:
    """One row per variant, with the mean and the difference from the defaults."""
    means = rows.pivot_table(index="variant", columns="dataset", values="auroc", sort=False)
    means = means.reindex(columns=[name for name in DATASETS if name in means])
    common = means.columns[means.notna().all()]
    n_folds = rows.groupby("dataset")["fold"].nunique()
    lines = {}
    for variant, of_variant in rows.groupby("variant", sort=False):
        of_sets = of_variant.groupby("dataset")["auroc"]
        lines[variant] = {name: mean_std(x, out_of=n_folds[name]) for name, x in of_sets}
        lines[variant]["mean"] = f"{means.loc[variant, common].mean():.1f}"
        difference = (means.loc[variant] - means.loc["defaults"]).mean()
        lines[variant]["difference"] = f"{difference:+.1f}"
        alarms = of_variant.groupby("dataset")["false_alarms"].mean().mean()
        lines[variant]["false alarms, %"] = "" if np.isnan(alarms) else f"{alarms:.1f}"
    columns = [*means.columns, "mean", "difference", "false alarms, %"]
    table = pd.DataFrame(lines).T.reindex(columns=columns)
    table.index.name = "variant"
    table = table.rename(columns={name: f"{name} ({n})" for name, n in n_folds.items()})
    return f"{markdown(table)}\n\nMean over {', '.join(common)}."
