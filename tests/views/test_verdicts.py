"""Weights of views that are learned from verdicts, beside the objective as it is written down."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde.graphs.refinement import hash_points
from skgraphkde.views.folds import folds
from skgraphkde.views.verdicts import _weights, learn_weights, logistic_minimum

PRIOR = np.array([1.0, 0.5, 1.5])


def surprises(n_normal, n_anomalies, seed, away=2.0):
    """Surprises of three views, of which the first finds the anomalies."""
    rng = np.random.RandomState(seed)
    normal = rng.exponential(size=(n_normal, 3))
    anomalies = rng.exponential(size=(n_anomalies, 3))
    anomalies[:, 0] += away
    return normal, anomalies


def objective_slow(parameters, normal, anomalies, center, penalty):
    total = 0.0
    for rows, sign in ((normal, -1), (anomalies, 1)):
        for row in rows:
            z = parameters[0] + sum(w * x for w, x in zip(parameters[1:], row, strict=True))
            total += math.log(1 + math.exp(-sign * z)) / (2 * len(rows))
    return total + penalty * sum((w - c) ** 2 for w, c in zip(parameters[1:], center, strict=True))


@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([0.01, 0.1, 1.0]))
def test_no_other_parameters_have_a_smaller_loss(seed, n, penalty):
    data = (*surprises(30, n, seed), PRIOR, penalty)
    found = logistic_minimum(*data)
    least, rng = objective_slow(found, *data), np.random.RandomState(seed)
    for size in (1e-3, 0.1, 1.0):
        other = found + rng.normal(scale=size, size=4)
        other[1:] = np.maximum(other[1:], 0)
        assert objective_slow(other, *data) > least - 1e-7  # the tolerance of the optimizer


@given(st.integers(0, 10**6))
def test_a_view_that_finds_the_anomalies_gets_more_weight(seed):
    weights = learn_weights(PRIOR, *surprises(60, 20, seed, away=6.0))
    assert np.isclose(weights.views.mean(), 1)
    assert (weights.views >= 0).all()
    assert weights.views[0] > PRIOR[0] / PRIOR.mean()


@given(st.integers(0, 10**6))
def test_training_graphs_are_weighted_without_their_fold(seed):
    training, anomalies = surprises(50, 6, seed)
    weights = learn_weights(PRIOR, training, anomalies)
    fold, left_out = folds(hash_points(training))
    for i in (0, 7, 49):
        expected = _weights(PRIOR, training[fold != left_out[i]], anomalies)
        np.testing.assert_allclose(weights.training[:, i], expected, atol=1e-12)
    order = np.random.RandomState(seed).permutation(50)
    other = learn_weights(PRIOR, training[order], anomalies[::-1])
    # The optimizer ends where the gradient is 1e-5.
    np.testing.assert_allclose(other.views, weights.views, atol=1e-2)
    np.testing.assert_allclose(other.training, weights.training[:, order], atol=1e-2)


def test_few_anomalies_change_little():
    """The prior counts as two anomalies."""
    views = learn_weights(PRIOR, *surprises(50, 1, 0, away=9.0)).views
    prior = PRIOR / PRIOR.mean()
    assert (views >= 2 / 3 * prior).all()
    assert views[0] > prior[0]


def test_anomalies_that_no_view_finds_leave_the_weights():
    """They are less surprising than any normal graph."""
    training = surprises(50, 0, 0)[0] + 5
    weights = learn_weights(PRIOR, training, np.full((40, 3), 0.01))
    np.testing.assert_allclose(weights.views, PRIOR / PRIOR.mean())
