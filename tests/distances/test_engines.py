"""Kernel means of arrays and of tensors, by each engine, against formulas."""

import math
import pickle

import numpy as np
import pytest
import torch
from sklearn import config_context

from skgraphkde.computing import pool
from skgraphkde.computing.threads import distance_threads
from skgraphkde.distances import DiscreteMeasures, engines
from skgraphkde.distances.engines import cpu
from skgraphkde.learned.engines import torch_tiles
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
def tile_width(request, monkeypatch):
    if request.param is not None:
        monkeypatch.setattr(torch_tiles, "tile_width", lambda points, n_gammas: request.param)
        monkeypatch.setattr(cpu, "TILE", request.param)
        monkeypatch.setattr(cpu, "FREQUENCIES", 3)


def kernel_means(P, Q=None):
    if Q is None:
        return engines.kernel_means(P.points, P.weights, None, None, GAMMAS)
    return engines.kernel_means(P.points, P.weights, Q.points, Q.weights, GAMMAS, Q.memo)


def feature_means(P, gammas, w):
    return engines.feature_means(P.points, P.weights, gammas, w)


def learned(P):
    """Tensors record gradients from here on; arrays have none."""
    return [P.points.requires_grad_()] if isinstance(P.points, torch.Tensor) else []


def assert_gradients_close(fast, leaves, slow, slow_leaves, atol, diagonal=True):
    """Of a random sum, if there are gradients; `diagonal` tells whether to include that."""
    weights = torch.randn(slow.shape, generator=torch.Generator().manual_seed(0)).double()
    if not diagonal:
        weights.fill_diagonal_(0)
    if leaves:
        ours = torch.autograd.grad((fast * weights.to(fast.dtype)).sum(), leaves)
        expected = torch.autograd.grad((slow * weights).sum(), slow_leaves)
        for a, b in zip(ours, expected, strict=True):
            assert_close(a, b, atol)


@pytest.mark.usefixtures("tile_width")
@pytest.mark.parametrize(
    ("dtype", "correction"), [("float64", 0.0), ("float64", 0.3), ("float32", 1.0)]
)
@pytest.mark.parametrize("symmetric", [True, False])
def test_mmd_and_its_gradient_equal_the_formula(dtype, correction, symmetric, convert):
    """The engines do not know the correction: one precision with each of them is enough."""
    P, Q = (measures(seed, lambda x: convert(x.astype(dtype)), n=n) for seed, n in ((0, 6), (1, 4)))
    if symmetric:
        Q = P
    x, y = (torch.tensor(np.asarray(M.points), dtype=torch.float64) for M in (P, Q))
    slow_leaves = [x.requires_grad_()] if symmetric else [x.requires_grad_(), y.requires_grad_()]
    leaves = learned(P) if symmetric else learned(P) + learned(Q)
    fast = squared_mmd(P, None if symmetric else Q, GAMMAS, correction)
    ptr, qtr = P.weights.indptr, Q.weights.indptr
    slow = squared_mmd_slow(x, ptr, x if symmetric else y, qtr, GAMMAS, correction)
    assert str(fast.dtype).endswith(dtype)
    assert_close(fast, slow, TOLERANCE[dtype])
    # The formula's supremum has no gradient at a graph and itself.
    atol = 10 * TOLERANCE[dtype]
    assert_gradients_close(fast, leaves, slow, slow_leaves, atol, diagonal=not symmetric)


