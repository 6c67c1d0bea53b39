"""Discrete measures: graphs as weighted points, the input of distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class DiscreteMeasures:
    """Weighted point clouds on common support points, one per graph.

    Parameters
    ----------
    points : ndarray of shape (n_points, d)
        Support, shared by all measures. A torch tensor while an encoder is trained.
    weights : csr_array of shape (n_measures, n_points)
        Non-negative weights; rows sum to 1.
    sizes : ndarray of shape (n_measures,)
        Number of samples (nodes) of each measure, which the unbiased estimate needs.
    """

    points: Any
    weights: sp.csr_array
    sizes: np.ndarray

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

    @cached_property
    def centered(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A center, the points relative to it, which reduces cancellation, and their squared norms.

        The center is the point nearest to 0 in the bounding box of the points. Subtracting it
        brings distant points close to 0, and at most doubles the distance of a point from 0. Unlike
        a mean, it does not let one very distant point change the rounding of others.
        """
        center = self.points.min(axis=0).clip(min=0) + self.points.max(axis=0).clip(max=0)
        points = self.points - center
        return center, points, np.einsum("pk,pk->p", points, points)

    def projections(self, frequencies: np.ndarray) -> np.ndarray:
        """Products of the points with frequencies, which distances with the same ones share.

        Parameters
        ----------
        frequencies : ndarray of shape (d, n_frequencies)

        Returns
        -------
        ndarray of shape (n_points, n_frequencies)
        """
        known, products = self._projected
        if known is None or not np.array_equal(known, frequencies):
            products = self.points @ frequencies.astype(self.points.dtype)
            self._projected[:] = frequencies, products
        return products

    @cached_property
    def _projected(self) -> list:
        return [None, None]

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

    def means(self) -> np.ndarray:
        """Mean of the points of each measure, shape (n_measures, d)."""
        return self.weights @ self.points


@dataclass(frozen=True, eq=False)
class EmbeddedMeasures(DiscreteMeasures):
    """Measures with the terms of a squared distance that depend on single measures.

    Parameters
    ----------
    squared_norms : ndarray of shape (n_measures, n_kernels)
        Means of kernels within each measure, with their bias.
    features : ndarray of shape (n_measures, n_kernels, n_components), default=None
        Means of random features, of which inner products are means of kernels.
    """

    squared_norms: Any
    features: Any = None

    def __getitem__(self, index: Any) -> EmbeddedMeasures:
        terms = [None if x is None else x[index] for x in (self.squared_norms, self.features)]
        if self.points is None:
            return EmbeddedMeasures(None, None, self.sizes[index], *terms)
        P = super().__getitem__(index)
        return EmbeddedMeasures(P.points, P.weights, P.sizes, *terms)

    @classmethod
    def without_points(cls, parts: Sequence[EmbeddedMeasures]) -> EmbeddedMeasures:
        """Concatenate measures with random features, whose points are not needed any more.

        Parameters
        ----------
        parts : sequence of EmbeddedMeasures

        Returns
        -------
        EmbeddedMeasures
            `points` and `weights` are None.
        """
        sizes = np.concatenate([part.sizes for part in parts])
        norms = np.concatenate([part.squared_norms for part in parts])
        features = np.concatenate([part.features for part in parts])
        return cls(None, None, sizes, norms, features)  # type: ignore[arg-type]
