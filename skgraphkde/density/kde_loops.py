"""Compiled loops of the density without gradients: they skip terms that add nothing to a sum."""

from __future__ import annotations

import math

import numpy as np

from skgraphkde.computing.compiled import compiled

# exp(-60) is less than the rounding of a sum of a billion terms.
NOTHING = 60.0
_compiled = compiled(nogil=True, error_model="numpy")


@_compiled
def log_sums(squared, log_scales, widths, log_weights, left_out, out):
    """out[v, i] = log sum_jk exp(log_scales[v, k] - squared[v, i, j] / widths[v, k] + log_weights).

    References that are left out, or infinitely far away, count as nothing. Empty arrays stand for
    no weights and nothing left out.
    """
    largest = np.empty(squared.shape[2])
    for v in range(squared.shape[0]):
        for i in range(squared.shape[1]):
            log_kernels(squared[v, i], log_scales[v], widths[v], i, log_weights, left_out, largest)
            top = np.max(largest)
            total = 0.0
            for j in range(len(largest)):
                if largest[j] > top - NOTHING:
                    weight = log_weights[i, j] if len(log_weights) else 0.0
                    for k in range(len(widths[v])):
                        power = log_scales[v, k] - squared[v, i, j] / widths[v, k] + weight - top
                        if power > -NOTHING:
                            total += math.exp(power)
            out[v, i] = top + math.log(total)


@_compiled
def log_kernels(squared, log_scales, widths, i, log_weights, left_out, out):
    """out[j] = max_k log_scales[k] - squared[j] / widths[k] + log_weights[i, j].

    -inf for references that are left out.
    """
    for j in range(len(out)):
        out[j] = log_scales[0] - squared[j] / widths[0]
    for k in range(1, len(widths)):
        for j in range(len(out)):
            out[j] = max(out[j], log_scales[k] - squared[j] / widths[k])
    if len(log_weights):
        for j in range(len(out)):
            out[j] += log_weights[i, j]
    if len(left_out):
        for j in range(len(out)):
            if left_out[i, j]:
                out[j] = -np.inf


@_compiled
def all_log_kernels(squared, log_scales, widths, log_weights, left_out, out):
    """:func:`log_kernels` of all graphs, which are at most log(M) below those of M bandwidths."""
    for v in range(squared.shape[0]):
        for i in range(squared.shape[1]):
            row = squared[v, i]
            log_kernels(row, log_scales[v], widths[v], i, log_weights, left_out, out[v, i])
