"""What is read of graphs, above all of what could be read as something else."""

import re
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from skgraphkde import GraphKDEDetector, GraphSchema, read_graphs
from skgraphkde.reading.files import read_batch
from tests.conftest import refused, warned, with_data
from tests.core.graphs.common import (
    EDGES,
    LETTERS,
    PATH,
    X,
    assert_same,
    check_refused,
    masked,
    with_nodes,
)

WITH_MISSING = GraphSchema(missing="indicate")
NAN = float("nan")


# -- edges -----------------------------------------------------------------------------------------


def weighted_path(first, second, back, kind=np.array):
    return kind(np.array([[0, first, 0], [first, 0, second], [0, back, 0]])), None


LOOPS = nx.Graph([(0, 0), (0, 1)])
LOOPS.add_node(7)
COO = sp.coo_array((np.full(4, 200, np.uint8), ([0, 1, 0, 1], [1, 0, 1, 0])), shape=(2, 2))
STORED = sp.csr_array(PATH)
STORED.data[:2] = 0


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (nx.Graph([("a", (1, 2)), ((1, 2), frozenset({3}))]), PATH),
        (LOOPS, [[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
        ((np.array([[5.0, 1.0], [1.0, 0.0]]), None), [[0, 1], [1, 0]]),
        ((COO, None), [[0, 400], [400, 0]]),
        ((STORED, None), [[0, 0, 0], [0, 0, 1], [0, 1, 0]]),
        *[
            (weighted_path(1e9, 1, back, kind), [[0, 1e9, 0], [1e9, 0, 1], [0, back, 0]])
            for kind in (np.array, sp.csr_array, sp.coo_array)
            for back in (0, 1, 2)  # the graph is undirected for 1 only
        ],
        (({(0, 1): 2.5, (1, 0): 2.5, (1, 2): 3.0}, None), [[0, 2.5, 0], [2.5, 0, 3], [0, 3, 0]]),
        ({"edges": pd.DataFrame({"ab": [0, 1], "cd": [1, 2]}, index=[5, 3])}, PATH),
        ({"edges": pd.DataFrame({0: [0, 1], 1: [1, 2]})}, PATH),
    ],
)
def test_edges(graph, expected):
    batch = read_graphs([graph])
    expected = np.array(expected)
    np.testing.assert_array_equal(batch.adjacency.toarray(), expected)
    assert batch.directed == (expected != expected.T).any()


@pytest.mark.parametrize("bond", ["single", 2.5])
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_a_self_loop_which_is_left_out_needs_no_data(bond, kind):
    graph = with_data(nx.path_graph(3, create_using=kind), None, {"bond": bond})
    part = "edge_categories" if isinstance(bond, str) else "edge_numbers"
    schema = GraphSchema(**{part: "bond"})
    expected = read_graphs([graph], schema=schema)
    graph.add_edge(0, 0)
    assert_same(read_graphs([graph], schema=schema), expected)
    graph.add_edge(0, 2)
    check_refused(graph, "has no 'bond'", schema)


# -- numbers and categories ------------------------------------------------------------------------

COLUMN = pd.Series([1.0, 2.0, 3.0])
BY_LETTER = COLUMN.set_axis(["a", "b", "c"])
TABLE = pd.DataFrame({7: [0.0, 2, 4], 8: [1.0, 3, 5]})
NODES = {"edges": LETTERS, "nodes": ["a", "b", "c"]}
ONE_TO_THREE = [[1], [2], [3]]


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"edges": EDGES, "x": TABLE}, X),
        ((np.ma.array(PATH), np.ma.array(X)), X),
        ((pd.DataFrame(PATH, list("abc"), list("abc")), pd.DataFrame(X, list("abc"))), X),
        ({"edges": EDGES, "x": COLUMN}, ONE_TO_THREE),
        (NODES | {"x": COLUMN}, ONE_TO_THREE),
        (NODES | {"x": BY_LETTER}, ONE_TO_THREE),
        (NODES | {"x": BY_LETTER[::-1]}, ONE_TO_THREE),
        (NODES | {"x": BY_LETTER[::-1].to_dict()}, ONE_TO_THREE),
        ({"edges": EDGES, "x": COLUMN.set_axis([4, 9, 2])}, ONE_TO_THREE),
        ((PATH, COLUMN), ONE_TO_THREE),
        ((PATH, BY_LETTER), ONE_TO_THREE),
        ((PATH, COLUMN[::-1]), ONE_TO_THREE),
        ((pd.DataFrame(PATH, list("abc"), list("abc")), BY_LETTER[::-1]), ONE_TO_THREE),
        ({"edges": EDGES, "x": masked(X, (0, 1))}, [[0, NAN], [2, 3], [4, 5]]),
        ((PATH, masked(X, (0, 1))), [[0, NAN], [2, 3], [4, 5]]),
        ({"edges": EDGES, "x": masked([1.0, 2, 3], 1)}, [[1], [NAN], [3]]),
        ({"edges": EDGES, "x": [np.datetime64("NaT"), 1.0, pd.NA]}, [[NAN], [1], [NAN]]),
        ({"edges": EDGES, "x": [None, [1.0, 2.0], [3.0, 4.0]]}, [[NAN, NAN], [1, 2], [3, 4]]),
    ],
)
def test_numbers(graph, expected):
    batch = read_graphs([graph], schema=WITH_MISSING)
    np.testing.assert_array_equal(batch.attributes, expected)


