"""Errors and ignored data are objects, whose text is made when it is shown."""

import pickle

import pytest

from skgraphkde import GraphSchema, read_graphs
from skgraphkde.graphs.problems import GraphError


def test_errors_have_the_position_of_the_graph_until_it_has_a_name():
    good, bad = ({"edges": [("graph 0", "b")], "x": {"graph 0": x, "b": 1.0}} for x in (1, "?"))
    with pytest.raises(GraphError, match=r"^graph 1, node 'graph 0': .* is not a number") as caught:
        read_graphs([good, bad])
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.graph, str(error)) == (1, str(caught.value))
    error.set_names(["a.json", "b.json"])
    assert str(error).startswith("b.json, node 'graph 0': the node attribute 'x' is not a number")


def test_errors_may_be_about_all_graphs():
    graphs = [{"edges": [(0, 1)], "label": ["C", "N"]}, {"edges": [(0, 1)]}]
    with pytest.raises(GraphError) as caught:
        read_graphs(graphs)
    caught.value.set_names(["a", "b"])
    assert str(caught.value).startswith(
        "graph 'b' has no node attribute 'label', and other graphs have: "
    )
    with pytest.raises(GraphError, match=r"^no graph has the node attribute 'kind'") as caught:
        read_graphs(graphs, schema=GraphSchema(node_categories="kind"))
    caught.value.set_names(["a", "b"])
    assert str(caught.value).startswith("none of the 2 graphs from a to b has the node attribute")
