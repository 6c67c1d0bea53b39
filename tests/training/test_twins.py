import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skgraphkde import (
    Contrastive,
    GraphBatch,
    GraphKDEDetector,
    RandomEdges,
    SpectralEdges,
    Twins,
    read_graphs,
)
from skgraphkde.datasets import load_mutag
from skgraphkde.training.edges import random_edge_twins, spectral_twins
from skgraphkde.training.twins import swap_features
from tests.conftest import permuted, random_graphs

# The paper's table of edge changes on MUTAG: thresholds -> (removed, its std, added), in percent.
PAPER_SHARES = {(0.5, 0.75): (15.14, 7.26, 25.06), (0.6, 0.85): (37.50, 15.32, 13.66)}


def spectral_twins_slow(A, tau_1, tau_2, max_ratio, cut):
    """Algorithm 1, graph by graph: the paper's SVD by eigenpairs."""
    eigenvalues, U = np.linalg.eigh(A)
    pairs = sorted(
        zip(eigenvalues, U.T, strict=True), key=lambda pair: (-round(abs(pair[0]), 9), -pair[0])
    )
    values = [value for value, _ in pairs]
    energy, total = 0.0, sum(value**2 for value in values)
    ends = {}
    for k, value in enumerate(values, 1):
        energy += value**2
        for tau in (tau_1, tau_2):
            if tau not in ends and energy >= (tau - 1e-9) * total:
                # an eigenvalue's eigenvectors stay together
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
            value * (factor if i in part else 1) * np.outer(u, u)
            for i, (value, u) in enumerate(pairs)
        )
        twin = (rebuilt > cut + 1e-9).astype(float)
        np.fill_diagonal(twin, 0)
        twins.append(twin)
    return twins


def dense(batch, i):
    return batch[i].adjacency.toarray()


@given(
    st.integers(0, 10**6),
    st.sampled_from([(0.5, 0.75), (0.3, 0.9), (0.6, 0.6), (1.0, 1.0)]),
    st.sampled_from([1.0, 1.5, 10.0]),
    st.sampled_from([0.3, 0.5]),
)
@settings(deadline=None, max_examples=60)
def test_spectral_twins_equal_the_algorithm(seed, thresholds, max_ratio, cut):
    batch = read_graphs(random_graphs(6, seed, max_nodes=12))
    twins = spectral_twins(batch, thresholds, max_ratio, cut)
    for i in range(len(batch)):
        if batch[i].adjacency.nnz:
            slow = spectral_twins_slow(dense(batch, i), *thresholds, max_ratio, cut)
            for twin, expected in zip(twins, slow, strict=True):
                np.testing.assert_array_equal(dense(twin, i), expected)


@pytest.mark.parametrize("thresholds", PAPER_SHARES)
def test_share_of_changed_edges_on_mutag(thresholds, capsys):
    molecules, _ = load_mutag(return_X_y=True)
    removed, added = spectral_twins(molecules, thresholds)
    edges = molecules.n_edges_per_graph

    def share(a, b):
        gone = (a.adjacency > b.adjacency).astype(int)
        per_node = np.asarray(gone.sum(axis=1)).ravel()
        return 100 * np.bincount(molecules.graph_of_node, per_node) / 2 / edges

    lost, new = share(molecules, removed), share(added, molecules)
    mean, std, paper_added = PAPER_SHARES[thresholds]
    with capsys.disabled():
        print(
            f"\nMUTAG at {thresholds}: removed {lost.mean():.1f} +- {lost.std():.1f} % "
            f"(paper {mean} +- {std}), added {new.mean():.1f} +- {new.std():.1f} % "
            f"(paper {paper_added})"
        )
    assert abs(lost.mean() - mean) <= std
    assert new.mean() > 0


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_twins_do_not_depend_on_node_order(seed):
    # Many equal eigenvalues, many of equal size, and many entries that lie on the cut.
    shapes = [nx.cycle_graph(6), nx.complete_bipartite_graph(3, 4), nx.hypercube_graph(3)]
    shapes += [nx.petersen_graph(), nx.icosahedral_graph(), nx.dodecahedral_graph()]
    batch = read_graphs([*random_graphs(5, seed, labels=""), *shapes])
    for twin, moved in zip(
        spectral_twins(batch), spectral_twins(permuted(batch, seed)), strict=True
    ):
        assert (permuted(twin, seed).adjacency != moved.adjacency).nnz == 0


HARD = {
    "one node": nx.empty_graph(1),
    "no edges": nx.empty_graph(5),
    "one edge": nx.path_graph(2),
    "complete": nx.complete_graph(7),
    "disconnected": nx.disjoint_union(nx.cycle_graph(5), nx.path_graph(3)),
    "star": nx.star_graph(30),
}


@pytest.mark.parametrize("kind", ["both", "features", "spectrum", "random_edges"])
def test_hard_graphs_survive(kind):
    batch = read_graphs(list(HARD.values()))
    twins = Contrastive(twins=kind).specification("twins")
    for twin in twins.structural(batch, np.random.RandomState(0)):
        assert twin.n_nodes_per_graph.tolist() == batch.n_nodes_per_graph.tolist()
        assert (twin.adjacency != twin.adjacency.T).nnz == 0
        assert not twin.adjacency.diagonal().any()
        assert twin.n_edges_per_graph[:2].tolist() == [0, 0]


def test_thousands_of_nodes():
    batch = read_graphs([nx.barabasi_albert_graph(2500, 2, seed=0), nx.path_graph(3)])
    removed, added = spectral_twins(batch)
    assert 0 < removed.n_edges_per_graph[0] < batch.n_edges_per_graph[0]
    assert (added.adjacency > batch.adjacency).nnz > 0


