"""Graphs that are refused: each with one error that names the graph, the node, and the cure."""

import datetime
import pickle
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from skgraphkde import GraphKDEDetector, GraphSchema, read_graphs
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.learned.dgl_backend import import_dgl
from tests.conftest import refused, with_data
from tests.core.graphs.common import EDGES, LETTERS, PATH, X, check_refused, masked, with_nodes

NAN = float("nan")
SQUARE = np.zeros((2, 2))
NAMES = list("abc")
TABLE = pd.DataFrame(PATH, index=NAMES, columns=NAMES)
COLUMN = pd.Series([1.0, 2.0, 3.0])
EDGE = {"edges": [("a", "b")]}


BAD = {
    "empty list": ([], "list of graphs is empty"),
    "one graph": (nx.path_graph(3), TypeError, r"got one graph: write \[graph\]"),
    "one pair": ((SQUARE, SQUARE), TypeError, r"one \(A, X\) pair: write \[\(A, X\)\]"),
    "generator": ((g for g in [nx.path_graph(2)]), TypeError, r"write list\(graphs\)"),
    "numeric array": (np.array([nx.path_graph(2)] * 2), TypeError, "loses every edge"),
    "sparse matrix": (sp.eye_array(3), TypeError, r"adjacency matrix as \[\(A, None\)\]"),
    "string": ("a.gml", TypeError, r"got a path: write read_batch\(find_files\(\['a\.gml'\]\)\)"),
    "path": (Path("b/a.gml"), TypeError, r"got a path: .*\['b.a\.gml'\]\)"),
    "table": (pd.DataFrame({"a": [1]}), TypeError, r"got a table: write read_tables\("),
    "None": (None, TypeError, "got None: give a list of graphs$"),
    "number": (3, TypeError, "got 3: give a list of graphs$"),
    "bytes": (b"abc", TypeError, "got b.abc.: give a list of graphs$"),
    "class": (nx.Graph, TypeError, "got <class .*Graph.>: give a list of graphs$"),
    "dict": ({"a": nx.path_graph(2)}, TypeError, r"got a dict: write list\(graphs\.values\(\)\)"),
    "object matrix": (np.full((2, 2), None), TypeError, r"array of shape \(2, 2\)"),
    "a number in the list": ([nx.path_graph(2), 3], TypeError, "graph 1 has the type int; give"),
    "no nodes": ([nx.path_graph(2), nx.Graph()], "graph 1 has no nodes"),
    "no nodes in A": ([(np.zeros((0, 0)), None)], "graph 0 has no nodes"),
    "not square": ([(np.ones((2, 3)), None)], r"shape \(2, 3\), expected \(n, n\)"),
    "words in A": ([(np.full((2, 2), "a"), None)], "graph 0 is not an adjacency matrix of numbers"),
    "rows of X": ([(SQUARE, np.ones((3, 1)))], "graph 0 has 2 nodes and 3 values as 'x'"),
    "negative weight": ([(-np.ones((2, 2)), None)], r"edge \(0, 1\) has the weight -1"),
    "NaN in X": (
        [(SQUARE, [[1.0], [NAN]])],
        "graph 0, node 1: the node attribute 'x' is nan",
    ),
    "NaN in x": (
        [with_nodes([1.0, 2.0], "x"), with_nodes([1.0, NAN], "x")],
        "graph 1, node 1: the node attribute 'x' is nan",
    ),
    "infinite x": (
        [with_nodes([[0.0, np.inf]], "x")],
        "number 1 of the node attribute 'x' is inf",
    ),
    "x on some nodes": (
        [with_nodes([1.0, None, 2.0], "x")],
        r"graph 0, node 1 has no 'x'.*1 of 3",
    ),
    "x on few nodes": (
        [with_nodes([1.0, *[None] * 7], "x")],
        "nodes 1, 2, 3, 4, 5, and 2 more have no 'x'.*7 of 8",
    ),
    "label on some nodes": (
        [with_nodes([None, "C"], "label")],
        "node 0 has no 'label'",
    ),
    "ragged x": (
        [with_nodes([[1.0], [1.0, 2.0]], "x")],
        "graph 0, node 1.*2 numbers, and others have 1: give all nodes",
    ),
    "odd one first": (
        [with_nodes([[1.0, 2.0], 1.0, 1.0], "x")],
        "graph 0, node 0.*2 numbers, and others have 1: give all nodes",
    ),
    "words in x": ([with_nodes(["C"], "x")], "node 0.*is not a number"),
    "matrix in x": ([with_nodes([SQUARE], "x")], r"has shape \(2, 2\)"),
    "widths differ": (
        [with_nodes([1.0], "x"), with_nodes([[1.0, 2.0]], "x")],
        "graph 1, node 0: .* 'x' has 2 numbers, and others have 1: give all",
    ),
    "x in some graphs": ([with_nodes([1.0], "x"), nx.path_graph(2)], "graph 1 has no"),
    "label in some graphs": (
        [nx.path_graph(2), with_nodes(["C"], "label")],
        "graph 0 has no node attribute 'label', and other graphs have: give",
    ),
    "unhashable label": ([with_nodes([["C"]], "label")], "must be hashable"),
    "tensor label": ([with_nodes([torch.tensor([1])], "label")], "must be hashable"),
    "huge integer": ([with_nodes([10**5000], "x")], "node 0.*is too large .*: clip or drop it"),
    "overflowing x": (
        [with_nodes([1e200], "x")],
        "the node attribute 'x' is 1e\\+200: clip",
    ),
    "A of one dimension": ([(np.ones(2), None)], r"shape \(2,\), expected \(n, n\)"),
    "infinite weight in A": ([(np.full((2, 2), np.inf), None)], "has the weight inf"),
    "huge weight in A": ([(np.full((2, 2), 1e200), None)], "at most 1e"),
    "a node id that is NaN": ([nx.Graph([(NAN, 1)])], "graph 0 has a node whose id is NaN"),
    "a class": ([nx.Graph], TypeError, "graph 0 has the type type; give"),
    "NaN weight in A": (
        [(np.full((2, 2), NAN), None)],
        r"edge \(0, 1\) has the weight nan",
    ),
    "graph and target": ([(nx.path_graph(2), 1)], "targets belong in y"),
    "no adjacency": ([(None, SQUARE)], "graph 0 is a pair of a NoneType and something else"),
    "empty batch": (read_graphs([nx.cycle_graph(4)])[:0], "list of graphs is empty"),
    "NaN label": ([with_nodes([NAN], "label")], "not missing"),
    "an empty vector": (
        [with_nodes([[]], "x"), with_nodes([[1.0, 2.0]], "x")],
        "graph 1, node 0: .*'x' has 2 numbers, and others have 0",
    ),
    "edge data in some graphs": (
        [nx.path_graph(2), nx.Graph([(0, 1, {"label": "a"})])],
        "graph 0 has no edge attribute 'label', and other graphs have: give it to all",
    ),
    "one edge list": (EDGE, TypeError, r"one graph: write \[graph\]"),
    "no edges": ([{"nodes": [1]}], "graph 0 is a dict without 'edges'"),
    "no nodes in a dict": ([{"edges": []}], "graph 0 has no nodes"),
    "no nodes in a triple": ([[set(), {}, {}]], "graph 0 has no nodes"),
    "edge of three": ([{"edges": [(1, 2, 3)]}], r"edge \(1, 2, 3\) is not a pair"),
    "transposed": ([{"edges": np.zeros((2, 3), int)}], r"edge \[0, 0, 0\] is not a pair"),
    "edge of one": ([(({3}, None))], "edge 3 is not a pair"),
    "edge of lists": ([{"edges": [([1], [2])]}], "is not a pair"),
    "edge of tensors": ([{"edges": [tuple(torch.arange(2))]}], "is not a pair"),
    "read once": ([{"edges": zip([0], [1], strict=True)}], "'edges' is a zip, give a list"),
    "unhashable id": ([{**EDGE, "nodes": [["a"], "b"]}], r"the node id \['a'\]: a node id must be"),
    "node twice": ([{**EDGE, "nodes": ["a", "b", "a"]}], "lists the node 'a' twice"),
    "stranger in an edge": (
        [{**EDGE, "nodes": ["a", "c"]}],
        r"graph 0, edge \('a', 'b'\): 'b' is not among the 2 nodes \('a', 'c'\): list",
    ),
    "ids from 1": ([{"edges": [(1, 2)], "num_nodes": 2}], r"2 is not among the 2 nodes \(0 to 1\)"),
    "count in words": ([{**EDGE, "num_nodes": "two"}], "'num_nodes' is 'two': give an integer"),
    "label missing": ([{**EDGE, "label": {"a": 1}}], "graph 0, node 'b' has no 'label'.*1 of 2"),
    "labels missing": (
        [{"edges": [], "num_nodes": 9, "label": ["C", "O"]}],
        "graph 0 has 9 nodes and 2 values as 'label'",
    ),
    "label of a stranger": (
        [{**EDGE, "nodes": ["a", "b"], "label": {"a": 1, "b": 1, "c": 1}}],
        r"has 'label' for the node 'c', which is not among its nodes \('a', 'b'\)",
    ),
    "one label": ([{**EDGE, "label": "C"}], "2 nodes and the str 'C' as 'label'"),
    "x of no length": ([{**EDGE, "x": np.array(1.0)}], "2 nodes and the ndarray"),
    "x in no order": ([{**EDGE, "nodes": ["a", "b"], "x": {1, 2}}], "2 values as 'x'"),
    "too many x": ([{**EDGE, "nodes": ["a", "b"], "x": [1, 2, 3]}], "2 nodes and 3 values as 'x'"),
    "x of three dimensions": (
        [{"edges": [], "x": np.ones((2, 2, 2))}],
        r"node 0.*'x' has shape \(2, 2\)",
    ),
    "ids not listed": (
        [{**EDGE, "x": [1, 2]}],
        r"'a' is not among the 2 nodes \(0 to 1\): list the ids",
    ),
    "label in a triple": ([({(0, 1)}, {0: "C"})], "graph 0, node 1 has no 'label'"),
    "label beside a matrix": (
        [(np.eye(2), {0: 1, 1: 1, 2: 1})],
        r"2, which is not among its nodes",
    ),
    "weight in words": (
        [({(0, 1): "a"}, None)],
        r"edge \(0, 1\): .* 'weight' is not a number .*: 'a'",
    ),
    "weight zero": ([({(0, 1): 0}, None)], r"edge \(0, 1\) has the weight 0"),
    "negative among parallel ones": (
        [([(0, 1, 3.0), (0, 1, -1.0)], {0: 1, 1: 1})],
        r"edge \(0, 1\) has the weight -1.0",
    ),
    "unequal directions": (
        [({("a", "b"): 1, ("b", "a"): 2}, None)],
        r"edge \('a', 'b'\) has the weight 1.0, but 2.0 the other way round",
    ),
    "edge list and target": (
        [(EDGE, 1)],
        "is a pair of a dict and something else.*targets belong in y",
    ),
    "a list of rows": ([[[0, 1], [1, 0]]], TypeError, r"np.array\(rows\) of a list of rows"),
    "SMILES": (pd.Series(["CCO"]), TypeError, r"'CCO'; if this is SMILES, give \[rdkit"),
    "SMILES in an array": (np.array(["CCO"]), TypeError, "graph 0 is the text 'CCO'"),
    "numbers": (np.ones(3), TypeError, r"an array of shape \(3,\)"),
    "a matrix": (np.eye(3), TypeError, r"Pass a single adjacency matrix as \[\(A, None\)\]"),
    "set alone": ([{(0, 1)}], TypeError, "graph 0 has the type set; give"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_graphs_get_one_clear_error(kind):
    graphs, *error, message = BAD[kind]
    with pytest.raises(error[0] if error else ValueError, match=message):
        read_graphs(graphs)


def path_with(value, name="x"):
    return with_nodes([value] * 3, name)


def edge_list(**data):
    return {"edges": EDGES, **data}


def by_letter(**data):
    return {"edges": LETTERS, "nodes": NAMES, **data}


REFUSED = [
    # Two directions, and names that are not there.
    (({1: [2]}, {1: "a", 2: "b"}, {(1, 2): "s", (2, 1): "t"}), r"two values of 'label' for .*1, 2"),
    (({(1, 2)}, {1: 1, 2: 2}, {(1, 2): 1, (2, 3): 2}), r"'label' for the edge \(2, 3\), which is"),
    (edge_list(edge_data={"x": {(5, 6): 1.0}}), r"graph 0 has 'x' for the edge \(5, 6\), which is"),
    # Masked values are missing.
    (edge_list(x=masked(X, (0, 1))), "graph 0, node 0: number 1 of the node attribute 'x' is nan"),
    ((PATH, masked(X, (0, 1))), "graph 0, node 0: number 1 of the node attribute 'x' is nan"),
    (edge_list(x=masked([1.0, 2, 3], 1)), "graph 0, node 1 has no 'x'"),
    (edge_list(label=masked(["a", "b", "c"], 1)), "graph 0, node 1 has no 'label'"),
    (path_with(np.ma.masked), "node 0: the node attribute 'x' is nan"),
    (path_with(np.ma.masked, "label"), "node 0 has the label masked"),
    (path_with(masked([1.0, 2.0], 1)), "number 1 of the node attribute 'x' is nan"),
    ((masked(PATH, (0, 1), (1, 0)), None), r"edge \(0, 1\).* 'weight' is not a num|weight nan"),
    ({"edges": masked(EDGES, (1, 1))}, r"\[1, None\] is not a pair"),
    (edge_list(nodes=masked([0, 1, 2], 2)), "the node id None"),
    (edge_list(edge_data={"x": masked([1.0, 2.0], 1)}), "has no 'x'"),
    # Labels of pandas.
    (edge_list(nodes=TABLE), "a node id must be hashable"),
    ({"edges": TABLE}, "is not a pair"),
    (by_letter(x=COLUMN.set_axis([*"abd"])), "'x' for the node 'd', which is not among"),
    ((TABLE[["c", "a", "b"]], None), "rows of A are .*'a', 'b', 'c'.*'c', 'a', 'b'"),
    # Letters, keys and sets.
    (({"ab": 1.0}, None), "the edge 'ab' is not a pair"),
    ({"edges": {(0, 1): 5.0}}, "'edges' is a dict, give a list"),
    (edge_list(nodes={0: {"x": 1}, 1: {}, 2: {}}), "'nodes' is a dict, give"),
    ({"edges": LETTERS, "nodes": {"a", "b", "c"}}, "'nodes' is a set, give a list"),
    ({"edges": set(EDGES)}, "'edges' is a set, give a list"),
    ({"edges": [], "num_nodes": True}, "'num_nodes' is True: give an integer"),
    (edge_list(label=[(1, NAN)] * 3), "graph 0, node 0 has the label"),
    # Tensors and sparse matrices of complex numbers, dates.
    (edge_list(x=torch.tensor(X * 1j).conj()), "node 0.*is not a number"),
    (edge_list(x=sp.csr_array(X * 1j)), "node 0.*is not a number"),
    ((sp.csr_array(PATH * 1j), None), "adjacency matrix of numbers, .*: complex numbers"),
    ((PATH, X[None]), "3 nodes and 1 values as 'x'"),
    ({"edge_index": [[0, 1], [1]]}, r"broken edge_index: give it integers of shape \(2, n_edges"),
    ({"edge_index": [[0], [3]], "num_nodes": 2}, r"edge \(0, 3\): 3 is not among the 2 nodes"),
    (np.ones((2, 3)), r"the adjacency matrix has shape \(2, 3\), expected \(n, n\)"),
    (pd.DataFrame({"source": [1], "target": [2]}), "or make graphs of tables with read_tables"),
    (path_with(datetime.date(2026, 1, 1)), "is not a number .* make it one first, such as days"),
]


@pytest.mark.parametrize(("graph", "message"), REFUSED)
def test_what_is_refused(graph, message):
    check_refused([graph], message)


@pytest.mark.parametrize("edge", ["ab", b"ab", {0: 1, 1: 2}, {0, 1}, (0, None)], ids=repr)
def test_what_is_no_edge(edge):
    check_refused({"edges": [edge]}, "is not a pair .u, v. of node ids")
    check_refused(([edge], {"a": 1}), "is not a pair .u, v. of node ids")


# -- complex numbers, dates and times --------------------------------------------------------------

DATES = np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="M8[ns]")
NO_NUMBERS = {
    "complex": np.array([1j, 2, 3]),
    "complex without imaginary parts": np.array([1, 2, 3]) + 0j,
    "dates": DATES.astype("M8[D]"),
    "dates in nanoseconds": DATES,
}
PLACES = {
    "column": (lambda x: edge_list(x=x), "node 0.*'x' is not a number"),
    "matrix": (lambda x: edge_list(x=[x] * 3), "node 0.*'x' is not a number"),
    "edges": (lambda x: edge_list(edge_data={"x": x[::2]}), "edge.*not a number"),
    "node": (lambda x: path_with(x[0]), "node 0.*'x' is not a number"),
    "vector": (lambda x: path_with(x[:2]), "node 0.*'x' is not a number"),
    "list": (lambda x: path_with(list(x[:2])), "node 0.*'x' is not a number"),
    "X": (lambda x: (PATH, x), "node 0.*'x' is not a number .* make it one first"),
    "A": (lambda x: (np.array([x] * 3), None), "complex numbers, dates or times: make them"),
}
CASES = [*((kind, "column") for kind in NO_NUMBERS), *(("dates", place) for place in PLACES)]


@pytest.mark.parametrize(("kind", "place"), [*CASES, ("complex", "X"), ("complex", "list")])
def test_what_numpy_would_make_a_number_is_none(kind, place):
    make, message = PLACES[place]
    check_refused(make(NO_NUMBERS[kind]), message)


# -- weights ---------------------------------------------------------------------------------------

WEIGHTED = GraphSchema(edge_weight="w")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (None, "graph 0 has no edge attribute 'w', which the schema names"),
        ([1.0], "2 edges and 1 values as 'w'"),
        (np.ones((2, 2)), "has 2 numbers as 'w': give every edge one"),
        ([1.0, None], r"edge \('b', 'c'\) has no 'w'"),
        (masked([1.0, 2.0], 1), r"edge \('b', 'c'\) has no 'w'"),
        ([1.0, "b"], r"edge \('b', 'c'\): .* 'w' is not a number .*: 'b'"),
        ([1.0, 10**400], "'w' is too large"),
        ([1.0, 0], r"edge \('b', 'c'\) has the weight 0"),
        ([1.0, -1.0], r"edge \('b', 'c'\) has the weight -1.0: .*name 'w' in edge_numbers"),
        (torch.tensor([1.0, np.nan]), r"edge \('b', 'c'\) has the weight nan"),
        (COLUMN[:2].set_axis([1, 0]), "has 'w' for the edge 1, which is not among"),
        (NO_NUMBERS["dates"][::2], r"edge \('a', 'b'\): .* 'w' is not a number"),
        (NO_NUMBERS["complex"][:2], r"edge \('a', 'b'\): .* 'w' is not a number"),
    ],
)
def test_bad_weights(weights, message):
    edge_data = {} if weights is None else {"w": weights}
    check_refused({"edges": LETTERS, "edge_data": edge_data}, message, WEIGHTED)


