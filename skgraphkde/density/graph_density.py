"""GraphDensity: the fitted density of graphs, with its references embedded once."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch

from skgraphkde.density.kde import MultiBandwidthKDE
from skgraphkde.density.model import DensityModel, EmbeddedGraphs, carried_features
from skgraphkde.density.references import References, positions
from skgraphkde.density.size_kernel import SizeKernel
from skgraphkde.distances.base import FittedDistance
from skgraphkde.distances.measures import DiscreteMeasures, pooled
from skgraphkde.encoders.base import Encoder, restore_encoder, weights_of
from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.features import NodeFeatures
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import State, register

# Graphs that provide the densities by which references are chosen, at most.
PILOT_GRAPHS = 2_000
# A file may ask for embeddings of this many bytes, or of so many times the bytes of its graphs.
EMBEDDING_BYTES, EMBEDDING_RATIO = 2**30, 1024


@register
class GraphDensity:
    """The density that a detector has fitted: log densities, distances and contributions.

    It computes in double precision, on the device where its references are: short bandwidths
    amplify rounding, and in single precision a score can change by 1e-4 with the other graphs of
    its block.

    Parameters
    ----------
    features : NodeFeatures
        Fitted.
    model : DensityModel
        In double precision, in evaluation mode.
    references : EmbeddedGraphs
        Embedded by the model.

    Attributes
    ----------
    features : NodeFeatures
        Computes the node features.
    references : GraphBatch
        The reference graphs: the training graphs in their order, or those that were chosen.
    bandwidths, mixture_weights : ndarray of shape (n_bandwidths,)
        Of the mixture of kernels.
    distance : FittedDistance
        With the constants that fit the references; of an MMD, its `method` and its `correction`,
        the share of the bias that is removed.
    """

    def __init__(
        self, features: NodeFeatures, model: DensityModel, references: EmbeddedGraphs
    ) -> None:
        self.features = features
        self._model = model
        self._references = references
        self._copies: dict[str, GraphDensity] = {}

    @property
    def references(self) -> GraphBatch:
        """The reference graphs."""
        return self._references.graphs

    @property
    def bandwidths(self) -> np.ndarray:
        """The bandwidths, shape (n_bandwidths,)."""
        return self._model.kde.bandwidths

    @property
    def mixture_weights(self) -> np.ndarray:
        """The weights of the bandwidths, shape (n_bandwidths,)."""
        return self._model.kde.mixture_weights

    @property
    def distance(self) -> FittedDistance:
        """The distance, adapted to the references."""
        return self._model.distance

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self._model.device

    def on(self, device: torch.device) -> GraphDensity:
        """The same density on a device; the copy is kept, but neither pickled nor saved."""
        if device == self.device:
            return self
        name = str(device)
        if name not in self._copies:
            measures = self._references.measures
            plain = DiscreteMeasures(measures.points.to(device), measures.weights, measures.sizes)
            model = copy.deepcopy(self._model).to(device)
            references = EmbeddedGraphs(self.references, model.distance.embed(plain))
            self._copies[name] = GraphDensity(self.features, model, references)
        return self._copies[name]

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_copies": {}}

    # -- what it computes --------------------------------------------------------------------------

    def check_batch(self, graphs: GraphBatch) -> None:
        """Check that graphs have what the training graphs had, in a range that can be computed.

        Raises
        ------
        ValueError
            The message names the first graph and node that does not, and what to do.
        """
        self.features.check_batch(graphs)
        limit = self.distance.largest_coordinate
        if np.isinf(limit) or "attribute" not in self.features.kinds_:
            return
        standardized = np.abs(self.features.standardized_attributes(graphs))
        if standardized.size and standardized.max() > limit:
            node, column = np.unravel_index(standardized.argmax(), standardized.shape)
            graph, attribute = graphs.graph_of_node[node], self.features.attributes_[column]
            raise ValueError(
                f"graph {graph}, node {node - graphs.node_ptr[graph]}: node attribute {attribute} "
                f"is {np.asarray(graphs.attributes)[node, attribute]:g}, "
                f"{standardized[node, column]:.0e} standard deviations from those of the training "
                "graphs, beyond what random features can compute: clip it, or use "
                "distance=MMD(method='exact')"
            )

    def log_densities(
        self,
        graphs: GraphBatch,
        *,
        own: np.ndarray | None = None,
        featurized: bool = False,
        verbose: int = 0,
    ) -> np.ndarray:
        """Log densities of graphs.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), default=None
            The reference that each graph is, to be left out (-1: none). None leaves nothing out.
        featurized : bool, default=False
            Whether the graphs carry their node features already.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        ndarray of shape (n_graphs,), float64
        """
        featurize = carried_features if featurized else self.features.transform_batch
        return self._model.log_densities(graphs, self._references, featurize, own, verbose)

    def distances(self, graphs: GraphBatch, other: GraphBatch | None = None) -> np.ndarray:
        """Distances from graphs to others; the size kernel plays no part.

        Parameters
        ----------
        graphs, other : GraphBatch
            None for `other` means the references.

        Returns
        -------
        ndarray of shape (len(graphs), len(other))
            A negative squared distance, of an unbiased estimate, counts as 0.
        """
        P = self._measures(graphs)
        if other is graphs:
            return self._model.distances(P, P)
        Q = self._references.measures if other is None else self._measures(other)
        return self._model.distances(P, Q)

    def reference_distances(self) -> np.ndarray:
        """Distances between all references, shape (n_references, n_references)."""
        return self._model.distances(self._references.measures, self._references.measures)

    def embeddings(self, graphs: GraphBatch) -> np.ndarray:
        """Means of the node embeddings of each graph, shape (n_graphs, embedding_dim)."""
        return pooled(self._measures(graphs), "mean").numpy(force=True)

    @property
    def embedding_dim(self) -> int:
        """Number of coordinates of a node embedding."""
        return self._model.encoder.out_dim

    @torch.no_grad()
    def contributions(self, graph: GraphBatch, references: np.ndarray) -> np.ndarray:
        """Shares of one graph's nodes in its squared distances to some references.

        Parameters
        ----------
        graph : GraphBatch
            Of one graph.
        references : ndarray of int

        Returns
        -------
        ndarray of shape (n_nodes, len(references))
            Columns sum to the squared distances.
        """
        features = self.features.transform_batch(graph)
        flow = MessageFlow.unmerged(features, self._model.encoder.n_layers)
        Z = self._model.encode(flow)
        of_references = self._references.measures[references]
        return self._model.distance.contributions(Z, of_references).numpy(force=True)

    def _measures(self, graphs: GraphBatch) -> DiscreteMeasures:
        return self._model.embed_all(graphs, self.features.transform_batch).measures

    # -- state -------------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """What a file keeps. Embeddings follow from the graphs and are computed again."""
        model = self._model
        return {
            "features": self.features,
            "encoder": model.encoder.specification,
            "weights": weights_of(model.encoder),
            "distance": model.distance,
            "kde": model.kde,
            "size_kernel": model.size_kernel,
            "references": self.references,
        }

    @classmethod
    def from_state(cls, state: State) -> GraphDensity:
        """The density in a file."""
        features = state.take_instance("features", NodeFeatures)
        references = state.take_instance("references", GraphBatch)
        state.check(len(references) > 1, "there are fewer than two references")
        specification = state.take_instance("encoder", Encoder)
        in_dim = features.n_features_out_
        encoder = restore_encoder(specification, in_dim, state.take("weights", dict))
        features.check_batch(references)
        distance = state.take_instance("distance", FittedDistance)
        needed = 8 * references.n_nodes * (in_dim + encoder.out_dim)
        needed += 8 * len(references) * distance.numbers_per_measure
        limit = max(EMBEDDING_BYTES, EMBEDDING_RATIO * references.nbytes)
        state.check(needed <= limit, f"embeddings would take {needed} bytes, far more than graphs")
        distance.check_dim(encoder.out_dim)
        kde = state.take_instance("kde", MultiBandwidthKDE)
        size_kernel = state.take_optional("size_kernel", SizeKernel)
        model = DensityModel(encoder, distance, kde, size_kernel).double().eval()
        return cls(features, model, model.embed_all(references, features.transform_batch))


# -- fitting ---------------------------------------------------------------------------------------


def fit_density(
    features: NodeFeatures,
    model: DensityModel,
    graphs: GraphBatch,
    featurized: GraphBatch,
    references: References | None,
    rng: np.random.RandomState,
    leave_one_out: bool = True,
) -> tuple[GraphDensity, np.ndarray, np.ndarray | None]:
    """Fix the encoder's statistics, choose and embed the references, and adapt to them.

    Parameters
    ----------
    features : NodeFeatures
        Fitted.
    model : DensityModel
        Trained, or not; it becomes part of the density.
    graphs, featurized : GraphBatch
        The training graphs, and the same with their node features.
    references : References or None
        Which graphs remain; None: all.
    rng : RandomState
    leave_one_out : bool, default=True
        Whether the scores below are of use.

    Returns
    -------
    density : GraphDensity
    own : ndarray of shape (n_graphs,)
        The reference that each graph is; -1 if it was not chosen.
    scores : ndarray of shape (n_graphs,) or None
        Log densities of the graphs, each by the others, if they follow from what was computed.
    """
    standardize(model, featurized)
    n, chosen = len(graphs), np.arange(len(graphs))
    if references is not None and references.ratio < 1:
        log_density = np.zeros(n)
        if references.sampling != "uniform":
            log_density = _pilot_densities(features, model, graphs, featurized, rng)
        chosen = references.choose(log_density, rng)
    density, scores = with_references(
        features, model, graphs[chosen], featurized[chosen], leave_one_out
    )
    return density, positions(chosen, n), scores if len(chosen) == n else None


def standardize(model: DensityModel, featurized: GraphBatch) -> None:
    """Set the encoder's statistics, and prepare the model for scoring."""
    model.double().encoder.standardize(model.flows(featurized))
    model.float().double().eval()  # files keep single precision


def _pilot_densities(
    features: NodeFeatures,
    model: DensityModel,
    graphs: GraphBatch,
    featurized: GraphBatch,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Log densities under a bounded number of the graphs, by which references are chosen."""
    n, pilot = len(graphs), np.arange(len(graphs))
    if n > PILOT_GRAPHS:
        pilot = np.sort(rng.permutation(n)[:PILOT_GRAPHS])
    density, scores = with_references(features, model, graphs[pilot], featurized[pilot])
    if scores is not None and len(pilot) == n:
        return scores
    return density.log_densities(featurized, own=positions(pilot, n), featurized=True)


def with_references(
    features: NodeFeatures,
    model: DensityModel,
    graphs: GraphBatch,
    featurized: GraphBatch,
    leave_one_out: bool = True,
) -> tuple[GraphDensity, np.ndarray | None]:
    """The density with these references, and their log densities, each by the others, if known.

    They are known if they are of use, and all distances between the references fit in memory.
    """
    references = EmbeddedGraphs(graphs, model.embed_all(featurized).measures)
    squared, scores = model.adapt(references, all_pairs=leave_one_out), None
    if leave_one_out and squared is not None:
        scores = model.log_densities_at(squared, graphs)
    return GraphDensity(features, model, references), scores
