"""Density: the view of the log density of a graph under one distance."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from skgraphkde._utils import blocks
from skgraphkde.distances.base import Distance, FittedDistance
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.mmd import MMD
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.views.base import Context, Property, View
from skgraphkde.views.kernels import KDE, MultiBandwidthKDE, SizeKernel

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
    kde_ : MultiBandwidthKDE
        The mixture of kernels.
    size_kernel_ : SizeKernel or None
        Kernel on the numbers of nodes and edges.
    references_ : GraphBatch

    Examples
    --------
    >>> from skgraphkde import Density, GraphKDEDetector, MMD
    >>> detector = GraphKDEDetector(views=Density(distance=MMD(gammas=(1, 10))))
    >>> detector.set_params(views__distance__estimator="biased").views
    Density(distance=MMD(estimator='biased', gammas=(1, 10)))
    """

    summary = "The nodes with their features and surroundings, compared as clouds of points."
    uses_points: ClassVar[bool] = True
    _parameter_constraints: dict = {
        "distance": [Distance, None],
        "kernels": [KDE, None],
    }

    distance_: FittedDistance
    kde_: MultiBandwidthKDE
    size_kernel_: SizeKernel | None

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
    def bandwidths_(self) -> np.ndarray:
        """Bandwidths of the mixture of kernels, shape (n_bandwidths,)."""
        return self.kde_.bandwidths

    @property
    def mixture_weights_(self) -> np.ndarray:
        """Weights of the mixture of kernels, shape (n_bandwidths,)."""
        return self.kde_.mixture_weights

    @property
    def bytes_per_pair(self) -> int:
        """Bytes of memory for one pair of a graph and a reference."""
        return 8 * (self.distance_.numbers_per_pair + 2 * len(self.kde_.multiples))

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
        kernels = KDE() if self.kernels is None else self.kernels
        self.distance_ = distance.build(dim, n_points, rng)
        self.kde_ = kernels.build()
        self.size_kernel_ = SizeKernel.fit(graphs) if kernels.size_kernel else None
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
        measures = context.clouds[self]
        self.references_ = references
        sample = measures.sample(MAX_SAMPLE)
        self.distance_, nearest, squared = self.distance_.adapted(measures, sample)
        if self.kde_.scale_by == "nearest":
            self.kde_.scale_to_nearest(nearest)
        if squared is not None:
            context.squared[self] = squared
        return self

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Log densities of graphs, see :meth:`View.scores`."""
        P, Q = context.clouds[self], context.known[self]
        known, n_known = context.squared.get(self), len(Q)
        scores = np.empty(len(graphs))
        for block in blocks(np.full(len(graphs), float(self.bytes_per_pair * n_known))):
            squared = self.squared(P[block], Q) if known is None else known[block]
            left_out = own[block, np.newaxis] == np.arange(n_known)
            scores[block] = self.log_densities(squared, graphs[block], self.references_, left_out)
        return scores

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures) -> Any:
        """Squared distances between clouds of points, checked.

        Parameters
        ----------
        P, Q : DiscreteMeasures

        Returns
        -------
        ndarray or Tensor of shape (len(P), len(Q))
        """
        squared, shape = self.distance_.squared(P, Q), (len(P), len(Q))
        if tuple(np.shape(squared)) != shape:
            raise TypeError(
                f"{type(self.distance_).__name__}.squared must return an array of shape {shape}, "
                f"and returned a {type(squared).__name__} of shape {tuple(np.shape(squared))}"
            )
        return squared

    def log_densities(
        self,
        squared: Any,
        graphs: GraphBatch,
        references: GraphBatch,
        left_out: np.ndarray | None = None,
    ) -> Any:
        """Log densities of graphs by their squared distances and sizes.

        Parameters
        ----------
        squared : ndarray or Tensor of shape (n_graphs, n_references)
        graphs, references : GraphBatch
        left_out : ndarray of shape (n_graphs, n_references), bool, default=None
            Excluded references.

        Returns
        -------
        ndarray or Tensor of shape (n_graphs,)
        """
        log_weights = None if self.size_kernel_ is None else self.size_kernel_(graphs, references)
        return self.kde_(squared, log_weights, left_out)

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
