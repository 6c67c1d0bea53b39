from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import (
    MMD,
    GraphBatch,
    GraphKDEDetector,
    NodeFeatures,
    Propagation,
    Split,
)
from skgraphkde.core.scoring.calibration import FittedCalibration, conformal_p_values, discoveries
from tests.conftest import densities, random_graphs


@given(
    n=st.integers(9, 300),
    contamination=st.sampled_from([0.1, 0.15, 1 / 3, 0.5]),
    seed=st.integers(0, 2**32 - 1),
)
def test_verdicts_and_p_values_agree(n, contamination, seed):
    rng = np.random.default_rng(seed)
    calibration = rng.standard_normal(n).round(1)  # with ties
    scores = rng.standard_normal(100).round(1)
    flagged = scores < FittedCalibration(calibration, np.arange(n), contamination).offset
    p_values = conformal_p_values(scores, calibration)
    np.testing.assert_array_equal(flagged, p_values <= contamination + 1e-12)


def test_a_tie_with_the_offset_is_no_anomaly():
    scores = np.full(30, -7.5)
    rounded = scores * (1 + 1e-13 * np.random.RandomState(0).standard_normal(30))
    assert (scores >= FittedCalibration(rounded, np.arange(30), 0.1).offset).all()


def test_p_values_count_the_scores_that_are_as_low():
    calibration = np.array([3.0, 1.0, 2.0, 2.0])
    scores = np.array([0.5, 1.0, 2.0 - 1e-12, 2.5, 9.0])
    np.testing.assert_allclose(conformal_p_values(scores, calibration), [0.2, 0.4, 0.8, 0.8, 1.0])


def test_infinite_scores_have_the_least_and_the_largest_p_value():
    p_values = conformal_p_values([-np.inf, np.inf], np.arange(9.0))
    np.testing.assert_allclose(p_values, [0.1, 1])


@pytest.mark.parametrize("alpha", [Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(1)])
def test_discoveries_equal_the_procedure(alpha):
    """The largest k of which the k-th smallest p-value is at most alpha k / m; without rounding."""
    rng = np.random.RandomState(0)
    for m in (1, 2, 5, 30):
        for _ in range(20):
            p = [Fraction(int(k), 200) for k in rng.randint(1, rng.choice([5, 30, 200]), size=m)]
            ordered = sorted(p)
            fits = [k for k in range(1, m + 1) if ordered[k - 1] <= alpha * k / m]
            limit = ordered[fits[-1] - 1] if fits else -1
            selected = discoveries(np.array(p, dtype=float), float(alpha))
            assert selected.tolist() == [x <= limit for x in p]


def test_a_p_value_at_its_limit_is_a_discovery():
    """Conformal p-values are often equal to it, and 0.00625 * (8 / 5) is above 0.01 in floats."""
    p_values = np.array([1 / 160] * 5 + [1.0] * 3)  # the limit of the fifth is 0.01 * 5 / 8
    assert discoveries(p_values, 0.01).tolist() == [True] * 5 + [False] * 3
    assert not discoveries(np.minimum(p_values + 1e-6, 1), 0.01).any()


def clouds(rng, n_graphs, spread=1.0):
    """Graphs without edges, of 5 nodes with 2 attributes each."""
    no_edges = sp.csr_array((5 * n_graphs, 5 * n_graphs))
    attributes = spread * rng.standard_normal((5 * n_graphs, 2))
    return GraphBatch(5 * np.arange(n_graphs + 1), no_edges, (None, (), attributes))


@pytest.mark.parametrize(("calibration", "slack"), [(Split(100 / 140), 0), ("loo", 0.5)])
def test_p_values_and_selection_hold_what_they_promise(calibration, slack):
    """P-values of fresh normal graphs, and the false share of what is selected among anomalies."""
    p_values, false_shares = [], []
    detector = GraphKDEDetector(
        features=NodeFeatures(("attribute",)),
        encoder=Propagation(n_layers=0),
        views=(*densities(MMD(gammas=(1.0,), estimator="biased"), MMD(gammas=(1.0,))), "novelty"),
    )
    for seed in range(40):
        rng = np.random.RandomState(seed)
        detector.set_params(calibration=calibration, random_state=seed).fit(clouds(rng, 140))
        normal = clouds(rng, 30)
        p_values.append(detector.p_values(normal))
        selected = detector.select(GraphBatch.concatenate([normal, clouds(rng, 10, 5.0)]), 0.1)
        false_shares.append(selected[:30].sum() / max(1, selected.sum()))
        assert selected[30:].mean() > 0.5
    for a in (0.01, 0.05, 0.1, 0.2):
        rates = (np.array(p_values) <= a).mean(axis=1)
        assert a / 2 < rates.mean() <= (1 + slack) * a + 2 * rates.std() / np.sqrt(40)
    assert np.mean(false_shares) <= 0.1 * (1 + slack) + 2 * np.std(false_shares) / np.sqrt(40)


def test_too_few_scores_to_select_anything_are_said():
    p_values = np.array([0.05, 0.05, 0.5])
    with pytest.warns(UserWarning, match=r"19 calibration .*alpha=0.04 selects nothing.* 24"):
        assert not discoveries(p_values, 0.04, 19).any()
    assert discoveries(p_values, 0.08, 19).tolist() == [True, True, False]  # without a warning
    detector = GraphKDEDetector().fit(random_graphs(24, labels=""))
    with pytest.warns(UserWarning, match="24 calibration scores"):
        detector.select(random_graphs(3, seed=1, labels=""), alpha=0.03)
    with pytest.warns(UserWarning, match="24 training graphs cannot place a threshold"):
        GraphKDEDetector(contamination=0.03).fit(random_graphs(24, labels=""))


def test_a_score_that_is_nan_has_no_p_value():
    p_values = conformal_p_values(np.array([np.nan, 2.0]), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(p_values, [np.nan, 0.75])
    with pytest.raises(ValueError, match="calibration score is NaN"):
        conformal_p_values(np.array([2.0]), np.array([np.nan, 1.0]))
