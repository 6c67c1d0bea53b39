"""Hostile and odd input: each kind leads to finite scores or to one error that says what to do."""

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
from tests.conftest import random_graphs

PATH = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
X = np.arange(6.0).reshape(3, 2)


def path(**of_nodes):
    """A path of three nodes with attributes given as name=values; None leaves a node without."""
    graph = nx.path_graph(3)
    for name, values in of_nodes.items():
        for node, value in enumerate(values):
            if value is not None:
                graph.nodes[node][name] = value
    return graph


def with_x(value):
    """A path whose middle node has this attribute instead of a pair of numbers."""
    return path(x=[[0.0, 1.0], value, [2.0, 3.0]])


def changed(matrix, value, index=(0, 1)):
    matrix = matrix.astype(type(value) if isinstance(value, (complex, str)) else float)
    matrix[index] = value
    return matrix


def both_ways(value):
    return changed(changed(PATH, value), value, (1, 0))


def view():
    graph = nx.path_graph(6)
    return nx.subgraph_view(graph, filter_node=lambda node: node % 3 != 2)


# Name -> an input and a pattern of the error that it leads to; None if it leads to finite scores.
# CONTAINERS are given in place of a list of graphs. The others are single graphs: two sane graphs
# come before each, so a message names graph 2.
CONTAINERS = {
    "None": (None, "list of graphs"),
    "a number": (3, "list of graphs"),
    "a string": ("MUTAG", "list of graphs"),
    "an empty list": ([], "empty|at least"),
    "one graph": (nx.path_graph(3), r"write \[graph\]"),
    "one pair": ((PATH, X), r"write \[\(A, X\)\]"),
    "a generator": ((g for g in [nx.path_graph(3)]), r"write list\(graphs\)"),
    "a dict": ({0: nx.path_graph(3)}, "list of graphs"),
    "a set": ({nx.path_graph(3), nx.path_graph(4)}, "list of graphs, got a set"),
    "a matrix": (PATH, "graph"),
    "an array of node ids": (np.array([nx.path_graph(3), nx.path_graph(3)]), "graph"),
    "a sparse matrix": (sp.csr_array(PATH), "graph"),
}
WEIGHTS = "graph 0 has no weights, and graph 2 has"
GRAPHS = {
    "None among graphs": (None, "graph 2"),
    "a number among graphs": (7, "graph 2"),
    "a class": (nx.Graph, "graph 2"),
    "no nodes": (nx.Graph(), "graph 2 .*no nodes"),
    "one node": (nx.empty_graph(1), None),
    "no edges": (nx.empty_graph(5), None),
    "self-loops": (nx.Graph([(0, 0), (0, 1)]), None),
    "nothing but a self-loop": (nx.Graph([(0, 0)]), None),
    "parallel edges": (nx.MultiGraph([(0, 1), (0, 1), (1, 2)]), None),
    "node ids of many types": (nx.Graph([("a", 1), (1, (2, 3)), ((2, 3), 4.5)]), None),
    "node ids that are nan": (nx.Graph([(float("nan"), 1)]), "graph 2 .*id is NaN"),
    "a frozen graph": (nx.freeze(nx.path_graph(3)), None),
    "a view": (view(), None),
    "a star": (nx.star_graph(300), None),
    "many parts": (nx.disjoint_union_all([nx.path_graph(2)] * 40), None),
    "negative weights that are not read": (nx.Graph([(0, 1, {"weight": -1})]), None),
    "node attributes that are not read": (path(color=["red", None, b"x"]), None),
    "A not square": ((PATH[:2], None), r"graph 2.*expected \(n, n\)"),
    "A of three dimensions": ((PATH[None], None), "graph 2"),
    "A of one dimension": ((PATH[0], None), "graph 2"),
    "A empty": ((np.zeros((0, 0)), None), "graph 2 .*no nodes"),
    "A nan": ((both_ways(np.nan), None), "graph 2.*nan"),
    "A infinite": ((both_ways(np.inf), None), "graph 2.*inf"),
    "A negative": ((both_ways(-1.0), None), "graph 2.*(negative|positive)"),
    "A huge": ((both_ways(1e200), None), "graph 2"),
    "A complex": ((both_ways(1j), None), "graph 2"),
    "A of letters": ((both_ways("x"), None), "graph 2"),
    "A of digits": ((both_ways("1"), None), None),
    "A of bools": ((PATH.astype(bool), None), None),
    "A with a diagonal": ((PATH + np.eye(3), None), None),
    "A with tiny weights": ((1e-300 * PATH, None), WEIGHTS),
    "A in COO with duplicates": (
        (sp.coo_array((np.ones(4), ([0, 1, 0, 1], [1, 0, 1, 0])), shape=(3, 3)), None),
        WEIGHTS,
    ),
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
    "nan": (with_x([0.0, np.nan]), "graph 2, node 1.*nan"),
    "infinite": (with_x([np.inf, 0.0]), "graph 2, node 1.*inf"),
    "huge": (with_x([1e300, 0.0]), "graph 2, node 1.*1e"),
    "a string": (with_x("CN"), "graph 2, node 1"),
    "complex": (with_x([1j, 0]), "graph 2, node 1"),
    "a dict": (with_x({"a": 1, "b": 2}), "graph 2, node 1"),
    "a date": (with_x(datetime.date(2026, 1, 1)), "graph 2, node 1"),
    "too long": (with_x([1.0, 2.0, 3.0]), "graph 2, node 1"),
    "empty": (with_x([]), "graph 2, node 1"),
    "of two dimensions": (with_x(np.eye(2)), "graph 2, node 1"),
    "a pair of decimals": (with_x([decimal.Decimal("0.1"), decimal.Decimal(2)]), None),
    "bools": (with_x([True, False]), None),
    "a tuple of integers": (with_x((1, 2)), None),
    "float16": (with_x(np.array([1, 2], dtype=np.float16)), None),
    "constant": (path(x=[[1.0, 1.0]] * 3), None),
    "all narrower": (path(x=[[1.0], [2.0], [3.0]]), "graph 2|node attributes"),
    "none at all": (nx.path_graph(3), "graph 2|attributes"),
    "X of too few rows": ((PATH, X[:2]), "graph 2"),
    "X of one dimension": ((PATH, X[:, 0]), "graph 2"),
    "X of three dimensions": ((PATH, X[None]), "graph 2"),
    "X nan": ((PATH, changed(X, np.nan)), "graph 2, node 0.*nan"),
    "X infinite": ((PATH, changed(X, -np.inf)), "graph 2, node 0.*inf"),
    "X of letters": ((PATH, np.full((3, 2), "x")), "graph 2"),
    "X of digits": ((PATH, X.astype(str)), None),
    "X complex": ((PATH, X * 1j), "graph 2"),
    "X sparse": ((PATH, sp.csr_array(X)), None),
    "X of bools": ((PATH, X > 2), None),
    "X a list": ((PATH, X.tolist()), None),
}
LABELS = {
    "missing on a node": (path(label=["C", None, "N"]), "graph 2.*node 1"),
    "a list": (path(label=["C", ["N"], "O"]), "graph 2, node 1"),
    "nan": (path(label=["C", float("nan"), "O"]), "graph 2, node 1"),
    "of many types": (path(label=["C", 1, (2, "x")]), None),
    "integers and bools": (path(label=[1, True, 0]), None),
    "bytes": (path(label=[b"C", "C", "N"]), None),
    "very long": (path(label=["C" * 10_000, "C", "N"]), None),
    "none at all": (nx.path_graph(3), "graph 2|labels"),
}


