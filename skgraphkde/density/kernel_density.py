"""KernelDensity: clouds of points and sizes of graphs -> log densities under one distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from skgraphkde.computing.arrays import to_numpy
from skgraphkde.computing.blocks import blocks
from skgraphkde.density.kde import MultiBandwidthKDE, own_references
from skgraphkde.density.size_kernel import SizeKernel
from skgraphkde.distances.base import FittedDistance
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import State, register

# Largest number of references to which distances and bandwidths are adapted.
MAX_SAMPLE = 500

# Graphs and their clouds of points.
Clouds = tuple[GraphBatch, DiscreteMeasures]


@register
class KernelDensity:
    """Density of graphs under one distance: a mixture of kernels, times a kernel on sizes.

    Parameters
    ----------
    distance : FittedDistance
    kde : MultiBandwidthKDE
    size_kernel : SizeKernel or None
    """

    def __init__(
        self, distance: FittedDistance, kde: MultiBandwidthKDE, size_kernel: SizeKernel | None
    ) -> None:
        self.distance, self.kde, self.size_kernel = distance, kde, size_kernel

    @property
    def bytes_per_pair(self) -> int:
        """Bytes of memory for one pair of a graph and a reference."""
        return 8 * (self.distance.numbers_per_pair + 2 * len(self.kde.multiples))

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None = None) -> Any:
        """Squared distances, shape (len(P), len(Q)); None for `Q` means `P`."""
        shape = len(P), len(P if Q is None else Q)
        squared = self.distance.squared(P, Q)
        kind = type(squared if P.points is None else P.points)
        if type(squared) is not kind or squared.shape != shape:
            raise TypeError(
                f"{type(self.distance).__name__}.squared must return a {kind.__name__} "
                f"of shape {shape}, as the points are, and returned a {type(squared).__name__} of "
                f"shape {tuple(np.shape(squared))}"
            )
        return squared

    def __call__(
        self, queries: Clouds, references: Clouds, left_out: np.ndarray | None = None
    ) -> Any:
        """Log densities of graphs under references.

        Parameters
        ----------
        queries, references : (GraphBatch, DiscreteMeasures)
            If the measures are the same object, the cost is half.
        left_out : ndarray of shape (n_queries, n_references), bool, default=None
            Excluded references.

        Returns
        -------
        ndarray or Tensor of shape (n_queries,)
        """
        (graphs, P), (reference_graphs, Q) = queries, references
        squared = self.squared(P, None if P is Q else Q)
        return self.kde(squared, self._log_weights(graphs, reference_graphs), left_out)

    def _log_weights(self, graphs: GraphBatch, references: GraphBatch) -> np.ndarray | None:
        """Logarithms of the size kernel, shape (n_graphs, n_references); None without it."""
        if self.size_kernel is None:
            return None
        return self.size_kernel(graphs, references)

    def adapt(self, references: Clouds, *, all_pairs: bool = False) -> Any:
        """Adapt the distance and the bandwidths to references, or to 500 of them.

        Parameters
        ----------
        references : (GraphBatch, DiscreteMeasures)
        all_pairs : bool, default=False
            Whether to compute all pairwise distances even if neither the distance nor the
            bandwidths adapt to the data.

        Returns
        -------
        ndarray or Tensor of shape (n_references, n_references), or None
            Squared distances between all references, if they were computed.
        """
        if not (all_pairs or self.distance.adaptive or self.kde.scale_by != "fixed"):
            return None
        (graphs, measures), n = references, len(references[0])
        sample = measures.sample(MAX_SAMPLE)
        self.distance, nearest, squared = self.distance.adapted(measures, sample)
        if self.kde.scale_by == "nearest":
            self.kde.scale_to_nearest(nearest)
        elif self.kde.scale_by == "likelihood":
            of_sample = self.squared(measures[sample], measures)
            log_weights = self._log_weights(graphs[sample], graphs)
            own = own_references(sample, n)
            self.kde.scale_by_likelihood(of_sample, log_weights, own)
        return squared

    def leave_one_out(self, references: Clouds, squared: Any) -> np.ndarray:
        """Leave-one-out log densities of references.

        Parameters
        ----------
        references : (GraphBatch, DiscreteMeasures)
        squared : ndarray or Tensor of shape (n_references, n_references), or None
            Squared distances between all references. None computes them.

        Returns
        -------
        ndarray of shape (n_references,)
        """
        (graphs, measures), n = references, len(references[0])
        scores = np.empty(n)
        per_pair = self.bytes_per_pair if squared is None else 8 * 9
        for block in blocks(np.full(n, float(per_pair * n))):
            own = own_references(np.arange(n)[block], n)
            if squared is None:
                of_block = self.squared(measures[block], measures)
            else:
                of_block = squared[block]
            log_weights = self._log_weights(graphs[block], graphs)
            scores[block] = to_numpy(self.kde(of_block, log_weights, own))
        return scores

    def pairwise(self, P: DiscreteMeasures, Q: DiscreteMeasures) -> np.ndarray:
        """Distances between all measures.

        Parameters
        ----------
        P, Q : DiscreteMeasures

        Returns
        -------
        ndarray of shape (len(P), len(Q))
            Minus the root of the size of a negative estimate of a squared distance.
        """
        D = np.empty((len(P), len(Q)))
        for block in blocks(np.full(len(D), float(self.bytes_per_pair * D.shape[1]))):
            squared = to_numpy(self.squared(P[block], Q))
            D[block] = np.copysign(np.sqrt(np.abs(squared)), squared)
        return D

    def to_state(self) -> dict[str, Any]:
        """State to save."""
        names = ("distance", "kde", "size_kernel")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_state(cls, state: State) -> KernelDensity:
        """Rebuild the density from its saved state."""
        distance = state.take_instance("distance", FittedDistance)
        kde = state.take_instance("kde", MultiBandwidthKDE)
        return cls(distance, kde, state.take_optional("size_kernel", SizeKernel))
