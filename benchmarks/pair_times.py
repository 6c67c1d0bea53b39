"""The time of one MMD by the number of nodes."""

import time
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.protocol import load
from benchmarks.render import markdown
from skgraphkde import LGKDE, MMD
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.distances.mmd import FIVE_DECADES

TITLE = "The time of one MMD"
ABOUT = """\
Graphs of REDDIT-BINARY in twelve bins of equal counts by number of nodes, 50 random pairs of each
bin; milliseconds of one distance, norms of both graphs included, mean and standard deviation over
the pairs, one thread. Points are those of the untrained network of `LGKDE()`, five kernels.
*Distinct* compares the points that the network tells apart, as this package does; *all nodes* has
one point for each node, as the paper has. The paper prints its first and its last bin, measured on
a GPU, whose time hardly depends on the nodes (a factor of 1.3): on a CPU the square of their number
shows, and distinct points are worth a factor of 15 in the last bin.
"""
N_BINS, N_PAIRS, N_FITTED = 12, 50, 200
DISTANCE = MMD(FIVE_DECADES, estimator="biased", method="exact").build(0, 0, None)
IN_PAPER = {0: "1.51 ± 0.13", 11: "2.03 ± 0.58"}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """One cell for each bin."""
    grid = product(datasets or ["REDDIT-BINARY"], range(N_BINS))
    return [{"dataset": name, "bin": i} for name, i in grid]


def estimator(**cell: Any) -> LGKDE:
    """LGKDE, whose network embeds the graphs."""
    return LGKDE(random_state=0)


def measure(estimator: LGKDE, dataset: str, bin: int) -> dict[str, float]:
    """Milliseconds of a pair, and numbers of nodes and of distinct points."""
    graphs = load(dataset).graphs
    estimator.fit(graphs[:N_FITTED])
    by_size = np.argsort(graphs.n_nodes_per_graph, kind="stable")
    graphs = graphs[np.sort(np.array_split(by_size, N_BINS)[bin])]
    rng = np.random.RandomState(0)
    seconds: dict[str, list[float]] = {"distinct": [], "all": []}
    n_points = []
    for _ in range(N_PAIRS + 1):
        pair = graphs[rng.choice(len(graphs), 2, replace=False)]
        (clouds,) = estimator.model_.embedding(pair).values()
        n_points.append(np.diff(clouds.weights.indptr).mean())
        # How many nodes share each point.
        weights = clouds.weights
        sizes = np.repeat(clouds.sizes, np.diff(weights.indptr))
        nodes = np.repeat(weights.indices, np.rint(weights.data * sizes).astype(int))
        of_nodes = DiscreteMeasures.from_clouds(clouds.points[nodes], pair.node_ptr)
        for name, measures in (("distinct", clouds), ("all", of_nodes)):
            P, Q = (replace(measures[i : i + 1], squared_norms=None) for i in (0, 1))
            start = time.perf_counter()
            DISTANCE.squared(P, Q)
            seconds[name].append(time.perf_counter() - start)
    values = {"n_nodes": graphs.n_nodes_per_graph.mean(), "n_points": np.mean(n_points)}
    for name, of_pairs in seconds.items():
        timed = 1_000 * np.array(of_pairs[1:])  # the first call compiles
        values |= {name: timed.mean(), f"{name}_std": timed.std()}
    return {name: round(float(value), 4) for name, value in values.items()}


def report(rows: pd.DataFrame) -> str:
    """One row for each bin."""
    rows = rows.sort_values("bin")
    table = pd.DataFrame(index=rows["n_nodes"].map("{:,.0f}".format))
    table.index.name = "mean number of nodes"
    table["distinct points"] = rows["n_points"].map("{:,.0f}".format).to_numpy()
    for name, title in {"distinct": "distinct, ms", "all": "all nodes, ms"}.items():
        pairs = zip(rows[name], rows[f"{name}_std"], strict=True)
        table[title] = [f"{mean:.2f} ± {std:.2f}" for mean, std in pairs]
    figures = [IN_PAPER.get(i, "") for i in rows["bin"]]
    table["*paper, ms*"] = [f"*{x}*" if x else "" for x in figures]
    return markdown(table)
