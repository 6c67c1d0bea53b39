"""Bounds of distances, and what they save, against the distances themselves."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde.distances import DiscreteMeasures, landmarks
from skgraphkde.distances.fitted_mmd import FittedMMD
from skgraphkde.distances.mmds import FLOAT32_RECHECK_BELOW, MMDs
from tests.conftest import GAMMAS
from tests.distances.common import clouds


def measures(seed, n=30, scale=1.0):
    points, ptr = clouds(seed, n=n)
    return DiscreteMeasures.from_clouds(scale * points, ptr)


def mmds(*members):
    return MMDs(tuple(FittedMMD(*x, most_points=100) for x in members))


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    monkeypatch.setattr(landmarks, "MIN_POINTS", 1)
    monkeypatch.setattr(landmarks, "MIN_REFERENCES", 1)
    monkeypatch.setattr(landmarks, "MAX_BLOCK_ELEMENTS", 300)  # a few measures at once
    monkeypatch.setattr(landmarks, "N_LANDMARKS", 20)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([0.1, 1.0, 30.0]))
def test_bounds_are_below_the_distances(seed, correction, scale):
    Q, P = measures(seed, scale=scale), measures(seed + 1, n=8, scale=scale)
    group = mmds((GAMMAS, 0.0), (GAMMAS[1:3], correction))
    P, Q = group.embed(P), group.embed(Q)
    for some in (P, Q, Q[np.arange(5)]):
        low, squared = group.lower_bounds(some, Q, slice(None)), group.squared(some, Q)
        assert (low <= squared + 1e-12).all()


def test_bounds_of_smooth_kernels_are_tight():
    group = mmds(((0.1,), 0.0))
    Q = group.embed(measures(0))
    low, squared = group.lower_bounds(Q, Q, slice(None)), group.squared(Q)
    assert (squared - low).max() < 1e-3 < 0.1 * squared.median()


def test_only_gammas_that_decide_are_kept():
    group = mmds(((1e-9, 1.0), 0.0), ((1.0,), 1.0))
    Q = group.embed(measures(0))
    assert landmarks.Landmarks.of(Q, group.gammas, group.gamma_indices).gammas == (1.0,)
    group = mmds(((1e-9, 1.0), 0.0), ((1e-9,), 1.0))  # which has no other
    Q = group.embed(measures(0))
    assert landmarks.Landmarks.of(Q, group.gammas, group.gamma_indices).gammas == (1e-9, 1.0)


def test_of_many_gammas_some_decide():
    group = mmds((tuple(np.geomspace(1e-2, 1e6, 200)), 0.0), ((1.0,), 0.0))
    Q = group.embed(measures(0))
    assert landmarks.Landmarks.of(Q, group.gammas, group.gamma_indices).gammas
    low, squared = group.lower_bounds(Q, Q, slice(None)), group.squared(Q)
    assert (low <= squared + 1e-12).all()


@pytest.mark.parametrize("mirrored", [True, False])
def test_some_distances_equal_those_of_all(mirrored):
    group = mmds((GAMMAS, 0.0), ((1.0,), 1.0))
    Q = group.embed(measures(0))
    P = Q if mirrored else group.embed(measures(1, n=7))
    wanted = torch.rand((len(P), len(Q)), generator=torch.manual_seed(0)) < 0.3
    squared = group.squared(P, Q)
    assert squared.min() < -0.01  # as unbiased estimates can be
    some, squared = group.squared_at(P, Q, wanted), squared[:, wanted]
    torch.testing.assert_close(some, squared, rtol=0, atol=5e-6)
    close = (squared.abs() < 0.9 * FLOAT32_RECHECK_BELOW).any(0)
    assert close.any() == mirrored  # a graph and itself
    torch.testing.assert_close(some[:, close], squared[:, close], rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_adapted_by_bounds_as_by_all_distances(seed, monkeypatch):
    sample = np.arange(0, 30, 2)
    members = (GAMMAS, 0.0), ((1.0,), 0.0, True)
    P = measures(seed)
    by_bounds, nearest, squared = mmds(*members).adapted(P, sample)
    assert squared is None
    monkeypatch.setattr(landmarks, "MIN_POINTS", 10**9)
    P = measures(seed)
    group, expected, squared = mmds(*members).adapted(P, sample)
    assert squared is not None
    corrections = [[x.correction for x in y.members] for y in (by_bounds, group)]
    assert corrections[0] == corrections[1] != [0.0, 0.0]
    torch.testing.assert_close(nearest, expected, rtol=0, atol=5e-6)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_of_few_references_none_is_its_own_neighbor(n):
    P = measures(0, n=n)
    _, nearest, _ = mmds((GAMMAS, 0.0)).adapted(P, np.arange(n))
    squared = FittedMMD(GAMMAS).squared(P).fill_diagonal_(torch.inf)
    torch.testing.assert_close(nearest[0], squared.amin(1), rtol=0, atol=5e-6)


def test_where_bounds_are_used(monkeypatch):
    auto, exact = FittedMMD(GAMMAS, most_points=100), FittedMMD(GAMMAS)
    Q = measures(0)
    assert MMDs((auto,)).has_bounds(Q)
    assert not MMDs((auto, exact)).has_bounds(Q)  # which the user asked for
    single = DiscreteMeasures(Q.points.float(), Q.weights, Q.sizes)
    assert not MMDs((auto,)).has_bounds(single)
    shared = sp.csr_array(np.full((len(Q), 9), 1 / 9))
    assert not MMDs((auto,)).has_bounds(DiscreteMeasures(Q.points[:9], shared, Q.sizes))
    for name, n in (("MIN_POINTS", len(Q.points)), ("MIN_REFERENCES", len(Q))):
        with monkeypatch.context() as few:
            few.setattr(landmarks, name, n + 1)
            assert not MMDs((auto,)).has_bounds(Q)
