"""Compiled loops of the density without gradients: they skip terms that add nothing to a sum."""

from __future__ import annotations

import math

import numpy as np

from skgraphkde.computing.compiled import compiled

# exp(-60) is less than the rounding of a sum of a billion terms.
NOTHING = 60.0
_compiled = compiled(nogil=True, error_model="numpy")


@_compiled
def log_sums(squared, log_scales, widths, log_weights, left_out, start, stop, out):
    """out[v, i] = log sum_jk exp(log_scales[v, k] - squared[v, i, j] / widths[v, k] + log_weights).

    Rows `start` to `stop` are computed. References that are left out, or infinitely far away, count
    as nothing. Empty arrays stand for no weights and nothing left out.
    """
    weights, terms = np.empty(squared.shape[2]), np.empty(squared.shape[2])
    for i in range(start, stop):
        _weights_of(i, log_weights, left_out, weights)
        for v in range(squared.shape[0]):
            out[v, i] = _log_sum(squared[v, i], log_scales[v], widths[v], weights, terms)


@_compiled
def log_sums_of_pairs(squared, log_scales, widths, log_weights, pairs, out):
    """The same of some pairs (i, j), given as CSR without data: row pointers and columns.

    `squared` has shape (n_distances, n_pairs).
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

    That is at most log(M) below the term of M bandwidths; -inf for references that are left out.
    """
    weights = np.empty(squared.shape[2])
    for i in range(squared.shape[1]):
        _weights_of(i, log_weights, left_out, weights)
        for v in range(squared.shape[0]):
            _largest(squared[v, i], log_scales[v], widths[v], weights, out[v, i])


@_compiled
def _weights_of(i, log_weights, left_out, out):
    """Write the logarithms of row i's weights, -inf for references that are left out."""
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
        if terms[j] - top > -NOTHING:
            for k in range(len(widths)):
                power = log_scales[k] - squared[j] / widths[k] + log_weights[j] - top
                if power > -NOTHING:
                    total += math.exp(power)
    return top + math.log(max(total, 1.0))  # below -1e17 the largest term is lost in rounding


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
