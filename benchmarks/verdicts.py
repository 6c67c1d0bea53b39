"""Verdicts of people: what a few known anomalies are worth."""

import copy
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import suites
from benchmarks.methods import defaults
from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector

TITLE = "Verdicts of people"
ABOUT = """\
The four suites of [elsewhere](elsewhere.md). AUROC in percent on the test graphs without a verdict,
and in brackets the difference from the defaults on the same graphs; sets with fewer than eight such
anomalies are left out, so rows are over different sets. Labels took part in the choice of the
defaults, and of the penalty; from a half to twice its value, means differ by less than a point.
"""
ABOUT_DRAWN = """\
`learn` gets anomalies drawn at random from the test graphs, which are then left out. *One in five
wrong*: a fifth of them are normal graphs. *False alarms* is the share of the normal graphs below
the threshold, at `contamination=0.1`.
"""
DRAWN = (3, 5, 10, 20, 40)
WRONG = (5, 20)
ROUNDS = [(f"drawn_{n}", n, 0) for n in DRAWN] + [(f"wrong_{n}", n, n // 5) for n in WRONG]
LEAST = 8  # anomalies without a verdict
SUITES = list("TORP")


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every fold of every case; `datasets` are cases such as "R/zoo"."""
    return [
        {"dataset": case, "fold": fold}
        for case in datasets or suites.CASES
        for fold in range(min(n_folds, suites.n_folds(case)))
    ]


estimator = defaults


def measure(estimator: GraphKDEDetector, dataset: str, fold: int) -> dict[str, float]:
    """AUROC with verdicts, and without them on the same graphs."""
    train, test, y = suites.fold(dataset, fold)
    estimator.fit(train)
    before = estimator.score_samples(test)
    rng = np.random.RandomState(fold)
    values = {}
    for name, n, n_wrong in ROUNDS:
        # Verdicts "anomaly" on graphs drawn at random, of which some are normal.
        odd, normal = (rng.permutation(np.flatnonzero(y == x)) for x in (-1, 1))
        marked = np.concatenate([odd[: n - n_wrong], normal[:n_wrong]])
        rest = np.setdiff1d(np.arange(len(y)), marked)
        figures = dict.fromkeys(("auroc", "gain", "alarms"), np.nan)
        if (y[rest] == -1).sum() >= LEAST:
            detector = copy.copy(estimator).learn(test[marked], np.full(n, -1))
            scores, target = detector.score_samples(test[rest]), y[rest]
            auroc, old = (100 * roc_auc_score(target, x) for x in (scores, before[rest]))
            alarms = np.mean(scores[target == 1] < detector.offset_)
            figures = {"auroc": auroc, "gain": auroc - old, "alarms": alarms}
        values |= {f"{name}_{kind}": round(float(x), 4) for kind, x in figures.items()}
    return values


def report(rows: pd.DataFrame) -> str:
    """A table of numbers of verdicts, and one of cases."""
    of_case = rows.groupby("dataset", sort=False).mean(numeric_only=True)
    drawn = {f"{n} anomalies": f"drawn_{n}" for n in DRAWN}
    drawn |= {f"{n}, one in five wrong": f"wrong_{n}" for n in WRONG}
    lines = []
    for words, name in drawn.items():
        means = of_case.groupby(of_case.index.str[0]).mean().reindex(SUITES)
        line = {"verdicts": words}
        for suite in SUITES:
            auroc, gain = means.loc[suite, f"{name}_auroc"], means.loc[suite, f"{name}_gain"]
            line[suite] = f"{auroc:.1f} ({_signed(gain)})"
        alarms = means[f"{name}_alarms"].map("{:.3f}".format)
        line[f"false alarms ({', '.join(SUITES)})"] = ", ".join(alarms)
        lines.append(line)
    table = pd.DataFrame({str(n): of_case[f"drawn_{n}_gain"].map(_signed) for n in DRAWN})
    table.index.name = "difference with so many known anomalies"
    parts = ["### Known anomalies", ABOUT_DRAWN, markdown(pd.DataFrame(lines), index=False)]
    return "\n\n".join([*parts, "### Cases", markdown(table)])


def _signed(x: float) -> str:
    return "" if np.isnan(x) else f"{x:+.1f}"
