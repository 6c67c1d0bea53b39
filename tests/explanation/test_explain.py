"""explain names what was planted, in words."""

import pickle
import re

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks import typed
from skgraphkde import GraphKDEDetector, GraphSchema, LeaveOneOut, Novelty, View
from skgraphkde.core.views import Property
from skgraphkde.explanation import explain, nearest_references, results, view_surprises
from skgraphkde.explanation.results import groups_of
from skgraphkde.explanation.views import name_view, summarize_view
from tests.conftest import fitted_to, random_graphs, refused, with_data
from tests.explanation.common import ring

#: What the first reason is about: its kind, and a word in its name.
CAUSES = {
    "direction reversed": ("statistics", "s"),
    "motif rewired at equal degrees": ("statistics", "triangles"),
    "edge categories shuffled": ("new", " edge "),
    "same categories, joined the other way": ("new", " - "),
    "edge numbers 1.6 times as large": ("feature, or extreme", "amount"),
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
        (["SINGLE", "next", "DOUBLE"], "'next' edge", "never seen: 'next' link"),
        (
            ["SINGLE"] * 3,
            "double edge C - C",
            "no double link C - C (unlike all 30 other graphs)",
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


@pytest.mark.filterwarnings("ignore:node categories that fit did not see", "ignore:not read")
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
    named = [x.kind in kind and word in x.what for x in first.itertuples()]
    assert np.sum(named) >= max(8, len(first) - 1)


def test_the_frame():
    star = with_data(nx.star_graph(40), {"label": "C", "x": (9.0, 9.0)})
    new = [*random_graphs(2, seed=1, n_attributes=2), star]
    detector = GraphKDEDetector().fit(random_graphs(20, n_attributes=2))
    reasons = explain(detector, new, k=4, n_reasons=3)
    columns = ["graph", "name", "rank", "kind", "what", "reason", "strength"]
    columns += ["part", "value", "low", "high", "n_known"]
    assert list(reasons) == [*columns, "nodes", "edges", "more", "references"]
    assert reasons["rank"].max() == 3
    for i, of_graph in reasons.groupby("graph"):
        assert of_graph["rank"].tolist() == list(range(1, len(of_graph) + 1))
        assert (of_graph["strength"] >= 0).all()
        assert all(max(nodes, default=0) < len(new[i]) for nodes in of_graph["nodes"])
        view = int(view_surprises(detector, [new[i]]).to_numpy()[0, :2].argmax())
        _, nearest = nearest_references(detector, [new[i]], 4, view=view)
        assert set(of_graph["references"]) == {tuple(nearest[0])}


@pytest.mark.filterwarnings("ignore:node categories that fit did not see")
def test_numbers_of_reasons_are_those_of_the_graphs():
    rng = np.random.RandomState(0)

    def graph(n, label=None):
        labels = ["CNO"[min(i % 7, 2)] for i in range(n)]
        labels[0] = label or labels[0]
        return with_data(nx.path_graph(n), {"label": labels, "load": lambda v: rng.normal(20.0)})

    sizes = list(range(10, 50))
    known = [graph(n) for n in sizes] + [graph(12, "P")]
    odd = graph(400, "U")
    odd.nodes[5]["load"] = 900.0
    detector = GraphKDEDetector(schema="all").fit(known)
    found = explain(detector, [odd, graph(20, "P")], n_reasons=50)
    of_odd = found[found["graph"] == 0].set_index(["kind", "what"])
    size = of_odd.loc[("size", "nodes")]
    low, high = np.quantile([len(g) for g in known], (0.05, 0.95), method="nearest")
    assert (size["value"], size["low"], size["high"]) == (400, low, high)
    assert (size["part"], size["n_known"]) == ("graph", 41)
    new = of_odd.loc[("new", "U")]
    assert (new["part"], new["n_known"], new["nodes"]) == ("node", 0, (0,))
    assert np.isnan(new["value"])
    extreme = of_odd.loc[("extreme", "load")]
    assert (extreme["part"], extreme["value"], extreme["nodes"][0]) == ("node", 900.0, 5)
    assert 15 < extreme["low"] < 20 < extreme["high"] < 25
    rare = found[(found["graph"] == 1) & (found["kind"] == "rare")].iloc[0]
    assert (rare["part"], rare["n_known"]) == ("node", 1)


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


RINGS = fitted_to([ring(n) for n in range(8, 30)], edge_numbers="len")
LONG = [ring(12, long=(3, 4))]


@pytest.mark.parametrize(
    ("graphs", "names", "text"),
    [
        (LONG, None, "len 50 of edge between 3 and 4; always 1 to 1.2"),
        (RINGS.read(LONG), [[f"atom {i}" for i in LONG[0]]], "of edge between atom 3 and atom 4"),
        (RINGS.read(LONG), None, "of edge between 3 and 4"),
        (pickle.loads(pickle.dumps(RINGS.read(LONG))), None, "of edge between 3 and 4"),
        (RINGS.read(LONG).replace(node_ids=None), None, "of edge between 2 and 3"),
    ],
)
def test_nodes_are_called_by_their_ids(graphs, names, text):
    said = explain(RINGS, graphs, node_names=names)["reason"]
    assert said.str.contains(text).any()


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
    return fitted_to(
        [log(seed, rare=seed < 3) for seed in range(60)],
        node_categories="step",
        node_numbers="cost",
        edge_categories="via",
        edge_numbers="wait",
        directed=True,
    )


def said_of(detector, graph):
    frame = explain(detector, [graph], n_reasons=99)
    return frame[frame["strength"] >= 1].reset_index()


@pytest.mark.filterwarnings("ignore:edge categories that fit did not see")
@pytest.mark.parametrize(
    ("odd", "text"),
    [
        ("no approval", "no node with step=approve (unlike all 60 other graphs)"),
        ("another relation", "never seen: via=hand"),
        ("slow", "wait 60 of via=mail edge from 0 (receive) to 1 (check); usually "),
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


@pytest.mark.parametrize("total", [sum, np.mean, len])
def test_a_total_and_what_it_sums_up_are_one_fact(total):
    def order(seed, n, times=1):
        amounts = np.random.default_rng(seed).lognormal(size=n) * times
        return with_data(nx.path_graph(n), {"amount": list(amounts)}, sum=round(total(amounts), 4))

    known = [order(seed, 5 + seed % 4) for seed in range(60)]
    detector = fitted_to(known, graph_numbers="sum", node_numbers="amount")
    said = said_of(detector, order(99, 40 if total is len else 6, times=20))["reason"]
    assert said.str.contains("^40 nodes|^sum 40" if total is len else "amount|sum").sum() == 1


def test_what_is_rare_is_named_and_nothing_else(of_logs):
    said = said_of(of_logs, log(100, rare=True)).set_index("kind")
    assert said.loc["rare", "reason"] == "unusual: step=override (in 3 of 60 other graphs)"
    assert said.loc["rare", "nodes"] == (2,)
    itself = explain(of_logs).query("graph == 0 and kind == 'rare'")["reason"].iloc[0]
    assert itself == "unusual: step=override (in 2 of 59 other graphs)"


# -- what new users and adversaries found ----------------------------------------------------------


def weighted(seed, times=1):
    rng, graph = np.random.default_rng(seed), nx.gnp_random_graph(12, 0.3, seed=seed)
    return with_data(graph, None, {"weight": lambda _: times * rng.lognormal(0, 0.25)})


def mail(seed, **of_one):
    """A path whose edges have two categories that go together; one has others."""
    vias = list(np.random.default_rng(seed).permutation(list("aaabb")))
    modes = ["mn"["ab".index(x)] for x in vias]
    graph = with_data(nx.path_graph(6), edges={"via": vias, "mode": modes})
    graph.edges[2, 3].update(of_one)
    return graph


def triples(m, make, new=()):
    """Nodes a, b and z, many times, and new edges."""
    starts = range(0, 3 * m, 3)
    edges = [(i + j, i + k) for i in starts for j, k in ((0, 1), (1, 2), (1, 4))]
    graph = make([*edges, (3 * m, 3 * m + 1), (3 * m + 1, 3 * m + 2), *new])
    return with_data(graph, {"label": lambda v: "abz"[v % 3]})


WORLDS = [nx.connected_watts_strogatz_graph(12 + k % 5, 4, 0.2, seed=k) for k in range(40)]
ONE_IN_TEN = [nx.path_graph(1 if k % 10 == 0 else 4 + k % 3) for k in range(60)]  # has no edges
ARROWS, LINES = ([triples(1 + i % 3, make) for i in range(60)] for make in (nx.DiGraph, nx.Graph))
WEIGHTS, MAIL = [*map(weighted, range(40)), nx.empty_graph(3)], [*map(mail, range(60))]
OF_WEIGHTS, OF_MAIL = {"edge_weight": "weight"}, {"edge_categories": ("via", "mode")}
PATHS = [
    with_data(
        nx.path_graph(9 + k % 4 if k else 8),
        {"label": lambda v: "ab"[v == 1], "cost": lambda v, k=k: (37 * v + 17 * k * k) % 101},
    )
    for k in range(61)
]
AT_ALL, NEIGHBORS = "edges at all|per node", "linked to"
TWO_NEW, IN_TURN, IN_ORDER = [(0, 2), (3, 5)], [(0, 2), (2, 0)], [(0, 2), (2, 3)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("known", "odd", "schema", "first", "never"),
    [
        (WEIGHTS, weighted(99, 5), OF_WEIGHTS, "average weight of edges: ", "^$"),
        (WORLDS, nx.create_empty_copy(WORLDS[3]), {}, "no edges at all; always ", NEIGHBORS),
        (ONE_IN_TEN, nx.empty_graph(3), {}, r"\d parts with no edges between them; ", AT_ALL),
        (
            ONE_IN_TEN,
            nx.Graph({0: [1], 2: []}),
            {},
            r"\d parts with no edges between them; ",
            AT_ALL,
        ),
        (
            PATHS[1:],
            PATHS[0],
            {"node_categories": "label", "node_numbers": "cost"},
            ".* of 8 nodes|8 nodes; ",
            "2 of 8",
        ),
        (MAIL, mail(60, via="ODD", mode="m"), OF_MAIL, "never seen: via=ODD$", "^$"),
        (MAIL, mail(60, via="ODD", mode="NEW"), OF_MAIL, "never seen: via=ODD$", "^$"),
        (MAIL, mail(60, via="a", mode="n"), OF_MAIL, r"never seen: via=a \(mode=n\) edge$", "^$"),
        (LINES, triples(1, nx.Graph, TWO_NEW), {}, "2 edges never seen: a - z$", "^$"),
        (ARROWS, triples(1, nx.DiGraph, IN_TURN), {}, "2 edges never seen: a -> z -> a$", "^$"),
        (
            ARROWS,
            triples(1, nx.DiGraph, IN_ORDER),
            {},
            "2 edges never seen: a -> z -> a$",
            "^$",
        ),
    ],
)
def test_the_first_reason_and_none_that_follows_from_it(known, odd, schema, first, never):
    said = explain(fitted_to(known, **schema), [odd], n_reasons=9)["reason"]
    assert re.match(first, said[0]), said.tolist()
    assert not said.str.contains(never).any()


@pytest.mark.parametrize(
    ("max_references", "reason", "nodes"),
    [
        (None, "a -> b -> c -> y: nodes in an order that no other graph has$", (0, 1, 2, 3)),
        (
            50,
            r"\d+ of 36 .* around it, e.g. node 1 \(b\); within 2 edges: a, c, y; always 0%",
            (1, 2),
        ),
    ],
)
def test_steps_in_an_order_of_their_own_if_all_orders_are_known(max_references, reason, nodes):
    def case(ends, n):
        steps = [ends[0], "b", "c", ends[1], *"e" * (12 + n)]
        return with_data(nx.path_graph(len(steps), create_using=nx.DiGraph), {"label": steps})

    known = [case(("ax"[n % 2], "dy"[n % 2]), n) for n in range(60)]
    detector = GraphKDEDetector(max_references=max_references).fit(known)
    told = explain(detector, [case("ay", 20)]).query("what == 'neighborhoods'").iloc[0]
    assert re.match(reason, told.reason), told.reason
    assert told.nodes[: len(nodes)] == nodes


@pytest.mark.parametrize(("usual", "odd", "nodes"), [(2, 9, (0, 1, 2, 3, 4)), (9, 2, ())])
def test_a_share_is_about_the_nodes_that_have_it_and_a_small_one_about_none(usual, odd, nodes):
    def graph(n_busy, seed):
        kinds = [*n_busy * "b", *np.random.RandomState(seed).choice([*"xyz"], 12 - n_busy)]
        return with_data(nx.cycle_graph(12), {"label": kinds})

    known = [graph(usual + i % 2, i) for i in range(40)]
    told = explain(GraphKDEDetector().fit(known), [graph(odd, 99)], n_reasons=9)
    (found,) = told[told.reason.str.match(rf"{odd} of 12 nodes \(.*\) are b")].nodes
    assert found == nodes


def test_a_graph_in_which_nothing_is_unusual_has_a_reason_that_says_something():
    graphs = [
        with_data(nx.cycle_graph(n), {"label": lambda v, k=k: "ab"[(v + k) % 2]})
        for n in (7, 8, 9)
        for k in range(5)
    ]
    reasons = explain(GraphKDEDetector().fit(graphs), [graphs[5]], n_reasons=3)
    assert reasons["reason"].tolist() == ["8 nodes; usually 7 to 9"]
    assert reasons["strength"].tolist() == [0]


@pytest.mark.filterwarnings("ignore:58 of 60 training graphs")
def test_a_node_whose_id_is_its_category_is_named_once():
    def case(seed, times=1):
        graph = nx.DiGraph([("open", "check stock"), ("check stock", "send")])
        usual = 1 + (seed % 3 == 0)
        data = {"label": str, "who": "desk", "times": [usual, usual * times, usual]}
        return with_data(graph, data)

    known, both = [case(seed) for seed in range(60)], ("label", "who")
    detector = fitted_to(known, node_categories=both, node_numbers="times")
    reasons = explain(detector, [case(1, 40)])["reason"]
    assert all(reason.count("check stock") <= 1 for reason in reasons)
    assert any("check stock" in reason for reason in reasons), reasons.tolist()


# -- whose numbers, orders and categories these are ------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("n", "start"), [(1, ["rare"]), (3, ["unusual"]), (5, [])])
def test_what_one_in_twenty_have_is_unusual_and_one_in_fifty_rare(n, start):
    detector = fitted_to([log(s, rare=s < n) for s in range(60)], node_categories="step")
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
    plain = fitted_to(graphs, node_categories=None, node_numbers=None, call=call)
    [group] = groups_of(plain)
    assert group.shared.startswith("one box linked to 10 others")
    [group] = groups_of(fitted_to(graphs, node_categories="status", call=call))
    ends = sorted(["status=1", "status=3" if value == 3 else value])  # as in reasons
    assert " - ".join(ends) in group.shared


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

    known, both = [graph(seed) for seed in range(60)], ("label", "kind")
    detector = fitted_to(known, node_categories=both, edge_categories="rel")
    said = explain(detector, [graph(99, odd=True)], n_reasons=9)["reason"]
    assert said[said.str.contains("edges never seen: ")].tolist() == [
        "3 edges never seen: rel=old edge f -> c, rel=old edge g -> a, rel=old edge g -> b",
    ]
    assert said[0] == "never seen: rel=NEW"
    assert not said.str.contains("old edge after it").any()  # surroundings of what is told


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("odd", ["status", "order"])
def test_of_what_was_never_seen_the_cause_is_told_and_not_what_follows(odd):
    def trace(seed, odd=""):
        names = ["gateway", "cart", "stock", *["pay"] * (1 + seed), "mail"]
        if odd == "order":
            names[1:3] = names[2:0:-1]
        status = ["ok"] * len(names)
        status[3 if odd == "status" else seed % 3] = "error" if odd or seed % 2 else "ok"
        path = nx.path_graph(len(names), create_using=nx.DiGraph)
        return with_data(path, {"label": names, "status": status, "kind": "server"})

    detector = fitted_to([trace(s) for s in range(60)], node_categories=("label", "status", "kind"))
    said = explain(detector, [trace(30, odd)], n_reasons=9).query("kind == 'new'")["reason"]
    first = "never seen: pay (status=error, kind=server)"
    if odd == "order":
        first = "3 edges never seen: gateway -> stock -> cart -> pay"
    assert said.tolist() == [first]


@pytest.mark.filterwarnings("ignore:node categories that fit did not see")
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

    known = [graph(seed) for seed in range(200)]
    detector = fitted_to(known, node_categories="element", graph_numbers="weight")
    reasons = explain(detector, [graph(1001 + seed, odd=True) for seed in range(20)], n_reasons=2)
    told = reasons.groupby("graph")["reason"].agg(list)
    assert all("Hg" in first and "weight" in second for first, second in told)


# -- facts -----------------------------------------------------------------------------------------


def test_a_new_combination_of_categories_of_edges_is_told_once():
    def ring_of(n, kinds):
        graph = nx.cycle_graph(n)
        for i, edge in enumerate(graph.edges):
            first, second = kinds[i % len(kinds)]
            graph.edges[edge].update(c1=first, c2=second)
        return graph

    schema = GraphSchema(edge_categories=("c1", "c2"), node_categories=None)
    graphs = [ring_of(6 + seed % 4, ["pu", "qv"]) for seed in range(20)]
    graphs.append(ring_of(8, ["pu", "pu", "pv", "qv"]))
    calibration = LeaveOneOut(copies="together")
    reasons = explain(GraphKDEDetector(schema=schema, calibration=calibration).fit(graphs))
    of_odd = reasons.loc[reasons["graph"] == 20, "reason"].tolist()
    assert sum("c1=p (c2=v)" in x or "c1=p, c2=v" in x for x in of_odd) == 1


def test_categories_of_nodes_and_of_graphs_with_one_name_are_two_facts():
    def graph(seed, of_node="a", of_graph="a"):
        found = with_data(nx.path_graph(5 + seed % 3), {"k": "a"})
        found.nodes[0]["k"] = of_node
        found.graph["k"] = of_graph
        return found

    schema = GraphSchema(node_categories="k", graph_categories="k")
    calibration = LeaveOneOut(copies="together")
    detector = GraphKDEDetector(schema=schema, calibration=calibration)
    detector.fit([graph(seed) for seed in range(30)])
    with pytest.warns(UserWarning, match="categories that fit did not see"):
        told = explain(detector, [graph(0, "new", "new")], n_reasons=5)
    assert told.loc[told["kind"] == "new", "part"].tolist() == ["node", "graph"]


class Size(View):
    """A view with numbers of its own, and no words."""

    graph_data = ()

    def fit(self, references, context):
        self.sizes_ = references.n_nodes_per_graph.astype(float)
        return self

    def scores(self, graphs, own, context):
        away = abs(graphs.n_nodes_per_graph[:, np.newaxis] - self.sizes_)
        away[own >= 0, own[own >= 0]] = np.inf
        return -away.min(axis=1)

    def properties(self, graphs, own, scores, context):
        sizes = graphs.n_nodes_per_graph.astype(float)
        least = np.full(len(graphs), 0.5)
        return [
            Property("mine", "members", sizes, least, both=True),
            Property("mine", "squares", sizes**2, least, 1, both=True),
        ]


def test_numbers_of_a_view_of_ones_own_are_told_as_they_are():
    rings = [nx.cycle_graph(8 + i % 7) for i in range(40)]
    calibration = LeaveOneOut(copies="together")
    detector = GraphKDEDetector(views=("density", Size()), calibration=calibration).fit(rings)
    told = explain(detector, [nx.path_graph(60)], n_reasons=20)
    mine = told[told["kind"] == "mine"]
    mine = mine.set_index("what")
    assert mine["reason"]["members"] == "members 60; always 8 to 14"
    assert mine["value"].to_dict() == {"members": 60.0, "squares": 3600.0}


def test_a_view_of_ones_own_is_called_by_its_name():
    class Mine(Novelty):
        @property
        def name(self):
            return "mine"

    class Quiet(Novelty):
        pass

    assert (name_view(Mine()), name_view(Size())) == ("mine", "size")
    assert name_view(Quiet()) == "novelty of neighborhoods of radius 5"
    assert summarize_view(Mine()) == summarize_view(Quiet()) == summarize_view(Novelty())
    assert summarize_view(Size()) == ""


def test_names_of_nodes_fit_the_graphs():
    detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(10, 30)])
    graphs = [nx.path_graph(12), nx.path_graph(13)]
    for names in ([range(12)], [range(12), range(12)]):
        refused("node_names must have a list for each", explain, detector, graphs, node_names=names)
