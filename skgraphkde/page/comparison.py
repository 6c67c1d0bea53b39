"""Comparisons of a page: a graph and a usual one -> the differences between them, side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from skgraphkde._messages import shown
from skgraphkde._words import category_text, legible, number
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.scoring.groups import find_groups
from skgraphkde.detectors.estimator import GraphKDEDetector
from skgraphkde.detectors.verdicts import ANOMALY
from skgraphkde.explanation.naming import edge_name, with_bond
from skgraphkde.explanation.of_groups import GroupInWords
from skgraphkde.explanation.results import Judgement, judge
from skgraphkde.plots import CHARACTERS

# Graphs are about as large if one has at most so many times as many nodes as the other, and of the
# same size at so many times.
SIZE = 1.5
SAME_SIZE = 1.1
# Share of the references with the lowest scores: these are not shown as usual ones.
ODDEST = 0.1
# At least this share of the references has what is called missing in a graph without it.
MOST = 0.5
# Values of categories that tell nothing where nothing is beside them.
FLAGS = {"true", "false", "yes", "no", "0", "1", "none", ""}
# Digits of a number.
DIGITS = 6


class Difference(NamedTuple):
    """A line of a comparison: what two graphs have of something."""

    what: str
    own: str
    other: str


class Thing(NamedTuple):
    """A kind of nodes or edges."""

    text: str
    ends: frozenset[str] = frozenset()  # of edges that are told by the kinds of these


class UsualGraphs:
    """The references that nobody would call odd, among which a graph has a nearest one.

    They are not flagged, and, if others remain, not left out and not in the oddest tenth.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted.
    left_out : sequence of int, default=()
        Indices of training graphs, such as those that are :func:`set_apart`.
    judged : sequence of Judgement, default=()
        Of training graphs, if they are judged.
    """

    def __init__(
        self,
        detector: GraphKDEDetector,
        left_out: Sequence[int] = (),
        judged: Sequence[Judgement] = (),
    ) -> None:
        self.model = model = detector.model_
        scores = model.leave_one_out()[model.reference_index]
        is_usual = scores >= float(detector.offset_)
        is_plain = ~np.isin(model.reference_index, left_out) & (
            scores > np.quantile(scores, ODDEST)
        )
        self.is_usual = _narrowed(is_usual, is_plain)
        reasons = {x.own: {(reason.kind, reason.what) for reason in x.unusual} for x in judged}
        self.reasons = [reasons.get(i, set()) for i in model.reference_index.tolist()]
        self.data = data_of(model.references)
        names = model.references.schema.graph_categories
        # Shape (n_references, n_categories).
        self.kinds = np.array([[x[name] for name in names] for x in self.data], dtype=object)
        vocabulary = model.categories.vocabulary
        n = len(model.references)
        self.category = category_of_pictures(
            model.references, vocabulary.named if vocabulary.names else ""
        )
        self.counts = self._counts(model.references)
        having = Counter(x for counts in self.counts for x in counts)
        self.common = {x for x, n_have in having.items() if n_have >= MOST * n}

    def nearest(self, graph: GraphBatch, judged: Judgement) -> tuple[int, str]:
        """The nearest usual reference of the same kind and size.

        Those of about as many nodes come first; of these, those that share most categories; of
        these, those without a strong reason, or else without the main reason of the graph; of
        these, those of the same size; of these, the nearest, where a graph of other size counts as
        further.

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
        candidates = _narrowed(candidates, ratio <= SIZE)
        (data,) = data_of(graph)
        kind = np.array([data[name] for name in graph.schema.graph_categories], dtype=object)
        n_same = (self.kinds == kind).sum(axis=1)
        candidates &= n_same == n_same[candidates].max()
        candidates = _narrowed(candidates, np.array([not x for x in self.reasons]))
        main = {(reason.kind, reason.what) for reason in judged.unusual[:1]}
        candidates = _narrowed(candidates, np.array([not main & x for x in self.reasons]))
        candidates = _narrowed(candidates, ratio <= SAME_SIZE)
        distances = self.model.distances(graph, view=judged.view)[0] * ratio
        nearest = int(np.where(candidates, distances, np.inf).argmin())
        lacks = "" if n_same[nearest] == len(kind) else "kind"
        return nearest, lacks if ratio[nearest] <= SIZE else "size"

    def differences(self, graph: GraphBatch, reference: int, named: str = "") -> list[Difference]:
        """What a graph and a reference have of sizes, numbers, data, and nodes and edges.

        What reasons name comes first, then what the graph lacks, though most references have it.

        Parameters
        ----------
        graph : GraphBatch
            Of one graph.
        reference : int
        named : str, default=""
            What reasons name, in lines; numbers of nodes and edges that are not in it, and edges
            between nodes of two kinds that are there, are not shown, nor is what both have.
        """
        other = self.model.references[reference]
        words = graph.schema.words
        found: list[tuple[int, Difference]] = []  # with the places where reasons name them, or -1
        for part, noun in (("node", words.nodes), ("edge", words.edges)):
            n, n_of_other = (int(getattr(x, f"n_{part}s_per_graph")[0]) for x in (graph, other))
            place = named.find(f"\n{words.counted(n, part)}")
            found.append((place, Difference(noun, str(n), str(n_of_other))))
            for i, name in enumerate(getattr(graph.schema, f"{part}_columns")):
                place = place_in(named, name)
                if place >= 0:
                    pair = [np.asarray(x.data(part).numbers)[:, i] for x in (graph, other)]
                    what, (ranges, means) = shown(name), zip(*map(_range, pair), strict=True)
                    found.append((place, Difference(f"{what} at {noun}", *ranges)))
                    if means != ranges:
                        found.append((place, Difference(f"average {what} of {noun}", *means)))
        (data,) = data_of(graph)
        for name, value in data.items():
            line = Difference(shown(name), value, self.data[reference][name])
            found.append((place_in(named, name), line))
        (counts,), others = self._counts(graph), self.counts[reference]
        differ = (x for x in counts | others if counts[x] != others[x])
        # A count of 3 and one of 0 differ more than counts of 13 and 10.
        for thing in sorted(
            differ, key=lambda x: -abs(counts[x] - others[x]) / (counts[x] + others[x]) ** 0.5
        ):
            place = place_in(named, thing.text.removesuffix(f" ({words.edges})"))
            text = thing.text
            if place < 0 and thing.ends and not all(counts[Thing(x)] for x in thing.ends):
                continue
            if not counts[thing] and thing in self.common:
                place = place if place >= 0 else len(named)
                text = f"{text} (most have it)"
            if place >= 0 or not thing.ends:
                found.append((place, Difference(text, str(counts[thing]), str(others[thing]))))
        found.sort(key=lambda x: x[0] if x[0] >= 0 else np.inf)
        return [line for _, line in found if line.own != line.other]

    def _counts(self, graphs: GraphBatch) -> list[Counter[Thing]]:
        """For each graph, its nodes and edges of each category, and its edges between two kinds."""
        found = [Counter[Thing]() for _ in range(len(graphs))]
        words = graphs.schema.words
        once = graphs.directed | (graphs.source_of_arc < graphs.adjacency.indices)
        for part, noun, rows in (("node", "", slice(None)), ("edge", f" ({words.edges})", once)):
            labels = graphs.data(part).labels
            if labels is not None:
                pairs = np.column_stack([graphs.owner(part), labels])[rows]
                for texts in self._texts(graphs, part).values():
                    for (graph, code), n in _repeated(pairs):
                        if texts[code]:
                            found[graph][Thing(texts[code] + noun)] += n
        if graphs.labels is not None:
            texts_of = self._texts(graphs, "node")
            labels = np.asarray(graphs.labels)
            kinds = texts_of.get(self.category or "label") or next(iter(texts_of.values()))
            codes = np.zeros(len(once)) if graphs.edge_labels is None else graphs.edge_labels
            ends = labels[graphs.source_of_arc], labels[graphs.adjacency.indices]
            arcs = np.column_stack([graphs.graph_of_arc, *ends, np.asarray(codes, dtype=int)])
            for (graph, u, v, code), n in _repeated(arcs[once]):
                text = edge_name(graphs, code, kinds[u], kinds[v], words.edge)
                found[graph][Thing(text, frozenset((kinds[u], kinds[v])))] += n
        return found

    def _texts(self, graphs: GraphBatch, part: str) -> dict[str, dict[int, str]]:
        """The values of each category in words, by the codes in use; "" for "False"."""
        by_category = graphs.values_by_category(part)
        found: dict[str, dict[int, str]] = {name: {} for name in by_category}
        codes = np.unique(np.asarray(graphs.data(part).labels)).tolist()
        for name, values in by_category.items():
            is_main = len(by_category) == 1 or name in ("label", self.category)
            for code in codes:
                text = shown(_category(name, values[code], is_main=is_main))
                found[name][code] = with_bond(text) if part == "edge" else text
        return found


