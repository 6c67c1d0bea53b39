"""Compiled loops of the kernel means on the CPU.

In come arrays of one tile, or of some measures; sums are added to arrays that the caller made. The
loops release the GIL, so that threads may share the tiles. Plain torch takes 4.1 ns a pair of
points for five exponentials, which pass through memory three times each; these loops take 0.7 ns,
the sums included, and the matrix product before them 2.5 ns (float32, d = 128, one core).
"""

from __future__ import annotations

from math import factorial

import numpy as np
from numba import njit, types
from numba.extending import overload

# Kernel values between their two uses: half of a core's second-level cache.
BUFFER_BYTES = 2**19
# Squared distances below this share of the squared norms are computed anew.
CLOSE = 1e-3
# Columns that a sum over rows handles at a time.
BLOCK = 64

_SERIES_32 = tuple(np.float32(1 / factorial(k)) for k in range(7, -1, -1))
_SERIES_64 = tuple(np.float64(1 / factorial(k)) for k in range(13, -1, -1))
_LOG2_E = 1.4426950408889634
# log(2) in two parts, the first with so few bits that its multiples are exact.
_LOG_2_32 = np.float32(0.693145751953125), np.float32(1.428606765330187e-06)
_LOG_2_64 = 0.6931471803691238, 1.9082149292705877e-10

# Contraction alone: reassociation would undo the reduction of the exponential's argument.
_compiled = njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
# Sums over the coordinates vectorize only where they may be reordered.
_reordering = njit(nogil=True, cache=True, error_model="numpy", fastmath=True)


@_compiled
def _exp_32(x):
    """exp(x) = 2^n e^f with |f| <= log(2) / 2; |x| < 87."""
    n = np.floor(x * np.float32(_LOG2_E) + np.float32(0.5))
    f = (x - n * _LOG_2_32[0]) - n * _LOG_2_32[1]
    e = np.float32(0)
    for coefficient in _SERIES_32:
        e = e * f + coefficient
    return e * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


@_compiled
def _exp_64(x):
    """exp(x) = 2^n e^f with |f| <= log(2) / 2; |x| < 708."""
    n = np.floor(x * _LOG2_E + 0.5)
    f = (x - n * _LOG_2_64[0]) - n * _LOG_2_64[1]
    e = 0.0
    for coefficient in _SERIES_64:
        e = e * f + coefficient
    return e * np.int64((np.int64(np.int32(n)) + np.int64(1023)) << np.int64(52)).view(np.float64)


_SIN_32 = tuple(np.float32((-1) ** k / factorial(2 * k + 1)) for k in range(4, -1, -1))
_COS_32 = tuple(np.float32((-1) ** k / factorial(2 * k)) for k in range(5, -1, -1))
_SIN_64 = tuple((-1) ** k / factorial(2 * k + 1) for k in range(8, -1, -1))
_COS_64 = tuple((-1) ** k / factorial(2 * k) for k in range(8, -1, -1))
_2_BY_PI = 0.6366197723675814
# pi / 2 in three parts, of which the first two have few bits.
_PI_BY_2_32 = (
    np.float32(1.5703125),
    np.float32(4.837512969970703e-4),
    np.float32(7.549789948768648e-8),
)
_PI_BY_2_64 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21


@_compiled
def _sine_cosine_32(x):
    """sin(x) and cos(x) by their series on |x| <= pi / 4; |x| < 10^4."""
    n = np.floor(x * np.float32(_2_BY_PI) + np.float32(0.5))
    r = ((x - n * _PI_BY_2_32[0]) - n * _PI_BY_2_32[1]) - n * _PI_BY_2_32[2]
    square, sine, cosine = r * r, np.float32(0), np.float32(0)
    for coefficient in _SIN_32:
        sine = sine * square + coefficient
    for coefficient in _COS_32:
        cosine = cosine * square + coefficient
    return _in_quadrant(n, sine * r, cosine)


@_compiled
def _sine_cosine_64(x):
    """sin(x) and cos(x) by their series on |x| <= pi / 4; |x| < 10^8."""
    n = np.floor(x * _2_BY_PI + 0.5)
    r = ((x - n * _PI_BY_2_64[0]) - n * _PI_BY_2_64[1]) - n * _PI_BY_2_64[2]
    square, sine, cosine = r * r, 0.0, 0.0
    for coefficient in _SIN_64:
        sine = sine * square + coefficient
    for coefficient in _COS_64:
        cosine = cosine * square + coefficient
    return _in_quadrant(n, sine * r, cosine)


@_compiled
def _in_quadrant(n, sine, cosine):
    """sin(r + n pi / 2) and cos(r + n pi / 2) from those of r; no branch, which would be slow."""
    one, two = type(n)(1), type(n)(2)
    half = np.floor(n / two)
    odd = n - two * half
    sign = one - two * (half - two * np.floor(half / two))
    first = sine + odd * (cosine - sine)
    second = cosine + odd * (sine - cosine)
    return sign * first, (sign - two * odd * sign) * second


