"""Message flow: what each node receives, against dense matrices, and merged measures."""

import numpy as np
import pytest

from skgraphkde.encoders.message_flow import MessageFlow, node_colors
from tests.encoders.common import dense_ahat, make_input
from tests.graphs.common import partition


@pytest.mark.parametrize("seed", range(2))
def test_neighbor_sums_and_own_rows_equal_dense_matrices(seed):
    """What each node receives, whichever of its color's nodes stands for it in the flow."""
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


def test_unmerged_flows_have_a_row_for_each_node():
    graphs = make_input()
    flow = MessageFlow.unmerged(graphs, 2)
    for layer in range(2):
        np.testing.assert_array_equal(flow.parents[layer], np.arange(graphs.n_nodes))
        assert (flow.adjacencies[layer] != graphs.adjacency).nnz == 0
        np.testing.assert_array_equal(flow.counts[layer], 1)
