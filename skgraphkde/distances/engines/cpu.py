"""Exact kernel means on the CPU, tile by tile, with the tiles in parallel threads.

The engine takes points and weights on them, and returns weighted sums over pairs of points, and
their gradients. A matrix product computes the squared distances of a tile, and compiled loops do
the rest while the tile is in the cache. Results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.computing.blocks import working_memory
from skgraphkde.computing.pool import in_threads, ranges_of
from skgraphkde.computing.threads import n_threads, one_blas_thread
from skgraphkde.distances.engines import cpu_loops

# Number of points of a tile; the arrays of two tiles fit into the cache.
TILE = 256
# Bytes that fit into the cache.
CACHE = 2**20
# Largest number of random features of a job.
FREQUENCIES = 64
# Points whose features are computed at once: 2 MiB.
POINTS = 4096


@dataclass(frozen=True, eq=False)
class Support:
    """Points and weights on them, in the form of the compiled loops.

    Parameters
    ----------
    points : ndarray of shape (n_points, d)
        Points relative to a center, which reduces cancellation.
    center : ndarray of shape (d,)
    norms : ndarray of shape (n_points,)
        Squared norms of the points.
    n_measures : int
    runs : tuple of ndarrays
        Weights, sorted by tiles, then by measure:

        - weight of each entry, and index of its point in the tile, shape (nnz,);
        - ends of runs, the entries of one measure in one tile, shape (n_runs + 1,);
        - measure of each run, shape (n_runs,);
        - ends of the runs of each tile, shape (n_tiles + 1,).
    """

    points: np.ndarray
    center: np.ndarray
    norms: np.ndarray
    n_measures: int
    runs: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, points: np.ndarray, W: sp.csr_array, center: np.ndarray | None = None) -> Support:
        """Prepare points and weights.

        Parameters
        ----------
        points : ndarray of shape (n_points, d)
        W : csr_array of shape (n_measures, n_points)
        center : ndarray of shape (d,), default=None
            None is the center of the points.

        Returns
        -------
        Support
        """
        center = center_of(points) if center is None else center
        points = np.ascontiguousarray(points - center)
        measure = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
        tile, position = np.divmod(W.indices.astype(np.intp), TILE)
        order = np.lexsort((measure, tile))
        tile, measure = tile[order], measure[order]
        firsts = np.flatnonzero(np.append(True, (np.diff(tile) != 0) | (np.diff(measure) != 0)))
        tiles = np.searchsorted(tile[firsts], np.arange(-(-len(points) // TILE) + 1))
        weights = W.data[order].astype(points.dtype, copy=False)
        ends = np.append(firsts, W.nnz)
        runs = weights, position[order], ends, measure[firsts], tiles
        return cls(points, center, np.einsum("pk,pk->p", points, points), W.shape[0], runs)

    @property
    def n_tiles(self) -> int:
        """Number of tiles of points."""
        return len(self.runs[-1]) - 1

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
        """Points, their squared norms, and weights."""
        return self.points, self.norms, self.runs

    def tile(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Points of a tile, and their squared norms."""
        points = slice(t * TILE, (t + 1) * TILE)
        return self.points[points], self.norms[points]


def kernel_means(
    x: np.ndarray,
    W: sp.csr_array,
    y: np.ndarray | None,
    V: sp.csr_array | None,
    gammas: Sequence[float],
    memo: dict[str, Any] | None = None,
) -> np.ndarray:
    """W K V' with K_pq = exp(-gamma |x_p - y_q|^2), for each gamma.

    Parameters
    ----------
    x, y : ndarray of shape (n_points, d)
        None for `y` means `x`, at half the cost.
    W, V : csr_array of shape (n_measures, n_points)
        Weights of measures on `x` and `y`.
    gammas : sequence of float
    memo : dict, default=None
        Cache of `y` and `V` for the next call.

    Returns
    -------
    ndarray of shape (n_gammas, W.shape[0], V.shape[0])
    """
    return means_of(*supports(x, W, y, V, memo), gammas)


