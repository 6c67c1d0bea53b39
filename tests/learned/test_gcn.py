import pickle

import networkx as nx
import numpy as np
import pytest
import torch

from skgraphkde import GCN, EncoderModule, GraphKDEDetector, TorchEncoder
from skgraphkde.learned import dgl_backend, gcn
from tests.conftest import spied
from tests.core.points.common import (
    apart,
    dense_ahat,
    dense_relations,
    featurized,
    make_input,
    merged,
)

needs_dgl = pytest.mark.skipif(dgl_backend.import_dgl() is None, reason="DGL has no build here")


def make_encoder(graphs, backend="auto", **kwargs):
    options = {"hidden_dim": 5, "n_layers": 3, "dropout": 0.2, "batch_norm": True, **kwargs}
    return GCN(**options, backend=backend).build(graphs.attributes.shape[1], seed=0)


def encode_slow(encoder, graphs):
    """Algorithm 2 of the paper with dense matrices and torch's own batch norm, node by node."""
    H = Z = torch.tensor(graphs.attributes)
    for W, norm in zip(encoder.weights, encoder.norms, strict=True):
        H = norm(torch.tensor(dense_ahat(graphs)) @ Z @ W)
        Z = torch.relu(H)
    return Z if encoder.specification.last_relu else H


BACKENDS = ["torch", pytest.param("dgl", marks=needs_dgl)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize(
    "options",
    [{"hidden_dim": 2}, {"hidden_dim": 40}, {"hidden_dim": 6, "out_dim": 3, "last_relu": False}],
    ids=["narrower than the input", "wider", "another last layer"],
)
def test_encoder_equals_dense_matrices(backend, batch_norm, options):
    graphs = make_input()
    encoder = make_encoder(graphs, backend, batch_norm=batch_norm, **options).double()
    encoder.standardize([apart(graphs[:2]), merged(graphs[2:])[0]])
    expected = encode_slow(encoder, graphs)
    torch.testing.assert_close(encoder(apart(graphs)), expected)
    flow, rows = merged(graphs)
    assert len(flow.colors) < graphs.n_nodes
    torch.testing.assert_close(encoder(flow)[rows], expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("last_relu", [True, False])
def test_merged_nodes_count_as_often_as_there_are_in_training(backend, last_relu):
    """Batch statistics, embeddings and gradients are those of torch's batch norm over all nodes."""
    graphs = make_input()
    encoder = make_encoder(graphs, backend, dropout=0.0, last_relu=last_relu).double().train()
    flow, rows = merged(graphs)
    assert max(flow.counts[-1]) > 1
    outputs = encoder(flow)[rows], encode_slow(encoder, graphs)
    torch.testing.assert_close(*outputs)
    gradients = [torch.autograd.grad((Z**3).sum(), list(encoder.parameters())) for Z in outputs]
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b)


@needs_dgl
@pytest.mark.parametrize("backend", ["dgl", "auto"])
def test_the_dgl_way_really_is_dgl(backend, monkeypatch):
    calls = spied(monkeypatch, dgl_backend, "graph_convolution")
    graphs = make_input()
    make_encoder(graphs, backend)(apart(graphs))
    assert len(calls) == 3
    make_encoder(graphs, "torch")(apart(graphs))
    assert len(calls) == 3


def test_without_dgl_torch_passes_the_messages(monkeypatch):
    monkeypatch.setattr(dgl_backend, "import_dgl", lambda: None)
    monkeypatch.setattr(dgl_backend, "supports", dgl_backend.supports.__wrapped__)
    monkeypatch.setattr(dgl_backend, "graph_convolution", lambda *_: pytest.fail("DGL is used"))
    assert not dgl_backend.supports(torch.device("cpu"))
    graphs = make_input()
    encoder = make_encoder(graphs, "auto").double().eval()
    torch.testing.assert_close(encoder(apart(graphs)), encode_slow(encoder, graphs))
    with pytest.raises(ValueError, match=r"backend='dgl' needs DGL, .* use backend='torch'"):
        GCN(backend="dgl").validate()


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


def test_moments_of_numbers_far_from_0_keep_their_variance():
    rows = torch.tensor(np.random.default_rng(0).normal(1e9, 2, (200, 3)))
    blocks = [(rows[:50], np.ones(50)), (rows[50:], np.ones(150))]
    mean, variance = gcn._column_moments(blocks)
    torch.testing.assert_close(mean, rows.mean(0))
    torch.testing.assert_close(variance, rows.var(0, unbiased=False), rtol=1e-6, atol=0)


def test_weights_and_dropout_are_drawn_from_generators_of_their_own():
    graphs = make_input()
    before = torch.random.get_rng_state()
    encoder = make_encoder(graphs).train()
    a, b, c = (encoder(apart(graphs), torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)
    a, b, c = (GCN().build(3, seed=seed).weights[0] for seed in (0, 0, 1))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_relation_has_weights(backend):
    batch, n_relations = featurized()
    encoder = GCN(hidden_dim=5, n_layers=1, batch_norm=False, backend=backend)
    module = encoder.build(batch.attributes.shape[1], n_relations, seed=0).double()
    X = np.asarray(batch.attributes)
    H = dense_ahat(batch) @ X @ module.weights[0].detach().numpy()
    for A, weight in zip(dense_relations(batch), module.relation_weights, strict=True):
        H += A @ X @ weight.detach().numpy()
    actual = module.encode(apart(batch, 1))
    np.testing.assert_allclose(actual, np.maximum(H, 0), atol=1e-9)


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
    mean = sum(encoder(flow, generator) for _ in range(300)) / 300
    torch.testing.assert_close(mean, expected, rtol=0.1, atol=0.02)


# -- encoders of one's own that are torch modules --------------------------------------------------


class Plain(GCN):
    """Knows no relations."""

    is_relational = False


def test_an_encoder_of_its_own_sees_edges_by_the_node_features():
    graphs = [nx.DiGraph(nx.path_graph(n).edges) for n in range(4, 12)]
    detector = GraphKDEDetector(encoder=Plain(4), random_state=0).fit(graphs)
    reversed_ = [graph.reverse() for graph in graphs]
    names = detector.model_.features.get_feature_names_out().tolist()
    assert "log(1+out edges)" in names
    assert np.isfinite(detector.score_samples(reversed_)).all()


class Own(TorchEncoder):
    """Builds a module of the class `module`."""

    module = None

    def build_module(self, in_dim, generator):
        if self.module is None:
            return super().build_module(in_dim, generator)
        return self.module(self, in_dim, in_dim, 0)


class TooLong(EncoderModule):
    def forward(self, flow, generator=None):
        return torch.tensor(flow.features).repeat(2, 1)


class NoTensor(EncoderModule):
    def forward(self, flow, generator=None):
        return flow.features


class Linear(torch.nn.Linear):
    def __init__(self, specification, in_dim, out_dim, n_layers):
        super().__init__(in_dim, out_dim)


@pytest.mark.parametrize(
    ("module", "error", "message"),
    [
        (TooLong, TypeError, r"TooLong\.forward must return a tensor of shape \((\d+), (\d+)\), "),
        (NoTensor, TypeError, r"NoTensor\.forward must return a tensor .* returned a ndarray of"),
        (EncoderModule, NotImplementedError, r"EncoderModule has no method forward\(flow, gen"),
        (Linear, TypeError, r"Own\.build_module must return an EncoderModule, .* a Linear"),
        (None, NotImplementedError, r"Own has no method build_module\(in_dim, generator\)"),
    ],
)
def test_modules_that_are_wrong(graphs, module, error, message, monkeypatch):
    monkeypatch.setattr(Own, "module", module)
    with pytest.raises(error, match=message):
        GraphKDEDetector(encoder=Own()).fit(graphs)


def test_copies_of_a_module_have_its_weights_and_go_to_the_cpu_without_its_gpu():
    module = GCN(4, device="cpu").build(3, seed=0).double()
    module.specification.device = "cuda"
    copy = pickle.loads(pickle.dumps(module))
    weights = copy.state_dict()
    assert all(torch.equal(x, weights[name]) for name, x in module.state_dict().items())
    if not torch.cuda.is_available():
        assert copy.weights[0].device.type == "cpu"
        with pytest.raises(ValueError, match="torch does not find device='cuda'"):
            module.specification.build(3)
