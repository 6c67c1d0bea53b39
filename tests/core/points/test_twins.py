import math
from collections import defaultdict

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from skgraphkde import (
    GraphBatch,
    GraphSchema,
    read_graphs,
)
from skgraphkde.core.points import twins as module
from skgraphkde.core.points.features import NodeFeatures
from skgraphkde.core.points.twins import Twins, find_copies, swap_edges, swap_features
from tests.conftest import permuted, random_graphs
from tests.core.graphs.common import typed_graphs


def spectral_twins_slow(A, tau_1, tau_2, max_ratio, self_loops=False):
    """Algorithm 1, graph by graph: the paper's SVD, by eigenpairs if the matrix is symmetric."""
    weight = np.where(A > 0, A, A[A > 0].mean())
    A = A + self_loops * A[A > 0].mean() * np.eye(len(A))
    left, values, right = np.linalg.svd(A)
    if (A == A.T).all():
        values, left = np.linalg.eigh(A)
        right = left.T
    triples = sorted(
        zip(values, left.T, right, strict=True),
        key=lambda item: (-round(abs(item[0]), 9), -item[0]),
    )
    values = [value for value, _, _ in triples]
    energy, total = 0.0, sum(value**2 for value in values)
    ends = {}
    for k, value in enumerate(values, 1):
        energy += value**2
        for tau in (tau_1, tau_2):
            if tau not in ends and energy >= (tau - 1e-9) * total:
                # the vectors of one value stay together
                ends[tau] = max(
                    i for i, v in enumerate(values, 1) if abs(v - value) < 1e-8 or i == k
                )
    head, tail = range(ends[tau_1]), range(ends[tau_2], len(values))
    ratio = max_ratio
    if len(tail):
        mean_tail = np.mean([abs(values[i]) for i in tail])
        mean_head = np.mean([abs(values[i]) for i in head])
        ratio = min(mean_head / mean_tail, max_ratio) if mean_tail > 1e-12 else max_ratio
    twins = []
    for part, factor in ((head, 1 / ratio), (tail, ratio)):
        rebuilt = sum(
            value * (factor if i in part else 1) * np.outer(u, v)
            for i, (value, u, v) in enumerate(triples)
        )
        twin = (rebuilt > (0.5 + 1e-9) * weight).astype(float)
        np.fill_diagonal(twin, 0)
        twins.append(twin)
    return twins


