"""Warnings name the user's line."""

import warnings

import networkx as nx
import pytest

from skgraphkde import GraphKDEDetector, explanation, read_graphs


def typed(n):
    graph = nx.cycle_graph(n)
    nx.set_node_attributes(graph, 1.0, "temp")
    return graph


GRAPHS = [typed(n) for n in range(5, 25)]
FITTED = GraphKDEDetector(schema="all").fit(GRAPHS)
NEW = nx.cycle_graph(9)
nx.set_node_attributes(NEW, dict.fromkeys(NEW, 1.0), "temp")
nx.set_node_attributes(NEW, dict.fromkeys(NEW, 1.0), "more")


@pytest.mark.parametrize(
    "call",
    [
        lambda: GraphKDEDetector().fit(GRAPHS),
        lambda: GraphKDEDetector().fit_predict(GRAPHS),
        lambda: FITTED.predict([NEW]),
        lambda: FITTED.p_values([NEW]),
        lambda: explanation.results(FITTED, [NEW]),
        lambda: read_graphs([nx.path_graph(3), nx.DiGraph([(0, 1)])]),
    ],
)
def test_a_warning_points_to_the_line_that_called(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}
