"""What could be read as something else: it is read as it is meant, or refused."""

import datetime

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from skgraphkde import GraphSchema
from skgraphkde.graphs import read_graphs

PATH = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
X = np.arange(6.0).reshape(3, 2)
EDGES = [(0, 1), (1, 2)]
LETTERS = [("a", "b"), ("b", "c")]
WITH_MISSING = GraphSchema(missing="indicate")
WEIGHTED = GraphSchema(edge_weight="weight")


def dates(unit):
    return np.array(["2020-01-01", "NaT", "2021-01-01"], dtype=f"M8[{unit}]")


def times(unit):
    return dates(unit) - dates(unit)[0]


def path(value, name="x"):
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, dict.fromkeys(graph, value), name)
    return graph


def masked(values, *hidden):
    values = np.ma.array(values)
    for index in hidden:
        values[index] = np.ma.masked
    return values


def check_refused(graph, message, schema=None):
    with pytest.raises(ValueError, match=message):
        read_graphs([graph], schema=schema)


# -- matrices --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.array, sp.csr_array, sp.coo_array])
def test_small_weights_beside_large_ones(kind):
    A = 1e9 * PATH
    A[1, 2] = A[2, 1] = 1
    batch = read_graphs([(kind(A), None)])
    assert not batch.directed
    assert batch.adjacency.data.tolist() == [1e9, 1e9, 1, 1]
    A[2, 1] = 2
    batch = read_graphs([(kind(A), None)])
    assert batch.directed
    assert batch.adjacency.data.tolist() == [1e9, 1e9, 1, 2]
    A[2, 1] = 0
    assert read_graphs([(kind(A), None)]).adjacency.nnz == 3


def test_duplicates_add_up_and_stored_zeros_are_no_edges():
    twice = sp.coo_array((np.full(4, 200, np.uint8), ([0, 1, 0, 1], [1, 0, 1, 0])), shape=(3, 3))
    assert read_graphs([(twice, None)]).adjacency.data.tolist() == [400, 400]
    stored = sp.csr_array(PATH)
    stored.data[:2] = 0
    assert read_graphs([(stored, None)]).n_edges_per_graph.tolist() == [1]


# -- complex numbers, dates and times --------------------------------------------------------------

