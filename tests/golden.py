"""Golden results of the defaults: ``python -m tests.golden [sentences]`` writes them, or the words.

Numbers and findings are in tests/golden.npz: they change when a change of scores is wanted, and
never otherwise. Sentences are in tests/golden_sentences.json: they change where words get better.
tests/test_golden.py compares both.
"""

import json
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

from skgraphkde import (
    LGKDE,
    GraphBatch,
    GraphKDEDetector,
    GraphSchema,
    read_tables,
)
from skgraphkde.datasets import load_mutag
from skgraphkde.explanation import explain, results

PATH = Path(__file__).with_name("golden.npz")
SENTENCES = Path(__file__).with_name("golden_sentences.json")


def results_of(detector, new):
    """Scores, p-values and verdicts of new graphs, and their reasons as numbers, data and words."""
    table = explain(detector, new)
    numbers = table.select_dtypes("number")
    sentences = table[["reason", "more"]]
    data = table.drop(columns=[*numbers, *sentences])
    data = data.map(lambda x: np.array(x, dtype=object).tolist())
    return {
        "calibration": detector.calibration_scores_,
        "offset": np.array(detector.offset_),
        "scores": detector.score_samples(new),
        "p_values": detector.p_values(new),
        "verdicts": detector.predict(new),
        "numbers": numbers.to_numpy(float),
        "findings": np.array(json.dumps(data.to_numpy().tolist(), default=int)),
        "sentences": [more or reason for reason, more in sentences.itertuples(index=False)],
    }


def molecules(edge_data=False):
    """MUTAG, with atoms only, or with the categories of its bonds."""
    graphs, y = load_mutag(return_X_y=True, edge_data=edge_data)
    normal, odd = graphs[y == 1], graphs[y == -1]
    new = GraphBatch.concatenate([normal[100:110], odd[:10]])
    return results_of(GraphKDEDetector().fit(normal[:100]), new)


def worlds():
    """README's graphs, without any data."""
    known = [nx.connected_watts_strogatz_graph(30, 4, 0.1, seed=s) for s in range(102)]
    new = [*known[100:], nx.barabasi_albert_graph(30, 2, seed=0), nx.star_graph(30)]
    new += [nx.cycle_graph(12), nx.path_graph(3)]
    return results_of(GraphKDEDetector().fit(known[:100]), new)


def trace(seed, odd=False):
    """A tree of calls with categories and numbers of nodes, edges and of the graph."""
    rng = np.random.RandomState(seed)
    graph = nx.DiGraph(region="eu" if rng.rand() < 0.7 else "us", total=100 + rng.gamma(4.0))
    graph.add_node(0, service="gateway", cpu=float(rng.gamma(5.0)))
    for node in range(1, rng.randint(6, 14)):
        caller = rng.randint(node)
        service = ("auth", "cart", "stock", "database")[rng.randint(4)]
        graph.add_node(node, service=service, cpu=float(rng.gamma(5.0)))
        status = "error" if rng.rand() < 0.05 else "ok"
        graph.add_edge(caller, node, status=status, delay=float(rng.gamma(20.0)))
    if odd:
        graph.nodes[1]["service"] = "shell"
        graph.edges[next(iter(graph.edges))]["delay"] = 900.0
        graph.graph["total"] = 5000.0
    return graph


def traces():
    """Directed graphs with every kind of data."""
    detector = GraphKDEDetector(schema="all").fit([trace(s) for s in range(90)])
    new = [trace(s) for s in range(90, 98)] + [trace(s, odd=True) for s in range(98, 104)]
    return results_of(detector, new)


def tables():
    """Tables of cases with empty cells, judged as one list, as ``skgraphkde find`` does."""
    detector = GraphKDEDetector(schema=TABLE_SCHEMA, contamination="auto").fit(cases())
    table = results(detector).drop(columns=["group", "n_unseen"])
    return results_of(detector, cases()[40:60]) | {
        "numbers": table.select_dtypes("number").to_numpy(float)
    }


TABLE_SCHEMA = GraphSchema(
    node_categories="step",
    node_numbers="amount",
    graph_categories="kind",
    graph_numbers="total",
    missing="indicate",
)


def cases():
    rng, edges, nodes, cases = np.random.RandomState(7), [], [], []
    for case in range(80):
        n = rng.randint(3, 8)
        steps = rng.choice(["create", "check", "approve", "pay"], n)
        amounts = np.where(rng.rand(n) < 0.2, np.nan, rng.lognormal(3, 1, n))
        nodes += [
            {"case": case, "node": i, "step": step, "amount": amount}
            for i, (step, amount) in enumerate(zip(steps, amounts, strict=True))
        ]
        edges += [{"case": case, "source": i, "target": i + 1} for i in range(n - 1)]
        total = 1e6 if case == 45 else rng.lognormal(5, 0.3)
        cases.append({"case": case, "kind": "ab"[rng.randint(2)], "total": total})
    edges[200]["target"] = edges[200]["source"] - 1 if edges[200]["source"] else 2
    return read_tables(
        pd.DataFrame(edges),
        pd.DataFrame(nodes),
        pd.DataFrame(cases),
        graph="case",
        directed=True,
    )


def trained():
    """LGKDE: the weights of the bandwidths are learned on the points of a small GCN."""
    graphs, y = load_mutag(return_X_y=True)
    normal, odd = graphs[y == 1], graphs[y == -1]
    detector = LGKDE(hidden_dim=16, max_iter=3, random_state=0)
    new = GraphBatch.concatenate([normal[60:70], odd[:10]])
    found = results_of(detector.fit(normal[:60]), new)
    for kind in ("sentences", "findings", "numbers"):  # of rounded numbers: training is not exact
        del found[kind]
    return found | {"loss": np.array(detector.history_["loss"][1:])}


CASES = {
    "molecules": molecules,
    "bonds": lambda: molecules(edge_data=True),
    "worlds": worlds,
    "traces": traces,
    "tables": tables,
    "trained": trained,
}


def write(*, with_numbers):
    """Compute all cases, and write them; the numbers only if they may change."""
    arrays, sentences = {}, {}
    for name, case in CASES.items():
        found = case()
        if "sentences" in found:
            sentences[name] = found.pop("sentences")
        for kind, values in found.items():
            arrays[f"{name}/{kind}"] = values
    if with_numbers:
        np.savez_compressed(PATH, **arrays)
    SENTENCES.write_text(json.dumps(sentences, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    write(with_numbers=sys.argv[1:] != ["sentences"])
