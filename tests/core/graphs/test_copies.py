"""Copies of graphs, against isomorphism, and what becomes of them in calibration."""

import pickle
import warnings
from math import comb

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import skgraphkde
from skgraphkde import GraphBatch, GraphKDEDetector, GraphSchema, LeaveOneOut, Split, read_graphs
from skgraphkde.core.graphs.copies import (
    LEVEL_KNOWN,
    KnownGraphs,
    has_excess_duplicates,
    isomorphism_classes,
    kinds_but_for_rounding,
    kinds_of,
)
from skgraphkde.monitoring import DriftMonitor
from tests.conftest import permuted, random_graphs, refused, warned, with_data
from tests.core.graphs.common import WEIGHTED, typed_graphs
from tests.detectors.common import EdgeCount

CYCLES = [(5 * k + i, 5 * k + (i + 1) % 5) for k in (0, 1) for i in range(5)]


@given(st.integers(0, 10**6))
def test_copies_are_isomorphic_graphs(seed):
    """Graphs of two to four nodes: refinement and walks tell all of them apart."""
    graphs = random_graphs(30, seed=seed, labels="CN", max_nodes=5)
    match = nx.isomorphism.categorical_node_match("label", None)
    first = [
        next(i for i, other in enumerate(graphs) if nx.is_isomorphic(graph, other, match))
        for graph in graphs
    ]
    assert isomorphism_classes(read_graphs(graphs)).tolist() == first


@given(st.integers(0, 10**6), st.booleans())
@example(7479, False)  # has a walk that returns with a probability of few binary digits
def test_nodes_in_another_order(seed, directed):
    batch = read_graphs(typed_graphs(15, seed, directed=directed), schema=WEIGHTED)
    first = isomorphism_classes(batch).tolist()
    twice = GraphBatch.concatenate([batch, permuted(batch, seed)])
    assert isomorphism_classes(twice).tolist() == first + first
    assert len(set(first)) > 10


def test_data_of_nodes_and_edges_tell_graphs_apart():
    def path(**changes):
        graph = nx.DiGraph([(0, 1), (1, 2)])
        with_data(graph, {"label": "A", "x": (1.0, 5.0)}, {"label": "p", "x": (0.0,)})
        graph.nodes[2].update(changes.get("node", {}))
        graph.edges[0, 1].update(changes.get("edge", {}))
        return graph

    graphs = [
        path(),
        path(node={"label": "B"}),
        path(node={"x": [1.0, 5.1]}),
        path(edge={"label": "q"}),
        path(edge={"x": [1.0]}),
        path(),
    ]
    assert isomorphism_classes(read_graphs(graphs)).tolist() == [0, 1, 2, 3, 4, 0]


def test_copies_in_single_precision():
    """Wherever the numbers lie: of nodes and edges, weights, and heavy tails."""
    rng, graphs, copies = np.random.RandomState(0), [], []
    drawn = {"x": lambda _: rng.standard_normal(), "y": lambda _: rng.standard_cauchy()}
    for seed in range(30):
        graph = nx.gnp_random_graph(40, 0.3, seed=seed)
        graphs.append(with_data(graph, drawn, drawn | {"w": lambda _: rng.rand()}))
        copies.append(graph.copy())
        for data in (*copies[-1].nodes.values(), *copies[-1].edges.values()):
            data |= {name: float(np.float32(x)) for name, x in data.items()}
    schema = GraphSchema(edge_weight="w", node_numbers=("x", "y"), edge_numbers=("x", "y"))
    batch = read_graphs(graphs + copies, schema=schema)
    batch = GraphBatch.concatenate([batch[:30], permuted(batch[30:], 0)])
    assert isomorphism_classes(batch).tolist() == [*range(30), *range(30)]


# -- numbers that were rounded ---------------------------------------------------------------------


def with_numbers(batch, part, numbers):
    if part != "weight":
        return batch.replace(**{part: batch.data(part)._replace(numbers=numbers)})
    adjacency = batch.adjacency.copy()
    adjacency.data = np.abs(numbers[:, 0])
    return batch.replace(adjacency=adjacency)


