"""Log p-values of a view, against counts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde.calibration import conformal_p_values
from skgraphkde.combination import LogPValues, view_weights

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
def test_new_graphs(scores, new):
    scores, new = 0.37 * np.array(scores), 0.37 * np.array(new)
    expected = [log_p_slow(score, scores, sorted(scores)[1:]) for score in new]
    np.testing.assert_allclose(LogPValues(scores)(new), expected, rtol=1e-12, atol=1e-12)


@given(SCORES)
def test_training_graphs_are_judged_by_the_others(scores):
    scores = 0.37 * np.array(scores)
    expected = []
    for i, score in enumerate(scores):
        others = np.delete(scores, i)
        expected.append(log_p_slow(score, others, sorted(scores)[1:]))
    actual = LogPValues(scores).leave_one_out()
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


@given(st.integers(0, 10**6), st.integers(10, 50), st.integers(1, 9))
def test_graphs_in_the_tail_are_judged_by_the_others_alone(seed, n, distance):
    scores = np.random.default_rng(seed).standard_normal(n)
    scores[0] = scores.min() - distance
    tail = LogPValues(scores).leave_one_out()[0]
    assert log_p_slow(scores[0], scores[1:], scores[1:]) == pytest.approx(tail)


@pytest.mark.parametrize("n_outliers", [1, 2, 3, 5])
def test_outliers_do_not_mask_each_other(n_outliers):
    bulk = np.linspace(0, 1, 35)
    scores = np.append(bulk, -np.geomspace(100, 1e6, n_outliers))
    log_p = LogPValues(scores).leave_one_out()
    assert (log_p[35:] < log_p[:35].min() - math.log(50)).all()


@given(SCORES, st.floats(0.1, 1e6))
def test_an_outlier_does_not_look_worse_than_new_graphs_below_it(scores, distance):
    """Whatever is below all training graphs is less probable than each of them."""
    outlier = min(scores) - distance
    log_p = LogPValues(np.array([*scores, outlier]))
    new = outlier - np.array([1e-3, 1.0, 10.0]) * distance
    assert (log_p(new) < log_p.leave_one_out().min()).all()


@given(SCORES, st.floats(-1e-13, 1e-13))
def test_rounding_does_not_count(scores, noise):
    scores = 0.37 * np.array(scores)
    new = np.append(scores, scores.min() - 1)
    log_p = LogPValues(scores)
    np.testing.assert_allclose(log_p(new + noise), log_p(new), atol=1e-11)


@given(SCORES)
def test_less_normal_is_never_more_probable(scores):
    log_p = LogPValues(0.37 * np.array(scores))
    grid = log_p(np.linspace(-10, 10, 200))
    assert (np.diff(grid) >= 0).all()
    assert (grid <= 0).all()


def test_beyond_the_training_graphs_there_are_no_ties():
    grid = LogPValues(np.arange(50.0))(-np.arange(1.0, 1000.0))
    assert (np.diff(grid) < 0).all()


@pytest.mark.parametrize("n", [2, 3, 20])
def test_two_training_graphs_are_enough(n):
    log_p = LogPValues(np.arange(n, dtype=float))
    assert np.isfinite(log_p.leave_one_out()).all()
    assert np.isfinite(log_p(np.array([-1e300, 0.5, 1e300]))).all()


def test_sums_over_views_are_judged_fairly():
    """P(p <= a) is at most a, and near it, for few graphs whose views agree in part."""
    rng, n, n_repetitions = np.random.RandomState(0), 20, 5000
    p = []
    for _ in range(n_repetitions):
        views = rng.standard_normal((3, n + 1)) + rng.standard_normal(n + 1)
        log_p = [LogPValues(view[1:]) for view in views]
        known = sum(view.leave_one_out() for view in log_p)
        new = sum(view(values[:1]) for view, values in zip(log_p, views, strict=True))
        p.append(conformal_p_values(new, np.sort(known)))
    for k in (1, 2, 5):
        a = k / (n + 1)
        share, error = np.mean(np.concatenate(p) <= a + 1e-12), math.sqrt(a / n_repetitions)
        assert 0.7 * a <= share <= a + 3 * error


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


def test_constant_views_have_weights():
    log_p = np.log([[0.5, 0.5, 0.5], [0.2, 0.4, 0.6]])
    for places in ([0, 1], [0], [0, 0]):
        assert view_weights(log_p[places]).tolist() == [1] * len(places)
