"""Graphs that were read in one way in fit and in another later, or in part, without a word."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch

from skgraphkde import GraphKDEDetector, GraphSchema, read_graphs
from skgraphkde.graphs.files import read_batch

UNDIRECTED = "undirected"


def numbered(seed, n=12, **numbers):
    """A random graph whose nodes have numbers, each with a mean."""
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(n, 0.3, seed=seed)
    for name, mean in numbers.items():
        nx.set_node_attributes(graph, {v: rng.normal(mean, 2) for v in graph}, name)
    return graph


def files(tmp_path, **contents):
    paths = []
    for name, content in contents.items():
        stem, _, suffix = name.rpartition("_")
        paths.append(tmp_path / f"{stem}.{suffix}")
        paths[-1].write_text(content)
    return paths


# -- directions ------------------------------------------------------------------------------------


def test_undirected_graphs_are_the_same_to_a_directed_model_in_all_formats(tmp_path):
    graph = nx.gnp_random_graph(12, 0.3, seed=99)
    edges = list(graph.edges)
    rows = "\n".join(f"{u},{v}" for u, v in edges)
    nodes = "id\n" + "\n".join(map(str, graph))
    path, _ = files(tmp_path, g_csv=f"source,target\n{rows}\n", **{"g.nodes_csv": nodes})
    directed = [nx.gnp_random_graph(12, 0.3, seed=i, directed=True) for i in range(20)]
    with pytest.warns(UserWarning, match="graph 20 is undirected among directed ones"):
        detector = GraphKDEDetector().fit([*directed, {"num_nodes": 12, "edges": edges}])
    schema = detector.schema_
    forms = [graph, {"num_nodes": 12, "edges": edges}, (set(edges), None)]
    for form in forms:
        with pytest.warns(UserWarning, match=UNDIRECTED):
            assert len(read_graphs([form], schema=schema).adjacency.data) == 2 * len(edges)
    from_file = read_batch([path], schema.to_schema())
    assert len(from_file.adjacency.data) == 2 * len(edges)
    with pytest.warns(UserWarning, match="these graphs are undirected, and fit saw directed ones"):
        of_file = detector.score_samples(from_file)
    with pytest.warns(UserWarning, match=UNDIRECTED):
        np.testing.assert_allclose(detector.score_samples(forms[:1]), of_file, atol=1e-9)


def test_who_asks_for_directions_gets_them():
    path = {"num_nodes": 3, "edges": [(0, 1), (1, 2)]}
    batch = read_graphs([path], schema=GraphSchema(directed=True))
    assert len(batch.adjacency.data) == 2
    assert len(read_graphs([path], schema=batch.schema).adjacency.data) == 2


def test_who_ignores_directions_of_a_batch_ignores_them_later():
    batch = read_graphs([nx.gnp_random_graph(9, 0.4, seed=i) for i in range(12)])
    detector = GraphKDEDetector(schema=GraphSchema(directed=False)).fit(batch)
    assert np.isfinite(detector.score_samples([nx.DiGraph([(0, 1), (1, 2)])])).all()


# -- values ----------------------------------------------------------------------------------------


def test_a_named_number_without_a_value_is_refused():
    schema = GraphSchema(node_numbers=("q", "z"), missing="indicate")
    graphs = [numbered(i, q=0) for i in range(12)]
    for graph in graphs:
        nx.set_node_attributes(graph, None, "z")
    with pytest.raises(ValueError, match="no training graph has a value of the node attribute 'z'"):
        GraphKDEDetector(schema=schema).fit(graphs)
    schema = GraphSchema(node_numbers="q", edge_numbers="t", missing="indicate")
    for graph in graphs:
        nx.set_edge_attributes(graph, None, "t")
    with pytest.raises(ValueError, match="no training graph has a value of the edge attribute 't'"):
        GraphKDEDetector(schema=schema).fit(graphs)


def test_too_few_values_are_not_missing_ones():
    schema = GraphSchema(node_numbers="temp", missing="indicate")
    with pytest.raises(ValueError, match="graph 0 has 4 nodes and 2 values as 'temp'"):
        read_graphs([{"num_nodes": 4, "edges": [(0, 1)], "temp": [1, 2]}], schema=schema)


class SeriesOfItsOwn(pd.Series):
    """As other packages have them."""


@pytest.mark.parametrize("series", [pd.Series, SeriesOfItsOwn])
def test_labels_of_pandas_have_one_order(series):
    def graph(labels):
        graph = nx.path_graph(2)
        values = series(pd.Series({"a": 1.0, "b": 50.0})[labels])
        nx.set_node_attributes(graph, dict.fromkeys(graph, values), "z")
        return graph

    schema = GraphSchema(node_numbers="z")
    assert read_graphs([graph(["a", "b"])], schema=schema).attributes.tolist() == [[1, 50]] * 2
    message = "the node attribute 'z' has the columns b, a, and other graphs have a, b"
    with pytest.raises(ValueError, match=f"graph 1: {message}"):
        read_graphs([graph(["a", "b"]), graph(["b", "a"])], schema=schema)
    table = pd.DataFrame({"b": [1.0, 2.0], "a": [3.0, 4.0]})
    A = np.array([[0, 1], [1, 0]])
    batch = read_graphs([(A, table), (A, table.to_numpy())])
    assert batch.attributes.tolist() == [[1, 3], [2, 4]] * 2
    with pytest.raises(ValueError, match=r"graph 0: .*'x' has the columns a, c, and .* have b, a"):
        read_graphs([(A, table.rename(columns={"a": "c", "b": "a"}))], schema=batch.schema)
    odd = table.set_axis(pd.MultiIndex.from_tuples([(0, "a"), ("b", "b")]), axis=1)
    assert read_graphs([(A, odd)]).attributes.tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("values", [(True, 0.5, 2.0), (pd.NA, 1.0, 2.0), (2, "a", 3), (None, 1, 2)])
def test_all_does_not_depend_on_the_order_of_the_nodes(values, order):
    kinds = set()
    for some in (values, [values[i] for i in order]):
        schema = GraphSchema(node_categories="all", node_numbers="all", missing="indicate")
        what = read_graphs([{"num_nodes": 3, "edges": [(0, 1)], "q": list(some)}], schema=schema)
        kinds.add((what.schema.node_categories, what.schema.node_numbers))
    assert len(kinds) == 1


def test_an_undirected_edge_has_one_value():
    both = {"num_nodes": 2, "edges": [(0, 1)], "edge_data": {"k": {(0, 1): "a", (1, 0): "b"}}}
    schema = GraphSchema(edge_categories="k")
    with pytest.raises(ValueError, match=r"two values of 'k' for the edge \(0, 1\)"):
        read_graphs([both], schema=schema)
    nothing = float("nan")
    gaps = {"x": {(0, 1): nothing, (1, 0): nothing, (1, 2): pd.NA, (2, 1): 3.0}}
    graph = {"num_nodes": 3, "edges": [(0, 1), (1, 2)], "edge_data": gaps}
    found = read_graphs([graph], schema=GraphSchema(edge_numbers="x", missing="indicate"))
    values = found.edge_attributes.ravel()
    assert np.isnan(values).sum() == 2 == (values == 3).sum()
    both["edge_data"]["k"][1, 0] = "a"
    assert read_graphs([both], schema=schema).edge_label_names == ("a",)
    nodes = {1: "a", 2: "b", 3: "c"}
    with pytest.raises(ValueError, match=r"two values of 'label' for the edge \(1, 2\)"):
        read_graphs([({(1, 2)}, nodes, {(1, 2): "s", (2, 1): "t"})])
    with pytest.raises(ValueError, match=r"a label for the edge \(2, 3\), which it does not have"):
        read_graphs([({(1, 2)}, nodes, {(1, 2): "s", (2, 3): "t"})])


def test_vectors_without_numbers_are_as_wide_as_others():
    empty, full = nx.path_graph(4), nx.path_graph(4)
    nx.set_node_attributes(empty, [], "v")
    nx.set_node_attributes(full, [1.0, 2.0], "v")
    with pytest.raises(ValueError, match=r"graph 1 has 2 numbers in .*'v', and graph 0 has none"):
        read_graphs([empty, full], schema=GraphSchema(node_numbers="v"))


@pytest.mark.parametrize("text", ["1_000", "\uff11\uff12", b"7"])
def test_text_that_only_python_takes_for_a_number(text):
    with pytest.raises(ValueError, match="'x' is not a number or a vector of numbers"):
        read_graphs([{"num_nodes": 1, "edges": [], "x": [text]}])
    with pytest.raises(ValueError, match="'x' is not a number or a vector of numbers"):
        read_graphs([{"num_nodes": 1, "edges": [], "x": [[1.0, text]]}])
    with pytest.raises(ValueError, match=r"graph 0 is not an .* text that is no number"):
        read_graphs([(np.zeros((1, 1)), np.array([[text]]))])


def test_a_gap_in_a_batch_that_was_read_otherwise():
    detector = GraphKDEDetector(schema=GraphSchema(node_numbers="q"))
    detector.fit([numbered(i, q=0) for i in range(12)])
    graph = numbered(99, q=0)
    graph.nodes[3]["q"] = None
    batch = read_graphs([graph], schema=GraphSchema(node_numbers="q", missing="indicate"))
    with pytest.raises(ValueError, match="graph 0, node 3: the node attribute 'q' is missing"):
        detector.score_samples(batch)


# -- weights of matrices ---------------------------------------------------------------------------


def weighted(seed):
    graph = nx.gnp_random_graph(12, 0.3, seed=seed)
    nx.set_edge_attributes(graph, {(u, v): 1.0 + u * v % 5 for u, v in graph.edges}, "weight")
    return graph


def test_weights_of_matrices_are_the_weights_of_other_graphs():
    matrices = [(nx.to_scipy_sparse_array(weighted(i)), None) for i in range(20)]
    detector = GraphKDEDetector().fit(matrices)
    assert detector.schema_.edge_weight == "weight"
    graph = weighted(99)
    of_matrix = detector.score_samples([(nx.to_scipy_sparse_array(graph), None)])
    np.testing.assert_allclose(detector.score_samples([graph]), of_matrix, atol=1e-9)
    with pytest.raises(ValueError, match="graph 20 has no weights, and graph 0 has, in its matrix"):
        GraphKDEDetector().fit([*matrices, graph])
    both = read_graphs(matrices, schema=GraphSchema(edge_numbers="weight"))
    np.testing.assert_array_equal(both.edge_attributes[:, 0], both.adjacency.data)
    unweighted = GraphKDEDetector().fit([(A != 0, None) for A, _ in matrices])
    with pytest.raises(ValueError, match=r"fit read the edge weight None.*make them 0 and 1"):
        unweighted.score_samples(matrices)


# -- files -----------------------------------------------------------------------------------------


def test_categories_of_csv_are_as_written(tmp_path):
    cells = ["1.1", "1.10", "7", "+7", "007", "1E2", "1E+5", "-0", "Inf", "inf", "0.1"]
    nodes = "id,version\n" + "\n".join(f"{i},{cell}" for i, cell in enumerate(cells))
    path, _ = files(tmp_path, v_csv="source,target\n0,1\n", **{"v.nodes_csv": nodes})
    everything = read_batch([path], GraphSchema.everything())
    named = GraphSchema(node_categories="version")
    for schema in (named, GraphSchema.everything(), everything.schema.to_schema()):
        batch = read_batch([path], schema)  # the same in fit and later
        values = [batch.label_names[code] for code in batch.labels]
        assert values == [1.1, "1.10", 7, *cells[3:10], 0.1]


def test_directions_of_gml_wherever_they_stand(tmp_path):
    body = 'node [ id 0 label "a" ] node [ id 1 label "b" ] edge [ source 0 target 1 ]'
    texts = {
        "after_gml": f'graph [ {body} directed "0" ]',
        "words_gml": f'graph [ {body} directed "false" ]',
        "creator_gml": f'Creator "edge [ 1" graph [ directed "0" {body} ]',
        "inside_gml": 'graph [ node [ id 0 label "a" note [ directed "0" ] ] '
        'node [ id 1 label "b" ] edge [ source 0 target 1 ] ]',
    }
    for path in files(tmp_path, **texts):
        schema = GraphSchema(node_categories=None, node_numbers=None)
        assert not read_batch([path], schema).schema.directed, path.name


GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}
<graph edgedefault="{direction}"><node id="a"/><node id="b"/><node id="g" yfiles.foldertype="group">
<graph edgedefault="directed"><node id="c"/><node id="d"/><edge source="c" target="d"/></graph>
</node><edge source="a" target="b"/></graph></graphml>"""


