"""Quantities of graphs against loops over networkx."""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphKDEDetector, GraphSchema
from skgraphkde._words import Words
from skgraphkde.explanation.quantities import FEWEST, NAMED_EDGES, NAMED_NODES, Quantities

NAMES = ("gateway", "mail", "store", "backup", "printer", "camera", "phone", "wiki", "proxy")


@pytest.fixture(scope="module")
def networks():
    """Named devices with a kind and a load, and links with a delay; some data are missing."""
    rng = np.random.RandomState(0)
    usual = nx.gnp_random_graph(9, 0.4, seed=rng, directed=True)
    graphs = []
    for _ in range(25):
        graph = usual.copy()
        graph.remove_edges_from([x for x in usual.edges if rng.rand() < 0.2])
        graph = nx.relabel_nodes(graph, dict(enumerate(NAMES)))
        graph.remove_nodes_from([v for v in [*graph] if rng.rand() < 0.1])
        for data in graph.nodes.values():
            data |= {"kind": "abc"[rng.randint(3)], "load": float(rng.gamma(2))}
        for data in graph.edges.values():
            data |= {"via": "xy"[rng.randint(2)], "delay": float(rng.gamma(3))}
        for _, data in [*graph.nodes(data=True)][:2]:
            del data["load"]
        graphs.append(graph)
    return graphs


@pytest.fixture(scope="module")
def quantities(networks):
    schema = GraphSchema(
        node_categories="kind", node_numbers="load", edge_categories="via",
        edge_numbers="delay", directed=True, missing="indicate",
    )  # fmt: skip
    return Quantities(GraphKDEDetector(schema=schema).fit(networks).model_)


def parts(graph):
    """For each kind of part, its names and its numbers."""
    for v, data in graph.nodes(data=True):
        yield ("categories", f"kind={data['kind']}"), {"load": data.get("load", np.nan)}
        yield (NAMED_NODES, v), {"load": data.get("load", np.nan)}
    for u, v, data in graph.edges(data=True):
        ends = [graph.nodes[x]["kind"] for x in (u, v)]
        yield ("edges", f"via={data['via']} edge {' -> '.join(ends)}"), {"delay": data["delay"]}
        yield (NAMED_EDGES, f"{u} -> {v}"), {"delay": data["delay"]}


def test_kinds_and_names_are_those_of_loops(networks, quantities):
    has, numbers = {}, {}
    for i, graph in enumerate(networks):
        for key, values in parts(graph):
            has.setdefault(key, set()).add(i)
            for column, value in values.items():
                if not np.isnan(value):
                    of = numbers.setdefault((key[0], f"{column} of {key[1]}"), {})
                    of.setdefault(i, []).append(value)
    found = {(x.kind, quantities._name(x, Words())): x for x in quantities.all}
    n = len(networks)
    tables = ("categories", "edges", NAMED_NODES, NAMED_EDGES)
    expected = {key for key, graphs in has.items() if FEWEST <= len(graphs) <= n - FEWEST}
    expected |= {key for key, graphs in numbers.items() if len(graphs) >= FEWEST}
    ours = {key for key in found if key[0] in tables and "edges of" not in key[1]}
    assert ours == expected
    for key in expected & has.keys():
        assert np.flatnonzero(found[key].values).tolist() == sorted(has[key])
    for key in expected & numbers.keys():
        means = [np.mean(numbers[key].get(i, [np.nan])) for i in range(n)]
        assert found[key].values == pytest.approx(np.array(means), nan_ok=True)


def test_links_of_one_name_are_added_up(networks, quantities):
    of = {x.column: x for x in quantities.all if quantities._name(x, Words()).endswith("mail")}
    degrees = [x.degree("mail") if "mail" in x else np.nan for x in networks]
    outgoing = [x.out_degree("mail") if "mail" in x else np.nan for x in networks]
    delays = [
        sum(data["delay"] for *_, data in x.out_edges("mail", data=True)) if "mail" in x else np.nan
        for x in networks
    ]
    assert of["edges"].values == pytest.approx(np.array(outgoing), nan_ok=True)
    assert of["sum of delay of edges"].values == pytest.approx(np.array(delays), nan_ok=True)
    assert degrees != outgoing
