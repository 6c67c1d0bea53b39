"""Exact kernel means on any torch device, tile by tile, with gradients; the reference engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch.utils.checkpoint import checkpoint

from skgraphkde.computing.blocks import working_memory
from skgraphkde.learned.sparse import CSRMatrix

# Points of the measures whose kernel means are computed at a time for the means within them.
GROUP = 256


def kernel_means(
    x: torch.Tensor,
    W: sp.csr_array,
    y: torch.Tensor | None,
    V: sp.csr_array | None,
    gammas: Sequence[float],
    memo: dict[str, Any] | None = None,
) -> torch.Tensor:
    """W K V' with K the kernel matrix; parameters and result as for the engine `cpu`.

    The kernels of a tile are computed again for the gradient. If x and y are the same, only one of
    two mirror images is computed: the result is H + H', with H the tiles above the diagonal and
    half of those on it.

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
    symmetric = y is None or V is None
    y, V = (x, W) if y is None or V is None else (y, V)
    width = tile_width(x, len(gammas))
    rows = _tiles(x, W, width)
    columns = rows if symmetric else _tiles(y, V, width)
    out = x.new_zeros((len(gammas), W.shape[0], V.shape[0]))
    for i, row in enumerate(rows):
        sums = x.new_zeros((len(gammas), len(row.measures), V.shape[0]))
        for column in columns[i:] if symmetric else columns:
            means = checkpoint(
                _tile_means, row, column, gammas, use_reentrant=False, preserve_rng_state=False
            )
            sums.index_add_(2, column.measures, means, alpha=0.5 if row is column else 1.0)
        out.index_add_(1, row.measures, sums)
    return out + out.mT if symmetric else out


def self_means(x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float]) -> torch.Tensor:
    """Mean kernels within measures: diagonals of the kernel means of a few measures at a time.

    Parameters
    ----------
    x, W, gammas
        As for :func:`skgraphkde.distances.engines.cpu.self_means`.

    Returns
    -------
    Tensor of shape (n_gammas, n_measures)
    """
    means = []
    cuts = np.flatnonzero(np.diff(W.indptr[1:] // GROUP)) + 1
    for group in np.split(np.arange(W.shape[0]), cuts):
        V = W[group]
        points = x[torch.as_tensor(V.indices, device=x.device).long()]  # no two measures share one
        apart = sp.csr_array((V.data, np.arange(V.nnz), V.indptr), shape=(len(group), V.nnz))
        of_pairs = kernel_means(points, apart, None, None, gammas)
        means.append(of_pairs.diagonal(dim1=1, dim2=2))
    return torch.cat(means, 1)


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
    weights, scales = CSRMatrix(W, x), [math.sqrt(2 * gamma) for gamma in gammas]
    n_at_once = max(1, working_memory() // (4 * x.element_size() * len(x)))
    parts = torch.as_tensor(frequencies).to(x).split(n_at_once, dim=1)

    def means_of(wave: Callable[[torch.Tensor], torch.Tensor], scale: float) -> torch.Tensor:
        return torch.cat([weights @ wave(scale * (x @ part)) for part in parts], 1)

    means = [torch.cat([means_of(torch.cos, s), means_of(torch.sin, s)], 1) for s in scales]
    return torch.stack(means) / math.sqrt(frequencies.shape[1])


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


def center_of(points: torch.Tensor) -> torch.Tensor:
    """Point nearest to 0 in the bounding box of the points, shape (d,).

    Subtracting it brings distant points close to 0, and at most doubles the distance of a point
    from 0. Unlike a mean, it does not let one very distant point change the rounding of others. In
    single precision, which only training uses, the center is the mean: the points are standardized
    together, and the course of the training depends on rounding.

    Parameters
    ----------
    points : Tensor of shape (n_points, d)

    Returns
    -------
    Tensor of shape (d,)
    """
    points = points.detach()
    if points.dtype != torch.float64:
        return points.mean(0)
    return points.amin(0).clamp_min(0) + points.amax(0).clamp_max(0)


def tile_width(points: torch.Tensor, n_gammas: int) -> int:
    """Number of points of a tile whose arrays fit into working_memory, or a CPU's cache.

    The arrays are squares of this width: squared distances, and two for each gamma.

    Parameters
    ----------
    points : Tensor of shape (n_points, d)
        Sets the dtype and the device.
    n_gammas : int

    Returns
    -------
    int
    """
    fits = math.isqrt(working_memory() // (points.element_size() * (2 + 2 * n_gammas)))
    return max(1, min(fits, 1024 if points.device.type == "cpu" else 8192))


class _Tile(NamedTuple):
    """Some consecutive points, and the measures with weight on them."""

    points: torch.Tensor  # (width, d)
    measures: torch.Tensor  # indices
    weights: CSRMatrix  # (measures, width)


def _tiles(points: torch.Tensor, weights: sp.csr_array, width: int) -> list[_Tile]:
    """Split points, and the weights of measures on them, into tiles."""
    tiles, by_point = [], weights.tocsc()
    for i, part in enumerate(points.split(width)):
        of_part = by_point[:, i * width : (i + 1) * width].tocsr()
        measures = np.flatnonzero(np.diff(of_part.indptr))
        index = torch.as_tensor(measures, device=points.device)
        tiles.append(_Tile(part, index, CSRMatrix(of_part[measures], points)))
    return tiles


def _tile_means(row: _Tile, column: _Tile, gammas: Sequence[float]) -> torch.Tensor:
    """Weighted sums over the pairs of points of two tiles, (n_gammas, n_measures, n_measures)."""
    D = squared_distances(row.points, column.points)
    # MKL's exp takes 20 times as long if it underflows: 5.2 ms against 0.3 ms for 2^20 float32.
    lowest = math.log(torch.finfo(D.dtype).tiny) / 2
    means = []
    for gamma in gammas:
        K = (-gamma * D).clamp_min_(lowest).exp_()
        means.append((column.weights @ (row.weights @ K).T.contiguous()).T)
    return torch.stack(means)
