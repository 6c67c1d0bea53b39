"""Every format gives the same batch as networkx does, and bad graphs get one clear error."""

import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphKDEDetector, GraphSchema
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.learned.dgl_backend import import_dgl
from skgraphkde.reading import read_graphs
from tests.conftest import random_graphs, with_data
from tests.core.graphs.common import PATH, X, assert_same, with_nodes

with warnings.catch_warnings():  # imports of other packages warn
    warnings.simplefilter("ignore")
    dgl = import_dgl()
    try:
        import torch_geometric
        from torch_geometric.data import Data
    except ImportError:
        torch_geometric = None
    try:
        import igraph
    except ImportError:
        igraph = None

needs_dgl = pytest.mark.skipif(dgl is None, reason="DGL has no build here")
needs_pyg = pytest.mark.skipif(torch_geometric is None, reason="PyTorch Geometric is missing")
needs_igraph = pytest.mark.skipif(igraph is None, reason="igraph is missing")


WEIGHTED = GraphSchema(edge_weight="w")


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
    x = torch.tensor(x)
    return {"edges": arcs, "num_nodes": len(graph), "label": labels, "x": x, "w": weights}


FORMATS = {
    "dgl": pytest.param(to_dgl, marks=needs_dgl),
    "pyg": pytest.param(to_pyg, marks=needs_pyg),
    "igraph": pytest.param(to_igraph, marks=needs_igraph),
    "edge list": to_edge_list,
    "numbered edge list": to_numbered_edge_list,
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


@pytest.mark.parametrize("convert", FORMATS.values(), ids=FORMATS)
@given(graph=graphs())
def test_a_graph_is_the_same_in_every_format(convert, graph):
    mixed = [convert(graph), graph, convert(graph)]
    for schema in (None, WEIGHTED, GraphSchema(node_categories=None, node_numbers="label")):
        assert_same(read_graphs(mixed, schema=schema), read_graphs([graph] * 3, schema=schema))


@given(graph=graphs())
def test_triples_of_grakel(graph):
    labels = dict(graph.nodes(data="label"))
    labels_of_edges = {edge: sum(map(hash, edge)) % 2 for edge in graph.edges}
    labeled = with_data(graph.copy(), None, {"label": labels_of_edges.get})
    no_numbers = GraphSchema(node_numbers=None)
    expected, with_labels = (read_graphs([x], schema=no_numbers) for x in (graph, labeled))
    for kind, edges in TRIPLES.items():
        assert_same(read_graphs([[edges(graph), labels, labels_of_edges]]), with_labels)
        assert_same(read_graphs([[edges(graph), labels, {}]]), expected)
        if "weight" in kind:
            assert_same(read_graphs([(edges(graph), labels)], schema=WEIGHTED), expected)
    A, numbered = nx.to_numpy_array(graph, weight=None), dict(enumerate(labels.values()))
    for matrix in (A, sp.csr_array(A), A.tolist()):
        assert_same(read_graphs([[matrix, numbered, None]]), expected)


def test_triples_keep_what_only_labels_or_keys_name():
    batch = read_graphs(
        [({(5, 9)}, {5: [0.5, 1], 9: [2, 3]}), [{(0, 1)}, {0: np.ones(2), 1: [4, 5]}]]
    )
    assert batch.labels is None
    assert batch.attributes.tolist() == [[0.5, 1], [2, 3], [1, 1], [4, 5]]


@pytest.mark.parametrize("graph_format", ["auto", "all", "adjacency", "dictionary"])
def test_objects_of_grakel(graph_format):
    grakel = pytest.importorskip("grakel")
    weights = {("a", "b"): 2.0, ("b", "a"): 2.0, ("b", "c"): 1.0, ("c", "b"): 1.0}
    labels, of_edges = {"a": "O", "b": "H", "c": "H"}, dict.fromkeys(weights, "single")
    graph = grakel.Graph(weights, labels, of_edges, graph_format)
    before = {name: repr(x) for name, x in vars(graph).items()}
    batch = read_graphs([graph])
    assert_same(batch, read_graphs([(weights, labels, of_edges)]))
    assert before == {name: repr(x) for name, x in vars(graph).items()}
    alone = read_graphs([grakel.Graph(PATH, graph_format=graph_format)])
    assert_same(alone, read_graphs([(PATH, None)]))
    isolated = grakel.Graph({0: [1], 1: [0], 2: []}, graph_format=graph_format)
    assert read_graphs([isolated]).n_nodes == 3


# -- matrices, batches and sequences ---------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.coo_matrix, sp.csc_array])
def test_pairs_equal_networkx(make):
    graphs = random_graphs(5, labels="", n_attributes=3)
    pairs = [(make(nx.to_numpy_array(g)), np.array([g.nodes[k]["x"] for k in g])) for g in graphs]
    assert_same(read_graphs(pairs), read_graphs(graphs))


def test_a_sparse_matrix_alone_and_features_in_other_forms():
    A = sp.csr_array(PATH)
    assert read_graphs([A, (A, None)]).attributes is None
    assert read_graphs([(A, np.ones((3, 0)))]).attributes is None
    tensors = torch.tensor(PATH, requires_grad=True), torch.tensor(X, requires_grad=True)
    of_nodes = with_nodes([*tensors[1]], "x")
    for graph in (tensors, of_nodes, (A, sp.csr_array(X)), (A, X.tolist())):
        assert read_graphs([graph]).attributes.tolist() == X.tolist()


STACK = np.stack([PATH, np.ones((3, 3))])


@pytest.mark.parametrize(
    "matrices",
    [
        [*STACK],
        STACK,
        torch.tensor(STACK),
        [*map(sp.csr_array, STACK)],
        [*map(pd.DataFrame, STACK)],
    ],
)
def test_matrices_alone_and_stacks_of_them(matrices):
    assert_same(read_graphs(matrices), read_graphs([(A, None) for A in STACK]))


def test_signed_entries_are_numbers_of_edges_if_they_are_named_as_such():
    signed = np.array([[1, -0.5, 0], [-0.5, 1, 0.25], [0, 0.25, 1]])
    batch = read_graphs([signed, abs(signed)], schema=GraphSchema(edge_numbers="weight"))
    assert batch.edge_attributes[:, 0].tolist() == [-0.5, -0.5, 0.25, 0.25, 0.5, 0.5, 0.25, 0.25]
    assert batch.adjacency.data.tolist() == [1] * 8
    assert batch.schema.edge_weight is None
    known = [signed * (1 - np.eye(3)) * k / 30 for k in range(20, 40)]
    detector = GraphKDEDetector(schema=GraphSchema(edge_numbers="weight")).fit(known)
    assert detector.predict([known[9], -known[9]]).tolist() == [1, -1]


def test_sequences_keep_their_order(graphs):
    batch = read_graphs(graphs)
    array = np.fromiter(graphs, dtype=object)
    for sequence in ([graphs[0], batch[1:4], *graphs[4:]], array, tuple(graphs)):
        assert_same(read_graphs(sequence), batch)
    assert read_graphs(batch) is batch


# -- nodes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "n_nodes"),
    [
        ({"edges": [(0, 5)]}, 2),  # 1 to 4 are not nodes
        ({"edges": [(0, 5)], "num_nodes": 9}, 9),
        ({"edges": [(0, 5)], "nodes": [5, "isolated", 0]}, 3),
        ({"edges": [(0, 5)], "nodes": np.arange(7), "num_nodes": 7}, 7),
        ({"edges": [(0, 5)], "x": np.zeros((8, 1))}, 8),
        ({"edges": [(0, 5)], "x": sp.eye_array(8).tocsr()}, 8),
        ({"edges": [(0, 5)], "label": dict.fromkeys([0, 5, 7], "C")}, 3),
        ({"edges": [], "num_nodes": np.int64(3)}, 3),
        ({"edges": np.empty((0, 2)), "nodes": ["a"]}, 1),
        (({(5, 9)}, {5: "C", 9: "O", 7: "N"}), 3),
        (({5: [9], 9: [5], 7: []}, None), 3),
        ([{(5, 9)}, None, None], 2),
    ],
)
def test_the_nodes_of_a_graph(graph, n_nodes):
    assert read_graphs([graph]).n_nodes == n_nodes


