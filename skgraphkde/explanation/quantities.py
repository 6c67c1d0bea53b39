"""Quantities: a fitted model -> numbers of its references with names: what two piles differ in.

They are the statistics of each graph, and whether it has a node, an edge or surroundings of a kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from skgraphkde._words import Words, usual
from skgraphkde.core.scoring.model import GraphModel
from skgraphkde.core.views.categories import Table
from skgraphkde.core.views.statistics import Statistics
from skgraphkde.explanation.of_statistics import as_told, name_statistic
from skgraphkde.explanation.wording import in_two_lines, part_names

# A kind that fewer graphs have, or that fewer lack, tells little of two piles.
FEWEST = 3
# Kinds of nodes, edges and surroundings, at most: those nearest to one in two graphs.
MOST_KINDS = 2_000
# Forms of statistics that are shares.
SHARES = ("share", "nodes")
# Digits of numbers, beyond which there is rounding.
DIGITS = 12
# How often a difference counts when findings are put in order: of what says about the same, the
# plainest comes first.
OF_PARTS = 1.0  # a node or an edge of a kind
OF_TOTALS = 0.95  # sizes, shares and means
OF_SURROUNDINGS = 0.9
OF_SHAPE = 0.85
TOTALS = ("nodes", "edges", "share", "mean", "number")


class Kind(NamedTuple):
    """A kind of nodes or edges, by one of these."""

    table: Table
    graph: int
    part: int  # its position in the graph


class Quantities:
    """Numbers of each reference of a model, with names.

    Parameters
    ----------
    model : GraphModel
        With a view of statistics, and all training graphs as references.

    Attributes
    ----------
    values : ndarray of shape (n_graphs, n_quantities)
        Statistics first, NaN where a graph has none; then 1 where it has something of a kind, else
        0.
    plainness : ndarray of shape (n_quantities,)
        In (0, 1], larger for what is plainer.
    """

    def __init__(self, model: GraphModel) -> None:
        statistics = model.first(Statistics)
        if statistics is None:
            raise ValueError("the detector has no view of statistics, whose numbers are compared")
        self.graphs = model.references
        self.counts = model.categories
        self.statistics = statistics
        kinds, has_kind = _kinds_of(model)
        self.kinds = kinds
        self.values = np.column_stack([statistics.table_, has_kind])
        plainness = [OF_TOTALS if key[0] in TOTALS else OF_SHAPE for key in statistics.keys_]
        for kind in kinds:
            is_around = kind.table.role == "surroundings"
            plainness.append(OF_SURROUNDINGS if is_around else OF_PARTS)
        self.plainness = np.array(plainness)

    def record(self, j: int, is_first: np.ndarray, piles: tuple[str, str]) -> dict[str, object]:
        """What two piles have of a quantity, as a row of a table.

        Parameters
        ----------
        j : int
        is_first : ndarray of shape (n_graphs,), bool
        piles : tuple of str
            What the piles are called.

        Returns
        -------
        dict
            "kind", "what" for programs, "finding" in words, "first" and "second": the share of
            graphs, or the median; the mean, where both piles have the same median.
        """
        first = self.values[is_first, j]
        second = self.values[~is_first, j]
        n_statistics = len(self.statistics.keys_)
        if j >= n_statistics:
            kind = self.kinds[j - n_statistics]
            name = self._name_of_kind(kind, self.graphs.schema.words)
            shares = float(first.mean()), float(second.mean())
            text = _say_shares(name, shares, self.graphs.schema.words, piles)
            return _record(kind.table.name, self._name_of_kind(kind, Words()), text, shares)
        key = self.statistics.keys_[j]
        form = self.statistics.forms_[j]
        what = self._name_of_statistic(key, Words())
        name = self._name_of_statistic(key, self.graphs.schema.words)
        if form == "fact":
            shares = float(first.mean()), float(second.mean())
            text = _say_shares(name, shares, self.graphs.schema.words, piles)
            return _record("statistics", what, text, shares)
        told = as_told(form, first), as_told(form, second)
        numbers, average = _centers(*told)
        texts = usual(numbers[0], numbers[1], numbers[1], percent=form in SHARES)
        of = "number of " * (form in ("log", "log1p")) + "share of " * (form in SHARES)
        text = f"{of}{name}: {texts[0]} and {texts[1]} ({average})"
        return _record("statistics", what, text, numbers)

    def _name_of_statistic(self, key: tuple, words: Words) -> str:
        return name_statistic(key, words, self.statistics.vocabulary_)

    def _name_of_kind(self, kind: Kind, words: Words) -> str:
        graph = self.graphs[kind.graph]
        name = part_names(graph, kind.table, self.counts, words)[kind.part]
        if kind.table.role == "edges" and graph.edge_labels is None:
            name = f"{words.edges} {name}"
        return in_two_lines(name, ())[0]


def _record(kind: str, what: str, text: str, numbers: tuple[float, float]) -> dict[str, object]:
    return {
        "kind": kind,
        "what": what,
        "finding": text,
        "first": numbers[0],
        "second": numbers[1],
    }


def _centers(first: np.ndarray, second: np.ndarray) -> tuple[tuple[float, float], str]:
    """The medians of numbers, or the means, if the medians are equal; NaN is ignored."""
    medians = _center(first, np.median), _center(second, np.median)
    if medians[0] != medians[1]:
        return medians, "median"
    return (_center(first, np.mean), _center(second, np.mean)), "mean"


def _center(values: np.ndarray, average: Callable[[np.ndarray], Any]) -> float:
    """The average of the numbers that there are; NaN if there are none."""
    given = values[~np.isnan(values)]
    return float(f"{average(given):.{DIGITS}g}") if len(given) else np.nan


def _say_shares(
    name: str, shares: tuple[float, float], words: Words, piles: tuple[str, str]
) -> str:
    """How many graphs of each pile have something, in words."""
    for k in (0, 1):
        if not shares[1 - k]:
            return (
                f"{name}: {shares[k]:.0%} of {words.graphs} in {piles[k]}, none in {piles[1 - k]}"
            )
    first, second = usual(shares[0], shares[1], shares[1], percent=True)
    return f"{name}: {first} and {second} of {words.graphs}"


def _kinds_of(model: GraphModel) -> tuple[list[Kind], np.ndarray]:
    """Kinds of nodes, edges and surroundings, and the graphs that have them.

    Returns
    -------
    kinds : list of Kind
    has_kind : ndarray of shape (n_graphs, n_kinds), float64
    """
    graphs = model.references
    counts = model.categories
    n = len(graphs)
    found: list[tuple[float, Kind, np.ndarray]] = []
    if not counts.vocabulary.by_label:  # kinds are numbers of links, which statistics count
        return [], np.empty((n, 0))
    for table, keys, graph in counts.parts(graphs):
        if table.role not in ("together", "value", "edges", "surroundings"):
            continue  # pairs are among the statistics, and gaps
        if table.part == "graph":
            continue  # as are the data of graphs
        colors, first, place = np.unique(keys, return_index=True, return_inverse=True)
        pairs = np.unique(place.astype(np.int64) * n + graph)
        n_graphs = np.bincount(pairs // n, minlength=len(colors))
        start = np.searchsorted(pairs, np.arange(len(colors) + 1) * n)
        for i in np.flatnonzero((n_graphs >= FEWEST) & (n_graphs <= n - FEWEST)).tolist():
            own = int(graph[first[i]])
            part = int(first[i]) - _first_part(model, table, own)
            having = pairs[start[i] : start[i + 1]] % n
            found.append((abs(n_graphs[i] / n - 0.5), Kind(table, own, part), having))
    found.sort(key=lambda x: x[0])
    found = found[:MOST_KINDS]
    has_kind = np.zeros((n, len(found)))
    for j, (_, _, having) in enumerate(found):
        has_kind[having, j] = 1
    return [kind for _, kind, _ in found], has_kind


def _first_part(model: GraphModel, table: Table, graph: int) -> int:
    """The position of the first node, or edge, of a graph among those of all."""
    start = int(model.references.node_ptr[graph])
    if table.part == "edge":
        start = int(model.references.adjacency.indptr[start])
    return start
