"""Exact kernel means on the CPU, tile by tile, with the tiles in parallel threads.

The engine takes points and weights on them, and returns weighted sums over pairs of points, and
their gradients. A matrix product computes the squared distances of a tile, and compiled loops do
the rest while the tile is in the cache. Tiles and results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.computing.blocks import working_memory
from skgraphkde.computing.threads import n_threads
from skgraphkde.distances.engines import cpu_loops
from skgraphkde.distances.engines.cpu_support import Support, Weights, center_of
from skgraphkde.distances.engines.cpu_threads import ranges_of, threads

# Numbers of points of a row tile and of a column tile, whose arrays fit into the cache.
ROW_TILE, COLUMN_TILE = 384, 192
# Number of points of a row tile if there are few columns, such as the points of one graph.
TALL_TILE = 1536
# Bytes of the sums of row tiles that fit into the cache.
SMALL_SUMS = 2**20
# With fewer columns, the threads share the gammas instead of the columns.
FEW_COLUMNS = 32
# Random features per job.
FREQUENCIES = 64


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
    tiling, is_swapped = tiling_of(x, W, y, V, gammas, memo)
    means = tiling.means()
    return means.swapaxes(1, 2) if is_swapped else means


def tiling_of(
    x: np.ndarray,
    W: sp.csr_array,
    y: np.ndarray | None,
    V: sp.csr_array | None,
    gammas: Sequence[float],
    memo: dict[str, Any] | None = None,
) -> tuple[Tiling, bool]:
    """Plan the tiles of :func:`kernel_means`, which has the same parameters.

    Returns
    -------
    tiling : Tiling
    is_swapped : bool
        Whether its rows are points of `y`, and its columns points of `x`.
    """
    if y is None or V is None:
        support = Support(x, W)
        return Tiling(support, support, gammas), False
    y_support = Support.kept(y, V, {} if memo is None else memo)
    x_support = Support(x, W, y_support)
    if len(x) <= ROW_TILE < len(y):  # many row tiles, because the threads share them
        return Tiling(y_support, x_support, gammas), True
    return Tiling(x_support, y_support, gammas), False


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
    weights, scales = Weights(W, x.dtype), np.array(gammas, x.dtype)
    out = np.empty((len(scales), W.shape[0]), x.dtype)
    points, low = np.ascontiguousarray(x), lowest_exponent(x.dtype)
    with threads(len(scales) * weights.pairs.sum()) as run:
        run(
            lambda part: cpu_loops.own_sums(points, scales, low, weights.by_row, *part, out),
            weights.parts(),
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
    weights, scales = Weights(W, x.dtype), np.array(gammas, x.dtype)
    points, G = np.ascontiguousarray(x), np.ascontiguousarray(grad)
    low, (data, indices, _) = lowest_exponent(x.dtype), weights.by_row
    of_entries = np.zeros((len(data), x.shape[1]), x.dtype)
    with threads(len(scales) * weights.pairs.sum()) as run:
        run(
            lambda part: cpu_loops.own_gradients(
                points, scales, low, weights.by_row, G, *part, of_entries
            ),
            weights.parts(),
        )
    grad_x = np.zeros_like(points)
    np.add.at(grad_x, indices, of_entries)
    return grad_x


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
    return Features(W, gammas, frequencies.astype(x.dtype, copy=False)).means(x)


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


def lowest_exponent(dtype: np.dtype) -> Any:
    """Lower bound of the exponents of kernels, in the precision `dtype`.

    exp is slow where it underflows, and so is arithmetic with denormal results; most pairs of nodes
    are in this range. The bound is the logarithm of the square root of the smallest number, 1e-19
    in single precision, which changes no mean and does not underflow in products with weights.
    """
    return dtype.type(math.log(float(np.finfo(dtype).tiny)) / 2)


# -- tiles -----------------------------------------------------------------------------------------


class Tiling:
    """Pairs of tiles of x and y, and the sums over them.

    K is computed again for the gradient, because fetching its squared distances from memory would
    take as long as their matrix product. If x and y are the same, only one of two mirror images is
    computed: the result is H + H', with H the tiles above the diagonal and half of those on it.

    Parameters
    ----------
    x, y : Support
        Supports with the same center; the same object if the result is symmetric.
    gammas : sequence of float
    """

    def __init__(self, x: Support, y: Support, gammas: Sequence[float]) -> None:
        self.x, self.y, self.symmetric = x, y, x is y
        self.gammas = np.array(gammas, x.points.dtype)
        self.lowest = lowest_exponent(x.points.dtype)
        self.shape = (len(gammas), x.weights.matrix.shape[0], y.weights.matrix.shape[0])
        # The sums of all row tiles in work may take a quarter of working_memory.
        bytes_per_point = len(gammas) * self.shape[2] * self.gammas.itemsize
        fits = max(1, working_memory() // 4 // bytes_per_point)
        height = TALL_TILE if len(y.points) <= COLUMN_TILE * ROW_TILE // TALL_TILE else ROW_TILE
        self.height, self.width = min(height, fits), COLUMN_TILE
        if self.symmetric:  # a row tile consists of whole column tiles
            self.width = min(self.height, self.width)
            self.height -= self.height % self.width
        tiles = range(-(-len(x.points) // self.height))
        at_no_cost = SMALL_SUMS // (bytes_per_point * self.height)
        n_at_once = max(1, min(n_threads(), fits // self.height), min(len(tiles), at_no_cost))
        self.groups = [tiles[i : i + n_at_once] for i in range(0, len(tiles), n_at_once)]
        self.row_runs = x.weights.in_tiles(self.height)

    def means(self) -> np.ndarray:
        """Weighted means of the kernels, shape (n_gammas, n_measures_x, n_measures_y)."""
        out, x = np.zeros(self.shape, self.gammas.dtype), self.x.points
        runs, (n_gammas, _, m) = self.y.weights.in_tiles(self.width), self.shape
        # The threads share the columns, or the gammas if there are few columns.
        n_parts = len(self.groups[0]) if m >= FEW_COLUMNS else 1
        step = n_gammas if m >= FEW_COLUMNS else 1
        gammas = [slice(s, s + step) for s in range(0, n_gammas, step)]
        parts = list(product(gammas, ranges_of(m, n_parts)))

        def sum_columns(job: tuple[int, np.ndarray]) -> None:
            tile, sums = job
            operands, met = self._operands(tile)
            cpu_loops.column_sums(*operands, runs, *met, sums)

        def add_rows(jobs: list[tuple[int, np.ndarray]], part: tuple[slice, tuple]) -> None:
            some, columns = part
            for tile, sums in jobs:
                cpu_loops.add_row_sums(sums[some], self.row_runs, tile, *columns, out[some])

        with threads(self._work) as run:
            for group in self.groups:
                jobs = [(t, np.empty((n_gammas, m, len(x[self._row(t)])), x.dtype)) for t in group]
                run(sum_columns, jobs)
                run(partial(add_rows, jobs), parts)
        if self.symmetric:
            for means in out:
                means += means.T.copy()  # in place, to save memory
        return out

    def gradients(self, grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradients of sum(grad * means) in the points of x and y."""
        grad = np.ascontiguousarray(grad + grad.swapaxes(1, 2) if self.symmetric else grad)
        by_point = self.y.weights.by_point
        grad_x, grad_y = np.empty_like(self.x.points), np.zeros_like(self.y.points)
        parts = np.empty((len(self.groups[0]), *grad_y.shape), grad_y.dtype)

        def add_row(job: tuple[int, np.ndarray]) -> None:
            tile, grad_y_part = job
            operands, met = self._operands(tile)
            runs, grad_x_part = (self.row_runs, tile, by_point, grad), grad_x[self._row(tile)]
            cpu_loops.row_gradients(*operands, *runs, *met, grad_x_part, grad_y_part)

        with threads(self._work) as run:
            for group in self.groups:
                run(add_row, zip(group, parts, strict=False))
                # Summed in order, so that the result does not depend on the threads.
                for tile, grad_y_part in zip(group, parts, strict=False):
                    start = self._met(tile)[0] * self.width
                    grad_y[start:] += grad_y_part[start:]
        return grad_x, grad_y

    @property
    def _work(self) -> float:
        return float(len(self.gammas)) * len(self.x.points) * len(self.y.points)

    def _row(self, tile: int) -> slice:
        return slice(tile * self.height, (tile + 1) * self.height)

    def _met(self, tile: int) -> tuple[int, int, int]:
        """First column tile for a row tile, first column tile with weight 1, and tile width."""
        per_row = self.height // self.width
        first, whole = (per_row * tile, per_row * (tile + 1)) if self.symmetric else (0, 0)
        return first, whole, self.width

    def _operands(self, tile: int) -> tuple[tuple, tuple[int, int, int]]:
        """Arguments of the compiled loops for a row tile, and its column tiles."""
        row = self._row(tile)
        points, norms = (self.x.points[row], self.y.points), (self.x.norms[row], self.y.norms)
        return (points, norms, self.gammas, self.lowest), self._met(tile)


