"""Peak memory of what once had none to bound it: wide labels, large graphs, wide points."""

import tracemalloc

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphKDEDetector, NodeFeatures, read_graphs
from skgraphkde.core.distances.kernels import draw_frequencies
from skgraphkde.core.graphs import random_walks, refinement
from skgraphkde.core.points.features import PROJECTED
from tests.conftest import with_data


def peak(function, *arguments):
    """Bytes that NumPy allocated and held at once in a call, and what the call returned."""
    tracemalloc.start()
    try:
        returned = function(*arguments)
        return tracemalloc.get_traced_memory()[1], returned
    finally:
        tracemalloc.stop()


# -- many labels -----------------------------------------------------------------------------------


def labeled(n_graphs, n_nodes, n_labels):
    """Paths, the labels of each one after the other, and each label in two graphs or more."""
    return [
        with_data(
            nx.path_graph(n_nodes), {"label": lambda v, k=i * n_nodes // 2: (k + v) % n_labels}
        )
        for i in range(n_graphs)
    ]


def test_memory_of_labels_does_not_grow_with_their_number():
    batch = read_graphs(labeled(100, 60, 3000))
    features = NodeFeatures(("label",)).fit(batch)
    assert features.n_features_out_ == PROJECTED
    n_bytes = 8 * PROJECTED * batch.n_nodes
    assert peak(features.transform, batch)[0] < 4 * n_bytes  # one-hot columns: 12 times as much
    detector = GraphKDEDetector().fit(batch[:20])  # 630 labels
    assert detector.model_.encoder.out_dim < 1000


def test_up_to_512_labels_have_columns_of_their_own():
    for n_labels, width in ((513, PROJECTED), (512, 512)):
        batch = read_graphs(labeled(18, 60, n_labels))
        features = NodeFeatures(("label",)).fit(batch)
        names = features.get_feature_names_out()
        assert len(set(names)) == len(names) == features.n_features_out_ == width
    X = features.transform(batch).attributes
    assert (X.sum(axis=1) == 1).all()
    assert len(np.unique([X.argmax(axis=1), batch.labels], axis=1).T) == 512  # one for each label


def test_projected_labels_keep_the_distances_of_standardized_columns():
    """A value of frequency p has the weight 1 / sqrt(p), and so have its signs."""
    rng = np.random.default_rng(0)
    values = np.concatenate([np.arange(600), rng.integers(20, size=1400)])
    rng.shuffle(values)
    labels = values.reshape(100, 20).tolist()
    graphs = [with_data(nx.empty_graph(20), {"label": of_graph}) for of_graph in labels]
    X = NodeFeatures(("label",)).fit(read_graphs(graphs)).transform(read_graphs(graphs)).attributes
    weights = np.sqrt(len(values) / (600 * np.bincount(values)))[values]
    np.testing.assert_allclose((X**2).sum(1), weights**2)  # the mean is 1, as of one-hot rows
    assert (X**2).sum(1).mean() == pytest.approx(1)
    some = rng.permutation(2000)[:200]
    inner = X[some] @ X[some].T / np.outer(weights[some], weights[some])
    error = inner - (values[some, None] == values[some])
    assert error.std() == pytest.approx(1 / np.sqrt(PROJECTED), rel=0.2)
    assert abs(error.mean()) < 0.01


# -- large graphs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_edges", [1, 24_999])
def test_memory_of_random_walks_on_a_large_graph(n_edges):
    """A star, and a graph nearly without edges: some columns at once, not a hundred or more."""
    n = 25_000
    edges = np.column_stack([np.zeros(n_edges, dtype=int), np.arange(1, n_edges + 1)])
    batch = read_graphs([{"edges": edges, "num_nodes": n}])
    most, returned = peak(random_walks.return_probabilities, batch)
    # Eight matrices of some columns; one of all 512 probes would have 12 times as many numbers.
    assert most < 8 * 8 * random_walks.NUMBERS < 8 * n * random_walks.N_PROBES
    assert np.abs(returned[2:, 0] - (1 / n_edges if n_edges > 1 else 0)).max() < 0.1


def test_memory_of_colors(monkeypatch):
    X = np.random.default_rng(0).integers(3, size=(100_000, 40)).astype(float)
    assert peak(refinement.hash_rows, X)[0] < X.nbytes  # all at once: twice that
    expected = refinement.hash_rows(X[:100])
    monkeypatch.setattr(refinement, "NUMBERS", 7)
    np.testing.assert_array_equal(refinement.hash_rows(X[:100]), expected)


# -- wide points -----------------------------------------------------------------------------------


def test_frequencies_of_wide_points():
    d, n_components = 3000, 400
    most, w = peak(draw_frequencies, d, n_components)
    assert most < 8 * d * d  # one block of as many directions as there are coordinates
    assert w.shape == (d, n_components // 2)
    np.testing.assert_allclose(w.T @ w, np.diag((w**2).sum(0)), atol=1e-8)
    assert (w**2).sum(0).mean() == pytest.approx(d, rel=0.02)
    # Unbiased: the mean cosine of a difference is the Gaussian kernel's value.
    x = np.random.RandomState(1).standard_normal(d) / np.sqrt(d)
    means = [np.cos(x @ draw_frequencies(d, 200, seed)).mean() for seed in range(10)]
    assert np.mean(means) == pytest.approx(np.exp(-(x @ x) / 2), abs=0.05)


def test_more_frequencies_than_directions(monkeypatch):
    monkeypatch.setattr("skgraphkde.core.distances.kernels.MOST_DIRECTIONS", 5)
    w = draw_frequencies(20, 26)
    assert w.shape == (20, 13)
    products = w[:, 5:10].T @ w[:, 5:10]
    np.testing.assert_allclose(products, np.diag(products.diagonal()), atol=1e-12)
