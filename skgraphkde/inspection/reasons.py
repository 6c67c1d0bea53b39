"""Reasons: graphs and the fitted model -> the properties that make them unlike the references.

Each reason is said in words, with the nodes and edges that it concerns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skgraphkde.detectors.model import GraphModel
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import listed, shown
from skgraphkde.inspection.properties import properties_of
from skgraphkde.inspection.wording import feature_words, part_names, usually
from skgraphkde.views.base import Reason as Words
from skgraphkde.views.context import Context
from skgraphkde.views.parts import LISTED, places

# Characters of a reason.
LONGEST_REASON = 500
# Kinds of reasons that are true of the nodes that they name, and of no others.
POINTED = ("new", "rare", "extreme")
# Weaker reasons are nothing unusual.
WEAKEST = 1.0
# Larger strengths are cut to this one.
STRONGEST = 100.0


class Reason(NamedTuple):
    """One reason why a graph is unlike the references."""

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


class Profiles:
    """Properties of graphs compared with those of the references, in words.

    Parameters
    ----------
    model : GraphModel
    graphs : GraphBatch
    features : ndarray of shape (n_nodes, n_features)
        The node features of these graphs.
    names : sequence of sequences, default=None
        Names of the nodes of each graph. None: their positions.
    own : ndarray of shape (n_graphs,), default=None
        The reference that each graph is, which is left out. None: no graph is one.
    scores : ndarray of shape (n_views, n_graphs), default=None
        Those of the views, if no graph is a reference.
    context : Context, default=None
        Context of the graphs, if there is one.
    """

    def __init__(
        self,
        model: GraphModel,
        graphs: GraphBatch,
        features: np.ndarray,
        names: Sequence[Sequence[Any]] | None = None,
        own: np.ndarray | None = None,
        scores: np.ndarray | None = None,
        context: Context | None = None,
    ) -> None:
        self.model, self.graphs, self.node_names = model, graphs, names
        self.own = np.full(len(graphs), -1) if own is None else own
        self.properties = properties_of(model)
        self.columns, tails = self.properties.columns, self.properties.tails
        self.features = features
        if scores is not None:
            means = self.properties.feature_means(graphs, features)
            self.values, least = self.properties.of(
                graphs, self.own, means, scores, context or model.context(graphs)
            )
            self.raw = tails.raw(self.values, least)
            strengths = tails.strengths(self.raw)
        else:
            self.values, self.raw = self.properties.known[self.own], tails.own[self.own]
            strengths = tails.strengths_of_known(self.own)
        self.strengths = np.minimum(strengths, STRONGEST)
        weights = np.array([WEIGHTS.get(column.kind, DERIVED) for column in self.columns])
        constant = np.where(self.properties.is_constant, CONSTANT, 1.0)
        self.plain, self.weights = weights, np.minimum(weights * constant, NEVER_SEEN)
        self.units = model.features.units()
        edges = self.properties.edges
        self.of_edges = () if edges is None else self.properties.edge_means(graphs[:1])
        last = model.features.block("degree")
        self.last_degree = "" if last is None else last.names[-2]

    def reasons(self, i: int, most: int) -> list[Reason]:
        """The strongest reasons for one graph, the plainer of about equal ones first.

        A strength counts as often as `WEIGHTS` says. A reason is left out if those before it state
        the same facts, or if the number is in the usual range that it would state.
        """
        strengths = self.strengths[i].round(9)
        strengths[self.properties.is_usual(self.values[i])] = 0
        weighted, is_unusual = strengths * self.weights, strengths >= WEAKEST
        order = np.lexsort([-self.raw[i], -self.plain, -weighted, ~is_unusual])
        found: list[Reason] = []
        told: set[str] = set()
        for j in order[strengths[order] > 0] if strengths.any() else order[:1]:
            reason = self._reason(i, j)
            about = set(reason.about or (reason.what,))
            if about <= told:
                continue
            told |= about
            what = reason.what.encode(errors="backslashreplace").decode()  # Arrow: no half ones
            text, strength = shown(reason.text, LONGEST_REASON), float(strengths[j])
            kind = self.columns[j].kind
            found.append(Reason(kind, what, text, strength, reason.nodes, reason.edges))
            if len(found) == most:
                break
        return found

    def _known(self, i: int, j: int) -> np.ndarray:
        """A property of the references, without that of the graph itself."""
        known = self.properties.known[:, j]
        return known if self.own[i] < 0 else np.delete(known, self.own[i])

    def _reason(self, i: int, j: int) -> Words:
        column, view = self.columns[j], self.properties.view_of[j]
        if view is None:
            return getattr(self, f"_{column.kind}")(i, j)
        names = None if self.node_names is None else self.node_names[i]
        unusual = column._replace(
            values=self.values[i : i + 1, j], least=np.zeros(1), own=int(self.own[i])
        )
        graph = self.graphs[i]
        context = self.model.context(graph)
        return view.reason(graph, unusual, self._known(i, j), context, names)

    def _size(self, i: int, j: int) -> Words:
        what, graphs, known = self.columns[j].what, self.graphs, self.properties.sizes
        if self.own[i] >= 0:
            known = np.delete(known, self.own[i], axis=0)
        if what == "weights":
            means = np.exp(self._known(i, j))
            own, known_range = usually(np.exp(self.values[i, j]), means[np.isfinite(means)])
            return Words(what, f"edges weigh {own} on average; usually {known_range}")
        n_nodes, n_edges = int(graphs.n_nodes_per_graph[i]), int(graphs.n_edges_per_graph[i])
        if what == "nodes":
            _, known_range = usually(n_nodes, known[:, 0])
            return Words(what, f"{n_nodes} node{'s' * (n_nodes != 1)}; usually {known_range}")
        # Beyond what follows from the number of nodes.
        own, known_range = usually(n_edges / n_nodes, known[:, 1] / known[:, 0])
        text = f"{own} edges for each node ({n_edges} in all); usually {known_range}"
        return Words(what, text)

    def _feature(self, i: int, j: int) -> Words:
        place, name = self.columns[j].place, self.columns[j].what
        own, known = self.values[i, j], self._known(i, j)
        known = known[~np.isnan(known)]
        sign, scale, mean = np.sign(own - known.mean()), 1.0, 0.0
        rows = slice(*self.graphs.node_ptr[i : i + 2])
        away = sign * (self.features[rows, place] - known.mean())
        unit = self.units[place]
        if place in self.of_edges:  # whose means are in their own units
            level = (known.mean() - unit[0]) / unit[1]
            own_nodes = self.features[rows, place]  # 0 where there are no such edges
            away = np.where(own_nodes == 0, -np.inf, sign * (own_nodes - level))
        else:
            mean, scale = unit
        most = np.argsort(-away, kind="stable")[:LISTED]
        most = most[away[most] > away.max() / 2]
        kind = self.properties.kinds[place]
        text = feature_words(kind, name, own * scale + mean, known * scale + mean, self.last_degree)
        about = (self.properties.fact_of_feature(place),)
        return Words(name, text, tuple(most.tolist()), about=about)

    def _parts(self, i: int, j: int) -> tuple[GraphBatch, np.ndarray, np.ndarray]:
        """The graph, the colors of its parts of a kind, and a mask of parts, edges once."""
        graph, kind = self.graphs[i], self.columns[j].what
        keys = next(keys for name, keys, _ in self.properties.parts.parts(graph) if name == kind)
        once = np.ones(len(keys), dtype=bool)
        if kind == "edges" and not graph.directed:
            once = graph.source_of_arc < graph.adjacency.indices
        return graph, keys, once

    def _new(self, i: int, j: int) -> Words:
        (graph, keys, once), kind = self._parts(i, j), self.columns[j].what
        own = np.full(len(keys), self.own[i])
        is_new = self.properties.new_parts(graph, kind, keys, own)
        index = np.flatnonzero(once & is_new)
        texts = part_names(graph, kind, self.properties.vocabulary)
        names = [name for name, _ in Counter(texts[x] for x in index).most_common()]
        few = listed(names, LISTED)
        # Of one category with two values, the share of the other follows.
        about = (*names, *{name.partition("=")[0] for name in names})
        return Words(
            few,
            f"never seen: {few}",
            *places(graph, self.properties.parts.part_of(kind), index),
            about,
        )

    def _rare(self, i: int, j: int) -> Words:
        (graph, keys, once), kind = self._parts(i, j), self.columns[j].what
        own = np.full(len(keys), self.own[i])
        is_rare, n_graphs = self.properties.rare_parts(graph, kind, keys, own)
        index, texts = np.flatnonzero(once & is_rare), part_names(graph, kind)
        index = index[np.argsort(n_graphs[index], kind="stable")]
        seen = {
            texts[x]: f"seen in {n_graphs[x]} of {len(self._known(i, j))} known graphs"
            for x in index
        }
        text = f"rare: {listed([f'{name} ({seen[name]})' for name in seen], LISTED)}"
        return Words(
            listed(list(seen), LISTED),
            text,
            *places(graph, self.properties.parts.part_of(kind), index),
            tuple(seen),
        )
