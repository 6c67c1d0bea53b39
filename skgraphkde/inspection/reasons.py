"""explain: what of its data makes a graph unlike those that the detector knows, in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from skgraphkde.density.graph_density import GraphDensity
from skgraphkde.density.parts import Parts, means
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import shown
from skgraphkde.inspection.views import view_surprises
from skgraphkde.inspection.wording import node_ids, part_names

# Names, nodes or edges that a reason lists.
LISTED = 5
# Characters of a reason.
LONGEST_REASON = 500
# Beyond this, strengths are not told apart.
STRONGEST = 100.0


class Reason(NamedTuple):
    """One reason, as a row of the table."""

    kind: str
    what: str
    text: str
    strength: float
    nodes: tuple[int, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()


def explain(
    detector: GraphKDEDetector,
    graphs: Any,
    k: int = 5,
    *,
    n_reasons: int = 5,
    node_names: Sequence[Sequence[Any]] | None = None,
) -> pd.DataFrame:
    """What makes graphs unlike those that the detector knows, the strongest reason first.

    Each reason is a property of the graph that few references have: a category that none has, or
    rare combinations of categories; a mean of a node feature far from that of the nearest
    references; the size; neighborhoods that no reference has. Its strength is minus the logarithm
    of the probability of so much by chance, given how the references differ from each other, and
    given that so many properties were looked at: 0 is nothing, 3 is one in twenty, 10 beyond doubt.
    It is a description, not a part of the score.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted.
    graphs : sequence of graphs, or GraphBatch
    k : int, default=5
        Number of nearest references with which node features are compared, at least 1.
    n_reasons : int, default=5
        Rows for each graph, at most.
    node_names : sequence of sequences, default=None
        What the nodes of each graph are called in words. None is the ids of networkx graphs, and
        the positions of other graphs' nodes.

    Returns
    -------
    DataFrame
        With the columns

        - graph : the position in `graphs`;
        - rank : 1 for the strongest reason of a graph;
        - kind : "new", "rare", "feature", "extreme", "size" or "neighborhoods";
        - what : the name of the category, the feature or the size;
        - reason : in words;
        - strength : see above;
        - nodes : positions of the nodes that it concerns most, five at most, from 0 on;
        - edges : pairs of positions of nodes, five at most;
        - references : positions of the k nearest references, in the distance that is most
          surprised.

    Raises
    ------
    ValueError
        If `k` or `n_reasons` is less than 1.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.inspection import explain
    >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(15, 26)])
    >>> explain(detector, [nx.cycle_graph(200)])["what"][0]
    'nodes'
    """
    if k < 1 or n_reasons < 1:
        raise ValueError(f"k and n_reasons must be at least 1, got {k!r} and {n_reasons!r}")
    batch = detector.read(graphs)
    names = node_ids(graphs) if node_names is None else node_names
    return strongest_reasons(detector, batch, view_surprises(detector, batch), k, n_reasons, names)


def strongest_reasons(
    detector: GraphKDEDetector,
    batch: GraphBatch,
    surprises: np.ndarray,
    k: int = 5,
    n_reasons: int = 5,
    names: Sequence[Sequence[Any]] | None = None,
) -> pd.DataFrame:
    """What `explain` returns, of graphs that were read and whose views' surprises are known."""
    density = detector.density_
    of_views = surprises[:, : len(density.fitted_distances)]
    nearest = _nearest(density, batch, of_views.argmax(axis=1), k)
    profiles = _Profiles(density, batch, nearest, names)
    rows = []
    for i in range(len(batch)):
        reasons = sorted(profiles.reasons(i), key=lambda reason: -reason.strength)
        if any(x.kind != "neighborhoods" and x.strength > 3 for x in reasons):
            reasons.sort(key=lambda x: x.kind == "neighborhoods")  # which follow from the others
        reasons = [x for x in reasons if x.strength > 0] or reasons[:1]
        for rank, reason in enumerate(reasons[:n_reasons], 1):
            kind, what, text, strength, nodes, edges = reason
            text = shown(text, LONGEST_REASON)
            what = what.encode(errors="backslashreplace").decode()  # Arrow holds no half characters
            rows.append((i, rank, kind, what, text, strength, nodes, edges, tuple(nearest[i])))
    columns = ["graph", "rank", "kind", "what", "reason", "strength"]
    columns += ["nodes", "edges", "references"]
    return pd.DataFrame(rows, columns=columns)


