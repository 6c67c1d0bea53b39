"""Small graphs with data, and comparisons, for several modules of tests."""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import read_graphs

PATH = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
X = np.arange(6.0).reshape(3, 2)
EDGES = [(0, 1), (1, 2)]
LETTERS = [("a", "b"), ("b", "c")]


def assert_same(a, b):
    assert a.node_ptr.tolist() == b.node_ptr.tolist()
    assert (a.adjacency != b.adjacency).nnz == 0
    names = [[g.label_names[code] for code in g.labels] for g in (a, b) if g.labels is not None]
    assert len(names) != 1
    assert names[:1] == names[1:]
    assert (a.attributes is None) == (b.attributes is None)
    if a.attributes is not None:
        np.testing.assert_array_equal(a.attributes, b.attributes)


def partition(colors):
    """Which nodes have equal colors, whatever the colors are."""
    first = {}
    return [first.setdefault(color, len(first)) for color in colors]


def with_nodes(values, name):
    """A path whose nodes have values; None is no value."""
    graph = nx.path_graph(len(values))
    nx.set_node_attributes(graph, {k: x for k, x in enumerate(values) if x is not None}, name)
    return graph


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