def supports(
    x: np.ndarray,
    W: sp.csr_array,
    y: np.ndarray | None,
    V: sp.csr_array | None,
    memo: dict[str, Any] | None = None,
) -> tuple[Support, Support]:
    """Prepare the points and weights of :func:`kernel_means`, around one center.

    Parameters
    ----------
    x, W, y, V, memo
        As for :func:`kernel_means`.

    Returns
    -------
    tuple of two Support
        The same object twice if `y` is None.
    """
    if y is None or V is None:
        support = Support.of(x, W)
        return support, support
    memo = {} if memo is None else memo
    if "support" not in memo:
        memo["support"] = Support.of(y, V)
    columns = memo["support"]
    return Support.of(x, W, columns.center), columns


@one_blas_thread()  # once, and not for each group of tiles
def means_of(rows: Support, columns: Support, gammas: Sequence[float]) -> np.ndarray:
    """Weighted means of the kernels.

    If the supports are the same, only one of two mirror images is computed: the result is H + H',
    with H the tiles above the diagonal and half of those on it.

    Parameters
    ----------
    rows, columns : Support
    gammas : sequence of float

    Returns
    -------
    ndarray of shape (n_gammas, rows.n_measures, columns.n_measures)
    """
    if rows.n_tiles == 1 < columns.n_tiles:  # sum over few points first
        return means_of(columns, rows, gammas).swapaxes(1, 2)
    scales, m = np.array(gammas, rows.points.dtype), columns.n_measures
    out = np.zeros((len(scales), rows.n_measures, m), scales.dtype)

    def column_sums(tile: int) -> np.ndarray:
        x, norms = rows.tile(tile)
        sums = np.zeros((len(scales), m, len(x)), x.dtype)
        own = tile if rows is columns else -1
        cpu_loops.column_sums(x, norms, *columns.arrays, TILE, own, scales, sums)
        return sums

    def add_rows(parts: list[tuple[int, np.ndarray]], measures: tuple[int, int]) -> None:
        for tile, sums in parts:
            cpu_loops.add_row_sums(sums, rows.runs, tile, *measures, out)

    work = _work(rows, columns, gammas)
    for tiles in _groups(rows.n_tiles, scales.nbytes * m * TILE):
        parts = list(zip(tiles, in_threads(column_sums, tiles, work), strict=True))
        in_threads(partial(add_rows, parts), ranges_of(m, len(tiles)), work)
    if rows is columns:
        for of_gamma in out:
            of_gamma += of_gamma.T.copy()  # in place, to save memory
    return out


