"""Reasons of random typed graphs say nothing false: a slow reader counts everything again."""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphKDEDetector, GraphSchema
from skgraphkde.explanation import explain
from tests.explanation.reason_checker import Checker

N_KNOWN, N_NEW = 40, 10


def kinds_of_data(rng):
    """Which data graphs have, drawn at random: names, each with how it is drawn."""

    def values(letters, share_missing=0.0):
        weights = 0.6 ** np.arange(len(letters))
        chance = weights / weights.sum()
        return lambda r: None if r.random() < share_missing else str(r.choice(letters, p=chance))

    def amounts(share_missing):
        scale = float(rng.choice([1.0, 300.0]))
        return lambda r: None if r.random() < share_missing else float(r.lognormal(0, 0.4) * scale)

    lack = float(rng.choice([0.0, 0.1]))
    draws = {
        "node": {
            "label": values([*"abcdef", "g (in 2)"], lack / 2), "kind": values(["pump", "valve"]),
            "who": values([f"p{i}" for i in range(12)]), "one": lambda r: f"n{r.random()}",
            "amount": amounts(lack), "parts missing": amounts(0.0),
            "ring": lambda r: bool(r.random() < 0.2),
        },
        "edge": {
            "via": values(["mail", "by hand, fax", "no -> fax"]), "mode": values(["slow", "fast"]),
            "wait": amounts(lack),
        },
        "graph": {"region": values(["north", "west=south", "east "]), "total": amounts(lack)},
    }  # fmt: skip
    for part, share in (("node", 0.4), ("edge", 0.4), ("graph", 0.3)):
        draws[part] = {name: draw for name, draw in draws[part].items() if rng.random() < share}
    return draws


def random_graph(rng, draws, directed, steps, share_single, is_odd=False):
    """A path or a random graph with these data; in odd ones, some are unlike the others."""
    n = int(rng.integers(4, 10)) + 6 * (is_odd and rng.random() < 0.2)
    n = 1 if rng.random() < share_single else n
    base = nx.path_graph(n)
    if not steps and rng.random() < 0.5:
        base = nx.gnm_random_graph(n, n, seed=int(rng.integers(1e9)))
    graph = (nx.DiGraph if directed else nx.Graph)()
    graph.add_nodes_from(base)
    graph.add_edges_from(base.edges)
    places = {"node": list(graph.nodes.values()), "edge": [d for *_, d in graph.edges(data=True)]}
    places["graph"] = [graph.graph]
    odd_share = 0.15 if is_odd else 0.0
    for part, of_part in draws.items():
        for name, draw in of_part.items():
            forgets = is_odd and rng.random() < 0.1
            for data in places[part]:
                value = (
                    None if forgets and name not in ("kind", "via", "mode", "region") else draw(rng)
                )
                if value is not None and name != "ring" and rng.random() < odd_share:
                    value = value * 40 if isinstance(value, float) else f"{value}{rng.integers(3)}"
                if value is not None:
                    data[name] = value
    if steps:  # in their order, of which an odd case leaves out one, or has two the other way
        names = list("abcdefghijklmnop"[:n])
        if is_odd:
            del names[int(rng.integers(n))]
            names.insert(int(rng.integers(n)), str(rng.choice(list("abcz"))))
        for data, name in zip(places["node"], names, strict=True):
            data["label"] = name
    if is_odd and rng.random() < 0.05:
        graph.remove_edges_from(list(graph.edges))
    return graph


def check_reasons(seed):
    """Read all reasons of new graphs and of training graphs; how many were read, and the false."""
    rng = np.random.default_rng(seed)
    draws, directed = kinds_of_data(rng), bool(rng.random() < 0.5)
    steps = "label" in draws["node"] and rng.random() < 0.5
    kind = rng, draws, directed, steps, float(rng.choice([0.0, 0.1]))
    known = [random_graph(*kind) for _ in range(N_KNOWN)]
    new = [random_graph(*kind, is_odd=True) for _ in range(N_NEW)]
    names = {f"{part}_{kind}s": [] for part in draws for kind in ("categorie", "number")}
    for part, of_part in draws.items():
        for name in of_part:
            is_number = name in ("amount", "parts missing", "wait", "total")
            names[f"{part}_{'number' if is_number else 'categorie'}s"].append(name)
    schema = GraphSchema(
        **{kind: tuple(x) or None for kind, x in names.items()},
        missing="indicate",
        directed=directed,
    )
    detector = GraphKDEDetector(schema=schema, random_state=0).fit(known)
    checker, false = Checker(detector, known), []
    frames = [(new, explain(detector, new, n_reasons=40), -1)]
    frames.append((known, explain(detector, n_reasons=40).query("graph < 6"), 0))
    for graphs, frame, own in frames:
        for row in frame.itertuples():
            i = row.graph if own == 0 else -1
            if row.strength > 0 or " than in " in row.reason:
                found = checker.check(graphs[row.graph], i, row)
                if found is not None:
                    false.append((seed, row.graph, i, row.reason, found))
    return checker.read, false


@pytest.mark.filterwarnings("ignore")
def test_reasons_of_random_graphs_are_true():
    seeds = *range(3), 15, 47  # the last two have reasons about surroundings
    counts, false = zip(*map(check_reasons, seeds), strict=True)
    assert sum(counts) > 150
    assert not [x for of_seed in false for x in of_seed]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(1000, 1125))
def test_reasons_of_2000_random_graphs_are_true(seed):
    assert check_reasons(seed)[1] == []
