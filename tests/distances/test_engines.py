"""The engine of the CPU and the one in plain torch, against formulas."""

import math
import pickle

import numpy as np
import pytest
import torch
from sklearn import config_context

from skgraphkde.distances import DiscreteMeasures
from skgraphkde.distances import kernel_means as kernel_means_module
from skgraphkde.distances.engines import cpu, cpu_pairs, cpu_threads, engine_for, torch_tiles
from skgraphkde.distances.kernel_means import (
    feature_means,
    kernel_means,
    pair_means,
    self_means,
)
from tests.conftest import GAMMAS
from tests.distances.common import (
    TOLERANCE,
    clouds,
    frequencies,
    gaussian,
    squared_mmd,
    squared_mmd_slow,
)

# A tolerance within which single precision is taken where points are not too far apart.
LOOSE = 2.9e-5


@pytest.fixture(params=[cpu, torch_tiles], ids=["loops", "torch"])
def engine(request, monkeypatch):
    monkeypatch.setattr(kernel_means_module, "engine_for", lambda points: request.param)


@pytest.fixture(params=[None, 5, pytest.param(1, marks=pytest.mark.slow)], ids="tile{}".format)
def tile_width(request, monkeypatch):
    if request.param is not None:
        monkeypatch.setattr(torch_tiles, "tile_width", lambda points, n_sums=0: request.param)
        monkeypatch.setattr(cpu, "ROW_TILE", 2 * request.param)
        monkeypatch.setattr(cpu, "COLUMN_TILE", request.param)
        monkeypatch.setattr(cpu, "FREQUENCIES", 3)


@pytest.mark.usefixtures("engine", "tile_width")
@pytest.mark.parametrize(
    ("dtype", "correction"), [(torch.float64, 0.0), (torch.float64, 0.3), (torch.float32, 1.0)]
)
@pytest.mark.parametrize("symmetric", [True, False])
def test_mmd_and_its_gradient_equal_the_formula(dtype, correction, symmetric):
    """The engines do not know the correction: one precision with each of them is enough."""
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


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("engine", "row_tile"),
    [(cpu, 1), (cpu, 6), (cpu, 20), (cpu, 384), (torch_tiles, None)],
    ids=["loops-1", "loops-6", "loops-20", "loops-384", "torch"],
    indirect=["engine"],
)
@pytest.mark.parametrize("few_are_rows", [True, False])
def test_few_points_against_many(few_are_rows, row_tile, monkeypatch):
    """An engine may exchange rows and columns to have more tiles."""
    if row_tile is not None:
        monkeypatch.setattr(cpu, "ROW_TILE", row_tile)
        monkeypatch.setattr(cpu, "COLUMN_TILE", 4)
    (x, ptr), (y, qtr) = clouds(0, n=2, max_size=5), clouds(1, n=12)
    assert len(x) <= 6 < 20 < len(y)
    if not few_are_rows:
        x, ptr, y, qtr = y, qtr, x, ptr
    leaves = [x.requires_grad_(), y.requires_grad_()]
    P, Q = DiscreteMeasures.from_clouds(x, ptr), DiscreteMeasures.from_clouds(y, qtr)
    W, V = (torch.tensor(measures.weights.toarray()) for measures in (P, Q))
    fast = kernel_means(P, Q, GAMMAS)
    slow = torch.stack([W @ gaussian(x, y, gamma) @ V.T for gamma in GAMMAS])
    torch.testing.assert_close(fast, slow, atol=1e-12, rtol=0)
    weights = torch.randn(fast.shape, generator=torch.Generator().manual_seed(0)).double()
    for a, b in zip(
        torch.autograd.grad((fast * weights).sum(), leaves),
        torch.autograd.grad((slow * weights).sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(a, b, atol=1e-11, rtol=0)


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
    x, ptr = clouds(0, n=3, max_size=5)
    assert 5 < len(x) < 15  # several tiles, and few numbers to vary one by one
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
    monkeypatch.setattr(cpu_threads, "THREADS_FROM", 0)
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
    assert len(x) > 2 * cpu.ROW_TILE
    # To the last bit: each tile is the work of one thread, in which BLAS has no others, each sum
    # over tiles is in their order, and what the threads share is the columns of a sum, or its rows.
    for one, three in zip(*results, strict=True):
        assert torch.equal(one, three)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_some_pairs_equal_those_of_all(dtype, n_threads, monkeypatch):
    monkeypatch.setattr(cpu_threads, "THREADS_FROM", 0)
    monkeypatch.setattr(cpu, "PAIR_TILE", 7)
    # Measures share points, as those of graphs do.
    points, _ = clouds(0, n=12, dtype=dtype)
    colors = np.random.RandomState(0).randint(len(points), size=90)
    ptr = np.arange(0, 91, 6)
    measures = [DiscreteMeasures.from_colors(points, np.arange(len(points)), colors, ptr)]
    measures.append(measures[0][np.arange(4)])
    everything = [kernel_means(P, measures[0], GAMMAS) for P in measures]
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(n_threads)
        for P, expected in zip(measures, everything, strict=True):
            wanted = torch.rand(expected.shape[1:], generator=torch.manual_seed(0)) < 0.4
            wanted[1] = False  # a row of which nothing is wanted
            rows, columns = (x.numpy() for x in wanted.nonzero(as_tuple=True))
            for single in (True, False):
                some = pair_means(P, measures[0], GAMMAS, rows, columns, single)
                tolerance = TOLERANCE[torch.float32 if single else dtype]
                assert (some - expected[:, wanted]).abs().max() < tolerance
            none = pair_means(P, measures[0], GAMMAS, rows[:0], columns[:0], single)
            assert none.shape[1] == 0
    finally:
        torch.set_num_threads(before)


def test_kernels_of_decades_are_powers():
    gammas = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1.5, 15.0)
    assert cpu_pairs.are_powers(gammas).tolist() == [False, True, False, True, False, False, True]
    assert not cpu_pairs.are_powers((1e2, 1e1, 1e-1)).any()
    x, ptr = clouds(0)
    P = DiscreteMeasures.from_clouds(x, ptr)
    Q = DiscreteMeasures.from_clouds(
        torch.cat([x, x + 1e-4, 5 + x, 40 + x]), np.arange(4 * len(x) + 1)
    )
    rows, columns = np.divmod(np.arange(len(P) * len(Q)), len(Q))
    expected = kernel_means(P, Q, gammas).flatten(1)
    in_double = pair_means(P, Q, gammas, rows, columns, tolerance=0.0)
    torch.testing.assert_close(in_double, expected, rtol=1e-12, atol=1e-29)
    in_single = pair_means(P, Q, gammas, rows, columns, tolerance=LOOSE)
    torch.testing.assert_close(in_single, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e12])
