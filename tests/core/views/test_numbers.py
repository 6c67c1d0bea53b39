"""Nodes and edges whose numbers together are odd, against distances written out."""

import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from skgraphkde import GraphKDEDetector, GraphSchema, Numbers, read_graphs
from skgraphkde.core.views.base import Property
from skgraphkde.explanation import explain
from skgraphkde.explanation.of_numbers import say_numbers
from tests.conftest import fitted_to, with_data
from tests.core.views.common import fit, scores_of

SCHEMA = GraphSchema(
    node_categories="kind", node_numbers=("a", "b"), edge_numbers="flow", missing="indicate"
)


def plant(seed, odd=None):
    """Two numbers that go together, around a mean of each kind."""
    rng = np.random.RandomState(seed)
    kinds = ["pv"[k] for k in rng.randint(2, size=12)]
    a = rng.normal([10 * (kind == "p") for kind in kinds])
    b = a + 0.05 * rng.normal(size=12)
    flows = {"flow": lambda _: float(rng.choice([1.0, 5.0]) + 0.01 * rng.normal())}
    graph = nx.gnm_random_graph(12, 16, seed=seed)
    with_data(graph, {"kind": kinds, "a": a.tolist(), "b": b.tolist()}, flows)
    if odd == "contradiction":
        mean = 10 * (graph.nodes[3]["kind"] == "p")
        graph.nodes[3].update(a=mean + 1.0, b=mean - 1.0)
    if odd == "between":
        next(iter(graph.edges.values()))["flow"] = 3.0
    if odd == "missing":
        graph.nodes[3]["a"] = None
    return graph


PLANTS = [plant(seed) for seed in range(100)]


def read(graphs):
    return read_graphs(graphs, schema=SCHEMA)


@given(st.integers(0, 10**6))
def test_scores_equal_the_definition(seed):
    references, batch = (read([plant(seed + n + i) for i in range(n)]) for n in (8, 4))
    view = fit(Numbers(), references)
    cases = [(batch, np.full(4, -1), view)]
    for i in range(8):  # each reference by what is learned of the others
        others = references[np.delete(np.arange(8), i)]
        cases.append((references[i], np.array([i]), fit(Numbers(), others)))
    for graphs, own, fitted in cases:
        expected = np.zeros(len(graphs))
        for rows, points in zip(fitted._rows(graphs), fitted.points_, strict=True):
            codes = points.codes_of(rows.kinds)
            placed = points._placed(rows.values, codes)
            D = np.linalg.norm(placed[:, None] - points.points, axis=2)
            D[codes[:, None] != points.codes] = np.inf
            nearest = D.min(axis=1)
            nearest = np.where(np.isfinite(nearest), nearest - points.rounding, 0)
            np.maximum.at(expected, rows.graph, nearest)
        np.testing.assert_allclose(scores_of(view, graphs, own), -expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("odd", "text"),
    [("contradiction", "of node 3"), ("between", "flow 3 of edge"), ("missing", "a missing")],
)
def test_usual_values_that_do_not_belong_together(odd, text):
    detector = GraphKDEDetector(schema=SCHEMA, views=("density", "numbers")).fit(PLANTS)
    new = [plant(1000 + seed, odd if seed % 2 else None) for seed in range(40)]
    scores = detector.score_samples(new)
    assert roc_auc_score(np.arange(40) % 2 == 0, scores) > 0.9
    first = explain(detector, new[1::2], n_reasons=1)["reason"]
    assert first.str.contains(text, regex=False).mean() > 0.8


def graphs_of(seeds, **draws):
    """Random graphs whose nodes have data that functions draw, from a generator and the node."""
    graphs = []
    for seed in seeds:
        rng, graph = np.random.default_rng(seed), nx.gnp_random_graph(10, 0.3, seed=seed)
        drawn = {name: [draw(rng, v) for v in graph] for name, draw in draws.items()}
        graphs.append(with_data(graph, drawn))
    return graphs


@pytest.mark.parametrize("draw", [lambda rng, node: rng.normal(), lambda rng, node: 1.0])
def test_the_farther_a_number_the_lower_the_score(draw):
    """However far, and if it is the same in all known graphs."""
    values = [5.0, 1e2, 1e5, 1e8, 1e12]
    graphs = graphs_of([*range(40), *[99] * 5], x=draw)
    for graph, value in zip(graphs[40:], values, strict=True):
        graph.nodes[0]["x"] = value
    batch = read_graphs(graphs, schema=GraphSchema(node_numbers="x"))
    scores = scores_of(fit(Numbers(), batch[:40]), batch[40:])
    assert (np.diff(scores) < 0).all()
    assert scores[0] < -1


def test_the_sample_of_nodes_has_all_kinds():
    """Kinds that alternate, and one node more than are kept."""
    graphs = graphs_of(
        range(40), kind=lambda rng, node: "AB"[node % 2], a=lambda rng, node: rng.normal()
    )
    schema = GraphSchema(node_categories="kind", node_numbers="a")
    points = fit(Numbers(n_points=200), read_graphs(graphs, schema=schema)).points_[0]
    counts = np.bincount(points.codes)
    assert len(points.points) == 200
    assert counts[counts > 0].min() > 50


