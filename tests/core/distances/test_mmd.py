"""MMDs of NumPy points, means of kernels and of random features, against formulas; measures."""

import itertools
import math

import numpy as np
import pytest
import torch
from sklearn import config_context

from skgraphkde import MMD
from skgraphkde.core.distances import DiscreteMeasures, kernels
from skgraphkde.core.distances.mmd import EXACT_POINTS, FittedMMD
from tests.conftest import GAMMAS
from tests.core.distances.common import (
    TOLERANCE,
    assert_close,
    clouds,
    frequencies,
    gaussian,
    mean_cosine,
    measures,
    squared_mmd,
    squared_mmd_slow,
)

METHODS = {"exact": None, "random_features": frequencies(16)}


def kernel_of(method):
    return gaussian if method == "exact" else mean_cosine(METHODS[method])


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_far_points_do_not_underflow_into_nan(dtype):
    P = measures(0, lambda x: 1e4 * x.astype(dtype))
    D = np.asarray(squared_mmd(P, None, GAMMAS))
    assert np.isfinite(D).all()
    assert D.max() <= 2


@pytest.mark.parametrize("method", METHODS)
def test_embedded_once_or_each_time(method):
    """Parts of embedded measures, too, keep what was embedded."""
    P, Q = measures(0), measures(1, n=4)
    distance = FittedMMD(GAMMAS, 0.3, frequencies=METHODS[method])
    expected = squared_mmd_slow(*clouds(0), *clouds(1, n=4), GAMMAS, 0.3, kernel_of(method))
    embedded = distance.embed(Q)
    assert distance.embed(embedded) is embedded
    assert embedded.squared_norms.shape == (4, len(GAMMAS))
    for columns in (Q, embedded):
        assert_close(distance.squared(P, columns), expected)
    some = np.array([3, 0])
    assert_close(distance.squared(P, embedded[some]), expected[:, some])


# -- adapting to references ------------------------------------------------------------------------


TWO = (0.1, 3.0)


def adapted_slow(x, ptr, sample, correction, kernel):
    """The correction, squared distances to nearest neighbors, and all of them, graph by graph.

    `correction` None is the share of the sample whose unbiased squared distance to the neighbor, by
    the biased estimate, is not negative, for kernels of five decades and those of the distance.
    """
    if correction is None:
        biased, unbiased = (
            squared_mmd_slow(x, ptr, x, ptr, (*GAMMAS, 3.0), c, kernel).fill_diagonal_(torch.inf)
            for c in (0.0, 1.0)
        )
        possible = [unbiased[i, biased[i].argmin()].item() >= 0 for i in sample]
        correction = sum(possible) / len(possible)
    squared = squared_mmd_slow(x, ptr, x, ptr, TWO, correction, kernel)
    others = squared.clone().fill_diagonal_(torch.inf)
    return correction, torch.stack([others[i].min() for i in sample]), squared


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("working_memory", [1024, 0.003])
@pytest.mark.parametrize("correction", [None, 0.0, 1.0])  # None: one in between
def test_adapted_equals_the_formula(method, working_memory, correction):
    P, sample = measures(2, n=12), np.array([0, 1, 3, 4, 7, 9, 11])
    distance = FittedMMD(TWO, correction or 0.0, correction is None, METHODS[method])
    with config_context(working_memory=working_memory):
        adapted, nearest, squared = distance.adapted(P, sample)
    expected, expected_nearest, expected_squared = adapted_slow(
        *clouds(2, n=12), sample, correction, kernel_of(method)
    )
    if correction is None:
        assert 0 < expected < 1
    assert adapted.correction == pytest.approx(expected, abs=1e-12)
    assert (adapted.gammas, adapted.frequencies) == (distance.gammas, distance.frequencies)
    assert isinstance(nearest, np.ndarray)
    assert_close(nearest, expected_nearest)
    assert_close(adapted.squared(P), expected_squared)
    assert (squared is None) == (working_memory < 1)
    if squared is not None:
        assert_close(squared, expected_squared)


def test_adapting_again_forgets_the_first_references():
    """Training adapts once per epoch."""
    P, Q, sample = measures(2, n=12), measures(3, n=12), np.arange(12)
    once = FittedMMD(GAMMAS, adaptive=True).adapted(Q, sample)
    twice = FittedMMD(GAMMAS, adaptive=True).adapted(P, sample)[0].adapted(Q, sample)
    assert twice[0].correction == once[0].correction
    for a, b in zip(twice[1:], once[1:], strict=True):
        np.testing.assert_array_equal(a, b)


# -- shares of nodes -------------------------------------------------------------------------------


def test_contributions_equal_the_witness_function():
    """Node by node, for the gamma of the distance; two nodes share a point."""
    (y, qtr), chosen = clouds(1, n=4), []
    points, index = clouds(0)[0][:4], np.array([0, 1, 2, 1, 3])
    x, graph = points[index], DiscreteMeasures.of_nodes(points, index, np.array([0, 5]))
    shares = FittedMMD(GAMMAS).contributions(graph, measures(1, n=4))[index]
    for r, (start, stop) in enumerate(itertools.pairwise(qtr)):
        a, z = torch.from_numpy(x), torch.from_numpy(y[start:stop])
        of_gamma = []
        for gamma in GAMMAS:
            own, to_z = gaussian(a, a, gamma).mean(1), gaussian(a, z, gamma).mean(1)
            spread = gaussian(z, z, gamma).mean() - to_z.mean()
            of_gamma.append([(own[p] - to_z[p] + spread) / 5 for p in range(5)])
        chosen.append(int(np.argmax([sum(values) for values in of_gamma])))
        assert_close(shares[:, r], torch.stack(of_gamma[chosen[-1]]))
    assert set(chosen) != {0}


# -- parameters ------------------------------------------------------------------------------------


def test_what_the_parameters_build():
    rng = np.random.RandomState(0)
    exact = MMD(gammas=[1, 10, 1.0]).build(3, EXACT_POINTS, rng)  # twice counts once
    assert (exact.gammas, exact.method, exact.frequencies) == ((1.0, 10.0), "exact", None)
    assert MMD().build(3, EXACT_POINTS + 1, rng).method == "random_features"
    assert MMD(method="exact").build(3, EXACT_POINTS + 1, rng).method == "exact"
    for n_components, width in ((None, 256), (6, 3)):
        specification = MMD(method="random_features", n_components=n_components)
        specification.validate()
        assert specification.build(5, 10, rng).frequencies.shape == (5, width)
    built = {x: MMD(estimator=x).build(3, 10, rng) for x in ("adaptive", "biased", "unbiased")}
    assert [(x.correction, x.adaptive) for x in built.values()] == [
        (0.0, True),
        (0.0, False),
        (1.0, False),
    ]


# -- means of kernels, and measures ----------------------------------------------------------------


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
