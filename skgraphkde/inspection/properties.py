"""Properties: graphs -> numbers that can be odd, each with what it is about.

Sizes, means of node features, shares of new parts, rarity, and the properties of each view.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from skgraphkde.detectors.model import GraphModel
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import USUAL
from skgraphkde.inspection.tails import Tails
from skgraphkde.views.base import Property, View
from skgraphkde.views.context import Context
from skgraphkde.views.parts import CategoryCounts, means

# Kinds of properties whose reasons state a range of nine in ten references.
WITH_RANGES = ("size", "feature", "statistics")
# Rare is what so small a share of the known graphs have, or one of them.
FEW = 0.1


class Properties:
    """The properties of the graphs of a detector, and those of its references.

    Parameters
    ----------
    model : GraphModel

    Attributes
    ----------
    columns : list of Property
        The properties of the references, each compared with the others.
    view_of : list
        The view of each property; None if it is of the data.
    known : ndarray of shape (n_references, n_columns)
        The values of all properties.
    tails : Tails
        The distributions of these.
    """

    def __init__(self, model: GraphModel) -> None:
        self.references, self.views = model.references, model.views
        references, everybody = model.references, np.arange(len(model.references))
        scores = model.reference_scores
        context = model.context(references)
        by_label = references.labels is not None
        with_edges = by_label or references.edge_labels is not None
        self.parts = CategoryCounts.of(references, by_label=by_label, with_edges=with_edges)
        self.vocabulary = self.parts.vocabulary
        self.names = [str(name) for name in model.features.get_feature_names_out()]
        self.edges = model.features.block("edge")
        self.kinds = model.features.kind_of_column
        labels = model.features.block("label")
        # A projection says nothing in words; the categories are reasons themselves.
        is_projected = labels is not None and labels.weights is not None
        self.said = [j for j, kind in enumerate(self.kinds) if kind != "label" or not is_projected]
        self.sizes = _sizes(references)
        features = np.asarray(model.features.transform_batch(references).attributes)
        means = self.feature_means(references, features)
        self.is_share = np.asarray(((means >= 0) & (means <= 1)).all(axis=0))
        found = list(self._of(references, everybody, means, scores, context))
        self.view_of, self.columns = [view for view, _ in found], [x for _, x in found]
        self.known, least = _stacked(self.columns, len(references))
        low = np.where(np.isnan(self.known), np.inf, self.known).min(axis=0)
        high = np.where(np.isnan(self.known), -np.inf, self.known).max(axis=0)
        self.low, self.high = np.nanquantile(self.known, USUAL, axis=0, method="nearest")
        self.has_range = np.array([x.kind in WITH_RANGES for x in self.columns])
        self.is_constant = high - low <= 1e-9 * np.maximum(abs(low), abs(high))
        self.tails = Tails(self.known, np.array([x.both for x in self.columns]), least)

    def is_usual(self, values: np.ndarray) -> np.ndarray:
        """Mask of the properties whose reason is a range of the references that holds the value."""
        return self.has_range & (self.low <= values) & (values <= self.high)

    def fact_of_feature(self, place: int) -> str:
        """The fact that a node feature is about, as other reasons call it, too."""
        kind, name = self.kinds[place], self.names[place]
        if kind == "attribute":
            return f"node {name}"
        if name == "degree=0":
            return "isolated nodes"
        if kind == "degree":
            return "degrees" if name.startswith("degree=") else "edges"
        if kind == "random_walk":
            return "walks"
        if kind == "edge":  # an edge goes out of one node and into another
            for column in self.edges.columns:
                if name.split(" ")[-1] == column or name.endswith(f" {column}"):
                    return f"edge {column}"
            return name.replace("out ", "").replace("in ", "")
        if kind == "label":  # of two values, the share of one follows from that of the other
            category = name.partition("=")[0]
            n_values = sum(x.partition("=")[0] == category for x in self.names)
            return category if n_values == 2 else name
        return name

    def rare_parts(
        self, graphs: GraphBatch, kind: str, keys: np.ndarray, own: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mask of the parts that few references have, and the number of these.

        Edges with a rare or new end do not count.
        """
        n_graphs = self.parts.known[kind].n_graphs_of(keys, own)
        most = max(FEW * len(self.references), 1)
        is_rare = (n_graphs > 0) & (n_graphs <= most)
        if kind == "edges" and self.vocabulary.by_label:
            nodes, known = self.vocabulary.node_keys(graphs), self.parts.known["categories"]
            for ends in (graphs.source_of_arc, graphs.adjacency.indices):
                is_rare &= known.n_graphs_of(nodes[ends], own) > most
        return is_rare, n_graphs

    def feature_means(self, graphs: GraphBatch, features: np.ndarray) -> np.ndarray:
        """Means of the node features over the nodes of each graph, shape (n_graphs, n_features).

        Nodes without edges say nothing about the numbers of edges: these are means over edges.
        """
        sums = np.add.reduceat(features, graphs.node_ptr[:-1], axis=0)
        of_graphs = sums / graphs.n_nodes_per_graph[:, np.newaxis]
        if self.edges is not None:
            for place, values in self.edge_means(graphs).items():
                of_graphs[:, place] = values
        return of_graphs

    def edge_means(self, graphs: GraphBatch) -> dict[int, np.ndarray]:
        """The means over edges, by the place of their feature."""
        first = self.kinds.index("edge")
        means = self.edges.graph_means(graphs)
        return {first + column: values for column, values in means.items()}

    def of(
        self,
        graphs: GraphBatch,
        own: np.ndarray,
        feature_means: np.ndarray,
        scores: np.ndarray,
        context: Context,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The properties of graphs.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,)
            The reference that each graph is, to be left out (-1: none).
        feature_means : ndarray of shape (n_graphs, n_features)
            The result of :meth:`feature_means`.
        scores : ndarray of shape (n_views, n_graphs)
            Those of the views.
        context : Context
            Context of the graphs.

        Returns
        -------
        values, least : ndarray of shape (n_graphs, n_columns)
            NaN where a graph has none; the smallest difference that counts.
        """
        found = [x for _, x in self._of(graphs, own, feature_means, scores, context)]
        return _stacked(found, len(graphs))

    def _of(
        self,
        graphs: GraphBatch,
        own: np.ndarray,
        feature_means: np.ndarray,
        scores: np.ndarray,
        context: Context,
    ) -> Iterator[tuple[View | None, Property]]:
        """Generate properties, each with its view, always in the same order."""
        n_nodes, n_edges = _sizes(graphs).T
        # Half a node more does not count, even where all graphs have the same size.
        one_node, one_edge = 0.5 / self.sizes.mean(axis=0)
        yield None, Property("size", "nodes", np.log(n_nodes), one_node, both=True)
        yield None, Property("size", "edges", np.log(n_edges / n_nodes), one_edge, both=True)
        if graphs.schema.edge_weight is not None:
            weights = np.log(self.mean_weights(graphs))
            yield None, Property("size", "weights", weights, np.array(1e-3), both=True)
        for j in self.said:
            least = 0.5 / n_nodes * self.is_share[j]
            values = feature_means[:, j]
            yield None, Property("feature", self.names[j], values, least, j, both=True)
        rare = []
        for kind, keys, graph in self.parts.parts(graphs):
            n_parts = np.maximum(np.bincount(graph, minlength=len(graphs)), 1)
            if kind == "edges" and not graphs.directed:
                n_parts = np.maximum(n_parts / 2, 1)
            is_counted = self.new_parts(graphs, kind, keys, own[graph])
            shares = means(is_counted, graph, len(graphs))
            yield None, Property("new", kind, shares, 0.25 / n_parts)
            if kind in self.parts.kinds:
                is_rare, n_graphs = self.rare_parts(graphs, kind, keys, own[graph])
                rarity = np.where(is_rare, np.log((len(self.references) + 1) / (n_graphs + 1)), 0)
                rarity = means(rarity, graph, len(graphs))
                rare.append(Property("rare", kind, rarity, 0.25 / n_parts))
        for x in rare:
            yield None, x
        for view, of_view in zip(self.views, scores, strict=True):
            for x in view.properties(graphs, own, of_view, context):
                yield view, x

    def mean_weights(self, graphs: GraphBatch) -> np.ndarray:
        """The mean weight of the edges of each graph; NaN of one without any."""
        total = means(graphs.adjacency.data, graphs.graph_of_arc, len(graphs))
        return np.where(total > 0, total, np.nan)

    def new_parts(
        self, graphs: GraphBatch, kind: str, keys: np.ndarray, own: np.ndarray
    ) -> np.ndarray:
        """Mask of the parts that no reference has, and that are not so because of others.

        Edges with a new end do not count, nor combinations of categories with a new category, nor
        nodes with such a combination that lack a number.
        """
        known, is_new = self.parts.known, self.parts.known[kind].is_new(keys, own)
        if kind == "gaps" and self.vocabulary.by_label:
            is_new &= ~known["categories"].is_new(self.vocabulary.node_keys(graphs), own)
        if kind == "categories":
            for i, name in enumerate(self.parts.by_category):
                is_new &= ~known[name].is_new(self.vocabulary.value_keys(graphs, i), own)
        if kind == "edges" and self.vocabulary.by_label:
            nodes = self.vocabulary.node_keys(graphs)
            for ends in (graphs.source_of_arc, graphs.adjacency.indices):
                is_new &= ~known["categories"].is_new(nodes[ends], own)
        return is_new


# Those of each fitted model, as long as it lives.
_PROPERTIES: WeakKeyDictionary[GraphModel, Properties] = WeakKeyDictionary()


def properties_of(model: GraphModel) -> Properties:
    """Properties of the references of a fitted model, computed once."""
    if model not in _PROPERTIES:
        _PROPERTIES[model] = Properties(model)
    return _PROPERTIES[model]


def _sizes(graphs: GraphBatch) -> np.ndarray:
    return np.column_stack([graphs.n_nodes_per_graph, np.maximum(graphs.n_edges_per_graph, 0.5)])


def _stacked(properties: list[Property], n_graphs: int) -> tuple[np.ndarray, np.ndarray]:
    """Values, and the smallest differences that count, shape (n_graphs, n_columns) each."""
    values = np.column_stack([x.values for x in properties])
    return values, np.column_stack([np.broadcast_to(x.least, n_graphs) for x in properties])