@pytest.mark.parametrize(
    ("part", "fewest_decimals"), [("node", 2), ("edge", 2), ("graph", 3), ("weight", 3)]
)
def test_copies_whose_numbers_were_rounded(part, fewest_decimals):
    """Lists of graphs of one structure and of several, scales, decimals; one is given thrice."""
    trees = [nx.random_labeled_tree(n, seed=n) for n in range(7, 11)]
    batch = read_graphs([nx.DiGraph(graph) for graph in [nx.path_graph(8)] * 4 + trees])
    n_rows = len(batch.owner("edge" if part == "weight" else part))
    for seed in range(50):
        rng = np.random.RandomState(seed)
        numbers, scale = rng.standard_normal((n_rows, 6)), 10 ** rng.uniform(-6, 6)
        if seed % 3 == 0:
            numbers = np.exp(numbers)
        decimals = [rng.randint(fewest_decimals, 7), *([7] if seed == 0 else [])]
        lists = [numbers, *(numbers.round(n) for n in decimals)]
        batches = [with_numbers(batch, part, scale * x) for x in lists]
        both = GraphBatch.concatenate([batches[0], *(permuted(x, seed) for x in batches[1:])])
        assert kinds_but_for_rounding(both).tolist() == [*range(8)] * len(lists)


def test_numbers_in_another_order_were_not_rounded():
    rings = [nx.cycle_graph(8) for _ in range(4)]
    values = np.random.RandomState(0).standard_normal(8)
    other = values[[1, 0, *range(2, 8)]]
    for ring, x in zip(rings, (values, other, values.round(4), other.round(4)), strict=True):
        with_data(ring, {"x": x.tolist()})
    assert kinds_but_for_rounding(read_graphs(rings)).tolist() == [0, 1, 0, 1]


def test_graphs_as_close_to_each_other_as_to_copies_are_distinct():
    """Chains of neighbors are no copies, wherever they lie; what is nearer than these, is one."""
    values = np.linspace(0, 1, 2000)
    drawn = np.random.RandomState(0).uniform(size=2000)
    for x, n_distinct in (
        (values, 2000),
        (np.append(values, values + 1e-6), 2000),
        (np.append(values, values + 1e-4), 4000),
    ):
        batch = read_graphs([nx.empty_graph(1)] * len(x))
        batch = with_numbers(batch, "graph", x[:, np.newaxis])
        assert len(np.unique(kinds_but_for_rounding(batch))) == n_distinct
    batch = with_numbers(batch[:2000], "graph", drawn[:, np.newaxis])
    n_copies = np.unique(kinds_but_for_rounding(batch), return_counts=True)[1]
    assert len(n_copies) > 1950  # by chance one in a hundred is near another and far from all else
    assert not has_excess_duplicates(n_copies)


def test_walks_tell_regular_graphs_apart():
    graphs = [nx.circular_ladder_graph(3), nx.complete_bipartite_graph(3, 3)]
    assert isomorphism_classes(read_graphs(graphs)).tolist() == [0, 1]


def chain(marks, n=120):
    """Steps in one order, of which few are not like the others."""
    activities = [marks.get(i, "wait") for i in range(n)]
    return with_data(nx.path_graph(n, nx.DiGraph), {"label": activities})


def test_graphs_that_differ_far_apart_are_no_copies():
    """Wherever copies are looked for; refinement takes as many rounds as the steps are apart."""
    one, other = ({40: x, 80: y} for x, y in (("sign", "pay"), ("pay", "sign")))
    batch = read_graphs([chain(one), chain(other)] * 2)
    assert isomorphism_classes(batch).tolist() == [0, 1, 0, 1]
    assert [kinds.tolist() for kinds in kinds_of(batch[:1], batch[1:])] == [[0], [1, 0, 1]]
    known = KnownGraphs(batch[[0, 2]], np.arange(2))
    assert known.contain(batch).tolist() == [True, False, True, False]
    assert known.n_repeated == 2
    assert KnownGraphs(batch[:2], np.arange(2)).n_repeated == 0


