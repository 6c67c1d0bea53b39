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


@pytest.fixture(params=SPECIFICATIONS, scope="module")
def fitted(request):
    """A specification, graphs, and the encoder that was fitted to them."""
    specification, graphs = SPECIFICATIONS[request.param], make_input()
    encoder = specification.build(graphs.attributes.shape[1], seed=0)
    encoder.prepare([apart(graphs)])
    return specification, graphs, encoder


def test_a_restored_encoder_computes_the_same(fitted):
    specification, graphs, encoder = fitted
    weights = encoder.saved_weights()
    restored = specification.restore(encoder.in_dim, 0, weights)
    Z = encoder.encode(apart(graphs))
    assert type(Z) is np.ndarray
    assert Z.dtype == np.float64
    np.testing.assert_array_equal(restored.encode(apart(graphs)), Z)
    assert not any(x.dtype == np.float64 for x in weights.values())


def test_forged_weights_are_refused(fitted):
    specification, _, encoder = fitted
    weights, in_dim = encoder.saved_weights(), encoder.in_dim
    name, x = next(iter(weights.items()))
    for width, odd, message in (
        (in_dim, {name: x[:0]}, "is float32"),
        (in_dim, {name: x.astype(float)}, "is float64"),
        (in_dim, {name: np.full_like(x, np.nan)}, "is not finite"),
        (in_dim, {name: x.tolist()}, "are not arrays"),
        (in_dim, {"more": x}, "names of the encoder's weights are wrong"),
        (in_dim + 1, {}, r"the encoder's weight .* is float32"),
    ):
        with pytest.raises(ValueError, match=message):
            specification.restore(width, 0, {**weights, **odd})