def _sine_cosine(x):
    """sin(x) and cos(x), in a form that vectorizes."""


@overload(_sine_cosine)
def _sine_cosine_of_type(x):
    if x == types.float32:
        return lambda x: _sine_cosine_32(x)
    return lambda x: _sine_cosine_64(x)


def _exp(x):
    """exp(x), in a form that vectorizes."""


@overload(_exp)
def _exp_of_type(x):
    return (lambda x: _exp_32(x)) if x == types.float32 else (lambda x: _exp_64(x))


@_compiled
def _gaussian(D, gamma, lowest, out):
    """exp(-gamma D), held above underflow: denormal numbers are slow."""
    for p in range(D.shape[0]):
        out[p] = _exp(max(-gamma * D[p], lowest))


@_reordering
def _squared_distance(x, y):
    total = x.dtype.type(0)
    for k in range(x.shape[0]):
        total += (x[k] - y[k]) * (x[k] - y[k])
    return total


@_compiled
def finish_distances(D, y, x, y_norms, x_norms):
    """D[q, p] = y_q'x_p in, |y_q - x_p|^2 out, with the squared norms of the points.

    |y_q|^2 + |x_p|^2 - 2 y_q'x_p loses its digits where points are close to each other, just where
    narrow kernels look: there the distance is computed from the difference.
    """
    zero, two, close = D.dtype.type(0), D.dtype.type(2), D.dtype.type(CLOSE)
    for q in range(D.shape[0]):
        n_close = 0
        for p in range(D.shape[1]):
            norms = y_norms[q] + x_norms[p]
            D[q, p] = max(norms - two * D[q, p], zero)
            n_close += D[q, p] <= close * norms
        if n_close:
            for p in range(D.shape[1]):
                if D[q, p] <= close * (y_norms[q] + x_norms[p]):
                    D[q, p] = _squared_distance(y[q], x[p])


