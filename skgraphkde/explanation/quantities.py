"""Quantities: a fitted model -> numbers of its references with names: what two piles differ in.

They are the statistics of each graph, and what it has of each kind of nodes and edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from skgraphkde._words import Words, number, usual
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.scoring.model import GraphModel
from skgraphkde.core.views.categories import CategoryCounts, Table
from skgraphkde.core.views.statistics import Statistics
from skgraphkde.explanation.of_statistics import as_told, name_statistic
from skgraphkde.explanation.wording import in_two_lines, part_names

# A kind that fewer graphs have, or that fewer lack, tells little of two piles.
FEWEST = 3
# Kinds of nodes, edges or surroundings, at most: those that most graphs have.
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
#: What is compared by the names of nodes.
NAMED_NODES = "named nodes"
NAMED_EDGES = "named edges"
#: Which graphs have a number.
GIVEN = "given"
TOTALS = ("nodes", "edges", "share", "mean", "number")


class Quantity(NamedTuple):
    """A number of each graph, and what it is of."""

    kind: str  # for programs: "statistics", the name of a table, "named nodes" or "named edges"
    values: np.ndarray  # (n_graphs,); NaN where a graph has none
    form: str  # as of a Statistic; "fact" for what a graph has or lacks: 1 or 0
    plainness: float  # in (0, 1], larger for what is plainer
    key: tuple = ()  # of a statistic
    column: str = ""  # of a number of nodes or edges; "": whether a graph has something of the kind
    table: Table | None = None  # by which a kind is told apart; None: by the names of nodes
    graph: int = -1  # a graph that has it,
    part: int = -1  # and the node or edge there, by which it is named


class Quantities:
    """Numbers of each reference of a model, with names.

    They are the statistics; whether a graph has a node, an edge or surroundings of a kind; the mean
    of each number over the nodes and edges of a kind; and the same of nodes and links of one name,
    where names recur.

    Parameters
    ----------
    model : GraphModel
        With a view of statistics, and all training graphs as references.

    Attributes
    ----------
    all : list of Quantity
    values : ndarray of shape (n_graphs, n_quantities)
    plainness : ndarray of shape (n_quantities,)
    """

    def __init__(self, model: GraphModel) -> None:
        statistics = model.first(Statistics)
        if statistics is None:
            raise ValueError("the detector has no view of statistics, whose numbers are compared")
        self.graphs = model.references
        self.counts = model.categories
        self.vocabulary = statistics.vocabulary_
        self.all = [
            *_of_statistics(statistics, self.graphs),
            *_of_kinds(self.graphs, self.counts),
            *_of_names(self.graphs),
        ]
        self.values = np.column_stack([x.values for x in self.all])
        self.plainness = np.array([x.plainness for x in self.all])

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
        quantity = self.all[j]
        first = quantity.values[is_first]
        second = quantity.values[~is_first]
        words = self.graphs.schema.words
        name = self._name(quantity, words)
        if quantity.form == "fact":
            numbers = float(first.mean()), float(second.mean())
            text = _say_shares(name, numbers, words, piles)
        else:
            form = quantity.form
            numbers, average = _centers(as_told(form, first), as_told(form, second))
            told = _numbers_in_words(numbers, is_share=form in SHARES)
            of = "number of " * (form in ("log", "log1p")) + "share of " * (form in SHARES)
            text = f"{of}{name}: {told} ({average})"
        return {
            "kind": quantity.kind,
            "what": self._name(quantity, Words()),
            "finding": text,
            "first": numbers[0],
            "second": numbers[1],
        }

    def _name(self, quantity: Quantity, words: Words) -> str:
        """What a quantity is of, in words."""
        if quantity.key:
            name = name_statistic(quantity.key, words, self.vocabulary)
            return f"{name} is given" if quantity.kind == GIVEN else name
        graph = self.graphs[quantity.graph]
        table = quantity.table
        if table is not None:
            name = part_names(graph, table, self.counts, words)[quantity.part]
            if table.role == "edges" and graph.edge_labels is None:
                name = f"{words.edges} {name}"
        elif quantity.kind == NAMED_NODES:
            name = str(graph.ids_by_graph()[0][quantity.part])
        else:
            ids = graph.ids_by_graph()[0]
            source = ids[graph.source_of_arc[quantity.part]]
            target = ids[graph.adjacency.indices[quantity.part]]
            name = f"{source} {'->' if graph.directed else '-'} {target}"
        if quantity.column:
            name = f"{quantity.column} of {name}"
        return in_two_lines(name, ())[0]


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
            share = _percent(shares[k])
            return f"{name}: {share} of {words.graphs} in {piles[k]}, none in {piles[1 - k]}"
    first, second = usual(shares[0], shares[1], shares[1], percent=True)
    return f"{name}: {first} and {second} of {words.graphs}"


def _percent(share: float) -> str:
    """A share in words, which is not 0 or all unless it is."""
    text = f"{share:.0%}"
    if text == "0%" and share > 0:
        return f"{100 * share:.1g}%"
    return f"{100 * share:.4g}%" if text == "100%" else text


def _numbers_in_words(numbers: tuple[float, float], *, is_share: bool) -> str:
    """Two numbers, with as many digits as tell one from the other."""
    first, second = numbers
    if np.isnan(first) or np.isnan(second):
        return " and ".join("none" if np.isnan(x) else number(x) for x in numbers)
    return " and ".join(usual(first, second, second, percent=is_share))


def _of_statistics(statistics: Statistics, graphs: GraphBatch) -> Iterator[Quantity]:
    """Generate the statistics of the graphs as a whole, and which graphs have a number."""
    columns = zip(statistics.keys_, statistics.forms_, statistics.table_.T, strict=True)
    for key, form, values in columns:
        if graphs.directed and key == ("edges",):  # the view counts pairs that are linked
            values = np.log1p(graphs.n_edges_per_graph.astype(float))
        if graphs.directed and key == ("rounds",):
            continue
        plainness = OF_TOTALS if key[0] in TOTALS else OF_SHAPE
        yield Quantity("statistics", values, form, plainness, key=key)
        is_given = ~np.isnan(values)
        if key[0] == "number" and FEWEST <= is_given.sum() <= len(graphs) - FEWEST:
            yield Quantity(GIVEN, is_given.astype(float), "fact", OF_TOTALS, key=key)


def _of_kinds(graphs: GraphBatch, counts: CategoryCounts) -> Iterator[Quantity]:
    """Generate kinds of nodes, edges and surroundings: who has them, and their numbers."""
    if not counts.vocabulary.by_label:  # kinds are numbers of links, which statistics count
        return
    for table, keys, _ in counts.parts(graphs):
        if table.role not in ("together", "value", "edges", "surroundings"):
            continue  # pairs are among the statistics, and gaps
        if table.part == "graph":
            continue  # as are the data of graphs
        plainness = OF_SURROUNDINGS if table.role == "surroundings" else OF_PARTS
        kinds = _Kinds(table.name, table.part, keys, plainness, table)
        yield from _having(graphs, kinds)
        if table.role != "surroundings":
            for column, numbers in _numbers_of(graphs, table.part):
                yield from _means(graphs, kinds, numbers, column)


def _of_names(graphs: GraphBatch) -> Iterator[Quantity]:
    """Generate what nodes and links of one name have, where names recur from graph to graph."""
    if graphs.name_keys is None:
        return
    distinct, names = np.unique(graphs.name_keys, return_inverse=True)
    source = graphs.source_of_arc
    ends = np.column_stack([names[source], names[graphs.adjacency.indices]])
    if not graphs.directed:
        ends.sort(axis=1)
    pairs = ends[:, 0] * len(distinct) + ends[:, 1]
    nodes = _Kinds(NAMED_NODES, "node", names, OF_PARTS)
    edges = _Kinds(NAMED_EDGES, "edge", pairs, OF_PARTS)
    totals = nodes._replace(plainness=OF_TOTALS)
    yield from _having(graphs, nodes)
    yield from _having(graphs, edges)
    links = graphs.schema.words.edges
    degrees = np.diff(graphs.adjacency.indptr).astype(float)
    yield from _means(graphs, totals, degrees, links)
    for column, numbers in _numbers_of(graphs, "node"):
        yield from _means(graphs, nodes, numbers, column)
    for column, numbers in _numbers_of(graphs, "edge"):
        yield from _means(graphs, edges, numbers, column)
        sums = np.bincount(source, np.nan_to_num(numbers), graphs.n_nodes)
        yield from _means(graphs, totals, sums, f"sum of {column} of {links}")


def _numbers_of(graphs: GraphBatch, part: str) -> Iterator[tuple[str, np.ndarray]]:
    """Generate the numbers of nodes or edges, with their names."""
    if part == "edge" and graphs.schema.edge_weight is not None:
        yield graphs.schema.edge_weight, np.asarray(graphs.adjacency.data)
    numbers = graphs.data(part).numbers
    if numbers is not None:
        columns = graphs.schema.node_columns if part == "node" else graphs.schema.edge_columns
        yield from zip(columns, np.asarray(numbers).T, strict=True)


class _Kinds(NamedTuple):
    """All nodes or edges of graphs, and by what they are told apart."""

    name: str  # for programs
    part: str  # "node" or "edge"
    keys: np.ndarray  # (n_parts,), equal for those of one kind
    plainness: float
    table: Table | None = None  # that has the keys; None: the names of nodes


class _Groups(NamedTuple):
    """Parts of the same kind, of the kinds that are compared."""

    first: np.ndarray  # (n_kinds,), a part of each
    pairs: np.ndarray  # (n_pairs, 2), kinds and graphs that have them
    part: np.ndarray  # (n_chosen,), parts of these,
    pair: np.ndarray  # and the pair of each


def _grouped(keys: np.ndarray, graph: np.ndarray, most: int) -> _Groups:
    """Group parts by kind and graph.

    Parameters
    ----------
    keys : ndarray of shape (n_parts,), int
    graph : ndarray of shape (n_parts,), int
    most : int
        Graphs that have a kind, at most. Of too many kinds, those in most graphs are chosen.
    """
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    rows = np.column_stack([kind.reshape(-1), graph])
    pairs, pair = np.unique(rows, axis=0, return_inverse=True)
    n_graphs = np.bincount(pairs[:, 0], minlength=len(first))
    enough = np.flatnonzero((n_graphs >= FEWEST) & (n_graphs <= most))
    chosen = enough[np.argsort(-n_graphs[enough], kind="stable")[:MOST_KINDS]]
    place = np.full(len(first), -1)
    place[chosen] = np.arange(len(chosen))
    is_chosen = place[pairs[:, 0]] >= 0
    place_of_pair = np.where(is_chosen, is_chosen.cumsum() - 1, -1)
    pairs = pairs[is_chosen]
    pairs[:, 0] = place[pairs[:, 0]]
    pair = place_of_pair[pair.reshape(-1)]
    part = np.flatnonzero(pair >= 0)
    return _Groups(first[chosen], pairs, part, pair[part])


def _having(graphs: GraphBatch, kinds: _Kinds) -> Iterator[Quantity]:
    """Generate whether graphs have something of each kind, which some have and some lack."""
    graph = graphs.owner(kinds.part)
    groups = _grouped(kinds.keys, graph, len(graphs) - FEWEST)
    values = np.zeros((len(groups.first), len(graphs)))
    values[groups.pairs[:, 0], groups.pairs[:, 1]] = 1
    for has, first in zip(values, groups.first.tolist(), strict=True):
        yield _quantity(graphs, kinds, has, "fact", "", first)


def _means(
    graphs: GraphBatch, kinds: _Kinds, numbers: np.ndarray, column: str
) -> Iterator[Quantity]:
    """Generate the mean of a number over what graphs have of each kind."""
    is_given = np.flatnonzero(~np.isnan(numbers))
    graph = graphs.owner(kinds.part)
    groups = _grouped(kinds.keys[is_given], graph[is_given], len(graphs))
    n_pairs = len(groups.pairs)
    sums = np.bincount(groups.pair, numbers[is_given][groups.part], n_pairs)
    means = sums / np.bincount(groups.pair, minlength=n_pairs)
    values = np.full((len(groups.first), len(graphs)), np.nan)
    values[groups.pairs[:, 0], groups.pairs[:, 1]] = means
    for of_kind, first in zip(values, is_given[groups.first].tolist(), strict=True):
        yield _quantity(graphs, kinds, of_kind, "number", column, first)


def _quantity(
    graphs: GraphBatch, kinds: _Kinds, values: np.ndarray, form: str, column: str, first: int
) -> Quantity:
    """What graphs have of a kind, which is named by its first node or edge."""
    graph = int(graphs.owner(kinds.part)[first])
    start = int(graphs.node_ptr[graph])
    if kinds.part == "edge":
        start = int(graphs.adjacency.indptr[start])
    return Quantity(
        kinds.name, values, form, kinds.plainness, (), column, kinds.table, graph, first - start
    )