def _narrowed(candidates: np.ndarray, is_better: np.ndarray) -> np.ndarray:
    """Mask of the better candidates, or of all of them if none is better."""
    better = candidates & is_better
    return better if better.any() else candidates


def _repeated(rows: np.ndarray) -> Iterator[tuple[list[int], int]]:
    """Distinct rows, and how often each occurs."""
    distinct, n_of = np.unique(rows, axis=0, return_counts=True)
    return zip(distinct.tolist(), n_of.tolist(), strict=True)


def place_in(text: str, name: str) -> int:
    """Where a text has a name as words of its own, or -1; of "name=value", the value is enough."""
    for x in (name, name.partition("=")[2]):
        found = re.search(rf"(?<!\w)(?<!not ){re.escape(x)}(?!\w)", text)
        if found and (x == name or x.isidentifier()):
            return found.start()
    return -1


def set_apart(
    detector: GraphKDEDetector,
    judged: Sequence[Judgement] = (),
    groups: Sequence[GroupInWords] = (),
) -> list[int]:
    """Training graphs in groups, and those that are like a confirmed anomaly.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted.
    judged : sequence of Judgement, default=()
        Of the training graphs. Without any, the references are judged, and groups looked for.
    groups : sequence of GroupInWords, default=()
        With positions of members in `judged`.
    """
    model = detector.model_
    members = [judged[i].own for group in groups for i in group.members.tolist()]
    if not judged:
        members = [i for group in find_groups(model) for i in group.members.tolist()]
        # Of a split, references have no scores of their own.
        if (detector.verdicts_ == ANOMALY).any() and hasattr(detector, "calibration_index_"):
            judged = judge(detector, model.references, own=model.reference_index)
    for x in judged:
        if any(reason.kind == "confirmed" for reason in x.unusual):
            members.append(x.own)
    return members


