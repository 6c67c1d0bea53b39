"""Random graphs have the parameters that their makers report."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import zeta

from skgraphkde.datasets import (
    make_barabasi_albert,
    make_distribution_shift,
    make_erdos_renyi,
    make_stochastic_block,
    make_watts_strogatz,
)
from skgraphkde.datasets._random_graphs import _power_law_fit, _rewire

MAKERS = [make_erdos_renyi, make_barabasi_albert, make_watts_strogatz, make_stochastic_block]


def edge_shares(graphs):
    n = graphs.n_nodes_per_graph
    return graphs.n_edges_per_graph / (n * (n - 1) / 2)


@pytest.mark.parametrize("make", MAKERS)
@given(
    n_normal=st.integers(0, 6),
    n_anomalies=st.integers(1, 5),
    smallest=st.integers(6, 20),
    seed=st.integers(0, 99),
)
def test_what_every_maker_returns(make, n_normal, n_anomalies, smallest, seed):
    options = {"n_nodes": (smallest, smallest + 5), "random_state": seed}
    before = np.random.get_state()[1].copy()
    drawn = make(n_normal, n_anomalies, **options)
    np.testing.assert_array_equal(np.random.get_state()[1], before)
    n = n_normal + n_anomalies
    assert drawn.target.tolist() == [1] * n_normal + [-1] * n_anomalies
    assert len(drawn.graphs) == len(drawn.density) == n
    assert all(len(values) == n for values in drawn.parameters.values())
    assert np.isfinite(drawn.density).all()
    assert (drawn.density >= 0).all()
    sizes = drawn.graphs.n_nodes_per_graph
    assert smallest <= sizes.min() <= sizes.max() <= smallest + 5
    A = drawn.graphs.adjacency
    assert abs(A - A.T).nnz == 0
    assert A.diagonal().sum() == 0
    assert set(A.data) <= {1.0}
    np.testing.assert_allclose(
        drawn.graphs.attributes[:, 0] * (np.repeat(sizes, sizes) - 1), drawn.graphs.degrees
    )
    again = make(n_normal, n_anomalies, **options).graphs
    assert (again.adjacency != A).nnz == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_normal": 0}, "ask for at least one graph"),
        ({"n_nodes": (9, 8)}, r"n_nodes must be \(smallest, largest\)"),
        ({"n_anomalies": -1}, "n_anomalies"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_erdos_renyi(**arguments)


def test_erdos_renyi_edges_follow_p():
    drawn = make_erdos_renyi(400, 200, random_state=0)
    p, shares = drawn.parameters["p"], edge_shares(drawn.graphs)
    pairs = drawn.graphs.n_nodes_per_graph * (drawn.graphs.n_nodes_per_graph - 1) / 2
    standardized = (shares - p) / np.sqrt(p * (1 - p) / pairs)
    assert abs(standardized.mean()) < 4 / np.sqrt(600)
    assert standardized.std() == pytest.approx(1, abs=0.15)
    assert ((p[400:] <= 0.2) | (p[400:] >= 0.8)).all()
    assert abs(p[:400].mean() - 0.5) < 0.05
    np.testing.assert_allclose(drawn.density, 6 * p * (1 - p))


def test_barabasi_albert_links():
    drawn = make_barabasi_albert(3, 4, random_state=0)
    n, edges = drawn.graphs.n_nodes_per_graph, drawn.graphs.n_edges_per_graph
    m = drawn.parameters["m"]
    assert m.tolist() == [2, 2, 2, 1, 2, 1, 2]
    assert drawn.parameters["rewired"].tolist() == [0, 0, 0, 0, 0.3, 0, 0.3]
    assert edges.tolist() == (m * (n - m)).tolist()  # rewiring keeps their number
    # Each node except the first two adds m links, until some are moved.
    lost = [(drawn.graphs[i].degrees[2:] < m[i]).any() for i in range(7)]
    assert lost == [False, False, False, False, True, False, True]


def test_power_law_fit_by_hand():
    # Degrees of a star with three leaves: 3, 1, 1, 1.
    divergence = 0.75 * np.log(0.75 * zeta(3)) + 0.25 * np.log(0.25 * 27 * zeta(3))
    assert _power_law_fit(nx.star_graph(3)) == pytest.approx(1 / (1 + divergence))


def test_watts_strogatz_edges_and_density():
    drawn = make_watts_strogatz(3, 4, random_state=1)
    assert drawn.graphs.n_edges_per_graph.tolist() == (2 * drawn.graphs.n_nodes_per_graph).tolist()
    p = drawn.parameters["p"]
    assert (p[3::2] <= 0.05).all()
    assert (p[4::2] >= 0.8).all()
    for graph, density in zip(drawn.graphs.to_networkx(), drawn.density, strict=True):
        assert nx.is_connected(graph)
        C, L = nx.average_clustering(graph), nx.average_shortest_path_length(graph)
        ideal = np.log(len(graph)) / np.log(4)
        expected = 0.5 / (1 + 10 * (C - 0.5) ** 2) + 0.5 / (1 + 0.1 * (L - ideal) ** 2)
        assert density == pytest.approx(expected)


def test_blocks_are_communities():
    drawn = make_stochastic_block(20, 20, n_nodes=(48, 48), random_state=0)
    blocks = 3 * np.arange(48) // 48
    other = blocks[:, None] != blocks
    same = ~other & ~np.eye(48, dtype=bool)
    A = np.array([drawn.graphs[i].adjacency.toarray() for i in range(40)])
    inside, outside = A[:, same].mean(1), A[:, other].mean(1)
    np.testing.assert_allclose(inside, drawn.parameters["p_in"], atol=0.08)
    np.testing.assert_allclose(outside, drawn.parameters["p_out"], atol=0.06)
    p_in, p_out = drawn.parameters["p_in"], drawn.parameters["p_out"]
    assert (p_in[:20] >= 0.4).all()
    assert (p_out[:20] <= 0.1).all()
    np.testing.assert_array_equal(p_in[20::2], p_out[20::2])
    assert (p_in[21::2] <= 0.1).all()
    assert drawn.density[:20].min() > drawn.density[20:].max()


@pytest.mark.parametrize(
    ("scenario", "mean", "low", "high"),
    [("in_distribution", 0.5, 0, 1), ("sparse", 0.3, 0, 0.15), ("dense", 0.7, 0.85, 1)],
)
def test_shifts(scenario, mean, low, high):
    drawn = make_distribution_shift(scenario, n_train=200, n_test=100, random_state=0)
    assert len(drawn.train) == 200
    assert edge_shares(drawn.train).mean() == pytest.approx(0.5, abs=0.03)
    assert drawn.target.tolist() == [1] * 100 + [-1] * 100
    assert edge_shares(drawn.test)[:100].mean() == pytest.approx(mean, abs=0.03)
    p, rewired = drawn.parameters["p"], drawn.parameters["rewired"] > 0
    extreme = (drawn.target == -1) & ~rewired
    assert ((p[extreme] >= low) & (p[extreme] <= high)).all()
    assert rewired.sum() == (0 if scenario == "in_distribution" else 50)
    if rewired.any():
        # Moving edges keeps their number: these graphs look like normal ones.
        assert edge_shares(drawn.test)[rewired].mean() == pytest.approx(mean, abs=0.04)


def test_rewiring_moves_the_share_that_is_asked_for():
    graph = nx.gnp_random_graph(30, 0.3, seed=0)
    moved = _rewire(graph, 0.5, np.random.RandomState(0))
    assert moved.size() == graph.size()
    kept = set(map(frozenset, graph.edges)) & set(map(frozenset, moved.edges))
    assert len(kept) == graph.size() - round(0.5 * graph.size())
    full = nx.complete_graph(6)
    assert set(_rewire(full, 0.5, np.random.RandomState(0)).edges) == set(full.edges)
