"""Densities against the formula, written out."""

import math

import numpy as np
import pytest

from skgraphkde import read_graphs
from skgraphkde.core.views.kernels import (
    log_densities,
    log_size_kernel,
    median_distance,
    mixture,
    size_bandwidths,
)
from tests.conftest import random_graphs
from tests.core.views.common import density_slow

BANDWIDTHS = (1e-2, 1e-1, 1.0, 1e1, 1e2)


@pytest.mark.parametrize("second_kernel", [False, True])
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_density_equals_the_formula(second_kernel, leave_one_out):
    rng = np.random.RandomState(0)
    logits, D, W = rng.standard_normal(5), rng.rand(6, 6), rng.rand(6, 6)
    squared = np.round((D + D.T) / 2, 4) ** 2 - 0.2  # unbiased: may be < 0
    squared[range(6), range(6)] = 0
    squared[2, 3] = np.inf
    weights, expected = np.exp(logits) / np.exp(logits).sum(), []
    for i in range(6):
        second, skip = W[i] if second_kernel else None, i if leave_one_out else None
        expected.append(math.log(density_slow(squared[i], BANDWIDTHS, weights, second, skip)))
    by_bandwidth = log_densities(
        squared,
        np.array(BANDWIDTHS),
        np.log(W) if second_kernel else None,
        np.eye(6, dtype=bool) if leave_one_out else None,
    )
    assert by_bandwidth.shape == (6, 5)
    actual = mixture(by_bandwidth, logits)
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)


def test_the_density_of_what_is_infinitely_far_is_0():
    far = log_densities(np.full((1, 2), np.inf), np.array(BANDWIDTHS))
    assert mixture(far, np.zeros(5)) == [-np.inf]


@pytest.mark.parametrize(
    ("nearest", "scale"),
    [
        ([9.0, 9.0, 0.0, 0.0], 3),  # two graphs are equal
        ([1e-14, -1e-15, 1e-13], 1),  # all are, but for rounding
        ([0.04, 0.04, 0.04, 2.0], 0.2),  # one is far from all
        ([4e-12, 4e-12, 4e-12], 2e-6),  # of a very wide kernel
        ([-0.04, 0.04, -0.09], 0.2),  # unbiased estimates
        ([0.04, 4.0], 0.2),  # the lower of two
    ],
)
def test_nearest_bandwidths_survive_duplicates_and_outliers(nearest, scale):
    assert median_distance(np.array(nearest)) == pytest.approx(scale)


# -- the kernel on sizes ---------------------------------------------------------------------------


def test_size_kernel_equals_the_formula():
    references, graphs = read_graphs(random_graphs(9)), read_graphs(random_graphs(4, seed=5))

    def sizes(batch):
        pairs = zip(batch.n_nodes_per_graph, batch.n_edges_per_graph, strict=True)
        return np.array([[math.log(n), math.log(1 + m)] for n, m in pairs])

    x, y, h = sizes(references), sizes(graphs), 9 ** (-1 / 6)
    squared = (((y[:, None] - x) / x.std(0)) ** 2).sum(axis=2)
    expected = -squared / (2 * h**2) - math.log(2 * math.pi)
    np.testing.assert_allclose(
        log_size_kernel(graphs, references, size_bandwidths(references)), expected, rtol=1e-12
    )