def category_of_pictures(graphs: GraphBatch, named: str) -> str | None:
    """The category of nodes that tells them apart in a picture, and recurs from graph to graph.

    Parameters
    ----------
    graphs : GraphBatch
    named : str
        The one by which reasons name nodes, if it does so about as well.

    Returns
    -------
    str or None
        None if nodes have no category. A flag, such as True and False, is one only if there is no
        other.
    """
    if graphs.labels is None:
        return None
    worth = dict[str, float]()
    labels = np.asarray(graphs.labels)
    for name, values in graphs.values_by_category("node").items():
        texts = [str(value)[:CHARACTERS] for value in values]
        place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        codes = np.array([place[text] for text in texts])[labels]
        used, counts = np.unique(codes, return_counts=True)
        shares = counts / len(codes)
        pairs = np.unique(graphs.graph_of_node * len(place) + codes)
        n_graphs = np.bincount(pairs % len(place), minlength=len(place))
        recurs = shares[n_graphs[used] > 1].sum()
        is_flag = {text.lower() for text in texts} <= FLAGS
        worth[name] = 0.0 if is_flag else float(-shares @ np.log(shares) * recurs)
    best = max(worth, key=lambda name: worth[name])
    is_as_good = 2 * worth.get(named, 0.0) >= worth[best]
    return named if named in worth and is_as_good else best


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


def _range(x: np.ndarray) -> tuple[str, str]:
    """The range and the mean of numbers, in words; "" if there are none."""
    x = x[~np.isnan(x)]
    if not len(x):
        return "", ""
    ends = dict.fromkeys([number(x.min()), number(x.max())])
    return " to ".join(ends), number(x.mean())


def _category(name: str, value: Any, *, is_main: bool) -> str:
    """A category in words; "" for one that is False."""
    if value is None:
        return f"{name} missing"
    if str(value) in ("False", "True"):
        return name if str(value) == "True" else ""
    return legible(value) if is_main else category_text(name, value)
