"""End to end: networkx graphs in, scores out, beside a kernel of GraKeL. Take --jobs 1."""

import ast
import sysconfig
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import grakel
import networkx as nx
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.svm import OneClassSVM
from threadpoolctl import threadpool_limits

from benchmarks.methods import defaults
from benchmarks.protocol import DATASETS, fold, load
from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector

TREES = "syntax trees"
TITLE = "End to end, beside GraKeL"
ABOUT = """\
The first fold of each set: networkx graphs in, fit, scores of the test graphs out. *syntax trees*
are directed graphs whose nodes nearly all look different: 100 modules of Python's standard library,
of 1,000 to 2,800 nodes, with the class of each node and the field of each edge; 60 are fitted and
40 scored. *Ours* is `GraphKDEDetector()`; *GraKeL* its Weisfeiler-Leman subtree kernel, five
rounds, normalized, with scikit-learn's one-class SVM; degrees are the labels of sets that have
none. Both are measured in turn in one process, with one thread, after a first call that compiles;
seconds are of the CPU, medians of three.
"""


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """One per data set, and one of syntax trees."""
    return [{"dataset": dataset} for dataset in datasets or [*DATASETS, TREES]]


estimator = defaults


def measure(estimator: GraphKDEDetector, dataset: str) -> dict[str, float]:
    """Seconds and AUROC of both."""
    if dataset == TREES:
        trees = list(islice(_syntax_trees(), 100))
        inputs, target = (trees[:60], trees[60:]), None
    else:
        *batches, target = fold(load(dataset), 0)
        inputs = tuple(batch.to_networkx() for batch in batches)
    values: dict[str, float] = {"graphs": sum(map(len, inputs))}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = (lambda train: estimator.fit(train).score_samples, fit_grakel)
        seconds = _alternated(fits, *inputs)
    for name, (of_method, scores) in zip(("ours", "grakel"), seconds, strict=True):
        values[name] = round(of_method, 3)
        auroc = np.nan if target is None else 100 * roc_auc_score(target, scores)
        values[f"{name}_auroc"] = round(float(auroc), 4)
    return values


def _syntax_trees() -> Iterator[nx.DiGraph]:
    """Modules of the standard library of 1,000 to 2,800 nodes, in the order of their paths."""
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.rglob("*.py")):
        if not {"site-packages", "dist-packages", "test", "tests"} & {*path.parts}:
            with suppress(SyntaxError, UnicodeDecodeError):
                tree = _syntax_tree(path.read_text(encoding="utf-8"))
                if 1_000 <= len(tree) <= 2_800:
                    yield tree


def _syntax_tree(text: str) -> nx.DiGraph:
    """A node of each node's class, and an edge of each field from a node to its children."""
    graph, open_nodes = nx.DiGraph(), [(ast.parse(text), None, "")]
    while open_nodes:
        node, parent, field = open_nodes.pop()
        number = len(graph)
        graph.add_node(number, label=type(node).__name__)
        if parent is not None:
            graph.add_edge(parent, number, label=field)
        for name, value in ast.iter_fields(node):
            children = value if isinstance(value, list) else [value]
            open_nodes += [(x, number, name) for x in children if isinstance(x, ast.AST)]
    return graph


def _alternated(fits: Sequence[Callable], train: list, test: list) -> list[tuple[float, Any]]:
    """Median CPU seconds of three fits and scores of each, in turn, and the scores of the last."""
    for fit in fits:
        fit(train[:20])(test[:20])
    seconds: list[list[float]] = [[] for _ in fits]
    scores: list[Any] = [None] * len(fits)
    for _ in range(3):
        for i, fit in enumerate(fits):
            start = time.process_time()
            scores[i] = fit(train)(test)
            seconds[i].append(time.process_time() - start)
    return [(float(np.median(s)), x) for s, x in zip(seconds, scores, strict=True)]


def fit_grakel(train: list[nx.Graph]) -> Callable[[list[nx.Graph]], np.ndarray]:
    """Fit GraKeL's kernel and the one-class SVM, and return what scores new graphs."""
    kernel = grakel.WeisfeilerLehman(
        n_iter=5, base_graph_kernel=grakel.VertexHistogram, normalize=True
    )
    similarities = np.nan_to_num(kernel.fit_transform(_labeled(train)))
    svm = OneClassSVM(kernel="precomputed", nu=0.1).fit(similarities)
    return lambda graphs: svm.score_samples(np.nan_to_num(kernel.transform(_labeled(graphs))))


def _labeled(graphs: list[nx.Graph]) -> Any:
    """GraKeL's input; an edge list would lose nodes without neighbors."""
    has_labels = any("label" in data for _, data in graphs[0].nodes(data=True))
    inputs = []
    for graph in graphs:
        edges = {u: dict.fromkeys(graph[u], 1.0) for u in graph}
        inputs.append((edges, dict(graph.nodes(data="label") if has_labels else graph.degree())))
    return inputs


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
    ).replace("nan", "")
    return markdown(table)