@pytest.mark.parametrize("directed", [False, True])
@given(
    st.integers(0, 10**6),
    st.sampled_from([(0.5, 0.75), (0.3, 0.9), (0.6, 0.6), (1.0, 1.0)]),
    st.sampled_from([1.0, 1.5, 10.0]),
    st.booleans(),
    st.booleans(),
)
def test_spectral_twins_equal_the_algorithm(
    directed, seed, thresholds, max_ratio, self_loops, weights
):
    batch = typed_batch(6, seed, directed=directed, data=False, weights=weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_RATIO", max_ratio)
        twins = Twins(0.0, thresholds, self_loops).structural(batch, np.random.RandomState(0))
    for i in range(len(batch)):
        if batch[i].adjacency.nnz:
            A = batch[i].adjacency.toarray()
            slow = spectral_twins_slow(A, *thresholds, max_ratio, self_loops)
            for twin, expected in zip(twins, slow, strict=True):
                np.testing.assert_array_equal(twin[i].adjacency.toarray() > 0, expected > 0)


@given(st.integers(0, 10**6))
def test_twins_do_not_depend_on_node_order(seed):
    # Many equal eigenvalues, many of equal size, and many entries that lie on the cut.
    shapes = [nx.cycle_graph(6), nx.complete_bipartite_graph(3, 4), nx.hypercube_graph(3)]
    shapes += [nx.petersen_graph(), nx.icosahedral_graph(), nx.dodecahedral_graph()]
    batch = read_graphs([*random_graphs(5, seed, labels=""), *shapes])
    directed = typed_batch(5, seed, directed=True, data=False)
    arcs = [
        nx.cycle_graph(6, nx.DiGraph),
        nx.path_graph(7, nx.DiGraph),
        nx.DiGraph(shapes[2].edges),
    ]
    arcs += [nx.circulant_graph(9, [1, 3], nx.DiGraph), nx.balanced_tree(3, 2, nx.DiGraph)]
    directed = GraphBatch.concatenate([directed, read_graphs(arcs)])
    for graphs in (batch, directed):
        moved = permuted(graphs, seed).replace(schema=graphs.schema)
        for p_pert in (1.0, 0.3):
            twins, of_moved = (
                Twins(p_pert=p_pert).structural(x, np.random.RandomState(0))
                for x in (graphs, moved)
            )
            for twin, other in zip(twins, of_moved, strict=True):
                assert (permuted(twin, seed).adjacency != other.adjacency).nnz == 0


@given(st.integers(0, 10**6))
def test_twins_with_edges_removed_lack_edges_and_nothing_else(seed):
    batch = typed_batch(6, seed, directed=bool(seed % 2), weights=bool(seed % 3))
    state = np.random.get_state()[1].copy()
    twin, before = Twins().with_edges_removed(batch), edges_of(batch)
    assert all(before[pair] == data for pair, data in edges_of(twin).items())
    removed, _ = Twins(0.0).structural(batch, np.random.RandomState(0))
    kept = set(edges_of(removed)) & set(before)
    assert set(edges_of(twin)) == kept
    np.testing.assert_array_equal(np.random.get_state()[1], state)


def test_a_smaller_part_of_the_spectrum_changes_fewer_edges():
    batch = read_graphs([nx.gnp_random_graph(30, 0.2, seed=seed) for seed in range(20)])
    n_edges = [
        Twins(p_pert=x).structural(batch, np.random.RandomState(0))[0].adjacency.nnz
        for x in (0.02, 0.1, 1.0)
    ]
    assert batch.adjacency.nnz > n_edges[0] > n_edges[1] >= n_edges[2]


def test_copies_are_found():
    graphs = read_graphs([nx.path_graph(4), nx.star_graph(3), nx.cycle_graph(6)])
    features = NodeFeatures(("degree",)).fit(graphs)
    order = [nx.relabel_nodes(nx.path_graph(4), {0: 3, 3: 0}), nx.path_graph(4), nx.cycle_graph(5)]
    twins = GraphBatch.concatenate([graphs, read_graphs(order)])
    found = find_copies(features.transform(graphs), features.transform(twins), 2)
    # By degrees and neighbors, the path with its ends exchanged is the same.
    assert found.tolist() == [True, True, True, True, False, False]


# -- data of edges ---------------------------------------------------------------------------------


def typed_batch(n_graphs, seed, *, directed, data=True, parallel=False, weights=False):
    """Graphs whose edges have a category, a number that hardly another has, and perhaps weights."""
    graphs = typed_graphs(n_graphs, seed, directed=directed, multi=parallel, categories="abc")
    ignored = {} if data else {"edge_categories": None, "edge_numbers": None}
    weight = "w" if weights else None
    schema = GraphSchema(node_categories=None, edge_weight=weight, directed=directed, **ignored)
    return read_graphs(graphs, schema=schema)


KINDS = st.fixed_dictionaries({name: st.booleans() for name in ("directed", "parallel", "weights")})
MAKERS = {
    "spectral": lambda batch, rng: Twins(0.0).structural(batch, rng),
    "swapped": lambda batch, rng: [swap_edges(batch, 0.7, rng)],
    "structural": lambda batch, rng: Twins(0.5).structural(batch, rng),
}


def edges_of(batch):
    """The data of the arcs between each pair of nodes, sorted."""
    row = batch.source_of_arc
    found = defaultdict(list)
    for arc, pair in enumerate(zip(row.tolist(), batch.adjacency.indices.tolist(), strict=True)):
        name = batch.edge_label_names[batch.edge_labels[arc]]
        data = (name, *batch.edge_attributes[arc].tolist(), batch.adjacency.data[arc])
        found[pair].append(data)
    return {pair: sorted(data) for pair, data in found.items()}


@pytest.mark.parametrize("maker", MAKERS)
@given(kind=KINDS, seed=st.integers(0, 10**6))
def test_what_holds_of_every_twin(kind, maker, seed):
    batch = typed_batch(5, seed, **kind)
    for twin in MAKERS[maker](batch, np.random.RandomState(seed)):
        assert twin.node_ptr.tolist() == batch.node_ptr.tolist()
        assert (twin.schema, twin.edge_label_names) == (batch.schema, batch.edge_label_names)
        A = twin.adjacency
        assert len(twin.edge_labels) == len(twin.edge_attributes) == A.nnz == len(A.data)
        row = twin.source_of_arc
        assert (np.diff(row * twin.n_nodes + A.indices) >= 0).all()  # sorted
        assert (row != A.indices).all()
        assert (twin.graph_of_node[row] == twin.graph_of_node[A.indices]).all()
        assert (A.data > 0).all()
        found = edges_of(twin)
        if not twin.directed:
            assert all(found[v, u] == data for (u, v), data in found.items())
        # all that is drawn is drawn from `rng`, whatever the size of blocks
        with config_context(working_memory=1e-3):
            again = MAKERS[maker](batch, np.random.RandomState(seed))
        assert edges_of(twin) in [edges_of(other) for other in again]


@given(kind=KINDS, seed=st.integers(0, 10**6))
def test_data_of_edges_that_stay_and_of_new_ones(kind, seed):
    batch = typed_batch(5, seed, **kind)
    before, graph = edges_of(batch), batch.graph_of_node
    for twin in Twins(0.0).structural(batch, np.random.RandomState(seed)):
        for (u, v), data in edges_of(twin).items():
            if (u, v) in before:
                assert data == before[u, v]
                continue
            own = [
                of for pair, all_of in before.items() if graph[pair[0]] == graph[u] for of in all_of
            ]
            assert len(data) == 1
            assert data[0][:2] in [of[:2] for of in own]
            np.testing.assert_allclose(data[0][2], np.mean([of[2] for of in own]))


@given(kind=KINDS, seed=st.integers(0, 10**6), ratio=st.sampled_from([0.2, 0.5, 1.0]))
def test_swapped_edges(kind, seed, ratio):
    batch = typed_batch(5, seed, **kind)
    twin = swap_edges(batch, ratio, np.random.RandomState(seed))
    for name in ("data", "indices", "indptr"):
        old, new = (getattr(x.adjacency, name) for x in (batch, twin))
        if name != "data" or not kind["parallel"]:  # those between one pair have no order
            np.testing.assert_array_equal(new, old)
    for i in range(len(batch)):
        before, after = edges_of(batch[i]), edges_of(twin[i])
        pairs = [pair for pair in before if batch.directed or pair[0] < pair[1]]
        assert sorted(of[:2] for pair in pairs for of in after[pair]) == sorted(
            of[:2]
            for pair in pairs
            for of in before[pair]  # category and number go together
        )
        for pair in pairs:
            assert sorted(of[2] for of in after[pair]) == sorted(of[2] for of in before[pair])
        n_changed = sum(
            len({of[:2] for of in after[pair]} - {of[:2] for of in before[pair]}) for pair in pairs
        )
        assert n_changed <= math.floor(ratio * batch.n_edges_per_graph[i] + 1e-9)


def test_swapped_edges_move():
    batch = typed_batch(30, 1, directed=True)
    twin = swap_edges(batch, 1.0, np.random.RandomState(0))
    moved = (twin.edge_attributes != batch.edge_attributes).mean()
    assert moved > 0.7  # a permutation of m edges leaves one where it is, on average


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "twins", [Twins(), Twins(energies=None), Twins(swap=0.0, self_loops=False)]
)
@pytest.mark.filterwarnings("ignore:graph . is undirected")
def test_hard_graphs_survive(twins, directed):
    batch = read_graphs(
        [
            nx.empty_graph(1),
            nx.empty_graph(5),
            nx.path_graph(2),
            nx.complete_graph(7),
            nx.disjoint_union(nx.cycle_graph(5), nx.path_graph(3)),
            nx.star_graph(30),
        ],
        schema=GraphSchema(directed=directed),
    )
    for twin in twins.structural(batch, np.random.RandomState(0)):
        assert twin.n_nodes_per_graph.tolist() == batch.n_nodes_per_graph.tolist()
        assert (twin.adjacency != twin.adjacency.T).nnz == 0
        assert not twin.adjacency.diagonal().any()
        assert twin.n_edges_per_graph[:2].tolist() == [0, 0]


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_swapped_features(seed, ratio):
    batch = read_graphs(random_graphs(8, seed, labels="", max_nodes=12))
    batch = batch.with_node_numbers(np.arange(batch.n_nodes, dtype=float)[:, None])
    twin = swap_features(batch, ratio, np.random.RandomState(seed))
    for i in range(len(batch)):
        before, after = batch[i].attributes.ravel(), twin[i].attributes.ravel()
        assert sorted(after) == before.tolist()  # a permutation within the graph
        assert (before != after).sum() <= math.floor(ratio * len(before) + 1e-9)
    assert twin.adjacency is not None
    np.testing.assert_array_equal(batch.attributes.ravel(), np.arange(batch.n_nodes))


