"""Odd input gives finite scores, and bad input one error; neither changes the detector or graphs.

:mod:`tests.reading.test_refused` has all that is wrong with a graph, and the errors.
"""

import datetime
import decimal
import fractions
import functools
import pickle
import re

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from skgraphkde import GraphKDEDetector, GraphSchema, Propagation
from tests.conftest import random_graphs, with_data
from tests.core.graphs.common import PATH, X


def path(**of_nodes):
    """A path of three nodes with attributes given as name=values; None leaves a node without."""
    return with_data(nx.path_graph(3), of_nodes)


COO = sp.coo_array((np.ones(4), ([0, 1, 0, 1], [1, 0, 1, 0])), shape=(3, 3))
WEIGHTS = "graph 0 has no weights, and others have"

# Name -> an input and a pattern of the error that it leads to; None if it leads to finite scores.
# CONTAINERS are given in place of a list of graphs. The others are single graphs: two sane graphs
# come before each, so a message names graph 2.
CONTAINERS = {
    "None": (None, "list of graphs"),
    "one graph": (nx.path_graph(3), r"write \[graph\]"),
    "an array of node ids": (np.array([nx.path_graph(3), nx.path_graph(3)]), "graph"),
}
GRAPHS = {
    "None among graphs": (None, "graph 2"),
    "no nodes": (nx.Graph(), "graph 2 .*no nodes"),
    "one node": (nx.empty_graph(1), None),
    "no edges": (nx.empty_graph(5), None),
    "self-loops": (nx.Graph([(0, 0), (0, 1)]), None),
    "nothing but a self-loop": (nx.Graph([(0, 0)]), None),
    "parallel edges": (nx.MultiGraph([(0, 1), (0, 1), (1, 2)]), None),
    "node ids of many types": (nx.Graph([("a", 1), (1, (2, 3)), ((2, 3), 4.5)]), None),
    "a frozen graph": (nx.freeze(nx.path_graph(3)), None),
    "a view": (nx.subgraph_view(nx.path_graph(6), filter_node=lambda node: node % 3 != 2), None),
    "a star": (nx.star_graph(300), None),
    "many parts": (nx.disjoint_union_all([nx.path_graph(2)] * 40), None),
    "negative weights that are not read": (nx.Graph([(0, 1, {"weight": -1})]), None),
    "node attributes that are not read": (path(color=["red", None, b"x"]), None),
    "A of digits": ((PATH.astype(int).astype(str), None), None),
    "A of bools": ((PATH.astype(bool), None), None),
    "A with a diagonal": ((PATH + np.eye(3), None), None),
    "A with tiny weights": ((1e-300 * PATH, None), WEIGHTS),
    "A in COO with duplicates": ((COO, None), WEIGHTS),
    "A in LIL": ((sp.lil_array(PATH), None), None),
    "A with stored zeros": (
        (sp.csr_array((np.zeros(2), ([0, 1], [1, 0])), shape=(3, 3)), None),
        None,
    ),
    "A sparse without X": (sp.csr_array(PATH), None),
    "A in Fortran order": ((np.asfortranarray(PATH), None), None),
    "A a list": ((PATH.tolist(), None), None),
}
ATTRIBUTES = {
    "missing on a node": (path(x=[[0.0, 1.0], None, [2.0, 3.0]]), "graph 2.*node 1"),
    "nan": (path(x=[[0.0, 1.0], [0.0, np.nan], [2.0, 3.0]]), "graph 2, node 1.*nan"),
    "a dict": (path(x=[[0.0, 1.0], {"a": 1, "b": 2}, [2.0, 3.0]]), "graph 2, node 1"),
    "a pair of decimals": (
        path(x=[[0.0, 1.0], [decimal.Decimal("0.1"), decimal.Decimal(2)], [2.0, 3.0]]),
        None,
    ),
    "bools": (path(x=[[0.0, 1.0], [True, False], [2.0, 3.0]]), None),
    "a tuple of integers": (path(x=[[0.0, 1.0], (1, 2), [2.0, 3.0]]), None),
    "float16": (path(x=[[0.0, 1.0], np.array([1, 2], dtype=np.float16), [2.0, 3.0]]), None),
    "constant": (path(x=[[1.0, 1.0]] * 3), None),
    "all narrower": (path(x=[[1.0], [2.0], [3.0]]), "graph 2|node attributes"),
    "none at all": (nx.path_graph(3), "graph 2|attributes"),
    "X of digits": ((PATH, X.astype(str)), None),
    "X sparse": ((PATH, sp.csr_array(X)), None),
    "X of bools": ((PATH, X > 2), None),
    "X a list": ((PATH, X.tolist()), None),
}
LABELS = {
    "a list": (path(label=["C", ["N"], "O"]), "graph 2, node 1"),
    "of many types": (path(label=["C", 1, (2, "x")]), None),
    "integers and bools": (path(label=[1, True, 0]), None),
    "bytes": (path(label=[b"C", "C", "N"]), None),
    "very long": (path(label=["C" * 10_000, "C", "N"]), None),
    "none at all": (nx.path_graph(3), "graph 2|labels"),
}
DROP = object()
AB = ("a", "b")


