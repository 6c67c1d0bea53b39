"""Distances of means and sums, which use what the base class gives to any distance."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import config_context

from skgraphkde.distances import DiscreteMeasures, FittedDistance, Readout
from skgraphkde.distances.mmd import FittedMMD
from tests.distances.common import assert_close, clouds, measures, squared_mmd

POOLS = {"mean": np.mean, "sum": np.sum}


def pooled_slow(x, ptr, readout):
    return np.stack([POOLS[readout](x[i:j], axis=0) for i, j in itertools.pairwise(ptr)])


def build(readout):
    return Readout(readout).build(3, 10, np.random.RandomState(0))


@pytest.mark.parametrize("readout", POOLS)
def test_readout_distances(readout, convert):
    a, b = pooled_slow(*clouds(0), readout), pooled_slow(*clouds(1, n=3), readout)
    P, Q, distance = measures(0, convert), measures(1, convert, n=3), build(readout)
    assert_close(distance.squared(P, Q), cdist(a, b) ** 2, atol=1e-12)
    assert_close(distance.squared(P), cdist(a, a) ** 2, atol=1e-12)
    # Embedded measures, and parts of them.
    assert_close(distance.squared(P, distance.embed(Q)), cdist(a, b) ** 2, atol=1e-12)
    assert_close(distance.squared(P, Q[1:]), cdist(a, b[1:]) ** 2, atol=1e-12)


# What is computed of 12 measures: all pairs, or those of 7 at once, or some of the 7 at a time.
MEMORY = {
    "all pairs": (1024, [(12, 12)]),
    "one block": (0.003, [(7, 12)]),
    "several blocks": (0.001, [(2, 12), (3, 12), (2, 12)]),
}


@pytest.mark.parametrize("memory", MEMORY)
def test_adapted_equals_the_formula(memory, convert, monkeypatch):
    readout = "mean"
    P, sample = measures(2, convert, n=12), np.array([0, 1, 3, 4, 7, 9, 11])
    distance, (working_memory, blocks) = build(readout), MEMORY[memory]
    squared_of, computed = type(distance).squared, []

    def recorded(self, P, Q=None):
        computed.append((len(P), len(P if Q is None else Q)))
        return squared_of(self, P, Q)

    monkeypatch.setattr(type(distance), "squared", recorded)
    with config_context(working_memory=working_memory):
        adapted, nearest, squared = distance.adapted(P, sample)
    assert computed == blocks
    assert adapted is distance
    a = pooled_slow(*clouds(2, n=12), readout)
    expected = cdist(a, a) ** 2
    others = expected + np.diag(np.full(12, np.inf))
    assert isinstance(nearest, np.ndarray)
    assert_close(nearest, others[sample].min(axis=1), atol=1e-12)
    assert (squared is None) == (memory != "all pairs")
    assert squared is None or type(squared) is type(P.points)
    if squared is not None:
        assert_close(squared, expected, atol=1e-12)


def test_contributions_of_means_sum_to_squared_distances(convert):
    (x, ptr), Q = clouds(0), measures(1, convert, n=4)
    b = pooled_slow(*clouds(1, n=4), "mean")
    for start, stop in itertools.pairwise(ptr):
        Z = x[start:stop]
        shares = build("mean").contributions(convert(Z), Q)
        expected = [((z - b) ** 2).sum(1) - ((z - Z.mean(0)) ** 2).sum() for z in Z]
        assert_close(shares, np.stack(expected) / len(Z), atol=1e-12)
        assert_close(shares.sum(0), ((Z.mean(0) - b) ** 2).sum(1), atol=1e-12)


def test_contributions_of_any_distance_between_mean_embeddings():
    """The shares of the base class, of an MMD of one kernel."""
    (x, ptr), Q = clouds(0), measures(1, n=4)
    expected = squared_mmd(DiscreteMeasures.from_clouds(x, ptr), Q, (0.7,))
    for i, (start, stop) in enumerate(itertools.pairwise(ptr)):
        shares = FittedDistance.contributions(FittedMMD((0.7,)), x[start:stop], Q)
        assert shares.shape == (stop - start, 4)
        assert_close(shares.sum(0), expected[i])


def test_no_such_readout():
    with pytest.raises(ValueError, match="'readout' parameter of Readout must be"):
        Readout("max").validate()