def test_a_point_that_is_far_hides_no_others_in_single_precision(far):
    x, ptr = clouds(0)
    x = torch.cat([x, far * torch.ones(1, x.shape[1], dtype=x.dtype)])
    P = DiscreteMeasures.from_clouds(x, np.append(ptr, len(x)))
    rows, columns = np.divmod(np.arange(len(P) ** 2), len(P))
    some = pair_means(P, P, GAMMAS, rows, columns, tolerance=LOOSE)
    torch.testing.assert_close(some, kernel_means(P, None, GAMMAS).flatten(1), rtol=0, atol=1e-5)


def test_points_that_are_nearly_on_a_line_keep_what_they_are_off_it():
    rng = np.random.RandomState(0)
    a = rng.choice([-1.0, 1.0], 200) + 5e-3 * rng.standard_normal(200)
    y = torch.tensor(np.vstack([np.c_[a, a], [1, 1 + 6e-6]]))
    x = torch.tensor(np.c_[np.ones(60), 1 + np.linspace(-0.02, 0.02, 60)])
    P, Q = (DiscreteMeasures.from_clouds(z, np.arange(len(z) + 1)) for z in (x, y))
    rows, columns = np.divmod(np.arange(len(P) * len(Q)), len(Q))
    some = pair_means(P, Q, (5e3,), rows, columns, tolerance=LOOSE)
    torch.testing.assert_close(some, kernel_means(P, Q, (5e3,)).flatten(1), rtol=0, atol=2e-5)


@pytest.mark.parametrize("far", [1e17, 1e25, 1e60])
def test_new_points_that_are_very_far_have_no_neighbors_in_single_precision(far):
    y, ptr = clouds(0)
    Q = DiscreteMeasures.from_clouds(y, ptr)
    P = DiscreteMeasures.from_clouds(torch.cat([y[:3], far * y[:2]]), np.arange(6))
    rows, columns = np.divmod(np.arange(5 * len(Q)), len(Q))
    for gammas in (GAMMAS, (1e-90, 1.0)):
        some = pair_means(P, Q, gammas, rows, columns, tolerance=LOOSE)
        expected = kernel_means(P, Q, gammas).flatten(1)
        torch.testing.assert_close(some, expected, rtol=0, atol=1e-5)


