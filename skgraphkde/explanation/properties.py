"""Properties: graphs -> numbers that can be odd, each with what it is about.

Sizes, means of node features, shares of new parts, rarity, and the properties of each view.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from skgraphkde._words import USUAL
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.scoring.model import GraphModel, references_of
from skgraphkde.core.views.base import Context, Property, View
from skgraphkde.core.views.categories import OFTEN_NEW, Table, means
from skgraphkde.explanation.facts import Fact
from skgraphkde.explanation.shapes import properties_of_shapes
from skgraphkde.explanation.tails import Tails
from skgraphkde.explanation.wording import features_in_words

# What nearly all known graphs have: more than nine in ten, as those in the usual ranges.
NEARLY_ALL = USUAL[1]
# Rare is what so small a share of the known graphs have, or one of them.
FEW = 0.05
# Surroundings with an edge that so small a share has, or one, are new because of it.
FEWEST = 0.02
# A number is a sum or a mean if it differs from these by no larger a share.
ROUNDED = 1e-3
# Steps in an order of their own that a reason names.
MOST_STEPS = 6
# An edge with a rare end is rare if the end is in more than so many times as many known graphs.
RARER = 3


class Common(NamedTuple):
    """Kinds of nodes or edges that nearly all training graphs have."""

    colors: np.ndarray
    n_graphs: np.ndarray  # that have each
    first: np.ndarray  # a part of the references of each kind
    ends: list[tuple[str, np.ndarray]]  # of edges: tables of nodes, and the kinds there


class Properties:
    """The properties of the references of a model, and of other graphs.

    Parameters
    ----------
    model : GraphModel

    Attributes
    ----------
    words : Words
        What people call nodes, edges and graphs.
    features : list of Feature
        The columns of node features, in words.
    same : dict of Fact -> Fact
        For a number of graphs that is a count, sum or mean of parts, the fact about these.
    counts : CategoryCounts
        The categories of the training graphs.
    common : dict of str -> Common
        What nearly all training graphs have, by the tables of `counts`.
    columns : list of Property
        The properties of the references, each compared with the others.
    view_of : list
        The view of each property; None if it is of the data.
    forms : list of (str, str)
        Of each property: ("share", "node") and ("mean", "edge") of features, ("size", "edges") and
        ("statistics", "degrees") of others.
    known : ndarray of shape (n_references, n_columns)
        The values of all properties.
    tails : Tails
        The distributions of these.
    """

    def __init__(self, model: GraphModel) -> None:
        references = model.references
        self.views = model.views
        self.counts = model.categories
        self.n_training_graphs = model.n_training_graphs
        self.reference_index = model.reference_index
        self.references = references
        self.words = references.schema.words
        self.features = features_in_words(model.features, references.schema)
        self.edges = model.features.block("edge")
        self.common = self._common_parts()
        self.first_of_edges = 0
        if self.edges is not None:
            self.first_of_edges = model.features.kind_of_column.index("edge")
        self.n_nodes = references.n_nodes_per_graph
        self.n_edges = _count_edges(references)
        self.same = _facts_of_totals(references)
        features = np.asarray(model.features.transform_batch(references).attributes)
        means = self.feature_means(references, features)
        self.is_share = np.asarray(((means >= 0) & (means <= 1)).all(axis=0))
        of_references = model.reference_scores, model.context(references)
        found = list(self._of(references, model.reference_index, means, *of_references))
        self.view_of = [view for view, _ in found]
        self.columns = [x for _, x in found]
        self.known, least = _stacked(self.columns, len(references))
        of_features = [(x.form, x.of) for x in self.features]
        self.forms = [
            of_features[x.place] if x.kind == "feature" else (x.kind, x.what) for x in self.columns
        ]
        self.tails = Tails(self.known, np.array([x.both for x in self.columns]), least)

    def feature_means(self, graphs: GraphBatch, features: np.ndarray) -> np.ndarray:
        """Means of the node features over the nodes of each graph, shape (n_graphs, n_features).

        Nodes without edges say nothing about the numbers of edges: these are means over edges.
        Edges are counted for each node.
        """
        is_count = [x.form == "count" for x in self.features]
        if any(is_count):
            features = features.copy()
            features[:, is_count] = np.expm1(features[:, is_count]) / (2 - graphs.directed)
        sums = np.add.reduceat(features, graphs.node_ptr[:-1], axis=0)
        of_graphs = sums / graphs.n_nodes_per_graph[:, np.newaxis]
        of_nodes = [(j, x) for j, x in enumerate(self.features) if x.of == "node"]
        lacking = {x.words: j for j, x in of_nodes if x.form == "missing"}
        for j, x in of_nodes:
            if x.form == "mean" and x.words in lacking:
                n_given = graphs.n_nodes_per_graph - sums[:, lacking[x.words]]
                of_graphs[:, j] = sums[:, j] / np.where(n_given > 0, n_given, np.nan)
        for place, values in self.edge_means(graphs).items():
            of_graphs[:, place] = values
        return of_graphs

    def edge_means(self, graphs: GraphBatch) -> dict[int, np.ndarray]:
        """The means over edges, by the place of their feature."""
        if self.edges is None:
            return {}
        means = self.edges.graph_means(graphs)
        return {self.first_of_edges + column: values for column, values in means.items()}

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
            The training graph that each graph is, to be left out (-1: none).
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
        n_nodes = graphs.n_nodes_per_graph
        n_edges = _count_edges(graphs)
        # Half a node more does not count, even where all graphs have the same size.
        one_node = np.array(0.5 / self.n_nodes.mean())
        one_edge = np.array(0.5 / self.n_edges.mean())
        yield None, Property("size", "nodes", np.log(n_nodes), one_node, both=True)
        yield None, Property("size", "edges", np.log(n_edges / n_nodes), one_edge, both=True)
        if graphs.schema.edge_weight is not None:
            total = means(graphs.adjacency.data, graphs.graph_of_arc, len(graphs))
            weights = np.log(np.where(total > 0, total, np.nan))
            yield None, Property("size", "weights", weights, np.array(1e-3), both=True)
        for j, feature in enumerate(self.features):
            if feature.form:
                least = 0.5 / n_nodes * (self.is_share[j] or feature.form == "count")
                yield (
                    None,
                    Property("feature", feature.name, feature_means[:, j], least, j, both=True),
                )
        for x in properties_of_shapes(graphs, self.references):
            yield None, x
        rare = []
        parts = list(self.counts.parts(graphs))
        least = 0.25 * np.log(self.n_training_graphs + 1)  # a quarter of what all others have
        for kind, lacks in self.lacking(graphs, parts).items():
            of_others = self.n_training_graphs - self.common[kind].n_graphs
            rarity = lacks @ np.log((self.n_training_graphs + 1) / (of_others + 1))
            yield None, Property("missing", kind, rarity, least)
        for table, keys, graph in parts:
            n_parts = np.maximum(np.bincount(graph, minlength=len(graphs)), 1)
            if table.part == "edge" and not graphs.directed:
                n_parts = np.maximum(n_parts / 2, 1)
            if table.role != "gaps" and table.known.chance <= OFTEN_NEW:
                shares = means(self.new_parts(graphs, table, keys, own[graph]), graph, len(graphs))
                yield None, Property("new", table.name, shares, 0.25 / n_parts)
            if table.is_main:
                is_rare, n_graphs = self.rare_parts(graphs, table, keys, own[graph])
                rarity = np.where(is_rare, np.log((self.n_training_graphs + 1) / (n_graphs + 1)), 0)
                rarity = means(rarity, graph, len(graphs))
                rare.append(Property("rare", table.name, rarity, 0.25 / n_parts))
        for x in rare:
            yield None, x
        of_references = references_of(own, self.reference_index)
        for view, of_view in zip(self.views, scores, strict=True):
            left_out = own if view.uses_all_graphs else of_references
            for x in view.properties(graphs, left_out, of_view, context):
                yield view, x

    def _common_parts(self) -> dict[str, Common]:
        counts = self.counts
        graphs = self.references
        found = dict[str, Common]()
        for table, keys, _ in counts.parts(graphs):
            of_nodes = table.part == "node" and table.category
            of_steps = table.role == "edges" and table.categories == (counts.vocabulary.step,)
            known = table.known
            is_common = known.n_graphs >= NEARLY_ALL * self.n_training_graphs
            is_common &= np.isin(known.colors, keys)  # of a sample of the training graphs
            if not (of_nodes or of_steps) or not is_common.any():
                continue
            colors = known.colors[is_common]
            ends = []
            distinct, first = np.unique(keys, return_index=True)
            first = first[np.searchsorted(distinct, colors)]
            for of_end, nodes in self._of_ends(graphs, table):
                for index in counts.ends(graphs, table):
                    at_end = np.searchsorted(found[of_end.name].colors, nodes[index[first]])
                    ends.append((of_end.name, at_end))
            found[table.name] = Common(colors, known.n_graphs[is_common], first, ends)
        return found

    def example_of(self, table: Table, i: int) -> tuple[GraphBatch, int]:
        """A reference, and the part in it, of what nearly all have, by its place in `common`."""
        graphs = self.references
        part = int(self.common[table.name].first[i])
        graph = int(graphs.owner(table.part)[part])
        start = graphs.node_ptr[graph]
        if table.part == "edge":
            start = graphs.adjacency.indptr[start]
        return graphs[graph], part - int(start)

    def lacking(
        self, graphs: GraphBatch, parts: list[tuple[Table, np.ndarray, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """Marks of what nearly all training graphs have, and graphs have not, by `common`.

        Edges whose ends are not there do not count, nor those of a graph without edges.

        Parameters
        ----------
        graphs : GraphBatch
        parts : list
            Those of `counts`.

        Returns
        -------
        dict of str -> ndarray of shape (n_graphs, n_kinds), bool
        """
        found: dict[str, np.ndarray] = {}
        for table, keys, graph in parts:
            if table.name not in self.common:
                continue
            colors, _, _, ends = self.common[table.name]
            place = np.minimum(np.searchsorted(colors, keys), len(colors) - 1)
            is_common = colors[place] == keys
            lacks = np.ones((len(graphs), len(colors)), dtype=bool)
            lacks[graph[is_common], place[is_common]] = False
            if table.part == "edge":
                lacks[graphs.n_edges_per_graph == 0] = False
            for of_end, at_end in ends:
                lacks &= ~found[of_end][:, at_end]
            found[table.name] = lacks
        return found

    def new_parts(
        self, graphs: GraphBatch, table: Table, keys: np.ndarray, own: np.ndarray
    ) -> np.ndarray:
        """Mask of the parts that no training graph has, and that are not so because of others.

        Edges with a new end do not count, nor combinations of categories with a new category, nor
        surroundings with an edge that is new or very rare.
        """
        vocabulary = self.counts.vocabulary
        is_new = table.known.is_new(keys, own)
        if table.role in ("together", "edges"):
            for alone in self.counts.with_role("value"):
                if alone.part == table.part:
                    values = vocabulary.keys_alone(graphs, alone.part, alone.category)
                    is_new &= ~alone.known.is_new(values, own)
        if table.role == "surroundings":
            edges = vocabulary.edge_keys(graphs, table.categories)
            source = graphs.source_of_arc
            tables = self.counts.with_role("edges")
            [of_edges] = [x for x in tables if x.categories == table.categories]
            fewest = max(FEWEST * self.n_training_graphs, 1)
            is_odd = of_edges.known.n_graphs_of(edges, own[source]) <= fewest
            is_new[source[is_odd]] = False
            is_new[graphs.adjacency.indices[is_odd]] = False
        for of_end, nodes in self._of_ends(graphs, table):
            for ends in self.counts.ends(graphs, table):
                is_new &= ~of_end.known.is_new(nodes[ends], own)
        return is_new

    def _of_ends(self, graphs: GraphBatch, table: Table) -> Iterator[tuple[Table, np.ndarray]]:
        """Generate tables of the nodes at the ends of edges and pairs, with colors of all nodes."""
        vocabulary = self.counts.vocabulary
        if not vocabulary.by_label or table.role not in ("edges", "surroundings", "same"):
            return
        by_category = self.counts.values_of_nodes
        at_ends = (vocabulary.step,) if table.role == "same" else table.categories
        for i in at_ends:
            if by_category:
                yield by_category[i], vocabulary.value_keys(graphs, i)
            else:
                yield self.counts.tables["categories"], vocabulary.node_keys(graphs)

    def new_walk(self, graph: GraphBatch, starts: np.ndarray, own: int) -> list[int]:
        """The shortest walk whose steps no reference has in this order; [] if there is none.

        It begins at one of some nodes of a directed graph, and goes on while one edge goes on. A
        single edge, which has a reason of its own, is none.

        Parameters
        ----------
        graph : GraphBatch
            Batch of one graph.
        starts : ndarray of int
        own : int
            The reference that the graph is, which is left out; -1 if it is none.
        """
        vocabulary = self.counts.vocabulary
        known = self.references
        shortest = list[int]()
        steps, of_known = (vocabulary.keys_together(x, (vocabulary.step,)) for x in (graph, known))
        most = MOST_STEPS
        is_other = known.graph_of_node != own
        arcs = graph.adjacency
        for start in starts.tolist():
            walk = [start]
            at = is_other & (of_known == steps[start])
            while at.any() and len(walk) < most and np.diff(arcs.indptr)[walk[-1]] == 1:
                walk.append(int(arcs.indices[arcs.indptr[walk[-1]]]))
                after = np.zeros(len(at), dtype=bool)
                after[known.adjacency.indices[at[known.source_of_arc]]] = True
                at = after & (of_known == steps[walk[-1]])
            if len(walk) > 1 and not at.any():
                shortest = walk
                most = len(walk) - 1
        return shortest if len(shortest) > 2 else []

    def rare_parts(
        self, graphs: GraphBatch, table: Table, keys: np.ndarray, own: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mask of the parts that few training graphs have, and the number of these.

        Edges with a rare or new end do not count, unless they are far rarer than the end.
        """
        n_graphs = table.known.n_graphs_of(keys, own)
        most = max(FEW * self.n_training_graphs, 1)
        is_rare = (n_graphs > 0) & (n_graphs <= most)
        for of_end, nodes in self._of_ends(graphs, table):
            for ends in self.counts.ends(graphs, table):
                n_of_end = of_end.known.n_graphs_of(nodes[ends], own)
                is_rare &= n_of_end > np.minimum(most, RARER * n_graphs)
        return is_rare, n_graphs


