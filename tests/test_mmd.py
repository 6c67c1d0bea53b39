import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context

from skgraphkde import _mmd_cpu, _mmd_torch, mmd
from skgraphkde.mmd import (
    DiscreteMeasures,
    Distance,
    draw_frequencies,
    feature_means,
    kernel_means,
    self_means,
)
from tests.conftest import GAMMAS

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


def clouds(seed, n=6, dtype=torch.float64, max_size=9, d=3):
    rng = np.random.RandomState(seed)
    ptr = np.concatenate([[0], np.cumsum(rng.randint(1, max_size, size=n))])
    return torch.tensor(rng.standard_normal((ptr[-1], d)) / 2, dtype=dtype), ptr


def squared_mmd(P, Q, gammas, correction=0.0, frequencies=None):
    return Distance("mmd", tuple(gammas), correction, frequencies).squared(P, Q)


def squared_mmd_slow(x, ptr, y, qtr, gammas, correction):
    """The paper's eq. mmd_distance, graph by graph, its U-statistic, or what lies between."""

    def mean_kernel(a, b, gamma, within=False):
        K = torch.exp(-gamma * ((a[:, None] - b[None]) ** 2).sum(-1))
        n = len(a)
        if within and n > 1:
            unbiased = (K.sum() - K.trace()) / (n * (n - 1))
            return (1 - correction) * K.mean() + correction * unbiased
        return K.mean()

    rows = []
    for i in range(len(ptr) - 1):
        a = x[ptr[i] : ptr[i + 1]]
        for j in range(len(qtr) - 1):
            b = y[qtr[j] : qtr[j + 1]]
            values = [
                mean_kernel(a, a, g, True) + mean_kernel(b, b, g, True) - 2 * mean_kernel(a, b, g)
                for g in gammas
            ]
            rows.append(torch.stack(values).max())
    return torch.stack(rows).reshape(len(ptr) - 1, len(qtr) - 1)


@pytest.fixture(params=[_mmd_cpu, _mmd_torch], ids=["loops", "torch"])
def engine(request, monkeypatch):
    monkeypatch.setattr(mmd, "_engine", lambda points: request.param)


@pytest.fixture(params=[None, 5, 1], ids="tile{}".format)
def tile_width(request, monkeypatch):
    if request.param is not None:
        monkeypatch.setattr(_mmd_torch, "tile_width", lambda points, n_sums=0: request.param)
        monkeypatch.setattr(_mmd_cpu, "ROW_TILE", 2 * request.param)
        monkeypatch.setattr(_mmd_cpu, "COLUMN_TILE", request.param)
        monkeypatch.setattr(_mmd_cpu, "FREQUENCIES", 3)


@pytest.mark.usefixtures("engine", "tile_width")
@pytest.mark.parametrize("correction", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("symmetric", [True, False])
def test_mmd_and_its_gradient_equal_the_formula(dtype, correction, symmetric):
    x, ptr = clouds(0, dtype=dtype)
    y, qtr = (x, ptr) if symmetric else clouds(1, n=4, dtype=dtype)
    leaves = [x.requires_grad_()] if symmetric else [x.requires_grad_(), y.requires_grad_()]
    P, Q = DiscreteMeasures.from_clouds(x, ptr), DiscreteMeasures.from_clouds(y, qtr)
    fast = squared_mmd(P, None if symmetric else Q, GAMMAS, correction)
    slow = squared_mmd_slow(x, ptr, y, qtr, GAMMAS, correction)
    weights = torch.randn(fast.shape, generator=torch.Generator().manual_seed(0)).to(dtype)
    if symmetric:  # the formula's supremum has no gradient at a graph and itself
        weights.fill_diagonal_(0)
    assert (fast - slow).abs().max() < TOLERANCE[dtype]
    for a, b in zip(
        torch.autograd.grad((fast * weights).sum(), leaves),
        torch.autograd.grad((slow * weights).sum(), leaves),
        strict=True,
    ):
        assert (a - b).abs().max() < 10 * TOLERANCE[dtype]


@pytest.mark.usefixtures("engine", "tile_width")
def test_measures_may_share_support_points():
    """Merging equal points changes nothing: the door for faster engines."""
    rng = np.random.RandomState(0)
    distinct = torch.tensor(rng.standard_normal((7, 3)))
    choice = [rng.randint(7, size=size) for size in (4, 9, 1, 6)]
    ptr = np.concatenate([[0], np.cumsum([len(c) for c in choice])])
    plain = DiscreteMeasures.from_clouds(distinct[np.concatenate(choice)], ptr)
    weights = np.array([np.bincount(c, minlength=7) / len(c) for c in choice])
    merged = DiscreteMeasures(distinct, type(plain.weights)(weights), plain.sizes)
    for correction in (0.0, 1.0):
        torch.testing.assert_close(
            squared_mmd(merged, None, GAMMAS, correction),
            squared_mmd(plain, None, GAMMAS, correction),
        )
        torch.testing.assert_close(
            squared_mmd(merged[[1, 3]], plain, GAMMAS, correction),
            squared_mmd(plain[1::2], plain, GAMMAS, correction),
        )


@pytest.mark.usefixtures("engine", "tile_width")
def test_self_means_are_the_diagonal():
    P = DiscreteMeasures.from_clouds(*clouds(3, n=9))
    torch.testing.assert_close(
        self_means(P, GAMMAS), kernel_means(P, None, GAMMAS).diagonal(dim1=1, dim2=2)
    )


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=25)
def test_biased_mmd_is_a_metric(seed):
    P = DiscreteMeasures.from_clouds(*clouds(seed, n=5))
    D = squared_mmd(P, None, (0.5,)).sqrt().numpy()
    assert (D >= 0).all()
    np.testing.assert_allclose(D, D.T, atol=1e-12)
    np.testing.assert_allclose(D.diagonal(), 0, atol=1e-7)
    assert (D[:, :, None] <= D[:, None, :] + D.T[None] + 1e-7).all()


