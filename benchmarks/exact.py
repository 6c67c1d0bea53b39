"""Random features of the defaults beside exact distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from benchmarks import protocol
from benchmarks.render import markdown
from skgraphkde import MMD, Density, GraphKDEDetector

TITLE = "The defaults beside exact distances"
ABOUT = """\
Above 5,000 training nodes that look different, the defaults take random features. *Exact* is the
same detector with `MMD(method="exact")`, which computes all distances in double precision. Mean
AUROC, in percent, the largest difference in a fold, and the share of the normal test graphs that
`predict` flags at `contamination=0.1`; in parentheses: folds. In sets of fewer such nodes both are
the same.
"""


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """One per fold, set by set."""
    return [
        {"dataset": dataset, "fold": fold}
        for dataset in datasets or protocol.DATASETS
        for fold in range(n_folds)
    ]


def estimator(dataset: str, fold: int) -> GraphKDEDetector:
    """The defaults."""
    return GraphKDEDetector(random_state=0)


def measure(estimator: GraphKDEDetector, dataset: str, fold: int) -> dict[str, float]:
    """AUROC and false alarms of both."""
    graphs = protocol.fold(protocol.load(dataset), fold)
    values = _evaluated(estimator, *graphs)
    model = estimator.model_
    methods = {model.views[i].distance_.method for i in model.densities}
    values["random_features"] = float("random_features" in methods)
    exact = [MMD(estimator="biased", method="exact"), MMD(gammas=(1.0,), method="exact")]
    others = [view for i, view in enumerate(model.views) if i not in model.densities]
    views = (*map(Density, exact), *map(clone, others))
    of_exact = _evaluated(GraphKDEDetector(views=views, random_state=0), *graphs)
    return values | {f"exact_{name}": value for name, value in of_exact.items()}


def _evaluated(
    detector: GraphKDEDetector, train: Any, test: Any, target: np.ndarray
) -> dict[str, float]:
    scores = detector.fit(train).score_samples(test)
    flagged = scores[target == 1] < detector.offset_
    return {
        "auroc": round(100 * roc_auc_score(target, scores), 4),
        "false_alarms": round(float(np.mean(flagged)), 5),
    }


def report(rows: pd.DataFrame) -> str:
    """One row per data set."""
    rows = rows.assign(difference=(rows["auroc"] - rows["exact_auroc"]).abs())
    table = []
    for dataset, of_set in rows.groupby("dataset", sort=False):
        mean = of_set.mean(numeric_only=True)
        table.append(
            {
                "dataset": f"{dataset} ({len(of_set)})",
                "random features": "yes" if mean["random_features"] else "no",
                "AUROC": f"{mean['auroc']:.2f}",
                "exact": f"{mean['exact_auroc']:.2f}",
                "largest difference": f"{of_set['difference'].max():.2f}",
                "false alarms": f"{mean['false_alarms']:.3f}",
                "exact, false alarms": f"{mean['exact_false_alarms']:.3f}",
            }
        )
    return f"{ABOUT}\n\n{markdown(pd.DataFrame(table), index=False)}"
