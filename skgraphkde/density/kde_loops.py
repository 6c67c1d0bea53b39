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
    """out[v, i] = log sum_jk exp(log_scales[v, k] - squared[v, i, j] / widths[v, k] + log_weights).

    Excluded and infinitely distant references do not contribute.

    Parameters
    ----------
    squared : ndarray of shape (n_distances, n, N)
        Squared distances.
    log_scales, widths : ndarray of shape (n_distances, n_bandwidths)
    log_weights : ndarray of shape (n, N) or (0, 0)
        Logarithms of weights; an empty array means no weights.
    left_out : ndarray of shape (n, N) or (0, 0), bool
        Excluded references; an empty array means none.
    start, stop : int
        Range of rows i to compute.
    out : ndarray of shape (n_distances, n)
    """
    weights, terms = np.empty(squared.shape[2]), np.empty(squared.shape[2])
    for i in range(start, stop):
        _weights_of(i, log_weights, left_out, weights)
        for v in range(squared.shape[0]):
            out[v, i] = _log_sum(squared[v, i], log_scales[v], widths[v], weights, terms)


@_compiled
def log_sums_of_pairs(squared, log_scales, widths, log_weights, pairs, out):
    """Compute the sums of :func:`log_sums` over some pairs (i, j) only.

    Parameters
    ----------
    squared : ndarray of shape (n_distances, n_pairs)
        Squared distances of the pairs.
    log_scales, widths : ndarray of shape (n_distances, n_bandwidths)
    log_weights : ndarray of shape (n, N) or (0, 0)
        Logarithms of weights; an empty array means no weights.
    pairs : (indptr, columns)
        The pairs as CSR without data: row pointers and columns.
    out : ndarray of shape (n_distances, n)
    """
    indptr, columns = pairs
    longest = np.max(np.diff(indptr))
    weights, terms = np.zeros(longest), np.empty(longest)
    for i in range(len(indptr) - 1):
        start, stop = indptr[i], indptr[i + 1]
        n = stop - start
        if len(log_weights):
            for e in range(n):
                weights[e] = log_weights[i, columns[start + e]]
        for v in range(squared.shape[0]):
            row = squared[v, start:stop]
            out[v, i] = _log_sum(row, log_scales[v], widths[v], weights[:n], terms[:n])


@_compiled
def log_kernels(squared, log_scales, widths, log_weights, left_out, out):
    """out[v, i, j] = max_k log_scales[v, k] - squared[v, i, j] / widths[v, k] + log_weights[i, j].

    The maximum over M bandwidths is at most log(M) below the logarithm of their sum. It is -inf for
    excluded references.

    Parameters
    ----------
    squared : ndarray of shape (n_distances, n, N)
        Squared distances.
    log_scales, widths : ndarray of shape (n_distances, n_bandwidths)
    log_weights : ndarray of shape (n, N) or (0, 0)
        Logarithms of weights; an empty array means no weights.
    left_out : ndarray of shape (n, N) or (0, 0), bool
        Excluded references; an empty array means none.
    out : ndarray of shape (n_distances, n, N)
    """
    weights = np.empty(squared.shape[2])
    for i in range(squared.shape[1]):
        _weights_of(i, log_weights, left_out, weights)
        for v in range(squared.shape[0]):
            _largest(squared[v, i], log_scales[v], widths[v], weights, out[v, i])


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
    if len(squared) == 0:
        return -np.inf
    _largest(squared, log_scales, widths, log_weights, terms)
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


@_compiled
def _largest(squared, log_scales, widths, log_weights, out):
    """out[j] = max_k log_scales[k] - squared[j] / widths[k] + log_weights[j]."""
    for j in range(len(out)):
        out[j] = log_scales[0] - squared[j] / widths[0]
    for k in range(1, len(widths)):
        for j in range(len(out)):
            out[j] = max(out[j], log_scales[k] - squared[j] / widths[k])
    for j in range(len(out)):
        out[j] += log_weights[j]
