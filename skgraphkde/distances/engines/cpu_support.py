"""Support of kernel means on the CPU: points and weights in the form of the compiled loops.

Supports are cached, so that references are prepared once and not in every call.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.computing.threads import n_threads


class Support:
    """Points relative to a center, which reduces cancellation, and weights on them.

    Parameters
    ----------
    points : ndarray of shape (n_points, d)
    weights : csr_array of shape (n_measures, n_points)
    origin_of : Support, default=None
        Support of the other side, whose center is used. None uses that of the points.
    """

    def __init__(
        self, points: np.ndarray, weights: sp.csr_array, origin_of: Support | None = None
    ) -> None:
        self.origin_of = origin_of
        self.center: np.ndarray = center_of(points) if origin_of is None else origin_of.center
        self.points = np.ascontiguousarray(points - self.center)
        self.norms = np.einsum("pk,pk->p", self.points, self.points)
        self.weights = Weights(weights, points.dtype)

    @classmethod
    def kept(
        cls,
        points: np.ndarray,
        weights: sp.csr_array,
        memo: dict[str, Any],
        origin_of: Support | None = None,
    ) -> Support:
        """Support of points and weights, computed in the first call and cached.

        Parameters
        ----------
        points : ndarray of shape (n_points, d)
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


class Weights:
    """CSR matrix (measures, points) in the three orders of the compiled loops.

    Parameters
    ----------
    matrix : csr_array of shape (n_measures, n_points)
    dtype : dtype
    """

    def __init__(self, matrix: sp.csr_array, dtype: np.dtype) -> None:
        self.matrix = matrix.astype(dtype, copy=False)
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
