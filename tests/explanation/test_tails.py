"""How improbable numbers are, against slow counting and known distributions."""

import numpy as np
import pytest

from skgraphkde.explanation.tails import Tail, Tails


def test_within_the_known_numbers_it_is_a_share():
    known = np.array([1.0, 2, 2, 3, 5, np.nan])
    values = np.array([0.0, 2, 2.5, 5, np.nan])
    expected = [-np.log((1 + sum(x >= value for x in known)) / 6) for value in values[:4]]
    np.testing.assert_allclose(Tail(known).strengths(values), [*expected, 0])


@pytest.mark.parametrize("draw", ["normal", "exponential", "uniform", "standard_t"])
def test_beyond_them_it_is_right_within_a_factor(draw):
    rng = np.random.RandomState(0)
    options = {"df": 4} if draw == "standard_t" else {}
    strengths = []
    for _ in range(200):
        known, new = (getattr(rng, draw)(size=n, **options) for n in (40, 100))
        strengths.append(Tail(known).strengths(new))
    for bound, factor in ((2, 1.2), (3, 1.2), (6, 2.5)):
        assert np.mean(np.concatenate(strengths) >= bound) <= factor * np.exp(-bound)


def test_each_known_number_by_the_others():
    rng = np.random.RandomState(1)
    known = np.append(rng.normal(size=30), [9.0, np.nan])
    slow = [Tail(np.delete(known, i)).strengths(known[i : i + 1])[0] for i in range(32)]
    np.testing.assert_allclose(Tail(known).leave_one_out(known), slow)
    assert slow[30] > 6


def test_differences_below_the_least_are_no_news():
    tail = Tail(np.full(20, 3.0))
    near, far = (tail.strengths(np.array([x]), 1.0)[0] for x in (3.1, 9.0))
    assert near == 0
    assert far == pytest.approx(np.log(21) + 6)
    assert (Tail(np.array([1.0])).strengths(np.array([5.0])) == 0).all()


def test_many_numbers_that_go_together_count_once():
    rng = np.random.RandomState(0)
    one = rng.normal(size=(400, 1))
    for known, n_numbers in ((np.repeat(one, 30, axis=1), 1), (rng.normal(size=(400, 30)), 30)):
        least = np.zeros(known.shape)
        tails = Tails(known, np.ones(30, dtype=bool), least)
        raw = np.full((1, 30), 5.5)
        expected = 5.5 - np.log(2 * n_numbers)
        assert tails.strengths(raw)[0, 0] == pytest.approx(expected, abs=0.7)