_OF_MODELS: WeakKeyDictionary[GraphModel, Properties] = WeakKeyDictionary()


def properties_of(model: GraphModel) -> Properties:
    """The properties of the references of a model, which are computed once for each model.

    Parameters
    ----------
    model : GraphModel
        Nothing changes it, so its properties stay what they are.
    """
    found = _OF_MODELS.get(model)
    if found is None:  # two threads may compute the same
        found = _OF_MODELS[model] = Properties(model)
    return found


def _facts_of_totals(graphs: GraphBatch) -> dict[Fact, Fact]:
    """For each number of graphs that is a count, sum or mean of parts, the fact about these."""
    schema = graphs.schema
    n = len(graphs)
    found = dict[Fact, Fact]()
    totals: list[tuple[Fact, np.ndarray]] = [
        ("nodes", graphs.n_nodes_per_graph),
        ("edges", graphs.n_edges_per_graph),
    ]
    for part, names in (("node", schema.node_columns), ("edge", schema.edge_columns)):
        for j, name in enumerate(names):
            column = np.asarray(graphs.data(part).numbers)[:, j]
            graph = graphs.owner(part)
            mean = means(np.nan_to_num(column), graph, n)
            n_arcs = np.bincount(graph, minlength=n)
            n_parts = n_arcs if part == "node" else graphs.n_edges_per_graph
            totals += [((part, name), mean), ((part, name), mean * n_parts)]
    for j, name in enumerate(schema.graph_columns):
        for fact, total in totals:
            column = np.asarray(graphs.graph_attributes)[:, j]
            if np.allclose(np.where(np.isnan(column), total, column), total, ROUNDED):
                found["graph", name] = fact
    return found


def _count_edges(graphs: GraphBatch) -> np.ndarray:
    """Number of edges of each graph; none are half a one, which has a logarithm."""
    return np.maximum(graphs.n_edges_per_graph, 0.5)


def _stacked(properties: list[Property], n_graphs: int) -> tuple[np.ndarray, np.ndarray]:
    """Values, and the smallest differences that count, shape (n_graphs, n_columns) each."""
    values = np.column_stack([x.values for x in properties])
    return values, np.column_stack([np.broadcast_to(x.least, n_graphs) for x in properties])
