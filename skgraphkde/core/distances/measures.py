"""Discrete measures: graphs as weighted points, the input of distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.core.graphs.arrays import frozen


@dataclass(eq=False)
class DiscreteMeasures:
    """Weighted point clouds on common support points, one per graph.

    Parameters
    ----------
    points : ndarray of shape (n_points, d)
        Support, shared by all measures. A torch tensor while an encoder is trained.
    weights : csr_array of shape (n_measures, n_points)
        Non-negative weights; rows sum to 1.
    sizes : ndarray of shape (n_measures,)
        Number of samples (nodes) of each measure, which the unbiased estimate needs. A tensor if
        `squared_norms` are one.
    squared_norms : ndarray of shape (n_measures, n_kernels), default=None
        Means of kernels within each measure, with their bias. A distance adds them in ``embed``.
    features : ndarray of shape (n_measures, n_kernels, n_components), default=None
        Means of random features, of which inner products are means of kernels. Measures that have
        them may be without `points` and `weights`.
    """

    points: Any
    weights: Any
    sizes: Any
    squared_norms: Any = None
    features: Any = None
    _projected: tuple | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_clouds(cls, points: Any, ptr: np.ndarray) -> DiscreteMeasures:
        """Make uniform measures on consecutive points.

        Parameters
        ----------
        points : ndarray of shape (n_points, d)
        ptr : ndarray of shape (n_measures + 1,)
            Measure i is uniform on the points ``ptr[i]`` to ``ptr[i + 1] - 1``.

        Returns
        -------
        DiscreteMeasures
        """
        return cls.of_nodes(points, np.arange(len(points)), ptr)

    @classmethod
    def of_nodes(cls, points: Any, index: np.ndarray, ptr: np.ndarray) -> DiscreteMeasures:
        """Make uniform measures on nodes, of which several may share a point.

        Parameters
        ----------
        points : ndarray of shape (n_points, d)
        index : ndarray of shape (n_nodes,), int
            The point of each node.
        ptr : ndarray of shape (n_measures + 1,)
            Measure i is uniform on the nodes ``ptr[i]`` to ``ptr[i + 1] - 1``.

        Returns
        -------
        DiscreteMeasures
        """
        sizes = np.diff(ptr)
        csr = np.repeat(1.0 / sizes, sizes), index.copy(), np.array(ptr)
        weights = sp.csr_array(csr, shape=(len(sizes), len(points)))
        weights.sum_duplicates()
        return cls(points, weights, sizes)

    def of_points(self) -> DiscreteMeasures:
        """Measures of which each is one point alone."""
        return self.from_clouds(self.points, np.arange(len(self.points) + 1))

    @cached_property
    def by_point(self) -> sp.csc_array:
        """The weights by columns: the measures that each point is in."""
        return self.weights.tocsc()

    @cached_property
    def centered(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A center, the points relative to it, which reduces cancellation, and their squared norms.

        The center is the point nearest to 0 in the bounding box of the points. Subtracting it
        brings distant points close to 0, and at most doubles the distance of a point from 0. Unlike
        a mean, it does not let one very distant point change the rounding of others.
        """
        center = self.points.min(axis=0).clip(min=0) + self.points.max(axis=0).clip(max=0)
        points = self.points - center
        # Read-only as what was fitted is, so that loops are compiled once.
        return center, frozen(points), frozen(np.einsum("pk,pk->p", points, points))

    def projections(self, frequencies: np.ndarray) -> np.ndarray:
        """Products of the points with frequencies, which distances with the same ones share.

        Parameters
        ----------
        frequencies : ndarray of shape (d, n_frequencies)

        Returns
        -------
        ndarray of shape (n_points, n_frequencies)
        """
        if self._projected is None or not np.array_equal(self._projected[0], frequencies):
            self._projected = frequencies, self.points @ frequencies.astype(self.points.dtype)
        return self._projected[1]

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, index: Any) -> DiscreteMeasures:
        """Select measures by a slice or an index array, and drop unused support points."""
        terms = [None if x is None else x[index] for x in (self.squared_norms, self.features)]
        if self.points is None:
            return DiscreteMeasures(None, None, self.sizes[index], *terms)
        weights = self.weights[index]
        used, columns = np.unique(weights.indices, return_inverse=True)
        weights = sp.csr_array(
            (weights.data, columns, weights.indptr), shape=(weights.shape[0], len(used))
        )
        return DiscreteMeasures(self.points[used], weights, self.sizes[index], *terms)

    def means(self) -> np.ndarray:
        """Mean of the points of each measure, shape (n_measures, d)."""
        return self.weights @ self.points

    @classmethod
    def without_points(cls, parts: Sequence[DiscreteMeasures]) -> DiscreteMeasures:
        """Concatenate measures with random features, whose points are not needed any more.

        Parameters
        ----------
        parts : sequence of DiscreteMeasures

        Returns
        -------
        DiscreteMeasures
            `points` and `weights` are None.
        """
        names = "sizes", "squared_norms", "features"
        return cls(None, None, *(np.concatenate([getattr(x, k) for x in parts]) for k in names))
