"""Compiled loops of the CPU engine over some pairs of measures, not all."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from skgraphkde.computing.compiled import compiled
from skgraphkde.distances.engines.cpu_loops import add_scaled, gaussian, squared_distances

# Squared distances below this share of the squared norms are computed from the differences: those
# of others err by 2e-6 of themselves in single precision.
CLOSE = 3e-2
# Its tenth power leaves room for the weights above denormal numbers, in single precision, too.
SMALLEST = 1e-3


def are_powers(gammas: Sequence[float]) -> np.ndarray:
    """Whether the kernel of each gamma is taken as the tenth power of the one before.

    Not twice in a row, as rounding grows tenfold.
    """
    powers = np.zeros(len(gammas), dtype=bool)
    for s in range(1, len(gammas)):
        is_decade = math.isclose(gammas[s], 10 * gammas[s - 1], rel_tol=1e-12)
        powers[s] = is_decade and not powers[s - 1]
    return powers


@compiled(nogil=True, error_model="numpy", fastmath={"contract"})
def pair_sums(points, norms, gammas, is_power, lowest, measures, pairs, width, start, stop, out):
    """out[s, e] = sum_pq w_ip v_jq exp(-gamma_s |x_p - y_q|^2) for the pairs e = (i, j) of rows.

    `points` are x and y, `norms` their squared norms, `measures` are w and v as CSR, `pairs` the
    columns j of each row i, as CSR without data, of which rows `start` to `stop` are computed. A
    point of several measures of a row counts once: first sum_p w_ip exp(...) for each q, `width` of
    them at once, then what each measure makes of it. `is_power` says which gammas are ten times the
    one before. Sums are in double precision: they do not depend on the order of the points.
    """
    (x, y), (x_norms, y_norms) = points, norms
    (w, x_index, x_ptr), (v, y_index, y_ptr) = measures
    indptr, columns = pairs
    slot = np.full(len(y), -1)  # where a point is among those of a row
    used = np.empty(len(y), np.intp)
    sums = np.empty((len(gammas), len(y)))
    height = np.max(np.diff(x_ptr[start : stop + 1]))
    X, of_X = np.empty((height, x.shape[1]), x.dtype), np.empty(height, x.dtype)
    Y, of_Y = np.empty((width, x.shape[1]), x.dtype), np.empty(width, x.dtype)
    D, K = np.empty(height * width, x.dtype), np.empty(width, x.dtype)
    for i in range(start, stop):
        n_used = _mark(columns[indptr[i] : indptr[i + 1]], y_index, y_ptr, slot, used)
        n, weights = x_ptr[i + 1] - x_ptr[i], w[x_ptr[i] : x_ptr[i + 1]]
        _gather(x, x_norms, x_index[x_ptr[i] : x_ptr[i + 1]], X, of_X)
        for first in range(0, n_used, width):
            m = min(width, n_used - first)
            _gather(y, y_norms, used[first : first + m], Y, of_Y)
            near = D[: n * m].reshape(n, m)
            squared_distances(X[:n], Y[:m], of_X[:n], of_Y[:m], CLOSE, near)
            sums[:, first : first + m] = 0
            for p in range(n):
                for s in range(len(gammas)):
                    if is_power[s]:
                        _tenth_power(K[:m])
                    else:
                        gaussian(near[p], gammas[s], lowest, K)
                    add_scaled(weights[p], K[:m], sums[s, first : first + m])
        for e in range(indptr[i], indptr[i + 1]):
            for s in range(len(gammas)):
                total = 0.0
                for k in range(y_ptr[columns[e]], y_ptr[columns[e] + 1]):
                    total += v[k] * sums[s, slot[y_index[k]]]
                out[s, e] = total
        for k in range(n_used):
            slot[used[k]] = -1


@compiled(nogil=True)
def largest_of_all(x_norms, y_norms, cross, out):
    """out[i, j] = max_s |x_i|^2 + |y_j|^2 - 2 cross[s, i, j], over gammas s."""
    two = cross.dtype.type(2)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x_norms[0, i] + y_norms[0, j] - two * cross[0, i, j]
        for s in range(1, len(cross)):
            for j in range(out.shape[1]):
                squared = x_norms[s, i] + y_norms[s, j] - two * cross[s, i, j]
                out[i, j] = max(out[i, j], squared)


@compiled(nogil=True)
def largest_of_pairs(x_norms, y_norms, cross, rows, columns, out):
    """out[e] = max_s |x_i|^2 + |y_j|^2 - 2 cross[s, e] for the pairs e = (i, j)."""
    for e in range(len(rows)):
        largest = -np.inf
        for s in range(len(cross)):
            norms = x_norms[s, rows[e]] + y_norms[s, columns[e]]
            largest = max(largest, norms - 2 * cross[s, e])
        out[e] = largest


@compiled(nogil=True, error_model="numpy")
def _tenth_power(K):
    """K^10, a quarter of the time of an exponential, held above underflow."""
    smallest = K.dtype.type(SMALLEST)
    for k in range(len(K)):
        x = max(K[k], smallest)
        fourth = x * x * x * x
        K[k] = fourth * fourth * (x * x)


@compiled(nogil=True)
def _mark(measures, index, ptr, slot, used):
    """Number the points of some measures; returns how many there are."""
    n = 0
    for j in measures:
        for k in range(ptr[j], ptr[j + 1]):
            if slot[index[k]] < 0:
                slot[index[k]] = n
                used[n] = index[k]
                n += 1
    return n


@compiled(nogil=True)
def _gather(points, norms, index, out, of_out):
    for k in range(len(index)):
        i = index[k]  # out[k] = points[i] takes three times as long
        for c in range(points.shape[1]):
            out[k, c] = points[i, c]
        of_out[k] = norms[i]
