"""Message flow and propagation, against dense matrices, and what all encoders promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import Propagation
from skgraphkde.core.points import propagation
from skgraphkde.core.points.propagation import MessageFlow, node_colors
from tests.conftest import permuted
from tests.core.graphs.common import partition
from tests.core.points.common import (
    apart,
    dense_ahat,
    dense_relations,
    featurized,
    make_input,
    merged,
)

# -- message flow ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_neighbor_sums_and_own_rows_equal_dense_matrices(seed):
    """Each node receives the same, whichever of its color's nodes stands for it in the flow."""
    graphs = make_input(seed, n_graphs=30)
    colors = node_colors(graphs, 3)
    flow = MessageFlow.of(graphs, colors)
    assert [counts.sum() for counts in flow.counts] == [graphs.n_nodes] * 4
    assert flow.colors.tolist() == list(dict.fromkeys(colors[-1].tolist()))
    rows = [np.array(partition(of_nodes)) for of_nodes in colors.tolist()]
    assert [row.max() + 1 for row in rows] == [len(counts) for counts in flow.counts]
    assert rows[-1].max() + 1 < graphs.n_nodes
    np.testing.assert_array_equal(flow.features[rows[0]], graphs.attributes)
    A, rng = graphs.adjacency.toarray(), np.random.RandomState(seed)
    for layer in range(3):
        H = rng.standard_normal((len(flow.counts[layer]), 4))
        of_nodes, after = H[rows[layer]], rows[layer + 1]
        np.testing.assert_array_equal(H[flow.parents[layer]][after], of_nodes)
        received = (flow.adjacencies[layer] @ H)[after]
        np.testing.assert_allclose(received, A @ of_nodes, atol=1e-12)
        received = (flow.normalized_adjacencies[layer] @ H)[after]
        np.testing.assert_allclose(received, dense_ahat(graphs) @ of_nodes, atol=1e-12)


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_colors_do_not_depend_on_the_batch_or_the_order(seed, directed, multi):
    batch, _ = featurized(seed, directed=directed, multi=multi)
    whole = node_colors(batch, 2)
    parts = [node_colors(batch[i], 2) for i in range(len(batch))]
    np.testing.assert_array_equal(whole, np.hstack(parts))
    shuffled = node_colors(permuted(batch, seed), 2)
    np.testing.assert_array_equal(np.sort(shuffled), np.sort(whole))


# -- encoders --------------------------------------------------------------------------------------


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
    graphs = graphs.with_node_numbers(np.hstack([graphs.attributes, constant]))
    encoder = Propagation(n_layers).build(graphs.attributes.shape[1])
    parts = [apart(graphs[:2], n_layers), merged(graphs[2:], n_layers)[0]]
    encoder.standardize(parts)
    expected = propagate_slow(graphs, n_layers)
    assert expected.var(0).sum() == pytest.approx(1)
    flow, rows = merged(graphs, n_layers)
    assert len(flow.colors) < graphs.n_nodes
    np.testing.assert_allclose(encoder.encode(flow)[rows], expected, atol=1e-9)


@pytest.mark.parametrize("most", [64, 3])
@pytest.mark.parametrize("directed", [True, False])
def test_propagation_along_relations_equals_dense_matrices(directed, most, monkeypatch):
    monkeypatch.setattr(propagation, "MAX_RELATION_COLUMNS", most)
    propagation._signs.cache_clear()
    batch, n_relations = featurized(directed=directed, multi=True)
    encoder = Propagation(2).build(batch.attributes.shape[1], n_relations)
    flow, rows = merged(batch, 2)
    encoder.standardize([flow])

    def average(X):
        averages = [A @ X for A in dense_relations(batch)]
        if n_relations * X.shape[1] <= most:
            return averages
        signs = propagation._signs(n_relations, X.shape[1])
        return [sum(Y @ P for Y, P in zip(averages, signs, strict=True))]

    expected = propagate_slow(batch, 2, average)
    Z = encoder.encode(flow)
    assert Z.shape[1] == encoder.out_dim
    np.testing.assert_allclose(Z[rows], expected, atol=1e-9)
    propagation._signs.cache_clear()
