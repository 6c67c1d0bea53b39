"""Find: a list that holds its own anomalies, and an analyst who looks at a few at a time."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import suites
from benchmarks.methods import peer
from benchmarks.protocol import SMALL
from benchmarks.render import rounded
from skgraphkde import GraphKDEDetector
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.copies import kinds_of
from skgraphkde.explanation.results import groups_of

TITLE = "One list with its own anomalies"
ABOUT = """\
The four suites of [elsewhere](elsewhere.md), without DD, COLLAB and REDDIT-BINARY. Two thirds of
the normal graphs of a case, at most 400, and odd graphs that are 2, 5 or 10% of the list, judged by
each other, as `skgraphkde find` does; two draws. *Clean* is the same list, scored by the defaults
fitted on at most 400 other normal graphs. The others are fitted to the list. *Among the first k* is
the share of odd graphs among the k most anomalous, k being the number of odd ones.
"""
ABOUT_LOOP = """\
An analyst looks at the most anomalous graphs without a verdict, a quarter of k at a time and at
least five, says of each whether it is odd, and fits again with all verdicts. Share of the odd
graphs found after k and after 2k looks. *Static*: the order of the first fit. *Groups*: also that
order, but a look at one graph of a group shows the whole group, as on the page. Labels of one half
chose how verdicts count; the other half confirms.
"""
ABOUT_COST = """\
What verdicts cost, after the last fit of the loop: graphs without a verdict that are normal and
flagged, in percent of these, before the first verdict and after; and by how many ranks the odd
graph without a verdict that falls furthest falls, in percent of the list.
"""
SHARES, N_DRAWS = (0.02, 0.05, 0.1), 2
MAX_NORMAL, MIN_LOOKS = 400, 5
METHODS = ("find", "clean", "statistics, neighbors", "isolation forest")
CASES = tuple(x for x in suites.CASES if x[0] in "OP" or x[0] == "R" or x[2:] in SMALL)


def drawn(case: str, share: float, draw: int) -> tuple[GraphBatch, np.ndarray, GraphBatch]:
    """A list, its target, and other normal graphs.

    Graphs of one kind that look like one of the other are left out: no verdict tells them apart.
    """
    graphs, target = suites.everything(case)
    rng = np.random.RandomState(draw)
    (kinds,) = kinds_of(graphs)
    normal, odd = (rng.permutation(np.flatnonzero(target == y)) for y in (1, -1))
    odd = odd[~np.isin(kinds[odd], kinds[normal])]
    n = min(MAX_NORMAL, 2 * len(normal) // 3)
    listed = np.append(normal[:n], odd[: max(round(share / (1 - share) * n), 1)])
    listed = rng.permutation(listed)
    return graphs[listed], target[listed], graphs[normal[n : n + MAX_NORMAL]]


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every list; `datasets` are cases such as "R/zoo"."""
    grid = product(datasets or CASES, SHARES, METHODS, range(min(n_folds, N_DRAWS)))
    return [dict(zip(("dataset", "share", "method", "fold"), x, strict=True)) for x in grid]


def estimator(dataset: str, share: float, method: str, fold: int) -> Any:
    """The defaults, or a detector on the statistics of the graphs."""
    if method in ("find", "clean"):
        return GraphKDEDetector(random_state=0)
    name = "neighbors" if method == "statistics, neighbors" else "forest"
    return peer("vectors", "StatisticsDetector", detector=name, calibration="loo")(0)


def measure(estimator: Any, dataset: str, share: float, method: str, fold: int) -> dict[str, float]:
    """AUROC and precision of the list; for `find` also what an analyst finds in k and 2k looks."""
    graphs, y, others = drawn(dataset, share, fold)
    if method == "clean":
        scores = estimator.fit(others).score_samples(graphs)
    else:
        scores = estimator.fit(graphs).training_scores_
    is_odd, order = y == -1, np.argsort(scores, kind="stable")
    orders = {"found": order}
    values = {"odd": int(is_odd.sum()), "auroc": round(100 * roc_auc_score(y, scores), 4)}
    if method == "find":
        orders["groups"] = _with_groups(estimator, order)
        orders["verdicts"], costs = looked_at(estimator, graphs, y, order)
        values |= costs
    for name, looks in orders.items():
        for words, n in (("k", values["odd"]), ("2k", 2 * values["odd"])):
            seen = np.hstack(looks[:n])
            values[f"{name}_{words}"] = round(float(is_odd[seen].sum() / values["odd"]), 4)
    return values


