"""Properties: graphs -> numbers that can be odd, each with what it is about.

Sizes, means of node features, shares of new parts, rarity, and the properties of each view.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from skgraphkde.detectors.model import GraphModel
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.inspection.tails import Tails
from skgraphkde.views.base import View
from skgraphkde.views.parts import CategoryCounts, ReferenceTable, means

# Rare is what so small a share of the known graphs have, or one of them.
FEW = 0.1


class Column(NamedTuple):
    """The subject of a number."""

    kind: str  # as in the table of `explain`
    what: str  # the feature, the size, or the kind of parts
    place: int = 0  # among the features, or the numbers of nodes or edges
    both: bool = False  # small numbers are unusual, too
    view: View | None = None  # the view that has the property


class Numbers(NamedTuple):
    """The properties of graphs."""

    values: np.ndarray  # (n_graphs, n_columns); NaN where a graph has none
    least: np.ndarray  # smallest difference that counts, same shape


class Properties:
    """The properties of the graphs of a detector, and those of its references.

    Parameters
    ----------
    model : GraphModel

    Attributes
    ----------
    columns : list of Column
    known : ndarray of shape (n_references, n_columns)
        The properties of the references, each compared with the others.
    tails : Tails
        The distributions of these.
    """

    def __init__(self, model: GraphModel) -> None:
        references = model.references
        everybody, scores = np.arange(len(references)), model.reference_scores
        if scores is None:
            unused = np.zeros((len(model.densities), len(references)))
            scores = model.view_scores(references, own=everybody, log_densities=unused)
        self.views, self.references = model.views, references
        by_label = references.labels is not None
        with_edges = by_label or references.edge_labels is not None
        self.parts = CategoryCounts.of(references, by_label=by_label, with_edges=with_edges)
        self.vocabulary = self.parts.vocabulary
        self._n_graphs = {}  # distinct colors and their numbers of graphs, by kind of parts
        for kind, keys, graph in self.parts.parts(references):
            colors, code = np.unique(keys, return_inverse=True)
            pairs = np.unique(code * len(references) + graph)
            self._n_graphs[kind] = colors, np.bincount(pairs // len(references))
        self.names = [str(name) for name in model.features.get_feature_names_out()]
        self.edges = model.features.block("edge")
        self.kinds = model.features.kind_of_column
        labels = model.features.block("label")
        projected = labels is not None and labels.weights is not None
        # Which say nothing in words; the categories are reasons themselves.
        unsaid = set(labels.names) if projected else set()
        self.is_weighted = references.schema.edge_weight is not None
        sizes = ("nodes", "edges", *("weights",) * self.is_weighted)
        self.columns = [Column("size", what, both=True) for what in sizes]
        said = [
            (j, name)
            for j, name in enumerate(self.names)
            if self.kinds[j] != "label" or name not in unsaid
        ]
        self.columns += [Column("feature", name, j, both=True) for j, name in said]
        self.columns += [Column("new", kind) for kind in self.parts.known]
        self.columns += [Column("rare", kind) for kind in self.parts.kinds]
        self.columns += [
            Column(x.kind, x.what, x.place, x.both, view)
            for view, of_view in zip(self.views, scores, strict=True)
            for x in view.properties(references[:1], everybody[:1], of_view[:1])
        ]
        self.sizes = _sizes(references)
        features = np.asarray(model.features.transform_batch(references).attributes)
        means = self.feature_means(references, features)
        self.is_share = np.asarray(((means >= 0) & (means <= 1)).all(axis=0))
        self.known, least = self.of(references, everybody, means, scores)
        low, high = (np.where(np.isnan(self.known), x, self.known) for x in (np.inf, -np.inf))
        low, high = low.min(axis=0), high.max(axis=0)
        self.is_constant = high - low <= 1e-9 * np.maximum(abs(low), abs(high))
        self.tails = Tails(self.known, np.array([x.both for x in self.columns]), least)

    def fact_of_feature(self, place: int) -> str:
        """The fact that a node feature is about, as other reasons call it, too."""
        kind, name = self.kinds[place], self.names[place]
        if kind == "attribute":
            return f"node {name}"
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

    def n_graphs(self, kind: str, keys: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Number of references, without the graph itself, with parts of these colors.

        Parameters
        ----------
        kind : str
            Of parts.
        keys : ndarray of shape (n_parts,), uint64
        own : ndarray of shape (n_parts,), int
            The reference that has each part; -1 for none.

        Returns
        -------
        ndarray of shape (n_parts,), int
        """
        colors, counts = self._n_graphs[kind]
        place = np.minimum(np.searchsorted(colors, keys), len(colors) - 1)
        return np.where(colors[place] == keys, counts[place] - (own >= 0), 0)

    def rare_parts(
        self, graphs: GraphBatch, kind: str, keys: np.ndarray, own: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mask of the parts that few references have, and the number of these.

        Edges with a rare or new end do not count.
        """
        n_graphs = self.n_graphs(kind, keys, own)
        most = max(FEW * len(self.references), 1)
        is_rare = (n_graphs > 0) & (n_graphs <= most)
        if kind == "edges" and self.vocabulary.by_label:
            nodes = self.vocabulary.node_keys(graphs)
            for ends in (graphs.source_of_arc, graphs.adjacency.indices):
                is_rare &= self.n_graphs("categories", nodes[ends], own) > most
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
        return {first + self.edges.names.index(name): values for name, values in means.items()}

    def of(
        self, graphs: GraphBatch, own: np.ndarray, feature_means: np.ndarray, scores: np.ndarray
    ) -> Numbers:
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
        """
        sizes, n_nodes = _sizes(graphs), graphs.n_nodes_per_graph
        ratio = np.log(sizes[:, 1] / sizes[:, 0])
        # Half a node more does not count, even where all graphs have the same size.
        pairs: list[tuple[Any, Any]] = [
            (np.log(sizes[:, 0]), 0.5 / self.sizes[:, 0].mean()),
            (ratio, 0.5 / self.sizes[:, 1].mean()),
        ]
        if self.is_weighted:
            pairs.append((np.log(self.mean_weights(graphs)), 1e-3))
        for column in self.columns:
            if column.kind == "feature":
                one_node = 0.5 / n_nodes if self.is_share[column.place] else 0.0
                pairs.append((feature_means[:, column.place], one_node))
        pairs += self._of_parts(graphs, own)
        for view, of_view in zip(self.views, scores, strict=True):
            pairs += [(x.values, x.least) for x in view.properties(graphs, own, of_view)]
        n = len(graphs)
        stacked = (
            np.column_stack([np.broadcast_to(x, n) for x in of_columns])
            for of_columns in zip(*pairs, strict=True)
        )
        return Numbers(*stacked)

    def mean_weights(self, graphs: GraphBatch) -> np.ndarray:
        """The mean weight of the edges of each graph; NaN of one without any."""
        total = means(graphs.adjacency.data, graphs.graph_of_arc, len(graphs))
        return np.where(total > 0, total, np.nan)

    def _of_parts(self, graphs: GraphBatch, own: np.ndarray) -> list[tuple[Any, Any]]:
        """Shares of parts that are new, then how rare the others are."""
        new, rare = [], []
        for kind, keys, graph in self.parts.parts(graphs):
            _, is_counted = self.new_parts(graphs, kind, keys, own[graph])
            n_parts = np.maximum(np.bincount(graph, minlength=len(graphs)), 1)
            if kind == "edges" and not graphs.directed:
                n_parts = np.maximum(n_parts / 2, 1)
            new.append((means(is_counted, graph, len(graphs)), 0.25 / n_parts))
            if kind in self.parts.kinds:
                is_rare, n_graphs = self.rare_parts(graphs, kind, keys, own[graph])
                rarity = np.where(is_rare, np.log((len(self.references) + 1) / (n_graphs + 1)), 0)
                rare.append((means(rarity, graph, len(graphs)), 0.25 / n_parts))
        return new + rare

    def new_parts(
        self, graphs: GraphBatch, kind: str, keys: np.ndarray, own: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Masks of the parts that no reference has, and of those among them that count.

        Edges with a new end do not count, nor combinations of categories with a new category, nor
        nodes with such a combination that lack a number.
        """
        is_new = self.parts.known[kind].is_new(keys, own)
        if kind == "gaps" and self.vocabulary.by_label:
            known = self.parts.known["categories"]
            return is_new, is_new & ~known.is_new(self.vocabulary.node_keys(graphs), own)
        if kind == "categories":
            is_counted = is_new.copy()
            for i, name in enumerate(self.parts.by_category):
                is_counted &= ~self.parts.known[name].is_new(
                    self.vocabulary.value_keys(graphs, i), own
                )
            return is_new, is_counted
        if kind != "edges" or not self.vocabulary.by_label:
            return is_new, is_new
        of_nodes: ReferenceTable = self.parts.known["categories"]
        owners = np.zeros(graphs.n_nodes, dtype=int)
        owners[graphs.source_of_arc] = own
        new_node = of_nodes.is_new(self.vocabulary.node_keys(graphs), owners)
        return is_new, is_new & ~new_node[graphs.source_of_arc] & ~new_node[
            graphs.adjacency.indices
        ]


# Those of each fitted model, as long as it lives.
_PROPERTIES: WeakKeyDictionary[GraphModel, Properties] = WeakKeyDictionary()


def properties_of(model: GraphModel) -> Properties:
    """Properties of the references of a fitted model, computed once."""
    if model not in _PROPERTIES:
        _PROPERTIES[model] = Properties(model)
    return _PROPERTIES[model]


def _sizes(graphs: GraphBatch) -> np.ndarray:
    return np.column_stack([graphs.n_nodes_per_graph, np.maximum(graphs.n_edges_per_graph, 0.5)])