def test_a_usual_graph_is_not_the_same_as_an_anomaly_with_another_order():
    usual = [chain({40 + i % 7: "sign", 80 + i // 7: "pay"}) for i in range(40)]
    odd = chain({40: "pay", 80: "sign"})
    detector = GraphKDEDetector(random_state=0).fit([*usual, odd], verdicts=[0] * 40 + [-1])
    assert detector.predict([odd, usual[0]]).tolist() == [-1, 1]


@given(st.integers(0, 10**6))
def test_trees_are_copies_if_they_are_isomorphic(seed):
    """Long arms at a few places of a chain: nothing near a node tells them apart."""
    rng, trees = np.random.RandomState(seed), []
    for _ in range(6):
        tree = nx.path_graph(160)
        for i, place in enumerate(rng.choice([40, 79, 80, 119], 2)):
            nx.add_path(tree, [place, *range(160 + 40 * i, 200 + 40 * i)])
        trees.append(tree)
    alike = nx.isomorphism.tree_isomorphism
    first = [next(i for i, x in enumerate(trees) if alike(x, y)) for y in trees]
    batch = permuted(read_graphs(trees), seed)
    assert isomorphism_classes(batch).tolist() == first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([(i, (i + 1) % 10) for i in range(10)], [*CYCLES]),
        ([(i, (i + 1) % 10) for i in range(10)] + [(0, 5)], [*CYCLES, (0, 5)]),
    ],
    ids=["a ring of ten, two of five", "decalin, bicyclopentyl"],
)
def test_rings_of_five_nodes_or_more_are_not_seen(one, other):
    """What the user guide says of refinement and walks; a category of ring bonds helps."""
    assert isomorphism_classes(read_graphs([nx.Graph(one), nx.Graph(other)])).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("n_copies", "expected"),
    [
        *(([n] * k + [1] * (300 - k), True) for n in (2, 3, 30) for k in (60, 150, 300)),
        *(([2, 2], True), ([7, 7, 7], True), ([5], False), ([41, 37], False)),
    ],
)
def test_lists_that_repeat_another(n_copies, expected):
    assert has_excess_duplicates(np.array(n_copies)) == expected


@pytest.mark.parametrize("shape", [0.5, 1.0, np.inf], ids=str)
def test_graphs_drawn_at_random_repeat_by_chance(shape):
    """Kinds as common as each other, or less and less so."""
    rng = np.random.RandomState(0)
    suspected = []
    for n_kinds, n_graphs in [(150, 100), (30, 100), (200, 1000)]:
        for _ in range(50):
            chances = np.ones(n_kinds) if shape == np.inf else rng.gamma(shape, size=n_kinds)
            counts = rng.multinomial(n_graphs, chances / chances.sum())
            suspected.append(has_excess_duplicates(counts[counts > 0]))
    assert np.mean(suspected) < 0.02
    assert not has_excess_duplicates(np.array([1] * 87 + [2] * 5 + [3]))  # a fold of MUTAG


STAR = nx.star_graph(6)


# -- in calibration --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def molecules():
    return [x for x in random_graphs(300, seed=3, max_nodes=16) if len(x) > 5][:150]


@pytest.mark.parametrize("calibration", [LeaveOneOut("together"), Split(0.4, copies="together")])
def test_together_a_list_counts_as_once(molecules, calibration):
    some, fresh = read_graphs(molecules[:60]), molecules[100:]
    doubled = GraphBatch.concatenate([some, permuted(some, 0)])
    once, twice = (
        GraphKDEDetector(calibration=calibration, random_state=0).fit(x) for x in (some, doubled)
    )
    # The copies are left out of a larger array, or scored among others: rounding of sums.
    np.testing.assert_allclose(once.score_samples(fresh), twice.score_samples(fresh), rtol=1e-9)
    # Of graphs that are set aside all copies count.
    times = 1 if isinstance(calibration, LeaveOneOut) else 2
    expected = np.repeat(np.sort(once.calibration_scores_), times)
    np.testing.assert_allclose(np.sort(twice.calibration_scores_), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("calibration", "share"),
    [
        pytest.param("loo", 0, marks=pytest.mark.slow),
        pytest.param("loo", 0.2, marks=pytest.mark.slow),
        pytest.param("loo", 0.5, marks=pytest.mark.slow),
        ("loo", 1),
        pytest.param(Split(0.4), 1, marks=pytest.mark.slow),
    ],
)
def test_false_alarms_among_fresh_graphs(molecules, share, calibration):
    """Without treatment 15, 29 and 100% are flagged with leave-one-out.

    A fifth of 60 graphs, given twice, could be chance.
    """
    rates, molecules = [], read_graphs(molecules)
    for seed in range(6):
        order = np.random.RandomState(seed).permutation(150)
        training = molecules[np.append(order[:60], order[: round(60 * share)])]
        detector = GraphKDEDetector(calibration=calibration, random_state=0)
        said = "training graphs are copies" if share else "no warning"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            detector.fit(training)
        assert [said in str(x.message) for x in caught] == [True] * (share > 0.2)
        rates.append((detector.predict(molecules[order[60:]]) == -1).mean())
    assert 0.05 <= np.mean(rates) <= 0.15


