"""Kernels: measures -> means of Gaussian kernels, or of random features, between them.

NumPy computes matrix products, exponentials and tangents of blocks that fit into a cache, in the
precision of the points; compiled loops do the rest while a block is there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from skgraphkde._utils import compiled, memory_limit, one_blas_thread
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.graphs.arrays import frozen

# Number of kernel values, or of random features, in a block, and its largest number of rows.
BLOCK = 2**16
TILE = 2**8
# Squared distances below this share of the squared norms are computed from the differences.
RECOMPUTE_BELOW = 1e-3
# Largest number of orthogonal directions in a block: a block of d directions takes d^3 operations.
MOST_DIRECTIONS = 1024
# Sines and cosines of larger angles have no significant digits.
LARGEST_ANGLE = 1e15


def kernel_means(
    P: DiscreteMeasures, Q: DiscreteMeasures | None, gammas: Sequence[float]
) -> np.ndarray:
    """Weighted means of the kernels exp(-gamma |x - y|^2) over the points of two measures.

    Parameters
    ----------
    P, Q : DiscreteMeasures
        None for `Q` means `P`, at half the cost: the result is H + H', where H has the blocks above
        the diagonal, and half of those on it.
    gammas : sequence of float

    Returns
    -------
    ndarray of shape (n_gammas, len(P), len(Q))
    """
    columns = P if Q is None else Q
    center, y, y_norms = columns.centered
    x = P.points - center
    x_norms = np.einsum("pk,pk->p", x, x)
    W = _arrays(P.by_point, x.dtype)
    V = _arrays(columns.by_point, x.dtype)
    out = np.zeros((len(gammas), len(P), len(columns)), x.dtype)
    height = min(TILE, len(x), max(1, int(memory_limit() // out[:, 0].nbytes)))
    width = BLOCK // height
    # Kernels below this change no mean, and are slow: their products with weights are denormal.
    lowest = math.log(np.finfo(x.dtype).tiny) / 2
    with one_blas_thread():
        for start in range(0, len(x), height):
            rows = slice(start, min(start + height, len(x)))
            sums = np.zeros((len(gammas), len(columns), rows.stop - start), x.dtype)
            for left in range(start if Q is None else 0, len(y), width):
                others = slice(left, left + width)
                D = y[others] @ x[rows].T
                finish_distances(D, y[others], x[rows], y_norms[others], x_norms[rows])
                for of_gamma, gamma in zip(sums, gammas, strict=True):
                    K = -gamma * D
                    np.exp(np.maximum(K, lowest, out=K), out=K)
                    if Q is None and left == start:
                        K[: K.shape[1]] *= 0.5
                    add_products(*V, left, K, of_gamma)
            for of_gamma, of_rows in zip(out, sums, strict=True):
                add_products(*W, start, of_rows.T.copy(), of_gamma)
    return out if Q is not None else out + out.swapaxes(1, 2)


def self_means(P: DiscreteMeasures, gammas: Sequence[float]) -> np.ndarray:
    """Mean kernels within measures: the diagonal of ``kernel_means(P, None, gammas)``.

    Parameters
    ----------
    P : DiscreteMeasures
    gammas : sequence of float

    Returns
    -------
    ndarray of shape (n_gammas, len(P))
    """
    points = np.ascontiguousarray(P.points)
    out = np.zeros((len(gammas), len(P)), points.dtype)
    add_own_means(*_arrays(P.weights, points.dtype), points, np.array(gammas, points.dtype), out)
    return out


def _arrays(weights: Any, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return frozen(weights.indptr), frozen(weights.indices), frozen(weights.data, dtype)


# -- compiled loops, which do not check indices ----------------------------------------------------

# Sums over coordinates vectorize only if they may be reordered.
_reordering = partial(compiled, fastmath=True)
_contracting = partial(compiled, fastmath={"contract"})


@_reordering
def _squared_distance(x, y):
    """|x - y|^2."""
    total = x.dtype.type(0)
    for k in range(len(x)):
        total += (x[k] - y[k]) ** 2
    return total


@_contracting
def finish_distances(D, y, x, y_norms, x_norms):
    """Replace the products D[q, p] = y_q'x_p by |y_q - x_p|^2.

    |y|^2 + |x|^2 - 2 y'x cancels for close points, on which narrow kernels depend: their distances
    are computed from the differences.

    Parameters
    ----------
    D : ndarray of shape (n_y, n_x)
    y, x : ndarray of shape (n_y, d) and (n_x, d)
    y_norms, x_norms : ndarray of shape (n_y,) and (n_x,)
        Squared norms of the points.
    """
    two = D.dtype.type(2)
    close = D.dtype.type(RECOMPUTE_BELOW)
    for q in range(D.shape[0]):
        n_close = 0
        for p in range(D.shape[1]):
            norms = y_norms[q] + x_norms[p]
            D[q, p] = norms - two * D[q, p]
            n_close += D[q, p] <= close * norms
        if n_close:
            for p in range(D.shape[1]):
                if D[q, p] <= close * (y_norms[q] + x_norms[p]):
                    D[q, p] = _squared_distance(y[q], x[p])


@_contracting
def add_products(indptr, indices, weights, first, values, out):
    """Add W V to `out`, where V has the rows of the points `first` to ``first + len(V) - 1``.

    Parameters
    ----------
    indptr, indices, weights : ndarray
        W by its columns (CSC), shape (n_measures, n_points).
    first : int
    values : ndarray of shape (n, n_columns)
    out : ndarray of shape (n_measures, n_columns)
    """
    for row in range(len(values)):
        for k in range(indptr[first + row], indptr[first + row + 1]):
            i = indices[k]
            for column in range(values.shape[1]):
                out[i, column] += weights[k] * values[row, column]


@_contracting
def add_own_means(indptr, indices, weights, points, gammas, out):
    """Add sum_ab w_ia w_ib exp(-gamma_s |x_a - x_b|^2) to out[s, i].

    Parameters
    ----------
    indptr, indices, weights : ndarray
        Weights of the measures as CSR.
    points : ndarray of shape (n_points, d)
    gammas : ndarray of shape (n_gammas,)
    out : ndarray of shape (n_gammas, n_measures)
    """
    for i in range(len(indptr) - 1):
        for a in range(indptr[i], indptr[i + 1]):
            out[:, i] += weights[a] * weights[a]
            for b in range(a + 1, indptr[i + 1]):
                squared = _squared_distance(points[indices[a]], points[indices[b]])
                weight = 2 * weights[a] * weights[b]
                for s in range(len(gammas)):
                    out[s, i] += weight * math.exp(-gammas[s] * squared)


# -- random features -------------------------------------------------------------------------------


def draw_frequencies(d: int, n_components: int, seed: int = 0) -> np.ndarray:
    """Draw orthogonal random frequencies for a Gaussian kernel (Yu et al., NeurIPS 2016).

    The frequencies are blocks of up to d orthogonal directions, each with the length of a standard
    normal vector. The estimate of the kernel is unbiased, as with independent directions, and has
    a lower variance.

    Parameters
    ----------
    d : int
        Dimension of the points.
    n_components : int
        Number of features: one cosine and one sine per frequency.
    seed : int, default=0
        The default is part of the method: the frequencies are the same in every fit.

    Returns
    -------
    ndarray of shape (d, n_components // 2)
    """
    rng = np.random.RandomState(seed)
    n_frequencies = n_components // 2
    n_directions = d if d <= MOST_DIRECTIONS else min(n_frequencies, MOST_DIRECTIONS)
    blocks = []
    for _ in range(math.ceil(n_frequencies / n_directions)):
        directions, _ = np.linalg.qr(rng.standard_normal((d, n_directions)))
        lengths = np.linalg.norm(rng.standard_normal((d, n_directions)), axis=0)
        blocks.append(directions * lengths)
    return np.hstack(blocks)[:, :n_frequencies].copy()


def feature_means(
    P: DiscreteMeasures, gammas: Sequence[float], frequencies: np.ndarray
) -> np.ndarray:
    """Weighted means of random features: cosines, then sines, of sqrt(2 gamma) frequencies' x.

    Parameters
    ----------
    P : DiscreteMeasures
    gammas : sequence of float
    frequencies : ndarray of shape (d, n_frequencies)

    Returns
    -------
    ndarray of shape (n_gammas, len(P), 2 * n_frequencies)
        Means divided by sqrt(n_frequencies), so that their inner products estimate mean kernels.

    Raises
    ------
    ValueError
        If an angle may be too large for significant digits, or NaN.
    """
    x = P.points
    n_frequencies = frequencies.shape[1]
    longest = math.sqrt(np.einsum("pk,pk->p", x, x).max())
    largest = longest * np.linalg.norm(frequencies, axis=0).max() * math.sqrt(2 * max(gammas))
    if not largest <= LARGEST_ANGLE:
        raise ValueError(
            "a node is too far from the nodes of the training graphs for random features: clip "
            "extreme numbers of nodes and edges, or use views=Density(MMD(method='exact'))"
        )
    W = _arrays(P.by_point / math.sqrt(n_frequencies), x.dtype)
    projections = P.projections(frequencies)
    out = np.zeros((len(gammas), 2, len(P), n_frequencies), x.dtype)
    step = max(1, BLOCK // n_frequencies)
    for start in range(0, len(x), step):
        for (of_cosines, of_sines), gamma in zip(out, gammas, strict=True):
            # NumPy's tangent takes a tenth of the time of its cosine and sine. With the tangent t
            # of half of an angle, its cosine is 2 / (1 + t^2) - 1, its sine 2 t / (1 + t^2).
            sines = np.tan(math.sqrt(gamma / 2) * projections[start : start + step])
            cosines = sines * sines
            cosines += 1
            np.divide(2, cosines, out=cosines)
            sines *= cosines
            cosines -= 1
            add_products(*W, start, cosines, of_cosines)
            add_products(*W, start, sines, of_sines)
    return out.swapaxes(1, 2).reshape(len(gammas), len(P), -1)
