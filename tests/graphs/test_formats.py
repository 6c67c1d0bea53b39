"""Every format gives the same batch as networkx does, and bad graphs get one clear error."""

import copy
import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphKDEDetector, GraphSchema
from skgraphkde.encoders.dgl_backend import import_dgl
from skgraphkde.graphs import read_graphs
from tests.graphs.test_batch import assert_same

with warnings.catch_warnings():  # imports of other packages warn
    warnings.simplefilter("ignore")
    dgl = import_dgl()
    try:
        import torch_geometric
        from torch_geometric.data import Batch, Data, HeteroData
        from torch_geometric.transforms import ToUndirected
    except ImportError:
        torch_geometric = None
    try:
        import igraph
    except ImportError:
        igraph = None

needs_dgl = pytest.mark.skipif(dgl is None, reason="DGL has no build here")
needs_pyg = pytest.mark.skipif(torch_geometric is None, reason="PyTorch Geometric is missing")
needs_igraph = pytest.mark.skipif(igraph is None, reason="igraph is missing")


# -- the same graph in every format ----------------------------------------------------------------


@st.composite
def graphs(draw):
    """A networkx graph with any node ids, isolated nodes last, labels, attributes and weights."""
    n = draw(st.integers(1, 7))
    ids = draw(st.lists(st.integers(-99, 99) | st.text("abc", min_size=3), min_size=n, max_size=n))
    ids = list(dict.fromkeys(ids))
    n_isolated = draw(st.integers(0, len(ids) - 1))
    rng = np.random.RandomState(draw(st.integers(0, 999)))
    graph = nx.Graph()
    for node in ids:
        graph.add_node(node, label=int(rng.randint(3)), x=rng.standard_normal(2))
    connected = ids[: len(ids) - n_isolated]
    for u in connected:
        for v in connected:  # self-loops, too
            if rng.rand() < 0.4:
                graph.add_edge(u, v, w=float(rng.randint(1, 9)) / 4)
    return graph


def columns(graph):
    """Labels and attributes by node number, and both directions of all edges with their weights."""
    number = {node: k for k, node in enumerate(graph)}
    arcs = [(number[u], number[v], w) for u, v, w in graph.to_directed().edges(data="w")]
    ends = np.array([arc[:2] for arc in arcs], dtype=np.int64).reshape(-1, 2)
    labels = [label for _, label in graph.nodes(data="label")]
    return labels, np.array([x for _, x in graph.nodes(data="x")]), ends, [w for *_, w in arcs]


def to_dgl(graph):
    labels, x, arcs, weights = columns(graph)
    result = dgl.graph(tuple(torch.tensor(arcs.T)), num_nodes=len(graph))
    result.ndata["label"], result.ndata["x"] = torch.tensor(labels), torch.tensor(x)
    result.edata["w"] = torch.tensor(weights)
    return result


def to_pyg(graph):
    labels, x, arcs, weights = columns(graph)
    return Data(
        edge_index=torch.tensor(arcs.T),
        num_nodes=len(graph),
        x=torch.tensor(x, requires_grad=True),
        label=torch.tensor(labels),
        w=torch.tensor(weights)[:, None],
    )


def to_igraph(graph):
    labels, x, _, _ = columns(graph)
    number = {node: k for k, node in enumerate(graph)}
    result = igraph.Graph(len(graph), [(number[u], number[v]) for u, v in graph.edges])
    result.vs["label"], result.vs["x"] = labels, list(x)
    result.es["w"] = [w for *_, w in graph.edges(data="w")]
    return result


def to_edge_list(graph):
    return {
        "edges": list(graph.edges),
        "label": dict(graph.nodes(data="label")),
        "x": dict(graph.nodes(data="x")),
        "w": [w for *_, w in graph.edges(data="w")],
    }


def to_numbered_edge_list(graph):
    labels, x, arcs, weights = columns(graph)
    return {"edges": arcs, "num_nodes": len(graph), "label": labels, "x": x, "w": weights}


