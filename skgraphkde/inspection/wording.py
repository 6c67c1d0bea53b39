"""Wording: what nodes and edges are called in reasons, by their ids and their categories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from skgraphkde.detectors.model import GraphModel
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import category_words, legible, number
from skgraphkde.views.confirmed import Confirmed

# A number this many times smaller than another beside it is 0 but for rounding.
ROUNDING = 1e-12


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
    n, n_anomalies = len(confirmed.verdicts_), int((confirmed.verdicts_ == -1).sum())
    weights = sorted(
        zip(model.view_weights.tolist(), model.view_names, strict=True), key=lambda x: -x[0]
    )
    counts = "; ".join(f"{weight:.1f} {name}" for weight, name in weights)
    of = f"{n_anomalies} of them anomalies" if n > 1 else "an anomaly"
    return [
        f"Learned from {n} verdict{'s' * (n > 1)}, {of}.",
        f"Weights of the views, 1 on average: {counts}.",
    ]


def commonness(own: float, known: np.ndarray) -> str:
    """The share of known graphs with as little, or as much, in words."""
    is_little = own <= np.median(known)
    share = float(np.mean(known <= own if is_little else known >= own))
    if not share:
        than = "less than in any known graph" if is_little else "more than in any known graph"
        return f"{than} ({number(known.min())} to {number(known.max())})"
    percent = f"{share:.0%}" if share >= 0.005 else "fewer than 1%"
    return f"{percent} of the known graphs have as {'little' if is_little else 'much'}"


def usual(own: float, known: np.ndarray, form: str = ".3g") -> str:
    """A number and the range of nine in ten known ones: "3.7; usually 3.9 to 4.1".

    Parameters
    ----------
    own : float
    known : ndarray of shape (n_known,)
    form : str, default=".3g"
        Format of the numbers; more digits are written where they tell the number from the range.
    """
    numbers = np.array([own, *np.quantile(known, [0.05, 0.95])])
    own, low, high = np.where(np.abs(numbers) < ROUNDING * np.abs(numbers).max(), 0.0, numbers)
    for digits in range(3, 7):
        used = f".{digits}g" if form == ".3g" else f".{digits - 3}%"
        texts = [format(x, used) for x in (own, low, high)]
        if low <= own <= high or texts[0] not in texts[1:]:
            break
    return f"{texts[0]}; usually {texts[1]}{f' to {texts[2]}' * (texts[1] != texts[2])}"


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
    share, _, usually = usual(own, known, ".0%").partition(";")
    more = "more" if own > known.mean() else "less"
    if kind == "label":
        return f"{share} of the nodes have {name};{usually}"
    if kind == "random_walk":
        directed, _, steps = name.rpartition("return_")
        along = " along the directions" * bool(directed)
        return f"walks of {steps} steps{along} come back {more} often: {usual(own, known)}"
    if kind == "degree":
        return _degree_words(name, own, known, last)
    if name.endswith(" missing"):
        which = "nodes" if kind == "attribute" else "edges at a node"
        return f"{name.removesuffix(' missing')} is missing at {share} of the {which};{usually}"
    if found := re.fullmatch(r"log\(1\+(.*)\)", name):
        return _counted(found[1], own, known)
    return f"mean {name} {usual(own, known)}"


def _degree_words(name: str, own: float, known: np.ndarray, last: str) -> str:
    if found := re.fullmatch(r"degree=(\d+)(?:-(\d+))?", name):
        which = found[1] + (f" to {found[2]}" if found[2] else "")
        if name == last:
            which = f"{found[1]} or more"
        share, _, usually = usual(own, known, ".0%").partition(";")
        share = f"{share} of the nodes have" if own > 0 else "no node has"
        return f"{share} degree {which};{usually}"
    return _counted("neighbors", own, known)


def _counted(what: str, own: float, known: np.ndarray) -> str:
    """A mean of log(1 + count) over nodes, in words."""
    number, _, usually = usual(float(np.expm1(own)), np.expm1(known)).partition(";")
    return f"{number} {what} of a node (geometric mean);{usually}"


def part_names(graph: GraphBatch, kind: str) -> list[str]:
    """Names of the nodes, or of the arcs, by their categories; `kind` is that of Parts."""
    if kind == "gaps":
        return _gap_names(graph)
    if kind.startswith("graph "):
        name, names = kind.removeprefix("graph "), graph.schema.graph_categories
        several, i = len(names) > 1, names.index(name)
        values = (graph.graph_label_names[code] for code in np.asarray(graph.graph_labels))
        return [f"{name}={legible(value[i] if several else value)}" for value in values]
    return _edge_names(graph) if kind == "edges" else _node_names(graph, kind)


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
        names = [f"{categories[i]}={legible(value)}" for value in of_category]
    return [names[code] for code in np.asarray(graph.labels)]


def _edge_names(graph: GraphBatch) -> list[str]:
    """The categories of each arc and of its ends, in words."""
    source, target = graph.source_of_arc, graph.adjacency.indices
    ends = [""] * graph.n_nodes
    if graph.labels is not None:
        categories = graph.schema.node_categories
        words = [category_words(categories, value) for value in graph.label_names]
        ends = [words[code] for code in np.asarray(graph.labels)]
    between = [""] * len(target)
    if graph.edge_labels is not None:
        between = [
            category_words(graph.schema.edge_categories, graph.edge_label_names[code])
            for code in graph.edge_labels
        ]
    arrow = "->" if graph.directed else "-"
    texts = []
    for u, v, what in zip(source, target, between, strict=True):
        a, b = ends[u], ends[v]
        if not graph.directed and b < a:
            a, b = b, a
        texts.append(" ".join(filter(None, (a, f"-{what}{arrow}" if what else arrow, b))))
    return texts
