"""The largest deviation of a number, against loops over nodes and edges."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import Extremes, GraphKDEDetector, GraphSchema, load, read_graphs
from skgraphkde.views import extremes
from tests.conftest import permuted

SCHEMA = GraphSchema(node_numbers="temp", edge_numbers="flow", missing="indicate")


def plants(n_graphs, seed, odd=None):
    rng = np.random.RandomState(seed)
    graphs = []
    for _ in range(n_graphs):
        graph = nx.gnm_random_graph(10, 14, seed=rng)
        for data in graph.nodes.values():
            data["label"] = "pv"[rng.randint(2)]
            typical = 60 if data["label"] == "p" else 20
            data["temp"] = float(rng.normal(typical, 3)) if rng.rand() > 0.1 else None
        for data in graph.edges.values():
            data.update(label="sl"[rng.randint(2)], flow=float(rng.gamma(4)))
        if odd is not None:
            graph.nodes[3]["temp"] = odd
        graphs.append(graph)
    return graphs


def numbers_of(graph):
    """(kind, number) of all nodes, and of all edges."""
    nodes = [(data["label"], data["temp"]) for data in graph.nodes.values()]
    label = dict(graph.nodes(data="label"))
    edges = [
        ((*sorted((label[u], label[v])), data["label"]), data["flow"])
        for u, v, data in graph.edges(data=True)
    ]
    return nodes, edges


def scores_slow(graphs, references, own, fewest):
    scores = []
    for graph, left_out in zip(graphs, own, strict=True):
        others = [numbers_of(x) for i, x in enumerate(references) if i != left_out]
        largest = 0.0
        for part, repeated in ((0, 1), (1, 2)):  # an undirected edge is two arcs
            known = [x for of_graph in others for x in of_graph[part] if x[1] is not None]
            n_missing = sum(x[1] is None for of_graph in others for x in of_graph[part])
            everything = [x for of in references for _, x in numbers_of(of)[part] if x is not None]
            scale = max(abs(np.array(everything) - np.mean(everything)))
            n_given = sum(x[1] is not None for of in references for x in numbers_of(of)[part])
            for kind, value in numbers_of(graph)[part]:
                alike = [x for k, x in known if k == kind]
                alike = alike if repeated * len(alike) >= fewest else [x for _, x in known]
                if value is not None:
                    mean = np.mean(alike)
                    least = 2e-6 * scale + 1e-14 * abs(mean)  # no more than rounding
                    away = max(abs(value - mean) - least, 0) / max(np.std(alike), least)
                    largest = max(largest, away)
                elif not n_missing:  # the first that is missing
                    largest = max(largest, np.sqrt(repeated * n_given))
        scores.append(-largest)
    return scores


def test_rounding_is_no_extreme():
    """Numbers that are the same in all known graphs, in single precision or in six digits."""
    rate = {"primary": 2 / 3, "residential": 1 / 3, "service": 0.1}

    def road(seed, write=float):
        rng, graph = np.random.default_rng(seed), nx.gnp_random_graph(12, 0.3, seed=seed)
        for data in graph.edges.values():
            data["kind"] = list(rate)[rng.integers(3)]
            data["rate"] = write(rate[data["kind"]])
        return graph

    schema = GraphSchema(edge_categories="kind", edge_numbers="rate")
    detector = GraphKDEDetector(schema=schema).fit([road(seed) for seed in range(60)])
    exact = detector.score_samples([road(seed) for seed in range(100, 120)])
    for write in (np.float32, lambda x: round(x, 6)):
        rounded = detector.score_samples([road(seed, write) for seed in range(100, 120)])
        np.testing.assert_allclose(rounded, exact, atol=1e-3)
    odd = road(100)
    next(iter(odd.edges.values()))["rate"] = 0.2
    assert detector.predict([odd]) == [-1]


@pytest.mark.parametrize("fewest", [6, 10, 60])
@given(st.integers(0, 10**6))
def test_scores_equal_the_definition(fewest, seed):
    references, new = plants(8, seed), plants(4, seed + 1)
    view = Extremes().fit(read_graphs(references, schema=SCHEMA))
    before, extremes.MIN_COUNT_PER_KIND = extremes.MIN_COUNT_PER_KIND, max(fewest, 1)
    try:
        for graphs, own in ((new, [-1] * 4), (references, range(8))):
            batch = read_graphs(graphs, schema=SCHEMA)
            actual = view.scores(batch, np.array(own))
            expected = scores_slow(graphs, references, own, max(fewest, 1))
            np.testing.assert_allclose(actual, expected, rtol=1e-6)
            shuffled = view.scores(permuted(batch, seed), np.array(own))
            np.testing.assert_allclose(shuffled, actual, rtol=1e-9)
    finally:
        extremes.MIN_COUNT_PER_KIND = before


def test_one_impossible_reading_is_found(tmp_path):
    detector = GraphKDEDetector(schema=SCHEMA).fit(plants(80, 0))
    assert detector.predict(plants(20, 1, odd=95.0)).tolist() == [-1] * 20
    assert (detector.predict(plants(40, 2)) == 1).mean() > 0.75
    detector.save(tmp_path / "model.skg")
    new = plants(5, 3, odd=1e6)
    loaded = load(tmp_path / "model.skg")
    np.testing.assert_array_equal(loaded.score_samples(new), detector.score_samples(new))


def test_conventional_numbers_of_nodes_have_no_extremes():
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: 1.0, 1: 2.0, 2: 3.0}, "x")
    assert not Extremes().applies_to(read_graphs([graph] * 3))
    assert Extremes().applies_to(read_graphs([graph] * 3, schema=GraphSchema(node_numbers="x")))
    message = r"Extremes needs numbers of nodes or of edges, .*: name them in GraphSchema\("
    with pytest.raises(ValueError, match=message):
        GraphKDEDetector(views=("density", "extremes")).fit([graph] * 3)


def test_a_missing_number_where_none_was_missing():
    def complete(n_graphs, seed):
        graphs = plants(n_graphs, seed)
        for graph in graphs:
            for data in graph.nodes.values():
                data["temp"] = data["temp"] or 40.0
        return graphs

    detector = GraphKDEDetector(schema=SCHEMA).fit(complete(60, 0))
    odd = complete(20, 1)
    for graph in odd:
        graph.nodes[4]["temp"] = None
    assert (detector.predict(odd) == -1).mean() > 0.9


@pytest.mark.parametrize("shift", [0.0, 1e6, 1.7e9])
def test_a_constant_makes_no_difference(shift):
    """Squares of numbers far from 0, such as Unix times, lose the digits in which they differ."""
    graphs = plants(30, 0) + plants(1, 1, odd=100.0)
    for graph in graphs:
        for data in graph.nodes.values():
            data["temp"] = None if data["temp"] is None else data["temp"] + shift
    batch = read_graphs(graphs, schema=SCHEMA)
    [score] = Extremes().fit(batch[:30]).scores(batch[30:], np.array([-1]))
    assert -20 < score < -10