def to_listed_edge_list(graph):
    """The attributes in the order of the nodes, each edge once."""
    labels, x, _, _ = columns(graph)
    return {**to_edge_list(graph), "nodes": list(graph), "label": labels, "x": torch.tensor(x)}


def to_pair(graph):
    return nx.to_scipy_sparse_array(graph, weight="w"), columns(graph)[1]


FORMATS = {
    "dgl": pytest.param(to_dgl, marks=needs_dgl),
    "pyg": pytest.param(to_pyg, marks=needs_pyg),
    "igraph": pytest.param(to_igraph, marks=needs_igraph),
    "edge list": to_edge_list,
    "numbered edge list": to_numbered_edge_list,
    "listed edge list": to_listed_edge_list,
}
TRIPLES = {
    "pairs": lambda g: set(g.edges),
    "both directions": lambda g: set(g.to_directed().edges),
    "list of pairs": lambda g: list(g.edges),
    "pairs and weights": lambda g: [(u, v, 1) for u, v in g.edges],
    "weight of pair": lambda g: dict.fromkeys(g.edges, 1.0),
    "neighbors": lambda g: {u: list(g[u]) for u in g},
    "weights of neighbors": lambda g: {u: dict.fromkeys(g[u], 1.0) for u in g},
}
MATRICES = {
    "array": lambda g: nx.to_numpy_array(g, weight=None),
    "sparse": lambda g: nx.to_scipy_sparse_array(g, weight=None),
    "rows": lambda g: nx.to_numpy_array(g, weight=None).tolist(),
}


@pytest.mark.parametrize("convert", FORMATS.values(), ids=FORMATS)
@given(graph=graphs())
def test_a_graph_is_the_same_in_every_format(convert, graph):
    converted = convert(graph)
    assert_same(read_graphs([converted]), read_graphs([graph]))
    options = {"schema": GraphSchema(edge_weight="w")}
    assert_same(read_graphs([converted], **options), read_graphs([graph], **options))
    options = {"schema": GraphSchema(node_categories=None, node_numbers="label")}
    assert_same(read_graphs([converted], **options), read_graphs([graph], **options))


@pytest.mark.parametrize("kind", TRIPLES)
@given(graph=graphs())
def test_triples_of_grakel(kind, graph):
    edges = TRIPLES[kind]
    labels = dict(graph.nodes(data="label"))
    expected = read_graphs([graph], schema=GraphSchema(node_numbers=None))
    edge_labels = {edge: sum(map(hash, edge)) % 2 for edge in graph.edges}
    labeled = graph.copy()
    nx.set_edge_attributes(labeled, edge_labels, "label")
    with_labels = read_graphs([labeled], schema=GraphSchema(node_numbers=None))
    triple = [edges(graph), labels, edge_labels]
    assert_same(read_graphs([triple]), with_labels)
    for triple in [[edges(graph), labels, {}], (edges(graph), labels)]:
        assert_same(read_graphs([triple]), expected)
        if "weight" in kind:
            assert_same(read_graphs([triple], schema=GraphSchema(edge_weight="w")), expected)


@pytest.mark.parametrize("edges", MATRICES.values(), ids=MATRICES)
@given(graph=graphs())
def test_triples_with_a_matrix(edges, graph):
    labels = dict(enumerate(columns(graph)[0]))
    expected = read_graphs([graph], schema=GraphSchema(node_numbers=None))
    assert_same(read_graphs([(edges(graph), labels)]), expected)
    assert_same(read_graphs([[edges(graph), labels, None]]), expected)


