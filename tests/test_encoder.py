import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from skgraphkde import NodeFeatures, _dgl, read_graphs
from skgraphkde.encoder import GCNEncoder, choose_backend, normalized_adjacency
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


def encode_slow(encoder, graphs):
    """Algorithm 2 of the paper with dense matrices, batch norm in evaluation mode."""
    A = graphs.adjacency.toarray() + np.eye(graphs.n_nodes)
    D = np.diag(A.sum(1) ** -0.5)
    Z = graphs.attributes
    for W, norm in zip(encoder.weights, encoder.norms, strict=True):
        Z = D @ A @ D @ Z @ W.detach().numpy()
        if isinstance(norm, torch.nn.BatchNorm1d):
            Z = (Z - norm.running_mean.numpy()) / np.sqrt(norm.running_var.numpy() + norm.eps)
            Z = Z * norm.weight.detach().numpy() + norm.bias.detach().numpy()
        Z = np.maximum(Z, 0)
    return Z


BACKENDS = ["torch", pytest.param("dgl", marks=needs_dgl)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize("hidden_dim", [2, 40])  # narrower and wider than the input
def test_encoder_equals_dense_matrices(backend, batch_norm, hidden_dim):
    graphs = make_input()
    encoder = make_encoder(graphs, backend, batch_norm=batch_norm, hidden_dim=hidden_dim).double()
    encoder.standardize([graphs[:2], graphs[2:]])
    np.testing.assert_allclose(
        encoder(graphs).detach().numpy(), encode_slow(encoder, graphs), atol=1e-12
    )


@needs_dgl
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_ways_to_pass_messages_agree(dtype):
    graphs = make_input(n_graphs=30)
    outputs, gradients = [], []
    for backend in ("dgl", "torch"):
        encoder = make_encoder(graphs, backend).to(dtype)
        encoder.train()
        Z = encoder(graphs, torch.Generator().manual_seed(1))
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
    make_encoder(graphs, "dgl")(graphs)
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
    encoder.standardize([graphs])
    Z = encoder(graphs).detach().numpy()
    moved = permuted(graphs.replace(attributes=Z), seed).attributes
    np.testing.assert_allclose(encoder(permuted(graphs, seed)).detach(), moved, atol=1e-12)
    one_by_one = np.vstack([encoder(graphs[i]).detach() for i in range(len(graphs))])
    np.testing.assert_allclose(one_by_one, Z, atol=1e-12)


def test_standardize_makes_every_column_standard():
    graphs = make_input(n_graphs=40)
    encoder = make_encoder(graphs, n_layers=1).double()
    encoder.standardize([graphs[:7], graphs[7:8], graphs[8:]])
    H = encoder._inputs(graphs)[0](torch.tensor(graphs.attributes), encoder.weights[0])
    normal = encoder.norms[0](H).detach()
    torch.testing.assert_close(normal.mean(0), torch.zeros(5, dtype=torch.float64))
    torch.testing.assert_close(
        normal.var(0, unbiased=False), torch.ones(5, dtype=torch.float64), rtol=1e-3, atol=0
    )


def test_dropout_draws_from_its_own_generator():
    graphs = make_input()
    encoder = make_encoder(graphs).train()
    before = torch.random.get_rng_state()
    a, b, c = (encoder(graphs, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_dropout_keeps_the_mean():
    """Where no activation is negative, the mean over many masks is the output without dropout."""
    graphs = make_input(n_graphs=2)
    encoder = make_encoder(graphs, n_layers=2, batch_norm=False, dropout=0.4).double()
    for W in encoder.weights:
        W.data.abs_()
    expected = encoder.eval()(graphs)
    generator = torch.Generator().manual_seed(0)
    encoder.train()
    mean = sum(encoder(graphs, generator) for _ in range(600)) / 600
    torch.testing.assert_close(mean, expected, rtol=0.1, atol=0.02)
