"""explain names what was planted, in words."""

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks import typed
from skgraphkde import GraphKDEDetector, GraphSchema
from skgraphkde.explanation import explain, nearest_references, results, view_surprises
from skgraphkde.explanation.results import groups_of
from tests.conftest import random_graphs, with_data

#: What the first reason is about: its kind, and a word in its name.
CAUSES = {
    "direction reversed": ("statistics", "s"),
    "motif rewired at equal degrees": ("feature", "directed_return"),
    "edge categories shuffled": ("new", " edge "),
    "same categories, joined the other way": ("new", " - "),
    "edge numbers 1.6 times as large": ("feature", "amount"),
    "smooth number 1.3 times as large": ("extreme", "temp"),
    "identifiers as labels, denser graph": ("size", "edges"),
    "one node in 25 of a category never seen": ("new", "kind=bomb"),
    "two categories that go together, apart": ("new", "owner="),
    "missing values where there were few": ("feature", "pressure missing"),
    "two regions of a connectome exchanged": ("missing", "region"),  # and new, as strong
}


def test_what_reasons_are_about_does_not_depend_on_the_words_of_the_user():
    known = [nx.gnp_random_graph(15, 0.3, seed=seed, directed=True) for seed in range(30)]
    odd = [nx.DiGraph(nx.star_graph(20)), nx.cycle_graph(9, nx.DiGraph)]
    plain, called = (
        explain(GraphKDEDetector(schema=GraphSchema(call=call)).fit(known), odd, n_reasons=20)
        for call in ({}, {"nodes": "steps", "edges": "links", "graphs": "cases"})
    )
    assert plain["what"].isin(["degrees", "rounds", "triangles", "sinks", "sources"]).any()
    assert plain["what"].tolist() == called["what"].tolist()
    assert plain["reason"].tolist() != called["reason"].tolist()


@pytest.mark.filterwarnings("ignore:edge")
@pytest.mark.parametrize(
    ("bonds", "what", "reason"),
    [
        (["SINGLE", "TRIPLE", "DOUBLE"], "triple edge", "never seen: triple link"),
        (
            ["SINGLE"] * 3,
            "double edge C - C",
            "no double link C - C (unlike 30 of 30 other graphs)",
        ),
    ],
)
def test_an_edge_has_its_noun_once_and_a_code_without_it(bonds, what, reason):
    def graph(kinds):
        return with_data(nx.path_graph(len(kinds) + 1), {"label": "C"}, {"label": kinds})

    known = [graph(["SINGLE", "DOUBLE", *["SINGLE"] * (n % 30 + 1)]) for n in range(30)]
    detector = GraphKDEDetector(
        schema=GraphSchema(edge_categories="label", call={"nodes": "atoms"})
    )
    first = explain(detector.fit(known), [graph(bonds)]).iloc[0]
    assert (first.what, first.reason) == (what, reason)


@pytest.mark.filterwarnings("ignore:node")
def test_a_value_that_none_has_is_no_weak_sign_however_few_are_known():
    def graph(seed, first="x"):
        rng = np.random.default_rng(200 + seed)
        nodes = {
            "kind": [first, *rng.choice(list("xy"), 5)],
            "who": list(rng.choice(list("abcd"), 6)),
        }
        edges = {"via": list(rng.choice(list("mn"), 6))}
        return with_data(nx.gnm_random_graph(6, 6, seed=seed), nodes, edges)

    schema = GraphSchema(node_categories=("kind", "who"), edge_categories="via")
    detector = GraphKDEDetector(schema=schema, max_references=4)
    detector.fit([graph(seed) for seed in range(20)])
    assert results(detector, [graph(99, "NEW")])["reason"][0] == "never seen: kind=NEW"


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
    star = with_data(nx.star_graph(40), {"label": "C", "x": (9.0, 9.0)})
    new = [*random_graphs(2, seed=1, n_attributes=2), star]
    detector = GraphKDEDetector().fit(random_graphs(20, n_attributes=2))
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
    in_turn = {"label": lambda v: "ab"[v % 2]}
    graphs = [with_data(nx.cycle_graph(n), in_turn) for n in range(8, 28, 2)]
    odd = graphs[3].copy()
    odd.add_edge(0, 4)  # the only edge between two of a kind
    detector = GraphKDEDetector().fit(graphs)
    reasons = explain(detector, [odd], n_reasons=50)
    [new] = reasons[reasons["kind"] == "new"].itertuples()
    assert new.reason == "never seen: a - a"
    assert new.edges == ((0, 4),)
    assert set(new.nodes) == {0, 4}


@pytest.mark.parametrize("options", [{"k": 0}, {"n_reasons": 0}])
def test_counts_are_positive(options):
    graphs = random_graphs(5)
    with pytest.raises(ValueError, match="k and n_reasons must be at least 1"):
        explain(GraphKDEDetector().fit(graphs), graphs, **options)


