"""explain names what was planted, in words."""

import re

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks import typed
from skgraphkde import GraphKDEDetector, GraphSchema
from skgraphkde.explanation import explain, nearest_references, view_surprises
from skgraphkde.explanation.results import groups_of
from skgraphkde.graphs.words import Words, singular
from tests.conftest import random_graphs

#: What the first reason is about: its kind, and a word in its name.
CAUSES = {
    "direction reversed": ("statistics", "edges only"),
    "motif rewired at equal degrees": ("feature", "directed_return"),
    "edge categories shuffled": ("new", "-r"),
    "same categories, joined the other way": ("new", " - "),
    "edge numbers 1.6 times as large": ("feature", "amount"),
    "smooth number 1.3 times as large": ("extreme", "temp"),
    "identifiers as labels, denser graph": ("size", "edges"),
    "one node in 25 of a category never seen": ("new", "kind=bomb"),
    "two categories that go together, apart": ("new", "owner="),
    "missing values where there were few": ("feature", "pressure missing"),
    "two regions of a connectome exchanged": ("missing", "region"),  # and new, as strong
}


@pytest.mark.filterwarnings("ignore:node labels that fit did not see", "ignore:not read")
@pytest.mark.parametrize("case", CAUSES)
def test_the_planted_cause_comes_first(case):
    train, test, y = typed.graphs_of(case, draw=0)
    detector = typed.estimator(case, True, 0).fit(train[:60])
    least = 0.75 if case.startswith("missing") else 0.9
    assert roc_auc_score(y, detector.score_samples(test)) > least
    reasons = explain(detector, [test[i] for i in np.flatnonzero(y == -1)[:10]])
    first = reasons[reasons["rank"] == 1]
    kind, word = CAUSES[case]
    assert len(first) == 10
    first = first[first["strength"] >= 2]  # one missing value of 20 is nothing unusual
    named = [x.kind == kind and word in x.what for x in first.itertuples()]
    assert np.sum(named) >= max(8, len(first) - 1)


def test_the_frame():
    graphs = random_graphs(20, n_attributes=2)
    new = [*random_graphs(2, seed=1, n_attributes=2), nx.star_graph(40)]
    nx.set_node_attributes(new[2], {v: {"label": "C", "x": [9.0, 9.0]} for v in new[2]})
    detector = GraphKDEDetector().fit(graphs)
    reasons = explain(detector, new, k=4, n_reasons=3)
    columns = ["graph", "name", "rank", "kind", "what", "reason", "strength"]
    assert list(reasons) == [*columns, "nodes", "edges", "more", "references"]
    assert reasons["rank"].max() == 3
    for i, of_graph in reasons.groupby("graph"):
        assert of_graph["rank"].tolist() == list(range(1, len(of_graph) + 1))
        assert (of_graph["strength"] >= 0).all()
        assert all(max(nodes, default=0) < len(new[i]) for nodes in of_graph["nodes"])
        view = int(view_surprises(detector, [new[i]]).to_numpy()[0, :2].argmax())
        _, nearest = nearest_references(detector, [new[i]], 4, view=view)
        assert set(of_graph["references"]) == {tuple(nearest[0])}


def test_nodes_and_edges_of_a_reason():
    graphs = [nx.cycle_graph(n) for n in range(8, 28)]
    for graph in graphs:
        nx.set_node_attributes(graph, {v: "ab"[v % 2] for v in graph}, "label")
    graphs = [graph for graph in graphs if len(graph) % 2 == 0]
    odd = graphs[3].copy()
    odd.add_edge(0, 4)  # the only edge between two of a kind
    detector = GraphKDEDetector().fit(graphs)
    reasons = explain(detector, [odd], n_reasons=50)
    [new] = reasons[reasons["kind"] == "new"].itertuples()
    assert new.reason == "never seen: a - a"
    assert new.edges == ((0, 4),)
    assert set(new.nodes) == {0, 4}


