"""Graphs from elsewhere: sets of views on suites of tasks that a benchmark has not tuned."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import suites
from benchmarks.methods import peer
from benchmarks.peers import molecules
from benchmarks.peers.template import HELD_OUT
from benchmarks.render import rounded
from skgraphkde import MMD, Density, GraphKDEDetector
from skgraphkde.core.graphs.batch import GraphBatch

TITLE = "Graphs from elsewhere"
ABOUT = """\
AUROC in percent, mean over folds, and the share of fresh normal graphs that are flagged at
`contamination=0.1`. **T**: the twelve sets of the [detection](detection.md) table; their labels
chose earlier defaults. **O**: eight of them with the other class for the anomaly. **R**: eight real
tasks from outside of the collection, with the schema that a user would write. **P**: fit on one
collection, find another, by structure alone. Large sets are subsampled (`benchmarks/suites.py`).
*Judged as a list* sees all test graphs at once, without their labels, as published figures do that
choose an epoch on them; of these lists a sixth to four fifths is odd. Published for ten pairs, of
which these are five, with settings for each: GOOD-D 80.7, RedOUT 87.5.
"""
ABOUT_HALVES = """\
One half of the cases chose the views, the other confirms them; means over the cases of each half.
"""
ABOUT_MOLECULES = """\
What chemists use, from SMILES: Morgan counts (radius 2) with the five most similar by Tanimoto or
an isolation forest, and physical properties (molecular weight, logP, polar surface) with the five
nearest. *With properties* is the defaults with these as `graph_numbers`.
"""
VIEWS: dict[str, Any] = {
    "biased": Density(MMD(gammas=(10.0,), estimator="biased")),
    "unbiased": Density(MMD(gammas=(1.0,), estimator="unbiased")),
    **{name: name for name in ("novelty", "tanimoto", "neighbors", "statistics")},
}


def _without(name: str) -> Callable[[Any], GraphKDEDetector]:
    """Detector without one of the views; numbers have theirs if the schema names some."""
    views = tuple(view for other, view in VIEWS.items() if other != name)

    def detector(schema: Any) -> GraphKDEDetector:
        has_numbers = schema and (schema.named("node_numbers") or schema.named("edge_numbers"))
        extra = ("numbers",) if has_numbers else ()
        return GraphKDEDetector(views=(*views, *extra), random_state=0)

    return detector


class JudgedAsAList(GraphKDEDetector):
    """The defaults, whose views have weights that follow the list of graphs to be scored."""

    def score_samples(self, X: Any) -> np.ndarray:
        """Scores that depend on the whole list, as those of `select(X, adapt=True)`."""
        return self._scores_together(self.read(X))[1]


def _peer(module: str, name: str, detector: str) -> Callable[[Any], Any]:
    make = peer(module, name, detector=detector, calibration=HELD_OUT)
    return lambda schema: make(0)


#: Names -> functions that make the detector, from the schema of the graphs.
METHODS: dict[str, Callable[[Any], Any]] = {
    "defaults": lambda schema: GraphKDEDetector(random_state=0),
    "judged as a list": lambda schema: JudgedAsAList(random_state=0),
    **{f"without {name}": _without(name) for name in VIEWS},
    "statistics, neighbors": _peer("vectors", "StatisticsDetector", "neighbors"),
    "statistics, Mahalanobis": _peer("vectors", "StatisticsDetector", "mahalanobis"),
    "statistics, isolation forest": _peer("vectors", "StatisticsDetector", "forest"),
    "WL kernel, one-class SVM": _peer("graph_kernel", "GraphKernelDetector", "svm"),
    "WL kernel, neighbors": _peer("graph_kernel", "GraphKernelDetector", "neighbors"),
}
MOLECULES = ("R/bace_domain", "R/bbbp")
WITH_PROPERTIES = "with properties"
OF_MOLECULES: dict[str, Callable[[Any], Any]] = {
    WITH_PROPERTIES: METHODS["defaults"],
    "Morgan, Tanimoto": lambda schema: molecules.MoleculeDetector("tanimoto"),
    "Morgan, isolation forest": lambda schema: molecules.MoleculeDetector("forest"),
    "properties, neighbors": lambda schema: molecules.MoleculeDetector("properties"),
}
SUITES = {"T": "main orientation", "O": "other orientation", "R": "real tasks", "P": "pairs"}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every method on every fold; `datasets` are cases such as "R/zoo"."""
    return [
        {"dataset": case, "method": method, "fold": fold}
        for case in suites.CASES
        if datasets is None or case in datasets
        for method in (*METHODS, *(OF_MOLECULES if case in MOLECULES else ()))
        for fold in range(min(n_folds, suites.n_folds(case)))
    ]


