"""Distances of means and sums, which use what the base class gives to any distance."""

import itertools

import numpy as np
import pytest
import torch
from sklearn import config_context

from skgraphkde.distances import DiscreteMeasures, FittedDistance, Readout
from skgraphkde.distances.fitted_mmd import FittedMMD
from tests.distances.common import clouds, squared_mmd

POOLS = {"mean": lambda z: z.mean(0), "sum": lambda z: z.sum(0)}


def pooled_slow(x, ptr, readout):
    return torch.stack([POOLS[readout](x[i:j]) for i, j in itertools.pairwise(ptr)])


def build(readout):
    return Readout(readout).build(3, 10, np.random.RandomState(0))


@pytest.mark.parametrize("readout", POOLS)
def test_readout_distances(readout):
    (x, ptr), (y, qtr) = clouds(0), clouds(1, n=3)
    a, b = pooled_slow(x, ptr, readout), pooled_slow(y, qtr, readout)
    P, Q = DiscreteMeasures.from_clouds(x, ptr), DiscreteMeasures.from_clouds(y, qtr)
    distance = build(readout)
    torch.testing.assert_close(distance.squared(P, Q), torch.cdist(a, b) ** 2)
    torch.testing.assert_close(distance.squared(P), torch.cdist(a, a) ** 2, atol=1e-12, rtol=1e-7)
    # Embedded measures, and parts of them.
    torch.testing.assert_close(distance.squared(P, distance.embed(Q)), torch.cdist(a, b) ** 2)
    torch.testing.assert_close(distance.squared(P, Q[1:]), torch.cdist(a, b[1:]) ** 2)


# What is computed of 12 measures: all pairs, or those of 7 at once, or some of the 7 at a time.
MEMORY = {
    "all pairs": (1024, [(12, 12)]),
    "one block": (0.003, [(7, 12)]),
    "several blocks": (0.001, [(2, 12), (3, 12), (2, 12)]),
}


@pytest.mark.parametrize("readout", POOLS)
@pytest.mark.parametrize("memory", MEMORY)
def test_adapted_equals_the_formula(readout, memory, monkeypatch):
    x, ptr = clouds(2, n=12)
    P, sample = DiscreteMeasures.from_clouds(x, ptr), np.array([0, 1, 3, 4, 7, 9, 11])
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
    a = pooled_slow(x, ptr, readout)
    expected = ((a[:, None] - a[None]) ** 2).sum(-1)
    others = expected.clone().fill_diagonal_(torch.inf)
    torch.testing.assert_close(nearest, torch.stack([others[i].min() for i in sample]))
    if memory == "all pairs":
        torch.testing.assert_close(squared, expected, atol=1e-12, rtol=1e-7)
    else:
        assert squared is None


def test_contributions_of_means_sum_to_squared_distances():
    (x, ptr), (y, qtr) = clouds(0), clouds(1, n=4)
    Q, b = DiscreteMeasures.from_clouds(y, qtr), pooled_slow(y, qtr, "mean")
    for start, stop in itertools.pairwise(ptr):
        Z = x[start:stop]
        shares = build("mean").contributions(Z, Q)
        expected = [((z - b) ** 2).sum(1) - ((z - Z.mean(0)) ** 2).sum() for z in Z]
        torch.testing.assert_close(shares, torch.stack(expected) / len(Z))
        torch.testing.assert_close(shares.sum(0), ((Z.mean(0) - b) ** 2).sum(1))


def test_contributions_of_any_distance_between_mean_embeddings():
    """The shares of the base class, of an MMD of one kernel."""
    (x, ptr), (y, qtr) = clouds(0), clouds(1, n=4)
    P, Q = DiscreteMeasures.from_clouds(x, ptr), DiscreteMeasures.from_clouds(y, qtr)
    expected = squared_mmd(P, Q, (0.7,))
    for i, (start, stop) in enumerate(itertools.pairwise(ptr)):
        shares = FittedDistance.contributions(FittedMMD((0.7,)), x[start:stop], Q)
        assert shares.shape == (stop - start, 4)
        torch.testing.assert_close(shares.sum(0), expected[i], atol=1e-10, rtol=0)


def test_no_such_readout():
    with pytest.raises(ValueError, match="'readout' parameter of Readout must be"):
        Readout("max").validate()
