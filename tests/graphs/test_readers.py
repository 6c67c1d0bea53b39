import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

from skgraphkde.graphs import GraphBatch, GraphSchema, read_graphs
from tests.conftest import random_graphs
from tests.graphs.test_batch import assert_same


def with_nodes(values, name):
    graph = nx.path_graph(len(values))
    for node, value in enumerate(values):
        if value is not None:
            graph.nodes[node][name] = value
    return graph


def test_any_hashable_node_id():
    graph = nx.Graph([("a", (1, 2)), ((1, 2), frozenset({3}))])
    assert read_graphs([graph]).adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_self_loops_are_dropped_and_isolated_nodes_survive():
    graph = nx.Graph([(0, 0), (0, 1)])
    graph.add_node(7)
    batch = read_graphs([graph])
    assert batch.n_nodes == 3
    assert batch.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    loops = np.array([[5.0, 1.0], [1.0, 0.0]])
    assert read_graphs([(loops, None)]).adjacency.toarray().tolist() == [[0, 1], [1, 0]]


def test_parallel_edges_count_once_or_add_up_their_weights():
    graph = nx.MultiGraph([(0, 1, {"w": 2.0}), (0, 1, {"w": 3.0})])
    assert read_graphs([graph]).adjacency.data.tolist() == [1, 1]
    assert read_graphs([graph], schema=GraphSchema(edge_weight="w")).adjacency.data.tolist() == [
        5,
        5,
    ]


def test_settable_attribute_names():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, "C", "element")
    nx.set_node_attributes(graph, [1.0, 2.0], "position")
    nx.set_edge_attributes(graph, 0.5, "order")
    batch = read_graphs(
        [graph],
        schema=GraphSchema(node_categories="element", node_numbers="position", edge_weight="order"),
    )
    assert batch.label_names == ("C",)
    assert batch.attributes.tolist() == [[1, 2], [1, 2]]
    assert batch.adjacency.data.tolist() == [0.5, 0.5]
    assert read_graphs([graph]).labels is None


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.coo_matrix, sp.csc_array])
def test_pairs_equal_networkx(make):
    graphs = random_graphs(5, labels="", n_attributes=3)
    pairs = [(make(nx.to_numpy_array(g)), np.array([g.nodes[k]["x"] for k in g])) for g in graphs]
    assert_same(read_graphs(pairs), read_graphs(graphs))


def test_a_sparse_matrix_alone_and_sparse_features():
    A = sp.csr_array(nx.to_numpy_array(nx.cycle_graph(4)))
    assert read_graphs([A, (A, None)]).attributes is None
    assert read_graphs([(A, sp.eye_array(4).tocsr())]).attributes.tolist() == np.eye(4).tolist()
    assert read_graphs([(A, [1, 2, 3, 4])]).attributes.tolist() == [[1], [2], [3], [4]]


def test_formats_mix_and_keep_their_order(graphs):
    batch = read_graphs(graphs)
    assert_same(read_graphs([graphs[0], batch[1:4], *graphs[4:]]), batch)
    assert read_graphs(batch) is batch
    array = np.empty(12, dtype=object)
    array[:] = graphs
    assert_same(read_graphs(array), batch)
    assert_same(read_graphs(tuple(graphs)), batch)


def test_inputs_stay_as_they_are():
    graphs = random_graphs(3, n_attributes=2)
    graphs[0].add_edge(0, 0)
    before = [nx.to_dict_of_dicts(g) for g in graphs]
    attributes = graphs[1].nodes[0]["x"].copy()
    A, X = nx.to_numpy_array(graphs[1]), np.ones((len(graphs[1]), 1))
    A[0, 0] = 1
    copy = A.copy()
    read_graphs(graphs)
    read_graphs([(A, X)])
    assert [nx.to_dict_of_dicts(g) for g in graphs] == before
    np.testing.assert_array_equal(graphs[1].nodes[0]["x"], attributes)
    np.testing.assert_array_equal(A, copy)
    A[0, 1] = X[0, 0] = 3  # still writable


NAN = float("nan")
SQUARE = np.zeros((2, 2))
SQUARE_GRAPH = nx.cycle_graph(4)


