"""The most similar known graphs: how long an exact search takes, and with how many known graphs."""

import time
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector

TITLE = "The most similar graphs"
ABOUT = """\
`kneighbors` with 5 neighbors among all training graphs (`max_references=None`), with one thread:
random trees of 12 to 29 nodes with up to three more edges and five labels, all different.
Milliseconds of one graph in a call, the median of 20 calls, and of a graph in a call with 50. The
search is exact. An approximate index could save a part of these milliseconds, and would need an
index for each distance and a package more; what grows with the square of the number of graphs is
the fit, in seconds.
"""
SIZES = (1_000, 5_000, 20_000)
VIEWS = ("density", "tanimoto", "neighbors", "statistics")
N_CALLS = 20
N_IN_A_BATCH = 50


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Numbers of known graphs."""
    return [{"known graphs": n} for n in SIZES]


def estimator(**cell: Any) -> GraphKDEDetector:
    """The defaults, which keep all graphs as references."""
    return GraphKDEDetector(max_references=None, random_state=0)


def measure(estimator: GraphKDEDetector, **cell: Any) -> dict[str, float]:
    """Seconds of the fit, and milliseconds of each view."""
    n_known = cell["known graphs"]
    rng = np.random.RandomState(0)
    graphs = [_draw_graph(rng) for _ in range(n_known + N_IN_A_BATCH)]
    new = graphs[n_known:]
    with threadpool_limits(1):
        start = time.perf_counter()
        estimator.fit(graphs[:n_known])
        values = {"fit": round(time.perf_counter() - start, 1)}
        for view in VIEWS:
            estimator.kneighbors(new[:1], view=view)
            times = [_milliseconds(estimator, [graph], view) for graph in new[:N_CALLS]]
            values[view] = round(float(np.median(times)), 2)
            in_a_batch = _milliseconds(estimator, new, view) / len(new)
            values[f"{view}, in a batch"] = round(in_a_batch, 2)
    return values


def _milliseconds(estimator: GraphKDEDetector, graphs: list[nx.Graph], view: str) -> float:
    start = time.perf_counter()
    estimator.kneighbors(graphs, view=view)
    return 1000 * (time.perf_counter() - start)


def _draw_graph(rng: np.random.RandomState) -> nx.Graph:
    n_nodes = rng.randint(12, 30)
    graph = nx.random_labeled_tree(n_nodes, seed=int(rng.randint(2**31)))
    for u, v in rng.randint(n_nodes, size=(3, 2)).tolist():
        if u != v:
            graph.add_edge(u, v)
    labels = rng.choice(list("CCCCNOSF"), n_nodes).tolist()
    nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
    return graph


def report(rows: pd.DataFrame) -> str:
    """A row for each number of known graphs: one in a call, then in a batch."""
    lines = []
    for row in rows.to_dict("records"):
        line = {"known graphs": f"{row['known graphs']:,}", "fit, s": f"{row['fit']:.0f}"}
        for view in VIEWS:
            both = (row[view], row[f"{view}, in a batch"])
            line[f"{view}: one, in a batch"] = ", ".join(f"{x:.1f}" for x in both)
        lines.append(line)
    return markdown(pd.DataFrame(lines), index=False)