def plain(rng):
    n = rng.randint(12, 35)
    return nx.gnm_random_graph(n, int(1.5 * n), seed=rng)


def skewed(rng):
    graph = plain(rng)
    for data in graph.nodes.values():
        data["kind"] = "abc"[rng.choice(3, p=[0.6, 0.3, 0.1])]
    for data in graph.edges.values():
        data["amount"] = float(rng.gamma(0.5, 2))
    return graph


@pytest.mark.parametrize("make", [plain, skewed])
def test_a_strength_of_3_is_one_in_twenty_by_chance(make):
    schema = GraphSchema(node_categories="kind", edge_numbers="amount") if make is skewed else None
    strengths, small = [], []
    for seed in range(3):
        rng = np.random.RandomState(seed)
        detector = GraphKDEDetector(schema=schema).fit([make(rng) for _ in range(60)])
        new = [make(rng) for _ in range(100)]
        first = explain(detector, new, n_reasons=1)
        strengths += first["strength"].tolist()
        is_strong = (first["kind"] == "size") & (first["strength"] >= 3)
        small += is_strong[[len(graph) <= 13 for graph in new]].tolist()
    strengths = np.array(strengths)
    assert 0.005 < np.mean(strengths >= 3) < 0.1  # most of the noise is that of three fits
    assert 0.2 < np.mean(strengths >= 1) < 0.5
    assert len(small) > 15
    assert np.mean(small) < 0.1  # which are as common among the known


def test_sizes_are_compared_with_all_known_graphs():
    detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(15, 65)])
    reasons = explain(detector, [nx.cycle_graph(n) for n in (200, 17, 14)], n_reasons=99)
    texts = reasons[reasons["what"] == "nodes"].set_index("graph")["reason"]
    assert texts.tolist() == [f"{n} nodes; usually 17 to 62" for n in (200, 17, 14)]


@pytest.mark.parametrize("options", [{"k": 0}, {"n_reasons": 0}])
def test_counts_are_positive(options):
    graphs = random_graphs(5)
    with pytest.raises(ValueError, match="k and n_reasons must be at least 1"):
        explain(GraphKDEDetector().fit(graphs), graphs, **options)


def ring(n, long=None):
    """A ring whose nodes count from 1, with a length at each edge."""
    graph = nx.relabel_nodes(nx.cycle_graph(n), {i: i + 1 for i in range(n)})
    for u, v, data in graph.edges(data=True):
        data["len"] = 50.0 if (u, v) == long else 1 + (u + v) % 3 / 10
    return graph


def test_nodes_are_called_by_their_ids():
    schema = GraphSchema(edge_numbers="len")
    detector = GraphKDEDetector(schema=schema).fit([ring(n) for n in range(8, 30)])
    odd = ring(12, long=(3, 4))
    text = explain(detector, [odd])["reason"].str.cat(sep="; ")
    assert "len 50 of edge between 3 and 4; usually 1 to 1.2" in text
    named = explain(detector, detector.read([odd]), node_names=[[f"atom {i}" for i in odd]])
    assert "of edge between atom 3 and atom 4" in named["reason"].str.cat(sep="; ")
    unnamed = explain(detector, detector.read([odd]))["reason"].str.cat(sep="; ")
    assert "of edge between 2 and 3" in unnamed


# -- in which order, and each fact once ------------------------------------------------------------


def log(seed, *, rare=False, odd=()):
    """The steps of a case, in their order, with a cost at each and a wait between two."""
    rng = np.random.default_rng(seed)
    steps = ["receive", "check", *["ask", "check"] * rng.integers(3), "approve", "pay"]
    if rare:
        steps.insert(2, "override")
    if "no approval" in odd:
        steps.remove("approve")
    graph = nx.path_graph(len(steps), create_using=nx.DiGraph)
    for node, step in enumerate(steps):
        graph.nodes[node].update(step=step, cost=float(rng.lognormal(2, 0.3)))
    for data in graph.edges.values():
        data["wait"] = float(rng.exponential(2))
    if "slow" in odd:
        graph.edges[0, 1]["wait"] = 60.0
    if "slow everywhere" in odd:
        for data in graph.edges.values():
            data["wait"] = 6 + 0.01 * data["wait"]
    if "another relation" in odd:
        graph.add_edge(3, 0, wait=2.0)
    for u, v, data in graph.edges(data=True):
        data["via"] = "hand" if "another relation" in odd and (u, v) == (3, 0) else "mail"
    return graph


