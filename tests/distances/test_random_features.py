import numpy as np
import pytest

from tests.distances.common import frequencies, measures, squared_mmd


@pytest.mark.parametrize("correction", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("symmetric", [True, False])
def test_random_features_converge_at_their_rate(correction, symmetric):
    """Sixteen times the features, a quarter of the error."""
    P, Q = measures(0), None if symmetric else measures(1)
    exact = squared_mmd(P, Q, (1.0,), correction)
    errors = [
        np.mean(
            [
                np.abs(squared_mmd(P, Q, (1.0,), correction, frequencies(n, seed)) - exact).mean()
                for seed in range(20)
            ]
        )
        for n in (64, 1024)
    ]
    assert errors[1] < 0.05
    assert 2.5 < errors[0] / errors[1] < 6.5


def test_frequencies_are_orthogonal_in_blocks_and_have_the_lengths_of_normal_vectors():
    w = frequencies(2000, d=5)
    assert w.shape == (5, 1000)
    block = w[:, 5:10]
    np.testing.assert_allclose(block.T @ block, np.diag((block**2).sum(0)), atol=1e-12)
    assert (w**2).sum(0).mean() == pytest.approx(5, rel=0.1)  # chi-squared with 5 degrees
