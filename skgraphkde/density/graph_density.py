"""GraphDensity: the fitted density of graphs in one or several views, with its references."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np
import torch

from skgraphkde.calibration import finite
from skgraphkde.density.kde import MultiBandwidthKDE
from skgraphkde.density.model import DensityModel, EmbeddedGraphs, carried_features
from skgraphkde.density.novelty import FittedNovelty, Novelty
from skgraphkde.density.ranges import check_range
from skgraphkde.density.references import joined_references
from skgraphkde.density.size_kernel import SizeKernel
from skgraphkde.density.surprise import LogPValues
from skgraphkde.distances.base import FittedDistance
from skgraphkde.distances.joint import Distances, Embedded
from skgraphkde.distances.measures import DiscreteMeasures, pooled
from skgraphkde.encoders.base import Encoder, restore_encoder, weights_of
from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.features import NodeFeatures
from skgraphkde.features.categories import warn_of_unseen_edges
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import State, register


@register
class GraphDensity:
    """Fitted density of a detector: scores, distances and contributions.

    A *view* gives each graph a score: a log density under one distance, or a novelty score. With
    one view, its score is the score of the graph. With several views, the leave-one-out scores of
    the training graphs turn the score of each view into a conformal p-value, and the log p-values
    are summed.

    The density is computed in double precision, on the device of the references. Short bandwidths
    amplify rounding: in single precision, a score can change by 1e-4 with the other graphs of its
    block.

    Parameters
    ----------
    features : NodeFeatures
        Fitted features.
    model : DensityModel
        Model in double precision and evaluation mode.
    references : EmbeddedGraphs or GraphBatch
        Embedded references, or graphs that are embedded at first use.
    novelty : FittedNovelty, default=None
    training_scores : ndarray of shape (n_views, n_training_graphs), default=None
        Leave-one-out scores of the training graphs, for several views.

    Attributes
    ----------
    features : NodeFeatures
        Fitted features, which compute the node features.
    references : GraphBatch
        The reference graphs: the training graphs in their order, or a selection of them.
    views : tuple of str
        Names of the views: the distances in their order, then novelty.
    bandwidths, mixture_weights : ndarray of shape (n_distances, n_bandwidths)
        Bandwidths and weights of the mixtures of kernels.
    fitted_distances : tuple of FittedDistance
        Distances with constants fitted to the references. An MMD has its `method`, and its
        `correction`, the share of the bias that is removed.
    novelty : FittedNovelty or None
    training_scores : ndarray of shape (n_views, n_training_graphs) or None
        Leave-one-out scores of the training graphs in each view. None with one view.
    """

    def __init__(
        self,
        features: NodeFeatures,
        model: DensityModel,
        references: EmbeddedGraphs | GraphBatch,
        novelty: FittedNovelty | None = None,
        training_scores: np.ndarray | None = None,
    ) -> None:
        self.features, self.novelty = features, novelty
        self._model = model
        if isinstance(references, EmbeddedGraphs):
            self._references, references = references, references.graphs
        self.references: GraphBatch = references
        if training_scores is not None:
            training_scores.setflags(write=False)
        self.training_scores = training_scores
        scores = () if training_scores is None else training_scores
        self._log_p_values = [LogPValues(view_scores) for view_scores in scores]
        self._copies: dict[str, GraphDensity] = {}

    @cached_property
    def _references(self) -> EmbeddedGraphs:
        """Embedded references, computed lazily: they are larger than the saved file."""
        return self._model.embed_all(self.references, self.features.transform_batch)

    @property
    def bandwidths(self) -> np.ndarray:
        """Bandwidths, shape (n_distances, n_bandwidths)."""
        return self._model.kde.bandwidths

    @property
    def mixture_weights(self) -> np.ndarray:
        """Mixture weights of the bandwidths, shape (n_distances, n_bandwidths)."""
        return self._model.kde.mixture_weights

    @property
    def fitted_distances(self) -> tuple[FittedDistance, ...]:
        """Distances adapted to the references."""
        return self._model.distances.members

    @property
    def views(self) -> tuple[str, ...]:
        """Names of the views: the distances in their order, then novelty."""
        names = [distance.name for distance in self.fitted_distances]
        return (*names, *(() if self.novelty is None else self.novelty.names))

    @property
    def device(self) -> torch.device:
        """Device of the computations."""
        return self._model.device

    def on(self, device: torch.device) -> GraphDensity:
        """Copy of the density on a device, which is cached but neither pickled nor saved."""
        if device == self.device:
            return self
        name = str(device)
        if name not in self._copies:
            measures = self._references.measures[0]
            plain = DiscreteMeasures(measures.points.to(device), measures.weights, measures.sizes)
            model = copy.deepcopy(self._model).to(device)
            references = EmbeddedGraphs(self.references, model.distances.embed(plain))
            self._copies[name] = GraphDensity(
                self.features, model, references, self.novelty, self.training_scores
            )
        return self._copies[name]

    def __getstate__(self) -> dict[str, Any]:
        # Embedded before pickling, so that not every worker has to do it.
        return vars(self) | {"_copies": {}, "_references": self._references}

    # -- scores and distances ----------------------------------------------------------------------

    def check_batch(self, graphs: GraphBatch) -> None:
        """Check that graphs have the attributes of the training graphs, in a valid range.

        Raises
        ------
        ValueError
            If a graph lacks an attribute or has a number out of range; the message names the graph,
            the node and the remedy.
        """
        self.features.check_batch(graphs, self.references)
        warn_of_unseen_edges(graphs, self.references)
        if self.novelty is not None:
            self.novelty.check_batch(graphs)
        check_range(graphs, self.features, self._model.distances.members)

    def scores(self, graphs: GraphBatch, *, verbose: int = 0) -> np.ndarray:
        """Score graphs by the sum of their log p-values, or by the score of a single view.

        Parameters
        ----------
        graphs : GraphBatch
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        ndarray of shape (n_graphs,), float64
            Higher for normal graphs.
        """
        return self.log_p_values(graphs, verbose=verbose).sum(axis=0)

    def embed(self, graphs: GraphBatch, featurized: GraphBatch | None = None) -> EmbeddedGraphs:
        """Embed graphs once, for several of the methods below.

        Parameters
        ----------
        graphs : GraphBatch
        featurized : GraphBatch, default=None
            The same graphs with their node features as attributes, if these are known.

        Returns
        -------
        EmbeddedGraphs
        """
        if featurized is None:
            return self._model.embed_all(graphs, self.features.transform_batch)
        return EmbeddedGraphs(graphs, self._model.embed_all(featurized).measures)

    def log_p_values(self, graphs: GraphBatch | EmbeddedGraphs, *, verbose: int = 0) -> np.ndarray:
        """Log p-values of graphs in each view.

        Parameters
        ----------
        graphs : GraphBatch or EmbeddedGraphs
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        ndarray of shape (n_views, n_graphs)
            The sum over views is the score. With a single view these are the scores of that view.
        """
        return self.as_log_p_values(self.view_scores(graphs, verbose=verbose))

    def as_log_p_values(self, scores: np.ndarray) -> np.ndarray:
        """Convert the scores of several views to log p-values, shape (n_views, n_graphs)."""
        if len(scores) == 1:
            return scores
        pairs = zip(self._log_p_values, scores, strict=True)
        return np.array([log_p_values(view_scores) for log_p_values, view_scores in pairs])

    def with_views(
        self, novelty: FittedNovelty | None, training_scores: np.ndarray | None
    ) -> GraphDensity:
        """Copy of the density with other novelty views and training scores.

        Parameters
        ----------
        novelty : FittedNovelty or None
        training_scores : ndarray of shape (n_views, n_training_graphs) or None
            Leave-one-out scores of the training graphs.

        Returns
        -------
        GraphDensity
        """
        return GraphDensity(self.features, self._model, self._references, novelty, training_scores)

    def updated(
        self, kept: np.ndarray, graphs: GraphBatch, training_scores: np.ndarray | None
    ) -> GraphDensity:
        """Copy of the density with other references; only new references are embedded.

        Parameters
        ----------
        kept : ndarray of int
            Indices of the references to keep, ascending.
        graphs : GraphBatch
            New references, which follow the kept ones.
        training_scores : ndarray of shape (n_views, n_scores) or None
            Scores that determine the p-values of several views.

        Returns
        -------
        GraphDensity
        """
        if not len(graphs):
            return self.with_views(self.novelty, training_scores)
        references = self._references
        if len(kept) < len(references):
            references = references[kept]
        new = self._model.embed_all(graphs, self.features.transform_batch)
        measures = self._model.distances.concatenate([references.measures, new.measures])
        joined = joined_references(references.graphs, graphs)
        novelty = None if self.novelty is None else self.novelty.of(joined)
        references = EmbeddedGraphs(joined, measures)
        return GraphDensity(self.features, self._model, references, novelty, training_scores)

    def leave_one_out(self) -> np.ndarray:
        """Leave-one-out scores of the training graphs, with several views."""
        return np.sum([x.leave_one_out() for x in self._log_p_values], axis=0)

    def view_scores(
        self,
        graphs: GraphBatch | EmbeddedGraphs,
        *,
        own: np.ndarray | None = None,
        featurized: bool = False,
        verbose: int = 0,
    ) -> np.ndarray:
        """Scores of graphs in each view, in its own units.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), default=None
            Index of the reference that equals each graph and is excluded, or -1. None excludes no
            references.
        featurized : bool, default=False
            Whether the graphs already carry their node features.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        ndarray of shape (n_views, n_graphs)
        """
        scores = self.log_densities(graphs, own=own, featurized=featurized, verbose=verbose)
        if self.novelty is None:
            return scores
        batch = graphs.graphs if isinstance(graphs, EmbeddedGraphs) else graphs
        return np.vstack([scores, self.novelty.scores(batch, own)])

    def log_densities(
        self,
        graphs: GraphBatch | EmbeddedGraphs,
        *,
        own: np.ndarray | None = None,
        featurized: bool = False,
        verbose: int = 0,
    ) -> np.ndarray:
        """Log densities of graphs under each distance.

        Parameters
        ----------
        graphs : GraphBatch or EmbeddedGraphs
        own : ndarray of shape (n_graphs,), default=None
            Index of the reference that equals each graph and is excluded, or -1. None excludes no
            references.
        featurized : bool, default=False
            Whether the graphs already carry their node features.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        ndarray of shape (n_distances, n_graphs), float64
        """
        featurize = carried_features if featurized else self.features.transform_batch
        return self._model.log_densities(graphs, self._references, featurize, own, verbose)

    def distances(
        self,
        graphs: GraphBatch | EmbeddedGraphs,
        other: GraphBatch | None = None,
        *,
        view: int = 0,
    ) -> np.ndarray:
        """Distances between graphs, without the size kernel.

        Parameters
        ----------
        graphs : GraphBatch or EmbeddedGraphs
        other : GraphBatch, default=None
            None means the references.
        view : int, default=0
            Index in `fitted_distances`.

        Returns
        -------
        ndarray of shape (len(graphs), len(other))
            Negative unbiased estimates of squared distances count as 0.
        """
        P = Q = self._measures(graphs)
        if other is not graphs:
            Q = self._references.measures if other is None else self._measures(other)
        return finite(self._model.pairwise(P, Q, view), "distance")

    def reference_distances(self, view: int = 0) -> np.ndarray:
        """Distances between all references, shape (n_references, n_references)."""
        return self._model.pairwise(self._references.measures, self._references.measures, view)

    def embeddings(self, graphs: GraphBatch) -> np.ndarray:
        """Means of the node embeddings of each graph, shape (n_graphs, embedding_dim)."""
        return finite(pooled(self._measures(graphs)[0], "mean").numpy(force=True), "embedding")

    @property
    def embedding_dim(self) -> int:
        """Number of coordinates of a node embedding."""
        return self._model.encoder.out_dim

    @torch.no_grad()
    def contributions(
        self, graph: GraphBatch, references: np.ndarray, *, view: int = 0
    ) -> np.ndarray:
        """Contributions of one graph's nodes to its squared distances to some references.

        Parameters
        ----------
        graph : GraphBatch
            Batch of one graph.
        references : ndarray of int
            Indices of references.
        view : int, default=0
            Index in `fitted_distances`.

        Returns
        -------
        ndarray of shape (n_nodes, len(references))
            Columns sum to the squared distances.
        """
        features = self.features.transform_batch(graph)
        flow = MessageFlow.unmerged(features, self._model.encoder.n_layers)
        Z = self._model.encode(flow)
        measures = self._references.measures[0][references]
        plain = DiscreteMeasures(measures.points, measures.weights, measures.sizes)
        return self.fitted_distances[view].contributions(Z, plain).numpy(force=True)

    def _measures(self, graphs: GraphBatch | EmbeddedGraphs) -> Embedded:
        return (graphs if isinstance(graphs, EmbeddedGraphs) else self.embed(graphs)).measures

    # -- state -------------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """State to save; it omits embeddings, which are computed from the graphs at first use."""
        model = self._model
        return {
            "features": self.features,
            "encoder": model.encoder.specification,
            "weights": weights_of(model.encoder),
            "distances": self.fitted_distances,
            "kde": model.kde,
            "size_kernel": model.size_kernel,
            "references": self.references,
            "novelty": None if self.novelty is None else self.novelty.specification,
            "novelty_of_edges": self.novelty is not None and self.novelty.with_edges,
            "training_scores": self.training_scores,
        }

    @classmethod
    def from_state(cls, state: State) -> GraphDensity:
        """Rebuild the density from its saved state."""
        features = state.take_instance("features", NodeFeatures)
        references = state.take_instance("references", GraphBatch)
        state.check(len(references) > 1, "there are fewer than two references")
        specification = state.take_instance("encoder", Encoder)
        in_dim = features.n_features_out_
        n_relations = features.edge_groups_.n_relations
        weights = state.take("weights", dict)
        encoder = restore_encoder(specification, in_dim, weights, n_relations)
        features.check_columns(references)  # without warnings, which `partial_fit` already gave
        distances = _take_distances(state)
        for distance in distances.members:
            distance.check_dim(encoder.out_dim)
        kde = state.take_instance("kde", MultiBandwidthKDE)
        state.check(len(kde.scales) == len(distances), "there are not as many scales as distances")
        size_kernel = state.take_optional("size_kernel", SizeKernel)
        novelty_of = state.take_optional("novelty", Novelty)
        with_edges = state.take("novelty_of_edges", bool)
        novelty = None if novelty_of is None else novelty_of.fit(references, with_edges)
        n_views = len(distances) + (0 if novelty is None else len(novelty.names))
        scores = None
        if n_views > 1:
            scores = state.take_array("training_scores", float, (n_views, None))
            state.check(scores.shape[1] > 1, "training_scores has too few columns")
        else:
            state.check(state.take("training_scores", type(None)) is None, "there is one view")
        model = DensityModel(encoder, distances, kde, size_kernel).double().eval()
        return cls(features, model, references, novelty, scores)


def _take_distances(state: State) -> Distances:
    members = state.take("distances", tuple)
    are_distances = members and all(isinstance(x, FittedDistance) for x in members)
    state.check(are_distances, "distances is not a tuple of fitted distances")
    return Distances(members)
