"""Measures that are put together, and samples of large ones."""

import numpy as np
import pytest

from skgraphkde import MMD, Readout
from skgraphkde.distances import DiscreteMeasures
from tests.distances.common import assert_close, clouds

DISTANCES = (MMD(gammas=(0.5, 3.0)), MMD(method="random_features", n_components=64), Readout("sum"))


@pytest.mark.parametrize("n_parts", [1, 2, 3])
def test_concatenated_measures_are_those_of_all_points(n_parts, convert):
    """Points that several parts share are one, up to rounding; means and masses are the same."""
    rng = np.random.RandomState(0)
    grid, parts = rng.standard_normal((6, 3)), []
    for seed in range(n_parts):
        ptr = clouds(seed, n=4, max_size=6)[1]
        cloud = grid[rng.randint(6, size=ptr[-1])] * (1 + 1e-15 * rng.randn())
        parts.append(DiscreteMeasures.from_clouds(convert(cloud), ptr))
    joined = DiscreteMeasures.concatenate(parts)
    assert len(joined) == 4 * n_parts
    assert len(joined.points) <= 6
    assert joined.sizes.tolist() == np.concatenate([part.sizes for part in parts]).tolist()
    expected = np.vstack([part.weights @ np.asarray(part.points) for part in parts])
    np.testing.assert_allclose(joined.weights @ np.asarray(joined.points), expected, atol=1e-12)
    np.testing.assert_allclose(joined.weights.sum(axis=1), 1)
    for specification in DISTANCES:
        distance = specification.build(3, 100, np.random.RandomState(0))
        together = distance.concatenate([distance.embed(part) for part in parts])
        assert_close(distance.squared(together), distance.squared(joined), atol=1e-12)


def test_a_sample_stands_for_a_measure_of_very_many_points():
    """Its squared MMD to the measure is about one by its size, whatever the order of the points."""
    rng = np.random.RandomState(0)
    points, ptr = rng.standard_normal((3000, 4)), np.array([0, 50, 3000])
    whole = DiscreteMeasures.from_clouds(points, ptr)
    thinned = whole.thinned(400)
    assert np.diff(thinned.weights.indptr).tolist() == [50, 400]
    assert len(thinned.points) == 450
    np.testing.assert_allclose(thinned.weights.sum(axis=1), 1)
    assert thinned.sizes.tolist() == [50, 400]  # samples, of which each is near itself
    exact = MMD(gammas=(0.1, 1.0), estimator="biased", method="exact").build(4, 1, rng)
    between = exact.squared(thinned, whole)
    assert between[0, 0] < 1e-12
    assert 0 < between[1, 1] < 1 / 400
    order = np.append(np.arange(50), 50 + rng.permutation(2950))
    shuffled = DiscreteMeasures.from_clouds(points[order], ptr)
    assert_close(exact.squared(shuffled.thinned(400), whole), between, atol=1e-12)
    assert whole.thinned(2950) is whole


def test_only_the_automatic_method_thins(monkeypatch):
    monkeypatch.setattr("skgraphkde.distances.mmd.MOST_POINTS", 20)
    rng = np.random.RandomState(0)
    P = DiscreteMeasures.from_clouds(rng.rand(60, 2), np.array([0, 10, 60]))
    sizes = {}
    for method in ("auto", "exact", "random_features"):
        built = MMD(method=method).build(2, 60, rng)
        sizes[method] = np.diff(built.embed(P).weights.indptr).tolist()
    assert sizes == {"auto": [10, 20], "exact": [10, 50], "random_features": [10, 50]}
