"""Errors and ignored data are objects, whose text is made when it is shown."""

import pickle

import pytest

from skgraphkde import read_graphs
from skgraphkde.graphs.problems import GraphError


def test_errors_have_the_position_of_the_graph():
    good, bad = ({"edges": [("graph 0", "b")], "x": {"graph 0": x, "b": 1.0}} for x in (1, "?"))
    with pytest.raises(GraphError, match=r"^graph 1, node 'graph 0': .* is not a number") as caught:
        read_graphs([good, bad])
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.graph, str(error)) == (1, str(caught.value))