@pytest.mark.parametrize("decimals", [2, 4])
def test_false_alarms_among_fresh_graphs_of_a_list_that_was_rounded(decimals):
    """Without treatment all are flagged."""
    rng = np.random.RandomState(0)
    trees = [nx.random_labeled_tree(rng.randint(6, 14), seed=i) for i in range(150)]
    for tree in trees:
        with_data(tree, {"x": lambda _: rng.standard_normal()})
    rounded = [
        with_data(tree.copy(), {"x": [round(x, decimals) for _, x in tree.nodes.data("x")]})
        for tree in trees[:50]
    ]
    detector = warned(
        "50 of 100 training graphs are copies",
        GraphKDEDetector(random_state=0).fit,
        trees[:50] + rounded,
    )
    assert len(detector.calibration_scores_) == 50
    assert 0.02 <= (detector.predict(trees[50:]) == -1).mean() <= 0.2


def test_copies_of_one_graph():
    refused(
        r"at least 2 distinct .* got 1 \(all others are copies\)",
        GraphKDEDetector(calibration=LeaveOneOut("together")).fit,
        [nx.path_graph(4)] * 5,
    )


@pytest.mark.parametrize("n_times", [1, 2])
def test_identifiers_of_copies_are_identifiers(n_times):
    """Between copies any value repeats."""
    graphs = [
        with_data(
            nx.connected_watts_strogatz_graph(20, 4, 0.2, seed=i),
            {"label": lambda v, i=i: f"host-{i}-{v}"},
        )
        for i in range(20)
    ]
    detector = GraphKDEDetector(calibration=LeaveOneOut("together"))
    warned("label' .an identifier", detector.fit, graphs * n_times)
    assert detector.schema_.node_categories == ()


def test_copies_elsewhere_in_space():
    """Features leave out coordinates."""
    graphs = [nx.random_geometric_graph(12, 0.45, seed=seed, pos_name="x") for seed in range(20)]
    copies = [graph.copy() for graph in graphs]
    for graph, copy in zip(graphs, copies, strict=True):
        for v, (x, y) in graph.nodes.data("x"):
            copy.nodes[v]["x"] = [5 - y, x + 7]
    batch = read_graphs(graphs + copies)
    assert LeaveOneOut("together").distinct(batch).tolist() == [*range(20), *range(20)]


@pytest.mark.slow
def test_split_keeps_its_promise_where_one_graph_is_common():
    """Six of ten graphs are one star, which may be set aside, with all its copies."""
    others = [nx.gnp_random_graph(n, 0.3, seed=n) for n in range(5, 105)]
    p_values = []
    for seed in range(15):
        rng = np.random.RandomState(seed)
        drawn = [others[rng.randint(100)] if rng.rand() < 0.4 else STAR for _ in range(140)]
        calibration = Split(0.5, copies="together")
        detector = GraphKDEDetector(calibration=calibration, random_state=seed).fit(drawn[:110])
        p_values.append(detector.p_values(drawn[110:]))
    assert np.mean(np.array(p_values) <= 0.1) <= 0.13


# -- few graphs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "rate"), [(3, "1 in 4"), (8, "1 in 9")])
def test_too_few_graphs_for_the_contamination(molecules, n, rate):
    warned(
        rf"{n} training graphs .* about {rate}\. Give at least 9",
        GraphKDEDetector().fit,
        molecules[:n],
    )


@pytest.mark.parametrize(("n", "contamination"), [(3, 0.3), (9, 0.1)])
def test_just_enough_graphs_for_the_contamination(molecules, n, contamination):
    GraphKDEDetector(contamination=contamination).fit(molecules[:n])


