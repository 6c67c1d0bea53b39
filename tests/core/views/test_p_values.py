"""Log p-values of a view, against counts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde.core.scoring.combination import LogPValues, view_weights

SCORES = st.lists(st.integers(-8, 8), min_size=2, max_size=30)  # with ties


def log_p_slow(score, others, without_lowest):
    """log((1 + #{others <= score}) / (n + 1)), continued in the tail above the median surprise."""
    p = (1 + sum(other <= score for other in others)) / (len(others) + 1)
    surprises = sorted(-other for other in without_lowest)
    median = np.median(surprises)
    excesses = [x - median for x in surprises if x > median + 1e-12]
    scale = np.median(excesses) / math.log(2) if excesses else 1.0
    expected = median + (scale * math.log(len(excesses)) if excesses else 0.0)
    if score < min(others) - 1e-12:  # as surprising as no other
        return math.log(p) - math.log1p((-score - min(expected, surprises[-1])) / scale)
    excess = max(-score - expected, 0) if expected < surprises[-1] else 0
    return math.log(p) - math.log1p(excess / scale)


@given(SCORES, st.lists(st.integers(-12, 12), min_size=1, max_size=9))
def test_new_graphs_and_training_graphs_each_by_the_others(scores, new):
    scores, new = 0.37 * np.array(scores), 0.37 * np.array(new)
    others, log_p = np.sort(scores)[1:], LogPValues(scores)
    expected = [log_p_slow(score, scores, others) for score in new]
    np.testing.assert_allclose(log_p(new), expected, rtol=1e-12, atol=1e-12)
    expected = [log_p_slow(x, np.delete(scores, i), others) for i, x in enumerate(scores)]
    np.testing.assert_allclose(log_p.leave_one_out(), expected, rtol=1e-12, atol=1e-12)


@given(SCORES, st.floats(-1e-13, 1e-13))
def test_rounding_does_not_count(scores, noise):
    scores = 0.37 * np.array(scores)
    new = np.append(scores, scores.min() - 1)
    log_p = LogPValues(scores)
    np.testing.assert_allclose(log_p(new + noise), log_p(new), atol=1e-11)


@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_has_no_p_value(score):
    assert np.isnan(LogPValues(np.arange(5.0))(np.array([score, 1.0]))).tolist() == [True, False]


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_views_that_say_the_same_share_a_weight(seed, n_copies):
    """Against the formula, entry by entry; and copies of one view weigh what one view does."""
    rng = np.random.default_rng(seed)
    log_p = np.log(rng.random((3, 40)))
    sums = [sum(abs(np.corrcoef(u, v)[0, 1]) for u in log_p) for v in log_p]
    expected = 1 / np.array(sums) / np.mean(1 / np.array(sums))
    np.testing.assert_allclose(view_weights(log_p), expected)
    centered = rng.standard_normal((40, 2))
    one, other = np.linalg.qr(centered - centered.mean(axis=0))[0].T
    weights = view_weights(np.array([one] * n_copies + [other]))
    assert weights[:n_copies].sum() == pytest.approx(weights[-1])