def arrow(nodes=(), edges=()):
    """A directed path of three nodes with data; each item is (node or edge, name, value)."""
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    for node in graph:
        graph.nodes[node].update(kind="pump", temp=60.0)
    for edge in graph.edges:
        graph.edges[edge].update(relation="feeds", amount=1.5, w=1.0)
    for where, data in ((graph.nodes, nodes), (graph.edges, edges)):
        for element, name, value in data:
            if value is DROP:
                del where[element][name]
            else:
                where[element][name] = value
    return graph


def parallel(*amounts, kind=nx.MultiDiGraph):
    """Two nodes with parallel edges."""
    graph = kind()
    graph.add_nodes_from([("a", {"kind": "pump", "temp": 60.0}), ("b", {"kind": "p", "temp": 1.0})])
    for amount in amounts:
        graph.add_edge("a", "b", relation="feeds", amount=amount, w=1.0)
    return graph


class Odd:
    """Hashable, and equal to nothing that it is compared with."""

    def __eq__(self, other):
        return False

    __hash__ = object.__hash__


DROP = object()
AB = ("a", "b")
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
    "parallel edges that agree": (parallel(1.0, 1.0), None),
    "parallel edges that differ": (parallel(1.0, 2.0), None),
    "an undirected multigraph": (parallel(1.0, 2.0, kind=nx.MultiGraph), None),
    "a reversed view": (arrow().reverse(copy=False), None),
    "a category that no graph had": (arrow(nodes=[("a", "kind", "bomb")]), None),
    "a relation that no graph had": (arrow(edges=[(AB, "relation", "explodes")]), None),
    "a category of another type": (arrow(nodes=[("a", "kind", 3)]), None),
    "a category that is a tuple": (arrow(nodes=[("a", "kind", (1, "x"))]), None),
    "a relation that is bytes": (arrow(edges=[(AB, "relation", b"feeds")]), None),
    "a very long relation": (arrow(edges=[(AB, "relation", "f" * 10_000)]), None),
    "a number that is a bool": (arrow(nodes=[("a", "temp", True)]), None),
    "a number that is a fraction": (arrow(edges=[(AB, "amount", fractions.Fraction(1, 3))]), None),
    "a number in an array": (arrow(edges=[(AB, "amount", np.array([2.0]))]), None),
    "data that are not read": (arrow(edges=[(AB, "color", ["red"])]), None),
    "names of nodes as categories": (nx.relabel_nodes(arrow(), {"a": ("pump", 1)}), None),
    "an attribute of the whole graph": (nx.DiGraph(arrow(), kind="plant"), None),
    "a node without its category": (arrow(nodes=[("b", "kind", DROP)]), "graph 2, node 'b'.*kind"),
    "a node without its number": (arrow(nodes=[("b", "temp", DROP)]), "graph 2, node 'b'.*temp"),
    "an edge without its relation": (
        arrow(edges=[(AB, "relation", DROP)]),
        r"graph 2, edge \('a', 'b'\) has no 'relation'",
    ),
    "an edge without its number": (arrow(edges=[(AB, "amount", DROP)]), r"graph 2, edge.*amount"),
    "an edge without its weight": (arrow(edges=[(AB, "w", DROP)]), r"graph 2, edge.* no 'w'"),
    "a number nan": (arrow(edges=[(AB, "amount", float("nan"))]), "graph 2, edge.*amount' is nan"),
    "a number infinite": (arrow(edges=[(AB, "amount", float("inf"))]), "graph 2, edge.*is inf"),
    "a number too large": (arrow(edges=[(AB, "amount", 1e200)]), "graph 2, edge.*is 1e.200"),
    "a number in words": (arrow(edges=[(AB, "amount", "much")]), "graph 2, edge.*is not a number"),
    "a number that is a date": (
        arrow(edges=[(AB, "amount", datetime.date(2026, 1, 1))]),
        "graph 2, edge.*is not a number",
    ),
    "a number that is complex": (arrow(nodes=[("a", "temp", 1j)]), "graph 2, node 'a'.*not a num"),
    "two numbers in place of one": (
        arrow(edges=[(e, "amount", [1.0, 2.0]) for e in [AB, ("b", "c")]]),
        "graph 2.*same width|these graphs have 'amount' .2.|fit saw the edge numbers",
    ),
    "two numbers on one edge": (arrow(edges=[(AB, "amount", [1.0, 2.0])]), "graph 2, edge"),
    "a matrix": (arrow(edges=[(AB, "amount", np.eye(2))]), r"graph 2, edge.*has shape \(2, 2\)"),
    "a relation that is a list": (arrow(edges=[(AB, "relation", ["feeds"])]), "graph 2, edge"),
    "a relation that is nan": (arrow(edges=[(AB, "relation", float("nan"))]), "graph 2, edge"),
    "a category that equals nothing": (arrow(nodes=[("a", "kind", Odd())]), "graph 2, node 'a'"),
    "a weight of zero": (arrow(edges=[(AB, "w", 0)]), r"graph 2, edge.*weight 0"),
    "a weight below zero": (arrow(edges=[(AB, "w", -1)]), r"graph 2, edge.*weight -1"),
    "a weight in words": (arrow(edges=[(AB, "w", "heavy")]), "graph 2, edge.*: 'heavy'"),
    "a weight nan": (arrow(edges=[(AB, "w", float("nan"))]), "graph 2, edge.*weight nan"),
    "no categories at all": (nx.DiGraph([("a", "b")]), "graph 2"),
    "a dict without edge data": (
        {"edges": [(0, 1)], "kind": ["p", "p"], "temp": [1, 2], "w": [1]},
        "graph 2 has no edge attribute",
    ),
    "a dict with too few edge data": (
        {
            "edges": [(0, 1), (1, 0)],
            "directed": True,
            "kind": ["p", "p"],
            "temp": [1, 2],
            "w": [1, 1],
            "edge_data": {"relation": ["r"], "amount": [1.0, 2.0]},
        },
        "graph 2 has 2 edges and 1 values",
    ),
    "a dict with too many edge data": (
        {
            "edges": [(0, 1)],
            "kind": ["p", "p"],
            "temp": [1, 2],
            "w": [1],
            "edge_data": {"relation": ["r", "r"], "amount": [1.0]},
        },
        "graph 2 has 1 edges and 2 values as 'relation'",
    ),
    "a dict whose edge data are a list": ({"edges": [AB], "edge_data": [1]}, "graph 2.*edge_data"),
    "a dict with a direction in words": ({"edges": [AB], "directed": "yes"}, "graph 2.*'directed'"),
}
KINDS = {
    "container": CONTAINERS,
    "graph": GRAPHS,
    "attribute": ATTRIBUTES,
    "label": LABELS,
    "edge": EDGES,
}


