"""Compiled loops of the density without gradients, which skip negligible terms of sums."""

from __future__ import annotations

import math

import numpy as np

from skgraphkde.computing.compiled import compiled

# exp(-60) is smaller than the rounding error of a sum of a billion terms.
NEGLIGIBLE_EXPONENT = 60.0
_compiled = compiled(nogil=True, error_model="numpy")


@_compiled
def log_sums(squared, log_scales, widths, log_weights, left_out, start, stop, out):
    """out[i] = log sum_jk exp(log_scales[k] - squared[i, j] / widths[k] + log_weights[i, j]).

    Excluded and infinitely distant references do not contribute.

    Parameters
    ----------
    squared : ndarray of shape (n, N)
        Squared distances.
    log_scales, widths : ndarray of shape (n_bandwidths,)
    log_weights : ndarray of shape (n, N) or (0, 0)
        Logarithms of weights; an empty array means no weights.
    left_out : ndarray of shape (n, N) or (0, 0), bool
        Excluded references; an empty array means none.
    start, stop : int
        Range of rows i to compute.
    out : ndarray of shape (n,)
    """
    weights, terms = np.empty(squared.shape[1]), np.empty(squared.shape[1])
    for i in range(start, stop):
        _weights_of(i, log_weights, left_out, weights)
        out[i] = _log_sum(squared[i], log_scales, widths, weights, terms)


@_compiled
def _weights_of(i, log_weights, left_out, out):
    """Write the logarithms of row i's weights, -inf for excluded references."""
    out[:] = 0
    if len(log_weights):
        out[:] = log_weights[i]
    if len(left_out):
        for j in range(len(out)):
            if left_out[i, j]:
                out[j] = -np.inf


@_compiled
def _log_sum(squared, log_scales, widths, log_weights, terms):
    """Log sum_jk exp(log_scales[k] - squared[j] / widths[k] + log_weights[j])."""
    for j in range(len(terms)):  # the largest term of each reference
        terms[j] = log_scales[0] - squared[j] / widths[0]
    for k in range(1, len(widths)):
        for j in range(len(terms)):
            terms[j] = max(terms[j], log_scales[k] - squared[j] / widths[k])
    for j in range(len(terms)):
        terms[j] += log_weights[j]
    top = np.max(terms)
    if top == -np.inf:
        return top
    total = 0.0
    for j in range(len(terms)):
        if terms[j] - top > -NEGLIGIBLE_EXPONENT:
            for k in range(len(widths)):
                power = log_scales[k] - squared[j] / widths[k] + log_weights[j] - top
                if power > -NEGLIGIBLE_EXPONENT:
                    total += math.exp(power)
    return top + math.log(max(total, 1.0))  # rounding removes the largest term below -1e17
