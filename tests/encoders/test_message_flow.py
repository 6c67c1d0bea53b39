import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import NodeFeatures, read_graphs
from skgraphkde.distances import DiscreteMeasures
from skgraphkde.encoders.message_flow import MessageFlow, node_colors
from tests.conftest import GAMMAS, permuted, random_graphs
from tests.distances.common import squared_mmd
from tests.encoders.common import make_input


def featured(seed, kinds=("label", "degree"), **keywords):
    batch = read_graphs(random_graphs(12, seed, **keywords))
    return NodeFeatures(kinds).fit(batch).transform(batch)


def colors_slow(graphs, n_rounds):
    """Nested tuples: a node's color is its own and the sorted ones of its neighbors."""
    A = graphs.adjacency
    colors = [
        (tuple(x), d)
        for x, d in zip(graphs.attributes.tolist(), A.sum(axis=1).tolist(), strict=True)
    ]
    for _ in range(n_rounds):
        colors = [
            (
                colors[i],
                tuple(
                    sorted(
                        (colors[A.indices[e]], A.data[e])
                        for e in range(A.indptr[i], A.indptr[i + 1])
                    )
                ),
            )
            for i in range(len(colors))
        ]
    return colors


def same_partition(a, b):
    """Whether two colorings name the same classes."""
    pairs = set(zip(a, b, strict=True))
    return len(pairs) == len(set(a)) == len(set(b))


@given(st.integers(0, 10**6), st.integers(0, 3), st.booleans())
def test_colors_are_those_of_nested_tuples(seed, n_rounds, weighted):
    graphs = featured(seed)
    if weighted:
        A = graphs.adjacency.copy()
        ends = np.sort(np.column_stack([graphs.graph_of_node.repeat(graphs.degrees), A.indices]))
        A.data = 1.0 + ends.sum(axis=1) % 2
        A = A.maximum(A.T)
        graphs = graphs.replace(adjacency=type(graphs.adjacency)(A))
    rounds = node_colors(graphs, n_rounds)
    assert rounds.shape == (n_rounds + 1, graphs.n_nodes)
    for n, colors in enumerate(rounds.tolist()):
        assert same_partition(colors, colors_slow(graphs, n))


@pytest.mark.parametrize("seed", range(5))
def test_neighbor_sums_and_own_rows_equal_dense_matrices(seed):
    """What each node receives, whichever of its color's nodes stands for it in the flow."""
    graphs = make_input(seed, n_graphs=30)
    colors = node_colors(graphs, 3)
    flow = MessageFlow.of(graphs, colors)
    assert [counts.sum() for counts in flow.counts] == [graphs.n_nodes] * 4
    assert flow.colors.tolist() == list(dict.fromkeys(colors[-1].tolist()))
    A, rng = graphs.adjacency.toarray(), np.random.RandomState(seed)
    rows = []  # of each node, in the order in which colors come up
    for of_nodes in colors.tolist():
        known = {color: row for row, color in enumerate(dict.fromkeys(of_nodes))}
        rows.append(np.array([known[color] for color in of_nodes]))
    assert [row.max() + 1 for row in rows] == [len(counts) for counts in flow.counts]
    assert rows[-1].max() + 1 < graphs.n_nodes
    np.testing.assert_array_equal(flow.features[rows[0]], graphs.attributes)
    looped = A + np.eye(len(A))
    normalized = looped / np.sqrt(np.outer(looped.sum(1), looped.sum(1)))
    for layer in range(3):
        H = rng.standard_normal((len(flow.counts[layer]), 4))
        of_nodes, after = H[rows[layer]], rows[layer + 1]
        np.testing.assert_array_equal(H[flow.parents[layer]][after], of_nodes)
        received = (flow.adjacencies[layer] @ H)[after]
        np.testing.assert_allclose(received, A @ of_nodes, atol=1e-12)
        received = (flow.normalized_adjacencies[layer] @ H)[after]
        np.testing.assert_allclose(received, normalized @ of_nodes, atol=1e-12)


def test_unmerged_flows_have_a_row_for_each_node():
    graphs = make_input()
    flow = MessageFlow.unmerged(graphs, 2)
    for layer in range(2):
        np.testing.assert_array_equal(flow.parents[layer], np.arange(graphs.n_nodes))
        assert (flow.adjacencies[layer] != graphs.adjacency).nnz == 0
        np.testing.assert_array_equal(flow.counts[layer], 1)


def test_colors_do_not_depend_on_the_batch_or_the_order():
    graphs = featured(0)
    whole = node_colors(graphs, 2)[-1]
    parts = [node_colors(graphs[i], 2)[-1] for i in range(len(graphs))]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    assert sorted(node_colors(permuted(graphs, 1), 2)[-1]) == sorted(whole)


def test_rounding_does_not_count_and_differences_do():
    graphs = read_graphs([nx.path_graph(3)])

    def colors(x):
        return node_colors(graphs.replace(attributes=np.array([[x], [0.0], [1.0]])), 1)[-1]

    assert colors(0.1 + 0.2)[0] == colors(0.3)[0]
    assert colors(-0.0)[0] == colors(0.0)[0]
    assert colors(0.3)[0] != colors(0.3 + 1e-9)[0]
    assert colors(1e-12)[0] != colors(2e-12)[0]


def test_a_star_and_its_leaves():
    graphs = NodeFeatures(["degree"]).fit_transform([nx.star_graph(5), nx.path_graph(2)])
    colors = node_colors(graphs, 2)[-1]
    assert len(set(colors[1:6])) == 1
    assert len({colors[0], colors[1], colors[6]}) == 3
    assert colors[6] == colors[7]


@pytest.mark.parametrize("correction", [0.0, 1.0])
def test_merged_measures_have_the_same_distances(correction):
    graphs = featured(3, labels="CN")
    rng = np.random.RandomState(0)
    colors = node_colors(graphs, 2)[-1]
    _, first, color = np.unique(colors, return_index=True, return_inverse=True)
    Z = rng.standard_normal((len(first), 4))[color]
    plain = DiscreteMeasures.from_clouds(Z, graphs.node_ptr)
    merged = DiscreteMeasures.from_colors(Z, colors, colors, graphs.node_ptr)
    assert len(merged.points) == len(first) < graphs.n_nodes
    np.testing.assert_allclose(merged.weights.sum(axis=1), 1)
    for Q in (None, plain[2:5], merged[2:5]):
        np.testing.assert_allclose(
            squared_mmd(merged, Q, GAMMAS, correction),
            squared_mmd(plain, None if Q is None else plain[2:5], GAMMAS, correction),
            atol=1e-12,
        )