@pytest.fixture(scope="module")
def of_logs():
    schema = GraphSchema(
        node_categories="step",
        node_numbers="cost",
        edge_categories="via",
        edge_numbers="wait",
        directed=True,
    )
    return GraphKDEDetector(schema=schema).fit([log(seed, rare=seed < 3) for seed in range(60)])


def said_of(detector, graph):
    frame = explain(detector, [graph], n_reasons=99)
    return frame[frame["strength"] >= 1].reset_index()


@pytest.mark.filterwarnings("ignore:edge categories that fit did not see")
@pytest.mark.parametrize(
    ("odd", "text"),
    [
        ("no approval", "no node with step=approve (unlike 60 of 60 other graphs)"),
        ("another relation", "never seen: via=hand"),
        ("slow", "wait 60 of edge mail from 0 (receive) to 1 (check); usually "),
        ("slow everywhere", "mean wait of edges (via=mail) 6.02; usually "),
    ],
)
def test_what_was_never_seen_then_what_is_concrete_unless_much_weaker(of_logs, odd, text):
    said = said_of(of_logs, log(100, odd=[odd]))
    assert said["reason"][0].startswith(text), said["reason"].tolist()


def test_a_stronger_statistic_comes_after_what_was_never_seen():
    def order(seed):
        rng, graph = np.random.default_rng(seed), nx.star_graph(3 + seed % 7)
        items = {v: str(rng.choice(["food", "toy", "book"])) for v in graph}
        nx.set_node_attributes(graph, items | {0: "order", 1: "food", 2: "toy"}, "item")
        return graph

    schema = GraphSchema(node_categories="item")
    detector = GraphKDEDetector(schema=schema).fit([order(seed) for seed in range(60)])
    odd = order(0)
    odd.add_edge(1, 2)
    said = said_of(detector, odd)
    assert said["reason"][:2].tolist() == [
        "never seen: food - toy",
        "share of pairs with a common neighbor that are neighbors 60%; usually 0%",
    ]
    assert said["strength"][1] > said["strength"][0]


def test_each_fact_is_told_once(of_logs):
    said = said_of(of_logs, log(100, odd=["slow"]))["reason"]
    assert said.str.contains("wait").sum() == 1  # neither the mean of what goes out, nor in
    rare = said_of(of_logs, log(100, rare=True))["reason"]
    assert rare.str.contains("override").sum() == 1  # nor its share, nor the edges at it


def test_what_is_rare_is_named_and_nothing_else(of_logs):
    said = said_of(of_logs, log(100, rare=True)).set_index("kind")
    assert said.loc["rare", "reason"] == "rare: step=override (in 3 of 60 other graphs)"
    assert said.loc["rare", "nodes"] == (2,)
    itself = explain(of_logs).query("graph == 0 and kind == 'rare'")["reason"].iloc[0]
    assert itself == "rare: step=override (in 2 of 59 other graphs)"


# -- what new users and adversaries found ----------------------------------------------------------


def first_reason(detector, graph):
    return next(explain(detector, [graph]).itertuples())


def random_graph(seed, of_nodes=None, of_edges=None, n=12):
    """A random graph; the functions make numbers or categories from a random generator."""
    rng, graph = np.random.default_rng(seed), nx.gnp_random_graph(n, 0.3, seed=seed)
    for name, draw in (of_nodes or {}).items():
        nx.set_node_attributes(graph, {v: draw(rng) for v in graph}, name)
    for name, draw in (of_edges or {}).items():
        nx.set_edge_attributes(graph, {e: draw(rng) for e in graph.edges}, name)
    return graph