def estimator(dataset: str, method: str, fold: int) -> Any:
    """The method, with the views that apply to the schema of a real task."""
    suite, name = dataset.split("/")
    return (METHODS | OF_MOLECULES)[method](suites.PEOPLE[name] if suite == "R" else None)


def measure(estimator: Any, dataset: str, method: str, fold: int) -> dict[str, float]:
    """AUROC and false alarms of one fold."""
    if method in OF_MOLECULES:
        train, test, y = _molecules(dataset, method, fold)
    else:
        train, test, y = suites.fold(dataset, fold)
    scores = estimator.fit(train).score_samples(test)
    flagged = np.nan
    if hasattr(estimator, "offset_") and not isinstance(estimator, JudgedAsAList):
        flagged = round(float(np.mean(scores[y == 1] < estimator.offset_)), 4)
    return {"auroc": round(100 * roc_auc_score(y, scores), 4), "false_alarms": flagged}


def _molecules(dataset: str, method: str, fold: int) -> tuple[Any, Any, np.ndarray]:
    """SMILES, or graphs with physical properties, of the training and test molecules."""
    data = suites.people(dataset.split("/")[1])
    train, test, y = suites.split(data, fold)
    smiles = data.table["smiles"].to_numpy()
    if method != WITH_PROPERTIES:
        return smiles[train], smiles[test], y
    numbers = tuple((name, 1) for name in molecules.PROPERTIES)
    graphs: GraphBatch = data.graphs.replace(
        graph=(None, (), molecules.properties(smiles)),
        schema=replace(data.graphs.schema, graph_numbers=numbers),
    )
    return graphs[train], graphs[test], y


def report(rows: pd.DataFrame) -> str:
    """A table of suites, one of halves, one of molecules, and one of cases for each suite."""
    methods = [method for method in METHODS if (rows["method"] == method).any()]
    parts = []
    for value, digits in (("auroc", 1), ("false_alarms", 3)):
        of_case = rows.pivot_table(value, "method", "dataset", sort=False).reindex(methods)
        means = of_case.T.groupby(of_case.columns.str[0], sort=False).mean().T
        parts += [f"### {value.replace('_', ' ')}", rounded(means, digits)]
    auroc = rows.pivot_table("auroc", "method", "dataset", sort=False)
    chose = auroc.columns.isin(suites.CHOOSING)
    halves = {"chosen on": auroc.loc[methods, chose], "confirmed on": auroc.loc[methods, ~chose]}
    table = pd.DataFrame({name: x.mean(axis=1) for name, x in halves.items()})
    parts += ["### The two halves", ABOUT_HALVES, rounded(table, 1)]
    found = [case for case in MOLECULES if case in auroc]
    some = [x for x in ("defaults", *OF_MOLECULES) if x in auroc.index]
    parts += ["### Molecules", ABOUT_MOLECULES, rounded(auroc.loc[some, found], 1)]
    for name, about in SUITES.items():
        of_suite = auroc.loc[methods, auroc.columns.str[0] == name]
        parts += [f"### {name}: {about}", rounded(of_suite, 1)]
    return "\n\n".join(parts)
