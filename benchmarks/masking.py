"""Masking: odd graphs of one list that resemble each other, and so hide each other."""

from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from benchmarks.find import looked_at
from benchmarks.render import rounded
from skgraphkde import GraphKDEDetector, GraphSchema, read_graphs
from skgraphkde.core.scoring.groups import find_groups

TITLE = "Odd graphs that hide each other"
N_NORMAL, N_DRAWS = 300, 3
ABOUT = f"""\
{N_NORMAL} random trees of 10 to 20 nodes with two categories, a number of each node and two of the
graph, and k odd graphs that differ from them in the same way, judged by each other. *Structure*: a
ladder. *Labels*: nine in ten nodes have the same category, elsewhere half. *Pairs*: neighbors never
have the same category. *Numbers*: the number of each node is larger by three standard deviations.
*Data*: two numbers of the graph, which go together elsewhere, contradict each other. Share of the
odd graphs that `contamination=0.05` flags; that are flagged or in a group on the page; and that an
analyst finds who looks at 2k graphs, at least five at a time, and fits again with verdicts.
"""
KINDS, COUNTS = ("structure", "labels", "pairs", "numbers", "data"), (1, 5, 12, 30)
VIEWS = {"defaults": "auto", "density": "density", "density, novelty": ("density", "novelty")}


def make(kind: str, k: int, seed: int) -> tuple[list[nx.Graph], np.ndarray]:
    """Trees, then k odd graphs, and their target."""
    rng = np.random.RandomState(seed)
    graphs, target = [], np.repeat([1, -1], [N_NORMAL, k])
    for y in target:
        odd_in = kind if y == -1 else ""
        n = rng.randint(10, 21)
        tree = odd_in != "structure"
        graph = nx.random_labeled_tree(n, seed=rng) if tree else nx.ladder_graph(n // 2)
        sides = nx.bipartite.color(graph)
        share = 0.9 if odd_in == "labels" else 0.5
        mean = 3.0 if odd_in == "numbers" else 0.0
        for node in graph:
            label = int(rng.rand() < share)
            graph.nodes[node]["label"] = sides[node] if odd_in == "pairs" else label
            graph.nodes[node]["x"] = mean + rng.randn()
        total = rng.randn()
        graph.graph["total"] = total
        graph.graph["paid"] = (-total if odd_in == "data" else total) + 0.1 * rng.randn()
        graphs.append(graph)
    return graphs, target


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every kind, number and set of views, in each draw."""
    grid = product(KINDS, COUNTS, VIEWS, range(min(n_folds, N_DRAWS)))
    return [{"kind": kind, "k": k, "views": views, "seed": seed} for kind, k, views, seed in grid]


def estimator(kind: str, k: int, views: str, seed: int) -> GraphKDEDetector:
    """A detector that flags one in twenty."""
    return GraphKDEDetector(views=VIEWS[views], contamination=0.05, random_state=0)


def measure(
    estimator: GraphKDEDetector, kind: str, k: int, views: str, seed: int
) -> dict[str, float]:
    """Shares of the odd graphs that are flagged, in a group or flagged, and found in 2k looks."""
    graphs, y = make(kind, k, seed)
    data = ("total", "paid")
    if views != "defaults":  # which look at data of graphs
        data = None
        for graph in graphs:
            graph.graph.clear()
    schema = GraphSchema(node_categories="label", node_numbers="x", graph_numbers=data)
    batch, is_odd = read_graphs(graphs, schema=schema), y == -1
    scores = estimator.fit(batch).training_scores_
    order = np.argsort(scores, kind="stable")
    seen = scores < estimator.offset_
    values = {"flagged": seen[is_odd].mean()}
    if views == "defaults":
        for group in find_groups(estimator.model_):
            seen[group.members] = True
        looks, _ = looked_at(estimator, batch, y, order)
        values["or in a group"] = seen[is_odd].mean()
        values["2k looks"] = is_odd[looks[: 2 * k]].sum() / k
    return {name: round(float(value), 4) for name, value in values.items()}


def report(rows: pd.DataFrame) -> str:
    """A table for each measure: kinds and views by numbers of odd graphs."""
    parts = []
    for name in ("flagged", "or in a group", "2k looks"):
        some = rows.dropna(subset=[name])
        table = some.pivot_table(index=["kind", "views"], columns="k", values=name, sort=False)
        parts += [f"### {name.capitalize()}", rounded(table.reset_index(), 2, index=False)]
    return "\n\n".join(parts)
