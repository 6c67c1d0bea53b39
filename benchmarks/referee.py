"""The referee: one protocol for detectors of odd graphs, which others can run and add to."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks import suites
from benchmarks.methods import DEEP, METHODS, peer, seeded
from benchmarks.peers.template import HELD_OUT, Template
from benchmarks.protocol import BOTH
from benchmarks.render import markdown, rounded
from skgraphkde import LGKDE
from skgraphkde.core.scoring.calibration import discoveries

TITLE = "The referee"
PREVALENCES = (0.01, 0.05, 0.1)
ALPHA = 0.1
N_DRAWS = 20
N_FOLDS = 2
FLOOR = "size only"
ABOUT = f"""\
One protocol for all detectors of odd graphs. A detector is fitted to normal graphs alone and
scores each test graph by itself. No label is read before all scores are there: none chooses an
epoch, a parameter or an orientation. The cases are those of [elsewhere](elsewhere.md): twelve
sets (T), eight of them with the other class for the anomaly (O), eight real tasks (R), five pairs
of collections (P). Labels of half of these cases chose our defaults. Two folds of each, seeded by
the fold.

*AUROC* is of all test graphs. For the rest, {N_DRAWS} lists are drawn, of all normal test graphs
and as many odd ones as a prevalence of 1, 5 or 10% asks for, at least one. *Average precision* of
a detector that guesses is the prevalence. *FDP* and *power*: the share of normal graphs among
those selected at alpha = {ALPHA} (Benjamini and Hochberg, on conformal p-values), and the share
of odd graphs that are selected. FDP is to be at most alpha; with few known graphs no p-value is
small enough for one odd graph of a hundred, and the power is 0. *False alarms*: share of normal
graphs with p <= .1. *Above the floor*: cases in which the AUROC is above that of the numbers of
nodes and edges. *Template* is the detector to copy, which counts triangles.

Peers hold out three tenths of the training graphs for their p-values; defaults, LGKDE and sizes
leave each graph out. OCGIN, OCGTL, GLocalKD and SIGNET are written from their papers' equations
and stop by a held-out loss; they take minutes a fold on two cores, so that few of their cases are
measured yet.

**UB-GOLD** (Wang et al., ICLR 2025) has 35 data sets of four scenarios: intrinsic anomalies,
anomalies by class, shifts between data sets, shifts within one. Class anomalies are T and O here,
in both orientations where there they are in one; shifts between sets are P; some of R are
intrinsic. Shifts of size, scaffold and assay within one set are not here. It searches parameters,
and its code takes the best epoch on the test labels; here nothing is searched. It has no
calibrated verdicts.

**Add yours**: copy [`benchmarks/peers/template.py`](../../benchmarks/peers/template.py), name the
copy in `DETECTORS` of `benchmarks/referee.py`, and send what `python -m benchmarks referee
--methods NAME` has added to `benchmarks/results/referee.csv`. What you chose by labels of these
cases, say so.
"""
#: Names -> functions from a seed to an unfitted detector.
DETECTORS: dict[str, Any] = {
    "defaults": METHODS["defaults"],
    "LGKDE": lambda seed: LGKDE(random_state=seed),
    FLOOR: METHODS[FLOOR],
    "statistics, neighbors": peer(
        "vectors", "StatisticsDetector", detector="neighbors", calibration=HELD_OUT
    ),
    "WL kernel, neighbors": peer(
        "graph_kernel", "GraphKernelDetector", detector="neighbors", calibration=HELD_OUT
    ),
    "WL kernel, one-class SVM": peer(
        "graph_kernel", "GraphKernelDetector", detector="svm", calibration=HELD_OUT
    ),
    "template": lambda seed: Template(random_state=seed),
}


def _with_held_out(name: str) -> Any:
    return lambda seed: METHODS[name](seed).set_params(calibration=HELD_OUT)


ROWS = DETECTORS | {name: _with_held_out(name) for name in DEEP}
#: The deep ones take minutes a fold: cases of less than 150 training graphs first.
DEEP_CASES = ("T/MUTAG", "O/MUTAG", "R/zoo", "P/PTC_MR-MUTAG")


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on two folds of every case; the deep ones on few, unless cases are named."""
    found = []
    for case in suites.CASES:
        if datasets is not None and case not in datasets:
            continue
        for method in ROWS:
            if method in DEEP and datasets is None and case not in DEEP_CASES:
                continue
            for fold in range(min(n_folds, N_FOLDS, suites.n_folds(case))):
                found.append({"case": case, "method": method, "fold": fold})
    return found


estimator = seeded(ROWS)


