"""Graphs that were read in one way in fit and in another later, or in part, without a word."""

import re
import warnings

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphKDEDetector, GraphSchema, read_graphs
from skgraphkde.graphs.files import read_batch
from tests.conftest import refused, warned, with_data


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


def test_who_ignores_directions_of_a_batch_ignores_them_later():
    batch = read_graphs([nx.gnp_random_graph(9, 0.4, seed=i) for i in range(12)])
    detector = GraphKDEDetector(schema=GraphSchema(directed=False)).fit(batch)
    assert np.isfinite(detector.score_samples([nx.DiGraph([(0, 1), (1, 2)])])).all()


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
    detector = GraphKDEDetector(schema=schema).fit([ring(n, "1") for n in range(10, 30)])
    warned(
        "edge categories that fit did not see: triple of 'bond'$",
        detector.score_samples,
        [ring(20, "triple")],
    )
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
