"""Node features: each kind against an oracle, what is used or left out, and what is refused."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphKDEDetector, GraphSchema, NodeFeatures, read_graphs
from skgraphkde.core.graphs import random_walks
from tests.conftest import permuted, random_graphs, spied, with_data
from tests.core.graphs.common import typed_graphs


def return_probabilities_slow(graph):
    """Diagonals of the powers of the transition matrix."""
    A = nx.to_numpy_array(graph)
    P = A / np.maximum(A.sum(1, keepdims=True), 1e-300)
    return np.column_stack([np.linalg.matrix_power(P, k).diagonal() for k in (2, 3, 4)])


@pytest.mark.parametrize("directed", [False, True])
@given(st.integers(0, 10**6), st.sampled_from([7, 2**20]), st.sampled_from([0, 0.1, 2]))
def test_return_probabilities_equal_matrix_powers(directed, seed, width, dense):
    graphs = [nx.gnp_random_graph(n, 0.3, seed=seed, directed=directed) for n in (1, 3, 8, 14)]
    graphs = [with_data(x, None, {"weight": lambda edge: 1.0 + sum(edge) % 3}) for x in graphs]
    expected = np.vstack([return_probabilities_slow(graph) for graph in graphs])
    batch = read_graphs(graphs, schema=GraphSchema(edge_weight="weight"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(random_walks, "NUMBERS", width)
        patched.setattr(random_walks, "DENSE", dense)
        actual = random_walks.return_probabilities(batch, directed=directed)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_large_graphs_are_probed_within_the_stated_error(monkeypatch, directed):
    graph = nx.gnp_random_graph(200, 0.05, seed=0, directed=directed)
    batch = read_graphs([nx.path_graph(5, create_using=type(graph)), graph])
    exact = random_walks.return_probabilities(batch, directed=directed)
    monkeypatch.setattr(random_walks, "MAX_PRODUCTS", 100)
    probed = random_walks.return_probabilities(batch, directed=directed)
    np.testing.assert_array_equal(probed[:5], exact[:5])
    assert 0 < np.abs(probed - exact).max() < 5 / np.sqrt(random_walks.N_PROBES)
    # The probes belong to the graph: its neighbors in the batch do not matter.
    alone = random_walks.return_probabilities(batch[1], directed=directed)
    np.testing.assert_array_equal(alone, probed[5:])


def test_probes_of_directed_graphs_keep_their_error_at_nodes_that_many_point_to(monkeypatch):
    """Each hub points back to a part of the nodes that point to it: no walk of 3 steps returns."""
    n = 2000
    nodes = np.arange(3, n)
    to_hubs = np.column_stack([nodes, nodes % 3])
    back = np.column_stack([nodes % 3, nodes])[::10]
    graph = {"edges": np.concatenate([to_hubs, back]), "num_nodes": n, "directed": True}
    batch = read_graphs([graph])
    exact = random_walks.return_probabilities(batch, directed=True)
    monkeypatch.setattr(random_walks, "MAX_PRODUCTS", 100)
    probed = random_walks.return_probabilities(batch, directed=True)
    assert np.abs(probed - exact)[:3].max() < 5 * np.sqrt(2 / random_walks.N_PROBES)


def test_a_node_of_many_neighbors_is_probed_and_a_dense_graph_is_not(monkeypatch):
    batch = read_graphs([nx.star_graph(2500), nx.complete_graph(180)])
    products = random_walks._products_by_row(batch.underlying)
    assert products[:2501].sum() > products[2501:].sum() > 5e6
    monkeypatch.setattr(random_walks, "FEW_PRODUCTS", 5e6)
    probed = spied(monkeypatch, random_walks, "_probed")
    random_walks.return_probabilities(batch)
    assert [matrix.shape[0] for matrix, _ in probed] == [2501]


def test_labels_are_one_hot_and_an_unseen_one_is_zero_with_one_warning():
    train, test = random_graphs(5, labels="CN"), random_graphs(5, seed=3, labels="CFI")
    transformer = NodeFeatures(("label",)).fit(read_graphs(train))
    X = transformer.transform(read_graphs(train)).attributes
    with pytest.warns(
        UserWarning, match="s that fit did not see: F, I of .label., first in graph 0$"
    ) as caught:
        X = np.vstack([X, transformer.transform(read_graphs(test)).attributes])
    assert len(caught) == 1
    labels = [g.nodes[k]["label"] for g in train + test for k in g]
    (values,) = transformer.block("label").vocabularies
    assert sorted(values) == ["C", "N"]
    np.testing.assert_array_equal(X, [[label == value for value in values] for label in labels])


def test_a_label_of_the_vocabulary_that_no_node_has_does_not_count():
    batch = read_graphs(random_graphs(20))
    some = batch[np.flatnonzero([not np.any(batch[i].labels == 1) for i in range(20)])]
    assert NodeFeatures(("label",)).fit(read_graphs(some)).block("label").vocabularies == (
        ("C", "O"),
    )
    NodeFeatures(("label",)).fit(read_graphs(batch[:10])).transform(
        read_graphs(some)
    )  # a warning is an error


def test_attributes_are_standardized_on_the_training_nodes_beside_raw_ones_and_a_constant():
    train, test = random_graphs(9, n_attributes=3), random_graphs(4, seed=1, n_attributes=3)
    features = NodeFeatures(("constant", "raw_attribute", "attribute")).fit(read_graphs(train))
    assert features.kinds_ == ("attribute", "raw_attribute", "constant")
    raw, raw_test = (read_graphs(graphs).attributes for graphs in (train, test))
    X, order = features.transform(read_graphs(test)).attributes, features.block("attribute").used
    assert features.get_feature_names_out().tolist()[:3] == [f"x_{i}" for i in order]
    standardized = (raw_test - raw.mean(0)) / raw.std(0)
    np.testing.assert_allclose(X[:, :3], standardized[:, order], rtol=1e-12)
    np.testing.assert_array_equal(X[:, 3:6], raw_test[:, order])
    np.testing.assert_array_equal(X[:, 6], 1)


def in_space(seed, stretch=1.0):
    """A chain of 12 nodes that walks through the plane, and a property that it does not know."""
    rng = np.random.RandomState(seed)
    x, y = stretch * rng.standard_normal((2, 12)).cumsum(axis=1)
    return with_data(nx.path_graph(12), {"x": lambda v: [x[v], rng.standard_normal(), y[v]]})


@pytest.mark.parametrize("stretch", [1.0, 1e-90, 1e90])
def test_auto_leaves_out_positions(stretch):
    """Attributes that hardly change along edges; any other choice keeps what it is told to keep."""
    drawn = [in_space(seed, stretch) for seed in range(30)]
    graphs = read_graphs(drawn)
    with pytest.warns(UserWarning, match="left out of the features: node number 'x_0', 'x_2', w"):
        auto = NodeFeatures().fit(graphs)
    assert auto.block("attribute").used.tolist() == [1]
    assert "x_1" in auto.get_feature_names_out()
    assert auto.transform(graphs).attributes.shape[1] == auto.n_features_out_
    for kinds in ("given", ("attribute",)):
        used = NodeFeatures(kinds).fit(graphs).block("attribute").used
        assert sorted(used.tolist()) == [0, 1, 2]
    named = read_graphs(drawn, schema=GraphSchema(node_numbers="x"))
    edgeless = read_graphs(list(map(nx.create_empty_copy, drawn)))
    for all_used in (named, edgeless):
        assert len(NodeFeatures().fit(all_used).block("attribute").used) == 3


def test_degree_bins():
    transformer = NodeFeatures(("degree",)).fit(read_graphs([nx.star_graph(9)]))
    assert transformer.get_feature_names_out().tolist() == [
        *("degree=0", "degree=1", "degree=2-3", "degree=4-7", "degree=8-15", "log(1+degree)")
    ]
    stars = [nx.empty_graph(1), *(nx.star_graph(d) for d in (2, 3, 4, 7, 8, 100))]
    batch = read_graphs(stars)
    centers = transformer.transform(read_graphs(batch)).attributes[batch.node_ptr[:-1]]
    assert centers[:, :-1].argmax(1).tolist() == [0, 2, 2, 3, 3, 4, 4]
    assert (centers[:, :-1].sum(1) == 1).all()
    np.testing.assert_allclose(centers[:, -1], np.log1p([0, 2, 3, 4, 7, 8, 100]))


@pytest.mark.parametrize(
    ("labels", "n_attributes", "auto", "given"),
    [
        ("CN", 2, ("label", "attribute", "degree", "random_walk"), ("label",)),
        ("", 2, ("attribute", "degree", "random_walk"), ("attribute",)),
        ("", 0, ("degree", "random_walk"), ("degree",)),
    ],
)
def test_auto_and_given_look_at_the_training_graphs(labels, n_attributes, auto, given):
    graphs = random_graphs(4, labels=labels, n_attributes=n_attributes)
    transformer = NodeFeatures().fit(read_graphs(graphs))
    assert transformer.kinds_ == auto
    assert NodeFeatures("given").fit(read_graphs(graphs)).kinds_ == given
    X = transformer.transform(read_graphs(graphs)).attributes
    assert X.shape[1] == transformer.n_features_out_ == len(transformer.get_feature_names_out())


@pytest.mark.filterwarnings("ignore:left out of the features")
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_features_follow_the_nodes(seed, directed, multi):
    graphs = [
        with_data(graph, {"x": lambda v: [v % 3, v**2 % 5]})
        for graph in typed_graphs(4, seed, directed=directed, multi=multi)
    ]
    batch = read_graphs(graphs, schema=GraphSchema(edge_weight="w"))
    transformer = NodeFeatures().fit(read_graphs(batch))
    X = transformer.transform_batch(batch)
    shuffled = transformer.transform_batch(permuted(batch, seed)).attributes
    np.testing.assert_allclose(shuffled, permuted(X, seed).attributes, atol=1e-12)
    some = transformer.transform_batch(batch[[3, 1]]).attributes
    np.testing.assert_allclose(some, X[[3, 1]].attributes, atol=1e-12)


@pytest.mark.parametrize("name", ["temp", "pos"])
def test_everything_that_is_read_is_used_or_said(name):
    """A smooth number is taken for a position by its name, too, and then not without a word."""
    graphs = [in_space(seed) for seed in range(30)]
    for data in (data for graph in graphs for data in graph.nodes.values()):
        data[name] = data.pop("x")[0]
    schema = "all" if name == "temp" else None
    if name == "pos":  # under "all", it would be named
        for data in (data for graph in graphs for data in graph.nodes.values()):
            data["x"] = data.pop("pos")
    batch = read_graphs(graphs, schema=schema)
    detector = GraphKDEDetector(schema=schema)
    if name == "pos":
        with pytest.warns(UserWarning, match="left out of the features: node number 'x', which"):
            detector.fit(batch)
        assert detector.model_.features.kinds_ == ("degree", "random_walk")
        assert not any(x.startswith("numbers") for x in detector.model_.view_names)
        return
    hot = batch[:1].attributes.copy()
    hot[0] += 1e3
    detector.fit(batch)
    assert detector.model_.features.block("attribute").used.tolist() == [0]
    assert any(x.startswith("numbers") for x in detector.model_.view_names)
    odd = batch[:1].replace(node=(None, (), hot))
    assert detector.predict(odd).tolist() == [-1]


def test_categories_that_only_one_graph_has_are_unseen():
    """Against graphs in which they are replaced by a new category."""
    labels = (["A", "B", "X1", "X2"], ["A", "A", "B", "Y"], ["B", "A", "B", "A"])
    graphs = [with_data(nx.path_graph(4), {"label": of_graph}) for of_graph in labels]
    batch = read_graphs(graphs)
    features = NodeFeatures().fit(read_graphs(batch))
    forgetful, has_own = features.without_own_values(batch)
    assert has_own.tolist() == [True, True, False]
    for data in (data for graph in graphs for data in graph.nodes.values()):
        data["label"] = data["label"] if data["label"] in "AB" else "new"
    expected = features.transform_batch(read_graphs(graphs)).attributes
    np.testing.assert_array_equal(forgetful.transform_batch(batch).attributes, expected)
    without = NodeFeatures(["degree"]).fit(read_graphs(batch))
    assert without.without_own_values(batch)[0] is without


def test_several_categories_have_columns_of_their_own():
    graph = with_data(nx.path_graph(3), {"label": list("ABA"), "node_type": [1, 1, 2]})
    features = NodeFeatures(("label",)).fit(read_graphs([graph]))
    names = ["label=A", "label=B", "node_type=1", "node_type=2"]
    assert features.get_feature_names_out().tolist() == names
    X = features.transform(read_graphs([graph])).attributes
    assert X.tolist() == [[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]]


@pytest.mark.filterwarnings("ignore:left out of the features", "ignore:not read")
def test_several_categories_of_edges_are_one_for_the_detector_that_follows():
    kinds = {"edge_type": lambda edge: sum(edge) % 3}
    graphs = [with_data(graph, None, kinds) for graph in typed_graphs(12)]
    batch = NodeFeatures().fit_transform(read_graphs(graphs))
    assert batch.schema.edge_categories == ("label+edge_type",)
    assert np.isfinite(GraphKDEDetector().fit(batch.to_networkx()).calibration_scores_).all()
