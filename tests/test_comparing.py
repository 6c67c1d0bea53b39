"""Two piles: the statistics against loops, exchanges, and what the test promises."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphSchema, read_graphs
from skgraphkde._words import Words
from skgraphkde.comparing import (
    _codes_of,
    _codes_of_size,
    _differences,
    _energy,
    _exchange,
    _some_of_each,
    compare,
)
from skgraphkde.explanation.quantities import _percent, _say_shares
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
    exchanged = _exchange(is_first, np.zeros(n, dtype=int), 5, np.random.RandomState(seed))
    assert exchanged[:, 0].tolist() == is_first.tolist()
    energies = _energy(D, exchanged)
    x, y = points.round(1).T.tolist()  # with ties
    y[0] = np.nan
    differences = _differences(np.column_stack([x, y]), exchanged)
    ranks = [[sum(z < w for z in x) + sum(z == w for z in x) / 2 for w in x]]
    given = y[1:]
    of_given = [sum(z < w for z in given) + sum(z == w for z in given) / 2 for w in given]
    ranks.append([np.mean(of_given), *of_given])
    for column, energy, difference in zip(exchanged.T, energies, differences.T, strict=True):
        first, second = np.flatnonzero(column == 1), np.flatnonzero(column == 0)
        assert (len(first), len(second)) == (n_first, n_second)
        between = np.mean([D[i, j] for i in first for j in second])
        within = [np.mean([D[i, j] for i in x for j in x]) for x in (first, second)]
        assert energy == pytest.approx(2 * between - sum(within))
        for of, own in zip(ranks, difference, strict=True):
            means = [np.mean([of[i] for i in x]) for x in (first, second)]
            assert own == pytest.approx(means[0] - means[1])


def test_graphs_are_exchanged_within_blocks():
    blocks = _codes_of(["a", "a", None, None, "b", "a", None], 7)
    exchanged = _exchange(np.arange(7) < 4, blocks, 200, np.random.RandomState(0))
    for block in range(3):
        members = blocks == block
        assert (exchanged[members].sum(axis=0) == exchanged[members, 0].sum()).all()
    assert len({tuple(x) for x in exchanged.T}) == 3 * 3  # all that there are


def test_piles_that_differ_are_told_apart():
    found = compare(worlds(15, 0), worlds(15, 1, rewired=0.6), n_permutations=99, random_state=0)
    assert found.p_value == 0.01
    assert found.views["p_value"].is_monotonic_increasing
    assert (found.views["p_alone"] <= found.views["p_value"]).all()
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


def test_graphs_are_exchanged_among_those_of_their_size():
    graphs = read_graphs([nx.path_graph(n) for n in (3, 9, 3, 4, 9, 8, 20, 4, 5)])
    blocks = np.array([0, 0, 0, 0, 0, 0, 1, 0, 0])
    codes = _codes_of_size(graphs, blocks)
    sizes = graphs.n_nodes_per_graph
    found = [sorted(sizes[codes == k].tolist()) for k in range(3)]
    assert found == [[3, 3, 4, 4], [5, 8, 9, 9], [20]]
    order = np.random.RandomState(0).permutation(9)
    assert _codes_of_size(graphs[order], blocks[order]).tolist() == codes[order].tolist()


def of_size(n_nodes, seed):
    return nx.connected_watts_strogatz_graph(n_nodes, 4, 0.2, seed=seed)


def test_a_difference_of_sizes_is_none_beyond_size():
    rng = np.random.RandomState(0)
    sizes = [rng.randint(10, 30, 20), rng.randint(16, 36, 20)]
    X, Z = ([of_size(int(n), rng) for n in x] for x in sizes)
    assert compare(X, Z, random_state=0).p_value <= 0.05
    assert compare(X, Z, match="size", random_state=0).p_value > 0.05
    rewired = [nx.gnm_random_graph(len(x), x.number_of_edges(), seed=rng) for x in Z]
    assert compare(X, rewired, match="size", random_state=0).p_value <= 0.05


def test_findings_say_what_differs():
    """One kind of node and one edge are more frequent; a number is larger; nothing else."""

    def cases(n_cases, seed, share, hours):
        rng = np.random.RandomState(seed)
        graphs = []
        for _ in range(n_cases):
            steps = ["register", "check", "approve", "pay"]
            steps[2] = "reject" if rng.rand() < share else "approve"
            graph = nx.path_graph(4, nx.DiGraph)
            for v, step in enumerate(steps):
                graph.nodes[v].update(label=step, hours=rng.gamma(4, hours))
            graphs.append(graph)
        return graphs

    X, Z = cases(30, 0, 0.1, 1), cases(30, 1, 0.6, 2)
    found = compare(X, Z, schema="all", random_state=0, names=("before", "after"))
    table = found.findings
    assert table["goes_with"].lt(table.index).all()
    alone = table[table["goes_with"] < 0]
    shares = [np.mean([x.nodes[2]["label"] == "reject" for x in pile]) for pile in (X, Z)]
    medians = [
        np.median([np.mean([y for _, y in x.nodes(data="hours")]) for x in pile]) for pile in (X, Z)
    ]
    of = table.set_index("what")
    assert of.loc["reject", ["first", "second"]].tolist() == shares
    assert of["finding"]["reject"] == f"reject: {shares[0]:.0%} and {shares[1]:.0%} of cases"
    of_hours = of.loc["average hours of nodes"]
    assert of_hours[["first", "second"]].tolist() == pytest.approx(medians)
    assert of_hours["finding"].startswith("average hours of steps: ")
    of_pay = [np.median([data["hours"] for x in pile for data in [x.nodes[3]]]) for pile in (X, Z)]
    assert of.loc["hours of pay", ["first", "second"]].tolist() == pytest.approx(of_pay)
    sure = table[table["p_value"] <= 0.05]
    assert {"reject", "average hours of nodes", "hours of pay"} <= {*sure["what"]}
    assert alone["p_value"].max() > 0.05
    assert sure["finding"].str.contains("hours|reject|approve").all()  # and nothing else


def test_what_only_one_pile_has_is_said():
    X = [with_data(graph, {"label": "a"}) for graph in worlds(12, 0)]
    Z = [with_data(graph, {"label": "a"}) for graph in worlds(12, 1)]
    for graph in Z[:8]:
        graph.nodes[0]["label"] = "b"
    found = compare(X, Z, random_state=0, names=("before", "after")).findings
    assert found["finding"][0] == "b: 67% of graphs in after, none in before"
    assert found["kind"][0] == "categories"


def test_of_many_graphs_some_of_each_pile_are_compared(monkeypatch):
    monkeypatch.setattr("skgraphkde.comparing.MOST_GRAPHS", 20)
    index = _some_of_each(np.arange(100) < 25, np.random.RandomState(0))
    assert len(index) == len(set(index)) == 20
    assert (index < 25).sum() == 5
    X = [*worlds(20, 0), *map(nx.star_graph, range(13, 33))]
    with pytest.warns(UserWarning, match="20 of 60 graphs are compared"):
        found = compare(X, worlds(20, 1), n_permutations=19, random_state=0)
    assert len(found.detector.model_.references) == 20
    assert found.typical[0].min() >= 20  # positions in the pile as it was given


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
        ([nx.path_graph(3)], [nx.path_graph(4)] * 3, {}, "at least 2 graphs, got 1 and 3"),
        ([nx.path_graph(3)] * 2, [nx.path_graph(4)] * 3, {"n_permutations": 3}, "n_permutations"),
        ([nx.path_graph(3)] * 2, [nx.path_graph(4)] * 2, {"blocks": [1]}, "blocks has 1 values"),
        (
            [nx.path_graph(3)] * 2,
            [nx.path_graph(4)] * 2,
            {"match": "edges"},
            'match must be "size"',
        ),
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


def test_what_only_one_pile_has_of_itself_is_found():
    X = [with_data(graph, age=30.0 + i) for i, graph in enumerate(worlds(12, 0))]
    schema = GraphSchema(graph_numbers="age", missing="indicate")
    found = compare(X, worlds(12, 1), schema=schema, random_state=0)
    assert found.p_value <= 0.01
    text = "age of the graph is given: 100% of graphs in the first, none in the second"
    assert found.findings["finding"][0] == text
    assert found.findings["statistic"].min() > 1e-9


def test_edges_of_both_directions_are_two():
    both = [
        nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 1), *((2, 3 + i) for i in range(k))])
        for k in range(6)
    ]
    one = [nx.DiGraph([(0, 1), (1, 2), *((2, 3 + i) for i in range(k))]) for k in range(6)]
    found = compare(both, one, schema=GraphSchema(directed=True), random_state=0).findings
    edges = found.set_index("what").loc["edges"]
    medians = [np.median([x.number_of_edges() for x in pile]) for pile in (both, one)]
    assert edges[["first", "second"]].tolist() == pytest.approx(medians)


def test_few_graphs_are_not_none():
    shares = [0.0, 3 / 900, 0.004, 0.3, 0.996, 1.0]
    assert [_percent(x) for x in shares] == ["0%", "0.3%", "0.4%", "30%", "99.6%", "100%"]
    text = _say_shares("rare", (3 / 900, 0.0), Words(), ("before", "after"))
    assert text == "rare: 0.3% of graphs in before, none in after"


def test_a_comparison_says_in_short_what_it_found():
    found = compare(worlds(12, 0), worlds(12, 1, rewired=0.9), random_state=0)
    lines = str(found).splitlines()
    assert lines[0] == "p = 0.001 that the piles are of one source"
    assert lines[1].strip().startswith(found.findings["finding"][0])


def test_batches_of_several_graphs_are_refused():
    batch = read_graphs([nx.cycle_graph(n) for n in range(4, 12)])
    with pytest.raises(ValueError, match="graph 0 is a batch of 4 graphs: give them one by one"):
        compare([batch[:4], batch[4:]], batch)


def test_no_group_of_a_size_has_few_graphs():
    batch = read_graphs([nx.path_graph(n) for n in range(3, 12)])
    assert _codes_of_size(batch, np.zeros(9, dtype=int)).tolist() == [0] * 4 + [1] * 5
    blocks = np.repeat([0, 1], [6, 3])
    assert _codes_of_size(batch, blocks).tolist() == [0] * 6 + [1] * 3
