"""What all encoders share: they are built from a seed, and restored from the weights in a file."""

import numpy as np
import pytest

from skgraphkde import GCN, Propagation
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
    encoder = specification.build(graphs.attributes.shape[1], seed=0)
    encoder.prepare([apart(graphs)])
    return graphs, encoder


def test_a_restored_encoder_computes_the_same(specification):
    graphs, encoder = fitted(specification)
    weights = encoder.saved_weights()
    restored = specification.restore(encoder.in_dim, 0, weights)
    Z = encoder.encode(apart(graphs))
    assert type(Z) is np.ndarray
    assert Z.dtype == np.float64
    np.testing.assert_array_equal(restored.encode(apart(graphs)), Z)
    for name, x in weights.items():
        assert x.dtype != np.float64, name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x[:0], "is float32"),
        (lambda x: x.astype(float), "is float64"),
        (lambda x: np.full_like(x, np.nan), "is not finite"),
        (lambda x: x.tolist(), "are not arrays"),
    ],
)
def test_forged_weights_are_refused(specification, change, message):
    _, encoder = fitted(specification)
    weights, in_dim = encoder.saved_weights(), encoder.in_dim
    name = next(iter(weights))
    with pytest.raises(ValueError, match=message):
        specification.restore(in_dim, 0, {**weights, name: change(weights[name])})
    with pytest.raises(ValueError, match="names of the encoder's weights are wrong"):
        specification.restore(in_dim, 0, {**weights, "more": weights[name]})
    with pytest.raises(ValueError, match=r"the encoder's weight .* is float32"):
        specification.restore(in_dim + 1, 0, weights)
