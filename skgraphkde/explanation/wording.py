"""Wording: node features, nodes and edges -> their names in reasons; verdicts -> sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, NamedTuple

import numpy as np

from skgraphkde.detectors.model import GraphModel
from skgraphkde.features import NodeFeatures
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import USUAL, category_text, category_words, legible, usual
from skgraphkde.views.anomalies import Confirmed
from skgraphkde.views.categories import CategoryCounts


class Feature(NamedTuple):
    """A column of node features, and how a reason states its mean over a graph."""

    name: str
    form: str  # "share", "walk", "count", "mean", "missing"; "" for one that no reason states
    words: str  # the noun of the sentence
    fact: str  # what reasons of other kinds call the same fact
    where: str = ""  # what lacks a missing number


def features_in_words(features: NodeFeatures) -> list[Feature]:
    """The columns of fitted features, in their order."""
    found = []
    for block in features.blocks_:
        columns = _columns_in_words(block)
        found += [Feature(name, *words) for name, words in zip(block.names, columns, strict=True)]
    return found


def _columns_in_words(block: Any) -> Iterator[tuple[str, ...]]:
    """Generate form, words, fact, and where a missing number is missing, of each column."""
    if block.kind == "label" and block.weights is None:
        for category, values in zip(block.categories, block.vocabularies, strict=True):
            for value in values:
                words = f"{category}={value}"
                # Of two values, the share of one follows from that of the other.
                yield "share", words, category if len(values) == 2 else words
    elif block.kind == "degree":
        firsts = [0, *(2**i for i in range(len(block.names) - 2))]
        for first, end in zip(firsts, [*firsts[1:], None], strict=True):
            last = " or more" if end is None else f" to {end - 1}"
            words = f"degree {first}" if end == first + 1 else f"degree {first}{last}"
            yield "share", words, "degrees" if first else "isolated nodes"
        yield "count", "neighbors", "edges"
    elif block.kind == "random_walk":
        ways = ("", " along the directions")[: 1 + block.directed]
        for way in ways:
            for n_steps in range(2, 2 + len(block.names) // len(ways)):
                yield "walk", f"walks of {n_steps} steps{way}", "walks"
    elif block.kind == "edge":
        yield from _edge_columns_in_words(block)
    elif block.kind in ("attribute", "raw_attribute"):
        names = [block.columns[j] for j in block.used]
        for name in names:
            yield "mean", name, f"node {name}"
        for name in names if block.indicates else ():
            yield "missing", name, f"node {name} missing", "nodes"
    else:  # projections and constants
        for name in block.names:
            yield "", name, name


def _edge_columns_in_words(block: Any) -> Iterator[tuple[str, ...]]:
    """The same of the columns of edges, for each direction and category."""
    directions = ("out ", "in ") if block.groups.directed else ("",)
    nouns = [("count", "edges", block.groups)] if block.groups.n_relations else []
    for column in block.columns:
        nouns.append(("mean", column, block.number_groups))
        if block.indicates:
            nouns.append(("missing", column, block.number_groups))
    for form, noun, groups in nouns:
        for direction in directions:
            for group in groups.names:
                words = f"{group} {noun}" if group else noun
                fact = f"edge {noun}" if form == "mean" else f"{form}: {words}"
                yield form, direction + words, fact, "edges"


def feature_words(feature: Feature, own: float, known: np.ndarray) -> str:
    """A reason: the mean of a node feature, and those of the known graphs.

    Parameters
    ----------
    feature : Feature
    own : float
    known : ndarray of shape (n_known,)
    """
    words = feature.words
    number, known_range = usually(own, known)
    share, known_share = usually(own, known, percent=True)
    if feature.form == "share":
        nodes = f"{share} of the nodes have" if own > 0 else "no node has"
        return f"{nodes} {words}; usually {known_share}"
    if feature.form == "missing":
        return f"{words} is missing at {share} of the {feature.where}; usually {known_share}"
    if feature.form == "walk":
        more = "more" if own > known.mean() else "less"
        return f"{words} come back {more} often: {number}; usually {known_range}"
    if feature.form == "count":  # the feature is log(1 + count)
        number, known_range = usually(float(np.expm1(own)), np.expm1(known))
        return f"{number} {words} of a node (geometric mean); usually {known_range}"
    return f"mean {words} {number}; usually {known_range}"


def usually(own: float, known: np.ndarray, *, percent: bool = False) -> tuple[str, str]:
    """A number and the range of nine in ten known ones, in words."""
    return usual(own, *np.quantile(known, USUAL, method="nearest"), percent=percent)


def part_names(graph: GraphBatch, kind: str, counts: CategoryCounts) -> list[str]:
    """Names of the nodes, or of the arcs, by their categories.

    Parameters
    ----------
    graph : GraphBatch
        Batch of one graph.
    kind : str
        A table of `counts`.
    counts : CategoryCounts
        Of the references. An edge of a category that these lack has the name of the category.
    """
    element, category = counts.about[kind]
    if kind == "gaps":
        names = ["node"] * graph.n_nodes
        if graph.labels is not None:
            names = part_names(graph, "categories", counts)
        return _gap_names(graph, names)
    if element == "pair":
        return _pair_names(graph, kind, counts)
    if kind in counts.surroundings:
        return _surrounding_names(graph, counts, kind)
    if element == "edge":
        at_ends = tuple(counts.vocabulary.names[i] for i in counts.edges[kind])
        texts = _edge_names(graph, counts.vocabulary.edge_labels, at_ends)
        return texts if kind == "edges" else [f"{text} ({at_ends[0]})" for text in texts]
    codes = graph.labels if element == "node" else graph.graph_labels
    if category:
        values = graph.values_by_category(element)[category]
        words = [category_text(category, value) for value in values]
    else:
        words = [category_words(graph.schema.node_categories, x) for x in graph.label_names]
    return [words[code] for code in np.asarray(codes)]


def _gap_names(graph: GraphBatch, names: list[str]) -> list[str]:
    """The name of each node, and the numbers that it lacks, or those that it has."""
    columns, texts = np.array(graph.schema.node_columns, dtype=object), []
    for name, lacks in zip(names, np.isnan(np.asarray(graph.attributes)), strict=True):
        word, which = ("without", lacks) if lacks.any() else ("with", ~lacks)
        texts.append(f"{name} {word} {' and '.join(columns[which])}")
    return texts


def _pair_names(graph: GraphBatch, kind: str, counts: CategoryCounts) -> list[str]:
    """The steps of each pair with the same value of a category."""
    names = counts.vocabulary.names
    steps = graph.values_by_category("node")[names[counts.vocabulary.step]]
    of_nodes = [legible(steps[code]) for code in np.asarray(graph.labels)]
    pairs = zip(*counts.ends(graph, kind), strict=True)
    who = names[counts.same[kind]]
    return [f"{of_nodes[u]} and {of_nodes[v]} with the same {who}" for u, v in pairs]


def _surrounding_names(graph: GraphBatch, counts: CategoryCounts, kind: str) -> list[str]:
    """Each node with all its edges and neighbors, in words."""
    names = tuple(counts.vocabulary.names[i] for i in counts.surroundings[kind])
    nodes = _node_names(graph, names)
    around: list[Counter[str]] = [Counter() for _ in nodes]
    for arc, (u, v) in enumerate(zip(graph.source_of_arc, graph.adjacency.indices, strict=True)):
        line = ""
        if graph.edge_labels is not None:
            value = graph.edge_label_names[graph.edge_labels[arc]]
            line = f"-{category_words(graph.schema.edge_categories, value)}- "
        if graph.directed:
            around[v][f"from {line}{nodes[u]}"] += 1
            line = f"to {line}"
        around[u][f"{line}{nodes[v]}"] += 1
    of = "" if kind == "surroundings" else f" ({names[0]})"
    told = ([f"{n} times {x}" if n > 1 else x for x, n in sorted(c.items())] for c in around)
    pairs = zip(nodes, told, strict=True)
    return [f"{node} with only {' and '.join(x) or 'itself'}{of}" for node, x in pairs]


def _node_names(graph: GraphBatch, names: tuple) -> list[str]:
    """The categories of each node that have these names, in words."""
    by_category = graph.values_by_category("node")
    values: Any = zip(*(by_category[name] for name in names), strict=True)
    words = [category_words(names, x if len(names) > 1 else x[0]) for x in values]
    return [words[code] for code in np.asarray(graph.labels)]


def _edge_names(graph: GraphBatch, known: tuple, names: tuple) -> list[str]:
    """The category of each arc and those of its ends that have these names, in words."""
    ends = [""] * graph.n_nodes
    if graph.labels is not None:
        ends = _node_names(graph, names)
    arrow = "->" if graph.directed else "-"
    categories, texts = graph.schema.edge_categories, []
    for arc, (u, v) in enumerate(zip(graph.source_of_arc, graph.adjacency.indices, strict=True)):
        line = arrow
        if graph.edge_labels is not None:
            value = graph.edge_label_names[graph.edge_labels[arc]]
            what = category_words(categories, value)
            if value not in known:
                texts.append(f"{categories[0]}={what}" if len(categories) == 1 else what)
                continue
            line = f"-{what}{arrow}"
        a, b = ends[u], ends[v]
        if not graph.directed and b < a:
            a, b = b, a
        texts.append(" ".join(filter(None, (a, line, b))))
    return texts


def checked_names(names: Any, n: int, *, of: str = "graphs", what: str = "names") -> list:
    """The names in their order, one for each of n graphs, or an error that says what they are.

    A pandas Series is taken by position, whatever its index.
    """
    found: Any = f"a {type(names).__name__}, which has no order"
    if isinstance(names, str | bytes):
        found = "one text"
    elif isinstance(names, Iterable) and not isinstance(names, Mapping | Set):
        in_order = list(names)
        if len(in_order) == n:
            return in_order
        found = len(in_order)
    raise ValueError(f"{what} must have one name for each of {n} {of}, got {found}")


def learned_words(model: GraphModel) -> list[str]:
    """What a model has learned from verdicts, in sentences; none if it has not."""
    confirmed = model.first(Confirmed)
    if confirmed is None:
        return []
    n = len(confirmed.anomalies_)
    noun = "anomaly" if n == 1 else "anomalies"
    order = np.argsort(-model.view_weights, kind="stable")
    weights = "; ".join(f"{model.view_weights[i]:.1f} {model.view_names[i]}" for i in order)
    return [
        f"Learned from {n} confirmed {noun}.",
        f"Weights of the views, 1 on average: {weights}.",
    ]