def test_triples_keep_what_only_labels_or_keys_name():
    assert read_graphs([({(5, 9)}, {5: "C", 9: "O", 7: "N"})]).n_nodes == 3
    assert read_graphs([({5: [9], 9: [5], 7: []}, None)]).n_nodes == 3
    assert read_graphs([[{(5, 9)}, None, None]]).labels is None
    batch = read_graphs(
        [({(5, 9)}, {5: [0.5, 1], 9: [2, 3]}), [{(0, 1)}, {0: np.ones(2), 1: [4, 5]}]]
    )
    assert batch.labels is None
    assert batch.attributes.tolist() == [[0.5, 1], [2, 3], [1, 1], [4, 5]]
    weighted = ({(0, 1): 2.5, (1, 0): 2.5, (1, 2): 3.0}, None)
    assert read_graphs([weighted]).adjacency.toarray().tolist() == [
        [0, 2.5, 0],
        [2.5, 0, 3],
        [0, 3, 0],
    ]


def test_grakel_reads_the_same_graphs():
    grakel = pytest.importorskip("grakel")
    graph = nx.karate_club_graph()
    nx.set_node_attributes(graph, dict(graph.degree), "label")
    triples = list(grakel.graph_from_networkx([graph], node_labels_tag="label"))
    expected = read_graphs([graph])
    assert (read_graphs(triples).adjacency != expected.adjacency).nnz == 0
    assert_same(read_graphs(triples), expected)


def test_a_list_may_mix_formats():
    graph = nx.Graph([("a", "b", {"w": 2.0}), ("b", "c", {"w": 0.5})])
    graph.add_node("d")
    for k, node in enumerate(graph):
        graph.nodes[node].update(label=k % 2, x=np.array([k, 1.0]))
    known = [(dgl, to_dgl), (torch_geometric, to_pyg), (igraph, to_igraph)]
    mixed = [convert(graph) for package, convert in known if package is not None]
    mixed += [
        graph,
        to_edge_list(graph),
        read_graphs([graph], schema=GraphSchema(edge_weight="w")),
        to_numbered_edge_list(graph),
    ]
    options = {"schema": GraphSchema(edge_weight="w")}
    assert_same(read_graphs(mixed, **options), read_graphs([graph] * len(mixed), **options))
    options = {"schema": GraphSchema(edge_weight="w", node_categories=None)}
    mixed = [to_pair(graph), graph, to_edge_list(graph), to_pair(graph)]
    assert_same(read_graphs(mixed, **options), read_graphs([graph] * 4, **options))


def test_a_detector_takes_them_all():
    shapes = [nx.cycle_graph(5), nx.path_graph(4), nx.star_graph(3), nx.complete_graph(4)]
    edge_lists = [{"edges": list(g.edges), "num_nodes": len(g)} for g in shapes]
    triples = [(set(g.edges), None) for g in shapes]
    expected, *others = [
        GraphKDEDetector(random_state=0).fit(graphs).decision_function(graphs)
        for graphs in (shapes, edge_lists, triples)
    ]
    for actual in others:
        np.testing.assert_allclose(actual, expected, rtol=1e-9)


# -- nodes and edges -------------------------------------------------------------------------------


def test_the_nodes_of_an_edge_list():
    def n_nodes(**keys):
        return read_graphs([{"edges": [(0, 5)], **keys}]).n_nodes

    assert n_nodes() == 2  # 1 to 4 are not nodes
    assert n_nodes(num_nodes=9) == 9
    assert n_nodes(nodes=[5, "isolated", 0]) == 3
    assert n_nodes(nodes=np.arange(7), num_nodes=7) == 7
    assert n_nodes(x=np.zeros((8, 1))) == 8
    assert n_nodes(x=sp.eye_array(8).tocsr()) == 8
    assert n_nodes(label=dict.fromkeys([0, 5, 7], "C")) == 3
    assert n_nodes(edges=[], num_nodes=np.int64(3)) == 3
    assert n_nodes(edges=np.empty((0, 2)), nodes=["a"]) == 1