def _nearest(
    density: GraphDensity, batch: GraphBatch, views: np.ndarray, k: int
) -> list[np.ndarray]:
    """The k nearest references of each graph, in its own view."""
    nearest: list[np.ndarray] = [np.empty(0, dtype=int)] * len(batch)
    for view in np.unique(views):
        index = np.flatnonzero(views == view)
        D = density.distances(batch[index], view=int(view))
        for i, distances in zip(index, D, strict=True):
            nearest[i] = np.argsort(distances, kind="stable")[:k]
    return nearest


class _Profiles:
    """Properties of graphs beside those of the references."""

    def __init__(
        self, density: GraphDensity, graphs: GraphBatch, nearest: list, names: Any
    ) -> None:
        self.density, self.graphs, self.nearest = density, graphs, nearest
        self.node_names = names  # of each graph, or None
        references = density.references
        self.n = len(references)
        self.names = density.features.get_feature_names_out()
        self.units = density.features.units()
        labels = density.features.block("label")
        projected = labels is not None and labels.weights is not None
        # Which say nothing in words; the categories are reasons themselves.
        self.unsaid = set(labels.names) if projected else set()
        edges = density.features.block("edge")
        self.of_edges: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        if edges is not None:  # nodes without such edges say nothing about their numbers
            known_edges = edges.graph_means(references)
            own_edges = edges.graph_means(graphs)
            self.of_edges = {name: (own_edges[name], known_edges[name]) for name in own_edges}
        self.features = density.features.transform_batch(graphs)
        known = density.features.transform_batch(references)
        self.means, self.known_means = (_means(x) for x in (self.features, known))
        self.spread = self.known_means.std(axis=0, ddof=1)
        self.sizes, self.known_sizes = _sizes(graphs), _sizes(references)
        by_label = references.labels is not None
        with_edges = by_label or references.edge_labels is not None
        self.parts = Parts(references, by_label=by_label, with_edges=with_edges)
        self.known_parts = {
            kind: self._usual(kind, keys, graph) for kind, keys, graph in self.parts.of(references)
        }

    def _usual(self, kind: str, keys: np.ndarray, graph: np.ndarray) -> tuple:
        """What is known of a kind of parts: with the mean and the spread of their rarity."""
        known = self.parts.known[kind]
        rarity = -known.log_shares(keys, graph, np.ones(len(keys), dtype=bool))
        of_graphs = means(rarity, graph, self.n)
        spread = float(of_graphs.std(ddof=1)), float(rarity.std()) if len(keys) else 0.0
        return known, keys, graph, float(of_graphs.mean()), spread

    def reasons(self, i: int) -> Iterator[Reason]:
        """All reasons for one graph."""
        yield from self._sizes(i)
        yield from self._features(i)
        yield from self._parts(i)
        yield from self._neighborhoods(i)
        yield from self._extremes(i)

    def _strength(self, z: float, n_looked_at: int = 1) -> float:
        """-log P(so far from the mean), for a t-distribution, and so many chances."""
        log_p = stats.t.logsf(abs(z), self.n - 1) + np.log(2 * n_looked_at)
        return float(np.clip(-log_p, 0.0, STRONGEST))

    def _sizes(self, i: int) -> Iterator[Reason]:
        spread = np.log(self.known_sizes).std(axis=0, ddof=1)
        for column, what in enumerate(("nodes", "edges")):
            own, known = self.sizes[i, column], self.known_sizes[self.nearest[i], column]
            deviation = np.log(own) - np.log(known).mean()
            # One more node is no news where all graphs have the same size.
            z = deviation / max(spread[column], 1 / known.mean())
            if what == "edges":  # beyond what follows from the number of nodes
                ratio = np.log(self.known_sizes[:, 1] / self.known_sizes[:, 0])
                own_ratio = np.log(own / self.sizes[i, 0])
                deviation = own_ratio - ratio[self.nearest[i]].mean()
                z = deviation / max(ratio.std(ddof=1), 1 / known.mean())
            text = f"{own:.0f} {what} (nearest references: {known.mean():.1f})"
            yield Reason("size", what, text, self._strength(z, 2))

    def _features(self, i: int) -> Iterator[Reason]:
        center = self.known_means[self.nearest[i]].mean(axis=0)
        n_nodes = int(self.graphs.n_nodes_per_graph[i])
        rows = slice(*self.graphs.node_ptr[i : i + 2])
        values = np.asarray(self.features.attributes)[rows]
        for column, name in enumerate(self.names):
            if name in self.unsaid:
                continue
            deviation = self.means[i, column] - center[column]
            # Means over nodes of a constant differ by rounding.
            spread = max(self.spread[column], 1e-9, _least(self.known_means[:, column], n_nodes))
            z = deviation / spread
            mean, scale = self.units.get(name, (0.0, 1.0))
            own, known = (x * scale + mean for x in (self.means[i, column], center[column]))
            if name in self.of_edges:
                of_graphs, of_known = self.of_edges[name]
                own, near = of_graphs[i], of_known[self.nearest[i]]
                has_numbers = np.isfinite(of_known).sum() > 1
                if not (np.isfinite(own) and np.isfinite(near).any() and has_numbers):
                    continue  # that edges are missing, or there, is another reason
                known = float(np.nanmean(near))
                z = (own - known) / max(np.nanstd(of_known, ddof=1), 1e-9 * (1 + abs(known)))
            text = (
                f"mean {name} {own:.3g}, {z:+.1f} standard deviations "
                f"(nearest references: {known:.3g})"
            )
            away = np.sign(z) * (values[:, column] - center[column])
            most = np.argsort(-away, kind="stable")[:LISTED]
            most = most[away[most] > away.max() / 2]
            strength = self._strength(z, len(self.names))
            yield Reason("feature", str(name), text, strength, tuple(most.tolist()))

    def _parts(self, i: int) -> Iterator[Reason]:
        graph = self.graphs[i]
        known_node = np.ones(graph.n_nodes, dtype=bool)
        for kind, keys, owner in self.parts.of(graph):
            known, known_keys, known_owner, usual, spread = self.known_parts[kind]
            index = np.arange(len(keys))
            if kind == "edges":  # each once, and not those that are new because an end is
                ends = graph.source_of_arc, graph.adjacency.indices
                once = graph.directed | (ends[0] < ends[1])
                index = np.flatnonzero(once & known_node[ends[0]] & known_node[ends[1]])
            if not len(index):
                continue
            keys, texts = keys[index], part_names(graph, kind)
            is_new = known.is_new(keys, -1)
            if kind == "categories":
                known_node = ~is_new
            if is_new.any():
                was_new = known.is_new(known_keys, known_owner)
                rate = (was_new.sum() + 1) / (len(known_keys) + 1)
                strength = -stats.poisson.logsf(is_new.sum() - 1, len(keys) * rate)
                found = Counter(texts[j] for j in index[is_new])
                listed = ", ".join(name for name, _ in found.most_common(LISTED))
                place = _places(graph, kind, index[is_new])
                text = f"{listed}: never seen"
                yield Reason("new", listed, text, min(float(strength), STRONGEST), *place)
            index, keys, owner = index[~is_new], keys[~is_new], owner[index][~is_new]
            if len(index):
                rarity = -known.log_shares(keys, owner, np.zeros(len(keys), dtype=bool)) - usual
                z = rarity.mean() / max(spread[0], spread[1] / np.sqrt(len(keys)), 1e-3)
                excess: dict[str, float] = defaultdict(float)
                for j, value in zip(index, rarity, strict=True):
                    excess[texts[j]] += value
                ranked = sorted(excess, key=lambda name: -excess[name])[:3]
                most = [name for name in ranked if excess[name] > 0]
                if z > 0 and most:
                    listed = ", ".join(most)
                    text = f"more that is rare than usual ({z:+.1f} standard deviations): {listed}"
                    place = _places(graph, kind, index[[texts[j] in most for j in index]])
                    yield Reason("rare", listed, text, self._strength(z), *place)

    def _extremes(self, i: int) -> Iterator[Reason]:
        novelty, graph = self.density.novelty, self.graphs[i]
        if novelty is None or not novelty.extremes:
            return
        nobody = np.array([-1])
        columns = {"nodes": graph.schema.node_columns, "edges": graph.schema.edge_columns}
        for what, deviations, _ in novelty.extremes.deviations(graph, nobody):
            if not deviations.size:
                continue
            names, values = columns[what], graph.edge_attributes
            if what == "nodes":
                names = tuple(names[j] for j in novelty.extremes.of_nodes)
                values = np.asarray(graph.attributes)[:, novelty.extremes.of_nodes]
            row, column = np.unravel_index(deviations.argmax(), deviations.shape)
            z, value = deviations[row, column], np.asarray(values)[row, column]
            kind = "categories" if what == "nodes" else "edges"
            called = range(graph.n_nodes) if self.node_names is None else self.node_names[i]
            where = f"node {called[row]}" if what == "nodes" else ""
            if what == "edges":
                ends = graph.source_of_arc[row], graph.adjacency.indices[row]
                arrow = "->" if graph.directed else "-"
                where = f"edge {arrow.join(str(called[end]) for end in ends)}"
            text = (
                f"{names[column]} {value:.4g} of {where}, {z:.1f} standard deviations from its kind"
            )
            place = _places(graph, kind, np.array([row]))
            strength = self._strength(z, deviations.size)
            yield Reason("extreme", names[column], text, strength, *place)

    def _neighborhoods(self, i: int) -> Iterator[Reason]:
        novelty = self.density.novelty
        if novelty is None:
            return
        known = novelty.known_shares
        new_from = novelty.new_from(self.graphs[i])
        new = np.flatnonzero(new_from <= novelty.radius)
        share = len(new) / len(new_from)
        z = (share - known.mean()) / max(known.std(ddof=1), 1 / len(new_from))
        if z > 0:
            what = "neighborhoods"
            text = (
                f"{len(new)} of {len(new_from)} nodes are in neighborhoods that no known graph has "
                f"(on average {known.mean():.0%})"
            )
            first = new[np.argsort(new_from[new], kind="stable")][:LISTED]
            # It follows from any other reason, and says less.
            strength = min(self._strength(z), STRONGEST / 2)
            yield Reason(what, what, text, strength, tuple(first.tolist()))