def test_what_depends_on_the_schema():
    message = "graph 0 has 3 nodes and 2 values as 'x'"
    check_refused(edge_list(num_nodes=3, x=[1, 2]), message, GraphSchema(missing="indicate"))


# -- other packages --------------------------------------------------------------------------------

ONE = r"got one graph: write \[graph\]"
BOTH = torch.tensor([[0, 1], [1, 0]])


def check_all(alone, refused):
    with pytest.raises(TypeError, match=ONE):
        read_graphs(alone)
    for graph, message in refused:
        check_refused([graph], message)


def test_bad_dgl_graphs():
    with warnings.catch_warnings():  # its import warns
        warnings.simplefilter("ignore")
        dgl = import_dgl()
    if dgl is None:
        pytest.skip("DGL has no build here")
    directed, labeled = dgl.graph(([0, 1, 1], [1, 0, 2])), dgl.graph(([0, 1], [1, 0]))
    labeled.ndata["label"] = torch.eye(2) / 2
    for graph, message in (
        (dgl.graph(([], [])), "graph 0 has no nodes"),
        (dgl.batch([directed] * 2), r"a batch of 2 graphs: give dgl.unbatch\(graph\)"),
        ((directed, 1), "pair of a DGLGraph and something else.*targets belong in y"),
        (labeled, "label must be hashable"),
    ):
        check_refused([graph], message)
    check_refused(directed, "no edge attribute 'w'", WEIGHTED)