@given(st.integers(0, 10**6), st.floats(-50, 50))
@settings(deadline=None, max_examples=25)
def test_point_order_and_translation_do_not_matter(seed, shift):
    x, ptr = clouds(seed)
    rng = np.random.RandomState(seed)
    moved = torch.cat([x[a:b][rng.permutation(b - a)] for a, b in itertools.pairwise(ptr)])
    P = DiscreteMeasures.from_clouds(x, ptr)
    for other in (moved, x + shift):
        Q = DiscreteMeasures.from_clouds(other, ptr)
        torch.testing.assert_close(
            squared_mmd(Q, None, GAMMAS), squared_mmd(P, None, GAMMAS), atol=1e-9, rtol=0
        )


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_far_points_do_not_underflow_into_nan(dtype):
    P = DiscreteMeasures.from_clouds(1e4 * clouds(0, dtype=dtype)[0], clouds(0)[1])
    D = squared_mmd(P, None, GAMMAS)
    assert torch.isfinite(D).all()
    assert D.max() <= 2


def test_a_single_sample_keeps_its_biased_mean():
    P = DiscreteMeasures.from_clouds(torch.zeros(2, 1, dtype=torch.float64), np.array([0, 1, 2]))
    assert squared_mmd(P, None, GAMMAS, 1.0).tolist() == [[0, 0], [0, 0]]


def test_unbiased_mmd_can_be_negative_and_has_no_bias():
    """The mean over many pairs of samples of one distribution is 0."""
    rng = np.random.RandomState(0)
    P = DiscreteMeasures.from_clouds(
        torch.tensor(rng.standard_normal((1200, 2))), np.arange(0, 1201, 4)
    )
    off = ~np.eye(300, dtype=bool)
    unbiased = squared_mmd(P, None, (0.5,), 1.0).numpy()[off]
    biased = squared_mmd(P, None, (0.5,)).numpy()[off]
    assert unbiased.min() < 0
    assert abs(unbiased.mean()) < 0.02 < biased.mean()


# -- random features ----------------------------------------------------------------------------


def frequencies(n_components, seed=0, d=3):
    return draw_frequencies(d, n_components, np.random.RandomState(seed))