def test_the_nodes_of_an_edge_number_by_category():
    level = {"x": 1, "y": 10, "z": 100}

    def graph(seed):
        graph = random_graph(seed, of_edges={"medium": lambda rng: "xyz"[rng.integers(3)]}, n=16)
        rng = np.random.default_rng(seed + 1)
        for *_, data in graph.edges(data=True):
            data["flow"] = rng.normal(level[data["medium"]], 0.3)
        return graph

    schema = GraphSchema(edge_categories="medium", edge_numbers="flow")
    detector = GraphKDEDetector(schema=schema, views="density").fit([graph(i) for i in range(60)])
    odd = graph(1000)
    ends = next((u, v) for u, v, data in odd.edges(data=True) if data["medium"] == "y")
    odd.edges[ends]["flow"] = 50.0
    reason = first_reason(detector, odd)
    assert reason.what == "y flow"
    assert set(reason.nodes) == set(ends)


def test_missing_numbers_and_absent_categories_are_named():
    schema = GraphSchema(node_numbers="temp", node_categories="region", missing="indicate")

    def graph(seed, n=20):
        graph = random_graph(seed, {"temp": lambda rng: rng.normal(60, 2)}, n=20)
        nx.set_node_attributes(graph, {v: f"r{v:02d}" for v in graph}, "region")
        graph.remove_nodes_from(range(n, 20))
        return graph

    detector = GraphKDEDetector(schema=schema).fit([graph(seed) for seed in range(40)])
    odd = graph(99)
    for node in (3, 7, 9):
        odd.nodes[node]["temp"] = None
    reasons = explain(detector, [odd])["reason"].str.cat(sep="; ")
    assert "temp missing of node 3 (r03); never so in 40 other graphs" in reasons
    assert "temp is missing at 3 of 20 nodes (15%); usually 0%" in reasons
    absent = explain(detector, [graph(99, n=19)])
    absent = absent[absent["what"] == "region=r19"]
    assert absent["kind"].tolist() == ["missing"]
    assert absent["reason"].iloc[0] == "no node with region=r19 (unlike 40 of 40 other graphs)"


def test_the_mean_weight():
    draws = {"weight": lambda rng: rng.lognormal(0, 0.25)}
    schema = GraphSchema(edge_weight="weight")
    graphs = [random_graph(seed, of_edges=draws) for seed in range(40)]
    detector = GraphKDEDetector(schema=schema).fit([*graphs, nx.empty_graph(3)])
    reason = first_reason(
        detector, random_graph(99, of_edges={"weight": lambda rng: 5 * draws["weight"](rng)})
    )
    assert reason.what == "weights"
    assert reason.reason.startswith("mean weight of edges ")


def test_a_number_in_its_usual_range_is_no_reason():
    rng = np.random.RandomState(0)
    detector = GraphKDEDetector().fit([plain(rng) for _ in range(40)])
    said = explain(detector, [plain(rng) for _ in range(100)], n_reasons=9)
    found = said.loc[said["strength"] > 0, "reason"].str.extract(
        r"([\d.]+)(?: per node)?; usually ([\d.]+) to ([\d.]+)$"
    )
    own, low, high = found.dropna().astype(float).to_numpy().T
    assert len(own) > 25
    assert ((own < low) | (own > high)).all()


