"""Distances of means and sums, which use what the base class gives to any distance."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from skgraphkde.distances import Readout
from tests.distances.common import assert_close, clouds, measures

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


def test_contributions_of_means_sum_to_squared_distances(convert):
    (x, ptr), Q = clouds(0), measures(1, convert, n=4)
    b = pooled_slow(*clouds(1, n=4), "mean")
    for start, stop in itertools.pairwise(ptr):
        Z = x[start:stop]
        shares = build("mean").contributions(convert(Z), Q)
        expected = [((z - b) ** 2).sum(1) - ((z - Z.mean(0)) ** 2).sum() for z in Z]
        assert_close(shares, np.stack(expected) / len(Z), atol=1e-12)
        assert_close(shares.sum(0), ((Z.mean(0) - b) ** 2).sum(1), atol=1e-12)


def test_no_such_readout():
    with pytest.raises(ValueError, match="'readout' parameter of Readout must be"):
        Readout("max").validate()