class Features:
    """Means of random features, in jobs of several frequencies each."""

    def __init__(self, W: sp.csr_array, gammas: Sequence[float], frequencies: np.ndarray) -> None:
        self.frequencies, self.n_measures = frequencies, W.shape[0]
        self.scales = np.sqrt(2 * np.array(gammas)).astype(frequencies.dtype)
        self.norm = frequencies.dtype.type(1 / math.sqrt(frequencies.shape[1]))
        self.by_point = Weights(W, frequencies.dtype).by_point

    @property
    def _jobs(self) -> list[slice]:
        n = self.frequencies.shape[1]
        return [slice(f, min(f + FREQUENCIES, n)) for f in range(0, n, FREQUENCIES)]

    def _work(self, x: np.ndarray) -> float:
        return len(self.scales) * len(x) * self.frequencies.shape[1]

    def means(self, x: np.ndarray) -> np.ndarray:
        """Cosines of all frequencies, then sines, shape (n_gammas, n_measures, 2 n)."""
        n = self.frequencies.shape[1]
        out = np.empty((len(self.scales), self.n_measures, 2, n), x.dtype)

        def add_frequencies(job: slice) -> None:
            some = np.ascontiguousarray(self.frequencies[:, job])
            sums = np.zeros((*out.shape[:2], 2 * some.shape[1]), x.dtype)
            by_point = (self.norm * self.by_point[0], *self.by_point[1:])
            for first in range(0, len(x), COLUMN_TILE):
                projection = x[first : first + COLUMN_TILE] @ some
                cpu_loops.add_feature_sums(projection, self.scales, by_point, first, sums)
            out[..., job] = sums.reshape(*out.shape[:3], -1)

        with threads(self._work(x)) as run:
            run(add_frequencies, self._jobs)
        return out.reshape(*out.shape[:2], 2 * n)

    def gradient(self, x: np.ndarray, grad: np.ndarray) -> np.ndarray:
        """Compute the gradient of sum(grad * means) in the points.

        Parameters
        ----------
        x : ndarray of shape (n_points, d)
        grad : ndarray of shape (n_gammas, n_measures, 2 * n_frequencies)

        Returns
        -------
        ndarray of shape (n_points, d)
        """
        grad_features = grad.reshape(*grad.shape[:2], 2, -1)

        def gradient_of(job: slice) -> np.ndarray:
            some = np.ascontiguousarray(self.frequencies[:, job])
            G = np.ascontiguousarray(self.norm * grad_features[..., job])
            G = G.reshape(*grad.shape[:2], -1)
            grad_x = np.empty_like(x)
            for first in range(0, len(x), COLUMN_TILE):
                tile = slice(first, first + COLUMN_TILE)
                projection = x[tile] @ some
                grad_projection = np.empty_like(projection)
                cpu_loops.feature_gradients(
                    projection, self.scales, self.by_point, first, G, grad_projection
                )
                grad_x[tile] = grad_projection @ some.T
            return grad_x

        with threads(self._work(x)) as run:
            return sum(run(gradient_of, self._jobs))
