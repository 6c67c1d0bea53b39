import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from skgraphkde import MMD, Density, GraphKDEDetector
from skgraphkde.distances import DiscreteMeasures
from skgraphkde.distances.fitted_mmd import FittedMMD
from skgraphkde.distances.mmd import EXACT_POINTS
from skgraphkde.distances.mmds import MMDs
from tests.conftest import GAMMAS, random_graphs
from tests.distances.common import (
    TOLERANCE,
    clouds,
    frequencies,
    gaussian,
    mean_cosine,
    squared_mmd,
    squared_mmd_slow,
)

METHODS = {"exact": None, "random_features": frequencies(16)}


def kernel_of(method):
    return gaussian if method == "exact" else mean_cosine(METHODS[method])


@given(st.integers(0, 10**6))
def test_biased_mmd_is_a_metric(seed):
    P = DiscreteMeasures.from_clouds(*clouds(seed, n=5))
    squared = squared_mmd(P, None, (0.5,)).numpy()
    np.testing.assert_allclose(squared, squared.T, atol=1e-12)
    # Four means over up to 8 x 8 pairs are off by 64 units in the last place each, at most.
    rounding = 4 * 64 * np.finfo(float).eps
    np.testing.assert_allclose(squared.diagonal(), 0, atol=rounding)
    D = np.sqrt(squared)
    assert (D >= 0).all()
    assert (D[:, :, None] <= D[:, None, :] + D.T[None] + 2 * np.sqrt(rounding)).all()


@given(st.integers(0, 10**6), st.floats(-50, 50))
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


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("correction", [0.0, 0.3, 1.0])
def test_embedded_once_or_each_time(method, correction):
    """Parts of embedded measures, too, keep what was embedded."""
    (x, ptr), (y, qtr) = clouds(0), clouds(1, n=4)
    P, Q = DiscreteMeasures.from_clouds(x, ptr), DiscreteMeasures.from_clouds(y, qtr)
    distance = FittedMMD(GAMMAS, correction, frequencies=METHODS[method])
    expected = squared_mmd_slow(x, ptr, y, qtr, GAMMAS, correction, kernel_of(method))
    embedded = distance.embed(Q)
    assert distance.embed(embedded) is embedded
    for columns in (Q, embedded):
        torch.testing.assert_close(distance.squared(P, columns), expected, atol=1e-10, rtol=0)
    some = np.array([3, 0])
    torch.testing.assert_close(
        distance.squared(P, embedded[some]), expected[:, some], atol=1e-10, rtol=0
    )


# -- adapting to references ------------------------------------------------------------------------


TWO = (0.1, 1.0)


def record(monkeypatch, method, describe):
    """Replace a method of MMDs by itself, and describe each call in a list."""
    plain, calls = getattr(MMDs, method), []

    def recorded(self, *arguments):
        calls.append(describe(*arguments))
        return plain(self, *arguments)

    monkeypatch.setattr(MMDs, method, recorded)
    return calls


def adapted_slow(x, ptr, sample, correction, kernel):
    """The correction, squared distances to nearest neighbors, and all of them, graph by graph.

    `correction` None is the share of the sample whose unbiased squared distance to the neighbor, by
    the biased estimate, is not negative.
    """
    if correction is None:
        biased, unbiased = (
            squared_mmd_slow(x, ptr, x, ptr, TWO, c, kernel).fill_diagonal_(torch.inf)
            for c in (0.0, 1.0)
        )
        possible = [unbiased[i, biased[i].argmin()].item() >= 0 for i in sample]
        correction = sum(possible) / len(possible)
    squared = squared_mmd_slow(x, ptr, x, ptr, TWO, correction, kernel)
    others = squared.clone().fill_diagonal_(torch.inf)
    return correction, torch.stack([others[i].min() for i in sample]), squared


