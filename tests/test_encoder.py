import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from skgraphkde import NodeFeatures, _dgl, read_graphs
from skgraphkde.encoder import GCNEncoder, Propagation, choose_backend
from skgraphkde.refinement import MessageFlow, node_colors, normalized_adjacency
from tests.conftest import permuted, random_graphs

needs_dgl = pytest.mark.skipif(_dgl.import_dgl() is None, reason="DGL has no build here")


def make_input(seed=0, n_graphs=6):
    graphs = random_graphs(n_graphs, seed)
    for graph in graphs:
        nx.set_edge_attributes(graph, {e: 0.5 + (sum(e) % 3) for e in graph.edges}, "weight")
    batch = read_graphs(graphs, edge_weight="weight")
    return NodeFeatures(("label", "degree")).fit(batch).transform(batch)


def make_encoder(graphs, backend=None, **kwargs):
    generator = torch.Generator().manual_seed(0)
    options = {"hidden_dim": 5, "n_layers": 3, "dropout": 0.2, "batch_norm": True, **kwargs}
    n_features = graphs.attributes.shape[1]
    return GCNEncoder(n_features, **options, generator=generator, backend=backend)


def apart(graphs, n_layers=3):
    return MessageFlow.unmerged(graphs, n_layers)


def merged(graphs, n_layers=3):
    """The flow of the colors, and the row of each node in it."""
    colors = node_colors(graphs, n_layers)
    flow = MessageFlow.of(graphs, colors)
    rows = {color: row for row, color in enumerate(flow.colors.tolist())}
    return flow, [rows[color] for color in colors[-1].tolist()]


def encode_slow(encoder, graphs):
    """Algorithm 2 of the paper with dense matrices and torch's own batch norm, node by node."""
    A = torch.tensor(graphs.adjacency.toarray()) + torch.eye(graphs.n_nodes)
    D = torch.diag(A.sum(1) ** -0.5)
    Z = torch.tensor(graphs.attributes)
    for W, norm in zip(encoder.weights, encoder.norms, strict=True):
        Z = torch.relu(norm(D @ A @ D @ Z @ W))
    return Z


def propagate_slow(graphs, n_layers):
    """Features and their averages, node by node, standardized; columns that do not vary are 0."""
    A = graphs.adjacency.toarray() + np.eye(graphs.n_nodes)
    A = A / np.sqrt(np.outer(A.sum(1), A.sum(1)))
    X, layers = graphs.attributes, []
    for layer in range(n_layers + 1):
        X = A @ X if layer else X
        varies = X.std(0) > 1e-9
        X = np.where(varies, X - X.mean(0), 0) / np.where(varies, X.std(0), 1)
        layers.append(X)
    Z = np.hstack(layers)
    return Z / np.sqrt(Z.var(0).sum())


@pytest.mark.parametrize("n_layers", [0, 1, 3])
def test_propagation_equals_dense_matrices(n_layers):
    graphs = make_input()
    constant = np.full((graphs.n_nodes, 1), 7.3)
    graphs = graphs.replace(attributes=np.hstack([graphs.attributes, constant]))
    encoder = Propagation(graphs.attributes.shape[1], n_layers).double()
    encoder.standardize([apart(graphs[:2], n_layers), merged(graphs[2:], n_layers)[0]])
    expected = propagate_slow(graphs, n_layers)
    if n_layers == 0:  # an average over neighbors of unlike degree is not constant
        assert (expected[:, -1] == 0).all()
    np.testing.assert_allclose(encoder(apart(graphs, n_layers)), expected, atol=1e-9)
    flow, rows = merged(graphs, n_layers)
    assert len(flow.colors) < graphs.n_nodes
    assert encoder.out_dim == expected.shape[1]
    np.testing.assert_allclose(encoder(flow)[rows], expected, atol=1e-9)
    assert expected.var(0).sum() == pytest.approx(1)


def test_propagation_of_equal_nodes_is_0():
    graphs = read_graphs([nx.cycle_graph(4)] * 3)
    graphs = graphs.replace(attributes=np.full((12, 2), 0.1))
    encoder = Propagation(2, 2)
    encoder.standardize([apart(graphs, 2)])
    assert (encoder(apart(graphs, 2)).abs() < 1e-6).all()


