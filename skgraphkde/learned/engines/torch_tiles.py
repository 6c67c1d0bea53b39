"""Exact kernel means on any torch device, tile by tile, with gradients; the reference engine."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch.autograd.function import once_differentiable

from skgraphkde.computing.blocks import working_memory
from skgraphkde.learned.engines.centers import center_of
from skgraphkde.learned.sparse import CSRMatrix


def kernel_means(
    x: torch.Tensor,
    W: sp.csr_array,
    y: torch.Tensor | None,
    V: sp.csr_array | None,
    gammas: Sequence[float],
    memo: dict[str, Any] | None = None,
) -> torch.Tensor:
    """W K V' with K the kernel matrix; parameters and result as for the engine `cpu`.

    Parameters
    ----------
    x, W, y, V, gammas
        As for :func:`skgraphkde.distances.engines.cpu.kernel_means`.
    memo : dict, default=None
        Not used.

    Returns
    -------
    Tensor of shape (n_gammas, W.shape[0], V.shape[0])
    """
    if y is None or V is None:
        return _KernelMeans.apply(x, x, _Cross(x, W, x, W, gammas, symmetric=True))
    return _KernelMeans.apply(x, y, _Cross(x, W, y, V, gammas, symmetric=False))


def self_means(x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float]) -> torch.Tensor:
    """Mean kernels within measures.

    Parameters
    ----------
    x, W, gammas
        As for :func:`skgraphkde.distances.engines.cpu.self_means`.

    Returns
    -------
    Tensor of shape (n_gammas, n_measures)
    """
    return _SelfMeans.apply(x, _Diagonal(x, W, gammas))


def feature_means(
    x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float], frequencies: np.ndarray
) -> torch.Tensor:
    """Means of random features.

    Parameters
    ----------
    x, W, gammas, frequencies
        As for :func:`skgraphkde.distances.engines.cpu.feature_means`.

    Returns
    -------
    Tensor of shape (n_gammas, n_measures, 2 * n_frequencies)
    """
    directions = torch.as_tensor(frequencies).to(x)
    n_frequencies = directions.shape[1]
    width = max(1, tile_width(x) ** 2 // (2 * n_frequencies))
    out = x.new_zeros((len(gammas), W.shape[0], 2 * n_frequencies))
    for tile in tiles(x, W, width):
        projection = x[tile.points] @ directions
        for s, gamma in enumerate(gammas):
            angle = math.sqrt(2 * gamma) * projection
            features = torch.cat([angle.cos(), angle.sin()], 1) / math.sqrt(n_frequencies)
            out[s] = out[s].index_add(0, tile.measures, tile.weights @ features)
    return out


class _KernelMeans(torch.autograd.Function):
    """W_P K W_Q' tile by tile, K the kernel between the points.

    K is computed again for the gradient. If x and y are the same, only one of two mirror images is
    computed: the result is H + H', with H the tiles above the diagonal and half of those on it.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, plan: _Cross) -> torch.Tensor:
        ctx.save_for_backward(x, y)
        ctx.plan = plan
        out = x.new_zeros((len(plan.gammas), *plan.shape))
        for i, row in enumerate(plan.rows):
            # sums[s, j, p] = sum_q v_jq k_s(x_p, y_q) over the tiles q so far.
            sums = x.new_zeros((len(plan.gammas), plan.shape[1], row.n_points))
            for column in plan.columns_of(i):
                D = squared_distances(y[column.points], x[row.points])
                K = torch.empty_like(D)
                for s, gamma in enumerate(plan.gammas):
                    block = column.weights @ _gaussian(D, gamma, out=K)
                    sums[s].index_add_(0, column.measures, block, alpha=plan.share(row, column))
            for s in range(len(plan.gammas)):
                out[s].index_add_(0, row.measures, row.weights @ sums[s].T.contiguous())
        return out + out.mT if plan.symmetric else out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x, y), plan = ctx.saved_tensors, ctx.plan
        grad_x, grad_y = torch.zeros_like(x), torch.zeros_like(y)
        grad = grad + grad.mT if plan.symmetric else grad
        for i, row in enumerate(plan.rows):
            grad_row = grad[:, row.measures]
            for column in plan.columns_of(i):
                G = grad_row[:, :, column.measures] * plan.share(row, column)
                _add_gradients(x, y, row, column, plan.gammas, G, grad_x, grad_y)
        return grad_x, grad_y, None