@pytest.mark.parametrize("tile", [4, 6, 256])
@pytest.mark.parametrize("few_are_rows", [True, False])
def test_few_points_against_many(few_are_rows, tile, convert, monkeypatch):
    """An engine may exchange rows and columns to have more tiles."""
    monkeypatch.setattr(cpu, "TILE", tile)
    P, Q = measures(0, convert, n=2, max_size=5), measures(1, convert, n=12)
    assert len(P.points) <= 6 < 20 < len(Q.points)
    if not few_are_rows:
        P, Q = Q, P
    x, y = (torch.tensor(np.asarray(M.points), requires_grad=True) for M in (P, Q))
    W, V = (torch.tensor(M.weights.toarray()) for M in (P, Q))
    leaves = learned(P) + learned(Q)
    fast = kernel_means(P, Q)
    slow = torch.stack([W @ gaussian(x, y, gamma) @ V.T for gamma in GAMMAS])
    assert_close(fast, slow, atol=1e-12)
    assert_gradients_close(fast, leaves, slow, [x, y], atol=1e-11)


@pytest.mark.usefixtures("tile_width")
def test_measures_may_share_support_points(convert):
    """Merging equal points changes nothing: the door for faster engines."""
    rng = np.random.RandomState(0)
    distinct = rng.standard_normal((7, 3))
    choice = [rng.randint(7, size=size) for size in (4, 9, 1, 6)]
    ptr = np.concatenate([[0], np.cumsum([len(c) for c in choice])])
    plain = DiscreteMeasures.from_clouds(convert(distinct[np.concatenate(choice)]), ptr)
    weights = np.array([np.bincount(c, minlength=7) / len(c) for c in choice])
    merged = DiscreteMeasures(convert(distinct), type(plain.weights)(weights), plain.sizes)
    for c in (0.0, 1.0):
        assert_close(squared_mmd(merged, None, GAMMAS, c), squared_mmd(plain, None, GAMMAS, c))
        of_some = squared_mmd(merged[[1, 3]], plain, GAMMAS, c)
        assert_close(of_some, squared_mmd(plain[1::2], plain, GAMMAS, c))


@pytest.mark.usefixtures("tile_width")
def test_self_means_are_the_diagonal(convert):
    P = measures(3, convert, n=9)
    expected = np.asarray(kernel_means(P)).diagonal(axis1=1, axis2=2)
    assert_close(engines.self_means(P.points, P.weights, GAMMAS), expected, atol=1e-12)


@pytest.mark.usefixtures("tile_width")
def test_random_features_equal_the_cosines_they_stand_for(convert):
    (x, _), w, P = clouds(0), frequencies(8), measures(0, convert)
    means = np.asarray(feature_means(P, (0.5, 2.0), w))
    assert means.shape == (2, 6, 8)
    for of_gamma, gamma in zip(means, (0.5, 2.0), strict=True):
        K = np.cos(math.sqrt(2 * gamma) * ((x[:, None] - x[None]) @ w)).mean(-1)
        assert_close(of_gamma @ of_gamma.T, P.weights @ K @ P.weights.T, atol=1e-12)


