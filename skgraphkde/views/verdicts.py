"""Verdicts: surprises of normal graphs and of confirmed anomalies -> weights of views."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from skgraphkde.graphs.refinement import hash_points
from skgraphkde.views.folds import folds

# The factor of the penalty for k anomalies is this number divided by k. From 0.5 to 2, mean AUROCs
# over four suites of tasks agree within one point.
PENALTY = 1.0
# Smallest multiple of the prior weights to which the penalty draws.
LEAST_SCALE = 0.2
# The prior weights count as much as so many anomalies do, so that one wrong verdict does little.
PRIOR_ANOMALIES = 2


class LearnedWeights(NamedTuple):
    """Weights of views that were learned from verdicts."""

    views: np.ndarray  # (n_views,), with mean 1
    training: np.ndarray  # (n_views, n_training_graphs), each learned without the graph


def learn_weights(prior: np.ndarray, training: np.ndarray, anomalies: np.ndarray) -> LearnedWeights:
    """Learn weights of views by logistic regression.

    With the surprise x_v = -log p_v of a graph in each view, the weights w >= 0 minimize

        mean of log(1 + exp(z)) over normal graphs + mean of log(1 + exp(-z)) over anomalies
        + 2 PENALTY / k |w - s w_0|^2,    z = b + w x,

    where w_0 are the prior weights, k is the number of anomalies, and s and b minimize the first
    two terms for w = s w_0. The result is (k w + 2 w_0) / (k + 2), with both scaled to a mean of 1.
    With few anomalies, the weights are thus close to the prior.

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

    Returns
    -------
    LearnedWeights
    """
    fold, left_out = folds(hash_points(training))
    kept = [fold != i for i in range(int(fold.max()) + 1)]
    of_folds = [_weights(prior, training[rows], anomalies) for rows in kept]
    views = _weights(prior, training, anomalies)
    return LearnedWeights(views, np.array(of_folds)[left_out].T)


def _weights(prior: np.ndarray, normal: np.ndarray, anomalies: np.ndarray) -> np.ndarray:
    """The weights that minimize the objective, and the prior, scaled to a mean of 1."""
    # Without a penalty, the scale has no limit if a threshold separates the graphs.
    column = prior[:, np.newaxis]
    of_normal, of_anomalies = normal @ column, anomalies @ column
    _, scale = logistic_minimum(of_normal, of_anomalies, np.zeros(1), 1e-3, LEAST_SCALE)
    penalty = PENALTY / len(anomalies)
    weights = logistic_minimum(normal, anomalies, scale * prior, penalty)[1:]
    if not weights.any():  # no view finds the anomalies, and they say nothing about the weights
        weights = prior
    n = len(anomalies)
    learned, known = weights / weights.mean(), prior / prior.mean()
    return (n * learned + PRIOR_ANOMALIES * known) / (n + PRIOR_ANOMALIES)


def logistic_minimum(
    normal: np.ndarray,
    anomalies: np.ndarray,
    center: np.ndarray,
    penalty: float,
    least: float = 0.0,
) -> np.ndarray:
    """Minimize a penalized logistic loss, in which both classes have the same weight.

    Parameters
    ----------
    normal, anomalies : ndarray of shape (n_graphs, n_columns)
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
    X, sizes = np.vstack([normal, anomalies]), [len(normal), len(anomalies)]
    sign, share = np.repeat([-1.0, 1.0], sizes), np.repeat(0.5 / np.array(sizes), sizes)

    def objective(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        away = parameters[1:] - center
        margin = sign * (parameters[0] + X @ parameters[1:])
        value = share @ np.logaddexp(0, -margin) + penalty * (away @ away)
        slope = -share * sign * np.exp(-np.logaddexp(0, margin))
        return float(value), np.append(slope.sum(), slope @ X + 2 * penalty * away)

    start = np.append(0.0, np.maximum(center, least))
    bounds = [(None, None), *[(least, None)] * len(center)]
    return minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
