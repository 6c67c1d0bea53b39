import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from skgraphkde.core.graphs import GraphBatch
from skgraphkde.reading import read_graphs
from tests.conftest import random_graphs, refused
from tests.core.graphs.common import EVERYTHING, PLANTS, assert_same


def test_sizes():
    batch = read_graphs([nx.path_graph(3), nx.empty_graph(1), nx.complete_graph(4)])
    assert (len(batch), batch.shape, batch.n_nodes) == (3, (3,), 8)
    per_graph = {"n_nodes_per_graph": [3, 1, 4], "n_edges_per_graph": [2, 0, 6]}
    per_node = {"degrees": [1, 2, 1, 0, 3, 3, 3, 3], "graph_of_node": [0, 0, 0, 1, 2, 2, 2, 2]}
    for name, expected in (per_graph | per_node).items():
        assert getattr(batch, name).tolist() == expected
    assert repr(batch) == "GraphBatch(n_graphs=3, n_nodes=8, n_edges=8)"


@given(st.lists(st.integers(-6, 5), max_size=8) | st.slices(6))
def test_indexing_equals_reading_the_chosen_graphs(key):
    batch = read_graphs(PLANTS, schema=EVERYTHING)
    chosen = PLANTS[key] if isinstance(key, slice) else [PLANTS[i] for i in key]
    found = batch[key if isinstance(key, slice) else np.array(key, dtype=int)]
    assert len(found) == len(chosen)
    if chosen:
        assert_same(found, read_graphs(chosen, schema=EVERYTHING))


def test_int_mask_and_the_index_of_scikit_learn(batch):
    mask = np.arange(12) % 3 == 0
    for key, index in ((3, [3]), (-1, [11]), (mask, [0, 3, 6, 9]), (([1, 2], ...), [1, 2])):
        assert_same(batch[key], batch[index])
    train, test = train_test_split(batch, random_state=0)
    assert isinstance(train, GraphBatch)
    assert len(train) + len(test) == 12
    with pytest.raises(IndexError, match="index 12 is out of bounds for axis 0 with size 12"):
        batch[12]


def test_concatenate_undoes_slicing_and_merges_vocabularies(batch):
    assert_same(GraphBatch.concatenate([batch[:5], batch[5:6], batch[6:]]), batch)
    a = random_graphs(9, seed=1, labels="ZACYN")
    b = random_graphs(9, seed=2, labels="XONBZ")
    joined = GraphBatch.concatenate([read_graphs(a), read_graphs(b)])
    assert joined.label_names == tuple("ABCNOXYZ")
    assert_same(joined, read_graphs(a + b))


def test_concatenate_refuses_what_does_not_fit():
    labeled, plain = (read_graphs(random_graphs(1, labels=x)) for x in ("C", ""))
    wide, narrow = (read_graphs(random_graphs(1, labels="", n_attributes=p)) for p in (3, 2))
    message = r"batches differ .* node categories none and 'label'"
    refused(message, GraphBatch.concatenate, [plain, labeled])
    refused(r"node numbers 'x' \(3\) and 'x' \(2\)", GraphBatch.concatenate, [wide, narrow])
    refused("nothing to concatenate", GraphBatch.concatenate, [])


def test_unweighted_edges_have_no_weight_in_networkx(batch):
    assert all(not data for graph in batch.to_networkx() for *_, data in graph.edges(data=True))


def test_arrays_are_read_only_also_of_a_pickle_and_the_callers_are_not(batch):
    loaded = pickle.loads(pickle.dumps(batch))
    assert_same(loaded, batch)
    for array in (loaded.node_ptr, batch.adjacency.data, batch.labels, batch.degrees):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2
    ptr, adjacency = np.array([0, batch.n_nodes]), batch.adjacency.copy()
    GraphBatch(ptr, adjacency)
    ptr[0] = adjacency.data[0] = 0  # still writable


def test_ids_of_nodes_stay_with_their_graphs():
    graphs = [np.eye(2)[::-1]], [nx.path_graph([(0, "a"), (0, "b"), "c"])], [np.eye(2)[::-1]]
    joined = GraphBatch.concatenate(list(map(read_graphs, graphs)))
    assert joined[[1, 2]].node_ids.tolist() == [(0, "a"), (0, "b"), "c", 0, 1]