def test_the_order_of_nodes_is_that_of_their_list():
    x = {"b": 2.0, "a": 1.0}
    assert read_graphs([{"edges": [("a", "b")], "x": x}]).attributes.tolist() == [[2], [1]]
    assert read_graphs(
        [{"edges": {("a", "b")}, "nodes": ["a", "b"], "x": x}]
    ).attributes.tolist() == [
        [1],
        [2],
    ]


def test_edges_of_both_directions_and_parallel_edges():
    edges, weights = [(0, 1), (1, 0), (2, 1), (2, 1)], [2.0, 2.0, 3.0, 4.0]
    graph = {"edges": edges, "w": weights}
    assert read_graphs([graph]).adjacency.data.tolist() == [1, 1, 1, 1]
    expected = [[0, 2, 0], [2, 0, 7], [0, 7, 0]]
    assert (
        read_graphs([graph], schema=GraphSchema(edge_weight="w")).adjacency.toarray().tolist()
        == expected
    )
    tensors = {"edges": torch.tensor(edges), "w": torch.tensor(weights)[:, None]}
    assert (
        read_graphs([tensors], schema=GraphSchema(edge_weight="w")).adjacency.toarray().tolist()
        == expected
    )


@needs_igraph
def test_parallel_edges_of_igraph():
    graph = igraph.Graph(2, [(0, 1), (1, 0)])
    graph.es["w"] = [2, 3]
    assert read_graphs([graph]).adjacency.data.tolist() == [1, 1]
    assert read_graphs([graph], schema=GraphSchema(edge_weight="w")).adjacency.data.tolist() == [
        5,
        5,
    ]


@needs_dgl
def test_parallel_edges_and_number_types_of_dgl():
    graph = dgl.graph(([0, 0, 1, 1], [1, 1, 0, 0]), num_nodes=3, idtype=torch.int32)
    graph.edata["w"] = torch.tensor([2.0, 3.0, 4.0, 1.0])
    graph.ndata["x"] = torch.ones(3, dtype=torch.bfloat16)
    assert read_graphs([graph]).adjacency.data.tolist() == [1, 1]
    assert read_graphs([graph], schema=GraphSchema(edge_weight="w")).adjacency.data.tolist() == [
        5,
        5,
    ]
    assert read_graphs([graph]).attributes.tolist() == [[1], [1], [1]]


@needs_dgl
def test_the_cures_for_directed_dgl_graphs_cure():
    graph = dgl.graph(([0, 1, 1], [1, 0, 2]), num_nodes=4)
    graph.ndata["label"], graph.edata["w"] = torch.arange(4), torch.tensor([1.0, 1.0, 3.0])
    batch = read_graphs([dgl.to_bidirected(graph, copy_ndata=True)])
    assert batch.adjacency.toarray()[1].tolist() == [1, 0, 1, 0]
    assert len(batch.label_names) == 4
    cured = dgl.add_reverse_edges(graph, copy_edata=True)
    assert read_graphs([cured], schema=GraphSchema(edge_weight="w")).adjacency.toarray()[
        1
    ].tolist() == [2, 0, 3, 0]
    assert read_graphs(dgl.unbatch(dgl.batch([cured, cured]))).n_graphs == 2


@needs_pyg
def test_the_cures_for_pyg_graphs_cure():
    graph = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), w=torch.tensor([1.0, 3.0]), num_nodes=4)
    cured = ToUndirected()(graph)
    batch = read_graphs([cured], schema=GraphSchema(edge_weight="w"))
    assert batch.adjacency.toarray()[1].tolist() == [1, 0, 3, 0]
    assert batch.n_nodes == 4
    assert read_graphs(Batch.from_data_list([cured, cured]).to_data_list()).n_graphs == 2
    assert read_graphs([Data(edge_index=torch.empty(2, 0), num_nodes=2)]).n_nodes == 2


