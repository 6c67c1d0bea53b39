"""Encoders of directed and typed graphs, against dense matrices; and that nothing else changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GCN, NodeFeatures, Propagation, read_graphs
from skgraphkde.encoders import propagation
from skgraphkde.encoders.message_flow import node_colors
from tests.conftest import permuted
from tests.encoders.common import apart, merged
from tests.encoders.test_propagation import propagate_slow
from tests.graphs.test_relations import WEIGHTED, typed_graphs


def featurized(seed=0, **options):
    batch = read_graphs(typed_graphs(6, seed, **options), schema=WEIGHTED)
    features = NodeFeatures(("label", "edge")).fit(batch)
    return features.transform_batch(batch), features.edge_groups_.n_relations


def dense_relations(batch):
    """Row-normalized dense matrices, by direction and group."""
    n, k = batch.n_nodes, len(batch.edge_label_names)
    matrices = []
    for transposed in (False, True)[: 1 + batch.directed]:
        for group in range(k):
            A = np.zeros((n, n))
            arcs = np.flatnonzero(batch.edge_labels == group)
            ends = batch.source_of_arc[arcs], batch.adjacency.indices[arcs]
            np.add.at(A, ends, batch.adjacency.data[arcs])
            A = A.T if transposed else A
            matrices.append(A / np.maximum(A.sum(1, keepdims=True), 1e-300))
    return matrices


@pytest.mark.parametrize("most", [64, 3])
@pytest.mark.parametrize("directed", [True, False])
def test_propagation_equals_dense_matrices(directed, most, monkeypatch):
    monkeypatch.setattr(propagation, "_MOST_COLUMNS", most)
    propagation._signs.cache_clear()
    batch, n_relations = featurized(directed=directed, multi=True)
    module = Propagation(2).build(batch.attributes.shape[1], n_relations)
    flow, rows = merged(batch, 2)
    module.standardize([flow])

    def average(X):
        averages = [A @ X for A in dense_relations(batch)]
        if n_relations * X.shape[1] <= most:
            return averages
        signs = propagation._signs(n_relations, X.shape[1])
        return [sum(Y @ P for Y, P in zip(averages, signs, strict=True))]

    expected = propagate_slow(batch, 2, average)
    Z = module.encode(flow)
    assert Z.shape[1] == module.out_dim
    np.testing.assert_allclose(Z[rows], expected, atol=1e-9)
    propagation._signs.cache_clear()


@pytest.mark.parametrize("encoder", [Propagation(2), GCN(hidden_dim=8)], ids=["propagation", "gcn"])
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_merged_nodes_and_node_order(encoder, seed, directed, multi):
    batch, n_relations = featurized(seed, directed=directed, multi=multi)
    module = encoder.build(batch.attributes.shape[1], n_relations, seed=0)
    flow, rows = merged(batch, 2)
    module.prepare([flow])
    alone = module.encode(apart(batch, 2))
    np.testing.assert_allclose(module.encode(flow)[rows], alone, atol=1e-9)
    shuffled = module.encode(apart(permuted(batch, seed), 2))
    expected = permuted(batch.replace(attributes=alone), seed).attributes
    np.testing.assert_allclose(shuffled, expected, atol=1e-9)


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_colors_do_not_depend_on_the_batch_or_the_order(seed, directed, multi):
    batch, _ = featurized(seed, directed=directed, multi=multi)
    whole = node_colors(batch, 2)
    parts = [node_colors(batch[i], 2) for i in range(len(batch))]
    np.testing.assert_array_equal(whole, np.hstack(parts))
    shuffled = node_colors(permuted(batch, seed), 2)
    np.testing.assert_array_equal(np.sort(shuffled), np.sort(whole))