def arrow(where=None, name=None, value=None):
    """A directed path of three nodes with data; one node or edge has another value."""
    data = {"relation": "feeds", "amount": 1.5, "w": 1.0}
    graph = with_data(nx.DiGraph([AB, ("b", "c")]), {"kind": "pump", "temp": 60.0}, data)
    if where is not None:
        record = graph.edges[where] if isinstance(where, tuple) else graph.nodes[where]
        record[name] = value
        if value is DROP:
            del record[name]
    return graph


TYPED = GraphSchema(
    node_categories="kind",
    node_numbers="temp",
    edge_categories="relation",
    edge_numbers="amount",
    edge_weight="w",
)
EDGES = {
    "nothing odd": (arrow(), None),
    "undirected among directed": (arrow().to_undirected(), None),
    "no edges": (arrow().subgraph(["a", "c"]).copy(), None),
    "one node": (arrow().subgraph(["a"]).copy(), None),
    "both directions": (nx.compose(arrow(), arrow().reverse()), None),
    "a reversed view": (arrow().reverse(copy=False), None),
    "a category that no graph had": (arrow("a", "kind", "bomb"), None),
    "a category of another type": (arrow("a", "kind", 3), None),
    "a category that is a tuple": (arrow("a", "kind", (1, "x")), None),
    "a relation that is bytes": (arrow(AB, "relation", b"feeds"), None),
    "a very long relation": (arrow(AB, "relation", "f" * 10_000), None),
    "a number that is a bool": (arrow("a", "temp", True), None),
    "a number that is a fraction": (arrow(AB, "amount", fractions.Fraction(1, 3)), None),
    "a number in an array": (arrow(AB, "amount", np.array([2.0])), None),
    "data that are not read": (arrow(AB, "color", ["red"]), None),
    "an attribute of the whole graph": (nx.DiGraph(arrow(), kind="plant"), None),
    "a node without its number": (arrow("b", "temp", DROP), "graph 2, node 'b'.*temp"),
    "an edge without its relation": (
        arrow(AB, "relation", DROP),
        r"graph 2, edge \('a', 'b'\) has no 'relation'",
    ),
    "a number too large": (arrow(AB, "amount", 1e200), "graph 2, edge.*is 1e.200"),
    "a number that is a date": (
        arrow(AB, "amount", datetime.date(2026, 1, 1)),
        "graph 2, edge.*is not a number",
    ),
    "a relation that is nan": (arrow(AB, "relation", float("nan")), "graph 2, edge"),
    "no categories at all": (nx.DiGraph([("a", "b")]), "graph 2"),
}
KINDS = {
    "container": CONTAINERS,
    "graph": GRAPHS,
    "attribute": ATTRIBUTES,
    "label": LABELS,
    "edge": EDGES,
}


def plants():
    graphs = [nx.compose(arrow(), nx.path_graph(n, nx.DiGraph)) for n in range(12)]
    for i, graph in enumerate(graphs):
        nodes, edges = ("pump", "feeds") if i % 2 else ("valve", "cools")
        data = {"relation": edges, "amount": 1.0 + i, "w": 1.0}
        with_data(graph, {"kind": nodes, "temp": 60.0 + i}, data)
    return graphs


# The kind of what is odd -> sane graphs, whose data are of that kind.
SANE = {
    "container": random_graphs(12, seed=1, labels=""),
    "graph": random_graphs(12, seed=1, labels=""),
    "attribute": random_graphs(12, seed=1, labels="", n_attributes=2),
    "label": random_graphs(12, seed=1),
    "edge": plants(),
}
CASES = [
    pytest.param(kind, name, id=f"{kind}: {name}")
    for kind, of_kind in KINDS.items()
    for name in of_kind
]


def content(thing):
    """All data of graphs, without what networkx caches."""
    if isinstance(thing, (list, tuple)):
        return [content(part) for part in thing]
    if isinstance(thing, nx.Graph):
        return repr((thing.nodes(data=True), thing.edges(data=True), thing.graph))
    if sp.issparse(thing):
        return content(thing.tocoo().toarray())
    return (thing.dtype, thing.tobytes()) if isinstance(thing, np.ndarray) else repr(thing)


@functools.cache
def fitted(kind):
    """A pickled detector, fitted to sane graphs."""
    schema = TYPED if kind == "edge" else None
    detector = GraphKDEDetector(schema=schema, encoder=Propagation(n_layers=1))
    return pickle.dumps(detector.fit(SANE[kind]))


@pytest.mark.filterwarnings(
    "ignore:left out",
    "ignore:node categories that fit did not see",
    "ignore:edge categories that fit did not see",
    "ignore:not read",
    "ignore:graph . is undirected",
)
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_hostile_and_odd_input(kind, name):
    graphs, message = KINDS[kind][name]
    if kind != "container":
        graphs = [*SANE[kind][:2], graphs]
    for method in ("score_samples", "fit"):
        detector = pickle.loads(fitted(kind))
        before, input_before = pickle.dumps(detector), content(graphs)
        if message is None:
            result = getattr(detector, method)(graphs)
            scores = result.calibration_scores_ if method == "fit" else result
            assert np.isfinite(scores).all()
            assert len(scores) == len(graphs)
        else:
            with pytest.raises((ValueError, TypeError)) as caught:
                getattr(detector, method)(graphs)
            assert re.search(message, str(caught.value)), method
            assert 20 < len(str(caught.value)) < 400
        if method != "fit" or message is not None:
            assert pickle.dumps(detector) == before
        assert content(graphs) == input_before