def test_rounding_is_nothing_unusual():
    """Numbers that are the same in all known graphs, in single precision or in six digits."""
    rates = [2 / 3, 1 / 3, 0.1]

    def roads(seeds, write=float):
        return [
            with_data(graph, {"rate": lambda v, x=graph: write(rates[x.nodes[v]["kind"]])})
            for graph in graphs_of(seeds, kind=lambda rng, node: int(rng.integers(3)))
        ]

    detector = fitted_to(roads(range(60)), node_categories="kind", node_numbers="rate")
    exact = detector.score_samples(roads(range(100, 120)))
    for write in (np.float32, lambda x: round(x, 6)):
        rounded = detector.score_samples(roads(range(100, 120), write))
        np.testing.assert_allclose(rounded, exact, atol=1e-3)
    odd = roads([100])
    odd[0].nodes[0]["rate"] = 0.2
    assert detector.predict(odd) == [-1]


@pytest.mark.parametrize("part", ["node", "edge", "graph"])
def test_a_constant_makes_no_difference(part):
    """Differences of large numbers, such as times in nanoseconds, are no rounding.

    At 1e12 what counts as rounding, 0.1, is 3e-5 of a standard deviation, and whitening stretches
    it at most to 1e-3.
    """
    scores = []
    for constant in (0.0, 1e9, 1e12, 1e15):
        rng, graphs = np.random.default_rng(0), []
        for i in range(31):
            graph = nx.gnm_random_graph(9, 14, seed=i)
            times = (constant + 1000 * (rng.normal(20, 3, 14) + 480 * (i == 30))).tolist()
            data = {"t": times[0]} if part == "graph" else {f"{part}s": {"t": times}}
            graphs.append(with_data(graph, **data))
        detector = fitted_to(graphs[:30], **{f"{part}_numbers": "t"})
        assert detector.predict(graphs[30:]) == [-1]
        scores.append(detector.score_samples(graphs[28:]))
    np.testing.assert_allclose(scores[1:3], [scores[0]] * 2, atol=1e-3)


def test_coordinates_do_not_count_unless_they_are_named():
    """Numbers called x are coordinates if they vary little along edges."""
    path = nx.path_graph(30)
    smooth, rough = (with_data(path.copy(), {"x": x}) for x in (list(range(30)), [1, 5, 2] * 10))
    assert not Numbers().applies_to(read_graphs([smooth] * 3))
    assert Numbers().applies_to(read_graphs([rough] * 3))
    for schema in ("all", GraphSchema(node_numbers="x")):
        assert Numbers().applies_to(read_graphs([smooth] * 3, schema=schema))


def test_numbers_of_the_edges_of_one_reference():
    """Left out, it leaves no numbers of edges to learn from."""
    graphs = [nx.empty_graph(3) for _ in range(12)]
    graphs[4].add_edge(0, 1, flow=2.0)
    detector = fitted_to(graphs, ("density", "numbers"), edge_numbers="flow")
    assert np.isfinite(detector.calibration_scores_).all()


def test_numbers_of_a_graph_are_compared_with_graphs_of_the_same_category():
    """A micro loan of 150,000 is within the range of all loans."""

    def loan(seed, kind=None, amount=None):
        kind = kind or ("micro", "mortgage")[seed % 2]
        low, high = (1_000, 5_000) if kind == "micro" else (100_000, 400_000)
        amount = amount or float(np.random.default_rng(seed).uniform(low, high))
        return with_data(nx.gnp_random_graph(6, 0.4, seed=seed), kind=kind, amount=amount)

    known = [loan(seed) for seed in range(60)]
    detector = fitted_to(known, graph_categories="kind", graph_numbers="amount")
    fresh = [loan(1000 + seed) for seed in range(40)]
    odd = [loan(2000 + seed, "micro", 150_000.0 + seed) for seed in range(40)]
    scores = detector.score_samples(fresh + odd)
    assert roc_auc_score(np.repeat([1, 0], 40), scores) > 0.95
    first = explain(detector, odd, n_reasons=1)["reason"]
    text = r"amount 1500\d\d with kind=micro; usually 1\d{3} to 4\d{3}, at most 4\d{3} among 30 .*"
    assert first.str.fullmatch(text).all(), first.tolist()
    with pytest.warns(UserWarning, match="graph categories that fit did not see"):
        unknown = detector.score_samples([loan(3000, "unknown", 9e6)])
    assert unknown < scores[:40].min()  # compared with all graphs