@pytest.mark.parametrize("directed", [False, True])
def test_missing_numbers_of_edges_are_shares_of_the_edges(directed):
    def graph(seed, share):
        rng = np.random.default_rng(seed)
        made = nx.gnm_random_graph(rng.integers(6, 12), 9, seed=seed, directed=directed)
        for *_, data in made.edges(data=True):
            data["via"] = "ab"[int(rng.random() < 0.2)]
            if rng.random() >= share:
                data["cost"] = rng.random()
        return made

    schema = GraphSchema(edge_categories="via", edge_numbers="cost", missing="indicate")
    detector = GraphKDEDetector(schema=schema).fit([graph(seed, 0.1) for seed in range(40)])
    new = [graph(seed, 0.6) for seed in range(100, 120)]
    n_stated = 0
    for row in explain(detector, new, n_reasons=30).itertuples():
        words = re.match(r"cost is missing at (\d+) of (\d+) edges? \(via=(.)\) ", row.reason)
        if words:
            edges = new[row.graph].edges.values()
            lacks = ["cost" not in data for data in edges if data["via"] == words[3]]
            assert (sum(lacks), len(lacks)) == (int(words[1]), int(words[2]))
            n_stated += 1
    assert n_stated > 10


def test_a_graph_in_which_nothing_is_unusual_has_a_reason_that_says_something():
    graphs = [nx.cycle_graph(n) for n in (7, 8, 9) for _ in range(5)]
    for k, graph in enumerate(graphs):
        nx.set_node_attributes(graph, {v: "ab"[(v + k) % 2] for v in graph}, "label")
    reasons = explain(GraphKDEDetector().fit(graphs), [graphs[5]], n_reasons=3)
    assert reasons["reason"].tolist() == ["8 nodes; usually 7 to 9"]
    assert reasons["strength"].tolist() == [0]


def test_a_graph_without_edges_is_told_so_first_and_nothing_that_follows():
    graphs = [nx.connected_watts_strogatz_graph(12 + k % 5, 4, 0.2, seed=k) for k in range(40)]
    bare = graphs[3].copy()
    bare.remove_edges_from(list(bare.edges))
    reasons = explain(GraphKDEDetector().fit(graphs), [bare], n_reasons=9)["reason"].tolist()
    assert reasons[0].startswith("no edges at all; usually ")
    assert not any("walks" in reason or "degree" in reason for reason in reasons)


@pytest.mark.filterwarnings("ignore:58 of 60 training graphs")
def test_a_node_whose_id_is_its_category_is_named_once():
    def case(seed, times=1):
        graph = nx.DiGraph([("open", "check stock"), ("check stock", "send")])
        for node, data in graph.nodes.items():
            data.update(label=node, who="desk", times=1 + (seed % 3 == 0))
        graph.nodes["check stock"]["times"] *= times
        return graph

    schema = GraphSchema(node_categories=("label", "who"), node_numbers="times")
    detector = GraphKDEDetector(schema=schema).fit([case(seed) for seed in range(60)])
    reasons = explain(detector, [case(1, 40)])["reason"]
    assert all(reason.count("check stock") <= 1 for reason in reasons)
    assert any("check stock" in reason for reason in reasons), reasons.tolist()


@pytest.mark.filterwarnings("ignore:node labels that fit did not see")
def test_a_value_never_seen_is_the_first_reason_whatever_the_numbers():
    """Though known graphs have values of their own now and then."""

    def graph(seed, odd=False):
        rng = np.random.default_rng(seed)
        graph = nx.path_graph(12)
        graph.graph["weight"] = float(rng.normal(300, 40))
        for node in graph:
            graph.nodes[node]["element"] = "CCNO"[rng.integers(4)]
        if seed % 50 == 0:
            graph.nodes[3]["element"] = f"X{seed}"
        if odd:
            graph.nodes[5]["element"], graph.graph["weight"] = "Hg", 9999.0
        return graph

    schema = GraphSchema(node_categories="element", graph_numbers="weight")
    detector = GraphKDEDetector(schema=schema).fit([graph(seed) for seed in range(200)])
    reasons = explain(detector, [graph(1001 + seed, odd=True) for seed in range(20)], n_reasons=2)
    told = reasons.groupby("graph")["reason"].agg(list)
    assert all("Hg" in first and "weight" in second for first, second in told)