def ring(n, long=None):
    """A ring whose nodes count from 1, with a length at each edge."""
    graph = nx.relabel_nodes(nx.cycle_graph(n), {i: i + 1 for i in range(n)})
    lengths = {"len": lambda edge: 50.0 if edge == long else 1 + sum(edge) % 3 / 10}
    return with_data(graph, None, lengths)


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


def log(seed, *, rare=False, odd=""):
    """The steps of a case, in their order, with a cost at each and a wait between two."""
    rng = np.random.default_rng(seed)
    steps = ["receive", "check", *["ask", "check"] * rng.integers(3), "approve", "pay"]
    if rare:
        steps.insert(2, "override")
    if odd == "no approval":
        steps.remove("approve")
    least, scale = (6, 0.01) if odd == "slow everywhere" else (0, 1)
    graph = with_data(
        nx.path_graph(len(steps), create_using=nx.DiGraph),
        {"step": steps, "cost": lambda _: float(rng.lognormal(2, 0.3))},
        {"wait": lambda _: float(least + scale * rng.exponential(2)), "via": "mail"},
    )
    if odd == "slow":
        graph.edges[0, 1]["wait"] = 60.0
    if odd == "another relation":
        graph.add_edge(3, 0, wait=2.0, via="hand")
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
        ("slow", "wait 60 of mail edge from 0 (receive) to 1 (check); usually "),
        ("slow everywhere", "average wait of edges (via=mail): 6.02; usually "),
    ],
)
def test_what_was_never_seen_then_what_is_concrete_unless_much_weaker(of_logs, odd, text):
    said = said_of(of_logs, log(100, odd=odd))
    assert said["reason"][0].startswith(text), said["reason"].tolist()


def test_each_fact_is_told_once(of_logs):
    said = said_of(of_logs, log(100, odd="slow"))["reason"]
    assert said.str.contains("wait").sum() == 1  # neither the mean of what goes out, nor in
    rare = said_of(of_logs, log(100, rare=True))["reason"]
    assert rare.str.contains("override").sum() == 1  # nor its share, nor the edges at it


def test_what_is_rare_is_named_and_nothing_else(of_logs):
    said = said_of(of_logs, log(100, rare=True)).set_index("kind")
    assert said.loc["rare", "reason"] == "unusual: step=override (in 3 of 60 other graphs)"
    assert said.loc["rare", "nodes"] == (2,)
    itself = explain(of_logs).query("graph == 0 and kind == 'rare'")["reason"].iloc[0]
    assert itself == "unusual: step=override (in 2 of 59 other graphs)"


# -- what new users and adversaries found ----------------------------------------------------------


def first_reason(detector, graph):
    return next(explain(detector, [graph]).itertuples())


def test_the_mean_weight():
    def graph(seed, times=1):
        rng, graph = np.random.default_rng(seed), nx.gnp_random_graph(12, 0.3, seed=seed)
        return with_data(graph, None, {"weight": lambda _: times * rng.lognormal(0, 0.25)})

    detector = GraphKDEDetector(schema=GraphSchema(edge_weight="weight"))
    detector.fit([*map(graph, range(40)), nx.empty_graph(3)])
    reason = first_reason(detector, graph(99, times=5))
    assert reason.what == "weights"
    assert reason.reason.startswith("average weight of edges: ")


def test_a_graph_in_which_nothing_is_unusual_has_a_reason_that_says_something():
    graphs = [
        with_data(nx.cycle_graph(n), {"label": lambda v, k=k: "ab"[(v + k) % 2]})
        for n in (7, 8, 9)
        for k in range(5)
    ]
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


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_as_many_edges_as_usual_are_no_reason(edges):
    """One in ten known graphs has no edges: from none on, few are usual."""
    known = [nx.path_graph(1 if k % 10 == 0 else 4 + k % 3) for k in range(60)]
    new = nx.empty_graph(3)
    new.add_edges_from(edges)
    said = explain(GraphKDEDetector().fit(known), [new], n_reasons=9)["reason"].tolist()
    assert said[0].startswith("number of separate pieces: ")
    assert not any("edges at all" in reason or "per node" in reason for reason in said)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("via", "mode", "what"),
    [("ODD", "m", "via=ODD"), ("ODD", "NEW", "via=ODD"), ("a", "n", "a (mode=n) edge")],
)
def test_an_edge_is_new_by_one_of_its_categories_or_by_all_of_them(via, mode, what):
    def graph(seed):
        vias = list(np.random.default_rng(seed).permutation(list("aaabb")))
        modes = ["mn"["ab".index(x)] for x in vias]
        return with_data(nx.path_graph(6), edges={"via": vias, "mode": modes})

    schema, new = GraphSchema(edge_categories=("via", "mode")), graph(60)
    new.edges[2, 3].update(via=via, mode=mode)
    detector = GraphKDEDetector(schema=schema).fit([graph(seed) for seed in range(60)])
    assert explain(detector, [new])["reason"][0] == f"never seen: {what}"


