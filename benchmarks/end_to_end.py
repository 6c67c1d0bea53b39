"""End to end: networkx graphs in, scores out, beside a kernel of GraKeL. Take --jobs 1."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import grakel
import networkx as nx
import numpy as np
import pandas as pd
import torch
from sklearn.svm import OneClassSVM
from threadpoolctl import threadpool_limits

from benchmarks.protocol import DATASETS, fold, load
from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector
from skgraphkde.evaluation import detection_report

TITLE = "End to end, beside GraKeL"
ABOUT = """\
The first fold of each set: networkx graphs in, fit, scores of the test graphs out. *Ours* is
`GraphKDEDetector()`; *GraKeL* its Weisfeiler-Leman subtree kernel, five rounds, normalized, with
scikit-learn's one-class SVM; degrees are the labels of sets that have none. Both are measured in
turn in one process, with one thread, after a first call that compiles; seconds are of the CPU,
medians of three.
"""


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """One per data set."""
    return [{"dataset": dataset} for dataset in datasets or DATASETS]


def estimator(dataset: str) -> GraphKDEDetector:
    """The defaults."""
    return GraphKDEDetector(random_state=0)


def measure(estimator: GraphKDEDetector, dataset: str) -> dict[str, float]:
    """Seconds and AUROC of both."""
    train, test, target = fold(load(dataset), 0)
    inputs = train.to_networkx(), test.to_networkx()
    values: dict[str, float] = {"graphs": len(train) + len(test)}
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds = _alternated([_ours(estimator), _grakel], *inputs)
            for name, (of_method, scores) in zip(("ours", "grakel"), seconds, strict=True):
                values[name] = round(of_method, 3)
                values[f"{name}_auroc"] = _auroc(target, scores)
    finally:
        torch.set_num_threads(before)
    return values


def _auroc(target: np.ndarray, scores: np.ndarray) -> float:
    return round(100 * detection_report(target, scores, output_dict=True)["auroc"], 4)


def _alternated(methods: list[Callable], *inputs: list) -> list[tuple[float, np.ndarray]]:
    """Median CPU seconds of three calls of each, in turn, and the scores of the last."""
    for method in methods:
        method(*(some[:20] for some in inputs))
    seconds: list[list[float]] = [[] for _ in methods]
    scores: list[Any] = [None] * len(methods)
    for _ in range(3):
        for i, method in enumerate(methods):
            start = time.process_time()
            scores[i] = method(*inputs)
            seconds[i].append(time.process_time() - start)
    return [(float(np.median(s)), x) for s, x in zip(seconds, scores, strict=True)]


def _ours(estimator: GraphKDEDetector) -> Callable[[list, list], np.ndarray]:
    return lambda train, test: estimator.fit(train).score_samples(test)


def _grakel(train: list[nx.Graph], test: list[nx.Graph]) -> np.ndarray:
    kernel = grakel.WeisfeilerLehman(
        n_iter=5, base_graph_kernel=grakel.VertexHistogram, normalize=True
    )
    similarities = np.nan_to_num(kernel.fit_transform(_labeled(train)))
    svm = OneClassSVM(kernel="precomputed", nu=0.1).fit(similarities)
    return svm.score_samples(np.nan_to_num(kernel.transform(_labeled(test))))


def _labeled(graphs: list[nx.Graph]) -> Any:
    """GraKeL's input; an edge list would lose nodes without neighbors."""
    if not any("label" in data for _, data in graphs[0].nodes(data=True)):
        return [
            ({u: dict.fromkeys(graph[u], 1.0) for u in graph}, dict(graph.degree()))
            for graph in graphs
        ]
    return [
        ({u: dict.fromkeys(graph[u], 1.0) for u in graph}, dict(graph.nodes(data="label")))
        for graph in graphs
    ]


def report(rows: pd.DataFrame) -> str:
    """One row per data set."""
    rows = rows.set_index("dataset")
    ratio = rows["ours"] / rows["grakel"]
    table = pd.DataFrame(
        {
            "graphs": rows["graphs"].map("{:.0f}".format),
            "ours, s": rows["ours"].map("{:.2f}".format),
            "GraKeL, s": rows["grakel"].map("{:.2f}".format),
            "ours / GraKeL": ratio.map("{:.1f}".format),
            "AUROC, ours": rows["ours_auroc"].map("{:.1f}".format),
            "AUROC, GraKeL": rows["grakel_auroc"].map("{:.1f}".format),
        }
    )
    return f"{ABOUT}\n\n{markdown(table)}"
