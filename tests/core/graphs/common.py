"""Small graphs with data, and comparisons, for several modules of tests."""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import read_graphs
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
