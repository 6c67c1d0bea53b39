"""Several distances computed together equal each one alone."""

import itertools
import pickle

import numpy as np
import pytest
import torch
from sklearn import config_context

from skgraphkde import MMD, Readout
from skgraphkde.distances import DiscreteMeasures
from skgraphkde.distances.fitted_mmd import FittedMMD
from skgraphkde.distances.joint import Distances
from skgraphkde.distances.mmds import MMDs

SPECIFICATIONS = {
    "biased": MMD(estimator="biased"),
    "one gamma": MMD(gammas=(1.0,), estimator="unbiased"),
    "scattered": MMD(gammas=(100.0, 0.1)),
    "others": MMD(gammas=(0.5, 3.0)),
    "features": MMD(gammas=(0.3, 1.0), method="random_features", n_components=64),
    "more features": MMD(gammas=(1.0,), method="random_features", n_components=64),
    "other features": MMD(method="random_features", n_components=32),
    "mean": Readout("mean"),
    "sum": Readout("sum"),
}
PAIRS = list(itertools.combinations(SPECIFICATIONS, 2))


def measures(n, seed):
    rng = np.random.RandomState(seed)
    sizes = rng.randint(1, 7, size=n)
    points = torch.from_numpy(rng.standard_normal((sizes.sum(), 3)))
    return DiscreteMeasures.from_clouds(points, np.r_[0, np.cumsum(sizes)])


def build(names):
    rng = np.random.RandomState(0)
    return Distances.build([SPECIFICATIONS[name] for name in names], 3, 100, rng)


def alone(distances):
    return [Distances([member]) for member in distances.members]


@pytest.mark.parametrize(
    "names", [*PAIRS, tuple(SPECIFICATIONS), tuple(SPECIFICATIONS)[::-1]], ids="+".join
)
def test_squared_distances_are_those_of_each_alone(names):
    distances, P, Q = build(names), measures(8, 1), measures(5, 2)
    for others in (Q, None):
        args = [None if others is None else distances.embed(others)]
        actual = distances.squared(distances.embed(P), *args)
        assert actual.shape == (len(names), 8, 5 if others else 8)
        for one, of_member in zip(distances.members, actual, strict=True):
            torch.testing.assert_close(of_member, one.squared(P, others), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("working_memory", [1024, 0.004])
@pytest.mark.parametrize("names", [("biased", "others"), ("sum", "scattered", "features")])
def test_adapting_is_that_of_each_alone(names, working_memory):
    distances, P = build(names), measures(20, 3)
    sample = np.array([0, 3, 17])
    with config_context(working_memory=working_memory):
        adapted, nearest, squared = distances.adapted(distances.embed(P), sample)
        parts = [one.adapted(one.embed(P), sample) for one in alone(distances)]
    assert (squared is None) == (working_memory < 1)
    for i, (one, of_one, all_of_one) in enumerate(parts):
        # The share of the bias is that of all gammas together, so compare where it is equal.
        member, expected = adapted.members[i], one.members[0]
        if getattr(member, "adaptive", False) and len(names) == 2:
            continue
        assert getattr(member, "correction", None) == getattr(expected, "correction", None)
        torch.testing.assert_close(nearest[i], of_one[0], rtol=1e-12, atol=1e-12)
        if squared is not None and all_of_one is not None:
            torch.testing.assert_close(squared[i], all_of_one[0], rtol=1e-12, atol=1e-12)


def test_all_gammas_determine_the_share_of_the_bias():
    distances, P = build(["biased", "scattered"]), measures(30, 4)
    adapted, _, _ = distances.adapted(distances.embed(P), np.arange(30))
    gammas = tuple(dict.fromkeys(g for x in distances.members for g in x.gammas))
    together, _, _ = FittedMMD(gammas, adaptive=True).adapted(P, np.arange(30))
    assert 0 < together.correction < 1
    assert [x.correction for x in adapted.members] == [0, together.correction]


def test_mmds_share_their_kernel_means_and_their_random_features():
    groups = [group for group, _ in build(["biased", "mean", "one gamma"])._groups]
    assert [type(group) is MMDs for group in groups] == [True, False]
    assert groups[0].gammas == (0.01, 0.1, 1.0, 10.0, 100.0)
    features = build(["features", "more features", "other features"])
    assert len(features._groups) == 2
    assert len(build(["features", "biased"])._groups) == 2


def test_pickles_are_the_same(tmp_path):
    distances, P = build(["biased", "mean", "features"]), measures(6, 5)
    copy = pickle.loads(pickle.dumps(distances))
    assert len(copy) == 3
    torch.testing.assert_close(
        copy.squared(copy.embed(P)), distances.squared(distances.embed(P)), rtol=0, atol=0
    )


def test_a_distance_of_the_wrong_shape_is_named():
    class Wrong(type(Readout().build(3, 10, None))):
        def squared(self, P, Q=None):
            return torch.zeros(2)

    distances, P = Distances([FittedMMD((1.0,)), Wrong("mean")]), measures(4, 6)
    with pytest.raises(TypeError, match=r"Wrong.squared must return a tensor of shape \(4, 4\)"):
        distances.squared(distances.embed(P))


@pytest.mark.parametrize("n_parts", [1, 2, 3])
def test_concatenated_measures_are_those_of_all_points(n_parts):
    """Points that several parts share are one, up to rounding; means and masses are the same."""
    rng = np.random.RandomState(0)
    grid, parts = rng.standard_normal((6, 3)), []
    for _ in range(n_parts):
        sizes = rng.randint(1, 6, size=4)
        cloud = grid[rng.randint(6, size=sizes.sum())] * (1 + 1e-15 * rng.randn())
        parts.append(
            DiscreteMeasures.from_clouds(torch.from_numpy(cloud), np.r_[0, np.cumsum(sizes)])
        )
    joined = DiscreteMeasures.concatenate(parts)
    assert len(joined) == 4 * n_parts
    assert len(joined.points) <= 6
    assert joined.sizes.tolist() == np.concatenate([part.sizes for part in parts]).tolist()
    expected = np.vstack([part.weights @ part.points.numpy() for part in parts])
    np.testing.assert_allclose(joined.weights @ joined.points.numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(joined.weights.sum(axis=1), 1)
    distances = build(["others", "sum", "features"])
    together = distances.concatenate([distances.embed(part) for part in parts])
    everything = distances.squared(distances.embed(joined))
    np.testing.assert_allclose(distances.squared(together), everything, atol=1e-12)
