"""Two piles: the statistics against loops, exchanges, and what the test promises."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import read_graphs
from skgraphkde.comparing import _codes_of, _difference, _energy, _exchange, compare
from tests.conftest import with_data


def worlds(n_graphs, seed, rewired=0.1, n_nodes=14):
    rng = np.random.RandomState(seed)
    return [
        nx.connected_watts_strogatz_graph(n_nodes + rng.randint(4), 4, rewired, seed=rng)
        for _ in range(n_graphs)
    ]


@given(st.integers(2, 6), st.integers(2, 6), st.integers(0, 10_000))
def test_statistics_are_those_of_loops(n_first, n_second, seed):
    rng = np.random.default_rng(seed)
    n = n_first + n_second
    points = rng.normal(size=(n, 2))
    D = np.linalg.norm(points[:, None] - points, axis=2)
    is_first = np.repeat([True, False], [n_first, n_second])
    exchanged = _exchange(is_first, np.zeros(n, dtype=int), 5, seed)
    assert exchanged[:, 0].tolist() == is_first.tolist()
    energies = _energy(D, exchanged)
    differences = _difference(points[:, 0], exchanged)
    ranks = [1 + sum(x < y for x in points[:, 0]) for y in points[:, 0]]
    for column, energy, difference in zip(exchanged.T, energies, differences, strict=True):
        first, second = np.flatnonzero(column == 1), np.flatnonzero(column == 0)
        assert (len(first), len(second)) == (n_first, n_second)
        between = np.mean([D[i, j] for i in first for j in second])
        within = [np.mean([D[i, j] for i in x for j in x]) for x in (first, second)]
        assert energy == pytest.approx(2 * between - sum(within))
        means = [np.mean([ranks[i] for i in x]) for x in (first, second)]
        assert difference == pytest.approx(abs(means[0] - means[1]))


def test_graphs_are_exchanged_within_blocks():
    blocks = _codes_of(["a", "a", None, None, "b", "a", None], 7, np.arange(7) < 4)
    exchanged = _exchange(np.arange(7) < 4, blocks, 200, 0)
    for block in range(3):
        members = blocks == block
        assert (exchanged[members].sum(axis=0) == exchanged[members, 0].sum()).all()
    assert len({tuple(x) for x in exchanged.T}) == 3 * 3  # all that there are


def test_piles_that_differ_are_told_apart():
    found = compare(worlds(15, 0), worlds(15, 1, rewired=0.6), n_permutations=99, random_state=0)
    assert found.p_value == 0.01
    assert found.views["p_value"].is_monotonic_increasing
    assert found.views["p_value"][0] == found.p_value
    assert [len(x) for x in found.typical] == [5, 5]
    again = compare(worlds(15, 0), worlds(15, 1, rewired=0.6), n_permutations=99, random_state=0)
    assert again.views.equals(found.views)
    batches = [read_graphs(worlds(15, 0)), read_graphs(worlds(15, 1, rewired=0.6))]
    assert compare(*batches, n_permutations=99, random_state=0).views.equals(found.views)


def test_typical_graphs_are_those_that_only_one_pile_has():
    mixed = [*worlds(8, 0), *map(nx.star_graph, range(13, 18))]
    found = compare(mixed, worlds(12, 1), n_permutations=19, random_state=0)
    assert sorted(found.typical[0].tolist()) == [8, 9, 10, 11, 12]


def test_a_difference_of_sites_is_none_within_sites():
    """The piles have sites in other shares, and differ in nothing else."""

    def of_site(n_graphs, seed, site):
        graphs = worlds(n_graphs, seed, n_nodes={"a": 12, "b": 18}[site])
        return [with_data(graph, {"label": site}) for graph in graphs]

    sites = ["a"] * 12 + ["b"] * 4 + ["a"] * 4 + ["b"] * 12
    without, within = [], []
    for seed in range(0, 12, 4):
        X = [*of_site(12, seed, "a"), *of_site(4, seed + 1, "b")]
        Z = [*of_site(4, seed + 2, "a"), *of_site(12, seed + 3, "b")]
        options = {"n_permutations": 99, "random_state": 0}
        without.append(compare(X, Z, **options).p_value)
        within.append(compare(X, Z, blocks=sites, **options).p_value)
    assert max(without) <= 0.05
    assert max(within) > 0.1


def test_equal_graphs_do_not_differ():
    cycles = [nx.cycle_graph(8)] * 6 + [nx.cycle_graph(9)] * 6
    found = compare(cycles, cycles, n_permutations=19, random_state=0)
    assert found.p_value > 0.05


@pytest.mark.slow
def test_the_test_keeps_its_level():
    """Of 150 pairs of piles of one source, about one in ten is different at .1."""
    p_values = []
    for seed in range(150):
        graphs = worlds(16, seed)
        found = compare(graphs[:6], graphs[6:], n_permutations=19, random_state=seed)
        p_values.append(found.p_value)
    assert 2 <= np.sum(np.array(p_values) <= 0.1) <= 28  # but in one of a thousand


@pytest.mark.parametrize(
    ("X", "Z", "options", "message"),
    [
        ([nx.path_graph(3)], [nx.path_graph(4)] * 3, {}, "at least 2 graphs, .* got 1 and 3"),
        ([nx.path_graph(3)] * 2, [nx.path_graph(4)] * 3, {"n_permutations": 3}, "n_permutations"),
        ([nx.path_graph(3)] * 2, [nx.path_graph(4)] * 2, {"blocks": [1]}, "blocks has 1 values"),
        (
            [nx.path_graph(3)] * 2,
            [nx.path_graph(4)] * 2,
            {"blocks": [1, 1, 2, 2]},
            "each block has graphs of one pile only",
        ),
        (nx.path_graph(3), [nx.path_graph(4)] * 2, {}, "one graph: write"),
        ([nx.path_graph(3), None], [nx.path_graph(4)] * 2, {}, "graph 1 is None"),
    ],
)
def test_what_cannot_be_compared_is_an_error(X, Z, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compare(X, Z, **options)
