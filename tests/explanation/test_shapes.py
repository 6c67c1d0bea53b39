"""Shapes: fans, cycles, chains, stars and bridges, against networkx, and as reasons."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphKDEDetector, GraphSchema, read_graphs
from skgraphkde.explanation import explain
from skgraphkde.explanation.shapes import shapes
from tests.explanation.reason_checker import sizes_of_shapes


@given(st.lists(st.integers(0, 100_000), min_size=1, max_size=4), st.floats(0.02, 0.4))
def test_shapes_are_what_networkx_finds(seeds, share):
    graphs = []
    for seed in seeds:
        graph = nx.gnp_random_graph(3 + seed % 12, share, seed=seed, directed=True)
        graphs.append(graph)
    batch = read_graphs(graphs, schema=GraphSchema(directed=True))
    found = np.array([shape.sizes for shape in shapes(batch)]).T
    expected = np.array([[*sizes_of_shapes(graph).values()] for graph in graphs])
    expected[:, 3] -= expected[:, 3] > 0  # edges of a chain
    assert found.tolist() == expected.tolist()


@given(st.lists(st.integers(0, 100_000), min_size=1, max_size=4), st.floats(0.05, 0.3))
def test_stars_and_bridges_are_what_networkx_finds(seeds, share):
    graphs = []
    for seed in seeds:
        graph = nx.gnp_random_graph(6 + seed % 20, share, seed=seed)
        # Two such parts have one edge in common.
        graphs.append(nx.disjoint_union(graph, graph))
        graphs[-1].add_edge(seed % 6, len(graph) + 1)
    found = np.array([shape.sizes for shape in shapes(read_graphs(graphs))]).T
    assert found.tolist() == [[*sizes_of_shapes(graph).values()] for graph in graphs]


def flows(n_graphs=60):
    """Small directed trees with some more arcs, whose edges have hours."""
    graphs = []
    for seed in range(n_graphs):
        rng = np.random.default_rng(seed)
        graph = nx.DiGraph()
        n = int(rng.integers(8, 14))
        for v in range(1, n):
            u = int(rng.integers(v))
            graph.add_edge(*((f"n{u}", f"n{v}") if rng.random() < 0.5 else (f"n{v}", f"n{u}")))
        for _, _, data in graph.edges(data=True):
            data["hours since start"] = float(rng.uniform(0, 100))
        graphs.append(graph)
    return graphs


def shaped(pairs):
    graph = nx.DiGraph(pairs)
    for place, (_, _, data) in enumerate(graph.edges(data=True)):
        data["hours since start"] = place / 4
    return graph


ODD = {
    "fan-in": (
        [(f"a{k}", "hub") for k in range(13)],
        "13 edges into one node, hub, within 3 hours; always 2 to 4",
    ),
    "fan-out": (
        [("hub", f"a{k}") for k in range(13)],
        "13 edges from one node, hub, within 3 hours; usually 2 to ",
    ),
    "cycle": (
        [(f"a{k}", f"a{(k + 1) % 6}") for k in range(6)],
        "a cycle of 6 nodes: a0 -> a1 -> a2 -> a3 -> a4 -> a5 -> a0, within 1.2 hours; no other",
    ),
    "chain": (
        [(f"a{k}", f"a{k + 1}") for k in range(11)],
        "a chain of 12 nodes: a0 -> a1 -> a2 -> a3 -> a4 -> a5 -> a6 -> a7 -> ... (4 more), within",
    ),
}


@pytest.fixture(scope="module")
def detector():
    schema = GraphSchema(edge_numbers="hours since start", directed=True)
    return GraphKDEDetector(schema=schema, random_state=0).fit(flows())


@pytest.mark.parametrize("name", list(ODD))
def test_a_shape_is_the_first_reason(detector, name):
    pairs, text = ODD[name]
    graph = shaped(pairs)
    told = explain(detector, [graph], node_names=[list(graph)])
    first = told.iloc[0]
    assert (first["kind"], first["what"]) == ("shape", name)
    assert first["reason"].startswith(text)
    assert first["value"] == len(pairs) + (name == "chain")
    assert len(first["edges"]) == len(pairs)
    # What follows from the shape is not told again.
    assert not set(told["what"][1:]) & {"sources", "sinks", "degrees", "nodes", "edges"}


@pytest.fixture(scope="module")
def networks():
    """Undirected networks without a hub or a bridge, and a detector of them."""
    graphs = [nx.connected_watts_strogatz_graph(30, 4, 0.1, seed=seed) for seed in range(60)]
    return GraphKDEDetector(random_state=0).fit(graphs)


def test_a_star_is_the_first_reason(networks):
    star = nx.star_graph(30)
    [told] = explain(networks, [star]).itertuples()
    assert (told.what, told.reason, told.nodes) == (
        "star", "30 edges at one node, 0; always 5 to 7", (0,),
    )  # fmt: skip
    assert told.edges == tuple((0, v) for v in range(1, 31))


def test_a_bridge_is_the_first_reason(networks):
    parts = [nx.connected_watts_strogatz_graph(n, 4, 0.1, seed=0) for n in (14, 16)]
    graph = nx.disjoint_union(*parts)
    graph.add_edge(3, 20)
    told = explain(networks, [graph]).iloc[0]
    assert told["what"] == "bridge"
    text = "a bridge, 3 - 20, between parts of 14 and 16 nodes; no other has one"
    assert told["reason"] == text
    assert told["edges"] == ((3, 20),)


def test_a_bridge_of_directed_graphs_keeps_its_way(detector):
    ring = [(k, (k + 1) % 5) for k in range(5)]
    graph = nx.DiGraph(ring + [(u + 5, v + 5) for u, v in ring] + [(7, 2)])
    for _, _, data in graph.edges(data=True):
        data["hours since start"] = 1.0
    told = explain(detector, [graph], n_reasons=20).set_index("what").loc["bridge"]
    assert told["reason"].startswith("a bridge, 7 -> 2, between parts of 5 and 5 nodes; no other")
    assert told["edges"] == ((7, 2),)


def test_a_bridge_of_two_directions_is_told_with_both(detector):
    ring = [(k, (k + 1) % 5) for k in range(5)]
    graph = nx.DiGraph(ring + [(u + 5, v + 5) for u, v in ring] + [(7, 2), (2, 7)])
    for _, _, data in graph.edges(data=True):
        data["hours since start"] = 1.0
    told = explain(detector, [graph], n_reasons=20).set_index("what").loc["bridge"]
    start = "a bridge, 2 <-> 7 (2 edges), between parts of 5 and 5 nodes; no other"
    assert told["reason"].startswith(start)
    assert set(told["edges"]) == {(2, 7), (7, 2)}


def test_trees_have_no_bridges():
    assert shapes(read_graphs([nx.random_labeled_tree(30, seed=0)]))[1].sizes.tolist() == [0]


def test_parallel_edges_of_a_fan_are_told_apart():
    graphs = [nx.MultiDiGraph(graph) for graph in flows()]
    fan = nx.MultiDiGraph()
    for k in range(12):
        for day in range(3):
            fan.add_edge(f"a{k}", "hub", kind=f"d{day}")
    for graph in graphs:
        nx.set_edge_attributes(graph, "d0", "kind")
        for _, _, data in graph.edges(data=True):
            del data["hours since start"]
    schema = GraphSchema(edge_categories="kind", directed=True)
    found = GraphKDEDetector(schema=schema, random_state=0).fit(graphs)
    with pytest.warns(UserWarning, match="d1"):
        told = explain(found, [fan], node_names=[list(fan)], n_reasons=20)
    (text,) = told.loc[told["what"] == "fan-in", "reason"]
    assert text.startswith("36 edges into one node, hub, from 12 nodes")


def test_what_most_graphs_are_is_no_shape():
    chains = [nx.path_graph(n, create_using=nx.DiGraph) for n in range(4, 24)]
    detector = GraphKDEDetector(random_state=0).fit(chains)
    longer = nx.path_graph(60, create_using=nx.DiGraph)
    assert "shape" not in set(explain(detector, [longer])["kind"])