def test_bad_pyg_graphs():
    geometric = pytest.importorskip("torch_geometric.data")
    Data = geometric.Data
    small = Data(edge_index=BOTH, num_nodes=1)
    check_all(
        small,
        [
            (small, r"edge \(0, 1\): 1 is not among the 1 nodes \(0 to 0\): raise the number"),
            (Data(edge_index=BOTH, num_nodes=4, x=torch.ones(2, 1)), "4 nodes and 2 values as 'x'"),
            (
                Data(edge_index=BOTH, x=torch.ones(3, 1), label=torch.tensor([1])),
                "3 nodes and 1 values as 'label'",
            ),
            (
                Data(edge_index=BOTH, num_nodes=2, edge_attr=torch.ones(1)),
                "2 edges and 1 values as 'edge_attr'",
            ),
            (Data(x=torch.ones(2, 1)), "graph 0 has no edge_index"),
            (Data(edge_index=BOTH.T[:1], num_nodes=2), "graph 0 has a broken edge_index"),
            (Data(edge_index=BOTH + 0.5, num_nodes=2), "graph 0 has a broken edge_index"),
            (
                geometric.Batch.from_data_list([small] * 2),
                r"of 2 graphs: give graph.to_data_list\(",
            ),
            (geometric.HeteroData(), "graph 0 has no nodes"),
            (Data(adj_t=torch.eye(2).to_sparse()), r"to_edge_index\(data.adj_t\)\[0\].flip"),
        ],
    )
    typed = geometric.HeteroData()
    typed["a"].num_nodes, typed["b"].num_nodes = 2, 1
    typed["b", "to", "a"].edge_index = torch.tensor([[0], [2]])  # which is none of type b, either
    check_refused(typed, r"graph 0, edge \(0, 2\): 2 is not among the 2 nodes \(0 to 1\): raise")
    unequal = Data(edge_index=BOTH, num_nodes=2, w=torch.tensor([1.0, 2.0]))
    undirected = GraphSchema(edge_weight="w", directed=False)
    check_refused(unequal, "but 2.0 the other way round: in an undirected graph both", undirected)