def _with_groups(detector: GraphKDEDetector, order: np.ndarray) -> list[np.ndarray]:
    """The graphs of each look, if a look at one of a group shows all of it."""
    members = {int(i): x.members for x in groups_of(detector) for i in x.members}
    looks, shown = list[np.ndarray](), set[int]()
    for i in order.tolist():
        if i not in shown:
            looks.append(members.get(i, np.array([i])))
            shown |= set(looks[-1].tolist())
    return looks


def looked_at(
    detector: GraphKDEDetector, graphs: GraphBatch, y: np.ndarray, order: np.ndarray
) -> tuple[np.ndarray, dict[str, float]]:
    """Graphs in the order in which an analyst looks at them, 2k or a few more; what that costs."""
    k, verdicts = int((y == -1).sum()), np.full(len(y), "", dtype=object)
    first = order
    flagged_first = detector.training_scores_ < detector.offset_
    seen = order[:0]
    while True:
        unseen = order[~np.isin(order, seen)]
        seen = np.append(seen, unseen[: max(MIN_LOOKS, k // 4)])
        if len(seen) >= 2 * k:
            break
        verdicts[seen] = np.where(y[seen] == -1, "anomaly", "normal")
        scores = detector.fit(graphs, verdicts=verdicts).training_scores_
        order = np.argsort(scores, kind="stable")
    flagged = detector.training_scores_ < detector.offset_
    is_usual = (verdicts == "") & (y == 1)
    is_odd = (verdicts == "") & (y == -1)
    falls = np.argsort(order) - np.argsort(first)
    costs = {
        "false_before": round(100 * float(flagged_first[is_usual].mean()), 4),
        "false_after": round(100 * float(flagged[is_usual].mean()), 4),
        "worst_fall": round(100 * float(falls[is_odd].max(initial=0)) / len(y), 4),
    }
    return seen, costs


def report(rows: pd.DataFrame) -> str:
    """Tables of the suites, of the loop, of its two halves, and of cases."""
    by_case = rows.groupby(["dataset", "share", "method"], sort=False).mean(numeric_only=True)
    means = by_case.groupby([by_case.index.get_level_values(0).str[0], "share", "method"]).mean()
    parts = []
    for words, column, digits in (("AUROC", "auroc", 1), ("Among the first k", "found_k", 2)):
        table = means[column].unstack("method")[list(METHODS)].reindex(list("TORP"), level=0)
        table.index.names = ["suite", "share"]
        parts += [f"### {words}", _table(table, digits)]
    of_find = by_case.xs("find", level="method").copy()
    cases = of_find.index.get_level_values("dataset")
    of_find["suite"] = cases.str[0]
    of_find["half"] = np.where(cases.isin(suites.CHOOSING), "chose", "confirms")
    parts.append(ABOUT_LOOP)
    for words, keys in (("all", ["suite", "share"]), ("each half", ["suite", "share", "half"])):
        table = of_find.groupby(keys, sort=False).mean(numeric_only=True)
        parts += [f"### Looks and verdicts: {words}", _loop(table)]
    if set(COSTS) <= set(of_find):  # older results lack them
        costs = of_find.groupby(["suite", "share"], sort=False)[COSTS].mean()
        parts += [ABOUT_COST, _table(costs, 1)]
    tenth = of_find.xs(SHARES[-1], level="share")
    return "\n\n".join([*parts, "### Cases, 10% odd", _loop(tenth)])


LOOPS = {"found": "static", "groups": "groups", "verdicts": "with verdicts"}
COSTS = ["false_before", "false_after", "worst_fall"]
COLUMNS = {f"{x}_{k}": f"{k}, {words}" for k in ("k", "2k") for x, words in LOOPS.items()}


def _loop(table: pd.DataFrame) -> str:
    return _table(table[list(COLUMNS)].rename(columns=COLUMNS), 2)


def _table(table: pd.DataFrame, digits: int) -> str:
    keys = table.index.to_frame(index=False).astype(str)
    return rounded(pd.concat([keys, table.reset_index(drop=True)], axis=1), digits, index=False)