# -- graphs that are given again -------------------------------------------------------------------


AGAIN = r"graphs seem to be training graphs, which look normal"
WORLDS = [nx.connected_watts_strogatz_graph(20, 4, 0.1, seed=i) for i in range(170)]


@given(st.integers(0, 10**6), st.booleans())
def test_known_graphs_are_found_as_among_all_at_once(seed, directed):
    """The vocabularies of two batches differ, and so do the orders of nodes."""
    known = read_graphs(typed_graphs(12, seed, directed=directed), schema=WEIGHTED)
    others = read_graphs(typed_graphs(8, seed + 1, directed=directed), schema=WEIGHTED)
    few = KnownGraphs(known[:6], np.arange(6))
    of_known, of_others = kinds_of(known[:6], permuted(known, seed))
    assert few.contain(permuted(known, seed)).tolist() == np.isin(of_others, of_known).tolist()
    of_known, of_others = kinds_of(known[:6], others)
    assert few.contain(others).tolist() == np.isin(of_others, of_known).tolist()


def test_a_category_that_no_known_graph_has_makes_a_graph_new():
    # B is the first of its own vocabulary, as C is.
    known, new = (with_data(nx.path_graph(3), {"label": label}) for label in "CB")
    found = KnownGraphs(read_graphs([known] * 2), np.arange(2)).contain(read_graphs([new]))
    assert found.tolist() == [False]


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.0, 2.0), (2.0, 3.0)])
def test_known_graphs_are_found_whatever_the_weights_of_the_others(weights):
    graphs = [with_data(nx.path_graph(4), None, {"w": w}) for w in weights]
    batches = [read_graphs([graph], schema=WEIGHTED) for graph in graphs]
    both = GraphBatch.concatenate(batches)
    assert KnownGraphs(both, np.arange(2)).contain(batches[0]).tolist() == [True]
    assert KnownGraphs(batches[0], np.arange(1)).contain(both).tolist() == [
        True,
        weights[0] == weights[1],
    ]


def slow_chance(n_known, n_repeated, n_known_graphs, n):
    """At least so many repeated ones among n of all graphs, by counting the subsets."""
    total, repeated = n_known_graphs + n, n_repeated + n_known
    ways = [comb(repeated, k) * comb(total - repeated, n - k) for k in range(n_known, n + 1)]
    return sum(ways) / comb(total, n)


