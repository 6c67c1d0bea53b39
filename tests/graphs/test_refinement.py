"""Color refinement, against colors that are nested tuples."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphBatch, GraphSchema, read_graphs
from skgraphkde.graphs import refinement
from skgraphkde.graphs.refinement import color_rows, mix, numbered
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
    return mix(batch.labels.astype(np.uint64))


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
    assert partition(color_rows(X).tolist()) == [0, 0, 1, 2, 3]


GUESS = 0x9E3779B97F4A7C15  # the constant that an attacker would read in Steele's paper
MASK = 2**64 - 1


def mixed(x):
    x = (x + GUESS) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def unmixed(y):
    y = y ^ (y >> 31) ^ (y >> 62)
    y = (y * pow(0x94D049BB133111EB, -1, 2**64)) & MASK
    y = y ^ (y >> 27) ^ (y >> 54)
    y = (y * pow(0xBF58476D1CE4E5B9, -1, 2**64)) & MASK
    return ((y ^ (y >> 30) ^ (y >> 60)) - GUESS) & MASK


def forged_row(row):
    """Two numbers with the color of two others, for whoever knows the key."""
    salts = [mixed(0), mixed(1)]
    total = sum(mixed(int(x) + salt) for x, salt in zip(refinement.bits(row), salts, strict=True))
    for i in range(1, 10**6):
        first = np.array([3.0 + i / 1024])
        second = unmixed((total - mixed(int(refinement.bits(first)[0]) + salts[0])) & MASK)
        second = (second - salts[1]) & MASK
        bits = second << refinement.ROUNDING_BITS
        number = np.array([bits & MASK], dtype=np.uint64).view(np.float64)
        if bits <= MASK and np.isfinite(number[0]):
            return np.append(first, number)
    raise AssertionError("nothing found")


def test_colors_cannot_be_forged(monkeypatch):
    """With the key, two attributes suffice to look like any other node: the hash is a bijection."""
    honest = np.array([0.25, -1.5])
    rows = np.array([honest, forged_row(honest)])
    assert len(set(color_rows(rows).tolist())) == 2
    monkeypatch.setattr(refinement, "KEY", np.uint64(GUESS))
    assert len(set(color_rows(rows).tolist())) == 1


def test_a_graph_without_edges_keeps_its_colors():
    batch = GraphBatch.concatenate([read_graphs([nx.empty_graph(3)])])
    colors = refined(mix(np.arange(3, dtype=np.uint64)), messages(batch, None, weighted=False), 2)
    assert [len(set(row.tolist())) for row in colors] == [3, 3, 3]


@given(
    st.lists(
        st.integers(0, 2**64 - 1) | st.integers(0, 9) | st.integers(0, 15).map(lambda x: x << 60)
    )
)
def test_colors_are_numbered_in_the_order_in_which_they_come(colors):
    first, number = numbered(np.array(colors, dtype=np.uint64))
    distinct = list(dict.fromkeys(colors))
    assert [colors[i] for i in first] == distinct
    assert first.tolist() == [colors.index(x) for x in distinct]
    assert number.tolist() == [distinct.index(x) for x in colors]
