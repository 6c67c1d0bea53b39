"""Color refinement, against colors that are nested tuples."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphBatch, GraphSchema, read_graphs
from skgraphkde.graphs.refinement import factorize, hash64, hash_rows
from skgraphkde.graphs.refinement import refined as rounds_of
from skgraphkde.graphs.relations import messages
from tests.conftest import permuted, random_graphs


def refined_slow(graph, weight_of, n_rounds):
    """Colors are what a node sees, written out: (own color, sorted colors of the neighbors)."""
    colors = {node: (data["label"],) for node, data in graph.nodes(data=True)}
    rounds = [colors]
    for _ in range(n_rounds):
        colors = {
            u: (colors[u], tuple(sorted((colors[v], weight_of(u, v)) for v in graph[u])))
            for u in graph
        }
        rounds.append(colors)
    return [list(colors.values()) for colors in rounds]


def partition(colors):
    """Which nodes have equal colors, whatever the colors are."""
    first = {}
    return [first.setdefault(color, len(first)) for color in colors]


def refined(*arguments, **options):
    return np.stack(list(rounds_of(*arguments, **options)))


def initial(batch):
    return hash64(batch.labels.astype(np.uint64))


@pytest.mark.parametrize("weighted", [False, True])
@given(st.integers(0, 10**6))
def test_colors_tell_apart_what_looks_different_and_nothing_else(weighted, seed):
    rng = np.random.RandomState(seed)
    graphs = random_graphs(6, seed=seed)
    for graph in graphs:
        for edge in graph.edges.values():
            edge["weight"] = float(rng.choice([1.0, 2.0]))
    batch = read_graphs(graphs, schema=GraphSchema(edge_weight="weight"))
    joined = nx.disjoint_union_all(graphs)
    weights = nx.get_edge_attributes(joined, "weight")

    def weight_of(u, v):
        return weights[min(u, v), max(u, v)] if weighted else 1.0

    expected = refined_slow(joined, weight_of, 4)
    actual = refined(initial(batch), messages(batch, None, weighted=weighted), 4)
    for round_slow, round_fast in zip(expected, actual, strict=True):
        assert partition(round_slow) == partition(round_fast.tolist())


@given(st.integers(0, 10**6))
def test_colors_depend_neither_on_company_nor_on_the_order_of_nodes(seed):
    batch = read_graphs(random_graphs(5, seed=seed))
    together = refined(initial(batch), messages(batch, None, weighted=False), 3)
    for i in range(5):
        alone = refined(initial(batch[i]), messages(batch[i], None, weighted=False), 3)
        nodes = slice(batch.node_ptr[i], batch.node_ptr[i + 1])
        np.testing.assert_array_equal(alone, together[:, nodes])
    shuffled = permuted(batch, seed)
    of_shuffled = refined(initial(shuffled), messages(shuffled, None, weighted=False), 3)
    for i in range(5):
        nodes = slice(batch.node_ptr[i], batch.node_ptr[i + 1])
        np.testing.assert_array_equal(
            np.sort(of_shuffled[:, nodes], axis=1), np.sort(together[:, nodes], axis=1)
        )


def test_rows_have_the_same_color_up_to_rounding():
    X = np.array([[0.1 + 0.2, 0.0], [0.3, -0.0], [0.3 + 1e-9, 0.0], [0.0, 0.3], [0.3, 0.3]])
    assert partition(hash_rows(X).tolist()) == [0, 0, 1, 2, 3]


def test_colors_are_the_same_in_every_process():
    """Fitted novelty in a file relies on them."""
    colors = hash_rows(np.array([[0.25, -1.5]]))
    assert colors.tolist() == [1366560685707708658]
    assert hash64(np.arange(2, dtype=np.uint64)).tolist() == [
        16294208416658607535,
        10451216379200822465,
    ]


def test_a_graph_without_edges_keeps_its_colors():
    batch = GraphBatch.concatenate([read_graphs([nx.empty_graph(3)])])
    colors = refined(
        hash64(np.arange(3, dtype=np.uint64)), messages(batch, None, weighted=False), 2
    )
    assert [len(set(row.tolist())) for row in colors] == [3, 3, 3]


@given(
    st.lists(
        st.integers(0, 2**64 - 1) | st.integers(0, 9) | st.integers(0, 15).map(lambda x: x << 60)
    )
)
def test_colors_are_numbered_in_the_order_in_which_they_come(colors):
    first, number = factorize(np.array(colors, dtype=np.uint64))
    distinct = list(dict.fromkeys(colors))
    assert [colors[i] for i in first] == distinct
    assert first.tolist() == [colors.index(x) for x in distinct]
    assert number.tolist() == [distinct.index(x) for x in colors]
