"""GraphModel: the fitted model of graphs, with its references and views."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch

from skgraphkde.calibration import finite
from skgraphkde.computing.blocks import blocks
from skgraphkde.density.kde import MultiBandwidthKDE
from skgraphkde.density.model import DensityModel, EmbeddedGraphs, carried_features
from skgraphkde.density.references import joined_references
from skgraphkde.density.size_kernel import SizeKernel
from skgraphkde.detectors.ranges import check_range
from skgraphkde.distances.base import FittedDistance
from skgraphkde.distances.joint import Distances, Embedded
from skgraphkde.distances.measures import DiscreteMeasures, pooled
from skgraphkde.encoders.base import Encoder, restore_encoder, weights_of
from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.features import NodeFeatures
from skgraphkde.features.categories import warn_of_unseen_edges
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import State, register
from skgraphkde.views.base import View
from skgraphkde.views.density import Density
from skgraphkde.views.p_values import LogPValues

AnyView = TypeVar("AnyView", bound=View)


@register
class GraphModel:
    """Fitted model of a detector: features, encoder, references and views. It is never changed.

    A *view* gives each graph a score. With one view, its score is the score of the graph. With
    several views, the leave-one-out scores of the training graphs turn the score of each view into
    a conformal p-value, and the log p-values are summed.

    Densities are computed in double precision, on the device of the references. Short bandwidths
    amplify rounding: in single precision, a score can change by 1e-4 with the other graphs of its
    block.

    Parameters
    ----------
    features : NodeFeatures
        Fitted features.
    density : DensityModel
        Encoder, distances and kernels in double precision and evaluation mode.
    references : EmbeddedGraphs or GraphBatch
        Embedded references, or graphs that are embedded at first use.
    views : sequence of View
        Fitted views. A :class:`Density` gets its fitted attributes here, from `density`.
    training_scores : ndarray of shape (n_views, n_training_graphs), default=None
        Leave-one-out scores of the training graphs, for several views.

    Attributes
    ----------
    features : NodeFeatures
        Fitted features, which compute the node features.
    references : GraphBatch
        The reference graphs: the training graphs in their order, or a selection of them.
    views : tuple of View
        Fitted views.
    training_scores : ndarray of shape (n_views, n_training_graphs) or None
        Leave-one-out scores of the training graphs in each view. None with one view.
    """

    def __init__(
        self,
        features: NodeFeatures,
        density: DensityModel,
        references: EmbeddedGraphs | GraphBatch,
        views: Sequence[View],
        training_scores: np.ndarray | None = None,
    ) -> None:
        self.features, self._density = features, density
        if isinstance(references, EmbeddedGraphs):
            self._references, references = references, references.graphs
        self.references: GraphBatch = references
        self.views = _with_fitted_densities(views, density)
        if training_scores is not None:
            training_scores.setflags(write=False)
        self.training_scores = training_scores
        scores = () if training_scores is None else training_scores
        self._log_p_values = [LogPValues(view_scores) for view_scores in scores]
        self._copies: dict[str, GraphModel] = {}

    @cached_property
    def _references(self) -> EmbeddedGraphs:
        """Embedded references, computed lazily: they are larger than the saved file."""
        return self._density.embed_all(self.references, self.features.transform_batch)

    @property
    def view_names(self) -> tuple[str, ...]:
        """Names of the views."""
        return tuple(view.name for view in self.views)

    @property
    def densities(self) -> list[int]:
        """Indices of the views that are densities, and have distances."""
        return [i for i, view in enumerate(self.views) if isinstance(view, Density)]

    @property
    def bandwidths(self) -> np.ndarray:
        """Bandwidths of the densities, shape (n_densities, n_bandwidths)."""
        return self._density.kde.bandwidths

    def first(self, kind: type[AnyView]) -> AnyView | None:
        """First view of a class, or None."""
        return next((view for view in self.views if isinstance(view, kind)), None)

    @property
    def device(self) -> torch.device:
        """Device of the computations."""
        return self._density.device

    def on(self, device: torch.device) -> GraphModel:
        """Copy of the model on a device, which is cached but neither pickled nor saved."""
        if device == self.device:
            return self
        name = str(device)
        if name not in self._copies:
            measures = self._references.measures[0]
            plain = DiscreteMeasures(measures.points.to(device), measures.weights, measures.sizes)
            density = copy.deepcopy(self._density).to(device)
            references = EmbeddedGraphs(self.references, density.distances.embed(plain))
            self._copies[name] = GraphModel(
                self.features, density, references, self.views, self.training_scores
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
        for view in self.views:
            view.check_batch(graphs)
        check_range(graphs, self.features, self._density.distances.members)

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
            return self._density.embed_all(graphs, self.features.transform_batch)
        return EmbeddedGraphs(graphs, self._density.embed_all(featurized).measures)

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

    def with_views(self, views: Sequence[View], training_scores: np.ndarray | None) -> GraphModel:
        """Copy of the model with other views and training scores.

        Parameters
        ----------
        views : sequence of View
            Fitted views, with the same densities.
        training_scores : ndarray of shape (n_views, n_training_graphs) or None
            Leave-one-out scores of the training graphs.

        Returns
        -------
        GraphModel
        """
        return GraphModel(self.features, self._density, self._references, views, training_scores)

    def updated(
        self, kept: np.ndarray, graphs: GraphBatch, training_scores: np.ndarray | None
    ) -> GraphModel:
        """Copy of the model with other references; only new references are embedded.

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
        GraphModel
        """
        if not len(graphs):
            return self.with_views(self.views, training_scores)
        references = self._references
        if len(kept) < len(references):
            references = references[kept]
        new = self._density.embed_all(graphs, self.features.transform_batch)
        measures = self._density.distances.concatenate([references.measures, new.measures])
        joined = joined_references(references.graphs, graphs)
        views = [x if isinstance(x, Density) else x.updated(joined) for x in self.views]
        references = EmbeddedGraphs(joined, measures)
        return GraphModel(self.features, self._density, references, views, training_scores)

    def leave_one_out(self) -> np.ndarray:
        """Leave-one-out scores of the training graphs, with several views."""
        return np.sum([x.leave_one_out() for x in self._log_p_values], axis=0)

    def view_scores(
        self,
        graphs: GraphBatch | EmbeddedGraphs,
        *,
        own: np.ndarray | None = None,
        log_densities: np.ndarray | None = None,
        verbose: int = 0,
    ) -> np.ndarray:
        """Scores of graphs in each view, in its own units.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), default=None
            Index of the reference that equals each graph and is excluded, or -1. None excludes no
            references.
        log_densities : ndarray of shape (n_densities, n_graphs), default=None
            The result of :meth:`log_densities`, if it is known.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        ndarray of shape (n_views, n_graphs)
        """
        if log_densities is None:
            log_densities = self.log_densities(graphs, own=own, verbose=verbose)
        batch = graphs.graphs if isinstance(graphs, EmbeddedGraphs) else graphs
        if own is None:
            own = np.full(len(batch), -1)
        of_densities = iter(log_densities)
        return np.array(
            [
                next(of_densities) if isinstance(view, Density) else _scores(view, batch, own)
                for view in self.views
            ]
        )

    def log_densities(
        self,
        graphs: GraphBatch | EmbeddedGraphs,
        *,
        own: np.ndarray | None = None,
        featurized: bool = False,
        verbose: int = 0,
    ) -> np.ndarray:
        """Log densities of graphs, in the order of the views that are densities.

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
        ndarray of shape (n_densities, n_graphs), float64
        """
        featurize = carried_features if featurized else self.features.transform_batch
        return self._density.log_densities(graphs, self._references, featurize, own, verbose)

    def distances(
        self,
        graphs: GraphBatch | EmbeddedGraphs,
        other: GraphBatch | None = None,
        *,
        view: int | None = None,
    ) -> np.ndarray:
        """Distances between graphs, without the size kernel.

        Parameters
        ----------
        graphs : GraphBatch or EmbeddedGraphs
        other : GraphBatch, default=None
            None means the references.
        view : int, default=None
            Index of a view that is a density. None means the first.

        Returns
        -------
        ndarray of shape (len(graphs), len(other))
            Negative unbiased estimates of squared distances count as 0.
        """
        P = Q = self._measures(graphs)
        if other is not graphs:
            Q = self._references.measures if other is None else self._measures(other)
        return finite(self._density.pairwise(P, Q, self._distance(view)), "distance")

    def reference_distances(self, view: int | None = None) -> np.ndarray:
        """Distances between all references, shape (n_references, n_references)."""
        measures = self._references.measures
        return self._density.pairwise(measures, measures, self._distance(view))

    def _distance(self, view: int | None) -> int:
        """Index of the distance of a view."""
        return 0 if view is None else self.densities.index(view)

    def embeddings(self, graphs: GraphBatch) -> np.ndarray:
        """Means of the node embeddings of each graph, shape (n_graphs, embedding_dim)."""
        return finite(pooled(self._measures(graphs)[0], "mean").numpy(force=True), "embedding")

    @property
    def embedding_dim(self) -> int:
        """Number of coordinates of a node embedding."""
        return self._density.encoder.out_dim

    @torch.no_grad()
    def contributions(
        self, graph: GraphBatch, references: np.ndarray, *, view: int | None = None
    ) -> np.ndarray:
        """Contributions of one graph's nodes to its squared distances to some references.

        Parameters
        ----------
        graph : GraphBatch
            Batch of one graph.
        references : ndarray of int
            Indices of references.
        view : int, default=None
            Index of a view that is a density. None means the first.

        Returns
        -------
        ndarray of shape (n_nodes, len(references))
            Columns sum to the squared distances.
        """
        features = self.features.transform_batch(graph)
        flow = MessageFlow.unmerged(features, self._density.encoder.n_layers)
        Z = self._density.encode(flow)
        measures = self._references.measures[0][references]
        plain = DiscreteMeasures(measures.points, measures.weights, measures.sizes)
        return (
            self._density.distances.members[self._distance(view)]
            .contributions(Z, plain)
            .numpy(force=True)
        )

    def _measures(self, graphs: GraphBatch | EmbeddedGraphs) -> Embedded:
        return (graphs if isinstance(graphs, EmbeddedGraphs) else self.embed(graphs)).measures

    # -- state -------------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """State to save; it omits embeddings, which are computed from the graphs at first use."""
        density = self._density
        return {
            "features": self.features,
            "encoder": density.encoder.specification,
            "weights": weights_of(density.encoder),
            "distances": density.distances.members,
            "kde": density.kde,
            "size_kernel": density.size_kernel,
            "references": self.references,
            "views": self.views,
            "training_scores": self.training_scores,
        }

    @classmethod
    def from_state(cls, state: State) -> GraphModel:
        """Rebuild the model from its saved state."""
        features = state.take_instance("features", NodeFeatures)
        references = state.take_instance("references", GraphBatch)
        state.check(len(references) > 1, "there are fewer than two references")
        specification = state.take_instance("encoder", Encoder)
        in_dim = features.n_features_out_
        n_relations = features.edge_groups_.n_relations
        weights = state.take("weights", dict)
        encoder = restore_encoder(specification, in_dim, weights, n_relations)
        features.check_columns(references)  # without warnings, which `partial_fit` already gave
        distances = Distances(_take_instances(state, "distances", FittedDistance))
        for distance in distances.members:
            distance.check_dim(encoder.out_dim)
        kde = state.take_instance("kde", MultiBandwidthKDE)
        state.check(len(kde.scales) == len(distances), "there are not as many scales as distances")
        size_kernel = state.take_optional("size_kernel", SizeKernel)
        views = _take_instances(state, "views", View)
        n_densities = sum(isinstance(view, Density) for view in views)
        state.check(n_densities == len(distances), "there are not as many densities as distances")
        for view in views:
            view.complete(references)
        scores = None
        if len(views) > 1:
            scores = state.take_array("training_scores", float, (len(views), None))
            state.check(scores.shape[1] > 1, "training_scores has too few columns")
        else:
            state.check(state.take("training_scores", type(None)) is None, "there is one view")
        density = DensityModel(encoder, distances, kde, size_kernel).double().eval()
        return cls(features, density, references, views, scores)


def _scores(view: View, graphs: GraphBatch, own: np.ndarray) -> np.ndarray:
    """Scores of one view, in blocks whose arrays fit into working_memory."""
    costs = 8.0 * (10 * graphs.n_nodes_per_graph + 4 * graphs.n_arcs_per_graph)
    scores = np.concatenate([view.scores(graphs[block], own[block]) for block in blocks(costs)])
    if scores.shape != (len(graphs),):
        raise ValueError(
            f"{type(view).__name__}.scores must return one score for each of {len(graphs)} graphs, "
            f"and returned an array of shape {scores.shape}"
        )
    return scores


def _with_fitted_densities(views: Sequence[View], density: DensityModel) -> tuple[View, ...]:
    """Views, of which densities are copies with their distance and kernels."""
    fitted, i = list(views), 0
    for place, view in enumerate(views):
        if isinstance(view, Density):
            fitted[place] = own = copy.copy(view)
            own.distance_ = density.distances.members[i]
            own.bandwidths_ = density.kde.bandwidths[i]
            own.mixture_weights_ = density.kde.mixture_weights[i]
            i += 1
    return tuple(fitted)


def _take_instances(state: State, name: str, kind: type) -> tuple:
    items = state.take(name, tuple)
    is_right = items and all(isinstance(item, kind) for item in items)
    state.check(is_right, f"{name} is not a tuple of {kind.__name__} objects")
    return items