DATES = np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="M8[ns]")


@pytest.mark.parametrize(
    "labels", [DATES, DATES - DATES[0], masked([1, 2, 3], 1), masked(["a", "b", "c"], 1)]
)
def test_a_label_that_is_none_is_missing(labels):
    graph = {"edges": EDGES, "label": labels}
    check_refused(graph, r"has the label .*NaT|node 1 has no 'label'")
    batch = read_graphs([graph], schema=WITH_MISSING)
    assert [batch.label_names[code] for code in batch.labels] == [labels[0], None, labels[2]]


def test_labels_are_any_hashable_and_sorted_whatever_their_order():
    values = ["b", 2, "a", (1, None)]
    batches = [read_graphs([with_nodes(x, "label")]) for x in (values, values[::-1])]
    assert [x.label_names for x in batches] == [(2, "a", "b", (1, None))] * 2


ARCS = [(0, 1), (1, 0), (1, 2)]


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"edges": EDGES, "edge_data": {"x": {(2, 1): 2.0, (0, 1): 1.0}}}, [1, 1, 2, 2]),
        (
            {"edges": ARCS, "directed": True, "edge_data": {"x": {(0, 1): 1.0, (1, 2): 5.0}}},
            [1, NAN, 5],
        ),
        (
            {"edges": EDGES, "edge_data": {"x": {(0, 1): NAN, (1, 0): NAN, (2, 1): 3.0}}},
            [NAN, NAN, 3, 3],
        ),
        ({"edges": EDGES[:1], "edge_data": {"x": {(0, 1): 4, (1, 0): 4.0}}}, [4, 4]),
    ],
)
def test_edge_data_by_pairs(graph, expected):
    batch = read_graphs([graph], schema=WITH_MISSING)
    np.testing.assert_array_equal(batch.edge_attributes[:, 0], expected)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("values", [(True, 0.5, 2.0), (pd.NA, 1.0, 2.0), (2, "a", 3), (None, 1, 2)])
def test_all_does_not_depend_on_the_order_of_the_nodes(values, order):
    schema = GraphSchema(node_categories="all", node_numbers="all", missing="indicate")
    lists = [list(values), [values[i] for i in order]]
    a, b = (read_graphs([{"edges": EDGES, "q": x}], schema=schema).schema for x in lists)
    assert (a.node_categories, a.node_numbers) == (b.node_categories, b.node_numbers)


def test_labels_of_pandas_have_one_order_in_all_graphs():
    first, second = (
        with_nodes([pd.Series({"a": 1.0, "b": 50.0})[list(x)]] * 2, "z") for x in ("ab", "ba")
    )
    schema = GraphSchema(node_numbers="z")
    assert read_graphs([first], schema=schema).attributes.tolist() == [[1, 50]] * 2
    check_refused(
        [first, second], "graph 1: .* 'z' has the columns b, a, and others have a, b", schema
    )


def test_columns_of_a_table_are_those_of_fit():
    table, A = pd.DataFrame({"b": [1.0, 2.0], "a": [3.0, 4.0]}), np.array([[0, 1], [1, 0]])
    batch = read_graphs([(A, table), (A, table.to_numpy())])
    assert batch.attributes.tolist() == [[1, 3], [2, 4]] * 2
    other = table.rename(columns={"a": "c", "b": "a"})
    check_refused((A, other), "graph 0: .*'x' has the columns a, c, and .* have b, a", batch.schema)
    odd = table.set_axis(pd.MultiIndex.from_tuples([(0, "a"), ("b", "b")]), axis=1)
    assert read_graphs([(A, odd)]).attributes.tolist() == [[1, 3], [2, 4]]


