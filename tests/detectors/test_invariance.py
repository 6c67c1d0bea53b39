"""Scores follow from graphs: not from names, orders, or digits beyond single precision."""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GCN, MMD, Density, GraphKDEDetector, GraphSchema, Numbers
from skgraphkde.core.scoring.groups import find_groups
from tests.conftest import with_data

SCHEMA = GraphSchema(
    node_categories=("kind", "who"),
    node_numbers="time",
    edge_numbers="cost",
    graph_categories="site",
    graph_numbers="total",
)
VIEWS = ("density", "novelty", "tanimoto", "neighbors", "statistics", Numbers(n_points=60))
AS_GIVEN, ORDER = np.arange(70), np.random.RandomState(0).permutation(70)


def graph_of(seed, name=str, number=float, shuffled=False):
    """A random graph with data of all kinds, in these names and digits, or in another order."""
    rng = np.random.default_rng(seed)
    graph, n = nx.Graph(), int(rng.integers(4, 12))
    for node in range(n):
        kind = name("abcdef"[min(rng.geometric(0.4) - 1, 5)])
        graph.add_node(node, kind=kind, who=name(rng.integers(9)), time=number(rng.normal(20, 2)))
    for u, v in nx.gnm_random_graph(n, 2 * n, seed=seed).edges:
        graph.add_edge(u, v, cost=number(rng.lognormal()))
    graph.graph.update(site=name("xyz"[rng.integers(3)]), total=number(rng.normal(100, 10)))
    if not shuffled:
        return graph
    other = nx.Graph(**graph.graph)
    other.add_nodes_from((node, graph.nodes[node]) for node in rng.permutation(n))
    other.add_edges_from(reversed([(v, u, data) for u, v, data in graph.edges(data=True)]))
    return other


def renamed(value):
    """One name for each of these values, in another order."""
    return f"{int(str(value), 36) * 37 % 101} of 101"


@pytest.fixture(scope="module", params=[None, 25], ids=["all", "25 references"])
def results(request):
    def results(order=AS_GIVEN, **changes):
        graphs = [graph_of(seed, **changes) for seed in order.tolist()]
        new = [graph_of(seed, **changes) for seed in range(100, 130)]
        settings = {"views": VIEWS, "max_references": request.param, "contamination": 0.2}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("skgraphkde.core.views.density.MAX_SAMPLE", 20)  # of which there are more
            detector = GraphKDEDetector(schema=SCHEMA, **settings).fit(graphs)
        of_known = detector.training_scores_[np.argsort(order)]
        groups = {frozenset(order[x.members].tolist()) for x in find_groups(detector.model_)}
        suggested = order[detector.suggest(9)].tolist()
        scores = np.append(detector.score_samples(new), of_known)
        return scores, detector.predict(new).tolist(), suggested, groups

    return results, results()


@pytest.mark.parametrize(
    ("changes", "tolerance"),
    [
        ({"name": renamed}, 1e-9),
        ({"shuffled": True}, 1e-9),
        ({"order": ORDER}, 1e-9),
        ({"number": np.float32}, 1e-5),
    ],
    ids=["names", "order of nodes", "order of graphs", "single precision"],
)
def test_scores_do_not_depend_on_how_graphs_are_written(results, changes, tolerance):
    results_of, (expected, *others_expected) = results
    scores, *others = results_of(**changes)
    np.testing.assert_allclose(scores, expected, rtol=tolerance)
    assert others == others_expected


def calls_of(seed, name=str, shuffled=False):
    """A random directed graph with categories of nodes and edges, some of which are rare."""
    rng = np.random.default_rng(seed)
    graph, n = nx.DiGraph(), int(rng.integers(4, 12))
    who, how = 20 * rng.random(n) ** 3, 25 * rng.random((n, n)) ** 3
    nodes = [(i, {"kind": name(int(who[i])), "who": name(rng.integers(3))}) for i in range(n)]
    edges = nx.gnm_random_graph(n, 2 * n, seed=seed, directed=True).edges
    edges = [(u, v, {"how": name(int(how[u, v]))}) for u, v in edges]
    graph.add_nodes_from(nodes[::-1] if shuffled else nodes)
    graph.add_edges_from(edges[::-1] if shuffled else edges)
    return graph


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"views": Density(MMD(method="random_features"))},
        {"encoder": GCN(hidden_dim=16), "views": "density", "random_state": 0},
    ],
    ids=["relations", "random features", "random weights"],
)
@pytest.mark.parametrize(
    ("most_values", "most_shares"), [(512, 200), (10, 13)], ids=["one-hot", "projected"]
)
def test_columns_are_in_an_order_that_names_do_not_change(
    settings, most_values, most_shares, monkeypatch
):
    monkeypatch.setattr("skgraphkde.core.points.features.MOST_VALUES", most_values)
    monkeypatch.setattr("skgraphkde.core.views.statistics.MOST_CATEGORIES", most_shares)
    found = []
    for name, shuffled, order in (str, False, 1), (renamed, False, 1), (str, True, -1):
        graphs = [calls_of(seed, name, shuffled) for seed in range(150)]
        schema = GraphSchema(node_categories=("kind", "who"), edge_categories="how")
        detector = GraphKDEDetector(schema=schema, **settings).fit(graphs[:100][::order])
        found.append(detector.score_samples(graphs[100:]))
    np.testing.assert_allclose(found[1:], np.stack(found[:1] * 2), rtol=1e-9)


@pytest.mark.parametrize("directed", [False, True])
def test_attributes_may_be_named_in_any_order(directed):
    rng, found = np.random.default_rng(0), []
    data = dict.fromkeys(("kind", "who"), lambda _: "abc"[rng.integers(3)])
    data |= dict.fromkeys(("time", "load"), lambda _: rng.gamma(2.0))
    graphs = [nx.gnm_random_graph(9, 14, seed=seed, directed=directed) for seed in range(60)]
    graphs = [with_data(graph, data, data) for graph in graphs]
    for step in (1, -1):
        categories, numbers = ("kind", "who")[::step], ("time", "load")[::step]
        of_nodes = {"node_categories": categories, "node_numbers": numbers}
        schema = GraphSchema(**of_nodes, edge_categories=categories, edge_numbers=numbers)
        detector = GraphKDEDetector(schema=schema).fit(graphs[:40])
        features, batch = detector.model_.features, detector.read(graphs[40:])
        names, X = features.get_feature_names_out(), features.transform(batch).attributes
        # Names of pairs of categories of edges are in the schema's order.
        found.append(([x for x in names if "', '" not in x], X, detector.score_samples(batch)))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-9)
    np.testing.assert_allclose(found[1][2], found[0][2], rtol=1e-9)
