"""GraphDensity: the fitted density of graphs, one view or a few, with references embedded once."""

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
    """The density that a detector has fitted: scores, distances and contributions.

    A *view* gives each graph a score: a log density in one distance, or its novelty. One view is
    the score. The scores of several views become conformal p-values by those of the training
    graphs, each by the others, and their logarithms are added up.

    It computes in double precision, on the device where its references are: short bandwidths
    amplify rounding, and in single precision a score can change by 1e-4 with the other graphs of
    its block.

    Parameters
    ----------
    features : NodeFeatures
        Fitted.
    model : DensityModel
        In double precision, in evaluation mode.
    references : EmbeddedGraphs or GraphBatch
        Embedded by the model; or else they are embedded when that is needed.
    novelty : FittedNovelty, default=None
    training_scores : ndarray of shape (n_views, n_training_graphs), default=None
        Scores of the training graphs, each by the others; for several views.

    Attributes
    ----------
    features : NodeFeatures
        Computes the node features.
    references : GraphBatch
        The reference graphs: the training graphs in their order, or those that were chosen.
    views : tuple of str
        The names of the views: the distances in their order, then novelty.
    bandwidths, mixture_weights : ndarray of shape (n_distances, n_bandwidths)
        Of the mixtures of kernels.
    fitted_distances : tuple of FittedDistance
        With the constants that fit the references; of an MMD, its `method` and its `correction`,
        the share of the bias that is removed.
    novelty : FittedNovelty or None
    training_scores : ndarray of shape (n_views, n_training_graphs) or None
        Scores of the training graphs in each view, each by the others. None with one view.
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
        self._log_p_values = [LogPValues(of_view) for of_view in scores]
        self._copies: dict[str, GraphDensity] = {}

    @cached_property
    def _references(self) -> EmbeddedGraphs:
        """The embedded references. Those of a file take more memory and time than the file does."""
        return self._model.embed_all(self.references, self.features.transform_batch)

    @property
    def bandwidths(self) -> np.ndarray:
        """The bandwidths, shape (n_distances, n_bandwidths)."""
        return self._model.kde.bandwidths

    @property
    def mixture_weights(self) -> np.ndarray:
        """The weights of the bandwidths, shape (n_distances, n_bandwidths)."""
        return self._model.kde.mixture_weights

    @property
    def fitted_distances(self) -> tuple[FittedDistance, ...]:
        """The distances, adapted to the references."""
        return self._model.distances.members

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the views."""
        names = [distance.name for distance in self.fitted_distances]
        return (*names, *(() if self.novelty is None else self.novelty.names))

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
            measures = self._references.measures[0]
            plain = DiscreteMeasures(measures.points.to(device), measures.weights, measures.sizes)
            model = copy.deepcopy(self._model).to(device)
            references = EmbeddedGraphs(self.references, model.distances.embed(plain))
            self._copies[name] = GraphDensity(
                self.features, model, references, self.novelty, self.training_scores
            )
        return self._copies[name]

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_copies": {}, "_references": self._references}  # once for all workers

    # -- what it computes --------------------------------------------------------------------------

    def check_batch(self, graphs: GraphBatch) -> None:
        """Check that graphs have what the training graphs had, in a range that can be computed.

        Raises
        ------
        ValueError
            The message names the first graph and node that does not, and what to do.
        """
        self.features.check_batch(graphs, self.references)
        warn_of_unseen_edges(graphs, self.references)
        if self.novelty is not None:
            self.novelty.check_batch(graphs)
        check_range(graphs, self.features, self._model.distances.members)

    def scores(self, graphs: GraphBatch, *, verbose: int = 0) -> np.ndarray:
        """Scores of graphs: that of the only view, or the sum of the log p-values of all.

        Parameters
        ----------
        graphs : GraphBatch
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        ndarray of shape (n_graphs,), float64
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
        """Log p-values of each view, which add up to the scores; of one view, its own scores.

        Returns
        -------
        ndarray of shape (n_views, n_graphs)
        """
        return self.as_log_p_values(self.view_scores(graphs, verbose=verbose))

    def as_log_p_values(self, scores: np.ndarray) -> np.ndarray:
        """What :meth:`log_p_values` makes of `view_scores`; the shape is the same."""
        if len(scores) == 1:
            return scores
        pairs = zip(self._log_p_values, scores, strict=True)
        return np.array([log_p_values(of_view) for log_p_values, of_view in pairs])

    def with_views(
        self, novelty: FittedNovelty | None, training_scores: np.ndarray | None
    ) -> GraphDensity:
        """The same with several views: those of the distances, and perhaps novelty."""
        return GraphDensity(self.features, self._model, self._references, novelty, training_scores)

    def updated(
        self, kept: np.ndarray, graphs: GraphBatch, training_scores: np.ndarray | None
    ) -> GraphDensity:
        """The same with other references; only new ones are embedded.

        Parameters
        ----------
        kept : ndarray of int
            Which of the references remain, ascending.
        graphs : GraphBatch
            New references, after these.
        training_scores : ndarray of shape (n_views, n_scores) or None
            With several views: the scores that p-values compare with.

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
        """Scores of the training graphs, each by the others, with several views."""
        return np.sum([x.leave_one_out() for x in self._log_p_values], axis=0)

    def view_scores(
        self,
        graphs: GraphBatch | EmbeddedGraphs,
        *,
        own: np.ndarray | None = None,
        featurized: bool = False,
        verbose: int = 0,
    ) -> np.ndarray:
        """Scores of each view, in its own units; the arguments are those of `log_densities`.

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
        """Log densities of graphs in each distance.

        Parameters
        ----------
        graphs : GraphBatch or EmbeddedGraphs
        own : ndarray of shape (n_graphs,), default=None
            The reference that each graph is, to be left out (-1: none). None leaves nothing out.
        featurized : bool, default=False
            Whether the graphs carry their node features already.
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
        """Distances from graphs to others; the size kernel plays no part.

        Parameters
        ----------
        graphs : GraphBatch or EmbeddedGraphs
        other : GraphBatch, default=None
            None means the references.
        view : int, default=0
            Which of `fitted_distances`.

        Returns
        -------
        ndarray of shape (len(graphs), len(other))
            A negative squared distance, of an unbiased estimate, counts as 0.
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
        """Shares of one graph's nodes in its squared distances to some references.

        Parameters
        ----------
        graph : GraphBatch
            Of one graph.
        references : ndarray of int
        view : int, default=0
            Which of `fitted_distances`.

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
        """What a file keeps. Embeddings follow from the graphs, and are computed by who scores."""
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
        """The density in a file."""
        features = state.take_instance("features", NodeFeatures)
        references = state.take_instance("references", GraphBatch)
        state.check(len(references) > 1, "there are fewer than two references")
        specification = state.take_instance("encoder", Encoder)
        in_dim = features.n_features_out_
        n_relations = features.edge_groups_.n_relations
        weights = state.take("weights", dict)
        encoder = restore_encoder(specification, in_dim, weights, n_relations)
        features.check_columns(references)  # whoever updated it was told of new labels
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
