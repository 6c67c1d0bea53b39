"""Support of kernel means on the CPU: points and weights in the form of the compiled loops.

Supports are cached, so that references are prepared once and not in every call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from skgraphkde.computing.threads import n_threads
from skgraphkde.distances.engines.centers import center_of

# Largest distance of a point from the space of the kept axes, in units of its norm: the size of
# rounding errors. Axes whose eigenvalue is at most the second number are candidates for dropping.
MAX_FLAT_DISTANCE, MAX_SHORT_AXIS = 5e-7, 1e-9
TINY = np.finfo(float).tiny
# In single precision, squared distances of points x and y have an error of 6e-8 (|x|^2 + |y|^2),
# and for close points an error of 6e-8 |x| times their distance. Squared MMDs between graphs of one
# node change by 4e-6 + 2e-7 sqrt(gamma) |x| at most, as measured for gammas from 1 to 1e5.
FLOAT32_ERROR = 5e-6, 2.5e-7
# Coordinates are clipped to the first number in single precision, whose squares end at 1e38. For
# gammas of at least the second number, the kernel is 0 at such a distance.
FLOAT32_FAR, MIN_FLOAT32_GAMMA = 1e16, 1e-20


class Support:
    """Points relative to a center, which reduces cancellation, and weights on them.

    Parameters
    ----------
    points : Tensor of shape (n_points, d)
    weights : csr_array of shape (n_measures, n_points)
    origin_of : Support, default=None
        Support of the other side, whose center and axes are used. None uses those of the points.
    """

    def __init__(
        self, points: torch.Tensor, weights: sp.csr_array, origin_of: Support | None = None
    ) -> None:
        points = points.detach()
        self.origin_of = origin_of
        self.center: torch.Tensor = center_of(points) if origin_of is None else origin_of.center
        self.points = np.ascontiguousarray((points - self.center).numpy())
        self.norms = np.einsum("pk,pk->p", self.points, self.points)
        self.weights = Weights(weights, points.dtype)

    @classmethod
    def kept(
        cls,
        points: torch.Tensor,
        weights: sp.csr_array,
        memo: dict[str, Any],
        origin_of: Support | None = None,
    ) -> Support:
        """Support of points and weights, computed in the first call and cached.

        Parameters
        ----------
        points : Tensor of shape (n_points, d)
        weights : csr_array of shape (n_measures, n_points)
        memo : dict
            Cache of these points and weights.
        origin_of : Support, default=None
            As for the class.

        Returns
        -------
        Support
        """
        key = "support" if origin_of is None else "support with origin"
        if key not in memo or memo[key].origin_of is not origin_of:
            memo[key] = cls(points, weights, origin_of)
        return memo[key]

    @property
    def float64(self) -> tuple:
        """Points, their squared norms, and weights by row, in double precision."""
        return self.points, self.norms, self.weights.by_row

    def float32_errors(self, gammas: Sequence[float]) -> np.ndarray:
        """Largest errors of squared MMDs between measures of one point in single precision.

        They have shape (n_measures,), with a point at the mean norm of each measure.
        """
        if min(gammas) < MIN_FLOAT32_GAMMA:
            return np.full(len(self._mean_norms), np.inf)
        return FLOAT32_ERROR[0] + FLOAT32_ERROR[1] * np.sqrt(max(gammas) * self._mean_norms)

    @cached_property
    def weight_norms(self) -> np.ndarray:
        """Euclidean norms of the weights of each measure, by which means reduce errors."""
        matrix = self.weights.matrix
        return np.sqrt(matrix.multiply(matrix).sum(axis=1))

    @cached_property
    def _mean_norms(self) -> np.ndarray:
        """Mean squared norm of the points of each measure."""
        return self.weights.matrix @ self.norms

    @cached_property
    def float32(self) -> tuple:
        """Points, their squared norms, and weights by row, in single precision.

        The coordinates are those along the axes, and the distance from the space of the axes.
        Squared distances to points in that space are unchanged.
        """
        axes = (self.origin_of or self)._axes
        along = self.points @ axes
        left = np.sqrt((self.norms - np.einsum("pk,pk->p", along, along)).clip(0))
        points = np.column_stack([along, left]).clip(-FLOAT32_FAR, FLOAT32_FAR).astype(np.float32)
        norms = np.einsum("pk,pk->p", points, points, dtype=float).astype(np.float32)
        return points, norms, self.weights.by_row

    @cached_property
    def _axes(self) -> np.ndarray:
        """Axes of the space that the points span, shape (d, n_axes)."""
        directions = self.points / np.sqrt(np.maximum(self.norms, TINY))[:, None]
        squares, axes = np.linalg.eigh(directions.T @ directions)  # ascending
        short = directions @ axes[:, squares <= MAX_SHORT_AXIS]
        n_flat = np.count_nonzero(
            np.square(short).cumsum(axis=1).max(axis=0) <= MAX_FLAT_DISTANCE**2
        )
        return np.ascontiguousarray(axes[:, n_flat:])


class Weights:
    """CSR matrix (measures, points) in the three orders of the compiled loops.

    Parameters
    ----------
    matrix : csr_array of shape (n_measures, n_points)
    dtype : torch.dtype
    """

    def __init__(self, matrix: sp.csr_array, dtype: torch.dtype) -> None:
        self.matrix = matrix.astype(numpy_dtype(dtype), copy=False)
        self._tiles: dict[int, tuple[np.ndarray, ...]] = {}

    @cached_property
    def by_row(self) -> tuple[np.ndarray, ...]:
        """Matrix as CSR: (data, columns, row pointers)."""
        return self._arrays(self.matrix)

    @cached_property
    def by_point(self) -> tuple[np.ndarray, ...]:
        """Transposed matrix as CSR: (data, rows, column pointers)."""
        return self._arrays(self.matrix.tocsc())

    def in_tiles(self, width: int) -> tuple[np.ndarray, ...]:
        """Entries of the matrix, sorted by tiles of `width` points, then by measure.

        Returns
        -------
        data, points : ndarray of shape (nnz,)
            Weight of each entry, and index of its point in the tile.
        starts : ndarray of shape (n_runs + 1,)
            A run is the entries of one measure in one tile, ``starts[r]`` to ``starts[r + 1]``.
        measures : ndarray of shape (n_runs,)
            Measure of each run.
        tiles : ndarray of shape (n_tiles + 1,)
            Tile t has the runs ``tiles[t]`` to ``tiles[t + 1]``.
        """
        if width not in self._tiles:
            self._tiles[width] = self._cut(width)
        return self._tiles[width]

    def _cut(self, width: int) -> tuple[np.ndarray, ...]:
        data, points, indptr = self.by_row
        measure = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        tile, position = np.divmod(points, width)
        order = np.lexsort((measure, tile))
        tile, measure = tile[order], measure[order]
        firsts = np.flatnonzero(np.append(True, (np.diff(tile) != 0) | (np.diff(measure) != 0)))
        n_tiles = -(-self.matrix.shape[1] // width)
        tiles = np.searchsorted(tile[firsts], np.arange(n_tiles + 1))
        return data[order], position[order], np.append(firsts, len(data)), measure[firsts], tiles

    @cached_property
    def n_points(self) -> np.ndarray:
        """Number of entries of each row."""
        return np.diff(self.matrix.indptr).astype(np.int64)

    @cached_property
    def pairs(self) -> np.ndarray:
        """Number of pairs of entries of each row."""
        return self.n_points**2

    def parts(self) -> list[tuple[int, int]]:
        """Ranges of rows with about equal numbers of pairs of entries, as jobs for threads."""
        cost = np.cumsum(self.pairs)
        n_parts = 8 * n_threads()
        cuts = np.searchsorted(cost, cost[-1] * np.arange(1, n_parts) / n_parts)
        edges = np.unique([0, *cuts, len(cost)])
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    @staticmethod
    def _arrays(matrix: Any) -> tuple[np.ndarray, ...]:
        return matrix.data, matrix.indices.astype(np.intp), matrix.indptr.astype(np.intp)


def numpy_dtype(dtype: torch.dtype) -> np.dtype:
    """Convert a torch dtype to a NumPy dtype."""
    return np.dtype(str(dtype).removeprefix("torch."))