@needs_pyg
def test_how_many_nodes_a_pyg_graph_has():
    edge_index = torch.tensor([[0, 1], [1, 0]])
    assert read_graphs([Data(edge_index=edge_index, x=torch.ones(5, 1))]).n_nodes == 5
    with pytest.raises(ValueError, match="nodes 1, 2 have no 'label'"):
        read_graphs([Data(edge_index=edge_index, x=torch.ones(3, 1), label=torch.tensor([1]))])
    labeled = Data(edge_index=edge_index.int(), label=["C", "O", "N"])
    assert read_graphs([labeled]).label_names == ("C", "N", "O")
    with pytest.warns(UserWarning, match="num_nodes"):
        assert read_graphs([Data(edge_index=edge_index)]).n_nodes == 2


@needs_igraph
def test_the_cure_for_directed_igraph_graphs_cures():
    graph = igraph.Graph(4, [(0, 1), (1, 2)], directed=True)
    graph.es["w"] = [2.0, 3.0]
    cured = graph.as_undirected(combine_edges="first")
    batch = read_graphs([cured], schema=GraphSchema(edge_weight="w"))
    assert batch.adjacency.toarray()[1].tolist() == [2, 0, 3, 0]


# -- inputs stay unchanged -------------------------------------------------------------------------


def test_inputs_stay_as_they_are():
    graph = nx.Graph([(4, 2, {"w": 2.0}), (2, 2, {"w": 1.0})])
    nx.set_node_attributes(graph, {4: 0, 2: 1}, "label")
    nx.set_node_attributes(graph, {4: np.ones(2), 2: np.zeros(2)}, "x")
    for convert in (to_edge_list, to_numbered_edge_list, to_listed_edge_list):
        given = convert(graph)
        before = copy.deepcopy(given)
        read_graphs([given], schema=GraphSchema(edge_weight="w"))
        assert repr(given) == repr(before)
    for edges in TRIPLES.values():
        given = [edges(graph), {4: 0, 2: 1}, {}]
        before = copy.deepcopy(given)
        read_graphs([given])
        assert given == before


@needs_dgl
def test_dgl_graphs_stay_as_they_are():
    graph = dgl.graph(([0, 1], [1, 0]))
    graph.ndata["x"] = torch.ones(2, 1, dtype=torch.float64)
    batch = read_graphs([graph])
    assert list(graph.ndata) == ["x"]
    assert graph.num_edges() == 2
    graph.ndata["x"][0] = 9.0
    assert batch.attributes.tolist() == [[1], [1]]


@needs_pyg
def test_pyg_graphs_stay_as_they_are():
    graph = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), x=torch.ones(2, 1, requires_grad=True))
    keys = set(graph.keys())
    batch = read_graphs([graph])
    assert set(graph.keys()) == keys
    assert graph.x.requires_grad
    with torch.no_grad():
        graph.x[0] = 9.0
    assert batch.attributes.tolist() == [[1], [1]]


