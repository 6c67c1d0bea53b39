"""The nearest usual graph of the same kind and size, and the differences side by side."""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphKDEDetector, GraphSchema
from skgraphkde.explanation.reasons import RankedReason
from skgraphkde.explanation.results import groups_of, judge, to_judge
from skgraphkde.page.comparison import Difference, UsualGraphs, data_of, set_apart
from tests.conftest import with_data

SCHEMA = GraphSchema(
    node_categories="step", edge_categories="way", graph_categories="vendor", graph_numbers="total"
)


def case(seed, vendor, n_nodes=None):
    rng = np.random.RandomState(seed)
    graph = nx.path_graph(n_nodes or rng.randint(4, 15), nx.DiGraph)
    steps, ways = {"step": lambda _: "abc"[rng.randint(3)]}, {"way": lambda _: "xy"[rng.randint(2)]}
    return with_data(graph, steps, ways, vendor=vendor, total=float(seed))


@pytest.fixture(scope="module")
def graphs():
    return [case(i, "pq"[i % 2]) for i in range(40)] + [case(40, "p", 60), case(41, "r", 8)]


@pytest.fixture(scope="module")
def fitted(graphs):
    return GraphKDEDetector(schema=SCHEMA, contamination=0.1, random_state=0).fit(graphs)


def test_the_nearest_usual_graph_is_of_the_same_kind_and_size(fitted, graphs):
    batch, own = to_judge(fitted, None)
    usual, scores = UsualGraphs(fitted, [5, 6]), fitted.training_scores_
    is_usual = (scores >= fitted.offset_) & (scores > np.quantile(scores, 0.1))
    is_usual[[5, 6]] = False  # a group
    assert 0 < is_usual.sum() < (scores >= fitted.offset_).sum()
    for i, judged in enumerate(judge(fitted, batch, own=own, n_reasons=1)):
        distances = fitted.model_.distances(batch[i], view=judged.view)[0]
        alike = [  # the definition, slowly
            j
            for j, other in enumerate(graphs)
            if j != i
            and is_usual[j]
            and other.graph["vendor"] == graphs[i].graph["vendor"]
            and max(len(other), len(graphs[i])) <= 1.5 * min(len(other), len(graphs[i]))
        ]
        found, lacks = usual.nearest(batch[i], judged)
        assert (lacks == "") == bool(alike)
        if alike:
            sizes = np.array([len(x) for x in graphs])
            ratios = np.maximum(sizes / len(graphs[i]), len(graphs[i]) / sizes)
            of_its_size = [j for j in alike if ratios[j] <= 1.1]
            assert found == min(of_its_size or alike, key=(distances * ratios).__getitem__)
        else:
            assert is_usual[found]
            assert found != i
    [judged] = judge(fitted, again := fitted.read([graphs[3]]))
    assert usual.nearest(again, judged) == (3, "")  # a new graph
    usual.reasons[3] = {("rare", "step")}  # a strong one
    assert usual.nearest(again, judged)[0] not in (-1, 3)
    usual.reasons = [x or {("new", "step")} for x in usual.reasons]  # all have one
    odd = judged._replace(reasons=[RankedReason("new", "step", "", 9.0)])
    assert usual.nearest(again, odd) == (3, "")  # which is another one
    assert usual.nearest(batch[40], judged)[1] == "size"  # the vendor has others
    assert usual.nearest(batch[41], judged)[1] == "kind"


def test_the_same_graphs_are_set_apart_for_known_and_for_new_ones():
    worlds = [nx.connected_watts_strogatz_graph(14, 4, 0.1, seed=seed) for seed in range(40)]
    others = [nx.star_graph(20), nx.star_graph(21), *map(nx.cycle_graph, (20, 21, 22))]
    fitted = GraphKDEDetector(random_state=0).fit(
        [*worlds, *others], verdicts=[0] * 40 + [-1, *[0] * 4]
    )
    batch, own = to_judge(fitted, None)
    apart = set_apart(fitted)
    assert {39, 40, 41, 42, 43} & set(apart) == {40, 41, 42, 43}
    assert set(apart) | {-1} == {
        *set_apart(fitted, judge(fitted, batch, own=own), groups_of(fitted)),
        -1,
    }


def test_a_group_or_the_oddest_tenth_is_usual_if_no_others_remain(fitted, graphs):
    usual = UsualGraphs(fitted, range(len(graphs)))
    assert usual.is_usual.tolist() == (fitted.training_scores_ >= fitted.offset_).tolist()


