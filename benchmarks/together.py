"""Lists that are judged as lists: false discoveries and what is found, with weights of the list."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import suites
from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector, Split
from skgraphkde.core.scoring.calibration import conformal_p_values, discoveries
from skgraphkde.detectors.together import least_number_odd, scores_together

TITLE = "A list that is judged as a list"
SHARES = (0.0, 0.05, 0.1, 0.2, 0.5)
ALPHAS = (0.1, 0.2)
KINDS = ("alone", "together")
ABOUT = """\
`select` with and without `adapt`, on lists of the test graphs of four suites, of which a share is
odd. FDP is the share of normal graphs among those selected (0 if none is), in the mean over folds
and cases: it is to be at most alpha. Power is the share of odd graphs that are selected. *Count* is
`count_odd`: the least number of odd graphs, with 95% confidence, as a share of all odd ones, and
in how many lists it was too high. No label is read before the end. The rule was chosen among nine,
which agree within one or two points, by the labels of 16 of the cases, seven of them of R or P.
"""
N_FOLDS = 3
#: The larger sets take hours.
LEFT_OUT = ("DD", "COLLAB", "REDDIT-BINARY")


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every case but the largest, with both calibrations."""
    cases = [x for x in suites.CASES if x.partition("/")[2] not in LEFT_OUT]
    found = []
    for case, calibration in product(cases, ("loo", "split")):
        n = min(n_folds, N_FOLDS, suites.n_folds(case))
        found += [{"case": case, "calibration": calibration, "fold": k} for k in range(n)]
    return found


def estimator(case: str, calibration: str, fold: int) -> GraphKDEDetector:
    """The defaults; of a split, half is held out."""
    chosen = Split(0.5) if calibration == "split" else "loo"
    return GraphKDEDetector(calibration=chosen, random_state=fold)


def measure(
    estimator: GraphKDEDetector, case: str, calibration: str, fold: int
) -> dict[str, float]:
    """FDP, power, AUROC and the count of each share of odd graphs."""
    train, test, y = suites.fold(case, fold)
    estimator.fit(train)
    normal, odd = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    odd = np.random.RandomState(fold).permutation(odd)
    model = estimator.model_
    weights = model.view_weights[:, np.newaxis]
    judged = model.as_log_p_values(model.view_scores(test))
    known = model.leave_one_out_log_p_values()
    if calibration == "split":
        held_out = estimator.training_graphs_[estimator.calibration_graphs_]
        known = model.as_log_p_values(model.view_scores(held_out))
    values = dict[str, float]()
    for share in SHARES:
        n_odd = min(len(odd), round(share / (1 - share) * len(normal)))
        if share and not n_odd:
            n_odd = 1
        of_list = judged[:, np.concatenate([normal, odd[:n_odd]])]
        is_odd = np.arange(of_list.shape[1]) >= len(normal)
        for kind in KINDS:
            name = f"{kind}_{share}"
            of_known, scores = known.sum(axis=0), of_list.sum(axis=0)
            if kind == "together":
                of_known, scores = scores_together(known, of_list, weights, weights)
            p_values = conformal_p_values(scores, of_known)
            for alpha in ALPHAS:
                found = discoveries(p_values, alpha)
                values[f"fdp_{name}_{alpha}"] = (found & ~is_odd).sum() / max(found.sum(), 1)
                values[f"power_{name}_{alpha}"] = found[is_odd].mean() if n_odd else np.nan
            values[f"alarms_{name}"] = np.mean(p_values[~is_odd] <= 0.1)
            values[f"auroc_{name}"] = 100 * roc_auc_score(is_odd, -scores) if n_odd else np.nan
            least = least_number_odd(scores, of_known, 0.05)
            values[f"count_{name}"] = least / n_odd if n_odd else np.nan
            values[f"wrong_{name}"] = least > n_odd
    return values


def report(rows: pd.DataFrame) -> str:
    """Means over the cases of each suite."""
    rows = rows.assign(suite=rows["case"].str[0])
    of_cases = rows.drop(columns=["settings", "versions", "machine", "fold"])
    numbers = of_cases.groupby(["suite", "case", "calibration"]).mean(numeric_only=True)
    of_suites = numbers.groupby(["calibration", "suite"]).mean()
    parts = []
    for calibration in ("loo", "split"):
        lines = []
        for suite, share in product("TORP", SHARES):
            means = of_suites.loc[(calibration, suite)]
            line = {"suite": suite, "odd": f"{share:.0%}"}
            for alpha in ALPHAS:
                line[f"FDP at {alpha}"] = _both(means, "fdp", share, f"_{alpha}")
                line[f"power at {alpha}"] = _both(means, "power", share, f"_{alpha}")
            line["AUROC"] = _both(means, "auroc", share, "", "{:.1f}")
            line["false alarms at .1"] = _both(means, "alarms", share, "")
            line["count"] = _both(means, "count", share, "")
            line["too high"] = _both(means, "wrong", share, "")
            lines.append(line)
        parts.append(f'### calibration="{calibration}": alone, together')
        parts.append(markdown(pd.DataFrame(lines), index=False))
    return "\n\n".join(parts)


def _both(means: pd.Series, what: str, share: float, end: str, form: str = "{:.3f}") -> str:
    found = [means[f"{what}_{kind}_{share}{end}"] for kind in KINDS]
    if any(np.isnan(found)):
        return "-"
    return ", ".join(form.format(x) for x in found)
