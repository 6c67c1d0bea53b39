import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from skgraphkde.graphs import GraphBatch, read_graphs
from tests.conftest import random_graphs
from tests.graphs.common import assert_same
from tests.graphs.test_schema import EVERYTHING, PLANTS


def test_sizes():
    batch = read_graphs([nx.path_graph(3), nx.empty_graph(1), nx.complete_graph(4)])
    assert len(batch) == 3
    assert batch.shape == (3,)
    assert batch.n_nodes == 8
    assert batch.n_nodes_per_graph.tolist() == [3, 1, 4]
    assert batch.n_edges_per_graph.tolist() == [2, 0, 6]
    assert batch.degrees.tolist() == [1, 2, 1, 0, 3, 3, 3, 3]
    assert batch.graph_of_node.tolist() == [0, 0, 0, 1, 2, 2, 2, 2]
    assert repr(batch) == "GraphBatch(n_graphs=3, n_nodes=8, n_edges=8)"


@given(st.lists(st.integers(-6, 5), max_size=8))
def test_indexing_equals_reading_the_chosen_graphs(index):
    batch = read_graphs(PLANTS, schema=EVERYTHING)
    if index:
        assert_same(batch[index], read_graphs([PLANTS[i] for i in index], schema=EVERYTHING))
        assert_same(batch[np.array(index)], batch[index])
    assert len(batch[np.array(index, dtype=int)]) == len(index)


@pytest.mark.parametrize("key", [slice(None), slice(2, 7), slice(None, None, -2), slice(3, 3)])
def test_slices(batch, graphs, key):
    if graphs[key]:
        assert_same(batch[key], read_graphs(graphs[key]))
    assert len(batch[key]) == len(graphs[key])


def test_int_mask_and_the_index_of_scikit_learn(batch):
    mask = np.arange(12) % 3 == 0
    assert_same(batch[3], batch[[3]])
    assert_same(batch[-1], batch[[11]])
    assert_same(batch[mask], batch[[0, 3, 6, 9]])
    assert_same(batch[[1, 2], ...], batch[[1, 2]])
    train, test = train_test_split(batch, random_state=0)
    assert isinstance(train, GraphBatch)
    assert len(train) + len(test) == 12


def test_index_out_of_range_is_refused(batch):
    with pytest.raises(IndexError, match="index 12 is out of bounds for axis 0 with size 12"):
        batch[12]


def test_concatenate_undoes_slicing(batch):
    assert_same(GraphBatch.concatenate([batch[:5], batch[5:6], batch[6:]]), batch)


def test_concatenate_merges_vocabularies():
    a = random_graphs(9, seed=1, labels="ZACYN")
    b = random_graphs(9, seed=2, labels="XONBZ")
    joined = GraphBatch.concatenate([read_graphs(a), read_graphs(b)])
    assert joined.label_names == tuple("ABCNOXYZ")
    assert_same(joined, read_graphs(a + b))


def test_concatenate_refuses_what_does_not_fit():
    plain, labeled = read_graphs([nx.path_graph(2)]), read_graphs(random_graphs(1))
    wide, narrow = (read_graphs(random_graphs(1, labels="", n_attributes=p)) for p in (3, 2))
    with pytest.raises(ValueError, match=r"batches differ .* node categories none and 'label'"):
        GraphBatch.concatenate([plain, labeled])
    with pytest.raises(ValueError, match=r"node numbers 'x \(3 columns\)' and 'x \(2 columns\)'"):
        GraphBatch.concatenate([wide, narrow])
    with pytest.raises(ValueError, match="nothing to concatenate"):
        GraphBatch.concatenate([])


def test_unweighted_edges_have_no_weight_in_networkx(batch):
    assert all(not data for graph in batch.to_networkx() for *_, data in graph.edges(data=True))


def test_pickle(batch):
    loaded = pickle.loads(pickle.dumps(batch))
    assert_same(loaded, batch)
    assert not loaded.node_ptr.flags.writeable


def test_arrays_are_read_only_and_the_callers_are_not(batch):
    with pytest.raises(ValueError, match="read-only"):
        batch.adjacency.data[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        batch.labels[0] = 1
    ptr = np.array([0, batch.n_nodes])
    GraphBatch(ptr, batch.adjacency)
    ptr[0] = 0  # still writable
    assert ptr.flags.writeable
