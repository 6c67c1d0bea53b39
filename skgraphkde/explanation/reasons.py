"""Reasons: graphs and the fitted model -> the properties that make them unlike the references.

Each reason is said in words, with the nodes and edges that it concerns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from skgraphkde._messages import encodable, listed, shown
from skgraphkde._words import usual_range, usually
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.schema import PARTS
from skgraphkde.core.scoring.model import GraphModel
from skgraphkde.core.views.base import Context, Facts, Property, Reason, View
from skgraphkde.core.views.categories import LISTED, places
from skgraphkde.core.views.confirmed import Confirmed
from skgraphkde.core.views.namesakes import Namesakes
from skgraphkde.core.views.neighborhoods import Novelty
from skgraphkde.core.views.numbers import Numbers
from skgraphkde.core.views.statistics import Statistics
from skgraphkde.explanation.facts import OF_EDGES, Fact
from skgraphkde.explanation.naming import compared_words, edge_category, words_of
from skgraphkde.explanation.of_categories import NONE, CategoryWords
from skgraphkde.explanation.of_confirmed import say_confirmed
from skgraphkde.explanation.of_namesakes import say_namesakes
from skgraphkde.explanation.of_neighborhoods import say_neighborhoods
from skgraphkde.explanation.of_numbers import say_numbers
from skgraphkde.explanation.of_statistics import say_statistic
from skgraphkde.explanation.properties import FEW, properties_of
from skgraphkde.explanation.shapes import say_shape
from skgraphkde.explanation.views import name_view
from skgraphkde.explanation.wording import (
    RARER,
    Feature,
    feature_words,
    in_two_lines,
)

# Characters of all that a reason can say.
LONGEST_MORE = 2000
# Kinds of reasons that state no range of nine in ten references.
WITHOUT_RANGES = ("missing", "new", "rare", "extreme", "namesakes", "confirmed")
# Properties that are shares of the nodes of a graph, by their forms.
SHARES_OF_NODES = (
    *(("share", "node"), ("missing", "node"), ("statistics", "isolated nodes")),
    *(("statistics", "degrees"), ("statistics", "sources"), ("statistics", "sinks")),
)
# Numbers of nodes, and shares of them, by their degrees.
DEGREES = ("size", "degrees"), ("statistics", "degrees")
# Numbers are as usual if they are so near to the range, in units of the largest known one.
ROUNDING = 1e-6
# What was never seen, each before what follows from it, and what is rare.
VALUE, COMBINATION, EDGE, EDGE_BY_SEVERAL, EDGE_BY_ANOTHER, SURROUNDINGS, RARE = range(7)
# A usual number is told if it is beyond so large a share of the known ones.
FAR = 0.75
# The facts that several numbers are unusual together.
TOGETHER = {("together", part) for part in PARTS}
# Weaker reasons are nothing unusual, such as those in the usual ranges.
WEAKEST = 1.0
USUAL = 0.99
# Larger strengths are cut to this one.
STRONGEST = 100.0
# How often a strength counts when reasons are put in order: what was never seen comes before one
# node, edge or number, and this before sizes, means and statistics, unless it is much weaker.
UNSEEN = 4.0
CONCRETE = 2.0
DERIVED = 1.0
FOLLOWS = 0.5
# What is missing counts as often as what was never seen, and comes before it, if equally strong.
MISSING = 4.5
# What is said of a node by its name says more than what is missing, or new, by its categories.
NAMED = 4.6
# A shape that people know says at once what many numbers say.
SHAPE = 5.0
WEIGHTS = {
    "shape": SHAPE,
    "missing": MISSING,
    "new": UNSEEN,
    "extreme": CONCRETE,
    "namesakes": NAMED,
    "rare": CONCRETE,
    "confirmed": CONCRETE,
    "neighborhoods": FOLLOWS,  # from any other reason
}


#: What a table says of a reason.
COLUMNS = (
    *("kind", "what", "reason", "strength"),
    *Facts._fields,
    *("nodes", "edges", "more"),
)


class RankedReason(NamedTuple):
    """A reason why a graph is unlike the references, and how strong it is."""

    kind: str
    what: str
    text: str
    strength: float  # 3 is one in twenty by chance, 10 is beyond doubt
    nodes: tuple[int, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()
    more: str = ""  # the whole text, if it is longer than two lines
    facts: Facts = Facts()
    fact: str = ""  # the text as one of several in a sentence

    @property
    def is_unusual(self) -> bool:
        """True if the strength is at least 1."""
        return self.strength >= WEAKEST

    def record(self) -> dict[str, Any]:
        """The reason by the columns of :func:`~skgraphkde.explanation.explain`."""
        of_reason = self.kind, self.what, self.text, self.strength
        where = self.nodes, self.edges, self.more
        return dict(zip(COLUMNS, (*of_reason, *self.facts, *where), strict=True))


class Profiles:
    """Properties of graphs compared with those of the references, in words.

    Parameters
    ----------
    model : GraphModel
    context : Context
        Context of the graphs.
    features : ndarray of shape (n_nodes, n_features)
        The node features of these graphs.
    scores : ndarray of shape (n_views, n_graphs)
        Those of the views.
    own : ndarray of shape (n_graphs,)
        The training graph that each graph is, which is left out; -1 if it is none.
    names : sequence of sequences, default=None
        Names of the nodes of each graph. None: their positions.
    """

    def __init__(
        self,
        model: GraphModel,
        context: Context,
        features: np.ndarray,
        scores: np.ndarray,
        own: np.ndarray,
        names: Sequence[Sequence[Any]] | None = None,
    ) -> None:
        self.model = model
        self.graphs = context.graphs
        self.node_names = names
        self.features = features
        self.own = own
        self.reference = model.references_of(own)
        self.properties = properties_of(model)
        self.columns = self.properties.columns
        kinds = [(x.kind, x.what) for x in self.columns]
        self.n_nodes_column = kinds.index(("size", "nodes"))
        self.n_edges_column = kinds.index(("size", "edges"))
        tails = self.properties.tails
        shape = len(self.graphs), len(self.columns)
        self.values, self.raw, strengths = (np.empty(shape) for _ in range(3))
        is_reference = self.reference >= 0
        if is_reference.any():
            known = self.reference[is_reference]
            self.values[is_reference] = self.properties.known[known]
            self.raw[is_reference] = tails.own[known]
            strengths[is_reference] = tails.strengths_of_known(known)
        others = np.flatnonzero(~is_reference)
        if len(others):
            part = context if len(others) == len(own) else context.part(others)
            of_nodes = features[~is_reference.repeat(self.graphs.n_nodes_per_graph)]
            means = self.properties.feature_means(part.graphs, of_nodes)
            values, least = self.properties.of(
                part.graphs, own[others], means, scores[:, others], part
            )
            self.values[others], self.raw[others] = values, tails.raw(values, least)
            strengths[others] = tails.strengths(self.raw[others])
        self.words = self.properties.words
        is_sample = len(self.properties.known) < model.n_training_graphs
        self.others = f"{'sampled' if is_sample else 'other'} {self.words.graphs}"
        self.tables = self.properties.counts.tables
        self.of_categories = CategoryWords(self.properties, self.graphs, own)
        self.levels = np.array([self._level(x) for x in self.columns])
        # Few known graphs are enough to say of a value that it is new, if none has one of its own.
        has_one = np.vstack([self.properties.known > 0, np.zeros(len(self.columns), dtype=bool)])
        # What one in twenty have is nothing that was never seen.
        is_often = (self.levels >= 0) & (has_one[:-1].mean(axis=0) > FEW)
        weights = np.array([WEIGHTS.get(column.kind, DERIVED) for column in self.columns])
        self.weights = np.where(is_often, DERIVED, weights)
        is_only = (has_one.sum(axis=0) == has_one[self.reference]) & (self.values > 0)
        strengths = np.maximum(strengths, WEAKEST * (is_only & (self.levels == VALUE)))
        self.strengths = np.minimum(strengths, STRONGEST).round(9) + 0.0  # not -0.0
        self.units = model.features.units()
        self.of_edges = self.properties.edge_means(self.graphs[:1]).keys()

    def _level(self, column: Property) -> int:
        """How early a property comes among those that were never seen, and rare ones; or -1."""
        if column.kind == "rare":
            return RARE
        if column.kind != "new":
            return -1
        table = self.tables[column.what]
        vocabulary = self.properties.counts.vocabulary
        if table.category:
            return VALUE
        if table.role in ("surroundings", "same"):
            return SURROUNDINGS
        if table.role != "edges":
            return COMBINATION
        if len(table.categories) != 1:
            return EDGE_BY_SEVERAL
        is_main = vocabulary.names[table.categories[0]] == vocabulary.named
        return EDGE if is_main else EDGE_BY_ANOTHER

    def reasons(self, i: int, most: int) -> list[RankedReason]:
        """The strongest reasons for one graph, the plainer of about equal ones first.

        Values that no known graph has come first of all. A strength counts as often as `WEIGHTS`
        says. Of what few or no known graphs have, a cause is as strong as what may follow from it.
        A reason is left out if those before it state most of its facts, or if the number is in the
        usual range that it would state.
        """
        strengths = self.strengths[i]
        raw = self.raw[i]
        levels = self.levels
        weighted = strengths * self.weights
        is_unusual = strengths >= WEAKEST
        seldom = is_unusual & (levels >= 0)
        largest = np.zeros(RARE + 1)
        np.maximum.at(largest, levels[seldom], weighted[seldom])
        weighted[seldom] = np.maximum.accumulate(largest[::-1])[::-1][levels[seldom]]
        keys = [levels != VALUE, -weighted, levels, -self.weights, -strengths, -raw]
        order = np.lexsort([*keys[::-1], ~is_unusual])
        order = order[strengths[order] > 0]
        if not self.graphs.n_edges_per_graph[i]:  # of which all else follows
            is_of_edges = order == self.n_edges_column
            order = np.append(order[is_of_edges], order[~is_of_edges])
        found = self._told(i, order, self._unusual, most)
        # Nothing is unusual: what is furthest out, or the size, which any graph has.
        if not found:
            order = np.lexsort([-raw * self.weights, -weighted])
            found = self._told(i, order, self._furthest, most)
            found = [x._replace(strength=min(x.strength, USUAL)) for x in found]
        size = self.n_nodes_column
        return found or [self._ranked(size, self._reason(i, size), 0.0)]

    def _told(
        self, i: int, order: np.ndarray, say: Callable[..., Reason], most: int
    ) -> list[RankedReason]:
        """The first reasons that have words, but those that repeat what others before them say."""
        found: list[RankedReason] = []
        stated: set[Fact] = set()
        for j in order.tolist():
            reason = say(i, j, stated)
            about: set[Fact] = set()
            for fact in reason.about or (reason.what,):
                about.add(self.properties.same.get(fact, fact))
            # Nothing about a node is usual if it has a value that was never seen.
            odd = {v for x in found if x.kind == "new" for v in x.nodes}
            is_usual = about & TOGETHER and odd & {*reason.nodes}
            if reason.text and not is_usual and 2 * len(about - stated) >= len(about):
                stated |= about
                found.append(self._ranked(j, reason, float(self.strengths[i, j])))
            if len(found) == most:
                break
        return found

    def _unusual(self, i: int, j: int, stated: Set[Fact]) -> Reason:
        return NONE if self._is_usual(i, j) else self._reason(i, j, stated)

    def _furthest(self, i: int, j: int, stated: Set[Fact]) -> Reason:
        """How many known graphs a usual number is higher, or lower, than; if it is most."""
        if not self.columns[j].both:
            return NONE
        value, known, near = self._compared(i, j)
        n_below = np.sum(known < value - near)
        n_above = np.sum(known > value + near)
        side, n = ("higher", n_below) if n_below > n_above else ("lower", n_above)
        n_known = np.count_nonzero(~np.isnan(known))
        follows = self.properties.forms[j] in DEGREES and self._follows_from_size(i, j)
        if n <= FAR * n_known or follows:
            return NONE
        of_all = f"{n_known} {self.others}"
        if n_known < len(known) and self.columns[j].kind == "feature":  # others lack such numbers
            feature = self.properties.features[self.columns[j].place]
            of_all += f" with {feature.words}{feature.kind}"
        reason = self._reason(i, j)
        usual = f"{side} than in {n} of {of_all}"
        return reason._replace(usual=usual) if reason.usual else NONE

    def _ranked(self, j: int, reason: Reason, strength: float) -> RankedReason:
        said = (reason.statement, reason.names)
        usual = reason.usual
        text, more = in_two_lines(*said, end=f"; {usual}" if usual else "")
        fact, _ = in_two_lines(*said, end=f" ({usual})" if usual else "")
        kind = self.columns[j].kind
        what = encodable(reason.what)
        more = shown(more, LONGEST_MORE)
        where = reason.nodes, reason.edges
        return RankedReason(kind, what, text, strength, *where, more, reason.facts, fact)

    def _is_usual(self, i: int, j: int) -> bool:
        """True if the reason would be a range that has the number, or would be told as missing."""
        if self.columns[j].kind in WITHOUT_RANGES:
            return False
        value, known, near = self._compared(i, j)
        low, high = usual_range(known)
        form = self.properties.forms[j]
        is_missing = form == ("share", "node") and value == 0
        if form in DEGREES and not self._is_usual(i, self.n_nodes_column):
            is_missing = self._follows_from_size(i, j)
        if form in SHARES_OF_NODES:  # one of the usual number more or less is no news
            n_nodes = self.graphs.n_nodes_per_graph[i]
            least, most = usual_range(np.rint(known * self._of_others(i, self.properties.n_nodes)))
            near = (1 - ROUNDING) / n_nodes * (least <= np.rint(value * n_nodes) <= most)
        return bool(low - near <= value <= high + near or is_missing)

    def _follows_from_size(self, i: int, j: int) -> bool:
        """True if as many nodes as usual have such degrees, or have not: a path has two ends."""
        form = self.properties.forms[j]
        sizes = self._of_others(i, self.properties.n_nodes)
        values = np.append(self._known(i, j), self.values[i, j])
        n_nodes = np.append(sizes, self.graphs.n_nodes_per_graph[i])
        counts = np.rint(np.expm1(values) if form == ("size", "degrees") else values * n_nodes)
        ranges = [(*usual_range(x[:-1]), x[-1]) for x in (counts, n_nodes - counts)]
        return any(low <= own <= high for low, high, own in ranges)

    def _compared(self, i: int, j: int) -> tuple[float, np.ndarray, float]:
        """A property of a graph and of the references, as reasons write it, and its rounding."""
        value = self.values[i, j]
        known = self._known(i, j)
        if j == self.n_edges_column:
            value, known = self._n_edges(i)
        return value, known, ROUNDING * np.nanmax(abs(known), initial=0.0)

    def _known(self, i: int, j: int) -> np.ndarray:
        """A property of the references, without that of the graph itself."""
        return self._of_others(i, self.properties.known[:, j])

    def _of_others(self, i: int, table: np.ndarray) -> np.ndarray:
        """The rows of the references, without that of the graph itself."""
        return table if self.reference[i] < 0 else np.delete(table, self.reference[i], axis=0)

    def _n_edges(self, i: int) -> tuple[float, np.ndarray]:
        """Number of edges per node of a graph and of the references; of edges, if it has none."""
        n_nodes = self.graphs.n_nodes_per_graph[i]
        n_edges = self.graphs.n_edges_per_graph[i]
        # No edges count as half a one.
        of_others = np.floor(self._of_others(i, self.properties.n_edges))
        return n_edges / n_nodes, of_others / (
            self._of_others(i, self.properties.n_nodes) if n_edges else 1
        )

    def _reason(self, i: int, j: int, stated: Set[Fact] = frozenset()) -> Reason:
        """Words for a property of a graph; what others have `stated` is not named again."""
        column = self.columns[j]
        view = self.properties.view_of[j]
        if view is not None:
            return self._reason_of_view(view, i, j)
        if column.kind == "size":
            return self._size(i, j)
        if column.kind == "feature":
            return self._feature(i, j)
        if column.kind == "shape":
            names = None if self.node_names is None else self.node_names[i]
            references = self.properties.references
            others = self._of_others(i, np.arange(len(references)))
            return say_shape(self.graphs[i], column.what, references, others, names)
        table = self.tables[column.what]
        if column.kind == "missing":
            return self.of_categories.missing(i, table)
        if column.kind == "new":
            return self._new(i, j, stated)
        return self.of_categories.rare(i, table)

    def _new(self, i: int, j: int, stated: Set[Fact]) -> Reason:
        """What no known graph has, and whether many known graphs have such a thing, too."""
        reason = self.of_categories.new(i, self.tables[self.columns[j].what], stated)
        known = self._known(i, j)
        if not reason.text or self.strengths[i, j] >= WEAKEST or not known.any():
            return reason
        n_others = f"{np.count_nonzero(known)} of {len(known)} {self.others}"
        usual = f"says little, as {n_others} each have such a thing that no other has"
        return reason._replace(usual=usual)

    def _reason_of_view(self, view: View, i: int, j: int) -> Reason:
        """Words for what a view found in a graph."""
        column = self.columns[j]
        graph = self.graphs[i]
        names = None if self.node_names is None else self.node_names[i]
        values = self.values[i : i + 1, j]
        context = self.model.context(graph)
        own = int((self.own if view.uses_all_graphs else self.reference)[i])
        if isinstance(view, Novelty) and graph.directed and graph.labels is not None:
            new = np.flatnonzero(view.new_from(np.array([own]), context) <= view.radius)
            order = self._order(i, new)
            if order.text:
                return order
        unusual = column._replace(values=values, least=np.zeros(1), own=own)
        known = self._known(i, j)
        reason = view.reason(graph, unusual, known, context, names)
        if reason is not None:  # of a user's own view
            return reason
        if isinstance(view, Statistics):
            return say_statistic(graph, unusual, known, context)
        if isinstance(view, Novelty):
            return say_neighborhoods(view, graph, unusual, known, context, names)
        if isinstance(view, Confirmed):
            return say_confirmed(view, graph, unusual, context)
        if isinstance(view, Numbers):
            return say_numbers(view, graph, unusual, names)
        if isinstance(view, Namesakes):
            return say_namesakes(view, graph, unusual, known, names)
        return _say_number(view, unusual, known)

    def _order(self, i: int, new: np.ndarray) -> Reason:
        """The fewest steps in an order of their own, of nodes with new surroundings.

        No text if there are none, or if the references are a sample, which lacks some orders.
        """
        graph = self.graphs[i]
        vocabulary = self.properties.counts.vocabulary
        way: list[int] = []
        if len(self.properties.known) == self.model.n_training_graphs:
            way = self.properties.new_walk(graph, new, int(self.reference[i]))
        name = vocabulary.names[vocabulary.step]
        words = self.words
        edges = tuple(pairwise(way))
        values = graph.values_by_category("node")[name]
        told = [words_of(vocabulary, (name,), (values[graph.labels[v]],)) for v in way]
        text = f"{' -> '.join(told)}: {words.nodes} in an order that no other {words.graph} has"
        return Reason(
            "neighborhoods", text if way else "", "", tuple(way), edges, ("neighborhoods",)
        )

    def _size(self, i: int, j: int) -> Reason:
        what = self.columns[j].what
        words = self.words
        if what == "weights":
            weight = np.exp(self.values[i, j])
            known = np.exp(self._known(i, j))
            own, usual = usually(weight, known)
            facts = Facts.of("graph", weight, known)
            return Reason(what, f"average weight of {words.edges}: {own}", usual, facts=facts)
        n_nodes = int(self.graphs.n_nodes_per_graph[i])
        n_edges = int(self.graphs.n_edges_per_graph[i])
        if what == "nodes":
            known = np.rint(np.exp(self._known(i, j)))
            _, usual = usually(n_nodes, known)
            facts = Facts.of("graph", n_nodes, known)
            return Reason(what, words.counted(n_nodes, "node"), usual, facts=facts)
        value, known = self._n_edges(i)
        own, usual = usually(value, known)
        facts = Facts.of("graph", value, known)
        if not n_edges:
            return Reason(what, f"no {words.edges} at all", usual, about=OF_EDGES, facts=facts)
        # Beyond what follows from the number of nodes.
        text = f"{words.counted(n_edges, 'edge')}, {own} per {words.node}"
        return Reason(what, text, usual, facts=facts)

    def _feature(self, i: int, j: int) -> Reason:
        place = self.columns[j].place
        own = self.values[i, j]
        known = self._known(i, j)
        known = known[~np.isnan(known)]
        feature = self.properties.features[place]
        graph = self.graphs[i]
        sign, (mean, scale) = np.sign(own - np.median(known)), self.units[place]
        nodes = self.features[slice(*self.graphs.node_ptr[i : i + 2]), place]
        if feature.form == "count":
            nodes = np.expm1(nodes)
        away = sign * (nodes - known.mean())
        if place in self.of_edges:  # whose means are in their own units
            away = sign * (nodes - (known.mean() - mean) / scale)
            away[nodes == 0] = -np.inf  # there are no such edges
            mean = 0.0
            scale = 1.0
        most = np.argsort(-away, kind="stable")[:LISTED]
        # No node has what there is little of.
        most = most[(away[most] > away.max() / 2) & (sign > 0 or feature.form == "mean")]
        n = graph.n_nodes
        where = (tuple(most.tolist()), ())
        if feature.of == "edge":
            arcs = self._arcs(graph, feature)
            if feature.form == "missing":
                n = len(arcs) // (2 - graph.directed)
            if feature.kind == RARER and len(arcs):
                feature = feature._replace(kind=f"{RARER} ({listed(self._kinds(graph, arcs))})")
            ends = graph.source_of_arc[arcs], graph.adjacency.indices[arcs]
            is_at = np.isin(ends[0], most) | (np.isin(ends[1], most) & (not graph.directed))
            where = places(graph, "edge", arcs[is_at])
        own = own * scale + mean
        known = known * scale + mean
        said = feature_words(feature, own, known, n, self.words, self.others)
        fact = feature.fact
        if feature.form == "count" and round(own * n) == self.graphs.n_edges_per_graph[i]:
            fact = "edges"  # all of them
        facts = Facts.of(feature.of, own, known)
        return Reason(feature.name, *said, *where, about=(fact,), facts=facts)

    def _arcs(self, graph: GraphBatch, feature: Feature) -> np.ndarray:
        """The arcs of a graph, in both directions, whose count or numbers a feature is of."""
        edges = self.properties.edges
        groups = edges.groups if feature.form == "count" else edges.number_groups
        return np.flatnonzero(groups.of_arcs(graph) == feature.group)

    def _kinds(self, graph: GraphBatch, arcs: np.ndarray) -> list[str]:
        """The categories of some arcs in words, the most frequent first."""
        codes = Counter(np.asarray(graph.edge_labels)[arcs].tolist())
        kinds = [graph.edge_label_names[code] for code, _ in codes.most_common()]
        return [compared_words(graph.schema.edge_categories, x, edge_category) for x in kinds]


def _say_number(view: View, unusual: Property, known: np.ndarray) -> Reason:
    """The score of a graph in a view that has no words of its own, or another number of it."""
    value = float(unusual.values[0])
    name = unusual.what
    if unusual.what == view.name:  # minus the score, see View.properties
        value, known = 0.0 - value, 0.0 - known  # not -0.0
        name = name_view(view)
    own, usual = usually(value, known)
    return Reason(unusual.what, f"{name} {own}", usual, facts=Facts.of("graph", value, known))