def test_there_may_be_no_usual_graph(fitted):
    usual = UsualGraphs(fitted)
    usual.is_usual[:] = False
    batch, own = to_judge(fitted, None)
    [judged] = judge(fitted, batch[:1], own=own[:1])
    assert usual.nearest(batch[:1], judged) == (-1, "")


def test_differences_are_those_of_the_graphs(fitted, graphs):
    one, other = graphs[0], graphs[1]  # of one size, which is no difference
    expected = {"vendor": ("p", "q"), "total": (0, 1)}
    for data, names, end in ((nx.get_node_attributes, "abc", ""), (None, "xy", " (edges)")):
        get, name = (data, "step") if data else (nx.get_edge_attributes, "way")
        for value in names:
            pair = tuple(list(get(x, name).values()).count(value) for x in (one, other))
            if pair[0] != pair[1]:
                expected[value + end] = pair
    found = UsualGraphs(fitted).differences(fitted.read([one]), 1)
    assert {x.what: (x.own, x.other) for x in found} == {
        what: tuple(map(str, pair)) for what, pair in expected.items()
    }
    assert [x.what for x in found[:2]] == ["vendor", "total"]
    assert UsualGraphs(fitted).differences(fitted.read([one]), 1, "\n9 nodes; 1") == found


def test_numbers_that_reasons_name_are_compared():
    graphs = [with_data(nx.path_graph(n), {"ms": lambda i: 10.0 * i}) for n in range(3, 15)]
    graphs[0].nodes[0]["ms"] = None
    schema = GraphSchema(node_numbers="ms", missing="indicate")
    usual = UsualGraphs(fitted := GraphKDEDetector(schema=schema).fit(graphs))
    graph = fitted.read(graphs[:1])
    *named, sizes, edges = usual.differences(graph, 2, "ms 10 of node 1")
    assert named == [("ms at nodes", "10 to 20", "0 to 40"), ("average ms of nodes", "15", "20")]
    assert [sizes, edges] == usual.differences(graph, 2)
    assert usual.differences(graph, 2, "edges\n2 edges; usually 4 to 9")[0].what == "edges"


def test_missing_and_false_categories_and_undirected_edges():
    schema = GraphSchema(
        node_categories=("label", "ring", "who"), edge_categories="bond", missing="indicate"
    )
    nodes = {"label": "C", "ring": lambda i: i > 0, "who": lambda i: None if i else "Ann"}
    graphs = [with_data(nx.cycle_graph(n), nodes, {"bond": "single"}) for n in range(3, 15)]
    fitted = GraphKDEDetector(schema=schema).fit(graphs)
    found = UsualGraphs(fitted).differences(fitted.read(graphs[7:8]), 0)
    named = UsualGraphs(fitted).differences(fitted.read(graphs[7:8]), 0, "never seen: C")
    assert [x.what for x in named[:2]] == ["C", "nodes"]  # what a reason names comes first
    assert found == [
        Difference("nodes", "10", "3"),
        Difference("edges", "10", "3"),
        Difference("ring", "9", "2"),  # for its size, the largest difference
        Difference("who missing", "9", "2"),
        Difference("C", "10", "3"),
        Difference("single (edges)", "10", "3"),
    ]


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        (
            ["scan", "check", "pay"],
            ["check -> pay", "approve (most have it)", "who=U3 (most have it)", "nodes"],
        ),
        (["scan", "approve", "check", "pay"], ["check -> pay", "approve -> pay (most have it)"]),
    ],
)
def test_the_comparison_begins_with_what_reasons_name_and_what_is_not_here(steps, found):
    plain, graph, other = (
        with_data(nx.path_graph(len(x), nx.DiGraph), {"label": list(x), "who": "U{}".format})
        for x in (["scan", "check", "approve", "pay"], steps, "abc")
    )
    schema = GraphSchema(node_categories=("label", "who"))
    fitted = GraphKDEDetector(schema=schema).fit([plain] * 20 + [other])
    lines = UsualGraphs(fitted).differences(fitted.read([graph]), 0, "rare: check -> pay")
    assert [x.what for x in lines][: len(found)] == found


def test_data_are_in_words():
    graph = with_data(nx.path_graph(3), kind="a\nb", size=1234567.25, vector=[1.0, 2.5])
    other = with_data(nx.path_graph(4), vector=[0.0, 0.0], size=2.0)
    schema = GraphSchema(
        graph_categories="kind", graph_numbers=("size", "vector"), missing="indicate"
    )
    fitted = GraphKDEDetector(schema=schema).fit([graph, other, other])
    assert data_of(fitted.training_graphs_)[:2] == [
        {"kind": "a\\nb", "size": "1234567", "vector": "1, 2.5"},
        {"kind": "", "size": "2", "vector": "0, 0"},
    ]