# working_memory; how many of 12 measures are the sample; which mean kernels are computed in a pass,
# and which parts of the sample they are for.
MEMORY = {
    "all pairs": (1024, 7, [(12, 12)], [7]),
    "all pairs, in blocks": (0.012, 10, [(12, 12)], [8, 2]),
    "one block": (0.0106, 7, [(7, 12)], [7]),
    "several blocks": (0.005, 7, [(3, 12), (3, 12), (1, 12)], [3, 3, 1]),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("memory", MEMORY)
@pytest.mark.parametrize("correction", [None, 0.0, 1.0])  # None: one in between
def test_adapted_equals_the_formula(method, memory, correction, monkeypatch):
    x, ptr = clouds(2, n=12)
    working_memory, n_sample, computed, parts = MEMORY[memory]
    sample = np.array([0, 1, 3, 4, 7, 9, 11, 2, 8, 6])[:n_sample]
    P = DiscreteMeasures.from_clouds(x, ptr)
    distance = FittedMMD(TWO, correction or 0.0, correction is None, METHODS[method])
    calls = record(monkeypatch, "cross", lambda P, Q: (len(P), len(Q)))
    combined = record(monkeypatch, "_combined", lambda i, P, Q, cross: len(P))
    with config_context(working_memory=working_memory):
        adapted, nearest, squared = distance.adapted(P, sample)
    # Each mean kernel once, unless they do not fit in memory and are needed twice.
    again = 2 if memory == "several blocks" and correction is None else 1
    assert calls == computed * again
    passes = [n for n in parts for _ in range(2)] if correction is None else []
    assert combined[: len(passes)] == passes
    combined = combined[len(passes) :]
    assert sum(combined) == 12 if computed == [(12, 12)] else combined == parts  # once, too
    monkeypatch.undo()
    expected, expected_nearest, expected_squared = adapted_slow(
        x, ptr, sample, correction, kernel_of(method)
    )
    if correction is None:
        assert 0 < expected < 1
    assert adapted.correction == pytest.approx(expected, abs=1e-12)
    assert (adapted.gammas, adapted.frequencies) == (distance.gammas, distance.frequencies)
    torch.testing.assert_close(nearest, expected_nearest, atol=1e-10, rtol=0)
    torch.testing.assert_close(adapted.squared(P), expected_squared, atol=1e-10, rtol=0)
    if computed == [(12, 12)]:
        torch.testing.assert_close(squared, expected_squared, atol=1e-10, rtol=0)
    else:
        assert squared is None


def test_adapting_again_forgets_the_first_references():
    """Training adapts once per epoch."""
    P, Q = (DiscreteMeasures.from_clouds(*clouds(seed, n=12)) for seed in (2, 3))
    sample = np.arange(12)
    once = FittedMMD(GAMMAS, adaptive=True).adapted(Q, sample)
    twice = FittedMMD(GAMMAS, adaptive=True).adapted(P, sample)[0].adapted(Q, sample)
    assert twice[0].correction == once[0].correction
    for a, b in zip(twice[1:], once[1:], strict=True):
        assert torch.equal(a, b)


# -- shares of nodes -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("correction", [0.0, 0.3, 1.0])
def test_contributions_sum_to_squared_distances(method, correction):
    (x, ptr), (y, qtr) = clouds(0), clouds(1, n=4)
    Q = DiscreteMeasures.from_clouds(y, qtr)
    assert 1 in np.diff(ptr)
    distance = FittedMMD(GAMMAS, correction, frequencies=METHODS[method])
    expected = squared_mmd_slow(x, ptr, y, qtr, GAMMAS, correction, kernel_of(method))
    for i, (start, stop) in enumerate(itertools.pairwise(ptr)):
        shares = distance.contributions(x[start:stop], Q)
        assert shares.shape == (stop - start, 4)
        torch.testing.assert_close(shares.sum(0), expected[i], atol=1e-10, rtol=0)


def test_contributions_equal_the_witness_function():
    """Node by node, for the gamma of the distance."""
    x, (y, qtr) = clouds(0)[0][:5], clouds(1, n=4)
    shares = FittedMMD(GAMMAS).contributions(x, DiscreteMeasures.from_clouds(y, qtr))
    chosen = []
    for r, (start, stop) in enumerate(itertools.pairwise(qtr)):
        z = y[start:stop]
        of_gamma = []
        for gamma in GAMMAS:
            own, to_z = gaussian(x, x, gamma).mean(1), gaussian(x, z, gamma).mean(1)
            spread = gaussian(z, z, gamma).mean() - to_z.mean()
            of_gamma.append([(own[p] - to_z[p] + spread) / 5 for p in range(5)])
        chosen.append(int(np.argmax([sum(values) for values in of_gamma])))
        expected = torch.stack(of_gamma[chosen[-1]])
        torch.testing.assert_close(shares[:, r], expected, atol=1e-10, rtol=0)
    assert set(chosen) != {0}


# -- parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 7}, "n_components must be even, .* Got 7 instead"),
        ({"n_components": 7, "method": "random_features"}, "n_components must be even"),
        ({"n_components": 8, "method": "exact"}, "method='exact' has none: omit it, or use"),
        ({"n_components": 0}, "'n_components' parameter of MMD must be"),
        ({"gammas": ()}, "'gammas' parameter of MMD must be a list of numbers between"),
        ({"gammas": (1.0, -1.0)}, "'gammas' parameter of MMD must be a list of numbers between"),
        ({"gammas": (1.0, np.nan)}, "'gammas' parameter of MMD must be a list of numbers between"),
        ({"gammas": (1e11,)}, "'gammas' parameter of MMD must be a list of numbers between"),
        ({"gammas": [[1.0]]}, "'gammas' parameter of MMD must be a list of numbers between"),
        ({"gammas": "many"}, "'gammas' parameter of MMD"),
        ({"estimator": "best"}, "'estimator' parameter of MMD must be"),
        ({"method": "fast"}, "'method' parameter of MMD must be"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        MMD(**parameters).validate()
    with pytest.raises(ValueError, match=message):
        GraphKDEDetector(views=Density(MMD(**parameters))).fit(random_graphs(4))


def test_what_the_parameters_build():
    rng = np.random.RandomState(0)
    exact = MMD(gammas=[1, 10]).build(3, EXACT_POINTS, rng)
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


def test_frequencies_must_fit_the_points():
    FittedMMD(GAMMAS).check_dim(7)
    FittedMMD(GAMMAS, frequencies=frequencies(4, d=3)).check_dim(3)
    with pytest.raises(ValueError, match="the random frequencies do not fit the points"):
        FittedMMD(GAMMAS, frequencies=frequencies(4, d=3)).check_dim(2)


def test_a_sample_stands_for_a_measure_of_very_many_points():
    """Its squared MMD to the measure is about one by its size, whatever the order of the points."""
    rng = np.random.RandomState(0)
    points = torch.from_numpy(rng.standard_normal((3000, 4)))
    small, large = points[:50], points[50:]
    clouds = DiscreteMeasures.from_clouds(torch.cat([small, large]), np.array([0, 50, 3000]))
    thinned = clouds.thinned(400)
    assert np.diff(thinned.weights.indptr).tolist() == [50, 400]
    assert len(thinned.points) == 450
    np.testing.assert_allclose(thinned.weights.sum(axis=1), 1)
    assert thinned.sizes.tolist() == [50, 400]  # samples, of which each is near itself
    exact = MMD(gammas=(0.1, 1.0), estimator="biased", method="exact").build(4, 1, rng)
    between = exact.squared(thinned, clouds).numpy()
    assert between[0, 0] < 1e-12
    assert 0 < between[1, 1] < 1 / 400
    order = np.append(np.arange(50), 50 + rng.permutation(2950))
    shuffled = DiscreteMeasures.from_clouds(clouds.points[order], np.array([0, 50, 3000]))
    np.testing.assert_allclose(
        exact.squared(shuffled.thinned(400), clouds), between, rtol=0, atol=1e-12
    )
    assert clouds.thinned(2950) is clouds


def test_only_the_automatic_method_thins(monkeypatch):
    monkeypatch.setattr("skgraphkde.distances.mmd.MOST_POINTS", 20)
    rng = np.random.RandomState(0)
    clouds = DiscreteMeasures.from_clouds(torch.from_numpy(rng.rand(60, 2)), np.array([0, 10, 60]))
    sizes = {}
    for method in ("auto", "exact", "random_features"):
        built = MMD(method=method).build(2, 60, rng)
        sizes[method] = np.diff(built.embed(clouds).weights.indptr).tolist()
    assert sizes == {"auto": [10, 20], "exact": [10, 50], "random_features": [10, 50]}
    both = MMDs((MMD().build(2, 60, rng), MMD(method="exact").build(2, 60, rng)))
    assert np.diff(both.embed(clouds).weights.indptr).tolist() == [10, 50]


def test_gammas_that_are_given_twice_count_once():
    fitted = MMD(gammas=(1, 10, 1.0)).build(3, 10, np.random.RandomState(0))
    assert fitted.gammas == (1.0, 10.0)
