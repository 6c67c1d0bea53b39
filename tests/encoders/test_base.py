"""What all encoders share: they are built from a seed, and restored from the weights in a file."""

import numpy as np
import pytest
import torch

from skgraphkde import GCN, Propagation
from skgraphkde.encoders.base import build_encoder, restore_encoder, weights_of
from tests.encoders.common import apart, make_input

SPECIFICATIONS = {
    "propagation": Propagation(n_layers=3),
    "gcn": GCN(hidden_dim=5, n_layers=3),
    "no norms": GCN(hidden_dim=5, n_layers=3, batch_norm=False),
}


@pytest.fixture(params=SPECIFICATIONS)
def specification(request):
    return SPECIFICATIONS[request.param]


def fitted(specification):
    graphs = make_input()
    module = build_encoder(specification, graphs.attributes.shape[1], seed=0)
    module.standardize([apart(graphs)])
    return graphs, module.eval()


def test_a_seed_draws_the_weights_and_leaves_the_global_one_alone():
    before = torch.random.get_rng_state()
    a, b, c = (build_encoder(GCN(), 3, seed).weights[0] for seed in (0, 0, 1))
    assert torch.equal(a, b)
    assert not torch.equal(a, c)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_restored_encoder_computes_the_same(specification):
    graphs, module = fitted(specification)
    weights = weights_of(module)
    restored = restore_encoder(specification, module.in_dim, weights)
    assert torch.equal(restored(apart(graphs)), module(apart(graphs)))
    for name, x in weights.items():
        assert x.dtype != np.float64, name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x[:0], "is float32"),
        (lambda x: x.astype(float), "is float64"),
        (lambda x: np.full_like(x, np.nan), "is not finite"),
    ],
)
def test_forged_weights_are_refused(specification, change, message):
    _, module = fitted(specification)
    weights = weights_of(module)
    name = next(iter(weights))
    with pytest.raises(ValueError, match=message):
        restore_encoder(specification, module.in_dim, {**weights, name: change(weights[name])})
    with pytest.raises(ValueError, match="names of the encoder's weights are wrong"):
        restore_encoder(specification, module.in_dim, {**weights, "more": weights[name]})
    with pytest.raises(ValueError, match=r"the encoder's weight .* is float32"):
        restore_encoder(specification, module.in_dim + 1, weights)