@pytest.mark.parametrize("correction", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("symmetric", [True, False])
def test_random_features_converge_at_their_rate(correction, symmetric):
    """Sixteen times the features, a quarter of the error."""
    P = DiscreteMeasures.from_clouds(*clouds(0))
    Q = None if symmetric else DiscreteMeasures.from_clouds(*clouds(1))
    exact = squared_mmd(P, Q, (1.0,), correction)
    errors = [
        np.mean(
            [
                (squared_mmd(P, Q, (1.0,), correction, frequencies(n, seed)) - exact).abs().mean()
                for seed in range(20)
            ]
        )
        for n in (64, 1024)
    ]
    assert errors[1] < 0.05
    assert 2.5 < errors[0] / errors[1] < 6.5


@pytest.mark.usefixtures("engine", "tile_width")
def test_random_features_equal_the_cosines_they_stand_for():
    x, ptr = clouds(0)
    P, w = DiscreteMeasures.from_clouds(x, ptr), frequencies(8)
    means = feature_means(P, (0.5, 2.0), w)
    assert means.shape == (2, 6, 8)
    for s, gamma in enumerate((0.5, 2.0)):
        K = torch.cos(math.sqrt(2 * gamma) * ((x[:, None] - x[None]) @ w)).mean(-1)
        W = torch.tensor(P.weights.toarray())
        torch.testing.assert_close(means[s] @ means[s].T, W @ K @ W.T)


@pytest.mark.usefixtures("engine", "tile_width")
def test_random_features_have_gradients():
    x, ptr = clouds(0)
    x.requires_grad_()
    P, w = DiscreteMeasures.from_clouds(x, ptr), frequencies(16)
    assert torch.autograd.gradcheck(
        lambda points: squared_mmd(
            DiscreteMeasures(points, P.weights, P.sizes), None, (0.7,), 1.0, w
        ),
        x,
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_random_features_of_points_far_out(dtype):
    x, ptr = clouds(0, dtype=dtype)
    P, w = DiscreteMeasures.from_clouds(60 * x, ptr), frequencies(16).to(dtype)
    angle = 2 * (P.points @ w)
    assert angle.abs().max() > 200
    expected = torch.tensor(P.weights.toarray(), dtype=dtype) @ torch.cat(
        [angle.cos(), angle.sin()], 1
    )
    means = feature_means(P, (2.0,), w)[0] * math.sqrt(8)
    torch.testing.assert_close(means, expected, atol=100 * torch.finfo(dtype).eps, rtol=0)


def test_frequencies_are_orthogonal_in_blocks_and_have_the_lengths_of_normal_vectors():
    w = frequencies(2000, d=5).numpy()
    assert w.shape == (5, 1000)
    block = w[:, 5:10]
    np.testing.assert_allclose(block.T @ block, np.diag((block**2).sum(0)), atol=1e-12)
    assert (w**2).sum(0).mean() == pytest.approx(5, rel=0.1)  # chi-squared with 5 degrees


@pytest.mark.parametrize("readout", ["mean", "sum"])
def test_readout_distances(readout):
    (x, ptr), (y, qtr) = clouds(0), clouds(1, n=3)
    pool = {"mean": lambda z: z.mean(0), "sum": lambda z: z.sum(0)}[readout]
    a, b = (
        torch.stack([pool(z[i:j]) for i, j in itertools.pairwise(p)])
        for z, p in ((x, ptr), (y, qtr))
    )
    P, Q = DiscreteMeasures.from_clouds(x, ptr), DiscreteMeasures.from_clouds(y, qtr)
    distance = Distance(readout, GAMMAS)
    torch.testing.assert_close(distance.squared(P, Q), torch.cdist(a, b) ** 2)
    torch.testing.assert_close(distance.squared(P), torch.cdist(a, a) ** 2, atol=1e-12, rtol=1e-7)


def test_close_points_keep_their_digits_in_single_precision():
    x, ptr = clouds(0, n=30, d=64)
    x = 4 * x
    near = x + 1e-2 * torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    y = torch.cat([x, near]).float()
    ptr = np.concatenate([ptr, ptr[1:] + ptr[-1]])
    single = squared_mmd(DiscreteMeasures.from_clouds(y, ptr), None, GAMMAS)
    double = squared_mmd(DiscreteMeasures.from_clouds(y.double(), ptr), None, GAMMAS)
    assert double[:30, 30:].diagonal().min() > 1e-3
    assert (single - double).abs().max() < 1e-5


@pytest.mark.parametrize("working_memory", [1024, 0.01])
def test_results_do_not_depend_on_the_number_of_threads(working_memory, monkeypatch):
    monkeypatch.setattr(_mmd_cpu, "THREADS_FROM", 0)
    x, ptr = clouds(3, n=40, max_size=60)
    measures = DiscreteMeasures.from_clouds(x.requires_grad_(), ptr)
    n_threads, results = torch.get_num_threads(), []
    try:
        for n in (1, 3):
            torch.set_num_threads(n)
            with config_context(working_memory=working_memory):
                squared = squared_mmd(measures, None, GAMMAS)
                (gradient,) = torch.autograd.grad(squared.square().sum(), [x])
            results.append((squared.detach(), gradient))
    finally:
        torch.set_num_threads(n_threads)
    assert len(x) > 2 * _mmd_cpu.ROW_TILE
    for one, three in zip(*results, strict=True):
        assert torch.equal(one, three)


def test_tiles_fit_into_working_memory():
    points = torch.zeros(1, dtype=torch.float64)
    with config_context(working_memory=1):
        width = _mmd_torch.tile_width(points)
        assert 4 * 8 * width**2 <= 2**20 < 4 * 8 * (width + 1) ** 2
    assert _mmd_torch.tile_width(points) == 1024


def test_tiles_are_cut_between_measures_where_possible():
    P = DiscreteMeasures.from_clouds(torch.zeros(20, 1), np.array([0, 3, 6, 18, 20]))
    tiles = _mmd_torch.tiles(P.points, P.weights, 7)
    assert [tile.points[-1].item() for tile in tiles] == [5, 12, 19]
