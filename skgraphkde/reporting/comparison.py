"""Comparisons of a page: a graph and a usual one -> the differences between them, side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.explanation.results import Judgement
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import category_text, legible, number, shown

# Graphs are about as large if one has at most so many times as many nodes as the other.
SIZE = 1.5
# Share of the references with the lowest scores: these are not shown as usual ones.
ODDEST = 0.1
# Digits of a number.
DIGITS = 6


class Difference(NamedTuple):
    """A line of a comparison: what two graphs have of something."""

    what: str
    own: str
    other: str


class UsualGraphs:
    """The references that nobody would call odd, among which a graph has a nearest one.

    They are not flagged, and, if others remain, not left out and not in the oddest tenth.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted.
    left_out : sequence of int, default=()
        Indices of the training graphs that are in groups, or like confirmed anomalies, see
        :class:`Judgement`.own.
    """

    def __init__(self, detector: GraphKDEDetector, left_out: Sequence[int] = ()) -> None:
        self.model = model = detector.model_
        scores = model.leave_one_out()[model.reference_index]
        is_usual = scores >= float(detector.offset_)
        is_plain = ~np.isin(model.reference_index, left_out) & (
            scores > np.quantile(scores, ODDEST)
        )
        self.is_usual = is_usual & is_plain if (is_usual & is_plain).any() else is_usual
        self.data = data_of(model.references)
        names = model.references.schema.graph_categories
        kinds = [[x[name] for name in names] for x in self.data]
        self.kinds = np.array(kinds, dtype=object)  # (n_references, n_categories)

    def nearest(self, graph: GraphBatch, judged: Judgement) -> tuple[int, str]:
        """The nearest usual reference of the same kind and size.

        Those of about as many nodes come first; of these, those that share most categories; of
        these, the nearest, where a graph of other size counts as further.

        Parameters
        ----------
        graph : GraphBatch
            Of one graph.
        judged : Judgement
            Of this graph.

        Returns
        -------
        reference : int
            Its position; -1 if no other reference is usual.
        lacks : str
            "size" if none has about as many nodes; "kind" if none of these has the same
            categories; else "".
        """
        candidates = self.is_usual.copy()
        own = self.model.references_of(np.array([judged.own]))[0]
        candidates[own] &= own < 0
        if not candidates.any():
            return -1, ""
        sizes = self.model.references.n_nodes_per_graph
        ratio = np.maximum(sizes / graph.n_nodes, graph.n_nodes / sizes)
        is_alike = candidates & (ratio <= SIZE)
        has_size = bool(is_alike.any())
        candidates = is_alike if has_size else candidates
        (data,) = data_of(graph)
        kind = np.array([data[name] for name in graph.schema.graph_categories], dtype=object)
        n_same = (self.kinds == kind).sum(axis=1)
        candidates &= n_same == n_same[candidates].max()
        distances = self.model.distances(graph, view=judged.view)[0] * ratio
        nearest = int(np.where(candidates, distances, np.inf).argmin())
        lacks = "" if n_same[nearest] == len(kind) else "kind"
        return nearest, lacks if has_size else "size"

    def differences(self, graph: GraphBatch, reference: int, named: str = "") -> list[Difference]:
        """Sizes of a graph and a reference, some numbers, then data and counts that differ.

        What reasons name comes right after the sizes.

        Parameters
        ----------
        graph : GraphBatch
            Of one graph.
        reference : int
        named : str, default=""
            What reasons name; numbers of nodes and edges that are not in it are not shown.
        """
        other, words = self.model.references[reference], graph.schema.words
        n_edges, n_edges_of_other = graph.n_edges_per_graph[0], other.n_edges_per_graph[0]
        found = [
            Difference(words.nodes, str(graph.n_nodes), str(other.n_nodes)),
            Difference(words.edges, str(n_edges), str(n_edges_of_other)),
        ]
        for part, noun in (("node", words.nodes), ("edge", words.edges)):
            for i, name in enumerate(getattr(graph.schema, f"{part}_columns")):
                if names_it(named, name):
                    pair = (_range(np.asarray(x.data(part).numbers)[:, i]) for x in (graph, other))
                    found.append(Difference(f"{shown(name)} of {noun}", *pair))
        (data,) = data_of(graph)
        for name, value in data.items():
            if value != self.data[reference][name]:
                found.append(Difference(shown(name), value, self.data[reference][name]))
        counts, others = _counts(graph), _counts(other)
        differ = [what for what in counts | others if counts[what] != others[what]]
        # A count of 3 and one of 0 differ more than counts of 13 and 10.
        differ.sort(key=lambda x: -abs(counts[x] - others[x]) / (counts[x] + others[x]) ** 0.5)
        found += [Difference(what, str(counts[what]), str(others[what])) for what in differ]
        end = f" ({words.edges})"
        return found[:2] + sorted(
            found[2:], key=lambda x: not names_it(named, x.what.removesuffix(end))
        )


def names_it(text: str, name: str) -> bool:
    """True if a text has a name as words of their own; of "name=value", the value is enough."""
    names = [x for x in (name, name.partition("=")[2]) if x == name or x.isidentifier()]
    return any(re.search(rf"(?<!\w){re.escape(x)}(?!\w)", text) for x in names)


def data_of(graphs: GraphBatch) -> list[dict[str, str]]:
    """The categories and numbers of each graph itself, in words, by name."""
    return [
        {name: _in_words(value) for name, value in record.items()}
        for record in graphs.records("graph")
    ]


def _in_words(value: object) -> str:
    if isinstance(value, np.ndarray):
        return shown(", ".join(number(x, DIGITS) for x in value))
    if isinstance(value, float):
        return "" if np.isnan(value) else number(value, DIGITS)
    return "" if value is None else shown(value)  # alone in a cell, it needs no quotes


def _range(x: np.ndarray) -> str:
    """The range and the mean of numbers, in words; "" if there are none."""
    x = x[~np.isnan(x)]
    return (
        f"{number(x.min())} to {number(x.max())}, on average {number(x.mean())}" if len(x) else ""
    )


def _counts(graph: GraphBatch) -> Counter[str]:
    """The number of nodes and edges of each category, but of those that are "False"."""
    found: Counter[str] = Counter()
    for part, n_rows in (("node", 1), ("edge", 1 if graph.directed else 2)):
        labels = graph.data(part).labels
        by_category = {} if labels is None else graph.values_by_category(part)
        noun = f" ({graph.schema.words.edges})" if part == "edge" else ""
        codes, n = np.unique([] if labels is None else labels, return_counts=True)
        for name, values in by_category.items():
            for code, n_of_code in zip(codes.astype(int).tolist(), n.tolist(), strict=True):
                text = _category(name, values[code], is_single=len(by_category) == 1)
                if text:
                    found[shown(text) + noun] += n_of_code // n_rows
    return found


def _category(name: str, value: Any, *, is_single: bool) -> str:
    """A category in words; "" for one that is False."""
    if value is None:
        return f"{name} missing"
    if str(value) in ("False", "True"):
        return name if str(value) == "True" else ""
    return legible(value) if is_single or name == "label" else category_text(name, value)
