"""Encoders of one's own that are torch modules, and what is said where they go wrong."""

import pickle

import networkx as nx
import numpy as np
import pytest
import torch

from skgraphkde import (
    GCN,
    EncoderModule,
    GraphKDEDetector,
    TorchEncoder,
)


class Plain(GCN):
    """Knows no relations."""

    is_relational = False

    def build_module(self, in_dim, generator):
        return super().build_module(in_dim, generator)


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