@_compiled
def add_column_sums(D, gammas, lowest, column, measures, factor, sums):
    """sums[s, measures[j], p] += factor sum_q v_jq exp(-gamma_s D[q, p]); `column` is v as CSR."""
    weights, indices, indptr = column
    n_q, n_p = D.shape
    width = max(1, BUFFER_BYTES // (n_q * D.itemsize))
    K = np.empty((n_q, width), D.dtype)
    for start in range(0, n_p, width):
        stop = min(start + width, n_p)
        for s in range(len(gammas)):
            for q in range(n_q):
                _gaussian(D[q, start:stop], gammas[s], lowest, K[q])
            for j in range(len(measures)):
                out = sums[s, measures[j], start:stop]
                for k in range(indptr[j], indptr[j + 1]):
                    _add_scaled(factor * weights[k], K[indices[k]], out)


@_compiled
def _add_scaled(factor, row, out):
    for p in range(out.shape[0]):
        out[p] += factor * row[p]


@_compiled
def add_row_sums(sums, row, measures, start, stop, out):
    """out[s, measures[i], j] += sum_p w_ip sums[s, j, p] for start <= j < stop; `row` is w."""
    weights, indices, indptr = row
    block = np.empty((sums.shape[2], BLOCK), sums.dtype)
    for s in range(sums.shape[0]):
        for first in range(start, stop, BLOCK):
            last = min(first + BLOCK, stop)
            for j in range(first, last):
                for p in range(sums.shape[2]):
                    block[p, j - first] = sums[s, j, p]
            for i in range(len(measures)):
                of_measure = out[s, measures[i], first:last]
                for k in range(indptr[i], indptr[i + 1]):
                    _add_scaled(weights[k], block[indices[k]], of_measure)


@_compiled
def pair_gradients(D, gammas, lowest, row, column, G, T):
    """T[q, p] = sum_s -gamma_s exp(-gamma_s D[q, p]) sum_ij v_jq w_ip G[s, i, j].

    `row` is w, `column` the transpose of v, as CSR. A gamma of which all G[s, :, j] are zero,
    because its MMD was not the largest, costs nothing.
    """
    weights, indices, indptr = row
    of_point, measures, starts = column
    n_q, n_p = D.shape
    n_gammas, n_i, n_j = G.shape
    H = np.zeros((n_gammas, n_j, n_p), D.dtype)  # sum_i w_ip G[s, i, j]
    used = np.zeros((n_gammas, n_j), np.bool_)
    for s in range(n_gammas):
        for j in range(n_j):
            for i in range(n_i):
                if G[s, i, j] != 0:
                    used[s, j] = True
                    for k in range(indptr[i], indptr[i + 1]):
                        H[s, j, indices[k]] += weights[k] * G[s, i, j]
    K, spread = np.empty(n_p, D.dtype), np.empty(n_p, D.dtype)
    for q in range(n_q):
        T[q] = 0
        for s in range(n_gammas):
            some = False
            spread[:] = 0
            for k in range(starts[q], starts[q + 1]):
                if used[s, measures[k]]:
                    some = True
                    _add_scaled(of_point[k], H[s, measures[k]], spread)
            if some:
                _gaussian(D[q], gammas[s], lowest, K)
                for p in range(n_p):
                    T[q, p] -= gammas[s] * spread[p] * K[p]


# -- within measures -------------------------------------------------------------------------------


@_reordering
def _weighted_sum(weights, values):
    total = values.dtype.type(0)
    for k in range(values.shape[0]):
        total += weights[k] * values[k]
    return total


@_compiled
def own_sums(x, gammas, lowest, measure, start, stop, out):
    """out[s, i] = sum_ab w_ia w_ib exp(-gamma_s |x_a - x_b|^2) for start <= i < stop."""
    weights, indices, indptr = measure
    longest = np.max(np.diff(indptr[start : stop + 1]))
    D, K = np.empty(longest, x.dtype), np.empty(longest, x.dtype)
    for i in range(start, stop):
        out[:, i] = 0
        for a in range(indptr[i], indptr[i + 1]):
            others = slice(a + 1, indptr[i + 1])
            n = indptr[i + 1] - a - 1
            for b in range(n):
                D[b] = _squared_distance(x[indices[a]], x[indices[a + 1 + b]])
            for s in range(len(gammas)):
                _gaussian(D[:n], gammas[s], lowest, K)
                rest = 2 * _weighted_sum(weights[others], K[:n])
                out[s, i] += weights[a] * (weights[a] + rest)


@_compiled
def own_gradients(x, gammas, lowest, measure, G, start, stop, out):
    """Gradient of sum_si G[s, i] own_sums[s, i] at each entry of `measure`, added to `out`."""
    weights, indices, indptr = measure
    longest = np.max(np.diff(indptr[start : stop + 1]))
    D, K = np.empty(longest, x.dtype), np.empty(longest, x.dtype)
    T = np.empty(longest, x.dtype)
    for i in range(start, stop):
        for a in range(indptr[i], indptr[i + 1]):
            n = indptr[i + 1] - a - 1
            T[:n] = 0
            for b in range(n):
                D[b] = _squared_distance(x[indices[a]], x[indices[a + 1 + b]])
            for s in range(len(gammas)):
                if G[s, i] != 0:
                    _gaussian(D[:n], gammas[s], lowest, K)
                    for b in range(n):
                        T[b] -= 4 * G[s, i] * gammas[s] * weights[a + 1 + b] * K[b]
            for b in range(n):
                t = weights[a] * T[b]
                y, z = x[indices[a]], x[indices[a + 1 + b]]
                for k in range(x.shape[1]):
                    out[a, k] += t * (y[k] - z[k])
                    out[a + 1 + b, k] -= t * (y[k] - z[k])


# -- random features -------------------------------------------------------------------------------


@_compiled
def add_feature_sums(projection, scales, column, measures, out):
    """out[s, measures[j]] += sum_q v_jq (cosines, sines) of scales[s] * projection[q].

    `column` is v as CSR; the sines stand behind the cosines.
    """
    weights, indices, indptr = column
    n_q, n_f = projection.shape
    features = np.empty((n_q, 2 * n_f), projection.dtype)
    for s in range(len(scales)):
        for q in range(n_q):
            _write_features(scales[s], projection[q], features[q, :n_f], features[q, n_f:])
        for j in range(len(measures)):
            for k in range(indptr[j], indptr[j + 1]):
                _add_scaled(weights[k], features[indices[k]], out[s, measures[j]])


@_compiled
def _write_features(scale, projection, cosines, sines):
    for f in range(projection.shape[0]):
        sine, cosine = _sine_cosine(scale * projection[f])
        cosines[f] = cosine
        sines[f] = sine


@_compiled
def feature_gradients(projection, scales, column, G, out):
    """Write the gradient of sum(G * feature sums) in the projection to `out`.

    `column` is the transpose of v as CSR: the measures of each point.
    """
    weights, measures, indptr = column
    n_f = projection.shape[1]
    of_features = np.empty(2 * n_f, projection.dtype)
    cosines, sines = np.empty(n_f, projection.dtype), np.empty(n_f, projection.dtype)
    for q in range(projection.shape[0]):
        out[q] = 0
        for s in range(len(scales)):
            of_features[:] = 0
            for k in range(indptr[q], indptr[q + 1]):
                _add_scaled(weights[k], G[s, measures[k]], of_features)
            _write_features(scales[s], projection[q], cosines, sines)
            for f in range(n_f):
                slope = of_features[n_f + f] * cosines[f] - of_features[f] * sines[f]
                out[q, f] += scales[s] * slope
