"""Mixture: log densities of graphs and of their twins by bandwidth -> weights of the bandwidths."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax

# Log ratios of densities beyond this count by their logarithm. Where unbiased distances are
# negative, log ratios are in the hundreds, and each still has a gradient.
LOG_RATIO_SCALE = 10.0
# Largest number of steps of Newton after those of L-BFGS, so that rounding does not show.
N_NEWTON = 10
# Strength of the prior, under which no weight is 0.
PRIOR = 0.1
# Largest absolute logit, where the largest and the smallest are equally far from 0. Few graphs far
# from their twins would push weights to exp(-100), where the loss has several minima, and the last
# digit of a distance chooses one.
MAX_LOGIT = 20.0


def learn_weights(of_graphs: np.ndarray, of_twins: np.ndarray) -> np.ndarray:
    r"""Learn the weights of bandwidths that make graphs denser than their twins.

    With the density f_alpha = sum_k softmax(alpha)_k f_k, the weights are a minimum of::

        L(alpha) = -mean_ij 10 asinh(log(f_alpha(G_i) / f_alpha(twin_ij)) / 10)
                   - 0.1 mean_k log softmax(alpha)_k

    The first term is the objective of the paper (eq. objective) with the logarithm of the ratio,
    which does not depend on the scale of the densities; its asinh is smooth, and grows so slowly
    that no single twin decides. The second term is a Dirichlet prior. Where no twin tells
    bandwidths apart, the weights are equal. No two logits differ by more than 40. There can be
    several minima; the one that is found from equal weights counts.

    Parameters
    ----------
    of_graphs : ndarray of shape (n, n_bandwidths)
        Log densities of graphs under each bandwidth, without their own kernels.
    of_twins : ndarray of shape (r * n, n_bandwidths)
        Those of their twins: of graph i at i, i + n, ..., without the kernel of the graph.

    Returns
    -------
    ndarray of shape (n_bandwidths,)
        The logits alpha, the largest of which is minus the smallest.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import softmax
    >>> of_graphs, of_twins = np.zeros((4, 2)), np.array([[-3.0, -1.0]] * 4)
    >>> softmax(learn_weights(of_graphs, of_twins)).round(2)  # the first tells them apart
    array([0.99, 0.01])
    """
    n_bandwidths = of_graphs.shape[1]
    of_graphs = np.tile(of_graphs, (len(of_twins) // max(1, len(of_graphs)), 1))
    is_finite = np.isfinite(of_graphs).all(axis=1) & np.isfinite(of_twins).all(axis=1)
    of_graphs = of_graphs[is_finite]
    of_twins = of_twins[is_finite]
    logits = np.zeros(n_bandwidths)
    if not len(of_graphs):
        return logits
    for _ in range(2):  # the first may stop at a bound that is none for centered logits
        found = minimize(
            contrast,
            logits,
            (of_graphs, of_twins),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-MAX_LOGIT, MAX_LOGIT)] * n_bandwidths,
            options={"ftol": 1e-14},
        )
        logits = _centered(found.x)
    return _centered(_polish(logits, of_graphs, of_twins))


def _centered(logits: np.ndarray) -> np.ndarray:
    """The same weights, with the largest and the smallest logit equally far from 0."""
    return logits - (logits.max() + logits.min()) / 2


def contrast(
    logits: np.ndarray, of_graphs: np.ndarray, of_twins: np.ndarray
) -> tuple[float, np.ndarray]:
    """Loss L of :func:`learn_weights` and its gradient.

    Parameters
    ----------
    logits : ndarray of shape (n_bandwidths,)
    of_graphs, of_twins : ndarray of shape (n, n_bandwidths)
        Log densities under each bandwidth, in pairs.

    Returns
    -------
    loss : float
    gradient : ndarray of shape (n_bandwidths,)
    """
    log_weights = log_softmax(logits)
    weights = np.exp(log_weights)
    weighted_graphs = of_graphs + log_weights
    weighted_twins = of_twins + log_weights
    log_graphs = logsumexp(weighted_graphs, axis=1, keepdims=True)
    log_twins = logsumexp(weighted_twins, axis=1, keepdims=True)
    log_ratios = (log_graphs - log_twins) / LOG_RATIO_SCALE
    loss = -LOG_RATIO_SCALE * np.arcsinh(log_ratios).mean() - PRIOR * log_weights.mean()
    # d log f / d alpha is the share of each bandwidth in the density, less its weight.
    shares = np.exp(weighted_graphs - log_graphs) - np.exp(weighted_twins - log_twins)
    gradient = -(shares / np.sqrt(1 + log_ratios**2)).mean(axis=0)
    gradient -= PRIOR * (1 / len(weights) - weights)
    return float(loss), gradient


def _polish(logits: np.ndarray, of_graphs: np.ndarray, of_twins: np.ndarray) -> np.ndarray:
    """Steps of Newton in the logits that are free, as long as their gradient falls."""
    is_free = np.abs(logits) < MAX_LOGIT - 1e-9
    if not is_free.any():
        return logits
    _, gradient = contrast(logits, of_graphs, of_twins)
    for _ in range(N_NEWTON):
        hessian = _hessian(logits, of_graphs, of_twins)[np.ix_(is_free, is_free)]
        new_logits = logits.copy()
        new_logits[is_free] += np.linalg.lstsq(hessian, -gradient[is_free], rcond=None)[0]
        _, new_gradient = contrast(new_logits, of_graphs, of_twins)
        is_better = np.abs(new_gradient[is_free]).max() < np.abs(gradient[is_free]).max()
        if not is_better or np.ptp(new_logits) > 2 * MAX_LOGIT:
            break
        logits = new_logits
        gradient = new_gradient
    return logits


def _hessian(logits: np.ndarray, of_graphs: np.ndarray, of_twins: np.ndarray) -> np.ndarray:
    """Second derivatives of :func:`contrast`, shape (n_bandwidths, n_bandwidths)."""
    weights = softmax(logits)
    in_graphs = softmax(of_graphs + logits, axis=1)  # shares of bandwidths in the density
    in_twins = softmax(of_twins + logits, axis=1)
    log_graphs = logsumexp(of_graphs + logits, axis=1)
    log_twins = logsumexp(of_twins + logits, axis=1)
    u = (log_graphs - log_twins) / LOG_RATIO_SCALE
    slope = 1 / np.sqrt(1 + u**2) / len(u)
    bend = -u * slope / (1 + u**2) / LOG_RATIO_SCALE
    difference = in_graphs - in_twins
    hessian = -(difference.T * bend) @ difference
    hessian -= np.diag(slope @ difference)
    hessian += (in_graphs.T * slope) @ in_graphs - (in_twins.T * slope) @ in_twins
    return hessian + PRIOR * (np.diag(weights) - np.outer(weights, weights))
