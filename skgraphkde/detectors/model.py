"""GraphModel: the fitted model of graphs, with its references and views."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from skgraphkde.calibration import finite
from skgraphkde.computing.arrays import to_numpy
from skgraphkde.computing.blocks import blocks, progress
from skgraphkde.density.kernel_density import KernelDensity
from skgraphkde.density.model import DensityModel, EmbeddedGraphs, carried_features
from skgraphkde.density.references import joined_references
from skgraphkde.distances.base import FittedDistance
from skgraphkde.distances.measures import DiscreteMeasures, pooled
from skgraphkde.encoders.base import Encoder, FittedEncoder
from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.features import NodeFeatures
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.learned.torch_encoder import check_torch
from skgraphkde.persistence import State, register
from skgraphkde.views.base import View
from skgraphkde.views.confirmed import ITSELF, Confirmed
from skgraphkde.views.density import Density
from skgraphkde.views.p_values import LogPValues, view_weights
from skgraphkde.views.verdicts import LearnedWeights

AnyView = TypeVar("AnyView", bound=View)

# The weighted log p-value of a confirmed anomaly that is given again.
LOG_P_OF_CONFIRMED = -100.0


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
        Leave-one-out scores of the training graphs.
    device : torch.device, default=None
        Device of `density`. None is the CPU.
    learned_weights : LearnedWeights, default=None
        Weights of the views that were learned from verdicts. None: they follow from
        `training_scores`.

    Attributes
    ----------
    features : NodeFeatures
        Fitted features, which compute the node features.
    references : GraphBatch
        The reference graphs: the training graphs in their order, or a selection of them.
    views : tuple of View
        Fitted views.
    training_scores : ndarray of shape (n_views, n_training_graphs) or None
        Leave-one-out scores of the training graphs in each view. None if one view does without.
    reference_scores : ndarray of shape (n_views, n_references) or None
        Leave-one-out scores of the references in each view. None if they are not known, as after
        an update, or from a file.
    view_weights : ndarray of shape (n_views,)
        Weights of the views' log p-values in the score, see
        :func:`~skgraphkde.views.p_values.view_weights`, or those that were learned.
    """

    def __init__(
        self,
        features: NodeFeatures,
        density: DensityModel,
        references: EmbeddedGraphs | GraphBatch,
        views: Sequence[View],
        training_scores: np.ndarray | None = None,
        device: Any = None,
        learned_weights: LearnedWeights | None = None,
    ) -> None:
        self.features, self._density, self.device = features, density, device
        if isinstance(references, EmbeddedGraphs):
            self._references, references = references, references.graphs
        self.references: GraphBatch = references
        self.views = _with_fitted_densities(views, density)
        self.training_scores, self.learned_weights = training_scores, learned_weights
        self._log_p_values: list[LogPValues] = []
        self.view_weights = np.ones(1)
        if training_scores is not None:
            training_scores.setflags(write=False)
            self._log_p_values = [LogPValues(view_scores) for view_scores in training_scores]
        if learned_weights is not None:
            self.view_weights = learned_weights.views
        elif len(self._log_p_values) > 1:
            leave_one_out = np.array([x.leave_one_out() for x in self._log_p_values])
            self.view_weights = view_weights(leave_one_out)
        self.reference_scores: np.ndarray | None = None
        self._copies: dict[str, GraphModel] = {}

    @cached_property
    def _references(self) -> EmbeddedGraphs:
        """Embedded references, computed lazily: they are larger than the saved file."""
        return self._density.embed(self.references, self.features.transform_batch)

    @property
    def view_names(self) -> tuple[str, ...]:
        """Names of the views."""
        return tuple(view.name for view in self.views)

    @property
    def densities(self) -> list[int]:
        """Indices of the views that are densities, and have distances."""
        return [i for i, view in enumerate(self.views) if isinstance(view, Density)]

    @property
    def encoder(self) -> FittedEncoder:
        """Fitted encoder."""
        return self._density.encoder

    @property
    def bandwidths(self) -> list[np.ndarray]:
        """Bandwidths of each density."""
        return [density.kde.bandwidths for density in self._density.densities]

    def first(self, kind: type[AnyView]) -> AnyView | None:
        """First view of a class, or None."""
        return next((view for view in self.views if isinstance(view, kind)), None)

    @property
    def confirmed(self) -> Confirmed | None:
        """View of the confirmed anomalies, the last one; None unless verdicts were learned."""
        return self.first(Confirmed)

    def on(self, device: Any) -> GraphModel:
        """Copy of the model on a torch device, which is cached but neither pickled nor saved.

        Parameters
        ----------
        device : torch.device or None
            None means the CPU, and NumPy arrays in place of tensors.
        """
        if device == self.device:
            return self
        name = str(device)
        if name not in self._copies:
            density = moved(self._density, device)
            P = self._references.measures[0]
            if P.points is None:
                references = density.embed(self.references, self.features.transform_batch)
            else:
                points = to_numpy(P.points) if density.place is None else density.place(P.points)
                plain = DiscreteMeasures(points, P.weights, P.sizes)
                references = density.embedded(self.references, plain)
            self._copies[name] = self._with(density=density, references=references, device=device)
        return self._copies[name]

    def _with(self, **changes: Any) -> GraphModel:
        """Copy of the model with other parts."""
        parts = {
            "features": self.features,
            "density": self._density,
            "references": self._references,
            "views": self.views,
            "training_scores": self.training_scores,
            "device": self.device,
            "learned_weights": self.learned_weights,
        }
        return GraphModel(**(parts | changes))

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
        for view in self.views:
            view.check_batch(graphs)
        limit = min(density.distance.largest_coordinate for density in self._density.densities)
        _check_range(graphs, self.features, limit)

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
        return self.as_log_p_values(self.view_scores(graphs, verbose=verbose)).sum(axis=0)

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
            return self._density.embed(graphs, self.features.transform_batch)
        return EmbeddedGraphs(graphs, self._density.embed(featurized).measures)

    def as_log_p_values(self, scores: np.ndarray) -> np.ndarray:
        """Convert the scores of several views to log p-values, times the weights of the views.

        Parameters
        ----------
        scores : ndarray of shape (n_views, n_graphs)
            The result of :meth:`view_scores`.

        Returns
        -------
        ndarray of shape (n_views, n_graphs)
            The sum over views is the score. With a single view these are the scores of that view.
        """
        if len(scores) == 1:
            return scores
        pairs = zip(self._log_p_values, scores, strict=True)
        log_p_values = np.array([of_view(view_scores) for of_view, view_scores in pairs])
        log_p_values *= self.view_weights[:, np.newaxis]
        if self.confirmed is not None:
            log_p_values[-1, scores[-1] == ITSELF] = LOG_P_OF_CONFIRMED
        return log_p_values

    def updated(self, kept: np.ndarray, graphs: GraphBatch) -> GraphModel:
        """Copy of the model with other references; only new references are embedded.

        Parameters
        ----------
        kept : ndarray of int
            Indices of the references to keep, ascending.
        graphs : GraphBatch
            New references, which follow the kept ones.

        Returns
        -------
        GraphModel
            Without training scores, see :meth:`calibrated`.
        """
        references, views = self._references, self.views
        if len(graphs):
            if len(kept) < len(references):
                references = references[kept]
            new = self._density.embed(graphs, self.features.transform_batch)
            parts = zip(self._density.densities, references.measures, new.measures, strict=True)
            measures = tuple(x.distance.concatenate([old, added]) for x, old, added in parts)
            joined = joined_references(references.graphs, graphs)
            views = tuple(x if isinstance(x, Density) else x.updated(joined) for x in views)
            references = EmbeddedGraphs(joined, measures)
        return self._with(
            references=references, views=views, training_scores=None, learned_weights=None
        )

    def calibrated(
        self,
        training_scores: np.ndarray,
        learned_weights: LearnedWeights | None = None,
        views: Sequence[View] | None = None,
    ) -> GraphModel:
        """Copy of the model with other scores, which determine the p-values of several views.

        Parameters
        ----------
        training_scores : ndarray of shape (n_views, n_scores)
        learned_weights : LearnedWeights, default=None
        views : sequence of View, default=None
            Fitted views, with the densities of this model. None keeps the views.

        Returns
        -------
        GraphModel
        """
        return self._with(
            training_scores=training_scores,
            learned_weights=learned_weights,
            views=self.views if views is None else views,
        )

    def unlearned(self) -> GraphModel:
        """Copy of the model without what was learned from verdicts."""
        if self.training_scores is None or self.confirmed is None:
            return self
        model = self.calibrated(self.training_scores[:-1], views=self.views[:-1])
        if self.reference_scores is not None:
            model.reference_scores = self.reference_scores[:-1]
        return model

    def left_out_scores(self, some: np.ndarray) -> np.ndarray:
        """Scores of some references in each view, each compared with the others.

        Parameters
        ----------
        some : ndarray of int
            Indices of references.

        Returns
        -------
        ndarray of shape (n_views, len(some))
        """
        features, has_own = self.features.without_own_values(self.references)
        if not has_own.any():
            return self.view_scores(self._references[some], own=some)
        graphs, featurize = self.references[some], features.transform_batch
        log_densities = self._density.log_densities(graphs, self._references, featurize, some)
        return self.view_scores(graphs, own=some, log_densities=log_densities)

    def leave_one_out_log_p_values(self) -> np.ndarray:
        """Log p-values of the training graphs in each view, times the weight of the view.

        Each graph is compared with the others.

        Returns
        -------
        ndarray of shape (n_views, n_training_graphs)
            Their sum over views is the result of :meth:`leave_one_out`. With a single view these
            are the scores of that view.
        """
        assert self.training_scores is not None
        if len(self.views) == 1:
            return self.training_scores
        log_p_values = np.array([x.leave_one_out() for x in self._log_p_values])
        if self.learned_weights is not None:
            return self.learned_weights.training * log_p_values
        return self.view_weights[:, np.newaxis] * log_p_values

    def leave_one_out(self) -> np.ndarray:
        """Leave-one-out scores of the training graphs, shape (n_training_graphs,)."""
        return self.leave_one_out_log_p_values().sum(axis=0)

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
        others = [view for view in self.views if not isinstance(view, Density)]
        scores = np.empty((len(others), len(batch)))
        costs = 8.0 * (20 * batch.n_nodes_per_graph + 4 * batch.n_arcs_per_graph)
        parts = blocks(costs) if others else []
        for block in progress(parts, "views", verbose):
            graphs = batch[block]  # one object, of which views share what they compute
            scores[:, block] = [_scores(view, graphs, own[block].copy()) for view in others]
        of_densities, of_others = iter(log_densities), iter(scores)
        return np.array(
            [next(of_densities if isinstance(x, Density) else of_others) for x in self.views]
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
        i = self._distance(view)
        D = finite(self._density.densities[i].pairwise(P[i], Q[i]), "distance")
        return D.clip(min=0)

    def nearest(
        self,
        graphs: GraphBatch | EmbeddedGraphs,
        k: int,
        *,
        view: int | None = None,
        own: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest references of graphs.

        Parameters
        ----------
        graphs : GraphBatch or EmbeddedGraphs
        k : int
            Number of references; all if there are fewer.
        view : int, default=None
            Index of a view that is a density. None means the first.
        own : ndarray of shape (n_graphs,), default=None
            Index of the reference that equals each graph and comes last. None: no graph is one.

        Returns
        -------
        distances, indices : ndarray of shape (n_graphs, k)
            In ascending order, that of the estimates of squared distances, of which negative ones
            count as 0.
        """
        i = self._distance(view)
        P, Q = self._measures(graphs)[i], self._references.measures[i]
        D = finite(self._density.densities[i].pairwise(P, Q), "distance")
        if own is not None:
            D[np.arange(len(D)), own] = np.inf
        indices = np.argsort(D, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(D, indices, axis=1).clip(min=0), indices

    def reference_distances(self, view: int | None = None) -> np.ndarray:
        """Distances between all references, shape (n_references, n_references)."""
        return self.distances(self._references, view=view)

    def _distance(self, view: int | None) -> int:
        """Index of a view among the densities."""
        return 0 if view is None else self.densities.index(view)

    def embeddings(self, graphs: GraphBatch) -> np.ndarray:
        """Means of the node embeddings of each graph, shape (n_graphs, embedding_dim)."""
        return finite(to_numpy(pooled(self._measures(graphs)[0], "mean")), "embedding")

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
        i = self._distance(view)
        distance = self._density.densities[i].distance
        return to_numpy(distance.contributions(Z, self._references.measures[i][references]))

    def _measures(self, graphs: GraphBatch | EmbeddedGraphs) -> tuple[DiscreteMeasures, ...]:
        return (graphs if isinstance(graphs, EmbeddedGraphs) else self.embed(graphs)).measures

    # -- state -------------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """State to save; it omits embeddings, which are computed from the graphs at first use."""
        density = self._density
        return {
            "features": self.features,
            "encoder": density.encoder.specification,
            "weights": density.encoder.saved_weights(),
            "densities": tuple(density.densities),
            "references": self.references,
            "views": self.views,
            "training_scores": self.training_scores,
            "learned_weights": self.learned_weights,
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
        encoder = specification.restore(in_dim, n_relations, weights)
        features.check_columns(references)  # without warnings, which `partial_fit` already gave
        densities = _take_instances(state, "densities", KernelDensity)
        for density in densities:
            density.distance.check_dim(encoder.out_dim)
        views = _take_instances(state, "views", View)
        n_densities = sum(isinstance(view, Density) for view in views)
        state.check(n_densities == len(densities), "densities are not those of the views")
        for view in views:
            view.complete(references)
        scores = state.take_optional_array("training_scores", float, (len(views), None))
        is_given = len(views) == 1 if scores is None else scores.shape[1] > 1
        state.check(is_given, "training_scores has too few columns")
        learned = state.take_optional("learned_weights", LearnedWeights)
        if learned is not None:
            is_right = scores is not None and learned.training.shape == scores.shape
            state.check(is_right, "learned_weights are not those of the views and the graphs")
        density = DensityModel(encoder, densities)
        return cls(features, density, references, views, scores, learned_weights=learned)


def _check_range(graphs: GraphBatch, features: NodeFeatures, limit: float) -> None:
    """Raise a ValueError if a standardized number of a node or an edge exceeds the limit."""
    for kind, values in (("attribute", graphs.attributes), ("edge", graphs.edge_attributes)):
        block = features.block(kind)
        if block is None or values is None or not block.columns:
            continue
        deviations = np.nan_to_num(np.abs(block.standardized(graphs)), posinf=np.inf)
        if deviations.max(initial=0) <= limit:
            continue
        row, column = np.unravel_index(deviations.argmax(), deviations.shape)
        if kind == "attribute":
            column, graph = block.used[column], graphs.graph_of_node[row]
            where = f"node {row - graphs.node_ptr[graph]}: node"
        else:
            graph = graphs.graph_of_arc[row]
            ends = graphs.source_of_arc[row], graphs.adjacency.indices[row]
            where = "edge ({}, {}): edge".format(*(end - graphs.node_ptr[graph] for end in ends))
        advice = "which cannot be computed: clip it"
        if limit < FittedDistance.largest_coordinate:
            advice = (
                "too large for random features: clip it, or use views=Density(MMD(method='exact'))"
            )
        raise ValueError(
            f"graph {graph}, {where} attribute {block.columns[column]!r} is "
            f"{np.asarray(values)[row, column]:g}, more than {limit:.0e} standard deviations from "
            f"the mean of the training graphs, {advice}"
        )


def _scores(view: View, graphs: GraphBatch, own: np.ndarray) -> np.ndarray:
    """Scores of one view, checked."""
    scores = view.scores(graphs, own)
    if np.shape(scores) != (len(graphs),):
        raise ValueError(
            f"{type(view).__name__}.scores must return one score for each of {len(graphs)} graphs, "
            f"and returned an array of shape {np.shape(scores)}"
        )
    if not np.isfinite(scores).all():
        wrong = scores[~np.isfinite(scores)][0]
        raise ValueError(f"{type(view).__name__}.scores returned {wrong}: scores must be finite")
    return scores


def _with_fitted_densities(views: Sequence[View], density: DensityModel) -> tuple[View, ...]:
    """Views, of which densities are copies with their distance and kernels."""
    fitted, densities = list(views), iter(density.densities)
    for i, view in enumerate(views):
        if isinstance(view, Density):
            own, of_view = copy.copy(view), next(densities)
            own.distance_ = of_view.distance
            own.bandwidths_ = of_view.kde.bandwidths
            own.mixture_weights_ = of_view.kde.mixture_weights
            fitted[i] = own
    return tuple(fitted)


def _take_instances(state: State, name: str, kind: type) -> tuple:
    items = state.take(name, tuple)
    is_right = items and all(isinstance(item, kind) for item in items)
    state.check(is_right, f"{name} is not a tuple of {kind.__name__} objects")
    return items


def device_of(device: Any, encoder: FittedEncoder, *, fitted: bool = False) -> Any:
    """Resolve the parameter `device` of a detector.

    Parameters
    ----------
    device : str or torch.device
        "auto" is the GPU for an encoder with weights, if torch sees one, else the CPU.
    encoder : FittedEncoder
    fitted : bool, default=False
        Whether the CPU may replace a GPU that is not available.

    Returns
    -------
    torch.device or None
        None is the CPU, for which torch is not imported.

    Raises
    ------
    ImportError, ValueError
        If the device needs torch, which is not installed, or is not available.
    """
    if isinstance(device, str) and (device == "cpu" or (device == "auto" and not encoder.is_torch)):
        return None
    check_torch(f"device={device!r}")
    from skgraphkde.learned.tensors import resolve_device

    resolved = resolve_device(device, fitted)
    return None if resolved.type == "cpu" and resolved.index is None else resolved


def moved(density: DensityModel, device: Any) -> DensityModel:
    """Copy of a density on a torch device; None is the CPU.

    Parameters
    ----------
    density : DensityModel
    device : torch.device or None

    Returns
    -------
    DensityModel
    """
    if device is None:
        return DensityModel(density.encoder.on("cpu"), density.densities)
    from skgraphkde.learned.tensors import on_device

    encoder = density.encoder.on(device)
    return DensityModel(encoder, density.densities, partial(on_device, device=device))