def plants():
    sane_graphs = [nx.compose(arrow(), nx.path_graph(n, nx.DiGraph)) for n in range(12)]
    for i, graph in enumerate(sane_graphs):
        for data in graph.nodes.values():
            data.update(kind="pump" if i % 2 else "valve", temp=60.0 + i)
        for data in graph.edges.values():
            data.update(relation="feeds" if i % 2 else "cools", amount=1.0 + i, w=1.0)
    return sane_graphs


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


def outcome(method, graphs):
    """The scores, or the error that a caller can handle."""
    try:
        return np.asarray(method(graphs), dtype=float)
    except (ValueError, TypeError) as error:
        return error


@functools.cache
def fitted(kind):
    """A pickled detector, fitted to sane graphs."""
    schema = TYPED if kind == "edge" else None
    detector = GraphKDEDetector(schema=schema, encoder=Propagation(n_layers=1))
    return pickle.dumps(detector.fit(SANE[kind]))


@pytest.mark.filterwarnings(
    "ignore:left out",
    "ignore:node labels that fit did not see",
    "ignore:edge categories that fit did not see",
    "ignore:not read",
    "ignore:graph . is undirected",
)
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_hostile_and_odd_input(kind, name):
    """It gives finite scores, or an error with the message, to a fitted detector."""
    graphs, message = KINDS[kind][name]
    if kind != "container":
        graphs = [*SANE[kind][:2], graphs]
    for method in ("score_samples", "fit"):
        detector = pickle.loads(fitted(kind))
        before, input_before = pickle.dumps(detector), content(graphs)
        if method == "fit":
            result = outcome(lambda x, fit=detector.fit: fit(x).calibration_scores_, graphs)
        else:
            result = outcome(detector.score_samples, graphs)
        if message is None:
            assert not isinstance(result, Exception), (method, result)
            assert np.isfinite(result).all()
            assert len(result) == len(graphs)
        else:
            assert isinstance(result, Exception), f"{method} gives {result} instead of an error"
            assert re.search(message, str(result)), (method, str(result))
            assert 20 < len(str(result)) < 400
        if method != "fit" or message is not None:
            assert pickle.dumps(detector) == before
        assert content(graphs) == input_before