@pytest.mark.parametrize("n_copies", [0, 4, 40])
def test_chance_counts_subsets(n_copies):
    known = [nx.cycle_graph(i) for i in range(5, 65 - n_copies // 2)]
    known = [*known, *known[: n_copies // 2]]
    assert len(known) == 60
    graphs = KnownGraphs(read_graphs(known), np.arange(60))
    for n, k in ((1, 1), (2, 2), (3, 3), (9, 2), (9, 5), (20, 0), (20, 11), (20, 20)):
        chance = slow_chance(k, n_copies, 60, n)
        assert graphs.exceed_chance(k, n) == (chance < LEVEL_KNOWN)


# -- who says so -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error:.* seem to be training graphs")
@pytest.mark.parametrize("detector", [EdgeCount(), GraphKDEDetector(calibration=Split(0.3))])
@pytest.mark.parametrize(
    "method", ["score_samples", "decision_function", "predict", "p_values", "select"]
)
def test_each_judgement_says_that_training_graphs_are_given_again(detector, method):
    detector = detector.set_params(random_state=0).fit(WORLDS[:60])
    judge = getattr(detector, method)
    warned(rf"60 of 60 {AGAIN}", judge, WORLDS[:60])
    warned(rf"12 of 22 {AGAIN}", judge, WORLDS[60:70] + WORLDS[:12])
    judge(WORLDS[60:80])
    judge(WORLDS[:1])
    judge(WORLDS[59:99])  # one may come again


@pytest.mark.filterwarnings("error:.* seem to be training graphs")
def test_who_was_fitted_counts_and_not_who_was_before(tmp_path):
    detector = GraphKDEDetector(random_state=0).fit(WORLDS[:40])
    warned(AGAIN, detector.predict, WORLDS[:9])
    detector.save(tmp_path / "model.skg")
    loaded = skgraphkde.load(tmp_path / "model.skg")
    for other in (loaded, pickle.loads(pickle.dumps(detector))):
        assert "known_graphs" not in vars(other)  # of no file
        warned(AGAIN, other.predict, WORLDS[:9])
    detector.fit(WORLDS[60:100])
    detector.predict(WORLDS[:9])


@pytest.mark.filterwarnings("error:.* seem to be training graphs")
def test_confirmed_anomalies_may_be_given_again():
    odd = [nx.barabasi_albert_graph(20, 2, seed=i) for i in range(6)]
    detector = GraphKDEDetector(random_state=0).fit(WORLDS[:40]).learn(odd, [-1] * 6)
    assert (detector.predict(odd) == -1).all()
    warned(rf"4 of 10 {AGAIN}", detector.predict, odd + WORLDS[:4])


def test_a_doubled_list_is_given_again():
    detector = warned("are copies of others", GraphKDEDetector(random_state=0).fit, WORLDS[:30] * 2)
    warned(rf"30 of 30 {AGAIN}", detector.predict, WORLDS[:30])


# -- drift -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", [[], [1], range(1, 120), [7, 60, 61]])
def test_training_graphs_are_left_out_however_they_are_divided(cuts):
    """They sound no alarm, and change nothing for new graphs after them."""
    detector = GraphKDEDetector(random_state=0).fit(WORLDS[:100])
    stream = WORLDS[100:110] + WORLDS[:100] + WORLDS[110:120]
    parts = np.split(np.arange(120), list(cuts))
    monitor = DriftMonitor(detector, random_state=0)
    with pytest.warns(UserWarning, match="graphs seem to be training graphs: they are left out"):
        tables = [monitor.update([stream[i] for i in part]) for part in parts]
    table = pd.concat(tables)
    is_used = table["p_value"].notna().to_numpy()
    assert (monitor.alarms_, monitor.n_graphs_) == ([], 120)
    assert np.add.reduceat(is_used, [0, 10, 110]).tolist() == [10, 0, 10]
    assert (np.diff(table["statistic"])[9:109] == 0).all()
    alone = DriftMonitor(detector, random_state=0)
    expected = alone.update([x for x, used in zip(stream, is_used, strict=True) if used])
    for name in ("p_value", "statistic"):
        np.testing.assert_allclose(table.loc[is_used, name], expected[name])


def test_graphs_that_repeat_by_chance_are_not_left_out():
    small = random_graphs(300, labels="C", max_nodes=5)
    detector = GraphKDEDetector(random_state=0).fit(small[:100])
    table = DriftMonitor(detector, random_state=0).update(small[100:])
    assert detector.known_graphs.contain(read_graphs(small[100:])).mean() > 0.5
    assert table["p_value"].notna().all()


def test_numbers_far_from_0_are_compared_by_their_differences():
    """Seconds since 1970, which single precision would round to two minutes."""
    rng = np.random.RandomState(0)
    times = {"x": lambda v: 1.7e9 + float(rng.randn())}
    graphs = read_graphs([with_data(nx.cycle_graph(5), times) for _ in range(20)])
    assert len(set(isomorphism_classes(graphs))) == 20
    again = GraphBatch.concatenate([graphs, permuted(graphs[[3]], 1)])
    assert isomorphism_classes(again)[20] == 3


def test_copies_of_known_graphs_do_not_depend_on_the_other_graphs():
    """A number far from the others hides no differences of numbers with a common offset."""

    def far_from_0(seed, offset=1e9):
        rng = np.random.default_rng(seed)
        graph = nx.cycle_graph(6)
        for v in graph:
            graph.nodes[v]["t"] = offset + float(rng.normal())
        return graph

    schema = GraphSchema(node_numbers="t")
    known = read_graphs([far_from_0(seed) for seed in range(20)], schema=schema)
    near = far_from_0(0)
    near.nodes[0]["t"] += 1e-3
    for others in ([near], [near, far_from_0(99, 0.0)]):
        of_known, of_others = kinds_of(known, read_graphs(others, schema=schema))
        assert of_others[0] not in of_known
        seen = KnownGraphs(known, np.arange(20)).contain(read_graphs(others, schema=schema))
        assert not seen[0]
