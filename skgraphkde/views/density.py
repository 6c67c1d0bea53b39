"""Density: the view of the log density of a graph under one distance."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from scipy.special import softmax

from skgraphkde._utils import blocks
from skgraphkde.distances.base import Distance, FittedDistance
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.mmd import MMD
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.copies import sample_by_content
from skgraphkde.views.base import Context, Property, View
from skgraphkde.views.kernels import (
    KDE,
    log_densities,
    log_size_kernel,
    median_distance,
    size_bandwidths,
)

# Largest number of references to which distances and bandwidths are adapted.
MAX_SAMPLE = 500


class Density(View):
    """Log density of a graph: a mixture of kernels on a distance, centered at the references.

    The distance is between clouds of points, one for each node: its features, averaged over
    neighborhoods, or its embedding. All views of this kind in a detector share the points.

    Parameters
    ----------
    distance : Distance, default=None
        Distance between clouds; None is :class:`MMD`.
    kernels : KDE, default=None
        Kernels and their bandwidths; None is :class:`KDE`.

    Attributes
    ----------
    distance_ : FittedDistance
        The distance with constants fitted to the references. An MMD has its `method`, and its
        `correction`, the share of the bias that is removed.
    bandwidths_, logits_, mixture_weights_ : ndarray of shape (n_bandwidths,)
        Bandwidths of the mixture of kernels, and its weights with their logits.
    size_bandwidths_ : ndarray of shape (2,) or None
        Bandwidths of the kernel on the numbers of nodes and edges; None without it.
    references_ : GraphBatch

    Examples
    --------
    >>> from skgraphkde import Density, GraphKDEDetector, MMD
    >>> detector = GraphKDEDetector(views=Density(distance=MMD(gammas=(1, 10))))
    >>> detector.set_params(views__distance__estimator="biased").views
    Density(distance=MMD(estimator='biased', gammas=(1, 10)))
    """

    summary = "The nodes with their features and surroundings."
    uses_points: ClassVar[bool] = True
    graph_data: ClassVar[tuple[str, ...]] = ()
    has_distances: ClassVar[bool] = True
    _parameter_constraints: dict = {
        "distance": [Distance, None],
        "kernels": [KDE, None],
    }

    distance_: FittedDistance
    bandwidths_: np.ndarray
    logits_: np.ndarray
    size_bandwidths_: np.ndarray | None

    def __init__(self, distance: Distance | None = None, kernels: KDE | None = None) -> None:
        self.distance = distance
        self.kernels = kernels

    @property
    def name(self) -> str:
        """Name of the view, with the fitted distance."""
        if not hasattr(self, "distance_"):
            return "density"
        return f"nodes and their surroundings ({self.distance_.name})"

    @property
    def _kernels(self) -> KDE:
        return KDE() if self.kernels is None else self.kernels

    @property
    def mixture_weights_(self) -> np.ndarray:
        """Weights of the mixture of kernels, shape (n_bandwidths,)."""
        return softmax(self.logits_)

    @property
    def bytes_per_pair(self) -> int:
        """Bytes of memory for one pair of a graph and a reference."""
        return 8 * (self.distance_.numbers_per_pair + 2 * len(self.bandwidths_))

    @property
    def is_adaptive(self) -> bool:
        """True if the distance or the bandwidths depend on the references."""
        return self.distance_.adaptive or isinstance(self._kernels.bandwidths, str)

    def build(
        self, dim: int, n_points: int, graphs: GraphBatch, rng: np.random.RandomState
    ) -> Self:
        """Set what does not depend on the points, before an encoder is trained.

        Parameters
        ----------
        dim : int
            Number of coordinates of a point.
        n_points : int
            Number of training nodes that the encoder distinguishes.
        graphs : GraphBatch
            The training graphs.
        rng : RandomState

        Returns
        -------
        self
        """
        distance = MMD() if self.distance is None else self.distance
        self.distance_ = distance.build(dim, n_points, rng)
        self.bandwidths_ = self._kernels.multiples()
        self.logits_ = np.zeros(len(self.bandwidths_))
        self.size_bandwidths_ = size_bandwidths(graphs) if self._kernels.size_kernel else None
        return self

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Adapt the distance and the bandwidths to references, or to 500 of them.

        Parameters
        ----------
        references : GraphBatch
        context : Context
            Work on the references that views share; it gets the squared distances between all
            references if they fit in memory.

        Returns
        -------
        self
        """
        self.references_ = references
        squared = self.adapt(references, context.clouds[self])
        if squared is not None:
            context.squared[self] = squared
        return self

    def adapt(self, references: GraphBatch, measures: DiscreteMeasures) -> np.ndarray | None:
        """Adapt the distance and the bandwidths to clouds of points, or to 500 of them.

        Parameters
        ----------
        references : GraphBatch
        measures : DiscreteMeasures
            Their clouds.

        Returns
        -------
        ndarray of shape (n_references, n_references), or None
            Squared distances between all of them; None if they do not fit in memory.
        """
        sample = sample_by_content(references, MAX_SAMPLE)
        self.distance_, nearest, squared = self.distance_.adapted(measures, sample)
        if isinstance(self._kernels.bandwidths, str):
            self.bandwidths_ = median_distance(nearest) * self._kernels.multiples()
        return squared

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Log densities of graphs, see :meth:`View.scores`."""
        Q, squared, log_weights = context.known[self], context.squared.get(self), None
        if squared is None:
            squared = self.squared(context.clouds[self], Q)
        if self.size_bandwidths_ is not None:
            log_weights = log_size_kernel(graphs, self.references_, self.size_bandwidths_)
        left_out = own[:, np.newaxis] == np.arange(len(Q))
        return log_densities(squared, self.logits_, self.bandwidths_, log_weights, left_out)

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures) -> np.ndarray:
        """Squared distances between clouds of points, checked.

        Parameters
        ----------
        P, Q : DiscreteMeasures

        Returns
        -------
        ndarray of shape (len(P), len(Q))
        """
        squared, shape = self.distance_.squared(P, Q), (len(P), len(Q))
        if np.shape(squared) != shape:
            raise TypeError(
                f"{type(self.distance_).__name__}.squared must return an array of shape {shape}, "
                f"and returned a {type(squared).__name__} of shape {np.shape(squared)}"
            )
        return squared

    def distances(self, context: Context, others: Context, own: np.ndarray) -> np.ndarray:
        """Distances between clouds, see :meth:`View.distances`; negative estimates count as 0."""
        return self.pairwise(context.clouds[self], others.clouds[self]).clip(min=0)

    def pairwise(self, P: DiscreteMeasures, Q: DiscreteMeasures) -> np.ndarray:
        """Distances between all clouds of points.

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
            squared = self.squared(P[block], Q)
            D[block] = np.copysign(np.sqrt(np.abs(squared)), squared)
        return D

    def properties(
        self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray, context: Context
    ) -> list[Property]:
        """No properties: reasons are made of the sizes and the means of the node features."""
        return []