def test_directions_of_graphml(tmp_path):
    keys = '<key id="k" for="node" attr.name="kind" attr.type="string"/>'
    [path] = files(tmp_path, plain_graphml=GRAPHML.format(keys=keys, direction="undirected"))
    batch = read_batch([path], GraphSchema())
    assert batch.schema.directed
    assert len(batch.adjacency.data) == 3  # one arc of the group, two of the other edge


# -- what is left out ------------------------------------------------------------------------------


def test_loops_are_said_beside_identifiers_and_under_all():
    graphs = []
    for i in range(12):
        graphs.append(nx.gnp_random_graph(10, 0.3, seed=i))
        nx.set_node_attributes(graphs[-1], {v: f"{i}-{v}" for v in range(10)}, "host")
        graphs[-1].add_edge(0, 0)
    with (
        pytest.warns(UserWarning, match="^left out: 12 self-loops, as no node is its own neighbor"),
        pytest.warns(UserWarning, match=r"^not read: node attribute 'host' \(an identifier\)"),
    ):
        GraphKDEDetector(schema="all").fit(graphs)


def test_what_only_later_graphs_have_is_said():
    detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(10, 30)])
    graph = nx.cycle_graph(12)
    graph.add_edge(0, 0)
    with pytest.warns(UserWarning, match="left out: 1 self-loop"):
        detector.score_samples([graph])
    labeled = nx.cycle_graph(12)
    nx.set_node_attributes(labeled, "C", "label")
    with pytest.warns(UserWarning, match=r"not read: node attribute 'l"):
        detector.score_samples([labeled])