BACKENDS = ["torch", pytest.param("dgl", marks=needs_dgl)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize("hidden_dim", [2, 40])  # narrower and wider than the input
def test_encoder_equals_dense_matrices(backend, batch_norm, hidden_dim):
    graphs = make_input()
    encoder = make_encoder(graphs, backend, batch_norm=batch_norm, hidden_dim=hidden_dim).double()
    encoder.standardize([apart(graphs[:2]), merged(graphs[2:])[0]])
    expected = encode_slow(encoder, graphs)
    torch.testing.assert_close(encoder(apart(graphs)), expected)
    flow, rows = merged(graphs)
    assert len(flow.colors) < graphs.n_nodes
    torch.testing.assert_close(encoder(flow)[rows], expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_merged_nodes_count_as_often_as_there_are_in_training(backend):
    """Batch statistics, embeddings and gradients are those of torch's batch norm over all nodes."""
    graphs = make_input()
    encoder = make_encoder(graphs, backend, dropout=0.0).double().train()
    flow, rows = merged(graphs)
    assert max(flow.counts[-1]) > 1
    outputs = encoder(flow)[rows], encode_slow(encoder, graphs)
    torch.testing.assert_close(*outputs)
    gradients = [torch.autograd.grad((Z**3).sum(), list(encoder.parameters())) for Z in outputs]
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b)


@needs_dgl
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_ways_to_pass_messages_agree(dtype):
    graphs = make_input(n_graphs=30)
    outputs, gradients = [], []
    for backend in ("dgl", "torch"):
        encoder = make_encoder(graphs, backend).to(dtype)
        encoder.train()
        Z = encoder(apart(graphs), torch.Generator().manual_seed(1))
        (Z**2).sum().backward()
        outputs.append(Z.detach())
        gradients.append([p.grad for p in encoder.parameters()])
    assert (outputs[0] - outputs[1]).abs().max() < 1e-6 * max(1, outputs[0].abs().max())
    rounding = {torch.float32: 1e-5, torch.float64: 1e-13}[dtype]
    for a, b in zip(*gradients, strict=True):
        assert (a - b).abs().max() <= rounding * a.abs().max()


@needs_dgl
def test_the_dgl_way_really_is_dgl(monkeypatch):
    calls = []
    layer = _dgl.import_dgl().nn.GraphConv
    monkeypatch.setattr(
        _dgl.import_dgl().nn, "GraphConv", lambda *a, **k: calls.append(a) or layer(*a, **k)
    )
    graphs = make_input()
    make_encoder(graphs, "dgl")(apart(graphs))
    assert len(calls) == 3
    assert choose_backend(torch.device("cpu")) == "dgl"


def test_without_dgl_torch_passes_the_messages(monkeypatch):
    monkeypatch.setattr(_dgl, "import_dgl", lambda: None)
    assert choose_backend(torch.device("cpu")) == "torch"


@pytest.mark.parametrize("backend", BACKENDS)
def test_importing_the_package_does_not_import_dgl(backend):
    """... and importing DGL leaves sys.modules, the environment and the home folder alone."""
    code = (
        "import os, sys, skgraphkde\n"
        "assert 'dgl' not in sys.modules\n"
        "before = dict(os.environ)\n"
        "from skgraphkde import _dgl\n"
        f"assert {backend == 'torch'} or _dgl.import_dgl() is not None\n"
        "import setuptools\n"
        "assert 'setuptools.extern' not in sys.modules or hasattr(setuptools, 'extern')\n"
        "assert dict(os.environ) == before\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_a_broken_dgl_counts_as_none(tmp_path):
    """An installation that fails on import is no reason to fail."""
    (tmp_path / "dgl").mkdir()
    (tmp_path / "dgl" / "__init__.py").write_text(
        "import dgl.part\nraise OSError('no such library')"
    )
    (tmp_path / "dgl" / "part.py").write_text("")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from skgraphkde import _dgl\n"
        "assert _dgl.import_dgl() is None\n"
        "assert not [name for name in sys.modules if name.startswith('dgl')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_isolated_nodes_keep_their_features():
    A = read_graphs([nx.empty_graph(3)]).adjacency
    np.testing.assert_array_equal(normalized_adjacency(A).toarray(), np.eye(3))


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=20)
def test_node_order_and_batch_do_not_matter(seed):
    graphs = make_input(seed)
    encoder = make_encoder(graphs).double()
    encoder.standardize([apart(graphs)])
    Z = encoder(apart(graphs)).detach().numpy()
    moved = permuted(graphs.replace(attributes=Z), seed).attributes
    np.testing.assert_allclose(encoder(apart(permuted(graphs, seed))).detach(), moved, atol=1e-12)
    one_by_one = np.vstack([encoder(apart(graphs[i])).detach() for i in range(len(graphs))])
    np.testing.assert_allclose(one_by_one, Z, atol=1e-12)


def test_standardize_makes_every_column_standard():
    graphs = make_input(n_graphs=40)
    encoder = make_encoder(graphs, n_layers=1).double()
    parts = (graphs[:7], graphs[7:8], graphs[8:])
    encoder.standardize([merged(part, n_layers=1)[0] for part in parts])
    flow = apart(graphs, n_layers=1)
    normal = encoder.norms[0](encoder._convolve(0, flow, encoder._tensor(flow.features))).detach()
    torch.testing.assert_close(normal.mean(0), torch.zeros(5, dtype=torch.float64))
    torch.testing.assert_close(
        normal.var(0, unbiased=False), torch.ones(5, dtype=torch.float64), rtol=1e-3, atol=0
    )


def test_dropout_draws_from_its_own_generator():
    graphs = make_input()
    encoder = make_encoder(graphs).train()
    before = torch.random.get_rng_state()
    a, b, c = (encoder(apart(graphs), torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_dropout_keeps_the_mean():
    """Where no activation is negative, the mean over many masks is the output without dropout."""
    graphs = make_input(n_graphs=2)
    encoder = make_encoder(graphs, n_layers=2, batch_norm=False, dropout=0.4).double()
    for W in encoder.weights:
        W.data.abs_()
    flow = apart(graphs, n_layers=2)
    expected = encoder.eval()(flow)
    generator = torch.Generator().manual_seed(0)
    encoder.train()
    mean = sum(encoder(flow, generator) for _ in range(600)) / 600
    torch.testing.assert_close(mean, expected, rtol=0.1, atol=0.02)