class _SelfMeans(torch.autograd.Function):
    """Diagonal of W K W', computed in tiles within measures."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, plan: _Diagonal) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.plan = plan
        out = x.new_zeros((len(plan.gammas), plan.n_measures))
        for row, column, (measures, i, j), count in plan.pairs():
            D = squared_distances(x[row.points], x[column.points])
            K = torch.empty_like(D)
            for s, gamma in enumerate(plan.gammas):
                half = row.weights @ _gaussian(D, gamma, out=K)
                block = column.weights @ half.T.contiguous()
                out[s].index_add_(0, measures, block[j, i], alpha=count)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x,), plan = ctx.saved_tensors, ctx.plan
        grad_x = torch.zeros_like(x)
        for row, column, (measures, i, j), count in plan.pairs():
            G = grad.new_zeros((len(plan.gammas), len(row.measures), len(column.measures)))
            G[:, i, j] = grad[:, measures] * count
            _add_gradients(x, x, row, column, plan.gammas, G, grad_x, grad_x)
        return grad_x, None


def _add_gradients(
    x: torch.Tensor,
    y: torch.Tensor,
    row: _Tile,
    column: _Tile,
    gammas: Sequence[float],
    G: torch.Tensor,
    grad_x: torch.Tensor,
    grad_y: torch.Tensor,
) -> None:
    """Add a tile's share to the gradients.

    They are 2 (T 1) x - 2 T y and 2 (T' 1) y - 2 T' x with T = sum_s -gamma_s K_s * (W_P' G_s W_Q).
    A gamma whose G is zero, because its MMD was not the largest, costs nothing.
    """
    x_tile, y_tile = x[row.points], y[column.points]
    D = squared_distances(x_tile, y_tile)
    K, T = torch.empty_like(D), torch.zeros_like(D)
    for gamma, G_s in zip(gammas, G, strict=True):
        if G_s.any():
            half = column.weights.transpose_matmul(G_s.T.contiguous())
            spread = row.weights.transpose_matmul(half.T.contiguous())
            T.addcmul_(spread, _gaussian(D, gamma, out=K), value=-gamma)
    grad_x.index_add_(0, row.points, T.sum(1)[:, None] * x_tile - T @ y_tile, alpha=2)
    grad_y.index_add_(0, column.points, T.sum(0)[:, None] * y_tile - T.T @ x_tile, alpha=2)


def squared_distances(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Squared distances between points, by one matrix product around a common center.

    Parameters
    ----------
    x : Tensor of shape (n_x, d)
    y : Tensor of shape (n_y, d)

    Returns
    -------
    Tensor of shape (n_x, n_y)
    """
    center = center_of(y)
    x, y = x - center, y - center
    D = torch.addmm((y * y).sum(1), x, y.T, alpha=-2)
    return D.add_((x * x).sum(1)[:, None]).clamp_min_(0)


def _gaussian(D: torch.Tensor, gamma: float, out: torch.Tensor) -> torch.Tensor:
    """exp(-gamma D), bounded below to avoid underflow."""
    return torch.mul(D, -gamma, out=out).clamp_min_(lowest_exponent(D.dtype)).exp_()


def lowest_exponent(dtype: torch.dtype) -> float:
    """Lower bound of the exponents of kernels, as for the engine `cpu`.

    MKL's exp takes 20 times as long if it underflows: 5.2 ms against 0.3 ms for 2^20 float32.
    """
    return math.log(torch.finfo(dtype).tiny) / 2


@dataclass(frozen=True)
class _Tile:
    """Tile of support points, and the measures with weight on them."""

    points: torch.Tensor  # indices
    measures: torch.Tensor  # indices
    weights: CSRMatrix  # (measures, points)

    @property
    def n_points(self) -> int:
        return len(self.points)


class _Cross:
    """Pairs of tiles of two sets of measures."""

    def __init__(
        self,
        x: torch.Tensor,
        W: sp.csr_array,
        y: torch.Tensor,
        V: sp.csr_array,
        gammas: Sequence[float],
        symmetric: bool,
    ) -> None:
        self.gammas, self.symmetric, self.shape = gammas, symmetric, (W.shape[0], V.shape[0])
        width = tile_width(x, len(gammas) * V.shape[0])
        self.rows = tiles(x, W, width)
        self.columns = self.rows if symmetric else tiles(y, V, width)

    def columns_of(self, i: int) -> list[_Tile]:
        """Column tiles of row tile `i`, without mirror images."""
        return self.columns[i:] if self.symmetric else self.columns

    def share(self, row: _Tile, column: _Tile) -> float:
        """Weight of a pair of tiles: a tile on the diagonal is its own mirror image, with 1/2.

        Parameters
        ----------
        row, column : _Tile

        Returns
        -------
        float
        """
        return 0.5 if row is column else 1.0


class _Diagonal:
    """Pairs of tiles within measures, in which no two measures share a point."""

    def __init__(self, x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float]) -> None:
        self.gammas, self.n_measures = gammas, W.shape[0]
        apart = sp.csr_array((W.data, np.arange(W.nnz), W.indptr), shape=(W.shape[0], W.nnz))
        # Narrow tiles, because only pairs within measures are used.
        width = min(tile_width(x), 256)
        self.tiles = tiles(x, apart, width, W.indices)

    def pairs(self) -> Iterator[tuple[_Tile, _Tile, tuple, int]]:
        """Generate pairs of tiles, their common measures with indices in each, and their weight."""
        for i, row in enumerate(self.tiles):
            for column in self.tiles[i:]:
                common = np.intersect1d(
                    row.measures.numpy(force=True),
                    column.measures.numpy(force=True),
                    return_indices=True,
                )
                if not len(common[0]):
                    break  # a measure lies in consecutive tiles
                indices = tuple(torch.as_tensor(c, device=row.measures.device) for c in common)
                yield row, column, indices, 1 if row is column else 2


def tile_width(points: torch.Tensor, n_sums: int = 0) -> int:
    """Number of points of a tile whose arrays fit into working_memory, or a CPU's cache.

    The arrays are four squares of this width, and `n_sums` rows of it.

    Parameters
    ----------
    points : Tensor of shape (n_points, d)
        Sets the dtype and the device.
    n_sums : int, default=0

    Returns
    -------
    int
    """
    numbers = working_memory() // points.element_size()
    fits = (math.isqrt(n_sums**2 + 16 * numbers) - n_sums) // 8  # 4 w^2 + n_sums w = numbers
    return max(1, min(fits, 1024 if points.device.type == "cpu" else 8192))


def tiles(
    points: torch.Tensor, weights: sp.csr_array, width: int, index: np.ndarray | None = None
) -> list[_Tile]:
    """Split the support into tiles of at most `width` points, between measures if possible.

    Parameters
    ----------
    points : Tensor of shape (n_points, d)
    weights : csr_array of shape (n_measures, n_columns)
    width : int
    index : ndarray of shape (n_columns,), default=None
        Point of each column of `weights`. None means column j is point j.

    Returns
    -------
    list of _Tile
    """
    n_points = weights.shape[1]
    index = np.arange(n_points) if index is None else index
    first, last = np.minimum.reduceat, np.maximum.reduceat
    starts = weights.indptr[:-1]
    covered = np.bincount(first(weights.indices, starts) + 1, minlength=n_points + 2)
    covered -= np.bincount(last(weights.indices, starts) + 1, minlength=n_points + 2)
    clean = np.flatnonzero(np.cumsum(covered)[: n_points + 1] == 0)
    by_point = weights.tocsc()
    tiles, start = [], 0
    while start < n_points:
        stop = clean[np.searchsorted(clean, start + width, side="right") - 1]
        if stop <= start:
            stop = min(start + width, n_points)
        tile_weights = by_point[:, start:stop].tocsr()
        measures = np.flatnonzero(np.diff(tile_weights.indptr))
        tiles.append(
            _Tile(
                torch.as_tensor(index[start:stop], device=points.device).long(),
                torch.as_tensor(measures, device=points.device),
                CSRMatrix(tile_weights[measures], points),
            )
        )
        start = stop
    return tiles