@pytest.mark.slow
def test_reading_graphs_imports_no_other_package():
    code = """
import sys
import networkx as nx
from skgraphkde import read_graphs
read_graphs([nx.path_graph(3), {"edges": [(0, 1)]}, ({(0, 1)}, None)])
found = {"dgl", "torch_geometric", "igraph", "grakel"} & set(sys.modules)
assert not found, found
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# -- errors ----------------------------------------------------------------------------------------


EDGE = {"edges": [("a", "b")]}
BAD = {
    "one edge list": (EDGE, TypeError, r"one graph: write \[graph\]"),
    "no edges": ([{"nodes": [1]}], "graph 0 is a dict without 'edges'"),
    "no nodes": ([{"edges": []}], "graph 0 has no nodes"),
    "no nodes in a triple": ([[set(), {}, {}]], "graph 0 has no nodes"),
    "edge of three": ([{"edges": [(1, 2, 3)]}], r"edge \(1, 2, 3\) is not a pair"),
    "transposed": ([{"edges": np.zeros((2, 3), int)}], r"edge \[0, 0, 0\] is not a pair"),
    "edge of one": ([(({3}, None))], "edge 3 is not a pair"),
    "edge of lists": ([{"edges": [([1], [2])]}], "is not a pair"),
    "edge of tensors": ([{"edges": [tuple(torch.arange(2))]}], "is not a pair"),
    "read once": ([{"edges": zip([0], [1], strict=True)}], "'edges' is a zip, give a list"),
    "unhashable id": ([{**EDGE, "nodes": [["a"], "b"]}], r"the node id \['a'\]: a node id must be"),
    "node twice": ([{**EDGE, "nodes": ["a", "b", "a"]}], "lists the node 'a' twice"),
    "stranger in an edge": (
        [{**EDGE, "nodes": ["a", "c"]}],
        r"graph 0, edge \('a', 'b'\): 'b' is not among the 2 nodes \('a', 'c'\): list",
    ),
    "ids from 1": ([{"edges": [(1, 2)], "num_nodes": 2}], r"2 is not among the 2 nodes \(0 to 1\)"),
    "two counts": (
        [{**EDGE, "nodes": ["a", "b"], "num_nodes": 3}],
        "2 'nodes', but 'num_nodes' is 3",
    ),
    "count in words": ([{**EDGE, "num_nodes": "two"}], "'num_nodes' is 'two', give an integer"),
    "label missing": ([{**EDGE, "label": {"a": 1}}], "graph 0, node 'b' has no 'label'.*1 of 2"),
    "labels missing": (
        [{"edges": [], "num_nodes": 9, "label": ["C", "O"]}],
        r"graph 0, nodes 2, 3, 4, 5, 6, \.\.\. have no 'label'.*7 of 9",
    ),
    "label of a stranger": (
        [{**EDGE, "nodes": ["a", "b"], "label": {"a": 1, "b": 1, "c": 1}}],
        "has 'label' for a node that it does not have: 'c' is not among",
    ),
    "one label": ([{**EDGE, "label": "C"}], "2 nodes and the str 'C' as 'label'"),
    "x of no length": ([{**EDGE, "x": np.array(1.0)}], "2 nodes and the ndarray"),
    "x in no order": ([{**EDGE, "nodes": ["a", "b"], "x": {1, 2}}], "2 values as 'x'"),
    "too many x": ([{**EDGE, "nodes": ["a", "b"], "x": [1, 2, 3]}], "2 nodes and 3 values as 'x'"),
    "x of three dimensions": (
        [{"edges": [], "x": np.ones((2, 2, 2))}],
        r"node 0.*'x' has shape \(2, 2\)",
    ),
    "ids not listed": (
        [{**EDGE, "x": [1, 2]}],
        r"'a' is not among the 2 nodes \(0 to 1\): list the ids",
    ),
    "label in a triple": ([({(0, 1)}, {0: "C"})], "graph 0, node 1 has no 'label'"),
    "label beside a matrix": ([(np.eye(2), {0: 1, 1: 1, 2: 1})], r"2 is not among the 2 nodes"),
    "weight in words": ([({(0, 1): "a"}, None)], r"edge \(0, 1\) has the str 'a' as 'weight'"),
    "weight zero": ([({(0, 1): 0}, None)], r"edge \(0, 1\) has the weight 0"),
    "negative among parallel ones": (
        [([(0, 1, 3.0), (0, 1, -1.0)], {0: 1, 1: 1})],
        r"edge \(0, 1\) has the weight -1.0",
    ),
    "unequal directions": (
        [({("a", "b"): 1, ("b", "a"): 2}, None)],
        r"edge \('a', 'b'\) has the weight 1.0, but \('b', 'a'\) has 2.0",
    ),
    "edge list and target": (
        [(EDGE, 1)],
        "is a pair of a dict and something else.*targets belong in y",
    ),
    "set alone": ([{(0, 1)}], TypeError, "graph 0 has the type set; give"),
}


def check(graphs, *expected, **options):
    error, message = expected if len(expected) == 2 else (ValueError, *expected)
    with pytest.raises(error, match=message):
        read_graphs(graphs, schema=GraphSchema(**options))


@pytest.mark.parametrize("kind", BAD)
def test_bad_graphs_get_one_clear_error(kind):
    check(*BAD[kind])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (None, "graph 0 has 2 edges and none as 'w'"),
        ([1.0], "2 edges and 1 values as 'w'"),
        (np.ones((2, 2)), r"an array of shape \(2, 2\) as 'w'"),
        ([1.0, None], r"edge \('b', 'c'\) has no 'w'"),
        ([1.0, "2"], r"edge \('b', 'c'\) has the str '2' as 'w'"),
        ([1.0, -1.0], r"edge \('b', 'c'\) has the weight -1.0: weights must be positive"),
        (torch.tensor([1.0, np.nan]), r"edge \('b', 'c'\) has the weight nan"),
    ],
)
def test_bad_weights_of_an_edge_list(weights, message):
    check([{"edges": [("a", "b"), ("b", "c")], "w": weights}], message, edge_weight="w")


@needs_dgl
def test_bad_dgl_graphs():
    directed = dgl.graph(([0, 1, 1], [1, 0, 2]))
    directed.edata["w"] = torch.ones(3)
    check(directed, TypeError, r"got one graph: write \[graph\]")
    check([dgl.graph(([], []))], "graph 0 has no nodes")
    check([dgl.batch([directed, directed])], r"a batch of 2 graphs: give dgl.unbatch\(graph\)")
    check(
        [(directed, torch.tensor(1))], "pair of a DGLGraph and something else.*targets belong in y"
    )
    check([dgl.to_block(directed)], "a block of a sampler")
    both = dgl.graph(([0, 1], [1, 0]))
    both.ndata["label"] = torch.eye(2)
    check([both], "label must be hashable")
    check([both], "no edge attribute 'w'", node_categories=None, edge_weight="w")


@needs_pyg
def test_bad_pyg_graphs():
    both = torch.tensor([[0, 1], [1, 0]])
    small = Data(edge_index=both, num_nodes=1)
    check([small], r"edge \(0, 1\): 1 is not among the 1 nodes \(0 to 0\): raise the number")
    lacking = Data(edge_index=both, num_nodes=4, x=torch.ones(2, 1))
    check([lacking], "graph 0, nodes 2, 3 have no 'x'.*2 of 4")
    directed = Data(edge_index=both[:, :1], num_nodes=2)
    check(directed, TypeError, r"got one graph: write \[graph\]")
    check([Data(x=torch.ones(2, 1))], "graph 0 has no edge_index")
    check([Data(edge_index=both.T[:1], num_nodes=2)], "graph 0 has a broken edge_index")
    check([Data(edge_index=both + 0.5, num_nodes=2)], "graph 0 has a broken edge_index")
    check([Batch.from_data_list([small, small])], "a batch of 2 graphs: give graph.to_data_list()")
    check([HeteroData()], "graph 0 has no nodes")
    unequal = Data(edge_index=both, num_nodes=2, w=torch.tensor([1.0, 2.0]))
    check([unequal], "has 2.0: in an undirected graph both", edge_weight="w", directed=False)


@needs_igraph
def test_bad_igraph_graphs():
    check([igraph.Graph()], "graph 0 has no nodes")
    check(igraph.Graph(2), TypeError, r"got one graph: write \[graph\]")
    graph = igraph.Graph(3, [(0, 1), (1, 2)])
    graph.vs["name"] = ["a", "b", "c"]
    graph.vs[0]["label"] = "C"
    check([graph], "graph 0, nodes 'b', 'c' have no 'label'.*2 of 3")
    graph.es[0]["w"] = 1.0
    options = {"node_categories": None, "edge_weight": "w"}
    check([graph], r"graph 0, edge \('b', 'c'\) has no 'w'", **options)