def test_weights_scale_with_the_graph():
    graphs = random_graphs(5, labels="", max_nodes=12)
    for graph in graphs:
        nx.set_edge_attributes(graph, {e: 1.0 + (sum(e) % 4) for e in graph.edges}, "weight")
    batch = read_graphs(graphs, edge_weight="weight")
    scaled = batch.replace(adjacency=7.0 * batch.adjacency)
    for a, b in zip(spectral_twins(batch), spectral_twins(scaled), strict=True):
        np.testing.assert_allclose(b.adjacency.toarray(), 7 * a.adjacency.toarray())
    before, after = (b.adjacency.toarray() for b in (batch, spectral_twins(batch)[0]))
    kept = (before > 0) & (after > 0)
    np.testing.assert_allclose(after[kept], before[kept])


def test_light_edges_stay_if_the_spectrum_does():
    graph = nx.path_graph(6)
    nx.set_edge_attributes(graph, 1.0, "weight")
    graph.add_weighted_edges_from([(0, 3, 10.0), (2, 5, 10.0)])
    batch = read_graphs([graph], edge_weight="weight")
    for twin in spectral_twins(batch, max_ratio=1.0):
        np.testing.assert_allclose(twin.adjacency.toarray(), batch.adjacency.toarray())


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
@settings(deadline=None, max_examples=30)
def test_swapped_features(seed, ratio):
    batch = read_graphs(random_graphs(8, seed, labels="", max_nodes=12))
    batch = batch.replace(attributes=np.arange(batch.n_nodes, dtype=float)[:, None])
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
    batch = batch.replace(attributes=np.tile(np.arange(6.0), 4000)[:, None])
    rows = swap_features(batch, 0.5, np.random.RandomState(0)).attributes.reshape(-1, 6)
    moved = (rows != np.arange(6)).mean(0)  # 3 of 6 nodes, each stays with probability 1/3
    np.testing.assert_allclose(moved, 0.5 * 2 / 3, atol=0.03)


def test_random_edges_change_a_fifth():
    graphs = [nx.gnp_random_graph(30, 0.3, seed=seed) for seed in range(4)]
    batch = read_graphs([*graphs, nx.complete_graph(6)])
    removed, added = random_edge_twins(batch, 0.2, np.random.RandomState(0))
    edges = batch.n_edges_per_graph
    count = np.floor(0.2 * edges + 1e-9).astype(int)
    assert (removed.n_edges_per_graph == edges - count).all()
    assert (added.n_edges_per_graph[:4] == (edges + count)[:4]).all()
    assert added.n_edges_per_graph[4] == 15  # no room
    assert (removed.adjacency > batch.adjacency).nnz == 0
    assert (batch.adjacency > added.adjacency).nnz == 0


# -- specifications --------------------------------------------------------------------------------

SHORT = {
    "both": (0.2, SpectralEdges),
    "features": (0.2, type(None)),
    "spectrum": (0, SpectralEdges),
    "random_edges": (0, RandomEdges),
}


@pytest.mark.parametrize("kind", SHORT)
def test_what_the_strings_are_short_for(kind):
    twins = Contrastive(twins=kind).specification("twins")
    assert (twins.swap_ratio, type(twins.specification("edges"))) == SHORT[kind]


def test_specifications_hand_their_parameters_on():
    batch = read_graphs([nx.gnp_random_graph(12, 0.3, seed=seed) for seed in range(6)])
    thresholds, max_ratio = (0.6, 0.85), 1.8
    twins = Twins(edges=SpectralEdges(thresholds, max_ratio=max_ratio))
    spectral = twins.structural(batch, np.random.RandomState(0))
    for twin, expected in zip(spectral, spectral_twins(batch, thresholds, max_ratio), strict=True):
        assert (twin.adjacency != expected.adjacency).nnz == 0
    for others in (spectral_twins(batch, thresholds), spectral_twins(batch, max_ratio=max_ratio)):
        assert (spectral[0].adjacency != others[0].adjacency).nnz > 0
    for twin, expected in zip(
        Twins(edges=RandomEdges(0.5)).structural(batch, np.random.RandomState(0)),
        random_edge_twins(batch, 0.5, np.random.RandomState(0)),
        strict=True,
    ):
        assert (twin.adjacency != expected.adjacency).nnz == 0
    assert Twins(edges=None).structural(batch, np.random.RandomState(0)) == [batch]


@pytest.mark.parametrize(
    ("twins", "message"),
    [
        (Twins(swap_ratio=0, edges=None), "twins are the graphs themselves: raise swap_ratio, or"),
        (Twins(swap_ratio=1.1), "'swap_ratio' parameter of Twins must be"),
        (Twins(edges="all"), "'edges' parameter of Twins must be"),
        (Twins(edges=RandomEdges(ratio=-0.1)), "'ratio' parameter of RandomEdges must be"),
        (Twins(edges=SpectralEdges(max_ratio=0.9)), "'max_ratio' parameter of SpectralEdges must"),
        (Twins(edges=SpectralEdges((0.8, 0.5))), r"0 < tau_1 <= tau_2 <= 1. Got \(0.8, 0.5\)"),
        (Twins(edges=SpectralEdges((0.5,))), "must be .tau_1, tau_2. with"),
        (Twins(edges=SpectralEdges((0.5, "x"))), "must be .tau_1, tau_2. with"),
        (Twins(edges=SpectralEdges(0.5)), "'energy_thresholds' parameter of SpectralEdges must be"),
    ],
)
def test_bad_parameters(twins, message):
    with pytest.raises(ValueError, match=message):
        twins.validate()
    detector = GraphKDEDetector(encoder="gcn", training=Contrastive(twins=twins))
    with pytest.raises(ValueError, match=message):
        detector.fit(random_graphs(4))
