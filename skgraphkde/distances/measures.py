"""Discrete measures: graphs as weighted points, the input of distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.computing.arrays import concatenated, to_numpy, weighted_sums
from skgraphkde.graphs.arrays import offsets
from skgraphkde.graphs.refinement import factorize, hash64, hash_points, hash_rows, quantize


@dataclass(frozen=True, eq=False)
class DiscreteMeasures:
    """Weighted point clouds on common support points, one per graph.

    Parameters
    ----------
    points : ndarray or Tensor of shape (n_points, d)
        Support, shared by all measures.
    weights : csr_array of shape (n_measures, n_points)
        Non-negative weights; rows sum to 1.
    sizes : ndarray of shape (n_measures,)
        Number of samples (nodes) of each measure, which the unbiased estimate needs.
    """

    points: Any
    weights: sp.csr_array
    sizes: np.ndarray

    @cached_property
    def memo(self) -> dict[str, Any]:
        """Intermediate results that engines cache for the next call."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "memo"}

    @classmethod
    def from_clouds(cls, points: Any, ptr: np.ndarray) -> DiscreteMeasures:
        """Make uniform measures on consecutive points.

        Parameters
        ----------
        points : ndarray or Tensor of shape (n_points, d)
        ptr : ndarray of shape (n_measures + 1,)
            Measure i is uniform on the points ``ptr[i]`` to ``ptr[i + 1] - 1``.

        Returns
        -------
        DiscreteMeasures
        """
        sizes = np.diff(ptr)
        weights = sp.csr_array(
            (np.repeat(1.0 / sizes, sizes), np.arange(len(points)), ptr),
            shape=(len(sizes), len(points)),
        )
        return cls(points, weights, sizes)

    @classmethod
    def from_colors(
        cls,
        points: Any,
        colors_of_points: np.ndarray,
        colors: np.ndarray,
        ptr: np.ndarray,
    ) -> DiscreteMeasures:
        """Make uniform measures on samples, where all samples of one color share a point.

        Parameters
        ----------
        points : ndarray or Tensor of shape (n_points, d)
        colors_of_points : ndarray of shape (n_points,)
            Color of each point, which includes all colors of samples. The first of several points
            of one color is used.
        colors : ndarray of shape (n_samples,)
            Color of each sample.
        ptr : ndarray of shape (n_measures + 1,)
            Measure i is uniform on the samples ``ptr[i]`` to ``ptr[i + 1] - 1``.

        Returns
        -------
        DiscreteMeasures
        """
        # The order of the points keeps those of a measure together.
        first, number = factorize(
            np.concatenate([x.astype(np.uint64) for x in (colors_of_points, colors)])
        )
        sizes = np.diff(ptr)
        weights = sp.csr_array(
            (np.repeat(1.0 / sizes, sizes), number[len(colors_of_points) :], np.array(ptr)),
            shape=(len(sizes), len(first)),
        )
        weights.sum_duplicates()
        if len(first) < len(points):
            points = points[first]
        return cls(points, weights, sizes)

    def thinned(self, most_points: int) -> DiscreteMeasures:
        """Limit the number of points of each measure to `most_points`.

        A measure with more points is replaced by a systematic sample: the points are sorted by
        their projection on a fixed direction, so that the order of the nodes does not matter, and
        the points at the middle of `most_points` equal parts of the weight are used. The squared
        MMD to the original measure is about 1 / most_points, or less.
        """
        weights = self.weights
        large = np.flatnonzero(np.diff(weights.indptr) > most_points)
        if not len(large):
            return self
        direction = np.random.default_rng(0).standard_normal(self.dim)  # part of the method
        along = to_numpy(self.points).astype(float) @ direction
        middles = (np.arange(most_points) + 0.5) / most_points
        kept = weights.copy()
        for i in large.tolist():
            row = slice(weights.indptr[i], weights.indptr[i + 1])
            order = np.argsort(along[weights.indices[row]], kind="stable")
            total = np.cumsum(weights.data[row][order])
            taken = order[np.minimum(np.searchsorted(total, middles * total[-1]), len(order) - 1)]
            kept.data[row] = np.bincount(taken, minlength=len(order)) / most_points
        kept.eliminate_zeros()
        sizes = self.sizes.copy()
        sizes[large] = most_points
        return DiscreteMeasures(self.points, kept, sizes)[:]

    def sample(self, most: int) -> np.ndarray:
        """Select at most `most` measures by hashes of their points, whatever their order.

        Returns
        -------
        ndarray of int
            Indices, increasing.
        """
        if len(self) <= most:
            return np.arange(len(self))
        return np.sort(np.argsort(self.keys, kind="stable")[:most])

    @cached_property
    def keys(self) -> np.ndarray:
        """A hash of each measure, of its points and their weights."""
        of_points, weights = hash_points(to_numpy(self.points)), self.weights
        parts = hash64(of_points[weights.indices] + quantize(weights.data))
        return np.add.reduceat(parts, weights.indptr[:-1])  # modulo 2^64

    @classmethod
    def concatenate(cls, parts: Sequence[DiscreteMeasures]) -> DiscreteMeasures:
        """Concatenate measures, and merge points that are equal up to rounding.

        Without merging, points that occur in several parts would be stored several times.
        """
        points = concatenated(*(part.points for part in parts))
        colors = hash_rows(to_numpy(points))
        first, column = factorize(colors)  # keeps the points of a measure together
        starts = offsets([len(part.points) for part in parts])
        columns = [
            column[part.weights.indices + start]
            for part, start in zip(parts, starts[:-1], strict=True)
        ]
        weights = sp.csr_array(
            (
                np.concatenate([part.weights.data for part in parts]),
                np.concatenate(columns),
                offsets(np.concatenate([np.diff(part.weights.indptr) for part in parts])),
            ),
            shape=(sum(map(len, parts)), len(first)),
        )
        weights.sum_duplicates()
        sizes = np.concatenate([part.sizes for part in parts])
        return DiscreteMeasures(points[first], weights, sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def dim(self) -> int:
        """Number of coordinates of a point."""
        return self.points.shape[1]

    def __getitem__(self, index: Any) -> DiscreteMeasures:
        """Select measures by a slice or an index array, and drop unused support points."""
        weights = self.weights[index]
        used, columns = np.unique(weights.indices, return_inverse=True)
        weights = sp.csr_array(
            (weights.data, columns, weights.indptr), shape=(weights.shape[0], len(used))
        )
        return DiscreteMeasures(self.points[used], weights, self.sizes[index])


def pooled(P: DiscreteMeasures) -> Any:
    """Mean of the points of each measure, shape (len(P), d)."""
    return weighted_sums(P.points, P.weights)
