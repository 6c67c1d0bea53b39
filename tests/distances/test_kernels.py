"""Means of kernels and of random features of NumPy points, against formulas; and measures."""

import math

import numpy as np
import pytest
import torch
from sklearn import config_context

from skgraphkde.distances import DiscreteMeasures, kernels
from tests.conftest import GAMMAS
from tests.distances.common import (
    TOLERANCE,
    assert_close,
    clouds,
    frequencies,
    gaussian,
    measures,
    squared_mmd,
    squared_mmd_slow,
)


@pytest.fixture(params=[None, 5], ids="tile{}".format)
def tile(request, monkeypatch):
    """Blocks of 5 by 5 points, or of 8 by 2, and the usual ones."""
    if request.param is not None:
        monkeypatch.setattr(kernels, "TILE", request.param)
        monkeypatch.setattr(kernels, "BLOCK", 25)


def means_slow(P, Q):
    x, y = torch.from_numpy(P.points), torch.from_numpy(Q.points)
    W, V = (torch.from_numpy(M.weights.toarray()) for M in (P, Q))
    return torch.stack([W @ gaussian(x, y, gamma) @ V.T for gamma in GAMMAS])


@pytest.mark.usefixtures("tile")
@pytest.mark.parametrize("working_memory", [1024, 1e-3])
@pytest.mark.parametrize("sizes", [(6, 4), (2, 12), (12, 2)])
def test_kernel_means_equal_the_formula(sizes, working_memory):
    P, Q = (measures(seed, n=n) for seed, n in enumerate(sizes))
    with config_context(working_memory=working_memory):
        assert_close(kernels.kernel_means(P, Q, GAMMAS), means_slow(P, Q), atol=1e-12)
        all_pairs = kernels.kernel_means(P, None, GAMMAS)
    assert_close(all_pairs, means_slow(P, P), atol=1e-12)
    of_each = np.diagonal(all_pairs, axis1=1, axis2=2)
    assert_close(kernels.self_means(P, GAMMAS), of_each, atol=1e-12)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("correction", [0.0, 0.3, 1.0])
def test_mmd_equals_the_formula_in_the_precision_of_the_points(dtype, correction):
    P, Q = (measures(seed, lambda x: x.astype(dtype)) for seed in (0, 1))
    squared = squared_mmd(P, Q, GAMMAS, correction)
    assert squared.dtype == dtype
    expected = squared_mmd_slow(*clouds(0), *clouds(1), GAMMAS, correction)
    assert_close(squared, expected, TOLERANCE[dtype])


@pytest.mark.usefixtures("tile")
def test_measures_may_share_points():
    rng = np.random.RandomState(0)
    distinct = rng.standard_normal((7, 3))
    choice = [rng.randint(7, size=size) for size in (4, 9, 1, 6)]
    ptr = np.concatenate([[0], np.cumsum([len(c) for c in choice])])
    plain = DiscreteMeasures.from_clouds(distinct[np.concatenate(choice)], ptr)
    merged = DiscreteMeasures.of_nodes(distinct, np.concatenate(choice), ptr)
    assert_close(merged.means(), plain.means())
    for c in (0.0, 1.0):
        assert_close(squared_mmd(merged, None, GAMMAS, c), squared_mmd(plain, None, GAMMAS, c))
        of_some = squared_mmd(merged[[1, 3]], plain, GAMMAS, c)
        assert_close(of_some, squared_mmd(plain[1::2], plain, GAMMAS, c))


def test_close_points_keep_their_digits_in_single_precision():
    x, ptr = clouds(0, n=30, d=64)
    near = 4 * x + 1e-2 * np.random.RandomState(0).standard_normal(x.shape)
    y = np.concatenate([4 * x, near]).astype(np.float32)
    ptr = np.concatenate([ptr, ptr[1:] + ptr[-1]])
    single = squared_mmd(DiscreteMeasures.from_clouds(y, ptr), None, GAMMAS)
    double = squared_mmd(DiscreteMeasures.from_clouds(y.astype(float), ptr), None, GAMMAS)
    assert double[:30, 30:].diagonal().min() > 1e-3
    assert_close(single, double, atol=1e-5)


# -- random features -------------------------------------------------------------------------------


@pytest.mark.usefixtures("tile")
@pytest.mark.parametrize("scale", [1, 120])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_random_features_equal_cosines_and_sines(dtype, scale):
    P, w = measures(0, lambda x: scale * x.astype(dtype)), frequencies(16).astype(dtype)
    angles = 2 * (P.points @ w)
    expected = P.weights @ np.hstack([np.cos(angles), np.sin(angles)])
    means = kernels.feature_means(P, (0.5, 2.0), w)[1] * math.sqrt(8)
    assert_close(means, expected, atol=200 * np.finfo(dtype).eps * scale)
