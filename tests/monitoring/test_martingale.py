"""P-values are independent and uniform; the statistic is the sum over all gamblers."""

import numpy as np
import pytest
from scipy.stats import beta, kstest

from skgraphkde.monitoring import martingale
from skgraphkde.monitoring.martingale import OnlinePValues, ShiryaevRoberts

SHAPES = [(a, b) for a in (0.25, 0.5, 1, 2, 4) for b in (0.25, 0.5, 1, 2, 4) if (a, b) != (1, 1)]


def slow_statistic(p_values):
    """The capital of all gamblers, and when the most successful one of them began."""
    ends = np.array([0.001, 0.999])
    bets = []
    for a, b in SHAPES:
        bet = beta(a, b)
        mean = np.diff(bet.cdf(ends))[0] + 0.001 * bet.pdf(ends).sum()
        bets.append(bet.pdf(np.clip(p_values, *ends)) / mean)
    bets = np.array(bets)
    n = len(p_values)
    capital = [[bets[k, j:].prod() for j in range(n)] for k in range(len(bets))]
    return np.sum(capital) / len(bets), int(np.argmax(np.max(capital, axis=0)))


def test_the_statistic_is_the_sum_over_gamblers_and_beginnings():
    p_values = np.random.RandomState(0).rand(12)
    p_values[7:] /= 20
    statistic, alarms = ShiryaevRoberts(1e9).update(p_values)
    expected = [slow_statistic(p_values[: n + 1])[0] for n in range(12)]
    np.testing.assert_allclose(statistic, expected, rtol=1e-9)
    assert alarms == []


def test_an_alarm_says_since_when_and_all_begins_anew():
    p_values = np.random.RandomState(0).rand(12)
    p_values[7:] /= 20
    known = ShiryaevRoberts(1e9).update(p_values)[0]
    at = int(np.argmax(known > 30))
    repeated = np.append(p_values[: at + 1], p_values)
    statistic, alarms = ShiryaevRoberts(30.0).update(repeated)
    assert alarms[0] == (at, slow_statistic(p_values[: at + 1])[1])
    np.testing.assert_allclose(statistic[at + 1 : 2 * at + 2], known[: at + 1])
    assert alarms[1] == (2 * at + 1, at + 1 + alarms[0][1])


def test_bets_are_fair():
    """On average over p-values, all the capital grows by 1 in a step: each bet's by its share."""
    grid = (np.arange(400_000) + 0.5) / 400_000
    means = (martingale._densities(grid) / martingale._MEANS).mean(axis=0)
    np.testing.assert_allclose(means, 1, atol=1e-4)


def test_no_two_p_values_sound_an_alarm_alone():
    for p_value in (0.0, 1.0):
        statistic, alarms = ShiryaevRoberts(2000.0).update(np.full(9, p_value))
        assert alarms == [(2, 0), (5, 3), (8, 6)]
        assert np.isfinite(statistic).all()


def test_false_alarms_are_as_few_as_promised():
    rng, threshold, n_steps = np.random.RandomState(0), 20.0, 200
    counts = [len(ShiryaevRoberts(threshold).update(rng.rand(n_steps))[1]) for _ in range(100)]
    promised = n_steps / threshold
    assert 0.2 * promised < np.mean(counts) < promised + 3 * np.std(counts) / 100**0.5


# -- p-values --------------------------------------------------------------------------------------


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


def test_scores_of_copies_count_as_equal():
    """Against ranks among calibration scores in which those of the copies are replaced."""
    calibration = np.array([-3.0, -2.0, -1.0, -1.0, 0.5, 2.0])
    scores = np.array([-0.9, 0.0, -5.0])
    alike = [calibration[2:4], calibration[4:], calibration[:0]]
    actual = OnlinePValues(calibration, 0).rank(scores, alike)
    for i, (score, of_copies) in enumerate(zip(scores, alike, strict=True)):
        replaced = np.where(np.isin(calibration, of_copies), score, calibration)
        [expected] = OnlinePValues(replaced, 0, scores[:i]).rank(np.array([score]))
        assert actual[i] == expected
