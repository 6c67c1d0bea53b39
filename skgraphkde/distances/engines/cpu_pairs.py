"""Compiled loops of the CPU engine over selected pairs of measures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from skgraphkde.computing.compiled import compiled
from skgraphkde.distances.engines.cpu_loops import add_scaled, gaussian, squared_distances

# Squared distances below this share of the squared norms are computed from the differences; the
# relative error of larger ones is 2e-6 in single precision.
RECOMPUTE_BELOW = 3e-2
# The product of its tenth power and a weight is not a denormal number, even in single precision.
MIN_KERNEL = 1e-3


def are_powers(gammas: Sequence[float]) -> np.ndarray:
    """Mark gammas whose kernel is computed as the tenth power of the previous kernel.

    Two consecutive gammas are never marked, because the rounding error grows tenfold.
    """
    powers = np.zeros(len(gammas), dtype=bool)
    for s in range(1, len(gammas)):
        is_decade = math.isclose(gammas[s], 10 * gammas[s - 1], rel_tol=1e-12)
        powers[s] = is_decade and not powers[s - 1]
    return powers


@compiled(nogil=True, error_model="numpy", fastmath={"contract"})
def pair_sums(points, norms, gammas, is_power, lowest, measures, pairs, width, start, stop, out):
    """out[s, e] = sum_pq w_ip v_jq exp(-gamma_s |x_p - y_q|^2) for the pairs e = (i, j) of rows.

    A point q of several measures of a row is computed once: the inner sum sum_p w_ip exp(...) comes
    first, then the weighted sum of each measure. The sums are in double precision.

    Parameters
    ----------
    points, norms : tuple of two ndarrays
        Points x and y, and their squared norms.
    gammas : ndarray of shape (n_gammas,)
    is_power : ndarray of shape (n_gammas,), bool
        Gammas that are ten times the previous one, see :func:`are_powers`.
    lowest : float
        Lowest exponent of a kernel.
    measures : tuple of two CSR triples
        Weights w and v: (data, columns, row pointers).
    pairs : (indptr, columns)
        Columns j of each row i, as CSR without data.
    width : int
        Number of points q that are computed at once.
    start, stop : int
        Range of rows i to compute.
    out : ndarray of shape (n_gammas, n_pairs)
    """
    (x, y), (x_norms, y_norms) = points, norms
    (w, x_index, x_ptr), (v, y_index, y_ptr) = measures
    indptr, columns = pairs
    slot = np.full(len(y), -1)  # index of a point among those of a row
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
            squared_distances(X[:n], Y[:m], of_X[:n], of_Y[:m], RECOMPUTE_BELOW, near)
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
    """out[i, j] = max_s |x_i|^2 + |y_j|^2 - 2 cross[s, i, j], over gammas s.

    Parameters
    ----------
    x_norms, y_norms : ndarray of shape (n_gammas, n) and (n_gammas, N)
        Squared norms of mean embeddings.
    cross : ndarray of shape (n_gammas, n, N)
        Mean kernels.
    out : ndarray of shape (n, N)
    """
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
    """out[e] = max_s |x_i|^2 + |y_j|^2 - 2 cross[s, e] for the pairs e = (i, j).

    Parameters
    ----------
    x_norms, y_norms : ndarray of shape (n_gammas, n) and (n_gammas, N)
        Squared norms of mean embeddings.
    cross : ndarray of shape (n_gammas, n_pairs)
        Mean kernels of the pairs.
    rows, columns : ndarray of shape (n_pairs,)
    out : ndarray of shape (n_pairs,)
    """
    for e in range(len(rows)):
        largest = -np.inf
        for s in range(len(cross)):
            norms = x_norms[s, rows[e]] + y_norms[s, columns[e]]
            largest = max(largest, norms - 2 * cross[s, e])
        out[e] = largest


@compiled(nogil=True, error_model="numpy")
def _tenth_power(K):
    """Replace K by K^10, bounded below, in a quarter of the time of an exponential."""
    smallest = K.dtype.type(MIN_KERNEL)
    for k in range(len(K)):
        x = max(K[k], smallest)
        fourth = x * x * x * x
        K[k] = fourth * fourth * (x * x)


@compiled(nogil=True)
def _mark(measures, index, ptr, slot, used):
    """Number the points of some measures, and return the number of points."""
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
