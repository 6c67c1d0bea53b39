"""Density: the view of the log density of a graph under one distance."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import softmax

from skgraphkde._utils import blocks, one_blas_thread
from skgraphkde.core.distances.base import Distance, FittedDistance
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.distances.mmd import MMD
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.copies import sample_by_content
from skgraphkde.core.points.twins import Twins
from skgraphkde.core.views.base import Clouds, Context, Property, View
from skgraphkde.core.views.kernels import (
    KDE,
    log_densities,
    log_size_kernel,
    median_distance,
    mixture,
    size_bandwidths,
)
from skgraphkde.core.views.mixture import learn_weights

# Largest number of references to which distances and bandwidths are adapted.
MAX_SAMPLE = 500
# Largest number of graphs from whose twins the weights are learned, and of nodes of each. The time
# of a twin grows with the cube of its nodes: these cubes have a sum of at most a few seconds.
MAX_LEARNING = 400
MAX_NODES = 1_000
MAX_CUBES = 1e10


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

    uses_points: ClassVar[bool] = True
    graph_data: ClassVar[tuple[str, ...]] = ()
    has_distances: ClassVar[bool] = True
    _parameter_constraints: dict = {
        "distance": [Distance, None],
        "kernels": [KDE, None],
    }

    distance_: FittedDistance
    bandwidths_: np.ndarray
    logits_: Any  # None until they are learned
    size_bandwidths_: np.ndarray | None

    def __init__(self, distance: Distance | None = None, kernels: KDE | None = None) -> None:
        self.distance = distance
        self.kernels = kernels

    @property
    def name(self) -> str:
        """Name of the view, with the fitted distance."""
        if not hasattr(self, "distance_"):
            return "density"
        return f"density ({self.distance_.name})"

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

        Weights that are to be learned are then None: training learns them, or `fit`.

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
        are_equal = self._kernels.weights == "equal" or len(self.bandwidths_) == 1
        self.logits_ = np.zeros(len(self.bandwidths_)) if are_equal else None
        self.size_bandwidths_ = size_bandwidths(graphs) if self._kernels.size_kernel else None
        return self

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Adapt the distance and the bandwidths to references, and learn the weights of these.

        Weights that training has learned remain.

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
        if self.logits_ is None:
            self.logits_ = self._learn_logits(context)
        return self

    def _learn_logits(self, context: Context) -> np.ndarray:
        """Learn the weights from references and their twins, without the references' kernels."""
        index = context.shared(graphs_with_twins)
        if len(index) < 2:  # no density is left without a graph's own kernel
            return np.zeros(len(self.bandwidths_))
        graphs = context.graphs[index]
        clouds = context.clouds[self][index]
        own = np.eye(len(index), dtype=bool)
        of_graphs = self.log_densities(graphs, clouds, graphs, clouds, own)
        twins, clouds_of_twins = context.shared(_embed_twins, context)
        of_twins = self.log_densities(twins, clouds_of_twins[self], graphs, clouds, own)
        return learn_weights(of_graphs, of_twins)

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
        known = context.known[self]
        squared = context.squared.get(self)
        if squared is None:
            squared = self.squared(context.clouds[self], known)
        left_out = own[:, np.newaxis] == np.arange(len(known))
        by_bandwidth = self._by_bandwidth(squared, graphs, self.references_, left_out)
        return mixture(by_bandwidth, self.logits_)

    def log_densities(
        self,
        graphs: GraphBatch,
        clouds: DiscreteMeasures,
        references: GraphBatch,
        known: DiscreteMeasures,
        left_out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Log densities under each bandwidth.

        Parameters
        ----------
        graphs, references : GraphBatch
        clouds, known : DiscreteMeasures
            Their clouds.
        left_out : ndarray of shape (n_graphs, n_references), bool, default=None
            References that do not count for a graph.

        Returns
        -------
        ndarray of shape (n_graphs, n_bandwidths)
        """
        return self._by_bandwidth(self.squared(clouds, known), graphs, references, left_out)

    def _by_bandwidth(
        self,
        squared: np.ndarray,
        graphs: GraphBatch,
        references: GraphBatch,
        left_out: np.ndarray | None,
    ) -> np.ndarray:
        log_weights = None
        if self.size_bandwidths_ is not None:
            log_weights = log_size_kernel(graphs, references, self.size_bandwidths_)
        return log_densities(squared, self.bandwidths_, log_weights, left_out)

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures) -> np.ndarray:
        """Squared distances between clouds of points, checked.

        Parameters
        ----------
        P, Q : DiscreteMeasures

        Returns
        -------
        ndarray of shape (len(P), len(Q))
        """
        squared = self.distance_.squared(P, Q)
        shape = (len(P), len(Q))
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


def graphs_with_twins(graphs: GraphBatch) -> np.ndarray:
    """Graphs from whose twins weights are learned: a sample by content that a spectrum allows.

    Parameters
    ----------
    graphs : GraphBatch

    Returns
    -------
    ndarray of int
        Indices of at most 400 graphs of at most 1,000 nodes.
    """
    small = np.flatnonzero(graphs.n_nodes_per_graph <= MAX_NODES)
    if not len(small):
        return small
    cubes = graphs.n_nodes_per_graph[small].astype(float) ** 3
    most = min(MAX_LEARNING, int(MAX_CUBES / cubes.mean()))
    return small[sample_by_content(graphs[small], most)]


def _embed_twins(graphs: GraphBatch, context: Context) -> tuple[GraphBatch, Clouds]:
    """Twins with edges removed, which need no random choice, and their clouds."""
    with one_blas_thread():  # threads would wait for each other's small matrices
        twins = Twins().with_edges_removed(graphs[context.shared(graphs_with_twins)])
    return twins, context.embedding(twins)
