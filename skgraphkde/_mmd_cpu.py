"""Exact mean kernels on the CPU, tile by tile, with the tiles in parallel threads.

In come points and weights on them; out go sums over pairs of points, with gradients. A matrix
product makes the squared distances of a tile, compiled loops do the rest while it is in the cache.
Which tiles there are does not depend on the number of threads, and neither do the results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn import get_config
from threadpoolctl import ThreadpoolController
from torch.autograd.function import once_differentiable

from skgraphkde import _mmd_loops

# Points of a row tile and of a column tile: what the loops keep of a tile fits into the cache.
ROW_TILE, COLUMN_TILE = 512, 256
# Random features of a job.
FREQUENCIES = 64
# Kernel values, or features, from which threads gain more than they cost (about a millisecond).
THREADS_FROM = 500_000


def kernel_means(
    x: torch.Tensor,
    W: sp.csr_array,
    y: torch.Tensor | None,
    V: sp.csr_array | None,
    gammas: Sequence[float],
) -> torch.Tensor:
    """W K V' with K_pq = exp(-gamma |x_p - y_q|^2), for each gamma.

    Parameters
    ----------
    x, y : Tensor of shape (n_points, d)
        None for `y` means `x`, at half the price.
    W, V : csr_array of shape (n_measures, n_points)
    gammas : sequence of float

    Returns
    -------
    Tensor of shape (n_gammas, W.shape[0], V.shape[0])
        Differentiable in the points.
    """
    if y is None or V is None:
        return _KernelMeans.apply(x, x, _Tiling(W, W, gammas, x.dtype, symmetric=True))
    return _KernelMeans.apply(x, y, _Tiling(W, V, gammas, x.dtype, symmetric=False))


def self_means(x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float]) -> torch.Tensor:
    """The diagonal of ``kernel_means(x, W, None, None, gammas)``, shape (n_gammas, n_measures)."""
    return _SelfMeans.apply(x, _Weights.of(W, x.dtype), np.array(gammas, _numpy_dtype(x.dtype)))


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
        Divided by sqrt(n_frequencies); differentiable in the points.
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
        ctx.save_for_backward(x, y)
        ctx.tiling = tiling
        return torch.from_numpy(tiling.means(*_centered(x, y)))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        gradients = ctx.tiling.gradients(*_centered(*ctx.saved_tensors), grad.numpy())
        return *(torch.from_numpy(gradient) for gradient in gradients), None


class _SelfMeans(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weights: _Weights, gammas: np.ndarray) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.weights, ctx.gammas = weights, gammas
        out = np.empty((len(gammas), weights.n_rows), gammas.dtype)
        points = np.ascontiguousarray(x.detach().numpy())
        low = _lowest(gammas.dtype)
        _in_parallel(
            lambda part: _mmd_loops.own_sums(
                points, gammas, low, weights.arrays, part[0], part[1], out
            ),
            weights.parts(),
            len(gammas) * weights.n_pairs,
        )
        return torch.from_numpy(out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x,), weights, gammas = ctx.saved_tensors, ctx.weights, ctx.gammas
        points, G = np.ascontiguousarray(x.numpy()), np.ascontiguousarray(grad.numpy())
        index = torch.from_numpy(weights.arrays[1])
        out = np.zeros((len(index), points.shape[1]), points.dtype)
        low = _lowest(gammas.dtype)
        _in_parallel(
            lambda part: _mmd_loops.own_gradients(
                points, gammas, low, weights.arrays, G, part[0], part[1], out
            ),
            weights.parts(),
            len(gammas) * weights.n_pairs,
        )
        return torch.zeros_like(x).index_add_(0, index, torch.from_numpy(out)), None, None


# -- tiles -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Weights:
    """A CSR matrix as the compiled loops take it: (data, column indices, row pointers)."""

    arrays: tuple[np.ndarray, np.ndarray, np.ndarray]

    @classmethod
    def of(cls, matrix: sp.csr_array, dtype: torch.dtype) -> _Weights:
        """The matrix in a dtype."""
        data = matrix.data.astype(_numpy_dtype(dtype))
        return cls((data, matrix.indices.astype(np.intp), matrix.indptr.astype(np.intp)))

    @property
    def n_rows(self) -> int:
        return len(self.arrays[2]) - 1

    @property
    def n_pairs(self) -> int:
        """Pairs of entries of one row, over all rows."""
        return int((np.diff(self.arrays[2]) ** 2).sum())

    def parts(self) -> list[tuple[int, int]]:
        """Ranges of rows with about as many pairs of entries each, for the threads to share."""
        cost = np.cumsum(np.diff(self.arrays[2]) ** 2)
        n_parts = 8 * torch.get_num_threads()
        cuts = np.searchsorted(cost, cost[-1] * np.arange(1, n_parts) / n_parts)
        edges = np.unique([0, *cuts, self.n_rows])
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


@dataclass(frozen=True)
class _Tile:
    """Consecutive points, and the measures that have weight on them."""

    points: slice
    measures: np.ndarray
    weights: _Weights  # (measures, points)
    transposed: _Weights


class _Tiling:
    """Which tiles of x and y meet, and what becomes of them.

    K is forgotten and made anew for the gradient. Of mirror images one is computed: with symmetric
    measures the result is H + H', H the tiles above the diagonal and half of those on it.
    """

    def __init__(
        self,
        W: sp.csr_array,
        V: sp.csr_array,
        gammas: Sequence[float],
        dtype: torch.dtype,
        symmetric: bool,
    ) -> None:
        self.gammas = np.array(gammas, _numpy_dtype(dtype))
        self.lowest = _lowest(self.gammas.dtype)
        self.shape, self.symmetric = (len(gammas), W.shape[0], V.shape[0]), symmetric
        # The sums of all row tiles in work may take a quarter of working_memory.
        bytes_per_point = len(gammas) * V.shape[0] * self.gammas.itemsize
        fits = max(1, int(get_config()["working_memory"] * 2**18) // bytes_per_point)
        width, column_width = min(ROW_TILE, fits), COLUMN_TILE
        if symmetric:  # a row tile is whole column tiles
            column_width = min(width, column_width)
            width -= width % column_width
        self.n_at_once = min(torch.get_num_threads(), fits // width)
        self.rows, self.columns = _cut(W, width, dtype), _cut(V, column_width, dtype)

    def means(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The weighted means of the kernels, shape (n_gammas, n_measures_x, n_measures_y)."""
        out, work = np.zeros(self.shape, x.dtype), self._work(x, y)
        n_gammas, _, m = self.shape
        longest = max(tile.points.stop - tile.points.start for tile in self.rows)
        n_buffers = min(self.n_at_once, len(self.rows))
        buffers = np.empty((n_buffers, n_gammas, m, longest), x.dtype)
        edges = np.unique(np.linspace(0, m, n_buffers + 1).astype(int)).tolist()
        for start in range(0, len(self.rows), n_buffers):
            group = list(zip(self.rows[start : start + n_buffers], buffers, strict=False))
            _in_parallel(lambda job: self._add_columns(job[0], job[1], x, y), group, work)

            def add_rows(part: tuple[int, int], group: list = group) -> None:
                for row, sums in group:
                    _mmd_loops.add_row_sums(sums, row.weights.arrays, row.measures, *part, out)

            _in_parallel(add_rows, pairwise(edges), work)
        return out + out.swapaxes(1, 2) if self.symmetric else out

    def gradients(
        self, x: np.ndarray, y: np.ndarray, grad: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Gradients of sum(grad * means) in x and y."""
        grad = grad + grad.swapaxes(1, 2) if self.symmetric else grad
        grad_x, grad_y = np.empty_like(x), np.zeros_like(y)
        for start in range(0, len(self.rows), self.n_at_once):
            group = self.rows[start : start + self.n_at_once]
            parts = _in_parallel(
                lambda row: self._row_gradients(row, x, y, grad, grad_x), group, self._work(x, y)
            )
            for part in parts:  # in the order of the tiles, however many threads there are
                grad_y += part
        return grad_x, grad_y

    def _work(self, x: np.ndarray, y: np.ndarray) -> float:
        return len(self.gammas) * len(x) * len(y)

    def _meetings(self, row: _Tile) -> Iterable[tuple[_Tile, float]]:
        """The column tiles that a row tile meets, and how often each counts."""
        for column in self.columns:
            if not self.symmetric or column.points.start >= row.points.stop:
                yield column, 1.0
            elif column.points.start >= row.points.start:
                yield column, 0.5

    def _add_columns(self, row: _Tile, sums: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        """sums[s, j, p] = sum_q v_jq k_s(x_p, y_q) for the points p of a row tile."""
        sums[:] = 0
        for column, factor in self._meetings(row):
            D = _squared_distances(y[column.points], x[row.points])
            _mmd_loops.add_column_sums(
                D,
                self.gammas,
                self.lowest,
                column.weights.arrays,
                column.measures,
                x.dtype.type(factor),
                sums,
            )

    def _row_gradients(
        self, row: _Tile, x: np.ndarray, y: np.ndarray, grad: np.ndarray, grad_x: np.ndarray
    ) -> np.ndarray:
        """Write the gradient in the points of a row tile; return its part of that in y.

        They are 2 (T' 1) x - 2 T' y and 2 (T 1) y - 2 T x with T as in _mmd_loops.pair_gradients.
        """
        x_tile, of_row = x[row.points], grad[:, row.measures]
        of_x, of_y = np.zeros_like(x_tile), np.zeros_like(y)
        for column, factor in self._meetings(row):
            y_tile = y[column.points]
            D = _squared_distances(y_tile, x_tile)
            T = np.empty_like(D)
            _mmd_loops.pair_gradients(
                D,
                self.gammas,
                self.lowest,
                row.weights.arrays,
                column.transposed.arrays,
                np.ascontiguousarray(of_row[:, :, column.measures] * x.dtype.type(factor)),
                T,
            )
            of_x += T.sum(0)[:, None] * x_tile - T.T @ y_tile
            of_y[column.points] = 2 * (T.sum(1)[:, None] * y_tile - T @ x_tile)
        grad_x[row.points] = 2 * of_x
        return of_y


class _Features:
    """Means of random features, some frequencies a job."""

    def __init__(
        self, W: sp.csr_array, gammas: Sequence[float], frequencies: np.ndarray, dtype: torch.dtype
    ) -> None:
        self.frequencies, self.n_measures = frequencies, W.shape[0]
        self.scales = np.sqrt(2 * np.array(gammas)).astype(frequencies.dtype)
        self.norm = frequencies.dtype.type(1 / math.sqrt(frequencies.shape[1]))
        self.tiles = _cut(W, COLUMN_TILE, dtype)

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

        def of_frequencies(job: slice) -> None:
            some = np.ascontiguousarray(self.frequencies[:, job])
            sums = np.zeros((*out.shape[:2], 2 * some.shape[1]), x.dtype)
            for tile in self.tiles:
                projection = x[tile.points] @ some
                weights = tile.weights.arrays
                _mmd_loops.add_feature_sums(projection, self.scales, weights, tile.measures, sums)
            out[..., job] = self.norm * sums.reshape(*out.shape[:3], -1)

        _in_parallel(of_frequencies, self._jobs, self._work(x))
        return out.reshape(*out.shape[:2], 2 * n)

    def gradient(self, x: np.ndarray, grad: np.ndarray) -> np.ndarray:
        """Gradient of sum(grad * means) in x."""
        of_features = grad.reshape(*grad.shape[:2], 2, -1)

        def of_frequencies(job: slice) -> np.ndarray:
            some = np.ascontiguousarray(self.frequencies[:, job])
            G = self.norm * of_features[..., job].reshape(*grad.shape[:2], -1)
            of_points = np.empty_like(x)
            for tile in self.tiles:
                projection = x[tile.points] @ some
                of_tile = np.empty_like(projection)
                transposed, of_measures = tile.transposed.arrays, G[:, tile.measures]
                _mmd_loops.feature_gradients(
                    projection, self.scales, transposed, np.ascontiguousarray(of_measures), of_tile
                )
                of_points[tile.points] = of_tile @ some.T
            return of_points

        return sum(_in_parallel(of_frequencies, self._jobs, self._work(x)))


def _cut(weights: sp.csr_array, width: int, dtype: torch.dtype) -> list[_Tile]:
    """Cut the support into runs of `width` points."""
    by_point, tiles = weights.tocsc(), []
    for start in range(0, weights.shape[1], width):
        stop = min(start + width, weights.shape[1])
        of_points = by_point[:, start:stop]
        of_tile = of_points.tocsr()
        measures = np.flatnonzero(np.diff(of_tile.indptr))
        # The columns of a matrix are the rows of its transpose: no need to transpose.
        entries = (of_points.data, np.searchsorted(measures, of_points.indices), of_points.indptr)
        transposed = sp.csr_array(entries, shape=(stop - start, len(measures)))
        tiles.append(
            _Tile(
                slice(start, stop),
                measures,
                _Weights.of(of_tile[measures], dtype),
                _Weights.of(transposed, dtype),
            )
        )
    return tiles


def _squared_distances(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """|y_q - x_p|^2 by one matrix product."""
    D = y @ x.T
    y_norms, x_norms = (np.einsum("pk,pk->p", z, z) for z in (y, x))
    _mmd_loops.finish_distances(D, y, x, y_norms, x_norms)
    return D


def _centered(x: torch.Tensor, y: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The points around a common center: no cancellation far from 0."""
    center = y.detach().mean(0)
    around = [np.ascontiguousarray((z.detach() - center).numpy()) for z in (x, y)]
    return around[0], around[0] if x is y else around[1]


def _lowest(dtype: np.dtype) -> Any:
    """Exponents are held above this: exp is slow where it underflows, and sums of denormals are.

    The square root of the smallest number, 1e-19 in float32, changes no mean and leaves room for
    the weights.
    """
    return dtype.type(math.log(np.finfo(dtype).tiny) / 2)


def _numpy_dtype(dtype: torch.dtype) -> np.dtype:
    return np.dtype(str(dtype).removeprefix("torch."))


# -- threads ---------------------------------------------------------------------------------------


def _in_parallel(function: Callable[[Any], Any], jobs: Iterable[Any], work: float) -> list[Any]:
    """Results in the order of the jobs, in as many threads as torch uses; BLAS keeps to one each.

    Threads of their own, because those of torch and of BLAS would fight over the cores. `work` is
    the number of kernel values, or features, of all jobs: a little is done in the calling thread.
    """
    jobs = list(jobs)
    n_threads = min(torch.get_num_threads(), len(jobs)) if work >= THREADS_FROM else 1
    with _controller().limit(limits=1, user_api="blas"):
        if n_threads < 2:
            return [function(job) for job in jobs]
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(function, jobs))


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
