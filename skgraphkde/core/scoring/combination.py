"""Combination: scores of views -> log p-values, and the weights with which these are summed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from skgraphkde.core.scoring.calibration import n_as_low, ordered_p_values, rounding
from skgraphkde.core.views.rows import folds


class LogPValues:
    """Conformal p-values of one view, extrapolated in the tail.

    With the surprise x = -s, and n training scores,

        log p(s) = log((1 + #{scores <= s}) / (n + 1)) - log(1 + max(x - t, 0) / b).

    The second term ranks graphs that are more surprising than any training graph, and training
    graphs that are far more surprising than the others. Its tail is an exponential distribution
    above the median q of the surprises: the scale b is the median excess over q, divided by log 2,
    and t = q + b log k is about the largest of k such surprises, with k the number above q. Three
    quarters of the graphs thus determine the tail, and anomalies among the training graphs do not
    mask each other. If no surprise reaches t, the tail begins at the largest.

    The largest training surprise is excluded from q, b and k, so that each graph in the tail is
    judged by others. If new graphs were measured from an outlier among the training graphs, and the
    outlier from the bulk, the outlier would always have the lower p-value.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Leave-one-out scores of the training graphs, all finite; n is at least 2.
    """

    def __init__(self, scores: np.ndarray) -> None:
        self.scores = scores
        self._sorted = np.sort(scores)
        largest, second = -self._sorted[:2]
        expected, self._scale = _exponential_tail(-self._sorted[1:])
        self._tail = min(expected, second)
        # New graphs between the two most surprising training graphs are in the tail if these are.
        self._first = expected if expected < second else largest

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Log p-values of new graphs, shape (n_graphs,); NaN for a score that is not finite."""
        is_finite = np.isfinite(scores)
        scores = np.where(is_finite, scores, 0.0)
        log_p = np.log(ordered_p_values(scores, self._sorted))
        log_p -= self._log_excess(scores, self._first)
        return np.where(is_finite, log_p, np.nan)  # a NaN has no p-value

    def leave_one_out(self) -> np.ndarray:
        """Leave-one-out log p-values of the training graphs, shape (n,)."""
        n = len(self.scores)
        # The count of scores as low includes the graph's own: (1 + others) / ((n - 1) + 1).
        log_p = np.log(n_as_low(self.scores, self._sorted) / n)
        return log_p - self._log_excess(self.scores, self._tail)

    def _log_excess(self, scores: np.ndarray, first: float) -> np.ndarray:
        """log(1 + (x - t) / b) of the surprises x above the first of the tail, and 0 elsewhere."""
        is_above = -scores > first + rounding(first)
        return np.log1p(np.where(is_above, -scores - self._tail, 0.0) / self._scale)


def view_weights(log_p_values: np.ndarray) -> np.ndarray:
    """Weights of views, smaller for views that say the same as others.

    w_v = c / sum_u |r_uv|, with r_uv the correlation of the log p-values of views u and v, and c
    such that the mean weight is 1. Views that always agree share the weight of one.

    Parameters
    ----------
    log_p_values : ndarray of shape (n_views, n)
        Leave-one-out log p-values of the training graphs.

    Returns
    -------
    ndarray of shape (n_views,)

    Examples
    --------
    >>> import numpy as np
    >>> view, other = np.log([[0.2, 0.4, 0.6, 0.8], [0.6, 0.2, 0.8, 0.4]])
    >>> view_weights(np.array([view, view, other])).round(2)
    array([0.77, 0.77, 1.46])
    """
    varies = np.ptp(log_p_values, axis=1) > rounding(0.0)
    correlations = np.eye(len(log_p_values))  # a constant view says nothing that others say
    correlations[np.ix_(varies, varies)] = np.abs(np.corrcoef(log_p_values[varies]))
    weights = 1 / correlations.sum(axis=1)
    return weights / weights.mean()


def _exponential_tail(surprises: np.ndarray) -> tuple[float, float]:
    """Largest expected surprise and scale of the exponential distribution above the median."""
    median = np.median(surprises)
    excess = (surprises - median)[surprises > median + rounding(median)]
    if not len(excess):
        return float(median), 1.0
    scale = np.median(excess) / np.log(2)
    return float(median + scale * np.log(len(excess))), float(scale)


# The factor of the penalty for k anomalies is this number divided by k. From 0.5 to 2, mean AUROCs
# over four suites of tasks agree within one point.
PENALTY = 1.0
# Smallest multiple of the prior weights to which the penalty draws.
LEAST_SCALE = 0.2
# The prior weights count as much as so many anomalies do, so that one wrong verdict does little.
PRIOR_ANOMALIES = 2
# Nearness to many anomalies counts as much as so many views, before weights are learned, and half
# of it to so many anomalies. From 4 to 12 views, an analyst finds the same within three points.
MOST_NEARNESS = 8.0
HALF_NEARNESS = 5
# A graph that somebody judged normal counts as much as so many others.
JUDGED = 5.0


class LearnedWeights(NamedTuple):
    """Weights of views that were learned from verdicts."""

    views: np.ndarray  # (n_views,), with mean 1
    training: np.ndarray  # (n_views, n_training_graphs), each learned without the graph


def nearness_weights(n_views: int, n_anomalies: int) -> np.ndarray:
    """Prior weights of views of the nearness to confirmed anomalies.

    They add up to 8 k / (k + 5), with k the number of anomalies: to be like one graph says little.

    Parameters
    ----------
    n_views : int
    n_anomalies : int

    Returns
    -------
    ndarray of shape (n_views,)
    """
    total = MOST_NEARNESS * n_anomalies / (n_anomalies + HALF_NEARNESS)
    return np.full(n_views, total / n_views)


def learn_weights(
    prior: np.ndarray, training: np.ndarray, anomalies: np.ndarray, judged: np.ndarray
) -> LearnedWeights:
    """Learn weights of views by logistic regression.

    With the surprise x_v = -log p_v of a graph in each view, the weights w >= 0 minimize

        mean of log(1 + exp(z)) over normal graphs + mean of log(1 + exp(-z)) over anomalies
        + 2 PENALTY / k |w - s w_0|^2,    z = b + w x,

    where graphs that somebody judged normal count five times, w_0 are the prior weights, k is the
    number of anomalies, and s >= 0.2 and b minimize the first two terms and s^2 / 1000 for
    w = s w_0. The result is
    (k w + 2 w_0) / (k + 2), with both scaled to a mean of 1. With few anomalies, the weights are
    thus close to the prior.

    The leave-one-out scores of the training graphs are calibration scores. A training graph would
    seem more normal than a new graph by weights that were learned from it. It gets weights that
    were learned without its fold instead.

    Parameters
    ----------
    prior : ndarray of shape (n_views,)
    training : ndarray of shape (n_training_graphs, n_views)
        Leave-one-out surprises of the training graphs.
    anomalies : ndarray of shape (n_anomalies, n_views)
        Surprises of the confirmed anomalies.
    judged : ndarray of shape (n_training_graphs,), bool
        Training graphs that somebody judged normal.

    Returns
    -------
    LearnedWeights
    """
    counts = np.where(judged, JUDGED, 1.0)
    fold, left_out = folds(training)
    kept = [fold != i for i in range(int(fold.max()) + 1)]
    of_folds = [_weights(prior, training[rows], anomalies, counts[rows]) for rows in kept]
    views = _weights(prior, training, anomalies, counts)
    return LearnedWeights(views, np.array(of_folds)[left_out].T)


def _weights(
    prior: np.ndarray, normal: np.ndarray, anomalies: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """The weights that minimize the objective, and the prior, scaled to a mean of 1."""
    # Without a penalty, the scale has no limit if a threshold separates the graphs.
    column = prior[:, np.newaxis]
    of_normal = normal @ column
    of_anomalies = anomalies @ column
    _, scale = logistic_minimum(of_normal, of_anomalies, counts, np.zeros(1), 1e-3, LEAST_SCALE)
    penalty = PENALTY / len(anomalies)
    weights = logistic_minimum(normal, anomalies, counts, scale * prior, penalty)[1:]
    if not weights.any():  # no view finds the anomalies, and they say nothing about the weights
        weights = prior
    n = len(anomalies)
    learned = weights / weights.mean()
    known = prior / prior.mean()
    return (n * learned + PRIOR_ANOMALIES * known) / (n + PRIOR_ANOMALIES)


def logistic_minimum(
    normal: np.ndarray,
    anomalies: np.ndarray,
    counts: np.ndarray,
    center: np.ndarray,
    penalty: float,
    least: float = 0.0,
) -> np.ndarray:
    """Minimize a penalized logistic loss, in which both classes have the same weight.

    Parameters
    ----------
    normal, anomalies : ndarray of shape (n_graphs, n_columns)
    counts : ndarray of shape (n_normal,)
        How often each normal graph counts.
    center : ndarray of shape (n_columns,)
        Coefficients without a penalty.
    penalty : float
        Factor of the squared distance from the center.
    least : float, default=0.0
        Lower bound of the coefficients.

    Returns
    -------
    ndarray of shape (1 + n_columns,)
        The intercept b and coefficients w that minimize mean log(1 + exp(z)) / 2 over normal graphs
        + mean log(1 + exp(-z)) / 2 over anomalies + penalty |w - center|^2, with z = b + w x.
    """
    X = np.vstack([normal, anomalies])
    sizes = [len(normal), len(anomalies)]
    sign = np.repeat([-1.0, 1.0], sizes)
    share = np.append(0.5 * counts / counts.sum(), np.full(sizes[1], 0.5 / sizes[1]))

    def objective(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        away = parameters[1:] - center
        margin = sign * (parameters[0] + X @ parameters[1:])
        value = share @ np.logaddexp(0, -margin) + penalty * (away @ away)
        slope = -share * sign * np.exp(-np.logaddexp(0, margin))
        return float(value), np.append(slope.sum(), slope @ X + 2 * penalty * away)

    start = np.append(0.0, np.maximum(center, least))
    bounds = [(None, None), *[(least, None)] * len(center)]
    return minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