def test_swaps_are_uniform():
    """Every node is chosen equally often, and every permutation of the chosen comes up."""
    batch = GraphBatch.concatenate([read_graphs([nx.path_graph(6)])] * 4000)
    batch = batch.with_node_numbers(np.tile(np.arange(6.0), 4000)[:, None])
    rows = swap_features(batch, 0.5, np.random.RandomState(0)).attributes.reshape(-1, 6)
    moved = (rows != np.arange(6)).mean(0)  # 3 of 6 nodes, each stays with probability 1/3
    np.testing.assert_allclose(moved, 0.5 * 2 / 3, atol=0.03)


# -- specifications --------------------------------------------------------------------------------


def test_twins_do_not_depend_on_the_unit_of_weights():
    rng = np.random.default_rng(0)
    edges = list(nx.gnp_random_graph(12, 0.4, seed=0).edges)
    weights = rng.uniform(1, 2, len(edges))
    expected = None
    for unit in (1.0, 1e-170):
        graph = nx.Graph()
        graph.add_nodes_from(range(12))
        graph.add_weighted_edges_from(
            (u, v, w * unit) for (u, v), w in zip(edges, weights, strict=True)
        )
        batch = read_graphs([graph], schema=GraphSchema(edge_weight="weight"))
        twins = Twins(0.0).structural(batch, np.random.RandomState(0))
        found = [(x.adjacency > 0).toarray() for x in twins]
        expected = found if expected is None else expected
        np.testing.assert_array_equal(found, expected)
