"""Copies of graphs, against isomorphism, and what becomes of them in calibration."""

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skgraphkde import GraphBatch, GraphKDEDetector, GraphSchema, LeaveOneOut, Split, read_graphs
from skgraphkde.graphs.copies import has_excess_duplicates, isomorphism_classes
from tests.conftest import permuted, random_graphs, refused, warned, with_data
from tests.graphs.test_refinement import WEIGHTED, typed_graphs


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
    rng = np.random.RandomState(0)
    graphs = [nx.gnp_random_graph(40, 0.3, seed=seed) for seed in range(30)]
    copies = [graph.copy() for graph in graphs]
    for graph, copy in zip(graphs, copies, strict=True):
        for elements, same in ((graph.nodes, copy.nodes), (graph.edges, copy.edges)):
            for key in elements:
                numbers = {"x": rng.standard_normal(), "y": rng.standard_cauchy(), "w": rng.rand()}
                elements[key].update(numbers)
                same[key].update({name: float(np.float32(x)) for name, x in numbers.items()})
    schema = GraphSchema(edge_weight="w", node_numbers=("x", "y"), edge_numbers=("x", "y"))
    batch = read_graphs(graphs + copies, schema=schema)
    batch = GraphBatch.concatenate([batch[:30], permuted(batch[30:], 0)])
    assert isomorphism_classes(batch).tolist() == [*range(30), *range(30)]


def test_walks_tell_regular_graphs_apart():
    graphs = [nx.circular_ladder_graph(3), nx.complete_bipartite_graph(3, 3)]
    assert isomorphism_classes(read_graphs(graphs)).tolist() == [0, 1]


@pytest.mark.parametrize("n_times", [2, 3, 30])
@pytest.mark.parametrize("share", [0.2, 0.5, 1])
def test_lists_that_repeat_another(n_times, share):
    n_copies = np.ones(300, dtype=int)
    n_copies[: round(300 * share)] = n_times
    assert has_excess_duplicates(n_copies)


def test_few_graphs_all_equally_often():
    for n_copies, expected in (([2, 2], True), ([7, 7, 7], True), ([5], False), ([41, 37], False)):
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