def test_names_that_are_no_text_are_said():
    graph = nx.cycle_graph(12)
    nx.set_node_attributes(graph, 1.0, 5)
    [ignored] = read_graphs([graph], schema="all").schema.ignored
    assert str(ignored) == "node attribute 5 (rename it: this is no text)"


def test_data_of_edges_of_pyg_that_are_too_short():
    data = pytest.importorskip("torch_geometric.data").Data
    ends = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    graph = data(num_nodes=3, edge_index=ends, edge_attr=torch.ones(2))
    with pytest.raises(ValueError, match=r"graph 0.* 'edge_attr'"):
        read_graphs([graph])


def ring(n, bond):
    graph = nx.cycle_graph(n)
    nx.set_edge_attributes(graph, bond, "bond")
    return graph


def test_categories_of_edges_that_look_alike():
    schema = GraphSchema(edge_categories="bond")
    detector = GraphKDEDetector(schema=schema).fit([ring(n, "1") for n in range(10, 30)])
    with pytest.warns(UserWarning, match="edge categories that fit did not see: triple of 'bond'$"):
        detector.score_samples([ring(20, "triple")])
    message = r"did not see: 1 of 'bond' \(1 is a int and '1' a str\)"
    with pytest.warns(UserWarning, match=message):
        detector.score_samples([ring(20, 1)])
    mixed = [ring(n, "1" if n % 2 else 1) for n in range(10, 30)]
    with pytest.warns(UserWarning, match="edge category 'bond': .* count as different values"):
        GraphKDEDetector(schema=schema).fit(mixed)