@pytest.mark.parametrize(
    ("view", "schema", "n_products", "message"),
    [
        ("numbers", {"node_numbers": "age"}, 160, "1 numbers of each of 160 nodes: too many"),
        ("numbers", {"edge_numbers": "toll"}, 120, "1 numbers of each of 120 edges: too many"),
        ("numbers", {"graph_numbers": "sum", "graph_categories": "land"}, 80, "each of 1 cat"),
        ("statistics", {"node_numbers": "age"}, 40 * 14 * 14, "14 statistics of each of 40 graphs"),
    ],
)
@pytest.mark.filterwarnings("ignore:not read")
def test_what_would_take_long_is_refused(view, schema, n_products, message, monkeypatch):
    limit, graphs = "skgraphkde.core.views.rows.MOST_PRODUCTS", []
    for i in range(40):
        of_nodes, of_edges = {"age": [1.0, 2.0, 4.0, float(i)]}, {"toll": [1.0, 3.0, float(i)]}
        graphs.append(
            with_data(nx.path_graph(4), of_nodes, of_edges, land="ab"[i % 2], sum=i + 0.5)
        )
    detector = GraphKDEDetector(views=("density", view), schema=GraphSchema(**schema))
    monkeypatch.setattr(limit, n_products)
    detector.fit(graphs)
    monkeypatch.setattr(limit, n_products - 1)
    with pytest.raises(ValueError, match=message):
        detector.fit(graphs)


@pytest.mark.parametrize("n_rare", [0, 1, 4])
def test_a_few_graphs_of_rare_kinds_say_nothing_of_other_kinds(n_rare):
    """A single salary of an employer without a country is no measure of a payment for rent."""

    def week(seed, kind="shop", amount=20.0):
        rng, kinds = np.random.RandomState(seed), ["person", *["shop"] * 4, kind]
        amounts = [*rng.uniform(15, 25, size=4).tolist(), amount + rng.uniform()]
        return with_data(nx.star_graph(5), {"kind": kinds}, {"amount": amounts})

    known = [week(i) for i in range(40)] + [week(50 + i, "?", 2_000.0) for i in range(n_rare)]
    schema = GraphSchema(node_categories="kind", edge_numbers="amount")
    view = fit(Numbers(), read_graphs(known, schema=schema))
    new = [week(100), week(101, "landlord", 800.0), week(102, "shop", 800.0)]
    usual, other, odd = scores_of(view, read_graphs(new, schema=schema))
    assert odd < -10
    assert other == pytest.approx(usual, abs=1)


def test_nearest_rows_are_the_same_with_and_without_a_tree(monkeypatch):
    kinds = {"t": lambda rng, node: rng.normal(), "u": lambda rng, node: rng.normal()}
    batch = read_graphs(graphs_of(range(40), **kinds), schema=GraphSchema(node_numbers=("t", "u")))
    expected = scores_of(fit(Numbers(), batch[:30]), batch[30:])
    monkeypatch.setattr("skgraphkde.core.views.numbers.MOST_COLUMNS_OF_TREE", 1)
    np.testing.assert_allclose(scores_of(fit(Numbers(), batch[:30]), batch[30:]), expected)


def test_a_number_that_is_next_to_others_is_no_reason():
    """Though it were far from all of them."""
    numbers = {"ms": lambda rng, node: rng.choice([10.0, 20.0]) + round(rng.random(), 2)}
    batch = read_graphs(graphs_of(range(40), **numbers), schema=GraphSchema(node_numbers="ms"))
    view, one = fit(Numbers(), batch), batch[:1]
    far = Property("extreme", view.name, np.ones(1), np.zeros(1))
    assert say_numbers(view, one, far, None).text == ""
    odd = one.replace(node=(None, (), np.full_like(one.attributes, 14.0)))
    told = say_numbers(view, odd, far, None).text
    gap = r"usually 10\S* to 20\S*, but none between 11 and 20 among 400 other nodes"
    assert re.fullmatch(f"ms 14 of node 0; {gap}", told)


@pytest.mark.parametrize(
    ("lat", "text"),
    [
        # Few are as low as -30: -10 is farther from all known ones.
        ((-10.0, -31.0), "lat -31 of node 5, and 1 more out of range; .*"),
        (
            (15.0, 15.0),
            r"3 numbers of node (\d): each is usual, but none of 400 other nodes has about all; "
            r"nearest: (\w+) (\S+) \(here \S+\) and (\w+) (\S+) \(here \S+\)",
        ),
    ],
)
def test_the_numbers_that_are_farthest_are_told(lat, text):
    names = ("lat", "a", "b")
    draws = dict.fromkeys(names, lambda rng, node: rng.uniform(10, 20))
    graphs = graphs_of(range(41), **draws)
    for graph in graphs[:6]:
        graph.nodes[0]["lat"] = -30.0
    graphs[40].nodes[3]["lat"], graphs[40].nodes[5]["lat"] = lat
    batch = read_graphs(graphs, schema=GraphSchema(node_numbers=names))
    view, one = fit(Numbers(), batch[:40]), batch[40:]
    far = Property("extreme", view.name, np.ones(1), np.zeros(1))
    told = say_numbers(view, one, far, None)
    said = re.fullmatch(text, told.text)
    assert said, told.text
    if not said.groups():
        assert told.nodes == (5, 3)
    else:
        known, own = batch.attributes[:400], one.attributes[int(said[1])]
        nearest = known[np.linalg.norm((known - own) / known.std(axis=0), axis=1).argmin()]
        given = dict(zip(names, nearest, strict=True))
        assert given[said[2]] == pytest.approx(float(said[3]), abs=0.06)
        assert given[said[4]] == pytest.approx(float(said[5]), abs=0.06)