# -- directions ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:graph 0 is undirected")
@pytest.mark.parametrize(
    ("graph", "n_arcs", "directed"),
    [
        (nx.DiGraph([(0, 1), (1, 0), (1, 2)]), 3, True),
        (nx.Graph([(0, 1), (1, 2)]), 4, False),
        (nx.MultiGraph([(0, 1), (1, 0)]), 2, False),
        (nx.MultiDiGraph([(0, 1), (0, 1), (1, 0)]), 2, True),
        ({"edges": [(0, 1), (1, 0), (1, 2)]}, 4, False),
        ({"edges": [(0, 1), (1, 0), (1, 2)], "directed": True}, 3, True),
        (({(0, 1), (1, 2)}, None), 4, False),
        ((np.array([[0, 1], [0, 0]]), None), 1, True),
        ((np.array([[0, 1], [1, 0]]), None), 2, False),
    ],
)
def test_direction(graph, n_arcs, directed):
    batch = read_graphs([graph])
    assert (batch.adjacency.nnz, batch.directed) == (n_arcs, directed)
    ignoring = read_graphs([graph], schema=GraphSchema(directed=False))
    assert not ignoring.directed
    assert not (ignoring.adjacency != ignoring.adjacency.T).nnz
    arrows = read_graphs([graph], schema=GraphSchema(directed=True))
    assert arrows.directed
    assert read_graphs([graph], schema=arrows.schema).adjacency.nnz == arrows.adjacency.nnz


# -- read in one way in fit, and in another later --------------------------------------------------


def numbered(seed, n=12, **numbers):
    """A random graph whose nodes have numbers, each with a mean."""
    rng = np.random.default_rng(seed)
    drawn = {name: rng.normal(mean, 2, n).tolist() for name, mean in numbers.items()}
    return with_data(nx.gnp_random_graph(n, 0.3, seed=seed), drawn)


# -- directions ------------------------------------------------------------------------------------


def test_undirected_graphs_are_the_same_to_a_directed_model_in_all_formats(tmp_path):
    graph = nx.gnp_random_graph(12, 0.3, seed=99)
    edges = list(graph.edges)
    nx.to_pandas_edgelist(graph).to_csv(tmp_path / "g.csv", index=False)
    (tmp_path / "g.nodes.csv").write_text("\n".join(["id", *map(str, graph)]))
    edge_list = {"num_nodes": 12, "edges": edges}
    directed = [nx.gnp_random_graph(12, 0.3, seed=i, directed=True) for i in range(20)]
    detector = warned(
        "graph 20 is undirected among directed ones",
        GraphKDEDetector(views="density").fit,
        [*directed, edge_list],
    )
    assert detector.training_graphs_[20:].adjacency.nnz == 2 * len(edges)
    schema = detector.schema_
    for form in (graph, edge_list, (set(edges), None)):
        batch = warned("undirected", read_graphs, [form], schema=schema)
        assert batch.adjacency.nnz == 2 * len(edges)
    from_file = read_batch([tmp_path / "g.csv"], schema.to_schema())
    assert len(from_file.adjacency.data) == 2 * len(edges)
    of_file = warned(
        "these graphs are undirected, and fit saw directed ones", detector.score_samples, from_file
    )
    of_graph = warned("undirected", detector.score_samples, [graph])
    np.testing.assert_allclose(of_graph, of_file, atol=1e-9)


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["node", "edge"])
def test_a_named_number_without_a_value_is_refused(part):
    graphs = [numbered(i, q=0) for i in range(12)]
    for graph in graphs:
        getattr(nx, f"set_{part}_attributes")(graph, None, "z")
    schema = GraphSchema(node_numbers="q", missing="indicate").set_params(
        **{f"{part}_numbers": "z"}
    )
    refused(
        f"no graph has a value of the {part} attribute 'z'",
        GraphKDEDetector(schema=schema).fit,
        graphs,
    )


def test_a_gap_in_a_batch_that_was_read_otherwise():
    detector = GraphKDEDetector(schema=GraphSchema(node_numbers="q"))
    detector.fit([numbered(i, q=0) for i in range(12)])
    graph = numbered(99, q=0)
    graph.nodes[3]["q"] = None
    batch = read_graphs([graph], schema=GraphSchema(node_numbers="q", missing="indicate"))
    refused("graph 0, node 3: the node attribute 'q' is missing", detector.score_samples, batch)


# -- weights of matrices ---------------------------------------------------------------------------


def weighted(seed):
    graph = nx.gnp_random_graph(12, 0.3, seed=seed)
    return with_data(graph, None, {"weight": lambda edge: 1.0 + edge[0] * edge[1] % 5})