@pytest.mark.filterwarnings("ignore:58 of 60 training graphs")
def test_a_node_whose_id_is_its_category_is_named_once():
    def case(seed, times=1):
        graph = nx.DiGraph([("open", "check stock"), ("check stock", "send")])
        usual = 1 + (seed % 3 == 0)
        data = {"label": str, "who": "desk", "times": [usual, usual * times, usual]}
        return with_data(graph, data)

    schema = GraphSchema(node_categories=("label", "who"), node_numbers="times")
    detector = GraphKDEDetector(schema=schema).fit([case(seed) for seed in range(60)])
    reasons = explain(detector, [case(1, 40)])["reason"]
    assert all(reason.count("check stock") <= 1 for reason in reasons)
    assert any("check stock" in reason for reason in reasons), reasons.tolist()


# -- whose numbers, orders and categories these are ------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("n", "start"), [(1, ["rare"]), (3, ["unusual"]), (5, [])])
def test_what_one_in_twenty_have_is_unusual_and_one_in_fifty_rare(n, start):
    known = [log(seed, rare=seed < n) for seed in range(60)]
    detector = GraphKDEDetector(schema=GraphSchema(node_categories="step")).fit(known)
    said = explain(detector, [log(99, rare=True)], n_reasons=99)["reason"]
    assert [x.partition(":")[0] for x in said if ": step=override (in " in x] == start


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", ["x", "a", 3])
def test_groups_are_told_in_the_words_of_the_user(value):
    def graph(seed, odd=False):
        rng = np.random.default_rng(seed)
        graph = nx.path_graph(int(rng.integers(6, 9)))
        if odd:
            graph.add_edges_from((0, 20 + i) for i in range(9))
        return with_data(graph, {"status": lambda v: value if odd and v == 0 else 1})

    graphs = [graph(seed, odd=seed >= 50) for seed in range(54)]
    call = {"nodes": "boxes", "graphs": "movies", "graph": "movie"}
    plain = GraphSchema(node_categories=None, node_numbers=None, call=call)
    [(_, shared)] = groups_of(GraphKDEDetector(schema=plain).fit(graphs))
    assert shared.startswith("one box with 10 neighbors")
    schema = GraphSchema(node_categories="status", call=call)
    [(_, shared)] = groups_of(GraphKDEDetector(schema=schema).fit(graphs))
    ends = sorted(["status=1", "status=3" if value == 3 else value])  # as in reasons
    assert " - ".join(ends) in shared


@pytest.mark.filterwarnings("ignore:edge categories that fit did not see")
def test_an_edge_is_named_once_and_a_category_by_its_name_if_it_is_not_the_main_one():
    def graph(seed, odd=False):
        labels = list("abcdefgh")
        if seed < 5:  # an order of its own
            labels[seed : seed + 2] = labels[seed : seed + 2][::-1]
        path = nx.path_graph(8, create_using=nx.DiGraph)
        graph = with_data(path, {"label": labels, "kind": ["valve", *["pump"] * 7]}, {"rel": "old"})
        if odd:
            graph.edges[4, 5]["rel"] = "NEW"
            graph.add_edges_from([(6, 0), (6, 1), (5, 2)], rel="old")
        return graph

    schema = GraphSchema(node_categories=("label", "kind"), edge_categories="rel")
    detector = GraphKDEDetector(schema=schema).fit([graph(seed) for seed in range(60)])
    said = explain(detector, [graph(99, odd=True)], n_reasons=9)["reason"]
    assert said[said.str.contains("edges never seen: ")].tolist() == [
        "2 edges never seen: old edge f -> c, old edge g -> b",
    ]
    assert said[0] == "never seen: rel=NEW"
    around = "a (kind=valve) by old edge and g (kind=pump) by old edge before and c (kind=pump) by"
    start = f"never seen: b (kind=pump) with {around} old edge after it"
    assert any(x.startswith(start) for x in said)


@pytest.mark.filterwarnings("ignore:node labels that fit did not see")
def test_a_value_never_seen_is_the_first_reason_whatever_the_numbers():
    """Though known graphs have values of their own now and then."""

    def graph(seed, odd=False):
        rng = np.random.default_rng(seed)
        elements = {"element": lambda _: "CCNO"[rng.integers(4)]}
        graph = with_data(nx.path_graph(12), elements, weight=float(rng.normal(300, 40)))
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
        graph = make([*edges, (3 * m, 3 * m + 1), (3 * m + 1, 3 * m + 2)])
        return with_data(graph, {"label": lambda v: "abz"[v % 3]})

    detector = GraphKDEDetector().fit([known(1 + i % 3) for i in range(60)])
    odd = known(1)
    odd.add_edges_from(new)
    assert explain(detector, [odd])["reason"][0] == start
