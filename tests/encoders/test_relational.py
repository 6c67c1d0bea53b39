"""Encoders of directed and typed graphs, against dense matrices; and that nothing else changes."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GCN, GraphKDEDetector, NodeFeatures, Propagation, read_graphs
from skgraphkde.encoders import dgl_backend, propagation
from skgraphkde.encoders.base import build_encoder, restore_encoder, weights_of
from skgraphkde.encoders.message_flow import MessageFlow, node_colors
from tests.conftest import permuted
from tests.encoders.common import dense_ahat
from tests.encoders.test_propagation import propagate_slow
from tests.graphs.test_relations import WEIGHTED, typed_graphs


def featurized(seed=0, **options):
    batch = read_graphs(typed_graphs(6, seed, **options), schema=WEIGHTED)
    features = NodeFeatures(("label", "edge")).fit(batch)
    return features.transform_batch(batch), features.edge_groups_.n_relations


def flow_of(batch, n_layers, merged=True):
    if not merged:
        return MessageFlow.unmerged(batch, n_layers)
    return MessageFlow.of(batch, node_colors(batch, n_layers))


def dense_relations(batch):
    """Row-normalized dense matrices, by direction and group."""
    n, k = batch.n_nodes, len(batch.edge_label_names)
    row = np.repeat(np.arange(n), np.diff(batch.adjacency.indptr))
    matrices = []
    for transposed in (False, True)[: 1 + batch.directed]:
        for group in range(k):
            A = np.zeros((n, n))
            arcs = np.flatnonzero(batch.edge_labels == group)
            np.add.at(A, (row[arcs], batch.adjacency.indices[arcs]), batch.adjacency.data[arcs])
            A = A.T if transposed else A
            matrices.append(A / np.maximum(A.sum(1, keepdims=True), 1e-300))
    return matrices


@pytest.mark.parametrize("most", [64, 3])
@pytest.mark.parametrize("directed", [True, False])
def test_propagation_equals_dense_matrices(directed, most, monkeypatch):
    monkeypatch.setattr(propagation, "_MOST_COLUMNS", most)
    propagation._signs.cache_clear()
    batch, n_relations = featurized(directed=directed, multi=True)
    module = build_encoder(Propagation(2), batch.attributes.shape[1], None, n_relations).double()
    flow = flow_of(batch, 2)
    module.standardize([flow])

    def average(X):
        averages = [A @ X for A in dense_relations(batch)]
        if n_relations * X.shape[1] <= most:
            return averages
        signs = propagation._signs(n_relations, X.shape[1])
        return [sum(Y @ P for Y, P in zip(averages, signs, strict=True))]

    expected = propagate_slow(batch, 2, average)
    Z = module(flow).numpy()
    assert Z.shape[1] == module.out_dim
    rows = dict(zip(flow.colors.tolist(), Z, strict=True))
    actual = [rows[color] for color in node_colors(batch, 2)[-1].tolist()]
    np.testing.assert_allclose(actual, expected, atol=1e-9)
    propagation._signs.cache_clear()


@pytest.mark.parametrize("encoder", [Propagation(2), GCN(hidden_dim=8)], ids=["propagation", "gcn"])
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_merged_nodes_and_node_order(encoder, seed, directed, multi):
    batch, n_relations = featurized(seed, directed=directed, multi=multi)
    module = build_encoder(encoder, batch.attributes.shape[1], 0, n_relations).double()
    flow = flow_of(batch, 2)
    module.standardize([flow])
    with torch.no_grad():
        points = dict(zip(flow.colors.tolist(), module(flow).numpy(), strict=True))
        alone = module(flow_of(batch, 2, merged=False)).numpy()
        colors = node_colors(batch, 2)[-1].tolist()
        np.testing.assert_allclose([points[color] for color in colors], alone, atol=1e-9)
        shuffled = permuted(batch, seed)
        of_shuffled = module(flow_of(shuffled, 2, merged=False)).numpy()
    expected = permuted(batch.replace(attributes=alone), seed).attributes
    np.testing.assert_allclose(of_shuffled, expected, atol=1e-9)


@pytest.mark.parametrize("backend", ["torch", "dgl"])
def test_gcn_has_weights_for_each_relation(backend):
    if backend == "dgl" and not dgl_backend.supports(torch.device("cpu")):
        pytest.skip("DGL has no build here")
    batch, n_relations = featurized()
    encoder = GCN(hidden_dim=5, n_layers=1, batch_norm=False, backend=backend)
    module = build_encoder(encoder, batch.attributes.shape[1], 0, n_relations).double()
    X = np.asarray(batch.attributes)
    H = dense_ahat(batch) @ X @ module.weights[0].detach().numpy()
    for A, weight in zip(dense_relations(batch), module.relation_weights, strict=True):
        H += A @ X @ weight.detach().numpy()
    with torch.no_grad():
        actual = module(flow_of(batch, 1, merged=False)).numpy()
    np.testing.assert_allclose(actual, np.maximum(H, 0), atol=1e-9)
    restored = restore_encoder(encoder, module.in_dim, weights_of(module), n_relations)
    assert restored.n_relations == n_relations
    with pytest.raises(ValueError, match="names of the encoder's weights are wrong"):
        restore_encoder(encoder, module.in_dim, weights_of(module))


def test_the_weights_of_graphs_without_relations_are_drawn_as_before():
    plain, relational = (build_encoder(GCN(hidden_dim=4), 3, 0, n) for n in (0, 2))
    assert len(plain.relation_weights) == 0
    assert [x.shape for x in relational.relation_weights] == [(3, 4)] * 2 + [(4, 4)] * 2
    for a, b in zip(plain.weights, relational.weights, strict=True):
        torch.testing.assert_close(a, b)


def test_an_encoder_of_its_own_sees_edges_by_the_node_features():
    graphs = [nx.DiGraph(nx.path_graph(n).edges) for n in range(4, 12)]

    class Plain(Propagation):
        is_relational = False

        def build(self, in_dim, generator):
            return super().build(in_dim, generator)

    detector = GraphKDEDetector(encoder=Plain(1)).fit(graphs)
    reversed_ = [graph.reverse() for graph in graphs]
    names = detector.model_.features.get_feature_names_out().tolist()
    assert "log(1+out edges)" in names
    assert np.isfinite(detector.score_samples(reversed_)).all()
