"""Wording: what nodes and edges are called in reasons, by their ids and their categories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from skgraphkde.detectors.model import GraphModel
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import USUAL, category_text, category_words, usual
from skgraphkde.views.confirmed import Confirmed
from skgraphkde.views.parts import Vocabulary


def checked_names(names: Any, n: int, *, of: str = "graphs", what: str = "names") -> list:
    """The names in their order, one for each of n graphs, or an error that says what they are.

    A pandas Series is taken by position, whatever its index.
    """
    found: Any = None
    if isinstance(names, str | bytes):
        found = "one text"
    elif isinstance(names, Mapping | Set) or not isinstance(names, Iterable):
        found = f"a {type(names).__name__}, which has no order"
    elif len(listed := list(names)) == n:
        return listed
    else:
        found = len(listed)
    raise ValueError(f"{what} must have one name for each of {n} {of}, got {found}")


def learned_words(model: GraphModel) -> list[str]:
    """What a model has learned from verdicts, in sentences; none if it has not."""
    confirmed = model.first(Confirmed)
    if confirmed is None:
        return []
    n = len(confirmed.anomalies_)
    weights = sorted(
        zip(model.view_weights.tolist(), model.view_names, strict=True), key=lambda x: -x[0]
    )
    counts = "; ".join(f"{weight:.1f} {name}" for weight, name in weights)
    return [
        f"Learned from {n} confirmed anomal{'y' if n == 1 else 'ies'}.",
        f"Weights of the views, 1 on average: {counts}.",
    ]


def usually(own: float, known: np.ndarray, *, percent: bool = False) -> tuple[str, str]:
    """A number and the range of nine in ten known ones, in words."""
    return usual(own, *np.quantile(known, USUAL, method="nearest"), percent=percent)


def feature_words(kind: str, name: str, own: float, known: np.ndarray, last: str) -> str:
    """A reason: the mean of a node feature of a kind, and those of the known graphs.

    Parameters
    ----------
    kind, name : str
        Of the feature.
    own : float
    known : ndarray of shape (n_known,)
    last : str
        The feature that is the share of all nodes with more neighbors.
    """
    number, known_range = usually(own, known)
    share, known_share = usually(own, known, percent=True)
    nodes = f"{share} of the nodes have" if own > 0 else "no node has"
    if kind == "label":
        return f"{nodes} {name}; usually {known_share}"
    if kind == "random_walk":
        directed, _, steps = name.rpartition("return_")
        along = " along the directions" * bool(directed)
        more = "more" if own > known.mean() else "less"
        walks = f"walks of {steps} steps{along} come back {more} often"
        return f"{walks}: {number}; usually {known_range}"
    if found := re.fullmatch(r"degree=(\d+)(?:-(\d+))?", name) if kind == "degree" else None:
        which = found[1] + (f" to {found[2]}" if found[2] else "")
        which = f"{found[1]} or more" if name == last else which
        return f"{nodes} degree {which}; usually {known_share}"
    if name.endswith(" missing"):
        which = "nodes" if kind == "attribute" else "edges at a node"
        what = name.removesuffix(" missing")
        return f"{what} is missing at {share} of the {which}; usually {known_share}"
    if found := re.fullmatch(r"log\(1\+(.*)\)", name):
        what = "neighbors" if kind == "degree" else found[1]
        number, known_range = usually(float(np.expm1(own)), np.expm1(known))
        return f"{number} {what} of a node (geometric mean); usually {known_range}"
    return f"mean {name} {number}; usually {known_range}"


def part_names(graph: GraphBatch, kind: str, known: Vocabulary | None = None) -> list[str]:
    """Names of the nodes, or of the arcs, by their categories.

    Parameters
    ----------
    graph : GraphBatch
        Batch of one graph.
    kind : str
        As in :class:`CategoryCounts`.
    known : Vocabulary, default=None
        An edge of a category that is not among these has the name of the category.
    """
    if kind == "gaps":
        return _gap_names(graph)
    if kind.startswith("graph "):
        name, names = kind.removeprefix("graph "), graph.schema.graph_categories
        several, i = len(names) > 1, names.index(name)
        values = (graph.graph_label_names[code] for code in np.asarray(graph.graph_labels))
        return [category_text(name, value[i] if several else value) for value in values]
    return _edge_names(graph, known) if kind == "edges" else _node_names(graph, kind)


def _gap_names(graph: GraphBatch) -> list[str]:
    """The categories of each node, and the numbers that it lacks, or those that it has."""
    names = ["node"] * graph.n_nodes
    if graph.labels is not None:
        names = _node_names(graph, "categories")
    columns, texts = np.array(graph.schema.node_columns, dtype=object), []
    for name, lacks in zip(names, np.isnan(np.asarray(graph.attributes)), strict=True):
        word, which = ("without", lacks) if lacks.any() else ("with", ~lacks)
        texts.append(f"{name} {word} {' and '.join(columns[which])}")
    return texts


def _node_names(graph: GraphBatch, kind: str) -> list[str]:
    """The categories of each node, or one of them, in words."""
    categories = graph.schema.node_categories
    names = [category_words(categories, value) for value in graph.label_names]
    if len(categories) == 1:
        names = [f"{categories[0]}={name}" for name in names]
    if kind != "categories":
        i = [f"category {name}" for name in categories].index(kind)
        of_category = list(zip(*graph.label_names, strict=True))[i]
        names = [category_text(categories[i], value) for value in of_category]
    return [names[code] for code in np.asarray(graph.labels)]


def _edge_names(graph: GraphBatch, known: Vocabulary | None) -> list[str]:
    """The categories of each arc and of its ends, in words."""
    source, target = graph.source_of_arc, graph.adjacency.indices
    ends = [""] * graph.n_nodes
    if graph.labels is not None:
        categories = graph.schema.node_categories
        words = [category_words(categories, value) for value in graph.label_names]
        ends = [words[code] for code in np.asarray(graph.labels)]
    between, is_unknown = [""] * len(target), [False] * len(target)
    if graph.edge_labels is not None:
        categories, values = graph.schema.edge_categories, graph.edge_label_names
        codes = np.asarray(graph.edge_labels).tolist()
        between = [category_words(categories, values[code]) for code in codes]
        if known is not None:
            is_unknown = [values[code] not in known.edge_labels for code in codes]
    arrow = "->" if graph.directed else "-"
    texts = []
    for u, v, what, is_new in zip(source, target, between, is_unknown, strict=True):
        a, b = ends[u], ends[v]
        if is_new:
            texts.append(f"{categories[0]}={what}" if len(categories) == 1 else what)
            continue
        if not graph.directed and b < a:
            a, b = b, a
        texts.append(" ".join(filter(None, (a, f"-{what}{arrow}" if what else arrow, b))))
    return texts