@pytest.mark.usefixtures("tile_width")
@pytest.mark.parametrize("convert", ["loops", "tiles"], indirect=True)
def test_random_features_have_gradients(convert):
    P, w = measures(0, convert, n=3, max_size=5), frequencies(16)
    assert 5 < len(P.points) < 15  # several tiles, and few numbers to vary one by one
    assert torch.autograd.gradcheck(
        lambda points: squared_mmd(
            DiscreteMeasures(points, P.weights, P.sizes), None, (0.7,), 1.0, w
        ),
        learned(P),
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_random_features_of_points_far_out(dtype, convert):
    P, w = measures(0, lambda x: convert(60 * x.astype(dtype))), frequencies(16).astype(dtype)
    angle = 2 * (np.asarray(P.points) @ w)
    assert np.abs(angle).max() > 200
    expected = P.weights @ np.hstack([np.cos(angle), np.sin(angle)])
    means = feature_means(P, (2.0,), w)[0] * math.sqrt(8)
    assert_close(means, expected, atol=100 * np.finfo(dtype).eps)


@pytest.mark.parametrize("convert", ["arrays", "loops"], indirect=True)
def test_close_points_keep_their_digits_in_single_precision(convert):
    x, ptr = clouds(0, n=30, d=64)
    near = 4 * x + 1e-2 * np.random.RandomState(0).standard_normal(x.shape)
    y = np.concatenate([4 * x, near]).astype(np.float32)
    ptr = np.concatenate([ptr, ptr[1:] + ptr[-1]])
    single = squared_mmd(DiscreteMeasures.from_clouds(convert(y), ptr), None, GAMMAS)
    double = squared_mmd(DiscreteMeasures.from_clouds(y.astype(float), ptr), None, GAMMAS)
    assert double[:30, 30:].diagonal().min() > 1e-3
    assert_close(single, double, atol=1e-5)


@pytest.mark.parametrize("working_memory", [1024, 0.01])
def test_results_do_not_depend_on_the_number_of_threads(working_memory, monkeypatch):
    monkeypatch.setattr(pool, "THREADS_FROM", 0)
    P, results = measures(3, torch.tensor, n=40, max_size=60), []
    arrays = DiscreteMeasures(P.points.numpy(), P.weights, P.sizes)
    learned(P)
    for n in (1, 3):
        with config_context(working_memory=working_memory), distance_threads(n):
            squared = squared_mmd(P, None, GAMMAS)
            (gradient,) = torch.autograd.grad(squared.square().sum(), [P.points])
            of_arrays = squared_mmd(arrays, None, GAMMAS)
        results.append((squared.detach().numpy(), gradient.numpy(), of_arrays))
    assert len(P.points) > 2 * cpu.TILE
    # To the last bit: each tile is the work of one thread, in which BLAS has no others, each sum
    # over tiles is in their order, and what the threads share is the columns of a sum, or its rows.
    for one, three in zip(*results, strict=True):
        np.testing.assert_array_equal(one, three)
    np.testing.assert_array_equal(of_arrays, results[0][0])  # the same loops


# -- what is kept of the columns between calls -----------------------------------------------------


@pytest.mark.parametrize("convert", ["arrays", "loops"], indirect=True)
def test_what_is_kept_changes_no_bit(convert, monkeypatch):
    """... whatever the other measures and the gammas of the first call were."""
    monkeypatch.setattr(cpu, "TILE", 30)
    few, P, Q, fresh = (
        measures(seed, convert, n=n) for seed, n in ((0, 2), (1, 12), (2, 12), (2, 12))
    )
    assert len(few.points) <= 30 < min(len(P.points), len(Q.points))
    some, y, V = P[:2], fresh.points, fresh.weights
    engines.kernel_means(some.points, some.weights, Q.points, Q.weights, (0.5,), Q.memo)
    kept = Q.memo["support"]
    for rows in (few, P):
        expected = engines.kernel_means(rows.points, rows.weights, y, V, GAMMAS)
        np.testing.assert_array_equal(kernel_means(rows, Q), expected)
        assert Q.memo["support"] is kept


def test_nothing_is_kept_of_points_that_are_learned():
    """They change in place from step to step."""
    P, Q = measures(0, torch.tensor), measures(1, torch.tensor)
    (x,) = learned(Q)
    before = kernel_means(P, Q)
    with torch.no_grad():
        x += 1
    assert not Q.memo
    assert (kernel_means(P, Q) - before).abs().max() > 0.01


def test_pickles_leave_out_what_is_kept():
    P = measures(0)
    before = len(pickle.dumps(P))
    expected = kernel_means(P[:2], P)
    assert P.memo
    restored = pickle.loads(pickle.dumps(P))
    assert len(pickle.dumps(P)) == before
    assert not restored.memo
    np.testing.assert_array_equal(kernel_means(restored[:2], restored), expected)


def test_tiles_of_plain_torch_fit_into_working_memory():
    points = torch.zeros(1, dtype=torch.float64)
    with config_context(working_memory=1):
        width = torch_tiles.tile_width(points, 5)
        assert 12 * 8 * width**2 <= 2**20 < 12 * 8 * (width + 1) ** 2
    assert torch_tiles.tile_width(points, 5) == 1024