def measure(estimator: Any, case: str, method: str, fold: int) -> dict[str, float]:
    """Fit and score, and only then look at the labels."""
    train, test, y = suites.fold(case, fold)
    rng = np.random.RandomState(fold)
    estimator.fit(train)
    order = rng.permutation(len(y))  # which tells nothing of the labels
    scores = np.empty(len(y))
    p_values = np.empty(len(y))
    scores[order] = estimator.score_samples(test[order])
    p_values[order] = estimator.p_values(test[order])
    alone = estimator.score_samples(test[order[:1]])
    if abs(alone[0] - scores[order[0]]) > 1e-3 * np.ptp(scores):
        raise ValueError("the score of a graph depends on the other test graphs")
    normal = np.flatnonzero(y == 1)
    odd = np.flatnonzero(y == -1)
    values = {
        "auroc": 100 * roc_auc_score(y, scores),
        "alarms": float(np.mean(p_values[normal] <= ALPHA)),
    }
    rng = np.random.RandomState(fold)
    for prevalence in PREVALENCES:
        n_odd = round(prevalence / (1 - prevalence) * len(normal))
        n_odd = min(max(n_odd, 1), len(odd))
        drawn = []
        for _ in range(N_DRAWS):
            of_list = np.concatenate([normal, rng.choice(odd, n_odd, replace=False)])
            drawn.append(_of_list(y[of_list] == -1, scores[of_list], p_values[of_list]))
        for name, mean in zip(("precision", "fdp", "power"), np.mean(drawn, axis=0), strict=True):
            values[f"{name}_{prevalence}"] = float(mean)
    return {name: round(value, 4) for name, value in values.items()}


def _of_list(is_odd: np.ndarray, scores: np.ndarray, p_values: np.ndarray) -> list[float]:
    """Average precision in percent, false discovery proportion and power of one list."""
    found = discoveries(p_values, ALPHA)
    n_false = (found & ~is_odd).sum()
    return [
        100 * average_precision_score(is_odd, -scores),
        n_false / max(found.sum(), 1),
        found[is_odd].mean(),
    ]


def report(rows: pd.DataFrame) -> str:
    """Means over suites, then over the cases that all methods have, then every case."""
    auroc = rows.pivot_table("auroc", "method", "case", sort=False)
    auroc = auroc[[case for case in suites.CASES if case in auroc]]
    whole = auroc.index[auroc.notna().all(axis=1)]
    parts = ["### All cases", _summary(rows[rows["method"].isin(whole)], auroc.loc[whole])]
    some = auroc[auroc.notna().sum(axis=1) >= len(DEEP_CASES)]
    shared = some.columns[some.notna().all()]
    if 0 < len(shared) < auroc.shape[1]:
        parts += [f"### The {len(shared)} cases that all have", ", ".join(shared) + "."]
        of_some = rows["case"].isin(shared) & rows["method"].isin(some.index)
        parts.append(_summary(rows[of_some], some[shared]))
    parts.append("### AUROC of each case")
    table = auroc.T
    table.index.name = "case"
    parts.append(rounded(table, 1))
    return "\n\n".join(parts)


def _summary(rows: pd.DataFrame, auroc: pd.DataFrame) -> str:
    """A row for each method: AUROC of suites, then what depends on the prevalence."""
    cases = rows.groupby(["method", "case"], sort=False).mean(numeric_only=True)
    means = cases.groupby("method", sort=False).mean()
    both = [f"{suite}/{name}" for name in BOTH for suite in "TO"]
    has_both = set(both) <= set(auroc.columns)
    lines = []
    for method in auroc.index:
        line = {"method": method}
        for suite in "TORP":
            of_suite = auroc.columns.str[0] == suite
            line[suite] = f"{auroc.loc[method, of_suite].mean():.1f}"
        if has_both:
            line["both orientations"] = f"{auroc.loc[method, both].mean():.1f}"
        line["above the floor"] = "-"
        if method != FLOOR and FLOOR in auroc.index:
            n_above = int((auroc.loc[method] > auroc.loc[FLOOR] + 1e-9).sum())
            line["above the floor"] = f"{n_above} of {auroc.shape[1]}"
        for prevalence in PREVALENCES:
            title = f"at {prevalence:.0%}: average precision, FDP, power"
            of = [means.loc[method, f"{x}_{prevalence}"] for x in ("precision", "fdp", "power")]
            line[title] = f"{of[0]:.1f}, {of[1]:.3f}, {of[2]:.3f}"
        line["false alarms"] = f"{means.loc[method, 'alarms']:.3f}"
        lines.append(line)
    return markdown(pd.DataFrame(lines), index=False)