def _means(featurized: GraphBatch) -> np.ndarray:
    """Means of the features over the nodes of each graph."""
    sums = np.add.reduceat(np.asarray(featurized.attributes), featurized.node_ptr[:-1], axis=0)
    return sums / featurized.n_nodes_per_graph[:, np.newaxis]


def _sizes(graphs: GraphBatch) -> np.ndarray:
    return np.column_stack([graphs.n_nodes_per_graph, np.maximum(graphs.n_edges_per_graph, 0.5)])


def _least(known: np.ndarray, n_nodes: int) -> float:
    """The least spread of a share: that of a graph with one such node among all."""
    is_share = ((known >= 0) & (known <= 1)).all()
    return 0.3 / n_nodes if is_share else 0.0


def _places(graph: GraphBatch, kind: str, index: np.ndarray) -> tuple[tuple, tuple]:
    """The nodes, or the edges, of some parts."""
    if kind == "categories":
        return tuple(index[:LISTED].tolist()), ()
    pairs = zip(graph.source_of_arc[index], graph.adjacency.indices[index], strict=True)
    listed = [(int(u), int(v)) for u, v in pairs if graph.directed or u < v]
    return tuple(dict.fromkeys(x for pair in listed for x in pair))[:LISTED], tuple(listed[:LISTED])
