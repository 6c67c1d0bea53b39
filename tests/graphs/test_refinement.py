"""Color refinement: hashes, and what colors depend on; test_relations.py has an oracle."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphBatch, read_graphs
from skgraphkde.graphs.refinement import factorize, hash64, hash_rows
from skgraphkde.graphs.refinement import refined as rounds_of
from skgraphkde.graphs.relations import messages
from tests.conftest import permuted, random_graphs
from tests.graphs.common import partition


def refined(*arguments, **options):
    return np.stack(list(rounds_of(*arguments, **options)))


def initial(batch):
    return hash64(batch.labels.astype(np.uint64))


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