def test_weights_of_matrices_are_the_weights_of_other_graphs():
    matrices = [(nx.to_scipy_sparse_array(weighted(i)), None) for i in range(20)]
    detector = GraphKDEDetector().fit(matrices)
    assert detector.schema_.edge_weight == "weight"
    graph = weighted(99)
    of_matrix = detector.score_samples([(nx.to_scipy_sparse_array(graph), None)])
    np.testing.assert_allclose(detector.score_samples([graph]), of_matrix, atol=1e-9)
    refused(
        "graph 20 has no weights, and others have, in their matrices",
        GraphKDEDetector().fit,
        [*matrices, graph],
    )
    both = read_graphs(matrices, schema=GraphSchema(edge_numbers="weight", edge_weight="weight"))
    np.testing.assert_array_equal(both.edge_attributes[:, 0], both.adjacency.data)
    unweighted = GraphKDEDetector().fit([(A != 0, None) for A, _ in matrices])
    refused(r"edge weight None and .*unless they are 0 and 1", unweighted.score_samples, matrices)


# -- what is left out ------------------------------------------------------------------------------


EDGELESS = GraphSchema(edge_categories=None, edge_numbers=None)


@pytest.mark.parametrize(
    ("schema", "left_out"),
    [
        (None, "node attribute 'host', edge attribute 'cost'; name"),
        (EDGELESS, "node attribute 'host'; name"),
        ("all", r"node attribute 'host' \(an identifier\)"),
    ],
)
def test_what_is_not_read_is_said_once_and_loops_apart_from_it(schema, left_out):
    graphs = [nx.gnp_random_graph(10, 0.3, seed=i) for i in range(12)]
    for i, graph in enumerate(graphs):
        with_data(graph, {"host": [f"{i}-{v}" for v in range(10)]}, {"cost": 1.0})
        graph.add_edge(0, 0)
    detector = GraphKDEDetector(schema=schema)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        detector.fit(graphs)
    loops, others = (str(warning.message) for warning in caught)
    assert loops == "left out: self-loops (12), as no node is its own neighbor"
    assert re.match(f"not read: {left_out}", others)
    assert "ignored=(" in repr(detector.schema_)
    detector.score_samples(graphs[:1])  # who was told once knows: warnings are errors


def test_what_only_later_graphs_have_is_said():
    detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(10, 30)])
    graph = with_data(nx.cycle_graph(12), {"label": "C"})
    graph.add_edge(0, 0)
    with (
        pytest.warns(UserWarning, match=r"left out: self-loops \(1\)"),
        pytest.warns(UserWarning, match=r"not read: node attribute 'l"),
    ):
        detector.score_samples([graph])


def ring(n, bond):
    return with_data(nx.cycle_graph(n), None, {"bond": bond})


def test_categories_of_edges_that_look_alike():
    schema = GraphSchema(edge_categories="bond")
    known = [ring(n, "1" if n % 2 else "single") for n in range(10, 30)]
    detector = GraphKDEDetector(schema=schema).fit(known)
    warned(
        "edge categories that fit did not see: triple of 'bond', first in graph 1$",
        detector.score_samples,
        [ring(20, "1"), ring(20, "triple")],
    )
    warned("'Single' and 'single' look alike", detector.score_samples, [ring(20, "Single")])
    message = r"did not see: 1 of 'bond' \(1 is a int and '1' a str\)"
    warned(message, detector.score_samples, [ring(20, 1)])
    mixed = [ring(n, "1" if n % 2 else 1) for n in range(10, 30)]
    warned(
        "edge category 'bond': .* count as different values",
        GraphKDEDetector(schema=schema).fit,
        mixed,
    )


@pytest.mark.parametrize(
    "spelled", ["cafe\u0301", "caf\u00e9 ", "\ufb01ne caf\u00e9", "fine\u00a0caf\u00e9"], ids=ascii
)
def test_categories_that_differ_in_characters_that_nobody_sees(spelled):
    known = "fine caf\u00e9" if "ne" in spelled else "caf\u00e9"
    schema = GraphSchema(edge_categories="bond")
    detector = GraphKDEDetector(schema=schema).fit([ring(n, known) for n in range(10, 30)])
    warned(
        f"{re.escape(ascii(spelled))} and .* look alike",
        detector.score_samples,
        [ring(20, spelled)],
    )
    mixed = [ring(n, known if n % 2 else spelled) for n in range(10, 30)]
    warned(
        "look alike, so they count as different values", GraphKDEDetector(schema=schema).fit, mixed
    )