def test_narrow_kernels_far_from_the_center_take_double_precision():
    x, ptr = clouds(0)
    x = torch.cat([1e-3 * x + 1e4, 1e-3 * x - 1e4])
    P = DiscreteMeasures.from_clouds(x, np.append(ptr, ptr[1:] + ptr[-1]))
    gammas = (1e4, 1e6)
    rows, columns = np.divmod(np.arange(len(P) ** 2), len(P))
    some = pair_means(P, P, gammas, rows, columns, tolerance=LOOSE)
    torch.testing.assert_close(some, kernel_means(P, None, gammas).flatten(1), rtol=0, atol=1e-5)


def test_points_on_a_plane_take_few_coordinates_in_single_precision():
    rng = np.random.RandomState(0)
    plane = rng.standard_normal((2, 9))
    y = torch.tensor(rng.standard_normal((30, 2)) @ plane + 5)
    x = torch.tensor(rng.standard_normal((8, 9)) + 5)  # outside of it
    Q = DiscreteMeasures.from_clouds(y, np.arange(31))
    P = DiscreteMeasures.from_clouds(x, np.arange(9))
    rows, columns = np.divmod(np.arange(8 * 30), 30)
    some = pair_means(P, Q, (0.1,), rows, columns, tolerance=LOOSE)
    assert Q.memo["support"].float32[0].shape[1] <= 4  # two, the center's, and what is left
    torch.testing.assert_close(some, kernel_means(P, Q, (0.1,)).flatten(1), rtol=1e-5, atol=1e-7)


def test_the_engine_of_the_cpu():
    assert engine_for(torch.zeros(1, 1)) is cpu


# -- what is kept of the columns between calls -----------------------------------------------------


@pytest.mark.parametrize("row_tile", [384, 30])
def test_what_is_kept_changes_no_bit(row_tile, monkeypatch):
    """... whatever the other measures, the gammas and working_memory of the first call were."""
    monkeypatch.setattr(cpu, "ROW_TILE", row_tile)
    monkeypatch.setattr(cpu, "COLUMN_TILE", 7)
    few, P, Q = (
        DiscreteMeasures.from_clouds(*clouds(seed, n)) for seed, n in ((0, 2), (1, 12), (2, 12))
    )
    assert len(few.points) <= 30 < min(len(P.points), len(Q.points))
    expected = []
    for rows in (few, P):
        fresh = DiscreteMeasures.from_clouds(*clouds(2, n=12))
        expected.append(
            cpu.kernel_means(rows.points, rows.weights, fresh.points, fresh.weights, GAMMAS)
        )
        assert not fresh.memo
    with config_context(working_memory=0.001):
        kernel_means(P[:2], Q, (0.5,))
    kept = Q.memo["support"]
    for _ in range(2):
        for rows, means in zip((few, P), expected, strict=True):
            assert torch.equal(kernel_means(rows, Q, GAMMAS), means)
            assert Q.memo["support"] is kept


def test_nothing_is_kept_of_points_that_are_learned():
    """They change in place from step to step."""
    x, ptr = clouds(1)
    P, Q = DiscreteMeasures.from_clouds(*clouds(0)), DiscreteMeasures.from_clouds(x, ptr)
    x.requires_grad_()
    before = kernel_means(P, Q, GAMMAS)
    with torch.no_grad():
        x += 1
    assert not Q.memo
    assert (kernel_means(P, Q, GAMMAS) - before).abs().max() > 0.01


def test_pickles_leave_out_what_is_kept():
    P = DiscreteMeasures.from_clouds(*clouds(0))
    before = len(pickle.dumps(P))
    expected = kernel_means(P[:2], P, GAMMAS)
    assert P.memo
    restored = pickle.loads(pickle.dumps(P))
    assert len(pickle.dumps(P)) == before
    assert not restored.memo
    assert torch.equal(kernel_means(restored[:2], restored, GAMMAS), expected)


# -- tiles of the engine in plain torch ------------------------------------------------------------


def test_tiles_fit_into_working_memory():
    points = torch.zeros(1, dtype=torch.float64)
    with config_context(working_memory=1):
        width = torch_tiles.tile_width(points)
        assert 4 * 8 * width**2 <= 2**20 < 4 * 8 * (width + 1) ** 2
    assert torch_tiles.tile_width(points) == 1024


def test_tiles_are_cut_between_measures_where_possible():
    P = DiscreteMeasures.from_clouds(torch.zeros(20, 1), np.array([0, 3, 6, 18, 20]))
    tiles = torch_tiles.tiles(P.points, P.weights, 7)
    assert [tile.points[-1].item() for tile in tiles] == [5, 12, 19]
