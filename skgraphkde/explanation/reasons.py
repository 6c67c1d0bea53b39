"""Reasons: graphs and the fitted model -> the properties that make them unlike the references.

Each reason is said in words, with the nodes and edges that it concerns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skgraphkde.detectors.model import GraphModel
from skgraphkde.explanation.properties import Properties
from skgraphkde.explanation.wording import feature_words, part_names, usually
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import listed, shown
from skgraphkde.views.base import Context, Reason
from skgraphkde.views.categories import LISTED, places

# Characters of a reason.
LONGEST_REASON = 500
# The property of the number of edges, the second one.
EDGES = 1
# Kinds of reasons that are true of the nodes that they name, and of no others.
POINTED = ("new", "rare", "extreme")
# Weaker reasons are nothing unusual.
WEAKEST = 1.0
# Larger strengths are cut to this one.
STRONGEST = 100.0
# How often a strength counts when reasons are put in order: what was never seen comes before one
# node, edge or number, and this before means and statistics, unless it is much weaker.
NEVER_SEEN, CONCRETE, DERIVED, FOLLOWS = 4.0, 2.0, 1.0, 0.5
WEIGHTS = {
    "new": NEVER_SEEN,
    "extreme": CONCRETE,
    "rare": CONCRETE,
    "size": CONCRETE,
    "confirmed": CONCRETE,
    "neighborhoods": FOLLOWS,  # from any other reason
}
# A number that is the same in all known graphs counts as often again: no other was ever seen.
CONSTANT = 2.0


class RankedReason(NamedTuple):
    """A reason why a graph is unlike the references, and how strong it is."""

    kind: str
    what: str
    text: str
    strength: float  # 3 is one in twenty by chance, 10 is beyond doubt
    nodes: tuple[int, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()

    @property
    def is_unusual(self) -> bool:
        """True if the strength is at least 1."""
        return self.strength >= WEAKEST

    @property
    def pointed(self) -> tuple[int, ...]:
        """The nodes of which alone the reason is true."""
        return self.nodes if self.kind in POINTED else ()


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
        self.model, self.graphs, self.node_names = model, context.graphs, names
        self.features, self.own, self.reference = features, own, model.references_of(own)
        self.properties = Properties(model)
        self.columns, tails = self.properties.columns, self.properties.tails
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
        self.strengths = np.minimum(strengths, STRONGEST)
        self.are_usual = self.properties.are_usual(self.values, self.reference)
        self.plain = np.array([WEIGHTS.get(column.kind, DERIVED) for column in self.columns])
        constant = np.where(self.properties.is_constant, CONSTANT, 1.0)
        self.weights = np.minimum(self.plain * constant, NEVER_SEEN)
        single = {x for x, (_, category) in self.properties.counts.about.items() if category}
        self.are_values = np.array([x.kind == "new" and x.what in single for x in self.columns])
        self.units = model.features.units()
        self.of_edges = self.properties.edge_means(self.graphs[:1]).keys()

    def reasons(self, i: int, most: int) -> list[RankedReason]:
        """The strongest reasons for one graph, the plainer of about equal ones first.

        Values that no known graph has come first of all. A strength counts as often as `WEIGHTS`
        says. A reason is left out if those before it state the same facts, or if the number is in
        the usual range that it would state.
        """
        strengths = self.strengths[i].round(9)
        strengths[self.are_usual[i]] = 0
        weighted, is_unusual = strengths * self.weights, strengths >= WEAKEST
        order = np.lexsort([-self.raw[i], -self.plain, -weighted, ~self.are_values, ~is_unusual])
        order = order[strengths[order] > 0]
        if not self.graphs.n_edges_per_graph[i]:  # of which all else follows
            order = np.append(order[order == EDGES], order[order != EDGES])
        if not len(order):  # nothing is unusual: the size, which any graph has
            order = np.zeros(1, dtype=int)
        found: list[RankedReason] = []
        stated: set[str] = set()
        for j in order.tolist():
            reason = self._reason(i, j)
            about = set(reason.about or (reason.what,))
            if about <= stated:
                continue
            stated |= about
            what = reason.what.encode(errors="backslashreplace").decode()  # Arrow: no half ones
            text, strength = shown(reason.text, LONGEST_REASON), float(strengths[j])
            kind = self.columns[j].kind
            found.append(RankedReason(kind, what, text, strength, reason.nodes, reason.edges))
            if len(found) == most:
                break
        return found

    def _known(self, i: int, j: int) -> np.ndarray:
        """A property of the references, without that of the graph itself."""
        known = self.properties.known[:, j]
        return known if self.reference[i] < 0 else np.delete(known, self.reference[i])

    def _reason(self, i: int, j: int) -> Reason:
        column, view = self.columns[j], self.properties.view_of[j]
        if view is None:
            of_kind = {
                "size": self._size,
                "feature": self._feature,
                "new": self._new,
                "rare": self._rare,
            }
            return of_kind[column.kind](i, j)
        graph, names = self.graphs[i], None if self.node_names is None else self.node_names[i]
        values = self.values[i : i + 1, j]
        own = int((self.own if view.uses_all_graphs else self.reference)[i])
        unusual = column._replace(values=values, least=np.zeros(1), own=own)
        return view.reason(graph, unusual, self._known(i, j), self.model.context(graph), names)

    def _size(self, i: int, j: int) -> Reason:
        what, known = self.columns[j].what, self.properties.sizes
        if self.reference[i] >= 0:
            known = np.delete(known, self.reference[i], axis=0)
        if what == "weights":
            means = np.exp(self._known(i, j))
            own, known_range = usually(np.exp(self.values[i, j]), means[np.isfinite(means)])
            return Reason(what, f"edges weigh {own} on average; usually {known_range}")
        n_nodes = int(self.graphs.n_nodes_per_graph[i])
        n_edges = int(self.graphs.n_edges_per_graph[i])
        if what == "nodes":
            _, known_range = usually(n_nodes, known[:, 0])
            noun = "node" if n_nodes == 1 else "nodes"
            return Reason(what, f"{n_nodes} {noun}; usually {known_range}")
        if not n_edges:
            _, known_range = usually(0, known[:, 1])
            about = ("edges", "degrees", "isolated nodes", "walks")
            return Reason(what, f"no edges at all; usually {known_range}", about=about)
        # Beyond what follows from the number of nodes.
        own, known_range = usually(n_edges / n_nodes, known[:, 1] / known[:, 0])
        text = f"{own} edges for each node ({n_edges} in all); usually {known_range}"
        return Reason(what, text)

    def _feature(self, i: int, j: int) -> Reason:
        place, own, known = self.columns[j].place, self.values[i, j], self._known(i, j)
        known = known[~np.isnan(known)]
        sign, (mean, scale) = np.sign(own - known.mean()), self.units[place]
        nodes = self.features[slice(*self.graphs.node_ptr[i : i + 2]), place]
        away = sign * (nodes - known.mean())
        if place in self.of_edges:  # whose means are in their own units
            away = sign * (nodes - (known.mean() - mean) / scale)
            away[nodes == 0] = -np.inf  # there are no such edges
            mean, scale = 0.0, 1.0
        most = np.argsort(-away, kind="stable")[:LISTED]
        most = most[away[most] > away.max() / 2]
        feature = self.properties.features[place]
        text = feature_words(feature, own * scale + mean, known * scale + mean)
        return Reason(feature.name, text, tuple(most.tolist()), about=(feature.fact,))

    def _parts(self, i: int, j: int) -> tuple[GraphBatch, np.ndarray, np.ndarray, np.ndarray]:
        """The graph, the colors of its parts of a kind, its reference, and a mask: edges once."""
        graph, kind = self.graphs[i], self.columns[j].what
        keys = next(keys for name, keys, _ in self.properties.counts.parts(graph) if name == kind)
        once = np.ones(len(keys), dtype=bool)
        if kind in self.properties.counts.edges and not graph.directed:
            once = graph.source_of_arc < graph.adjacency.indices
        return graph, keys, np.full(len(keys), self.own[i]), once

    def _places(self, graph: GraphBatch, kind: str, index: np.ndarray) -> tuple[tuple, tuple]:
        """Positions of some parts of a kind, see :func:`places`; nodes, for pairs of these."""
        counts = self.properties.counts
        element = counts.about[kind][0]
        if element == "pair":
            element, index = "node", np.unique(np.column_stack(counts.ends(graph, kind))[index])
        return places(graph, element, index)

    def _new(self, i: int, j: int) -> Reason:
        kind, counts = self.columns[j].what, self.properties.counts
        graph, keys, own, once = self._parts(i, j)
        index = np.flatnonzero(once & self.properties.new_parts(graph, kind, keys, own))
        if kind in counts.surroundings:  # in the words of the first table in which they are new
            tables = {name: keys for name, keys, _ in counts.parts(graph)}
            kind = next(
                x
                for x in counts.surroundings
                if self.properties.new_parts(graph, x, tables[x], own)[index].all()
            )
        texts = part_names(graph, kind, counts)
        names = [name for name, _ in Counter(texts[x] for x in index).most_common()]
        few = listed(names, LISTED)
        category = counts.about[kind][1]
        # Of one category with two values, the share of the other follows.
        about = (*names, category) if category else tuple(names)
        if kind in counts.surroundings:
            about = ("surroundings",)
        where = self._places(graph, kind, index)
        return Reason(few, f"never seen: {few}", *where, about)

    def _rare(self, i: int, j: int) -> Reason:
        kind, counts = self.columns[j].what, self.properties.counts
        graph, keys, own, once = self._parts(i, j)
        is_rare, n_graphs = self.properties.rare_parts(graph, kind, keys, own)
        index, texts = np.flatnonzero(once & is_rare), part_names(graph, kind, counts)
        index = index[np.argsort(n_graphs[index], kind="stable")]
        n_of = {texts[x]: n_graphs[x] for x in index}
        n_known = self.model.n_training_graphs - (self.own[i] >= 0)
        seen = [f"{name} (seen in {n} of {n_known} known graphs)" for name, n in n_of.items()]
        where = self._places(graph, kind, index)
        return Reason(
            listed(list(n_of), LISTED), f"rare: {listed(seen, LISTED)}", *where, tuple(n_of)
        )