def test_bad_igraph_graphs():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(3, EDGES)
    graph.vs["name"] = NAMES
    graph.vs[0]["label"] = "C"
    check_all(
        graph,
        [
            (igraph.Graph(), "graph 0 has no nodes"),
            (graph, "graph 0, nodes 'b', 'c' have no 'label'.*2 of 3"),
        ],
    )


@pytest.mark.filterwarnings("ignore:not read")
@pytest.mark.parametrize(
    ("part", "where"),
    [("node", "graph 2, node 1"), ("edge", "graph 2, an edge"), ("graph", "graph 2")],
)
def test_numbers_whose_squares_are_zero_are_refused(part, where):
    graphs = [nx.path_graph(n) for n in range(3, 9)]
    for i, graph in enumerate(graphs):
        size = 1e-180 * (1 + (i == 2))
        sizes = [size * (1 + (v == 1)) for v in graph]
        with_data(graph, {"node": sizes}, {"edge": size}).graph["graph"] = size
    schema = GraphSchema(**{f"{part}_numbers": part})
    with pytest.raises(ValueError, match=f"^{where}: .* nowhere above 1e-100: multiply it"):
        GraphKDEDetector(schema=schema).fit(graphs)
    graphs[0].graph["graph"] = graphs[0].nodes[0]["node"] = graphs[0].edges[0, 1]["edge"] = 1.0
    GraphKDEDetector(schema=schema).fit(graphs)


def test_complex_numbers_are_refused_by_name():
    graph = with_nodes([1.5, 2 + 1j, 3.0], "impedance")
    check_refused([graph], "graph 0, node 1: the node attribute 'impedance' is not a number", "all")


def test_errors_have_the_position_of_the_graph():
    good, bad = ({"edges": [("graph 0", "b")], "x": {"graph 0": x, "b": 1.0}} for x in (1, "?"))
    with pytest.raises(GraphError, match=r"^graph 1, node 'graph 0': .* is not a number") as caught:
        read_graphs([good, bad])
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.graph, str(error)) == (1, str(caught.value))


@pytest.mark.parametrize(
    ("sizes", "verdict"), [([1, NAN], 0), ([1, "?"], 0), ([], 0), ([1, 2], "?")]
)
def test_errors_have_the_name_of_the_graph(sizes, verdict):
    graphs = [with_nodes([1.0, 2.0], "x"), with_data(with_nodes(sizes, "x"), name="K17")]
    refused("graph 'K17'", GraphKDEDetector().fit, graphs, verdicts=[0, verdict])
