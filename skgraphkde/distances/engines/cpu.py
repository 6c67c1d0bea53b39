"""Exact kernel means on the CPU, tile by tile, with the tiles in parallel threads.

The engine takes points and weights on them, and returns weighted sums over pairs of points, with
gradients. A matrix product computes the squared distances of a tile, and compiled loops do the rest
while the tile is in the cache. Tiles and results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch.autograd.function import once_differentiable

from skgraphkde.computing.blocks import working_memory
from skgraphkde.computing.threads import n_threads
from skgraphkde.distances.engines import cpu_loops, cpu_pairs
from skgraphkde.distances.engines.cpu_support import (
    Support,
    Weights,
    numpy_dtype,
)
from skgraphkde.distances.engines.cpu_threads import ranges_of, threads
from skgraphkde.distances.engines.torch_tiles import lowest_exponent

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
# Number of points in a tile of distances to one graph, for selected pairs of graphs.
PAIR_TILE = 128
# Number of jobs for selected pairs of graphs.
PAIR_JOBS = 32


def kernel_means(
    x: torch.Tensor,
    W: sp.csr_array,
    y: torch.Tensor | None,
    V: sp.csr_array | None,
    gammas: Sequence[float],
    memo: dict[str, Any] | None = None,
) -> torch.Tensor:
    """W K V' with K_pq = exp(-gamma |x_p - y_q|^2), for each gamma.

    Parameters
    ----------
    x, y : Tensor of shape (n_points, d)
        None for `y` means `x`, at half the cost.
    W, V : csr_array of shape (n_measures, n_points)
        Weights of measures on `x` and `y`.
    gammas : sequence of float
    memo : dict, default=None
        Cache of `y` and `V` for the next call.

    Returns
    -------
    Tensor of shape (n_gammas, W.shape[0], V.shape[0])
        Differentiable in the points.
    """
    if y is None or V is None:
        support = Support(x, W)
        return _KernelMeans.apply(x, x, _Tiling(support, support, gammas))
    memo = {} if memo is None or y.requires_grad else memo
    y_support = Support.kept(y, V, memo)
    x_support = Support(x, W, y_support)
    if len(x) <= ROW_TILE < len(y):  # many row tiles, because the threads share them
        return _KernelMeans.apply(y, x, _Tiling(y_support, x_support, gammas)).mT
    return _KernelMeans.apply(x, y, _Tiling(x_support, y_support, gammas))


def pair_means(
    x: torch.Tensor,
    W: sp.csr_array,
    y: torch.Tensor,
    V: sp.csr_array,
    gammas: Sequence[float],
    pairs: tuple[np.ndarray, np.ndarray],
    memos: tuple[dict[str, Any], dict[str, Any]],
    tolerance: float,
) -> torch.Tensor:
    """Selected entries of :func:`kernel_means`, without gradients.

    Parameters
    ----------
    x, W, y, V, gammas
        As for :func:`kernel_means`.
    pairs : (indptr, columns) of ndarrays of int
        The columns of row i are ``columns[indptr[i] : indptr[i + 1]]``.
    memos : tuple of two dict
        Caches of x and W, and of y and V.
    tolerance : float
        Largest allowed error of squared distances. Single precision is used for pairs whose error
        it keeps below.

    Returns
    -------
    Tensor of shape (n_gammas, len(columns))
        Means in double precision.
    """
    y_support, (indptr, columns) = Support.kept(y, V, memos[1]), pairs
    x_support = y_support
    if x is not y or W is not V:
        x_support = Support.kept(x, W, memos[0], origin_of=y_support)
    y_errors = y_support.float32_errors(gammas) * y_support.weight_norms
    errors = y_errors[columns] * np.repeat(x_support.weight_norms, np.diff(indptr))
    needs_double = errors > tolerance
    if needs_double.all() or not needs_double.any():
        single = not needs_double.any()
        return torch.from_numpy(_pair_sums(x_support, y_support, gammas, pairs, single=single))
    out = np.empty((len(gammas), len(columns)))
    for some, single in ((needs_double, False), (~needs_double, True)):
        kept = np.append(0, np.cumsum(some))[indptr], columns[some]
        out[:, some] = _pair_sums(x_support, y_support, gammas, kept, single=single)
    return torch.from_numpy(out)


def _pair_sums(
    of_x: Support,
    of_y: Support,
    gammas: Sequence[float],
    pairs: tuple[np.ndarray, np.ndarray],
    *,
    single: bool,
) -> np.ndarray:
    """Mean kernels of pairs of measures, in single or in double precision."""
    indptr, columns = pairs
    sides = [side.float32 if single else side.float64 for side in (of_x, of_y)]
    points, norms, measures = zip(*sides, strict=True)
    scales = np.array(gammas, points[0].dtype)
    low = scales.dtype.type(lowest_exponent(scales.dtype))
    out = np.empty((len(scales), len(columns)))
    operands = points, norms, scales, cpu_pairs.are_powers(gammas), low, measures, pairs, PAIR_TILE
    edges = np.searchsorted(indptr, np.linspace(0, len(columns), PAIR_JOBS + 1)[1:-1])
    jobs = pairwise(np.unique([0, *edges, len(indptr) - 1]).tolist())
    n_points = of_x.weights.n_points.mean() * of_y.weights.n_points[columns].sum()
    with threads(float(len(scales) * n_points)) as run:
        run(lambda rows: cpu_pairs.pair_sums(*operands, *rows, out), jobs)
    return out


def self_means(x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float]) -> torch.Tensor:
    """Mean kernels within measures: the diagonal of ``kernel_means(x, W, None, None, gammas)``.

    Parameters
    ----------
    x : Tensor of shape (n_points, d)
    W : csr_array of shape (n_measures, n_points)
    gammas : sequence of float

    Returns
    -------
    Tensor of shape (n_gammas, n_measures)
        Differentiable in the points.
    """
    return _SelfMeans.apply(x, Weights(W, x.dtype), np.array(gammas, numpy_dtype(x.dtype)))


def feature_means(
    x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float], frequencies: torch.Tensor
) -> torch.Tensor:
    """W F with F the random features: cosines, then sines, of sqrt(2 gamma) frequencies' x.

    Parameters
    ----------
    x : Tensor of shape (n_points, d)
    W : csr_array of shape (n_measures, n_points)
    gammas : sequence of float
    frequencies : Tensor of shape (d, n_frequencies)

    Returns
    -------
    Tensor of shape (n_gammas, n_measures, 2 * n_frequencies)
        Means divided by sqrt(n_frequencies); differentiable in the points.
    """
    return _FeatureMeans.apply(x, _Features(W, gammas, frequencies.to(x).numpy(), x.dtype))


class _FeatureMeans(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, features: _Features) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.features = features
        return torch.from_numpy(features.means(x.detach().numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x,) = ctx.saved_tensors
        return torch.from_numpy(ctx.features.gradient(x.numpy(), grad.numpy())), None


class _KernelMeans(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, tiling: _Tiling) -> torch.Tensor:
        ctx.tiling = tiling
        return torch.from_numpy(tiling.means())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        grad_x, grad_y = ctx.tiling.gradients(grad.numpy())
        return torch.from_numpy(grad_x), torch.from_numpy(grad_y), None


class _SelfMeans(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weights: Weights, gammas: np.ndarray) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.weights, ctx.gammas = weights, gammas
        out = np.empty((len(gammas), weights.matrix.shape[0]), gammas.dtype)
        points = np.ascontiguousarray(x.detach().numpy())
        low = points.dtype.type(lowest_exponent(points.dtype))
        with threads(len(gammas) * weights.pairs.sum()) as run:
            run(
                lambda part: cpu_loops.own_sums(points, gammas, low, weights.by_row, *part, out),
                weights.parts(),
            )
        return torch.from_numpy(out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x,), weights, gammas = ctx.saved_tensors, ctx.weights, ctx.gammas
        points, G = np.ascontiguousarray(x.numpy()), np.ascontiguousarray(grad.numpy())
        index = torch.from_numpy(weights.by_row[1])
        out = np.zeros((len(index), points.shape[1]), points.dtype)
        low = points.dtype.type(lowest_exponent(points.dtype))
        with threads(len(gammas) * weights.pairs.sum()) as run:
            run(
                lambda part: cpu_loops.own_gradients(
                    points, gammas, low, weights.by_row, G, *part, out
                ),
                weights.parts(),
            )
        return torch.zeros_like(x).index_add_(0, index, torch.from_numpy(out)), None, None


# -- tiles -----------------------------------------------------------------------------------------


class _Tiling:
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
        self.lowest = x.points.dtype.type(lowest_exponent(x.points.dtype))
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


class _Features:
    """Means of random features, in jobs of several frequencies each."""

    def __init__(
        self, W: sp.csr_array, gammas: Sequence[float], frequencies: np.ndarray, dtype: torch.dtype
    ) -> None:
        self.frequencies, self.n_measures = frequencies, W.shape[0]
        self.scales = np.sqrt(2 * np.array(gammas)).astype(frequencies.dtype)
        self.norm = frequencies.dtype.type(1 / math.sqrt(frequencies.shape[1]))
        self.by_point = Weights(W, dtype).by_point

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
