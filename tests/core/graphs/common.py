"""Small graphs with data, and comparisons, for several modules of tests."""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphSchema, read_graphs
from tests.conftest import with_data

PATH = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
X = np.arange(6.0).reshape(3, 2)
EDGES = [(0, 1), (1, 2)]
LETTERS = [("a", "b"), ("b", "c")]


def assert_same(a, b):
    """Check that two batches have the same nodes, arcs and data, whatever their vocabularies."""
    assert a.node_ptr.tolist() == b.node_ptr.tolist()
    assert (a.adjacency != b.adjacency).nnz == 0
    for part in ("node", "edge", "graph"):
        (codes, names, numbers), (others, other_names, expected) = a.data(part), b.data(part)
        assert (codes is None, numbers is None) == (others is None, expected is None)
        if codes is not None:
            assert [names[x] for x in codes] == [other_names[x] for x in others]
        if numbers is not None:
            np.testing.assert_array_equal(numbers, expected)


def partition(colors):
    """Which nodes have equal colors, whatever the colors are."""
    first = {}
    return [first.setdefault(color, len(first)) for color in colors]


def with_nodes(values, name):
    """A path whose nodes have values; None is no value."""
    return with_data(nx.path_graph(len(values)), {name: [*values]})


def masked(values, *hidden):
    values = np.ma.array(values)
    for index in hidden:
        values[index] = np.ma.masked
    return values


def check_refused(graph, message, schema=None):
    """Check the error of one graph, or of a list of them."""
    graphs = graph if isinstance(graph, list) else [graph]
    with pytest.raises(ValueError, match=message):
        read_graphs(graphs, schema=schema)


def plant(seed=0, directed=True):
    """A small graph with every kind of data."""
    rng = np.random.RandomState(seed)
    graph = nx.gnp_random_graph(7, 0.4, seed=seed, directed=directed)
    graph.add_edge(0, 1)
    nodes = {
        "kind": lambda _: ("pump", "valve")[rng.randint(2)],
        "owner": lambda _: int(rng.randint(2)),
        "temp": lambda _: float(rng.normal(60, 5)),
        "position": lambda _: rng.rand(2).tolist(),
    }
    edges = {
        "material": lambda _: ("steel", "lead")[rng.randint(2)],
        "flow": lambda _: float(rng.rand()),
        "capacity": lambda _: float(1 + rng.rand()),
    }
    return with_data(graph, nodes, edges)


EVERYTHING = GraphSchema(
    node_categories=("kind", "owner"),
    node_numbers=("temp", "position"),
    edge_categories="material",
    edge_numbers="flow",
    edge_weight="capacity",
)


PLANTS = [plant(seed) for seed in range(6)]


WEIGHTED = GraphSchema(edge_weight="w")


def typed_graphs(n_graphs, seed=0, *, directed=True, multi=False, categories="ab"):
    """Random graphs with categories of nodes and edges, weights, and a number on the edges."""
    rng = np.random.RandomState(seed)
    kinds = (nx.Graph, nx.MultiGraph), (nx.DiGraph, nx.MultiDiGraph)
    graphs = []
    for _ in range(n_graphs):
        graph = nx.empty_graph(rng.randint(3, 8), create_using=kinds[directed][multi])
        n = len(graph)
        for u, v in rng.randint(n, size=(2 * n, 2)).tolist():
            if u != v:
                label = categories[rng.randint(len(categories))]
                graph.add_edge(u, v, label=label, w=float(rng.choice([1, 2])), x=float(rng.rand()))
        graph.add_edge(0, 1, label="a", w=1.0, x=0.5)
        nx.set_node_attributes(graph, {v: "CN"[rng.randint(2)] for v in graph}, "label")
        graphs.append(graph)
    return graphs
