"""Reasons: graphs and the fitted model -> the properties that make them unlike the references.

Each reason is said in words, with the nodes and edges that it concerns.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skgraphkde.detectors.model import GraphModel
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import shown
from skgraphkde.inspection.properties import properties_of
from skgraphkde.inspection.wording import commonness, feature_words, part_names
from skgraphkde.views.base import Property
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


# Kinds of reasons, those that say more first.
TOLD_FIRST = ("new", "extreme", "size", "statistics", "feature", "rare")


def _rank(kind: str) -> int:
    return TOLD_FIRST.index(kind) if kind in TOLD_FIRST else len(TOLD_FIRST)


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
    """

    def __init__(
        self,
        model: GraphModel,
        graphs: GraphBatch,
        features: np.ndarray,
        names: Sequence[Sequence[Any]] | None = None,
        own: np.ndarray | None = None,
        scores: np.ndarray | None = None,
    ) -> None:
        self.graphs, self.node_names = graphs, names
        self.own = np.full(len(graphs), -1) if own is None else own
        self.properties = properties_of(model)
        self.columns, tails = self.properties.columns, self.properties.tails
        self.features = features
        if scores is not None:
            means = self.properties.feature_means(graphs, features)
            self.values, least = self.properties.of(graphs, self.own, means, scores)
            self.raw = tails.raw(self.values, least)
            strengths = tails.strengths(self.raw)
        else:
            self.values, self.raw = self.properties.known[self.own], tails.own[self.own]
            strengths = tails.strengths_of_known(self.own)
        self.strengths = np.minimum(strengths, STRONGEST)
        # Of reasons that are equally strong, what says more comes first.
        self.ranks = np.array([_rank(column.kind) for column in self.columns])
        self.units = model.features.units()
        edges = self.properties.edges
        self.of_edges = () if edges is None else self.properties.edge_means(graphs[:1])
        last = model.features.block("degree")
        self.last_degree = "" if last is None else last.names[-2]

    def reasons(self, i: int, most: int) -> list[Reason]:
        """The strongest reasons for one graph."""
        of_columns = [x.kind == "neighborhoods" for x in self.columns]
        strengths = self.strengths[i].round(9)
        order = np.lexsort([-self.raw[i], np.where(strengths > 0, self.ranks, 0), -strengths])
        if any(self.strengths[i, j] > 3 and not of_columns[j] for j in order):
            # It follows from any other reason, and says less.
            order = np.array(sorted(order, key=lambda j: of_columns[j]))
        strong = [j for j in order.tolist() if self.strengths[i, j] > 0] or order[:1].tolist()
        return [self._reason(i, j) for j in strong[:most]]

    def _known(self, i: int, j: int) -> np.ndarray:
        """A property of the references, without that of the graph itself."""
        known = self.properties.known[:, j]
        return known if self.own[i] < 0 else np.delete(known, self.own[i])

    def _reason(self, i: int, j: int) -> Reason:
        column, strength = self.columns[j], float(self.strengths[i, j])
        if column.view is None:
            what, text, *found = getattr(self, f"_{column.kind}")(i, j)
        else:
            what, text, *found = self._of_view(i, j)
        what = what.encode(errors="backslashreplace").decode()  # Arrow holds no half characters
        return Reason(column.kind, what, shown(text, LONGEST_REASON), strength, *found)

    def _size(self, i: int, j: int) -> tuple:
        sizes, known = self.graphs, self.properties.sizes
        if self.own[i] >= 0:
            known = np.delete(known, self.own[i], axis=0)
        what, own = self.columns[j].what, int(sizes.n_nodes_per_graph[i])
        n_edges = int(sizes.n_edges_per_graph[i])
        if what == "weights":
            own_mean = float(self.properties.mean_weights(self.graphs[i])[0])
            text = f"edges weigh {own_mean:.3g} on average: "
            means = self._known(i, j)
            return what, text + commonness(own_mean, np.exp(means[np.isfinite(means)]))
        if what == "nodes":
            return what, f"{own} node{'s' * (own != 1)}: {commonness(own, known[:, 0])}"
        # Beyond what follows from the number of nodes.
        of_node, of_known = max(n_edges, 0.5) / own, known[:, 1] / known[:, 0]
        common = commonness(of_node, of_known)
        return what, f"{n_edges / own:.3g} edges for each node ({n_edges} in all): {common}"

    def _feature(self, i: int, j: int) -> tuple:
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
        return name, text, tuple(most.tolist())

    def _parts(self, i: int, j: int) -> tuple:
        """The graph, its parts of a kind, the parts to look at, and which of them are new."""
        graph, kind = self.graphs[i], self.columns[j].what
        keys = next(keys for name, keys, _ in self.properties.parts.parts(graph) if name == kind)
        own = np.full(len(keys), self.own[i])
        is_new, is_counted = self.properties.new_parts(graph, kind, keys, own)
        once = np.ones(len(keys), dtype=bool)
        if kind == "edges" and not graph.directed:
            once = graph.source_of_arc < graph.adjacency.indices
        return graph, keys, once, is_new, is_counted

    def _new(self, i: int, j: int) -> tuple:
        graph, _, once, _, is_counted = self._parts(i, j)
        kind, index = self.columns[j].what, np.flatnonzero(once & is_counted)
        texts = part_names(graph, kind)
        found = Counter(texts[x] for x in index)
        listed = ", ".join(name for name, _ in found.most_common(LISTED))
        return listed, f"never seen: {listed}", *places(graph, kind, index)

    def _rare(self, i: int, j: int) -> tuple:
        graph, keys, once, is_new, _ = self._parts(i, j)
        kind, index = self.columns[j].what, np.flatnonzero(once & ~is_new)
        texts, owner = part_names(graph, kind), np.zeros(len(index), dtype=int)
        known = self.properties.parts.known[kind]
        rarity = -known.log_shares(keys[index], owner, np.zeros(len(index), dtype=bool))
        excess: dict[str, float] = defaultdict(float)
        for x, value in zip(index, rarity - self._known(i, j).mean(), strict=True):
            excess[texts[x]] += value
        ranked = sorted(excess, key=lambda name: -excess[name])[:3]
        most = [name for name in ranked if excess[name] > 0] or ranked[:1]
        listed = ", ".join(most)
        text = f"more of what is rare in known graphs: {listed}"
        return listed, text, *places(graph, kind, index[[texts[x] in most for x in index]])

    def _of_view(self, i: int, j: int) -> tuple:
        column: Any = self.columns[j]
        names = None if self.node_names is None else self.node_names[i]
        unusual = Property(
            column.kind,
            column.what,
            self.values[i : i + 1, j],
            np.zeros(1),
            column.place,
            own=int(self.own[i]),
        )
        return column.view.reason(self.graphs[i], unusual, self._known(i, j), names)
