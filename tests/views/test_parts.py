"""Novelty and rarity of the parts of graphs, against counting; tables that files contain."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from skgraphkde import GraphKDEDetector, GraphSchema, Novelty, Rarity, read_graphs
from skgraphkde.explanation import explain
from tests.conftest import densities
from tests.graphs.test_relations import typed_graphs


def parts_slow(graph):
    """The kinds of nodes, and the kinds of arcs, of a networkx graph."""
    label = dict(graph.nodes(data="label"))
    arcs = []
    for u, v, data in graph.edges(data=True):
        pairs = [(u, v)] if graph.is_directed() else [(u, v), (v, u)]
        for a, b in pairs:
            ends = (
                (label[a], label[b]) if graph.is_directed() else tuple(sorted((label[a], label[b])))
            )
            arcs.append((*ends, data["label"]))
    return list(label.values()), arcs


def weight_slow(references, i):
    """10, or less if more than a hundredth of the parts are of one reference alone."""
    owners = {}
    parts = [(part, j) for j, graph in enumerate(references) for part in parts_slow(graph)[i]]
    for part, j in parts:
        owners.setdefault(part, set()).add(j)
    alone = sum(len(owners[part]) == 1 for part, _ in parts)
    return 10 * 0.01 / max(alone / max(len(parts), 1), 0.01)


def scores_slow(graphs, references, own):
    """Minus the shares of new parts, and the means of log((c + 1) / (n + k))."""
    rows = []
    weights = [weight_slow(references, i) for i in (0, 1)]
    for graph, left_out in zip(graphs, own, strict=True):
        new = rarity = 0.0
        for i, parts in enumerate(parts_slow(graph)):
            known = Counter()
            for j, reference in enumerate(references):
                known.update(parts_slow(reference)[i] if j != left_out else ())
            kinds = {part for reference in references for part in parts_slow(reference)[i]}
            total = sum(len(parts_slow(reference)[i]) for reference in references)
            total += len(kinds) + 1
            if parts:
                new += weights[i] * np.mean([part not in known for part in parts])
                rarity += np.mean([np.log((known[part] + 1) / total) for part in parts])
        rows.append((new, rarity))
    return np.array(rows).T


@pytest.mark.parametrize("directed", [True, False])
@given(st.integers(0, 10**6))
def test_scores_equal_the_definition(directed, seed):
    options = {"directed": directed, "categories": "abcde"}
    references, new = typed_graphs(6, seed, **options), typed_graphs(4, seed + 1, **options)
    novelty, rare = (view.fit(read_graphs(references)) for view in (Novelty(0), Rarity()))
    assert rare.name == "rarity of categories and edges"
    for graphs, own in ((new, [-1] * 4), (references, range(6))):
        shares, rarity = scores_slow(graphs, references, own)
        actual = [view.scores(read_graphs(graphs), np.array(own)) for view in (novelty, rare)]
        nodes = shares_of_new_nodes(graphs, references, own)
        np.testing.assert_allclose(actual[0], -(nodes + shares), atol=1e-12)
        np.testing.assert_allclose(actual[1], rarity, atol=1e-12)


def shares_of_new_nodes(graphs, references, own):
    """With radius 0 a neighborhood is the node itself."""
    shares = []
    for graph, left_out in zip(graphs, own, strict=True):
        known = {x for j, r in enumerate(references) if j != left_out for x in parts_slow(r)[0]}
        shares.append(np.mean([label not in known for label in parts_slow(graph)[0]]))
    return np.array(shares)


def test_which_parts_count():
    def kinds(graphs, schema=None):
        """Of the rarity that views="auto" has; None if it has none."""
        batch, rarity = read_graphs(graphs, schema=schema), Rarity()
        return rarity.fit(batch).parts_.kinds if rarity.applies_to(batch) else None

    typed = typed_graphs(6)
    assert kinds(typed) == ("categories", "edges")
    no_edges = GraphSchema(edge_categories=None)
    assert kinds(typed, no_edges) == ("categories", "edges")  # they are directed
    undirected = GraphSchema(edge_categories=None, directed=False)
    assert kinds(typed, undirected) is None
    no_nodes = GraphSchema(node_categories=None)
    assert kinds(typed, no_nodes) == ("edges",)
    assert kinds(typed, GraphSchema(node_categories=None, edge_categories=None)) is None
    regions = [nx.relabel_nodes(nx.cycle_graph(5), dict(enumerate("abcde"))) for _ in range(3)]
    for graph in regions:
        nx.set_node_attributes(graph, {v: v for v in graph}, "label")
    assert kinds(regions) == ("categories", "edges")


def test_rarity_of_nodes_alone():
    """Which "auto" leaves out where nodes have one category, and who names the view gets."""
    graphs = [nx.path_graph(4), nx.cycle_graph(3)]
    for graph in graphs:
        nx.set_node_attributes(graph, {v: "ab"[v % 2] for v in graph}, "label")
    batch = read_graphs(graphs)
    assert not Rarity().applies_to(batch)
    rarity = Rarity().fit(batch)
    assert rarity.name == "rarity of categories"
    a, b = np.log(5 / 10), np.log(4 / 10)  # 4 and 3 of 7 nodes, of 2 kinds
    np.testing.assert_allclose(rarity.scores(batch, np.full(2, -1)), [(a + b) / 2, (2 * a + b) / 3])


def test_rarity_needs_categories():
    graphs = [nx.cycle_graph(n) for n in range(10, 30)]
    assert not Rarity().applies_to(read_graphs(graphs))
    message = r"Rarity needs categories of nodes or of edges, .*: name them in GraphSchema\("
    with pytest.raises(ValueError, match=message):
        GraphKDEDetector(views=("density", "rarity")).fit(graphs)


def test_known_categories_that_do_not_belong_together():
    def plant(rng, odd=False):
        graph = nx.gnm_random_graph(20, 30, seed=rng)
        first = rng.randint(3, size=20)
        second = np.where(rng.rand(20) < 0.2, rng.randint(3, size=20), first)
        second = rng.permutation(second) if odd else second
        for node, data in graph.nodes.items():
            data.update(kind=f"k{first[node]}", owner=f"o{second[node]}")
        return graph

    rng = np.random.RandomState(0)
    schema = GraphSchema(node_categories=("kind", "owner"))
    detector = GraphKDEDetector(schema=schema, views=("density", "rarity"))
    detector.fit([plant(rng) for _ in range(60)])
    normal = detector.score_samples([plant(rng) for _ in range(20)])
    odd = detector.score_samples([plant(rng, odd=True) for _ in range(20)])
    assert np.mean(normal[:, None] > odd) > 0.9
    assert detector.model_.view_names[-1] == "rarity of categories"


@pytest.mark.filterwarnings("ignore:node labels that fit did not see")
@pytest.mark.parametrize("n_days", [30, 300])
def test_a_new_value_does_not_drown_among_combinations(n_days):
    """Of a category with many values, nearly all combinations with another one are new."""

    def graph(seed, odd=False):
        rng, graph = np.random.default_rng(seed), nx.cycle_graph(25)
        for node in graph:
            kind, day = rng.integers([3, n_days]).tolist()
            graph.nodes[node].update(kind=("pump", "valve", "tank")[kind], day=f"d{day}")
        graph.nodes[0]["kind"] = "bomb" if odd else graph.nodes[0]["kind"]
        return graph

    schema = GraphSchema(node_categories=("kind", "day"))
    detector = GraphKDEDetector(schema=schema).fit([graph(seed) for seed in range(120)])
    new = [graph(1000 + seed, odd=seed % 2 == 1) for seed in range(60)]
    scores = detector.score_samples(new)
    assert roc_auc_score(np.arange(60) % 2 == 0, scores) > 0.85
    first = explain(detector, new[1::2], n_reasons=1)["what"]
    assert (first == "kind=bomb").mean() > 0.9


@pytest.mark.parametrize("label", ["label", "role"])
def test_categories_that_are_never_neighbors(label):
    """Of undirected graphs with node categories alone, who asks for edges finds them."""

    def network(seed, odd=False):
        rng, graph = np.random.default_rng(seed), nx.gnp_random_graph(25, 0.12, seed=seed)
        for node in graph:
            graph.nodes[node][label] = "abc"[rng.integers(3)]
        of = dict(graph.nodes(data=label))
        graph.remove_edges_from([e for e in graph.edges if {of[e[0]], of[e[1]]} == {"a", "c"}])
        if odd:
            graph.add_edge(*(next(v for v in graph if of[v] == x) for x in "ac"))
        return graph

    schema = GraphSchema(node_categories=label)
    detector = GraphKDEDetector(views=(*densities(), Novelty(edges=True), "rarity"), schema=schema)
    detector.fit([network(seed) for seed in range(80)])
    new = [network(1000 + seed, odd=seed % 2 == 1) for seed in range(40)]
    assert roc_auc_score(np.arange(40) % 2 == 0, detector.score_samples(new)) > 0.85


def test_edges_without_categories_are_refused():
    graphs = [nx.cycle_graph(n) for n in range(10, 30)]
    with pytest.raises(ValueError, match=r"Novelty\(edges=True\) needs categories"):
        GraphKDEDetector(views=("density", Novelty(edges=True))).fit(graphs)


def test_a_gap_at_a_kind_that_has_none():
    """A number that some kinds never have, and others always."""

    def chain(seed, odd=None):
        rng, graph = np.random.default_rng(seed), nx.gnp_random_graph(25, 0.12, seed=seed)
        for node in graph:
            kind = "mine" if rng.random() < 0.5 else "dealer"
            number = rng.normal(100, 10) if kind == "mine" else None
            graph.nodes[node].update(type=kind, staff=number)
        if odd is not None:
            node = next(v for v in graph if graph.nodes[v]["type"] == odd)
            graph.nodes[node]["staff"] = None if odd == "mine" else 100.0
        return graph

    schema = GraphSchema(node_categories="type", node_numbers="staff", missing="indicate")
    detector = GraphKDEDetector(schema=schema).fit([chain(seed) for seed in range(80)])
    fresh = [chain(1000 + seed) for seed in range(30)]
    for odd, text in (("mine", "type=mine without staff"), ("dealer", "type=dealer with staff")):
        new = [chain(2000 + seed, odd) for seed in range(30)]
        scores = detector.score_samples([*fresh, *new])
        assert roc_auc_score(np.repeat([1, 0], 30), scores) > 0.9
        said = explain(detector, new, n_reasons=2).groupby("graph")["what"].agg(list)
        assert np.mean([text in x for x in said]) > 0.9