@needs_pyg
def test_the_nodes_of_a_pyg_graph():
    edge_index = torch.tensor([[0, 1], [1, 0]])
    assert read_graphs([Data(edge_index=edge_index, x=torch.ones(5, 1))]).n_nodes == 5
    assert read_graphs([Data(edge_index=torch.empty(2, 0), num_nodes=2)]).n_nodes == 2
    assert read_graphs([Data(edge_index=edge_index.int(), label=["C", "O", "N"])]).n_nodes == 3
    with pytest.warns(UserWarning, match="num_nodes"):
        assert read_graphs([Data(edge_index=edge_index)]).n_nodes == 2


OGB = {"edge_index": np.array([[0, 1], [1, 0]]), "num_nodes": 4, "edge_feat": None}


@pytest.mark.parametrize(
    ("graph", "n_nodes"),
    [
        (OGB | {"node_feat": np.ones((4, 2))}, 4),
        ({"edge_index": [[0, 1], [1, 0]], "node_feat": [[1], [2], [3]], "y": [1]}, 3),
        ({"edge_index": torch.tensor([[0, 1], [1, 0]]), "edge_attr": torch.ones(2, 1)}, 2),
        ({"edge_index": [[], []], "num_nodes": 5}, 5),
    ],
)
def test_dicts_with_an_edge_index(graph, n_nodes):
    batch = read_graphs([graph], schema="all")
    assert (batch.n_nodes, batch.directed) == (n_nodes, False)
    names = {name for name in graph if name.endswith(("feat", "attr")) and graph[name] is not None}
    assert {*dict(batch.schema.node_numbers + batch.schema.edge_numbers)} == names


