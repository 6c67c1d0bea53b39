"""Vectors with one 1 say a category; against the same graphs with the categories themselves."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from skgraphkde import GraphKDEDetector, GraphSchema, read_graphs
from tests.conftest import random_graphs, refused, with_data

X = GraphSchema(node_categories="x")


def labeled(n_graphs, seed, labels=(0, 1, 2)):
    return random_graphs(n_graphs, seed=seed, labels=labels)


def one_hot(graph, width=3, convert=list):
    """The same graph with a vector in place of each label."""
    label = dict(graph.nodes(data="label"))
    rows = {"x": lambda node: convert([float(i == label[node]) for i in range(width)])}
    return with_data(nx.from_dict_of_lists(nx.to_dict_of_lists(graph)), rows)


def as_arrays(graph, width=3):
    """The pair of an adjacency matrix and a block of the features."""
    labels = [label for _, label in graph.nodes(data="label")]
    return nx.to_numpy_array(graph), np.eye(width)[labels]


def as_table(graph, width=3):
    """Features in a table of pandas, of which get_dummies makes Booleans."""
    block = pd.DataFrame(as_arrays(graph, width)[1].astype(bool))
    return {"num_nodes": len(graph), "edges": list(graph.edges), "x": block}


LAYOUTS = {
    "lists": one_hot,
    "tuples": lambda graph, width=3: one_hot(graph, width, tuple),
    "arrays": lambda graph, width=3: one_hot(graph, width, np.array),
    "matrices": as_arrays,
    "table": as_table,
}


@pytest.mark.parametrize("schema", [None, "all", X])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_hot_blocks_are_categories_in_each_format(layout, schema):
    """Also of later graphs, in which a category and a column are new."""
    graphs, later = labeled(30, 0), labeled(12, 1, labels=(0, 1, 2, 3))
    batch = read_graphs([LAYOUTS[layout](x) for x in graphs], schema=schema)
    expected = read_graphs(graphs)
    assert batch.schema.node_categories == ("x",)
    assert batch.attributes is None
    np.testing.assert_array_equal(batch.labels, expected.labels)
    assert batch.label_names == expected.label_names == (0, 1, 2)
    new = read_graphs([LAYOUTS[layout](x, 4) for x in later], schema=batch.schema)
    np.testing.assert_array_equal(new.labels, read_graphs(later).labels)
    assert new.label_names == (0, 1, 2, 3)


def test_bonds_and_graphs_have_one_hot_vectors_too():
    graphs = labeled(20, 0)
    for i, graph in enumerate(graphs):
        graph.graph["site"] = [i % 3 == k for k in range(3)]
        for k, edge in enumerate(graph.edges):
            graph.edges[edge]["edge_attr"] = [1, 0] if k % 2 else [0, 1]
    batch = read_graphs(graphs, schema="all")
    assert batch.schema.edge_categories == ("edge_attr",)
    assert batch.edge_label_names == (0, 1)
    assert batch.schema.graph_categories == ("site",)
    assert batch.graph_labels.tolist() == [i % 3 for i in range(20)]
    assert batch.schema.edge_numbers == batch.schema.graph_numbers == ()


@pytest.mark.parametrize(
    ("row", "schema"),
    [
        ([1, 0, 0], GraphSchema(node_numbers="x")),
        *[(row, None) for row in ([0, 0, 0], [1, 1, 0], [0, 0.5, 0.5], [2, 0, 0])],
    ],
)
def test_what_is_named_as_numbers_and_a_block_with_one_other_row_stay_numbers(row, schema):
    graphs = [one_hot(x) for x in labeled(20, 0)]
    graphs[7].nodes[0]["x"] = row
    batch = read_graphs(graphs, schema=schema)
    assert (batch.labels, batch.schema.node_numbers) == (None, (("x", 3),))


def test_a_column_is_no_category():
    graphs = [with_data(graph, {"x": (1.0,)}) for graph in labeled(20, 0, labels="")]
    assert read_graphs(graphs).schema.node_numbers == (("x", 1),)


def test_rows_with_no_1_or_several_are_categories_that_nobody_has():
    detector = GraphKDEDetector(random_state=0).fit([one_hot(x) for x in labeled(60, 0)])
    graphs = [one_hot(x) for x in labeled(2, 1)]
    graphs[0].nodes[0]["x"], graphs[1].nodes[0]["x"] = [0, 0, 0], [1, 0, 1]
    batch = read_graphs(graphs, schema=detector.schema_)
    assert {(), (0, 2)} <= set(batch.label_names)
    with pytest.warns(UserWarning, match="labels that fit did not see"):
        assert detector.predict(graphs).tolist() == [-1, -1]
    graphs[1].nodes[0]["x"] = [0.5, 0.5, 0]
    refused(r"graph 1, node 0 has the label \[0.5, 0.5, 0\] as 'x'", detector.read, graphs)


def test_missing_vectors_are_a_category_of_their_own():
    graphs = [one_hot(x) for x in labeled(20, 0)]
    del graphs[3].nodes[0]["x"]
    refused("graph 3, node 0 has no 'x'", read_graphs, graphs)
    batch = read_graphs(graphs, schema=GraphSchema(missing="indicate"))
    assert set(batch.label_names) == {None, 0, 1, 2}
    again = read_graphs(graphs[3:4], schema=batch.schema)
    assert again.label_names[again.labels[0]] is None