# -- whose numbers, orders and categories these are ------------------------------------------------


def lettered(letters, edges, make=nx.Graph):
    graph = make(edges)
    nx.set_node_attributes(graph, dict(enumerate(letters)), "label")
    return graph


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "new", "start"),
    [
        (nx.Graph, [(0, 2), (3, 5)], "2 edges never seen: a - z"),
        (nx.DiGraph, [(0, 2), (2, 0)], "2 edges never seen: a -> z -> a"),
        (nx.DiGraph, [(0, 2), (2, 3)], "3 nodes in an order never seen: a -> z -> a"),
    ],
)
def test_an_order_is_of_as_many_nodes(make, new, start):
    def known(m):
        starts = range(0, 3 * m, 3)
        edges = [(i + j, i + k) for i in starts for j, k in ((0, 1), (1, 2), (1, 4))]
        return lettered("abz" * (m + 1), [*edges, (3 * m, 3 * m + 1), (3 * m + 1, 3 * m + 2)], make)

    detector = GraphKDEDetector().fit([known(1 + i % 3) for i in range(60)])
    odd = known(1)
    odd.add_edges_from(new)
    assert explain(detector, [odd])["reason"][0] == start


@pytest.mark.filterwarnings("ignore")
def test_a_number_between_others_is_told_with_those_next_to_it():
    def graph(numbers):
        graph = nx.path_graph(len(numbers))
        nx.set_node_attributes(graph, dict(enumerate(numbers)), "ms")
        return graph

    rng = np.random.default_rng(0)
    known = rng.choice([10.0, 20.0], (40, 3)) + rng.random((40, 3)).round(2)
    schema = GraphSchema(node_numbers="ms")
    detector = GraphKDEDetector(schema=schema).fit([graph(numbers) for numbers in known.tolist()])
    reasons = explain(detector, [graph([10.5, 14.0, 20.5])])["reason"].tolist()
    below, above = known[known < 14].max(), known[known > 14].min()
    near = f"nearest of 120 like it: {below:.3g} and {above:.3g}"
    assert f"ms 14 of node 1: within the usual range; {near}" in reasons


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", ["node", "edge"])
def test_the_range_of_some_is_told_with_their_number(part):
    """Of those that have all categories in common, of which the sentence names one."""

    def graph(seed, times=1):
        rng = np.random.default_rng(seed)
        graph = nx.path_graph(4, nx.DiGraph)
        for node, data in graph.nodes.items():
            data.update(label="abcd"[node], team="xy"[rng.integers(2)])
        parts = graph.nodes if part == "node" else graph.edges
        for data in parts.values():
            data["cost"] = rng.lognormal(0, 0.2)
        list(parts.values())[1]["cost"] *= times
        return graph

    known, odd = [graph(seed) for seed in range(60)], graph(99, 30)
    schema = GraphSchema(node_categories=("label", "team"), **{f"{part}_numbers": "cost"})
    detector = GraphKDEDetector(schema=schema).fit(known)
    like = [1] if part == "node" else [1, 2]
    n = sum(all(x.nodes[v]["team"] == odd.nodes[v]["team"] for v in like) for x in known)
    reason = first_reason(detector, odd).reason
    assert re.fullmatch(
        rf"cost [\d.]+ of {part} .*; usually [\d.]+ to [\d.]+ in {n} like it", reason
    )


def people(seed, same=False, odd_step=False):
    """Steps, each by somebody else; by the same, or with a step more, where it is said so."""
    rng = np.random.default_rng(seed)
    steps = ["create", "check", "approve", *["audit"] * odd_step, "pay", "post"]
    graph = nx.path_graph(len(steps), nx.DiGraph)
    who = rng.choice(30, len(steps), replace=False)
    who[2 if same else 1] = who[1]
    for node, data in graph.nodes.items():
        data.update(step=steps[node], who=f"p{who[node]}")
    return graph