@one_blas_thread()
def gradients_of(
    rows: Support, columns: Support, gammas: Sequence[float], grad: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of sum(grad * means_of(rows, columns, gammas)) in the points.

    The kernels are computed again, because fetching their squared distances from memory would take
    as long as their matrix product.

    Parameters
    ----------
    rows, columns : Support
        If they are the same, the sum of the two results is the gradient.
    gammas : sequence of float
    grad : ndarray of shape (n_gammas, rows.n_measures, columns.n_measures)

    Returns
    -------
    of_rows, of_columns : ndarray of shape (n_points, d)
    """
    symmetric, scales = rows is columns, np.array(gammas, rows.points.dtype)
    G = np.ascontiguousarray(grad + grad.swapaxes(1, 2) if symmetric else grad)
    of_rows, of_columns = np.empty_like(rows.points), np.zeros_like(columns.points)

    def of_tile(tile: int) -> np.ndarray:
        (x, norms), own = rows.tile(tile), tile if symmetric else -1
        of_x, of_y = of_rows[tile * TILE : (tile + 1) * TILE], np.zeros_like(columns.points)
        arrays = *columns.arrays, TILE, own, scales, G
        cpu_loops.row_gradients(x, norms, rows.runs, tile, *arrays, of_x, of_y)
        return of_y

    for tiles in _groups(rows.n_tiles, of_columns.nbytes):
        for part in in_threads(of_tile, tiles, _work(rows, columns, gammas)):
            of_columns += part  # in order, so that the result does not depend on the threads
    return of_rows, of_columns


def _groups(n_tiles: int, n_bytes: int) -> list[range]:
    """Split tiles, with results of `n_bytes` each, into groups that are at work together.

    A group has a tile for each thread, or more if the results fit into the cache, but not more than
    fit into a quarter of working_memory.
    """
    wanted = max(n_threads(), CACHE // n_bytes)
    size = max(1, min(wanted, working_memory() // (4 * n_bytes)))
    return [range(i, min(i + size, n_tiles)) for i in range(0, n_tiles, size)]


def _work(rows: Support, columns: Support, gammas: Sequence[float]) -> float:
    return float(len(gammas)) * len(rows.points) * len(columns.points)


def self_means(x: np.ndarray, W: sp.csr_array, gammas: Sequence[float]) -> np.ndarray:
    """Mean kernels within measures: the diagonal of ``kernel_means(x, W, None, None, gammas)``.

    Parameters
    ----------
    x : ndarray of shape (n_points, d)
    W : csr_array of shape (n_measures, n_points)
    gammas : sequence of float

    Returns
    -------
    ndarray of shape (n_gammas, n_measures)
    """
    points, weights, scales = np.ascontiguousarray(x), _csr(W, x.dtype), np.array(gammas, x.dtype)
    out = np.empty((len(scales), W.shape[0]), x.dtype)
    in_threads(
        lambda part: cpu_loops.own_sums(points, scales, weights, *part, out), *_own_pairs(W, gammas)
    )
    return out


def self_gradient(
    x: np.ndarray, W: sp.csr_array, gammas: Sequence[float], grad: np.ndarray
) -> np.ndarray:
    """Gradient of sum(grad * self_means) in the points.

    Parameters
    ----------
    x, W, gammas
        As for :func:`self_means`.
    grad : ndarray of shape (n_gammas, n_measures)

    Returns
    -------
    ndarray of shape (n_points, d)
    """
    points, weights, scales = np.ascontiguousarray(x), _csr(W, x.dtype), np.array(gammas, x.dtype)
    of_entries, G = np.zeros((W.nnz, x.shape[1]), x.dtype), np.ascontiguousarray(grad)
    in_threads(
        lambda part: cpu_loops.own_gradients(points, scales, weights, G, *part, of_entries),
        *_own_pairs(W, gammas),
    )
    grad_x = np.zeros_like(points)
    np.add.at(grad_x, W.indices, of_entries)
    return grad_x


def _csr(W: sp.csr_array, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    return W.data.astype(dtype, copy=False), W.indices.astype(np.intp), W.indptr.astype(np.intp)


def _own_pairs(W: sp.csr_array, gammas: Sequence[float]) -> tuple[list[tuple[int, int]], float]:
    """Ranges of measures with about equal numbers of pairs, and the number of kernel values."""
    n_pairs = np.cumsum(np.diff(W.indptr).astype(np.int64) ** 2)
    n_parts = 8 * n_threads()
    cuts = np.searchsorted(n_pairs, n_pairs[-1] * np.arange(1, n_parts) / n_parts)
    edges = np.unique([0, *cuts, len(n_pairs)]).tolist()
    return list(pairwise(edges)), float(len(gammas) * n_pairs[-1])


def feature_means(
    x: np.ndarray, W: sp.csr_array, gammas: Sequence[float], frequencies: np.ndarray
) -> np.ndarray:
    """W F with F the random features: cosines, then sines, of sqrt(2 gamma) frequencies' x.

    Parameters
    ----------
    x : ndarray of shape (n_points, d)
    W : csr_array of shape (n_measures, n_points)
    gammas : sequence of float
    frequencies : ndarray of shape (d, n_frequencies)

    Returns
    -------
    ndarray of shape (n_gammas, n_measures, 2 * n_frequencies)
        Means divided by sqrt(n_frequencies).
    """
    n = frequencies.shape[1]
    parts = _parts_of_points((W / math.sqrt(n)).astype(x.dtype))
    out = np.zeros((len(gammas), W.shape[0], 2, n), x.dtype)

    def add(some: slice) -> None:
        directions = frequencies[:, some].astype(x.dtype)
        for points, rows, weights in parts:
            projections = x[points] @ directions
            for of_gamma, gamma in zip(out, gammas, strict=True):
                cosines, sines = _cosines_sines(math.sqrt(2 * gamma) * projections)
                of_gamma[rows, 0, some] += weights @ cosines
                of_gamma[rows, 1, some] += weights @ sines

    in_threads(add, _parts_of(n), float(len(gammas) * len(x) * n))
    return out.reshape(*out.shape[:2], -1)


def _parts_of_points(W: sp.csr_array) -> list[tuple[slice, np.ndarray, sp.csr_array]]:
    """Points whose features fit into a cache, the measures that have them, and their weights."""
    by_point, parts = W.tocsc(), []
    for first in range(0, W.shape[1], POINTS):
        points = slice(first, first + POINTS)
        weights = by_point[:, points].tocsr()
        rows = np.flatnonzero(np.diff(weights.indptr))
        parts.append((points, rows, weights[rows]))
    return parts


def feature_gradient(
    x: np.ndarray,
    W: sp.csr_array,
    gammas: Sequence[float],
    frequencies: np.ndarray,
    grad: np.ndarray,
) -> np.ndarray:
    """Gradient of sum(grad * feature_means) in the points.

    Parameters
    ----------
    x, W, gammas, frequencies
        As for :func:`feature_means`.
    grad : ndarray of shape (n_gammas, n_measures, 2 * n_frequencies)

    Returns
    -------
    ndarray of shape (n_points, d)
    """
    n = frequencies.shape[1]
    by_point = (W.T / math.sqrt(n)).astype(x.dtype).tocsr()
    of_features = grad.reshape(*grad.shape[:2], 2, n)

    def gradient_of(some: slice) -> np.ndarray:
        directions = frequencies[:, some].astype(x.dtype)
        projections, slopes = x @ directions, 0.0
        for of_gamma, gamma in zip(of_features, gammas, strict=True):
            scale = math.sqrt(2 * gamma)
            cosines, sines = _cosines_sines(scale * projections)
            of_cosines, of_sines = by_point @ of_gamma[:, 0, some], by_point @ of_gamma[:, 1, some]
            slopes = slopes + scale * (of_sines * cosines - of_cosines * sines)
        return slopes @ directions.T

    return sum(in_threads(gradient_of, _parts_of(n), float(len(gammas) * len(x) * n)))


def _parts_of(n_frequencies: int) -> list[slice]:
    return [slice(f, f + FREQUENCIES) for f in range(0, n_frequencies, FREQUENCIES)]


def _cosines_sines(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines; NumPy is fast in single precision only: 15 ns in double, the loop 2 ns."""
    if angles.dtype != np.float64:
        return np.cos(angles), np.sin(angles)
    cosines, sines = np.empty_like(angles), np.empty_like(angles)
    cpu_loops.write_cosines_sines(angles.ravel(), cosines.ravel(), sines.ravel())
    return cosines, sines


def squared_distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared distances between points, by one matrix product around a common center.

    Parameters
    ----------
    x : ndarray of shape (n_x, d)
    y : ndarray of shape (n_y, d)

    Returns
    -------
    ndarray of shape (n_x, n_y)
    """
    center = center_of(y)
    x, y = x - center, y - center
    norms = np.einsum("pk,pk->p", x, x)[:, np.newaxis] + np.einsum("pk,pk->p", y, y)
    return (norms - 2 * x @ y.T).clip(min=0)


def center_of(points: np.ndarray) -> np.ndarray:
    """Point nearest to 0 in the bounding box of the points, shape (d,).

    Subtracting it brings distant points close to 0, and at most doubles the distance of a point
    from 0. Unlike a mean, it does not let one very distant point change the rounding of others. In
    single precision, which only training uses, the center is the mean: the points are standardized
    together, and the course of the training depends on rounding.
    """
    if points.dtype != np.float64:
        return points.mean(axis=0)
    return points.min(axis=0).clip(min=0) + points.max(axis=0).clip(max=0)