NO_NUMBERS = {
    "complex": np.array([1j, 2, 3]),
    "complex without imaginary parts": np.array([1, 2, 3]) + 0j,
    "dates": dates("D"),
    "dates in nanoseconds": dates("ns"),
    "times": times("D"),
    "times in nanoseconds": times("ns"),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_numpy_would_make_a_number_is_none(kind):
    values = NO_NUMBERS[kind]
    check_refused({"edges": EDGES, "x": values}, "graph 0, node 0.*'x' is not a number")
    check_refused({"edges": EDGES, "x": [values] * 3}, "node 0.*'x' is not a number")
    check_refused({"edges": EDGES, "edge_data": {"x": values[1:]}}, "edge.*not a number|missing")
    weights = {"edges": EDGES, "edge_data": {"weight": values[::2]}}
    check_refused(
        weights, r"edge \(0, 1\) has the .* as 'weight': give every edge a number", WEIGHTED
    )
    check_refused(path(values[0]), "node 0.*'x' is not a number")
    check_refused(path(values[:2]), "node 0.*'x' is not a number")
    check_refused(path(list(values[:2])), "node 0.*'x' is not a number")
    check_refused((PATH, values), "X: (dates or times|expected real numbers)")
    check_refused((PATH, values[:, None]), "X: (dates or times|expected real numbers)")
    objects = np.array([[value, 1] for value in values], dtype=object)
    check_refused((PATH, objects), "X: (dates or times|complex numbers)")
    check_refused((np.array([values] * 3), None), "A: (dates or times|expected real numbers)")


def test_complex_tensors_and_sparse_matrices_are_none():
    check_refused({"edges": EDGES, "x": torch.tensor(X * 1j)}, "node 0.*is not a number")
    check_refused({"edges": EDGES, "x": torch.tensor(X * 1j).conj()}, "node 0.*is not a number")
    check_refused({"edges": EDGES, "x": sp.csr_array(X * 1j)}, "node 0.*is not a number")
    check_refused((sp.csr_array(PATH * 1j), None), "expected real numbers")


@pytest.mark.parametrize("unit", ["D", "ns"])
@pytest.mark.parametrize("values", [dates, times])
def test_a_date_that_is_none_is_missing(values, unit):
    label = values(unit)
    for graph in ({"edges": EDGES, "label": label}, path(label[1], "label")):
        check_refused(graph, r"has the label .*NaT")
        assert None in read_graphs([graph], schema=WITH_MISSING).label_names
    same = path(label[0], "label")
    assert read_graphs([same, {"edges": EDGES, "label": label[[0, 2, 0]]}]).label_names == (
        label[0],
        label[2],
    )
    x = [np.datetime64("NaT"), 1.0, 2.0]
    batch = read_graphs([{"edges": EDGES, "x": x}], schema=WITH_MISSING)
    np.testing.assert_array_equal(batch.attributes, [[np.nan], [1], [2]])
    check_refused(path(datetime.timedelta(1)), "is not a number but the duration")


# -- masked arrays ---------------------------------------------------------------------------------


def test_what_is_masked_is_missing():
    numbers = masked(X, (0, 1))
    for graph in ({"edges": EDGES, "x": numbers}, (PATH, numbers)):
        check_refused(graph, "graph 0, node 0: number 1 of the node attribute 'x' is nan")
        batch = read_graphs([graph], schema=WITH_MISSING)
        np.testing.assert_array_equal(batch.attributes, [[0, np.nan], [2, 3], [4, 5]])
    for name, values in (("x", [1.0, 2, 3]), ("label", [1, 2, 3]), ("label", ["a", "b", "c"])):
        graph = {"edges": EDGES, name: masked(values, 1)}
        check_refused(graph, f"graph 0, node 1 has no '{name}'")
        batch = read_graphs([graph], schema=WITH_MISSING)
        if name == "label":
            assert batch.label_names[batch.labels[1]] is None
        else:
            assert np.isnan(batch.attributes[1, 0])
    check_refused(path(np.ma.masked), "node 0: the node attribute 'x' is --, a missing")
    check_refused(path(np.ma.masked, "label"), "node 0 has the label masked")
    check_refused(path(masked([1.0, 2.0], 1)), "number 1 of the node attribute 'x' is nan")


def test_what_is_masked_is_no_edge_and_no_weight():
    check_refused((masked(PATH, (0, 1), (1, 0)), None), r"edge \(0, 1\) has the weight nan")
    check_refused({"edges": masked(EDGES, (1, 1))}, r"\[1, None\] is not a pair")
    check_refused({"edges": EDGES, "nodes": masked([0, 1, 2], 2)}, "the node id None")
    weights = {"edges": EDGES, "edge_data": {"weight": masked([1.0, 2.0], 1)}}
    check_refused(weights, r"edge \(1, 2\) has no 'weight'", WEIGHTED)
    check_refused({"edges": EDGES, "edge_data": {"x": masked([1.0, 2.0], 1)}}, "has no 'x'")
    assert read_graphs([(np.ma.array(PATH), np.ma.array(X))]).attributes.tolist() == X.tolist()


# -- pandas ----------------------------------------------------------------------------------------


def test_rows_of_a_table_are_its_values():
    table = pd.DataFrame({7: [0.0, 2, 4], 8: [1.0, 3, 5], 9: [1.0, 1, 1]})
    batch = read_graphs([{"edges": EDGES, "x": table}])
    assert batch.attributes.tolist() == table.to_numpy().tolist()
    for edges in ({"ab": [0, 1], "cd": [1, 2]}, {0: [0, 1], 1: [1, 2]}):
        batch = read_graphs([{"edges": pd.DataFrame(edges, index=[5, 3])}])
        np.testing.assert_array_equal(batch.adjacency.toarray(), PATH)
    everything = read_graphs([{"edges": EDGES, "z": table}], schema="all")
    assert everything.attributes.tolist() == table.to_numpy().tolist()
    check_refused({"edges": EDGES, "nodes": table}, "a node id must be hashable")
    check_refused({"edges": table}, "is not a pair")


def test_an_index_says_which_node_or_leaves_no_doubt():
    column = pd.Series([1.0, 2.0, 3.0])
    by_letter = column.set_axis(["a", "b", "c"])
    for graph in (
        {"edges": EDGES, "x": column},
        {"edges": LETTERS, "nodes": ["a", "b", "c"], "x": column},
        {"edges": LETTERS, "nodes": ["a", "b", "c"], "x": by_letter},
        {"edges": LETTERS, "nodes": ["a", "b", "c"], "x": by_letter[::-1].to_dict()},
        {"edges": EDGES, "x": column.set_axis([4, 9, 2])},
        (PATH, column),
        (PATH, by_letter),
    ):
        assert read_graphs([graph]).attributes.tolist() == [[1], [2], [3]]
    letters = {"edges": LETTERS, "nodes": ["a", "b", "c"], "x": by_letter[::-1]}
    check_refused(letters, r"graph 0: the index of 'x' \('c', 'b', 'a'\) is not that of the nodes")
    check_refused({"edges": EDGES, "x": column[::-1]}, r"the index of 'x' \(2, 1, 0\) is not")
    labels = {"edges": EDGES, "label": pd.Series(["a", "b", "c"])[::-1]}
    check_refused(labels, r"the index of 'label' \(2, 1, 0\) is not")
    weights = {"edges": EDGES, "edge_data": {"weight": column[:2].set_axis([1, 0])}}
    check_refused(weights, "the index of 'weight' .* is not that of the edges", WEIGHTED)
    check_refused((PATH, column[::-1]), "rows of X are the nodes 2, 1, 0, and those of A are 0, 1")


def test_rows_and_columns_of_a_table_are_the_same_nodes():
    names = list("abc")
    table = pd.DataFrame(PATH, index=names, columns=names)
    features = pd.DataFrame(X, index=names)
    assert read_graphs([(table, features)]).attributes.tolist() == X.tolist()
    check_refused((table[["c", "a", "b"]], None), "rows of A are .*'a', 'b', 'c'.*'c', 'a', 'b'")
    check_refused((table, features[::-1]), "rows of X are the nodes 'c', 'b', 'a'")


# -- text, sets and dicts --------------------------------------------------------------------------


def test_letters_and_keys_are_no_edges_and_no_values():
    for edges in (["ab", "bc"], [b"ab"], [{0: 1, 1: 2}], [{0, 1}], [(0, None)]):
        check_refused({"edges": edges}, "is not a pair .u, v. of node ids")
        check_refused((edges, {"a": 1}), "is not a pair .u, v. of node ids")
    check_refused(({"ab": 1.0}, None), "the edge 'ab' is not a pair")
    for values in (b"abc", bytearray(b"abc"), memoryview(b"abc")):
        check_refused({"edges": EDGES, "label": values}, "graph 0 has 3 nodes and the")
        check_refused({"edges": EDGES, "x": values}, "graph 0 has 3 nodes and the")
    check_refused({"edges": {(0, 1): 5.0, (1, 2): 7.0}}, "'edges' is a dict, give a list")
    check_refused({"edges": EDGES, "nodes": {0: {"x": 1}, 1: {}, 2: {}}}, "'nodes' is a dict, give")
    check_refused({"edges": [], "num_nodes": True}, "'num_nodes' is True, give an integer")


def test_sets_have_no_order_that_data_could_follow():
    check_refused({"edges": LETTERS, "nodes": {"a", "b", "c"}}, "'nodes' is a set, give a list")
    edges = {"edges": set(EDGES), "edge_data": {"weight": [1.0, 2.0], "x": [1.0, 2.0]}}
    check_refused(edges, "'edges' is a set, which has no order for 'x' to follow: give a list")
    check_refused(edges, "no order for 'weight' to follow", WEIGHTED)
    by_edge = {"edges": set(EDGES), "edge_data": {"x": {(1, 2): 2.0, (0, 1): 1.0}}}
    assert read_graphs([by_edge]).edge_attributes.ravel().tolist() == [1, 1, 2, 2]


def test_a_tuple_with_nan_is_no_label():
    """A tuple is equal to itself, and in another process it is another tuple."""
    check_refused(
        {"edges": EDGES, "label": [(1, float("nan"))] * 3}, "graph 0, node 0 has the label"
    )
    read_graphs([{"edges": EDGES, "label": [(1, None)] * 3}])


# -- data of single nodes and edges ----------------------------------------------------------------


def test_a_vector_with_labels_has_the_same_ones_at_every_node():
    graph = path(pd.Series({"a": 1.0, "b": 2.0}))
    assert read_graphs([graph]).attributes.tolist() == [[1, 2]] * 3
    graph.nodes[1]["x"] = pd.Series({"b": 2.0, "a": 1.0})
    check_refused(graph, r"graph 0, node 1: .* 'x' is a Series with the labels \['b', 'a'\]")


@pytest.mark.parametrize("values", [{"bond": "single"}, {"bond": 2.5}])
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_a_self_loop_which_is_left_out_needs_no_data(values, kind):
    graph = nx.path_graph(3, create_using=kind)
    nx.set_edge_attributes(graph, values["bond"], "bond")
    part = "edge_categories" if isinstance(values["bond"], str) else "edge_numbers"
    schema = GraphSchema(**{part: "bond"})
    expected = read_graphs([graph], schema=schema)
    graph.add_edge(0, 0)
    batch = read_graphs([graph], schema=schema)
    assert [str(x) for x in batch.schema.ignored] == ["1 self-loop"]
    assert (batch.adjacency != expected.adjacency).nnz == 0
    graph.add_edge(0, 2)
    check_refused(graph, "has no 'bond'", schema)
