"""Find: a list that holds its own anomalies, and an analyst who looks at a few at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import suites
from benchmarks.methods import peer
from benchmarks.protocol import SMALL
from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector
from skgraphkde.explanation.results import groups_of
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.copies import kinds_of

TITLE = "One list with its own anomalies"
ABOUT = """\
The four suites of [elsewhere](elsewhere.md), without DD, COLLAB and REDDIT-BINARY. Two thirds of
the normal graphs of a case, at most 400, and odd graphs that are 2, 5 or 10% of the list, judged by
each other, as `skgraphkde find` does; two draws. *Clean* is the same list, scored by the defaults
fitted on at most 400 other normal graphs. The others are fitted to the list, as `find` is. *Among
the first k* is the share of odd graphs among the k most anomalous, k being the number of odd ones:
the others are missed at first sight.
"""
ABOUT_LOOP = """\
An analyst looks at the most anomalous graphs without a verdict, a quarter of k at a time and at
least five, says of each whether it is odd, and fits again with all verdicts. Share of the odd
graphs found after k and after 2k looks, beside the order of the first fit. *Groups*: also that
order, but a look at one graph of a group shows the whole group, as on the page. Labels of one half
chose how verdicts count; the other half confirms.
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
    return [
        {"dataset": case, "share": share, "method": method, "fold": draw}
        for case in datasets or CASES
        for share in SHARES
        for method in METHODS
        for draw in range(min(n_folds, N_DRAWS))
    ]


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
    k, is_odd = int((y == -1).sum()), y == -1
    order = np.argsort(scores, kind="stable")
    values = {"odd": k, "auroc": round(100 * roc_auc_score(y, scores), 4)}
    for name, looks in (("k", k), ("2k", 2 * k)):
        values[f"found_{name}"] = round(is_odd[order[:looks]].sum() / k, 4)
    if method == "find":
        together = _with_groups(estimator, order)
        seen = looked_at(estimator, graphs, y, order)
        for name, looks in (("k", k), ("2k", 2 * k)):
            grouped = np.concatenate(together[:looks])
            values[f"groups_{name}"] = round(float(is_odd[grouped].sum() / k), 4)
            values[f"verdicts_{name}"] = round(float(is_odd[seen[:looks]].sum() / k), 4)
    return values


def _with_groups(detector: GraphKDEDetector, order: np.ndarray) -> list[np.ndarray]:
    """The graphs of each look, if a look at one of a group shows all of it."""
    members = {int(i): group for group, _ in groups_of(detector) for i in group}
    looks, shown = list[np.ndarray](), set[int]()
    for i in order.tolist():
        if i not in shown:
            looks.append(members.get(i, np.array([i])))
            shown |= set(looks[-1].tolist())
    return looks


def looked_at(
    detector: GraphKDEDetector, graphs: GraphBatch, y: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Graphs in the order in which an analyst looks at them, 2k or a few more."""
    k, verdicts = int((y == -1).sum()), np.zeros(len(y), dtype=int)
    seen = order[:0]
    while True:
        unseen = order[~np.isin(order, seen)]
        seen = np.append(seen, unseen[: max(MIN_LOOKS, k // 4)])
        if len(seen) >= 2 * k:
            return seen
        verdicts[seen] = y[seen]
        scores = detector.fit(graphs, verdicts=verdicts).training_scores_
        order = np.argsort(scores, kind="stable")


def report(rows: pd.DataFrame) -> str:
    """Tables of the suites, of the loop, of its two halves, and of cases."""
    by_case = rows.groupby(["dataset", "share", "method"], sort=False).mean(numeric_only=True)
    means = by_case.groupby([by_case.index.get_level_values(0).str[0], "share", "method"]).mean()
    parts = [ABOUT]
    for words, column, digits in (
        ("AUROC", "auroc", 1), ("Among the first k", "found_k", 2),
    ):  # fmt: skip
        table = means[column].unstack("method")[list(METHODS)].reindex(list("TORP"), level=0)
        table.index.names = ["suite", "share"]
        parts += [f"### {words}", _table(table, digits)]
    of_find = by_case.xs("find", level="method")
    halves = np.where(of_find.index.get_level_values(0).isin(suites.CHOOSING), "chose", "confirms")
    for words, groups in (("all", None), ("each half", halves)):
        suite = of_find.index.get_level_values(0).str[0]
        keys = [suite, of_find.index.get_level_values("share")]
        names = ["suite", "share"]
        if groups is not None:
            keys, names = [*keys, groups], [*names, "half"]
        table = of_find.groupby(keys, sort=False).mean(numeric_only=True)
        table.index.names = names
        parts += [f"### Looks and verdicts: {words}", _loop(table)]
    parts.insert(-4, ABOUT_LOOP)
    tenth = of_find.xs(SHARES[-1], level="share")
    return "\n\n".join([*parts, "### Cases, 10% odd", _loop(tenth)])


COLUMNS = {
    "found_k": "k, static",
    "groups_k": "k, groups",
    "verdicts_k": "k, with verdicts",
    "found_2k": "2k, static",
    "groups_2k": "2k, groups",
    "verdicts_2k": "2k, with verdicts",
}


def _loop(table: pd.DataFrame) -> str:
    return _table(table[list(COLUMNS)].rename(columns=COLUMNS), 2)


def _table(table: pd.DataFrame, digits: int) -> str:
    return markdown(table.map(f"{{:.{digits}f}}".format).reset_index(), index=False)
