import networkx as nx
import numpy as np
import pytest

from skgraphkde import Propagation, read_graphs
from tests.encoders.common import apart, dense_ahat, make_input, merged


def make_encoder(graphs, n_layers):
    return Propagation(n_layers).build(graphs.attributes.shape[1])


def propagate_slow(graphs, n_layers, average=lambda X: []):
    """Features and their averages, node by node, standardized; columns that do not vary are 0."""
    X, layers = graphs.attributes, []
    for layer in range(n_layers + 1):
        X = np.hstack([dense_ahat(graphs) @ X, *average(X)]) if layer else X
        varies = X.std(0) > 1e-9
        X = np.where(varies, X - X.mean(0), 0) / np.where(varies, X.std(0), 1)
        layers.append(X)
    Z = np.hstack(layers)
    return Z / np.sqrt(Z.var(0).sum())


@pytest.mark.parametrize("n_layers", [0, 1, 3])
def test_propagation_equals_dense_matrices(n_layers):
    graphs = make_input()
    constant = np.full((graphs.n_nodes, 1), 7.3)
    graphs = graphs.replace(attributes=np.hstack([graphs.attributes, constant]))
    encoder = make_encoder(graphs, n_layers)
    encoder.standardize([apart(graphs[:2], n_layers), merged(graphs[2:], n_layers)[0]])
    expected = propagate_slow(graphs, n_layers)
    if n_layers == 0:  # an average over neighbors of unlike degree is not constant
        assert (expected[:, -1] == 0).all()
    np.testing.assert_allclose(encoder.encode(apart(graphs, n_layers)), expected, atol=1e-9)
    flow, rows = merged(graphs, n_layers)
    assert len(flow.colors) < graphs.n_nodes
    assert encoder.out_dim == expected.shape[1]
    np.testing.assert_allclose(encoder.encode(flow)[rows], expected, atol=1e-9)
    assert expected.var(0).sum() == pytest.approx(1)


def test_propagation_of_equal_nodes_is_0():
    graphs = read_graphs([nx.cycle_graph(4)] * 3)
    graphs = graphs.replace(attributes=np.full((12, 2), 0.1))
    encoder = make_encoder(graphs, 2)
    encoder.standardize([apart(graphs, 2)])
    assert (np.abs(encoder.encode(apart(graphs, 2))) < 1e-6).all()
