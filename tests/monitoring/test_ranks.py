"""Online p-values are independent and uniform, and what the formula says."""

import numpy as np
import pytest
from scipy.stats import kstest

from skgraphkde.monitoring.ranks import OnlinePValues


def slow_p_value(score, before, u):
    lower, equal = (before < score).sum(), (before == score).sum()
    return (lower + u * (1 + equal)) / (len(before) + 1)


@pytest.mark.parametrize("cuts", [[], [7], [1, 2, 12]])
def test_p_values_are_those_of_the_formula_however_scores_are_divided(cuts):
    rng = np.random.RandomState(0)
    scores = rng.randint(5, size=30).astype(float)
    ranks = OnlinePValues(scores[:10], seed=3)
    p_values = np.concatenate([ranks.rank(x) for x in np.split(scores[10:], cuts)])
    u = np.random.Generator(np.random.PCG64(3)).random(20)
    expected = [slow_p_value(scores[10 + i], scores[: 10 + i], u[i]) for i in range(20)]
    np.testing.assert_allclose(p_values, expected)
    assert ranks.scores == scores[10:].tolist()


def test_scores_that_rounding_tells_apart_are_equal():
    ranks = OnlinePValues(np.full(99, 1000.0), seed=0)
    p_values = ranks.rank(1000 + 1e-8 * np.arange(-40, 40))
    assert kstest(p_values, "uniform").pvalue > 0.01


@pytest.mark.parametrize("rounded", [False, True])
def test_p_values_of_exchangeable_scores_are_independent_and_uniform(rounded):
    """Of ranks among few calibration scores alone, the means would vary ten times as much."""
    rng = np.random.RandomState(1)
    scores = rng.standard_normal((300, 220))
    if rounded:
        scores = scores.round()
    drawn = np.array([OnlinePValues(x[:20], seed=i).rank(x[20:]) for i, x in enumerate(scores)])
    assert kstest(drawn[:, ::20].ravel(), "uniform").pvalue > 0.01
    assert 0.75 < drawn.mean(axis=1).var() * 12 * 200 < 1.3
    assert abs(np.corrcoef(drawn[:, :-1].ravel(), drawn[:, 1:].ravel())[0, 1]) < 0.02
