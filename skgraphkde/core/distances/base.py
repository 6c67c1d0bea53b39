"""Base classes of distances: a specification, and the fitted distance that it builds.

To add a distance, subclass both: `docs/extending.md` adds the energy distance in a short module.
"""

from __future__ import annotations

import numpy as np

from skgraphkde._utils import blocks, memory_limit
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.specification import Specification


class Distance(Specification):
    """Base class of the specifications of distances.

    A subclass assigns its parameters in ``__init__`` and builds a fitted distance in :meth:`build`.
    """

    def build(self, dim: int, n_points: int, rng: np.random.RandomState) -> FittedDistance:
        """Build the distance.

        Parameters
        ----------
        dim : int
            Number of coordinates of a point.
        n_points : int
            Number of training nodes that the encoder distinguishes. A method may depend on it.
        rng : RandomState
            Generator for random choices.

        Returns
        -------
        FittedDistance
        """
        raise NotImplementedError(f"{type(self).__name__} has no method build(dim, n_points, rng)")


class FittedDistance:
    """Base class of distances between measures, with their constants."""

    #: Whether :meth:`adapted` returns a changed distance.
    adaptive = False
    #: Whether embedded measures need their points.
    needs_points = True
    #: Numbers per pair of measures that :meth:`squared` holds in memory at the same time.
    numbers_per_pair = 2
    #: Largest valid number of a node or an edge, in standard deviations. After an encoder, the
    #: squares of larger numbers may overflow.
    largest_coordinate = 1e100

    @property
    def name(self) -> str:
        """Name of the distance in tables and plots."""
        return type(self).__name__.removeprefix("Fitted")

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None = None) -> np.ndarray:
        """Squared distances between all measures.

        Parameters
        ----------
        P, Q : DiscreteMeasures
            None for `Q` means `P`.

        Returns
        -------
        ndarray of shape (len(P), len(Q))
        """
        raise NotImplementedError(f"{type(self).__name__} has no method squared(P, Q)")

    def embed(self, P: DiscreteMeasures) -> DiscreteMeasures:
        """Add terms that depend on single measures, so that references need them only once."""
        return P

    def adapted(
        self, P: DiscreteMeasures, sample: np.ndarray
    ) -> tuple[FittedDistance, np.ndarray, np.ndarray | None]:
        """Adapt to references, and find their nearest neighbors.

        Parameters
        ----------
        P : DiscreteMeasures
            The references.
        sample : ndarray of int
            Indices of references whose nearest neighbors are needed.

        Returns
        -------
        distance : FittedDistance
            This distance, or a copy with constants that are adapted to the references.
        nearest : ndarray of shape (len(sample),)
            Squared distances to the nearest other reference.
        squared : ndarray of shape (len(P), len(P)), or None
            All squared distances; None if they do not fit in memory.
        """
        P = self.embed(P)
        if 8.0 * self.numbers_per_pair * len(P) ** 2 <= memory_limit():
            squared = self.squared(P)
            return self, nearest(squared[sample], sample, 1), squared
        parts = self._parts(sample, len(P))
        smallest = [nearest(self.squared(P[rows], P), rows, 1) for rows in parts]
        return self, np.concatenate(smallest), None

    def _parts(self, sample: np.ndarray, n_columns: int) -> list[np.ndarray]:
        """Split a sample into parts whose distances to `n_columns` measures fit in memory."""
        cost = 8.0 * self.numbers_per_pair * n_columns
        return [sample[block] for block in blocks(np.full(len(sample), cost))]

    def contributions(self, P: DiscreteMeasures, Q: DiscreteMeasures) -> np.ndarray:
        """Contributions of a graph's nodes to its squared distances.

        With the graph's measure P and the measure delta_p of its node p alone, the contribution is
        (d^2(delta_p, Q) - d^2(delta_p, P)) / n. For squared distances between mean embeddings (MMD,
        the energy distance, distances of means) these sum to d^2(P, Q). Other distances must
        override this method.

        Parameters
        ----------
        P : DiscreteMeasures
            The measure of the graph alone, of which nodes that look alike share a point.
        Q : DiscreteMeasures
            Measures of other graphs.

        Returns
        -------
        ndarray of shape (n_points, len(Q))
            Of one node at each of the graph's points. Over all nodes they sum to the squared
            distances.
        """
        nodes = self.embed(P.of_points())
        return (self.squared(nodes, Q) - self.squared(nodes, self.embed(P))) / P.sizes


def nearest(distances: np.ndarray, own: np.ndarray, k: int) -> np.ndarray:
    """Mean distance of graphs to their k nearest references, without the graphs themselves.

    Parameters
    ----------
    distances : ndarray of shape (n_graphs, n_references)
        Those of a graph to itself are overwritten.
    own : ndarray of shape (n_graphs,)
        Index of the reference that equals each graph and is excluded, or -1.
    k : int
        Number of nearest references, smaller than n_references if a graph is one of them.

    Returns
    -------
    ndarray of shape (n_graphs,)
    """
    is_own = own >= 0
    distances[np.flatnonzero(is_own), own[is_own]] = np.inf
    return np.partition(distances, k - 1, axis=1)[:, :k].mean(axis=1)