# -- values ----------------------------------------------------------------------------------------


def test_tensors_are_numbers_and_sets_are_categories():
    graph = nx.path_graph(2)
    for k, node in enumerate(graph):
        graph.nodes[node].update(
            vector=torch.tensor([1.0, k]), scalar=torch.tensor(k), tags={"b", f"a{k}"}
        )
    before = repr(graph.nodes(data=True))
    batch = read_graphs([graph], schema="all")
    assert batch.schema.node_numbers == (("scalar", 1), ("vector", 2))
    assert batch.attributes.tolist() == [[0, 1, 0], [1, 1, 1]]
    assert batch.label_names == (("a0", "b"), ("a1", "b"))
    named = read_graphs([graph], schema=GraphSchema(node_categories="scalar"))
    assert named.label_names == (0, 1)
    assert repr(graph.nodes(data=True)) == before


# -- edges -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("edges", [{"edges": [(0, 1)]}, {"edge_index": [[0], [1]]}])
def test_a_number_of_nodes_that_is_none(edges):
    for wrong in (10**13, -1, 3.5, True, "3", np.nan):
        with pytest.raises(GraphError, match=r"graph 1: .num_nodes. is .*: give an integer from 0"):
            read_graphs([nx.path_graph(3), {**edges, "num_nodes": wrong}])


def parallel_edge_list(kind=list):
    return {"edges": kind([(0, 1), (1, 0), (0, 1)]), "w": kind([2.0, 5.0, 3.0])}


def parallel_dgl():
    graph = dgl.graph(([0, 0, 1, 1], [1, 1, 0, 0]), num_nodes=2, idtype=torch.int32)
    graph.edata["w"] = torch.tensor([2.0, 3.0, 4.0, 1.0], dtype=torch.bfloat16)
    return graph


@pytest.mark.parametrize(
    "make",
    [
        lambda: nx.MultiGraph([(0, 1, {"w": 2.0}), (0, 1, {"w": 3.0})]),
        parallel_edge_list,
        lambda: parallel_edge_list(torch.tensor),
        pytest.param(parallel_dgl, marks=needs_dgl),
        pytest.param(
            lambda: igraph.Graph(2, [(0, 1), (1, 0)], edge_attrs={"w": [2, 3]}), marks=needs_igraph
        ),
    ],
)
def test_parallel_edges_count_once_or_add_up_their_weights(make):
    assert read_graphs([make()]).adjacency.data.tolist() == [1, 1]
    assert read_graphs([make()], schema=WEIGHTED).adjacency.data.tolist() == [5, 5]


@needs_dgl
def test_heterogeneous_graphs():
    writes, quotes = ("user", "writes", "post"), ("post", "quotes", "post")
    graph = dgl.heterograph({writes: ([0, 1], [0, 0]), quotes: ([0], [1])})
    graph.nodes["user"].data["age"] = torch.tensor([20.0, 30.0])
    graph.edges["writes"].data["words"] = torch.tensor([5.0, 7.0])
    schema = GraphSchema(node_numbers="age", edge_numbers="words", missing="indicate")
    (back,) = read_graphs([graph], schema=schema).to_networkx()
    names, ages = (dict(back.nodes.data(name)) for name in ("node_type", "age"))
    assert names == {0: "post", 1: "post", 2: "user", 3: "user"}
    np.testing.assert_array_equal(list(ages.values()), [np.nan, np.nan, 20, 30])
    assert sorted(back.edges.data("edge_type")) == [
        *((0, 1, "quotes"), (2, 0, "writes"), (3, 0, "writes"))
    ]


@needs_pyg
def test_edge_data_of_pytorch_geometric():
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    edges = {"edge_attr": torch.arange(4.0)[:, None], "edge_type": torch.tensor([0, 0, 1, 1])}
    graph = Data(edge_index=edge_index, x=torch.ones(3, 2), **edges)
    batch = read_graphs([graph])
    assert batch.directed  # the two directions have different numbers
    assert batch.edge_attributes[:, 0].tolist() == [0, 1, 2, 3]
    symmetric = read_graphs([graph], schema=GraphSchema(edge_numbers=None))
    assert not symmetric.directed
    assert symmetric.edge_labels.tolist() == [0, 0, 1, 1]


# -- imports ---------------------------------------------------------------------------------------


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


@pytest.mark.skipif(dgl is None, reason="DGL has no build here")
def test_a_batch_of_dgl_is_the_list_of_its_graphs():
    graphs = [dgl.graph(([0, 1], [1, 2])), dgl.graph(([0, 1, 2], [1, 2, 0]))]
    for graph in graphs:
        graph.ndata["x"] = torch.arange(graph.num_nodes()).float()
    for some in (graphs, graphs[:1]):
        assert_same(read_graphs(dgl.batch(some)), read_graphs(some))