class NotAnAnswer:
    """Compares to neither true nor false, as pandas' NA does."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self

    def __bool__(self):
        raise TypeError("the truth is ambiguous")


BAD = {
    "empty list": ([], ValueError, "list of graphs is empty"),
    "one graph": (nx.path_graph(3), TypeError, r"got one graph: write \[graph\]"),
    "one pair": ((SQUARE, SQUARE), TypeError, r"one \(A, X\) pair: write \[\(A, X\)\]"),
    "generator": ((g for g in [nx.path_graph(2)]), TypeError, r"write list\(graphs\)"),
    "numeric array": (np.array([nx.path_graph(2)] * 2), TypeError, "loses every edge"),
    "sparse matrix": (sp.eye_array(3), TypeError, r"adjacency matrix as \[\(A, None\)\]"),
    "string": ("graphs.gml", TypeError, "got a str"),
    "None": (None, TypeError, "got a NoneType"),
    "dict": ({"a": nx.path_graph(2)}, TypeError, "got a dict"),
    "object matrix": (np.full((2, 2), None), TypeError, r"array of shape \(2, 2\)"),
    "a number in the list": ([nx.path_graph(2), 3], TypeError, "graph 1 has the type int; give"),
    "no nodes": ([nx.path_graph(2), nx.Graph()], ValueError, "graph 1 has no nodes"),
    "no nodes in A": ([(np.zeros((0, 0)), None)], ValueError, "graph 0 has no nodes"),
    "not square": ([(np.ones((2, 3)), None)], ValueError, r"shape \(2, 3\), expected \(n, n\)"),
    "words in A": ([(np.full((2, 2), "a"), None)], ValueError, "graph 0 is not an"),
    "rows of X": ([(SQUARE, np.ones((3, 1)))], ValueError, r"2 nodes in A, but X has shape"),
    "negative weight": ([(-np.ones((2, 2)), None)], ValueError, r"edge \(0, 1\) has the weight -1"),
    "NaN in X": (
        [(SQUARE, [[1.0], [NAN]])],
        ValueError,
        "graph 0, node 1: the node attribute 'x' is nan",
    ),
    "NaN in x": (
        [with_nodes([1.0, 2.0], "x"), with_nodes([1.0, NAN], "x")],
        ValueError,
        "graph 1, node 1: the node attribute 'x' is nan",
    ),
    "infinite x": (
        [with_nodes([[0.0, np.inf]], "x")],
        ValueError,
        "number 1 of the node attribute 'x' is inf",
    ),
    "x on some nodes": (
        [with_nodes([1.0, None, 2.0], "x")],
        ValueError,
        r"graph 0, node 1 has no 'x'.*1 of 3",
    ),
    "x on few nodes": (
        [with_nodes([1.0, *[None] * 7], "x")],
        ValueError,
        r"nodes 1, 2, 3, 4, 5, \.\.\. have no 'x'.*7 of 8",
    ),
    "label on some nodes": (
        [with_nodes([None, "C"], "label")],
        ValueError,
        "node 0 has no 'label'",
    ),
    "ragged x": (
        [with_nodes([[1.0], [1.0, 2.0]], "x")],
        ValueError,
        "node 1.*2 numbers.*before it have 1",
    ),
    "words in x": ([with_nodes(["C"], "x")], ValueError, "node 0.*is not a number"),
    "matrix in x": ([with_nodes([SQUARE], "x")], ValueError, r"has shape \(2, 2\)"),
    "widths differ": (
        [with_nodes([1.0], "x"), with_nodes([[1.0, 2.0]], "x")],
        ValueError,
        "graph 1 has 2 numbers in the node attribute 'x', and graph 0 has 1: give",
    ),
    "x in some graphs": ([with_nodes([1.0], "x"), nx.path_graph(2)], ValueError, "graph 1 has no"),
    "label in some graphs": (
        [nx.path_graph(2), with_nodes(["C"], "label")],
        ValueError,
        "graph 0 has no node attribute 'label', and graph 1 has: give",
    ),
    "unhashable label": ([with_nodes([["C"]], "label")], ValueError, "must be hashable"),
    "tensor label": ([with_nodes([torch.tensor(1)], "label")], ValueError, "must be hashable"),
    "ambiguous label": ([with_nodes([NotAnAnswer()], "label")], ValueError, "must be hashable"),
    "huge integer": ([with_nodes([10**400], "x")], ValueError, "node 0.*is not a number"),
    "overflowing x": (
        [with_nodes([1e200], "x")],
        ValueError,
        "the node attribute 'x' is 1e\\+200: clip",
    ),
    "complex A": ([(1j * np.ones((2, 2)), None)], ValueError, "got complex128 in 2 dimensions"),
    "NaN weight in A": (
        [(np.full((2, 2), NAN), None)],
        ValueError,
        r"edge \(0, 1\) has the weight nan",
    ),
    "graph and target": ([(nx.path_graph(2), 1)], ValueError, "targets belong in y"),
    "no adjacency": ([(None, SQUARE)], ValueError, "graph 0 is not an"),
    "empty batch": (read_graphs([SQUARE_GRAPH])[:0], ValueError, "list of graphs is empty"),
    "NaN label": ([with_nodes([NAN], "label")], ValueError, "not missing"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_gets_one_clear_error(kind):
    graphs, error, message = BAD[kind]
    with pytest.raises(error, match=message):
        read_graphs(graphs)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (
            None,
            "graph 0 has no edge attribute 'w', which the schema names: edges have no attributes",
        ),
        ("a", "has the str 'a' as 'w'"),
        (NAN, "has the weight nan"),
        (0, "has the weight 0"),
    ],
)
def test_bad_edge_weights(weight, message):
    graph = nx.path_graph(2)
    if weight is not None:
        graph.edges[0, 1]["w"] = weight
    with pytest.raises(ValueError, match=message):
        read_graphs([graph], schema=GraphSchema(edge_weight="w"))


def test_tensors_are_read_with_their_gradients():
    x = torch.ones(2, 1, requires_grad=True)
    pair = (torch.zeros(2, 2, requires_grad=True), x)
    assert read_graphs([with_nodes([*x], "x")]).attributes.tolist() == [[1], [1]]
    assert read_graphs([pair]).attributes.tolist() == [[1], [1]]


def test_an_endless_weight_is_refused():
    with pytest.raises(ValueError, match="has the weight inf"):
        read_graphs([nx.Graph([(0, 1, {"w": 10**400})])], schema=GraphSchema(edge_weight="w"))


def test_the_networkx_to_array_trap_is_the_one_we_explain():
    """NumPy turns a list of graphs of equal size into an array of node ids."""
    trap = np.array([nx.path_graph(2), nx.path_graph(2)])
    assert trap.dtype.kind == "i"
    assert not isinstance(trap, GraphBatch)


def test_attributes_of_width_zero_are_none():
    assert read_graphs([(SQUARE, np.ones((2, 0)))]).attributes is None
    assert read_graphs([with_nodes([[], []], "x")]).attributes is None
