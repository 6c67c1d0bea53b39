"""Model: training graphs -> the fitted model, which nothing changes afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from skgraphkde._utils import during, progress
from skgraphkde.core.distances.base import FittedDistance
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.graphs.arrays import find_in, freeze
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.copies import isomorphism_classes, sample_by_content
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.core.graphs.schema import PARTS
from skgraphkde.core.points.features import NodeFeatures
from skgraphkde.core.points.propagation import Encoder
from skgraphkde.core.scoring.calibration import finite
from skgraphkde.core.scoring.combination import (
    LearnedWeights,
    LogPValues,
    learn_weights,
    nearness_weights,
    view_weights,
)
from skgraphkde.core.views.base import Clouds, Context, View
from skgraphkde.core.views.categories import CategoryCounts
from skgraphkde.core.views.confirmed import ITSELF, Confirmed
from skgraphkde.core.views.embedding import Embedding
from skgraphkde.core.views.statistics import Statistics

AnyView = TypeVar("AnyView", bound=View)

# The weighted log p-value of a confirmed anomaly that is given again.
LOG_P_OF_CONFIRMED = -100.0
# Number of references of max_references="auto". Fewer find less, if the training graphs are all
# normal; more take longer, and odd ones among them hide each other (see docs/defaults.md).
MOST_REFERENCES = 5_000
# Shares of the time of a fit after which its parts begin: features, encoder, clouds, views, scores.
FIT_SHARES = 0.0, 0.05, 0.1, 0.25, 0.6, 0.9
TRAINING_SHARES = 0.0, 0.02, 0.9, 0.92, 0.95, 0.99


class GraphModel:
    """Fitted model of a detector: features, encoder, references and views.

    A *view* gives each graph a score. With one view, its score is the score of the graph. With
    several views, the leave-one-out scores of the training graphs turn the score of each view into
    a conformal p-value, and the weighted log p-values are summed.

    Nothing changes a model: new graphs and verdicts make another one, by :func:`fit_model`.

    Parameters
    ----------
    views : sequence of View
        Fitted views.
    context : Context
        Of the references: the training graphs in their order, or a selection of them.
    reference_index : ndarray of shape (n_references,), int
        Positions of the references among the training graphs.
    categories : CategoryCounts
        Nodes and edges of all training graphs by their categories.
    training_scores : ndarray of shape (n_views, n_training_graphs)
        Leave-one-out scores of the training graphs in each view.
    learned_weights : LearnedWeights, default=None
        Weights of the views that were learned from verdicts. None: they follow from
        `training_scores`.

    Attributes
    ----------
    references : GraphBatch
    embedding : Embedding
        The fitted `features`, the `encoder`, and the views that are densities.
    clouds : dict of Density -> DiscreteMeasures
        Clouds of the references, by density. Files and pickles omit them, and do not compute them
        before what they hold is checked.
    view_weights : ndarray of shape (n_views,)
        Weights of the views' log p-values in the score, see
        :func:`~skgraphkde.core.scoring.combination.view_weights`, or those that were learned.
    """

    def __init__(
        self,
        views: Sequence[View],
        context: Context,
        reference_index: np.ndarray,
        categories: CategoryCounts,
        training_scores: np.ndarray,
        learned_weights: LearnedWeights | None = None,
    ) -> None:
        self.views = tuple(views)
        self.embedding = context.embedding
        self.features = self.embedding.features
        self.encoder = self.embedding.encoder
        self.references = context.graphs
        self.clouds = context.clouds
        self.reference_index = reference_index
        self.categories = categories
        self.training_scores = training_scores
        self.learned_weights = learned_weights
        self.log_p_values = [LogPValues(view_scores) for view_scores in training_scores]
        if learned_weights is None:
            self.view_weights = view_weights(
                np.array([x.leave_one_out() for x in self.log_p_values])
            )
        else:
            self.view_weights = learned_weights.views

    def __getstate__(self) -> dict[str, Any]:
        # Clouds are larger than all else, and follow from it.
        follows = ("clouds", "context_of_references")
        return {name: value for name, value in vars(self).items() if name not in follows}

    @cached_property
    def clouds(self) -> Clouds:
        """Clouds of points of the references, for each density."""
        flows = self.embedding.flows(self.references)
        clouds = self.embedding.of_references(self.references, flows)
        freeze([clouds])
        return clouds

    @property
    def view_names(self) -> tuple[str, ...]:
        """Names of the views."""
        return tuple(view.name for view in self.views)

    @property
    def densities(self) -> list[int]:
        """Indices of the views that are densities."""
        return [i for i, view in enumerate(self.views) if view.uses_points]

    def first(self, kind: type[AnyView]) -> AnyView | None:
        """First view of a class, or None."""
        return next((view for view in self.views if isinstance(view, kind)), None)

    @property
    def reference_scores(self) -> np.ndarray:
        """Leave-one-out scores of the references in each view, (n_views, n_references)."""
        return self.training_scores[:, self.reference_index]

    @property
    def n_training_graphs(self) -> int:
        """Number of training graphs, of which the references are a sample, or all."""
        return self.training_scores.shape[1]

    def references_of(self, own: np.ndarray) -> np.ndarray:
        """Index of the reference that each training graph is; -1 for none."""
        return references_of(own, self.reference_index)

    # -- scores ------------------------------------------------------------------------------------

    def check_batch(self, graphs: GraphBatch) -> None:
        """Check that graphs have the attributes of the training graphs, in a valid range.

        Raises
        ------
        ValueError
            If a graph lacks an attribute or has a number out of range; the message names the graph,
            the node and the remedy.
        """
        self.features.check_batch(graphs, tuple(PARTS))
        for view in self.views:
            view.check_batch(graphs)
        limit = min(x.distance_.largest_coordinate for x in self.embedding.densities)
        _check_range(graphs, self.features, limit)

    def scores(self, graphs: GraphBatch) -> np.ndarray:
        """Score graphs by the sum of their log p-values, or by the score of a single view.

        Parameters
        ----------
        graphs : GraphBatch

        Returns
        -------
        ndarray of shape (n_graphs,), float64
            Higher for normal graphs.
        """
        return self.as_log_p_values(self.view_scores(graphs)).sum(axis=0)

    def view_scores(
        self,
        graphs: GraphBatch,
        *,
        own: np.ndarray | None = None,
        context: Context | None = None,
    ) -> np.ndarray:
        """Scores of graphs in each view, in its own units.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), default=None
            Index of the training graph that equals each graph and is excluded, or -1. None excludes
            no graphs.
        context : Context, default=None
            Context of the graphs, if there is one.

        Returns
        -------
        ndarray of shape (n_views, n_graphs)
        """
        context = self.context(graphs) if context is None else context
        return _view_scores(self.views, context, self.reference_index, own)

    def log_densities(
        self, graphs: GraphBatch, *, embedding: Embedding | None = None
    ) -> np.ndarray:
        """Log densities of graphs under each density, as :meth:`view_scores`.

        Parameters
        ----------
        graphs : GraphBatch
        embedding : Embedding, default=None
            Embedding of the graphs, in place of that of the model.

        Returns
        -------
        ndarray of shape (n_densities, n_graphs)
        """
        embedding = self.embedding if embedding is None else embedding
        context = Context(graphs, embedding, self.clouds)
        return _view_scores(embedding.densities, context, self.reference_index)

    def context(self, graphs: GraphBatch) -> Context:
        """Context of one call on some graphs."""
        return Context(graphs, self.embedding, self.clouds)

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
        pairs = zip(self.log_p_values, scores, strict=True)
        log_p_values = np.array([of_view(view_scores) for of_view, view_scores in pairs])
        log_p_values *= self.view_weights[:, np.newaxis]
        has_anomalies = np.array([isinstance(view, Confirmed) for view in self.views])
        log_p_values[has_anomalies[:, np.newaxis] & (scores == ITSELF)] = LOG_P_OF_CONFIRMED
        return log_p_values

    def leave_one_out_log_p_values(self) -> np.ndarray:
        """Log p-values of the training graphs in each view, times the weight of the view.

        Each graph is compared with the others.

        Returns
        -------
        ndarray of shape (n_views, n_training_graphs)
            Their sum over views is the result of :meth:`leave_one_out`. With a single view these
            are the scores of that view.
        """
        if len(self.views) == 1:
            return self.training_scores
        log_p_values = np.array([x.leave_one_out() for x in self.log_p_values])
        if self.learned_weights is not None:
            return self.learned_weights.training * log_p_values
        return self.view_weights[:, np.newaxis] * log_p_values

    def leave_one_out(self) -> np.ndarray:
        """Leave-one-out scores of the training graphs, shape (n_training_graphs,)."""
        return self.leave_one_out_log_p_values().sum(axis=0)

    # -- distances ---------------------------------------------------------------------------------

    def distances(
        self, graphs: GraphBatch, other: GraphBatch | None = None, *, view: int | None = None
    ) -> np.ndarray:
        """Distances between graphs, without the size kernel.

        Parameters
        ----------
        graphs : GraphBatch
        other : GraphBatch, default=None
            None means the references.
        view : int, default=None
            Index of a view that is a density. None means the first.

        Returns
        -------
        ndarray of shape (len(graphs), len(other))
            Negative unbiased estimates of squared distances count as 0.
        """
        n_others = len(self.references if other is None else other)
        if not len(graphs) or not n_others:
            return np.empty((len(graphs), n_others))
        density = self.density(view)
        P = Q = self.embedding(graphs)[density]
        if other is None:
            Q = self.clouds[density]
        elif other is not graphs:
            Q = self.embedding(other)[density]
        return finite(density.pairwise(P, Q), "distance").clip(min=0)

    def nearest(
        self,
        graphs: GraphBatch,
        k: int,
        *,
        view: int | None = None,
        own: np.ndarray | None = None,
        context: Context | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Nearest references of graphs.

        Parameters
        ----------
        graphs : GraphBatch
        k : int
            Number of references; all if there are fewer.
        view : int, default=None
            Index of a view that has distances. None means the first density.
        own : ndarray of shape (n_graphs,), default=None
            Index of the training graph that equals each graph, or -1; if it is a reference, it
            comes last. None: no graph is one.
        context : Context, default=None
            Context of the graphs, if there is one.

        Returns
        -------
        distances, indices : ndarray of shape (n_graphs, k)
            In ascending order, that of the estimates of squared distances, of which negative ones
            count as 0.
        """
        if not len(graphs):
            k = min(k, len(self.references))
            return np.empty((0, k)), np.empty((0, k), dtype=np.int64)
        measured_by = self.density(view)
        context = context or self.context(graphs)
        reference = np.full(len(graphs), -1) if own is None else self.references_of(own)
        if measured_by.uses_points:
            D = measured_by.pairwise(context.clouds[measured_by], self.clouds[measured_by])
        else:
            D = measured_by.distances(context, self.context_of_references, reference)
        D = finite(D, "distance")
        D[reference >= 0, reference[reference >= 0]] = np.inf
        indices = np.argsort(D, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(D, indices, axis=1).clip(min=0), indices

    @cached_property
    def context_of_references(self) -> Context:
        """Context of the references, for views that compare graphs with them one by one."""
        return self.context(self.references)

    def density(self, view: int | None) -> Any:
        """A view that has distances, by its index; None means the first density."""
        return self.views[self.densities[0] if view is None else view]

    def embeddings(self, graphs: GraphBatch) -> np.ndarray:
        """Means of the node embeddings of each graph, shape (n_graphs, embedding_dim)."""
        if not len(graphs):
            return np.empty((0, self.encoder.out_dim))
        means = [
            self.embedding(graphs[block])[self.embedding.densities[0]].means()
            for block in self.embedding.blocks(graphs)
        ]
        return finite(np.concatenate(means), "embedding")

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
        density, (flow,) = self.density(view), self.embedding.flows(graph)
        point_of_node = flow.rounds[-1][1]  # nodes that look alike share a point, and their share
        P = DiscreteMeasures.of_nodes(self.encoder.encode(flow), point_of_node, graph.node_ptr)
        shares = density.distance_.contributions(P, self.clouds[density][references])
        return shares[point_of_node]


def fit_model(
    graphs: GraphBatch,
    features: NodeFeatures,
    encoder: Encoder,
    views: Sequence[View],
    *,
    train: Callable[[Embedding, GraphBatch], None] | None = None,
    max_references: int | str | None = "auto",
    anomalies: GraphBatch | None = None,
    judged: np.ndarray | None = None,
    rng: np.random.RandomState,
) -> GraphModel:
    """Fit a model to graphs, and to what people know of them.

    Parameters
    ----------
    graphs : GraphBatch
        The training graphs, none of which is a confirmed anomaly.
    features : NodeFeatures
    encoder : Encoder
    views : sequence of View
        Objects that the fit may change.
    train : callable, default=None
        Function of the embedding and the training graphs that trains its encoder and the weights
        of its densities, in place.
    max_references : int, "auto" or None, default="auto"
        Largest number of references, 5,000 if "auto". None: all training graphs are references.
    anomalies : GraphBatch, default=None
        Confirmed anomalies.
    judged : ndarray of shape (n_graphs,), bool, default=None
        Training graphs that somebody judged normal. None: no graph.
    rng : RandomState

    Returns
    -------
    GraphModel
    """
    shares = FIT_SHARES if train is None else TRAINING_SHARES
    with during(*shares[:2]):
        embedding = _embedding(graphs, features, encoder, views, rng)
        flows = embedding.flows(graphs)
        most = MOST_REFERENCES if max_references == "auto" else max_references
        index = sample_by_content(graphs, len(graphs) if most is None else int(most))
        references = graphs[index]
        are_all = len(index) == len(graphs)
        of_references = flows if are_all else embedding.flows(references)
        n_points = len(np.unique(np.concatenate([flow.colors for flow in of_references])))
        for density in embedding.densities:
            density.build(embedding.encoder.out_dim, n_points, references, rng)
    with during(*shares[1:3]):
        if train is not None:
            train(embedding, graphs)
        embedding.encoder.prepare(flows)
    with during(*shares[2:4]):
        clouds = embedding.of_references(references, of_references)
    context = Context(references, embedding, clouds, clouds)
    of_all = context if are_all else Context(graphs, embedding, clouds)
    with during(*shares[3:5]):
        for view in progress(views):
            known = of_all if view.uses_all_graphs else context
            view.fit(known.graphs, known)
    if anomalies is not None:
        of_anomalies = Context(anomalies, embedding, clouds)
        views = [*views, *_nearness(views, of_anomalies)]
    with during(*shares[4:]):
        scores = _leave_one_out(views, of_all, index)
    if not are_all:  # a copy may be a reference, and another not: each has the lowest score of both
        first = isomorphism_classes(graphs)
        np.minimum.at(scores.T, first, scores.T)
        scores = scores[:, first]
    weights = None
    if anomalies is not None:
        weights = _learned(views, scores, of_anomalies, index, judged)
    by_label = graphs.labels is not None
    with_edges = by_label or graphs.edge_labels is not None
    categories = of_all.shared(CategoryCounts.of, by_label, with_edges)
    return GraphModel(views, context, index, categories, scores, weights)


def _embedding(
    graphs: GraphBatch,
    features: NodeFeatures,
    encoder: Encoder,
    views: Sequence[View],
    rng: np.random.RandomState,
) -> Embedding:
    """Fit the features, and build the encoder, before it is trained."""
    features = features.fit(graphs)
    seed = int(rng.randint(2**31)) if encoder.is_random else None
    n_relations = features.edge_groups_.n_relations
    fitted_encoder = encoder.build(features.n_features_out_, n_relations, seed)
    return Embedding(features, fitted_encoder, [view for view in views if view.uses_points])


def _nearness(views: Sequence[View], anomalies: Context) -> list[Confirmed]:
    """Views of the nearness to confirmed anomalies, one for each view that has distances."""
    statistics = next((view for view in views if isinstance(view, Statistics)), None)
    nearness = [Confirmed(view, statistics) for view in views if view.has_distances]
    return [view.fit(anomalies.graphs, anomalies) for view in nearness]


def _leave_one_out(
    views: Sequence[View], context: Context, reference_index: np.ndarray
) -> np.ndarray:
    """Scores of all training graphs, each by the others, shape (n_views, n_graphs)."""
    graphs = context.graphs
    embedding = context.embedding
    scores = _view_scores(views, context, reference_index, np.arange(len(graphs)))
    # A category that only one graph has is unseen when that graph is left out.
    forgetful, has_own_category = embedding.features.without_own_values(graphs)
    some = np.flatnonzero(has_own_category)
    if len(some):
        without = Embedding(forgetful, embedding.encoder, embedding.densities)
        of_some = Context(graphs[some], without, context.known)
        left_out = _view_scores(without.densities, of_some, reference_index, some)
        for density, of_density in zip(without.densities, left_out, strict=True):
            scores[views.index(density), some] = of_density
    finite(scores.T)  # a row for each graph, which an error names
    return scores


def _learned(
    views: Sequence[View],
    scores: np.ndarray,
    anomalies: Context,
    reference_index: np.ndarray,
    judged: np.ndarray | None,
) -> LearnedWeights:
    """Learn the weights of the views, of which the last are those of confirmed anomalies.

    Parameters
    ----------
    views : sequence of View
    scores : ndarray of shape (n_views, n_training_graphs)
        Leave-one-out scores of the training graphs.
    anomalies : Context
    reference_index : ndarray of shape (n_references,), int
    judged : ndarray of shape (n_training_graphs,), bool, or None
        Training graphs that somebody judged normal. None: no graph.

    Returns
    -------
    LearnedWeights
    """
    nearness = [view for view in views if isinstance(view, Confirmed)]
    n_others = len(views) - len(nearness)
    n_anomalies = len(anomalies.graphs)
    rows = list(_view_scores(views[:n_others], anomalies, reference_index))
    for view, of_view in zip(nearness, scores[n_others:], strict=True):
        by_each_other = view.scores_of_anomalies()
        rows.append(np.where(by_each_other == np.inf, np.median(of_view), by_each_other))
    p_values = [LogPValues(x) for x in scores]
    training = np.array([x.leave_one_out() for x in p_values])
    surprises = -np.array([f(x) for f, x in zip(p_values, rows, strict=True)]).T
    prior = np.append(
        view_weights(training[:n_others]), nearness_weights(len(nearness), n_anomalies)
    )
    judged = np.zeros(scores.shape[1], dtype=bool) if judged is None else judged
    if not np.isfinite(surprises).all():
        raise ValueError(
            "the score of a confirmed anomaly is not a finite number: look for extreme node "
            "attributes or edge weights in confirmed anomalies"
        )
    return learn_weights(prior, -training.T, surprises, judged)


def _view_scores(
    views: Sequence[View],
    context: Context,
    reference_index: np.ndarray,
    own: np.ndarray | None = None,
) -> np.ndarray:
    """Scores of the graphs of a context in each view, block by block, checked."""
    graphs = context.graphs
    embedding = context.embedding
    own = np.full(len(graphs), -1) if own is None else own
    scores = np.empty((len(views), len(own)))
    of_references = references_of(own, reference_index)
    per_pair = max(density.bytes_per_pair for density in embedding.densities)
    for block in progress(embedding.blocks(graphs, per_pair * len(reference_index))):
        part = context.part(block)
        for i, view in enumerate(progress(views)):
            index = own if view.uses_all_graphs else of_references
            scores[i, block] = _checked(view, view.scores(part.graphs, index[block], part), part)
    return scores


def _checked(view: View, scores: np.ndarray, context: Context) -> np.ndarray:
    """Scores of a view, or a ValueError if they are not what a view must return."""
    n_graphs = len(context.graphs)
    if np.shape(scores) != (n_graphs,):
        raise ValueError(
            f"{type(view).__name__}.scores must return one score for each of {n_graphs} "
            f"graphs, and returned an array of shape {np.shape(scores)}"
        )
    if not view.uses_points and not np.isfinite(scores).all():
        wrong = scores[~np.isfinite(scores)][0]
        raise ValueError(f"{type(view).__name__}.scores returned {wrong}: scores must be finite")
    return scores


def references_of(own: np.ndarray, reference_index: np.ndarray) -> np.ndarray:
    """Index of the reference that each training graph is; -1 for none.

    Parameters
    ----------
    own : ndarray of int
        Indices of training graphs, or -1.
    reference_index : ndarray of shape (n_references,), int
        Training graphs that are references, ascending.
    """
    return find_in(reference_index, own)


def _check_range(graphs: GraphBatch, features: NodeFeatures, limit: float) -> None:
    """Raise a GraphError if a standardized number of a node or an edge exceeds the limit."""
    for kind, values in (("attribute", graphs.attributes), ("edge", graphs.edge_attributes)):
        block = features.block(kind)
        if block is None or values is None or not block.columns:
            continue
        deviations = np.nan_to_num(np.abs(block.standardized(graphs)), posinf=np.inf)
        if deviations.max(initial=0) <= limit:
            continue
        row, column = np.unravel_index(deviations.argmax(), deviations.shape)
        column = block.used[column]
        if kind == "attribute":
            graph = graphs.graph_of_node[row]
            where = f"node {row - graphs.node_ptr[graph]}: node"
        else:
            graph = graphs.graph_of_arc[row]
            ends = graphs.source_of_arc[row], graphs.adjacency.indices[row]
            where = "edge ({}, {}): edge".format(*(end - graphs.node_ptr[graph] for end in ends))
        is_exact = limit == FittedDistance.largest_coordinate
        raise GraphError(
            graphs.name(int(graph)),
            f", {where} attribute {block.columns[column]!r} is "
            f"{np.asarray(values)[row, column]:g}, more than {limit:.0e} standard deviations from "
            "the mean of the training graphs, which cannot be computed: clip it"
            + ("" if is_exact else ", or compare exactly, by MMD(method='exact')"),
        )
