"""One side of the kernel means on the CPU: points and weights, in the forms that the loops take.

What is computed here is kept, so that references are prepared once and not in every call.
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

# How far a point may be from the space that stands for all, in units of its norm: no more than
# rounding. Axes along which all points together are no longer than the second number, squared, are
# those that may be left out.
FLAT, SHORT = 5e-7, 1e-9
TINY = np.finfo(float).tiny
# In single precision squared distances of points x and y are off by 6e-8 (|x|^2 + |y|^2), and where
# points are near each other by 6e-8 |x| of their distance. Squared MMDs between graphs of one node
# change by 4e-6 + 2e-7 sqrt(gamma) |x| at most, as measured for gammas from 1 to 1e5.
COARSE = 5e-6, 2.5e-7
# A point that is as far in single precision, whose squares end at 1e38, has no neighbors by any
# gamma from the second number on.
FAR, SMOOTH = 1e16, 1e-20


class Support:
    """Points relative to a center (differences far from 0 would cancel), and weights on them.

    Parameters
    ----------
    points : Tensor of shape (n_points, d)
    weights : csr_array of shape (n_measures, n_points)
    beside : Support, default=None
        The other side, whose center and axes are taken. None: those of the points.
    """

    def __init__(
        self, points: torch.Tensor, weights: sp.csr_array, beside: Support | None = None
    ) -> None:
        points = points.detach()
        self.beside = beside
        self.center: torch.Tensor = center_of(points) if beside is None else beside.center
        self.points = np.ascontiguousarray((points - self.center).numpy())
        self.norms = np.einsum("pk,pk->p", self.points, self.points)
        self.weights = Weights(weights, points.dtype)

    @classmethod
    def kept(
        cls,
        points: torch.Tensor,
        weights: sp.csr_array,
        memo: dict[str, Any],
        beside: Support | None = None,
    ) -> Support:
        """The support of points and weights, computed in the first call with their memo."""
        key = "support" if beside is None else "support beside"
        if key not in memo or memo[key].beside is not beside:
            memo[key] = cls(points, weights, beside)
        return memo[key]

    @property
    def in_double(self) -> tuple:
        """Points, their squared norms, and weights by row."""
        return self.points, self.norms, self.weights.by_row

    def errors_in_single(self, gammas: Sequence[float]) -> np.ndarray:
        """By how much squared MMDs between measures of one point would be off, at most.

        One number for each measure, whose mean norm is that of the points.
        """
        if min(gammas) < SMOOTH:
            return np.full(len(self._mean_norms), np.inf)
        return COARSE[0] + COARSE[1] * np.sqrt(max(gammas) * self._mean_norms)

    @cached_property
    def shares(self) -> np.ndarray:
        """What is left of independent errors of points in their means: sqrt(sum of w^2)."""
        matrix = self.weights.matrix
        return np.sqrt(matrix.multiply(matrix).sum(axis=1))

    @cached_property
    def _mean_norms(self) -> np.ndarray:
        """The mean squared norm of the points of each measure."""
        return self.weights.matrix @ self.norms

    @cached_property
    def in_single(self) -> tuple:
        """The same in single precision, in as many coordinates as the points span dimensions.

        The last coordinate is the distance from the space that the axes span. Squared distances to
        points in that space stay what they are.
        """
        axes = (self.beside or self)._axes
        along = self.points @ axes
        left = np.sqrt((self.norms - np.einsum("pk,pk->p", along, along)).clip(0))
        points = np.column_stack([along, left]).clip(-FAR, FAR).astype(np.float32)
        norms = np.einsum("pk,pk->p", points, points, dtype=float).astype(np.float32)
        return points, norms, self.weights.by_row

    @cached_property
    def _axes(self) -> np.ndarray:
        """Axes of the space that the points span, shape (d, n_axes)."""
        directions = self.points / np.sqrt(np.maximum(self.norms, TINY))[:, None]
        squares, axes = np.linalg.eigh(directions.T @ directions)  # ascending
        short = directions @ axes[:, squares <= SHORT]
        n_flat = np.count_nonzero(np.square(short).cumsum(axis=1).max(axis=0) <= FLAT**2)
        return np.ascontiguousarray(axes[:, n_flat:])


class Weights:
    """A CSR matrix (measures, points) as the compiled loops take it, from three sides.

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
            The position of the point in its tile.
        starts : ndarray of shape (n_runs + 1,)
            A run is the entries of one measure in one tile, ``starts[r]`` to ``starts[r + 1]``.
        measures : ndarray of shape (n_runs,)
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
        """Entries of each row."""
        return np.diff(self.matrix.indptr).astype(np.int64)

    @cached_property
    def pairs(self) -> np.ndarray:
        """Pairs of entries of each row."""
        return self.n_points**2

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


def numpy_dtype(dtype: torch.dtype) -> np.dtype:
    """NumPy's name for a torch dtype."""
    return np.dtype(str(dtype).removeprefix("torch."))