@pytest.mark.filterwarnings("ignore")
def test_the_number_of_pairs_is_not_told_of_one_person():
    schema = GraphSchema(node_categories=("step", "who"))
    known = [people(seed, same=seed < 2) for seed in range(60)]
    odd = people(99, same=True)
    reasons = explain(GraphKDEDetector(schema=schema).fit(known), [odd])["reason"].tolist()
    who = odd.nodes[1]["who"]
    text = f"rare: approve and check with the same who (in 2 of 60 other graphs), here {who}"
    assert text in reasons


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("n", "is_rare"), [(3, True), (5, False)])
def test_what_one_in_twenty_have_is_rare(n, is_rare):
    known = [people(seed, odd_step=seed < n) for seed in range(60)]
    detector = GraphKDEDetector(schema=GraphSchema(node_categories="step")).fit(known)
    said = explain(detector, [people(99, odd_step=True)], n_reasons=99)["reason"]
    assert any(x.startswith("rare") and "audit" in x for x in said) == is_rare


@pytest.mark.filterwarnings("ignore")
def test_what_is_false_is_told():
    def graph(seed, odd=False):
        rng = np.random.default_rng(seed)
        graph = nx.path_graph(8)
        for node, data in graph.nodes.items():
            data.update(label="CN"[node % 2], charge=0, aromatic=node < 5)
        graph.nodes[7].update(charge=-1, aromatic=True)
        if odd:
            graph.nodes[7].update(aromatic=False)
        if rng.random() < 0.5:
            graph.add_edge(0, 4)
        return graph

    schema = GraphSchema(node_categories=("label", "charge", "aromatic"))
    detector = GraphKDEDetector(schema=schema).fit([graph(seed) for seed in range(40)])
    said = explain(detector, [graph(99, odd=True)], n_reasons=99)["reason"].str.cat(sep="; ")
    assert "never seen: N (charge=-1, not aromatic)" in said


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", ["x", 3])
def test_groups_are_told_in_the_words_of_the_user(value):
    def graph(seed, odd=False):
        rng = np.random.default_rng(seed)
        graph = nx.path_graph(int(rng.integers(6, 9)))
        if odd:
            graph.add_edges_from((0, 20 + i) for i in range(9))
        nx.set_node_attributes(graph, 1, "status")
        graph.nodes[0]["status"] = value if odd else 1
        return graph

    graphs = [graph(seed, odd=seed >= 50) for seed in range(54)]
    call = {"nodes": "boxes", "graphs": "movies", "graph": "movie"}
    plain = GraphSchema(node_categories=None, node_numbers=None, call=call)
    [(_, shared)] = groups_of(GraphKDEDetector(schema=plain).fit(graphs))
    assert shared.startswith("a box with 10 neighbors")
    schema = GraphSchema(node_categories="status", call=call)
    [(_, shared)] = groups_of(GraphKDEDetector(schema=schema).fit(graphs))
    assert f"status=1 - {'x' if value == 'x' else 'status=3'}" in shared


@pytest.mark.filterwarnings("ignore")
def test_the_words_for_one():
    nouns = ["boxes", "branches", "cases", "purchases"]
    assert [singular(x) for x in nouns] == ["box", "branch", "case", "purchase"]
    words = Words.of({"graphs": "movies", "graph": "movie", "nodes": "steps"})
    assert (words.graph, words.node) == ("movie", "step")
    assert Words.of(words.called()) == words
    graphs = random_graphs(5)
    schema = GraphSchema(call={"graphs": "movies", "graph": "movie"})
    detector = GraphKDEDetector(schema=schema).fit(graphs)
    assert detector.schema_.to_schema().call["graph"] == "movie"
    for wrong in ({"graph": "movie"}, {"graphs": "x" * 41}):
        with pytest.raises(ValueError, match="call of GraphSchema must give names"):
            GraphKDEDetector(schema=GraphSchema(call=wrong)).fit(graphs)
