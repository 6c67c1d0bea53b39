"""Planted anomalies in graphs with directions, categories, numbers and names: which are found."""

import uuid
from collections.abc import Callable
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.render import markdown, mean_std
from skgraphkde import GraphKDEDetector, GraphSchema

TITLE = "Graphs as people have them"
ABOUT = """\
AUROC in percent of the defaults on anomalies that were planted in directed, typed, measured and
named graphs: 120 normal graphs to fit on, 60 normal and 60 anomalous ones to score, five draws.
*Without*: the same graphs, if that kind of data is not read.
"""
N_TRAIN, N_TEST, N_DRAWS = 120, 60, 5

Maker = Callable[[np.random.RandomState, bool], nx.Graph]


def _sparse(rng: np.random.RandomState, kind: type = nx.Graph, mean_degree: float = 3) -> nx.Graph:
    """A random graph of 20 to 30 nodes."""
    n = rng.randint(20, 31)
    return nx.gnm_random_graph(n, int(mean_degree * n / 2), seed=rng, directed=kind is nx.DiGraph)


def direction_reversed(rng: np.random.RandomState, odd: bool) -> nx.Graph:
    """Cascades from one source; reversed."""
    n = rng.randint(20, 31)
    tree = nx.DiGraph((rng.randint(max(0, (v - 1) // 3), v), v) for v in range(1, n))
    return tree.reverse() if odd else tree


def motif_rewired(rng: np.random.RandomState, odd: bool) -> nx.Graph:
    """Directed triangles that go around; ends exchanged, at equal in- and out-degrees."""
    graph = nx.DiGraph()
    for i in range(8):
        a, b, c = 3 * i, 3 * i + 1, 3 * i + 2
        nx.add_cycle(graph, (a, b, c))
        if i:
            graph.add_edge(rng.randint(a), a)
    if odd:
        edges = list(graph.edges)
        for _ in range(200):
            i, j = rng.choice(len(edges), 2, replace=False)
            (a, b), (c, d) = edges[i], edges[j]
            if len({a, b, c, d}) == 4 and not graph.has_edge(a, d) and not graph.has_edge(c, b):
                graph.remove_edges_from([edges[i], edges[j]])
                edges[i], edges[j] = (a, d), (c, b)
                graph.add_edges_from([edges[i], edges[j]])
    return graph


def edge_categories_shuffled(rng: np.random.RandomState, odd: bool) -> nx.Graph:
    """The category of an edge follows from the kinds of its ends; shuffled."""
    graph = _sparse(rng)
    kinds = {v: int(rng.randint(3)) for v in graph}
    nx.set_node_attributes(graph, kinds, "kind")
    categories = [f"r{(kinds[u] + kinds[v]) % 3}" for u, v in graph.edges]
    if odd:
        rng.shuffle(categories)
    nx.set_edge_attributes(graph, dict(zip(graph.edges, categories, strict=True)), "relation")
    return graph


def joined_the_other_way(rng: np.random.RandomState, odd: bool) -> nx.Graph:
    """Edges join different kinds; the same kinds, as many edges, joined to their like."""
    n = rng.randint(20, 31)
    graph = nx.empty_graph(n)
    kinds = {v: "ab"[v % 2] for v in graph}
    nx.set_node_attributes(graph, kinds, "kind")
    while graph.number_of_edges() < int(1.5 * n):
        u, v = rng.choice(n, 2, replace=False)
        if (kinds[u] == kinds[v]) == odd:
            graph.add_edge(int(u), int(v))
    return graph


def edge_numbers_larger(rng: np.random.RandomState, odd: bool) -> nx.Graph:
    """Amounts on edges; 1.6 times as large."""
    graph = _sparse(rng)
    amounts = rng.gamma(4, 1 + 0.6 * odd, graph.number_of_edges())
    values = dict(zip(graph.edges, amounts.tolist(), strict=True))
    nx.set_edge_attributes(graph, values, "amount")
    return graph


def smooth_number_larger(rng: np.random.RandomState, odd: bool) -> nx.Graph:
    """A temperature that is smooth along the edges; 1.3 times as large."""
    graph = nx.random_geometric_graph(int(rng.randint(25, 36)), 0.3, seed=rng)
    center = rng.uniform(0, 1, 2)
    for data in graph.nodes.values():
        heat = 60 + 20 * np.exp(-4 * ((np.array(data.pop("pos")) - center) ** 2).sum())
        data["temp"] = float((heat + rng.normal(0, 1)) * (1.3 if odd else 1))
    return graph


def denser_with_identifiers(rng: np.random.RandomState, odd: bool) -> nx.Graph:
    """Names of hosts as labels; a denser graph."""
    graph = _sparse(rng, mean_degree=5 if odd else 3)
    names = {v: str(uuid.UUID(int=rng.randint(2**31))) for v in graph}
    nx.set_node_attributes(graph, names, "label")
    return graph


def category_never_seen(rng: np.random.RandomState, odd: bool) -> nx.Graph:
    """Pumps and valves; one node in 25 of a category never seen."""
    graph = nx.gnm_random_graph(25, 38, seed=rng)
    kinds = {v: ("pump", "valve", "tank")[rng.randint(3)] for v in graph}
    if odd:
        kinds[int(rng.randint(25))] = "bomb"
    nx.set_node_attributes(graph, kinds, "kind")
    return graph


def categories_apart(rng: np.random.RandomState, odd: bool) -> nx.Graph:
    """Two categories of a node that go together; apart, with the same shares of each."""
    graph = _sparse(rng)
    first = rng.randint(3, size=len(graph))
    second = first.copy()
    if odd:
        rng.shuffle(second)
    nx.set_node_attributes(graph, {v: f"k{first[v]}" for v in graph}, "kind")
    nx.set_node_attributes(graph, {v: f"o{second[v]}" for v in graph}, "owner")
    return graph


def missing_values(rng: np.random.RandomState, odd: bool) -> nx.Graph:
    """A number of which 2% are missing; 25%."""
    graph = _sparse(rng)
    for data in graph.nodes.values():
        if rng.rand() > (0.25 if odd else 0.02):
            data["pressure"] = float(rng.normal(10, 2))
    return graph


_CONNECTOME = np.random.RandomState(7)
_MEANS = np.exp(_CONNECTOME.normal(0, 1, (30, 30)))
_MEANS = np.where(_CONNECTOME.rand(30, 30) < 0.25, _MEANS + _MEANS.T, 0)
_MEANS = np.triu(_MEANS, 1) + np.triu(_MEANS, 1).T


def regions_exchanged(rng: np.random.RandomState, odd: bool) -> nx.Graph:
    """A weighted connectome on 30 fixed regions; two of them exchanged."""
    weights = _MEANS * rng.gamma(20, 1 / 20, _MEANS.shape)
    graph = nx.Graph()
    names = [f"region {i}" for i in range(30)]
    if odd:
        i, j = rng.choice(30, 2, replace=False)
        names[i], names[j] = names[j], names[i]
    graph.add_nodes_from((v, {"region": names[v]}) for v in range(30))
    for u, v in zip(*np.nonzero(np.triu(_MEANS, 1)), strict=True):
        graph.add_edge(int(u), int(v), weight=float(weights[u, v]))
    return graph


KIND = GraphSchema(node_categories="kind")
UNDIRECTED, AMOUNT = GraphSchema(directed=False), GraphSchema(edge_numbers="amount")
HEAT, WEIGHT = GraphSchema(node_numbers="temp"), GraphSchema(edge_weight="weight")
RELATION = GraphSchema(node_categories="kind", edge_categories="relation")
OWNER = GraphSchema(node_categories=("kind", "owner"))
PRESSURE = GraphSchema(node_numbers="pressure", missing="indicate")
REGION = GraphSchema(node_categories="region", edge_weight="weight")
#: Name -> the maker, the schema with which it should be found, and the one without that data.
CASES: dict[str, tuple[Maker, GraphSchema | None, GraphSchema | None]] = {
    "direction reversed": (direction_reversed, None, UNDIRECTED),
    "motif rewired at equal degrees": (motif_rewired, None, UNDIRECTED),
    "edge categories shuffled": (edge_categories_shuffled, RELATION, KIND),
    "same categories, joined the other way": (joined_the_other_way, KIND, None),
    "edge numbers 1.6 times as large": (edge_numbers_larger, AMOUNT, None),
    "smooth number 1.3 times as large": (smooth_number_larger, HEAT, None),
    "identifiers as labels, denser graph": (denser_with_identifiers, None, None),
    "one node in 25 of a category never seen": (category_never_seen, KIND, None),
    "two categories that go together, apart": (categories_apart, OWNER, KIND),
    "missing values where there were few": (missing_values, PRESSURE, None),
    "two regions of a connectome exchanged": (regions_exchanged, REGION, WEIGHT),
}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every case with its data and without, the first draw of all first."""
    grid = product(range(N_DRAWS), CASES, (True, False))
    return [{"case": case, "reads": reads, "draw": draw} for draw, case, reads in grid]


def estimator(case: str, reads: bool, draw: int) -> GraphKDEDetector:
    """The defaults, with the schema of the case."""
    return GraphKDEDetector(schema=CASES[case][1 if reads else 2], random_state=0)


def graphs_of(case: str, draw: int) -> tuple[list[nx.Graph], list[nx.Graph], np.ndarray]:
    """Normal graphs to fit on, graphs to score, and which of them are normal (1) or odd (-1)."""
    rng = np.random.RandomState(1000 * draw + sum(map(ord, case)) % 997)
    make = CASES[case][0]
    train = [make(rng, False) for _ in range(N_TRAIN)]
    test = [make(rng, odd) for odd in (False, True) for _ in range(N_TEST)]
    return train, test, np.repeat([1, -1], N_TEST)


def measure(estimator: GraphKDEDetector, case: str, reads: bool, draw: int) -> dict[str, float]:
    """AUROC on one draw."""
    train, test, y = graphs_of(case, draw)
    scores = estimator.fit(train).score_samples(test)
    return {"auroc": round(100 * roc_auc_score(y, scores), 4)}


def report(rows: pd.DataFrame) -> str:
    """One row per case."""
    auroc = rows.groupby(["case", "reads"], sort=False)["auroc"].agg(mean_std).unstack("reads")
    table = auroc.reindex(index=list(CASES), columns=[True, False])
    table.index.name, table.columns = "what is odd", ["read", "without"]
    return markdown(table)
