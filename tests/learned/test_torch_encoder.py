"""Encoders of one's own that are torch modules, and what is said where they go wrong."""

import networkx as nx
import numpy as np
import pytest
import torch
from skgraphkde.persistence.registry import _classes

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


class Shift(EncoderModule):
    """Forgets in a file what it has learned."""

    shift = 0.0

    def forward(self, flow, generator=None):
        return torch.tensor(flow.features) ** 2 + self.shift * torch.tensor(flow.features)

    def standardize(self, flows):
        self.shift = 3.0


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


def test_a_module_whose_state_a_file_would_lack_is_not_saved(graphs, monkeypatch, tmp_path):
    monkeypatch.setattr(Own, "module", Shift)
    monkeypatch.setitem(_classes, "Own", Own)
    detector = GraphKDEDetector(encoder=Own()).fit(graphs)
    with pytest.raises(ValueError, match="has state that a file would not contain"):
        detector.save(tmp_path / "a.skg")
    assert not list(tmp_path.iterdir())
