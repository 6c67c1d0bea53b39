"""Exact mean kernels on the CPU, tile by tile, with the tiles in parallel threads.

In come points and weights on them; out go sums over pairs of points, with gradients. A matrix
product makes the squared distances of a tile, compiled loops do the rest while it is in the cache.
Which tiles there are does not depend on the number of threads, and neither do the results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn import get_config
from threadpoolctl import ThreadpoolController
from torch.autograd.function import once_differentiable

from skgraphkde import _mmd_loops
from skgraphkde._mmd_torch import lowest_exponent
from skgraphkde._threads import n_threads

# Points of a row tile and of a column tile: what the loops keep of a tile fits into the cache.
ROW_TILE, COLUMN_TILE = 384, 192
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
    return _SelfMeans.apply(x, _Weights(W, x.dtype), np.array(gammas, _numpy_dtype(x.dtype)))


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
        out = np.empty((len(gammas), weights.matrix.shape[0]), gammas.dtype)
        points = np.ascontiguousarray(x.detach().numpy())
        low = _lowest(x.dtype)
        with _threads(len(gammas) * weights.pairs.sum()) as run:
            run(
                lambda part: _mmd_loops.own_sums(points, gammas, low, weights.by_row, *part, out),
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
        low = _lowest(x.dtype)
        with _threads(len(gammas) * weights.pairs.sum()) as run:
            run(
                lambda part: _mmd_loops.own_gradients(
                    points, gammas, low, weights.by_row, G, *part, out
                ),
                weights.parts(),
            )
        return torch.zeros_like(x).index_add_(0, index, torch.from_numpy(out)), None, None


# -- tiles -----------------------------------------------------------------------------------------


class _Weights:
    """A CSR matrix (measures, points) as the compiled loops take it, from three sides.

    Parameters
    ----------
    matrix : csr_array of shape (n_measures, n_points)
    dtype : torch.dtype
    """

    def __init__(self, matrix: sp.csr_array, dtype: torch.dtype) -> None:
        self.matrix = matrix.astype(_numpy_dtype(dtype))

    @cached_property
    def by_row(self) -> tuple[np.ndarray, ...]:
        """The matrix as CSR: (data, columns, row pointers)."""
        return self._arrays(self.matrix)

    @cached_property
    def by_point(self) -> tuple[np.ndarray, ...]:
        """Its transpose as CSR: (data, rows, column pointers)."""
        return self._arrays(self.matrix.tocsc())

    def in_tiles(self, width: int) -> tuple[np.ndarray, ...]:
        """The matrix cut into tiles of `width` points, and by measure in each.

        Returns
        -------
        data, points : ndarray of shape (nnz,)
            The place of the point in its tile.
        starts : ndarray of shape (n_runs + 1,)
            A run is the entries of one measure in one tile, ``starts[r]`` to ``starts[r + 1]``.
        measures : ndarray of shape (n_runs,)
        tiles : ndarray of shape (n_tiles + 1,)
            Tile t has the runs ``tiles[t]`` to ``tiles[t + 1]``.
        """
        data, points, indptr = self.by_row
        measure = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        tile, place = np.divmod(points, width)
        order = np.lexsort((measure, tile))
        tile, measure = tile[order], measure[order]
        firsts = np.flatnonzero(np.append(True, (np.diff(tile) != 0) | (np.diff(measure) != 0)))
        n_tiles = -(-self.matrix.shape[1] // width)
        tiles = np.searchsorted(tile[firsts], np.arange(n_tiles + 1))
        return data[order], place[order], np.append(firsts, len(data)), measure[firsts], tiles

    @cached_property
    def pairs(self) -> np.ndarray:
        """Pairs of entries of each row."""
        return np.diff(self.matrix.indptr).astype(np.int64) ** 2

    def parts(self) -> list[tuple[int, int]]:
        """Ranges of rows with about as many pairs of entries each, for the threads to share."""
        cost = np.cumsum(self.pairs)
        n_parts = 8 * n_threads()
        cuts = np.searchsorted(cost, cost[-1] * np.arange(1, n_parts) / n_parts)
        edges = np.unique([0, *cuts, len(cost)])
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    @staticmethod
    def _arrays(matrix: Any) -> tuple[np.ndarray, ...]:
        return matrix.data, matrix.indices.astype(np.intp), matrix.indptr.astype(np.intp)


class _Tiling:
    """Which tiles of x and y meet, and what becomes of them.

    K is forgotten and made anew for the gradient: the memory to keep its squared distances takes as
    long to fetch as their matrix product. Of mirror images one is computed: with symmetric
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
        self.lowest = _lowest(dtype)
        self.shape, self.symmetric = (len(gammas), W.shape[0], V.shape[0]), symmetric
        # The sums of all row tiles in work may take a quarter of working_memory.
        bytes_per_point = len(gammas) * V.shape[0] * self.gammas.itemsize
        fits = max(1, int(get_config()["working_memory"] * 2**18) // bytes_per_point)
        self.height, self.width = min(ROW_TILE, fits), COLUMN_TILE
        if symmetric:  # a row tile is whole column tiles
            self.width = min(self.height, self.width)
            self.height -= self.height % self.width
        tiles = range(-(-W.shape[1] // self.height))
        n_at_once = max(1, min(n_threads(), fits // self.height))
        self.groups = [tiles[i : i + n_at_once] for i in range(0, len(tiles), n_at_once)]
        self.row_runs = _Weights(W, dtype).in_tiles(self.height)
        self.columns = _Weights(V, dtype)

    def means(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The weighted means of the kernels, shape (n_gammas, n_measures_x, n_measures_y)."""
        out, norms = np.zeros(self.shape, x.dtype), (_squared_norms(x), _squared_norms(y))
        runs, (n_gammas, _, m) = self.columns.in_tiles(self.width), self.shape
        edges = np.unique(np.linspace(0, m, len(self.groups[0]) + 1).astype(int)).tolist()

        def sum_columns(job: tuple[int, np.ndarray]) -> None:
            tile, sums = job
            operands, met = self._operands(tile, x, y, norms)
            _mmd_loops.column_sums(*operands, runs, *met, sums)

        def add_rows(jobs: list[tuple[int, np.ndarray]], part: tuple[int, int]) -> None:
            for tile, sums in jobs:
                _mmd_loops.add_row_sums(sums, self.row_runs, tile, *part, out)

        with _threads(self._work(x, y)) as run:
            for group in self.groups:
                jobs = [(t, np.empty((n_gammas, m, len(x[self._row(t)])), x.dtype)) for t in group]
                run(sum_columns, jobs)
                run(partial(add_rows, jobs), pairwise(edges))
        return out + out.swapaxes(1, 2) if self.symmetric else out

    def gradients(
        self, x: np.ndarray, y: np.ndarray, grad: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Gradients of sum(grad * means) in x and y."""
        grad = np.ascontiguousarray(grad + grad.swapaxes(1, 2) if self.symmetric else grad)
        norms, by_point = (_squared_norms(x), _squared_norms(y)), self.columns.by_point
        grad_x, grad_y = np.empty_like(x), np.zeros_like(y)
        parts = np.empty((len(self.groups[0]), *y.shape), y.dtype)

        def of_row(job: tuple[int, np.ndarray]) -> None:
            tile, of_y = job
            operands, met = self._operands(tile, x, y, norms)
            runs, of_x = (self.row_runs, tile, by_point, grad), grad_x[self._row(tile)]
            _mmd_loops.row_gradients(*operands, *runs, *met, of_x, of_y)

        with _threads(self._work(x, y)) as run:
            for group in self.groups:
                run(of_row, zip(group, parts, strict=False))
                for tile, of_y in zip(group, parts, strict=False):  # in order, for any threads
                    start = self._met(tile)[0] * self.width
                    grad_y[start:] += of_y[start:]
        return grad_x, grad_y

    def _work(self, x: np.ndarray, y: np.ndarray) -> float:
        return len(self.gammas) * len(x) * len(y)

    def _row(self, tile: int) -> slice:
        return slice(tile * self.height, (tile + 1) * self.height)

    def _met(self, tile: int) -> tuple[int, int, int]:
        """The first column tile that a row tile meets, the first that counts whole, the width."""
        per_row = self.height // self.width
        first, whole = (per_row * tile, per_row * (tile + 1)) if self.symmetric else (0, 0)
        return first, whole, self.width

    def _operands(
        self, tile: int, x: np.ndarray, y: np.ndarray, norms: tuple[np.ndarray, np.ndarray]
    ) -> tuple[tuple, tuple[int, int, int]]:
        """What the loops take of a row tile, and which column tiles it meets."""
        row = self._row(tile)
        points, squared_norms = (x[row], y), (norms[0][row], norms[1])
        return (points, squared_norms, self.gammas, self.lowest), self._met(tile)


class _Features:
    """Means of random features, some frequencies a job."""

    def __init__(
        self, W: sp.csr_array, gammas: Sequence[float], frequencies: np.ndarray, dtype: torch.dtype
    ) -> None:
        self.frequencies, self.n_measures = frequencies, W.shape[0]
        self.scales = np.sqrt(2 * np.array(gammas)).astype(frequencies.dtype)
        self.norm = frequencies.dtype.type(1 / math.sqrt(frequencies.shape[1]))
        self.by_point = _Weights(W, dtype).by_point

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
            for first in range(0, len(x), COLUMN_TILE):
                projection = x[first : first + COLUMN_TILE] @ some
                _mmd_loops.add_feature_sums(projection, self.scales, self.by_point, first, sums)
            out[..., job] = self.norm * sums.reshape(*out.shape[:3], -1)

        with _threads(self._work(x)) as run:
            run(of_frequencies, self._jobs)
        return out.reshape(*out.shape[:2], 2 * n)

    def gradient(self, x: np.ndarray, grad: np.ndarray) -> np.ndarray:
        """Gradient of sum(grad * means) in x."""
        of_features = grad.reshape(*grad.shape[:2], 2, -1)

        def of_frequencies(job: slice) -> np.ndarray:
            some = np.ascontiguousarray(self.frequencies[:, job])
            G = np.ascontiguousarray(self.norm * of_features[..., job])
            G = G.reshape(*grad.shape[:2], -1)
            of_points = np.empty_like(x)
            for first in range(0, len(x), COLUMN_TILE):
                tile = slice(first, first + COLUMN_TILE)
                projection = x[tile] @ some
                of_tile = np.empty_like(projection)
                _mmd_loops.feature_gradients(
                    projection, self.scales, self.by_point, first, G, of_tile
                )
                of_points[tile] = of_tile @ some.T
            return of_points

        with _threads(self._work(x)) as run:
            return sum(run(of_frequencies, self._jobs))


def _squared_norms(x: np.ndarray) -> np.ndarray:
    return np.einsum("pk,pk->p", x, x)


def _centered(x: torch.Tensor, y: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The points around a common center: no cancellation far from 0."""
    center = y.detach().mean(0)
    around = [np.ascontiguousarray((z.detach() - center).numpy()) for z in (x, y)]
    return around[0], around[0] if x is y else around[1]


def _lowest(dtype: torch.dtype) -> Any:
    """The lowest exponent, as a number of the dtype: the loops must not change precision."""
    return _numpy_dtype(dtype).type(lowest_exponent(dtype))


def _numpy_dtype(dtype: torch.dtype) -> np.dtype:
    return np.dtype(str(dtype).removeprefix("torch."))


# -- threads ---------------------------------------------------------------------------------------


@contextmanager
def _threads(work: float) -> Iterator[Callable[[Callable[[Any], Any], Iterable[Any]], list]]:
    """A map over jobs in as many threads as torch uses; results come in the order of the jobs.

    Threads of their own, because those of torch and of BLAS, which keeps to one each, would fight
    over the cores. `work` is the number of kernel values, or features, of all jobs: a little is
    done in the calling thread.
    """
    n_workers = n_threads() if work >= THREADS_FROM else 1
    with _controller().limit(limits=1, user_api="blas"):
        if n_workers < 2:
            yield lambda function, jobs: [function(job) for job in jobs]
        else:
            with ThreadPoolExecutor(n_workers) as pool:
                yield lambda function, jobs: list(pool.map(function, jobs))


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
