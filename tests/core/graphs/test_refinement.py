"""Relations and colors of directed and typed graphs, against loops over edges."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphSchema, NodeFeatures, read_graphs
from skgraphkde.core.graphs.refinement import (
    MOST_CATEGORIES,
    EdgeGroups,
    factorize,
    hash64,
    hash_rows,
    messages,
    refine_to_the_end,
    refined,
    relations,
)
from tests.conftest import with_data
from tests.core.graphs.common import WEIGHTED, partition, typed_graphs


def edges_at(graph, node):
    """(direction, neighbor, data) of all edges at a node, parallel ones that agree only once."""
    found = {}
    for u, v, data in graph.edges(data=True):
        for way, here, there in (("out", u, v), ("in", v, u)):
            if here == node:
                way = way if graph.is_directed() else "both"
                key = way, there, data["label"], data["x"]
                found[key] = found.get(key, 0.0) + data["w"]
    return [(way, there, label, w) for (way, there, label, _), w in found.items()]


KINDS = [(d, m) for d in (False, True) for m in (False, True)]


@pytest.mark.parametrize(("directed", "multi"), KINDS)
@given(st.integers(0, 10**6))
def test_relations_average_over_neighbors(directed, multi, seed):
    graphs = typed_graphs(4, seed, directed=directed, multi=multi)
    batch = read_graphs(graphs, schema=WEIGHTED)
    features = NodeFeatures(("label",)).fit(batch)
    X = np.random.RandomState(seed).standard_normal(batch.n_nodes)
    found = relations(features.transform_batch(batch)) @ X
    found = found.reshape(-1, batch.n_nodes)
    ways = ("out", "in") if directed else ("both",)
    names = features.edge_groups_.names
    assert len(found) == len(ways) * len(names) == features.edge_groups_.n_relations
    expected, graph = np.zeros((len(found), batch.n_nodes)), nx.disjoint_union_all(graphs)
    for node in graph:
        for r, relation in enumerate((way, name) for way in ways for name in names):
            edges = [edge for edge in edges_at(graph, node) if (edge[0], edge[2]) == relation]
            if edges:
                _, neighbors, _, weights = zip(*edges, strict=True)
                expected[r, node] = np.average(X[list(neighbors)], weights=weights)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def colors_slow(graph, weighted, n_rounds):
    """Colors are what a node sees, written out: (own color, sorted colors of the neighbors)."""
    colors = {v: (data["label"],) for v, data in graph.nodes(data=True)}
    rounds = [colors]
    for _ in range(n_rounds):
        colors = {
            u: (
                colors[u],
                tuple(
                    sorted(
                        (way, label, w if weighted else 1.0, colors[v])
                        for way, v, label, w in edges_at(graph, u)
                    )
                ),
            )
            for u in graph
        }
        rounds.append(colors)
    return [list(of_round.values()) for of_round in rounds]


@pytest.mark.parametrize(("directed", "multi"), KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@given(st.integers(0, 10**6))
def test_colors_tell_apart_what_looks_different_and_nothing_else(weighted, directed, multi, seed):
    graphs = typed_graphs(4, seed, directed=directed, multi=multi)
    batch = read_graphs(graphs, schema=WEIGHTED)
    expected = colors_slow(nx.disjoint_union_all(graphs), weighted, 3)
    passed = messages(batch, batch.edge_labels, weighted=weighted)
    passed = passed[: 2 if directed else 1]  # without those along the underlying graph
    actual = refined(hash64(batch.labels.astype(np.uint64)), passed, 3)
    for round_slow, round_fast in zip(expected, actual, strict=True):
        assert partition(round_slow) == partition(round_fast.tolist())


def long_graphs(seed, *, directed, multi):
    """Chains of which few nodes and edges differ, far apart, and a ring of chains."""
    graphs, rng = typed_graphs(2, seed, directed=directed, multi=multi), np.random.RandomState(seed)
    for _ in range(4):
        graph = nx.path_graph(40, type(graphs[0]))
        with_data(graph, {"label": "C"}, {"label": "a", "w": 1.0, "x": 0.5})
        for node in rng.choice([3, 18, 22, 36], 2):
            graph.nodes[node]["label"] = "N"
        if rng.rand() < 0.3:
            graph.add_edge(39, 0, label="b", w=1.0, x=0.5)
        graphs.append(graph)
    return graphs


def refine_slowly(graph):
    """Refine numbers of colors round by round, until there are no more of them."""
    colors, n_before = nx.get_node_attributes(graph, "label"), 0
    edges = {u: edges_at(graph, u) for u in graph}
    while len(set(colors.values())) > n_before:
        n_before = len(set(colors.values()))
        seen = {
            u: (colors[u], *sorted((way, label, w, colors[v]) for way, v, label, w in edges[u]))
            for u in graph
        }
        number = {x: i for i, x in enumerate(dict.fromkeys(seen.values()))}
        colors = {u: number[x] for u, x in seen.items()}
    return list(colors.values())


@pytest.mark.parametrize(("directed", "multi"), KINDS)
@given(st.integers(0, 10**6))
def test_refinement_to_the_end_stops_where_no_round_changes_anything(directed, multi, seed):
    graphs = long_graphs(seed, directed=directed, multi=multi)
    batch = read_graphs(graphs, schema=WEIGHTED)
    passed = messages(batch, batch.edge_labels, weighted=True)[: 2 if directed else 1]
    colors = refine_to_the_end(hash64(batch.labels.astype(np.uint64)), passed)
    assert partition(refine_slowly(nx.disjoint_union_all(graphs))) == partition(colors.tolist())


def test_undirected_graphs_without_categories_have_no_relations():
    batch = read_graphs([nx.path_graph(4)])
    groups = EdgeGroups.fit(batch)
    assert groups.n_relations == 0
    assert relations(batch) is None
    assert EdgeGroups.fit(read_graphs([nx.DiGraph([(0, 1)])])).n_relations == 2


def test_rare_categories_share_a_group():
    names = [f"c{i:02}" for i in range(30) for _ in range(3 if i < 20 else 1)]
    graph = nx.DiGraph([(i, i + 1, {"label": name}) for i, name in enumerate(names)])
    batch = read_graphs([graph])
    groups = EdgeGroups.fit(batch)
    assert len(groups.categories) == MOST_CATEGORIES
    assert set(groups.categories) <= {f"c{i:02}" for i in range(20)}
    assert groups.names[-1] == "others"
    assert groups.n_relations == 2 * (MOST_CATEGORIES + 1)
    of_arcs = groups.of_arcs(batch)
    assert of_arcs.max() == MOST_CATEGORIES
    other = nx.DiGraph([(0, 1, {"label": "never seen"})])
    assert groups.of_arcs(read_graphs([other])).tolist() == [MOST_CATEGORIES]


def edge_features_slow(graph, groups, ways, mean, scale):
    rows = []
    for node in graph:
        at = {}
        for u, v, data in graph.edges(data=True):
            for way, here in (("out", u), ("in", v)):
                if here == node:
                    way = way if graph.is_directed() else ""
                    at.setdefault((way, data["label"]), []).append((data["x"] - mean) / scale)
        keys = [(way, group) for way in ways for group in groups]
        counts = [np.log1p(len(at.get(key, ()))) for key in keys]
        rows.append(counts + [np.mean(at[key]) if key in at else 0.0 for key in keys])
    return rows


@pytest.mark.parametrize("directed", [False, True])
@given(st.integers(0, 10**6))
def test_edge_features(directed, seed):
    graphs = typed_graphs(5, seed, directed=directed)
    features = NodeFeatures(("edge",)).fit(read_graphs(graphs))
    batch = read_graphs(graphs)
    x = batch.edge_attributes
    ways = ("out", "in") if directed else ("",)
    groups = features.edge_groups_.names
    expected = np.vstack([edge_features_slow(g, groups, ways, x.mean(), x.std()) for g in graphs])
    np.testing.assert_allclose(
        features.transform(read_graphs(graphs)).attributes, expected, atol=1e-12
    )
    names = features.get_feature_names_out().tolist()
    assert names[0] == ("log(1+out {} edges)" if directed else "log(1+{} edges)").format(groups[0])
    assert names[-1].endswith(f"{groups[-1]} x")
    assert len(names) == expected.shape[1]


def test_missing_numbers_of_edges():
    graph = with_data(nx.path_graph(4), None, {"x": [1.0, None, 5.0]})
    batch = read_graphs([graph], schema=GraphSchema(missing="indicate"))
    features = NodeFeatures(("edge",)).fit(batch)
    assert features.get_feature_names_out().tolist() == ["x", "x missing"]
    expected = [[-1, 0], [-1, 0.5], [1, 0.5], [1, 0]]
    np.testing.assert_allclose(features.transform(batch).attributes, expected)


def test_a_great_many_categories_of_numbers_are_averaged_over_all():
    edges = {"label": lambda edge: f"c{edge[0]}", "x": lambda edge: [1.0 * edge[0], 2.0, 3.0]}
    graph = with_data(nx.path_graph(21, nx.DiGraph), None, edges)
    features = NodeFeatures(("edge",)).fit(read_graphs([graph]))
    names = features.get_feature_names_out().tolist()
    assert names[-6:] == ["out x_0", "in x_0", "out x_1", "in x_1", "out x_2", "in x_2"]
    assert features.transform(read_graphs([graph])).attributes.shape == (21, len(names))


def test_rows_have_the_same_color_up_to_rounding():
    X = [[0.1 + 0.2, 0.0], [0.3, -0.0], [0.3 + 1e-9, 0.0], [0.0, 0.3], [1e-12, 0.3], [2e-12, 0.3]]
    assert partition(hash_rows(np.array(X)).tolist()) == [0, 0, 1, 2, 3, 4]


def test_colors_are_the_same_in_every_process():
    """Fitted novelty in a file relies on them."""
    colors = hash_rows(np.array([[0.25, -1.5]]))
    assert colors.tolist() == [1366560685707708658]
    assert hash64(np.arange(2, dtype=np.uint64)).tolist() == [
        16294208416658607535,
        10451216379200822465,
    ]


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
