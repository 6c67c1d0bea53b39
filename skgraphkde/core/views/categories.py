"""Parts: reference graphs -> frequencies of nodes and edges by their categories.

A *part* is a node or an arc. The counts of the references determine for the parts of other graphs
if they are new, and how frequent they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from skgraphkde._utils import progress
from skgraphkde.core.graphs.arrays import codes_in, find_in, sorted_labels
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.refinement import Messages, factorize, hash64, messages, refined
from skgraphkde.core.graphs.schema import PARTS
from skgraphkde.core.points.features import values_in_use

# Nodes or edges that a reason names.
LISTED = 5
# Where a larger share of the references' edges is new by a category, it counts by itself only; so
# does one that says who did a step, if a larger share is new by both.
OFTEN_NEW = 0.05
# Where such a share of the references has something new, it is nothing unusual.
USUALLY_NEW = 0.1
# A new value of a single category counts so many times as much as other new parts, if no reference
# has one of its own: more than all other views can say, as logarithms of p-values are added up.
NEW_VALUE_FACTOR = 1e6
# Where such a share of the references has a value of its own, new ones count as other new parts do.
SELDOM_NEW = 0.05
# A category may say who did a step if graphs have so many distinct values for each node, or more.
OFTEN_DISTINCT = 1 / 3


class ReferenceTable(NamedTuple):
    """Distinct colors of the references, ascending, with their frequencies."""

    colors: np.ndarray
    owners: np.ndarray  # index of the only reference that has the color; -2 for several
    counts: np.ndarray  # number of nodes or arcs of the color
    n_graphs: np.ndarray  # number of references that have the color

    @classmethod
    def of(cls, colors: np.ndarray, graph: np.ndarray) -> ReferenceTable:
        """Count the colors of the references.

        Parameters
        ----------
        colors : ndarray of shape (n_parts,), uint64
            Color of each node or arc of the references.
        graph : ndarray of shape (n_parts,), int
            Index of the reference of each node or arc.

        Returns
        -------
        ReferenceTable
        """
        first, number = factorize(colors)
        of_pair, _ = factorize(number * (graph.max(initial=0) + 1) + graph)
        n_graphs = np.bincount(number[of_pair], minlength=len(first))
        owners = np.where(n_graphs == 1, graph[first], -2)
        order = np.argsort(colors[first])
        columns = colors[first], owners, np.bincount(number, minlength=len(first)), n_graphs
        return cls(*(column[order] for column in columns))

    def find(self, colors: np.ndarray) -> np.ndarray:
        """Position of each color in the table; the length of the table for new ones."""
        position = find_in(self.colors, colors)
        return np.where(position >= 0, position, len(self.colors))

    def is_new(self, colors: np.ndarray, own: np.ndarray | int) -> np.ndarray:
        """Mark colors that no reference has.

        Parameters
        ----------
        colors : ndarray of shape (n_parts,), uint64
        own : ndarray of shape (n_parts,), or int
            Index of a reference that is excluded; -1 for none.

        Returns
        -------
        ndarray of shape (n_parts,), bool
        """
        return self.is_new_at(self.find(colors), own)

    def is_new_at(self, position: np.ndarray, own: np.ndarray | int) -> np.ndarray:
        """Mark positions of colors that no reference has, see :meth:`find`, as :meth:`is_new`."""
        owner = np.append(self.owners, -1)[position]
        return (owner == -1) | (owner == own)

    def n_graphs_of(self, colors: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Number of references that have each color.

        Parameters
        ----------
        colors : ndarray of shape (n_parts,), uint64
        own : ndarray of shape (n_parts,), int
            Index of the reference that has the part, and is excluded; -1 for none.

        Returns
        -------
        ndarray of shape (n_parts,), int
        """
        return np.append(self.n_graphs, 0)[self.find(colors)] - (own >= 0)

    @property
    def chance(self) -> float:
        """Share of the references' parts whose color occurs in one reference only.

        It estimates the probability that a part of another graph is new (Good, Biometrika 1953).
        """
        return float(self.counts[self.n_graphs == 1].sum() / max(self.counts.sum(), 1))


# By what a table tells its parts apart: nodes by all their categories; nodes, edges or graphs by
# one of several; nodes by their categories and by which numbers are missing; edges by the
# categories at their ends and by their own; nodes with their edges and neighbors; and pairs of
# steps that have the same value of a category.
Role = Literal["together", "value", "gaps", "edges", "surroundings", "same"]
NOTHING = ReferenceTable(np.empty(0, dtype=np.uint64), *np.empty((3, 0), dtype=np.int64))


class Vocabulary:
    """Categories of reference graphs, by which nodes and edges have colors.

    Parameters
    ----------
    by_label : bool
        Whether the categories of nodes are used; otherwise nodes are told apart by their degree.
    names : tuple of str
        Names of the categories of nodes.
    labels : tuple
        Labels of the references' nodes: a value, or a tuple with one of each category.
    edge_labels : tuple
        Categories of their edges.
    values : dict of str -> dict of str -> tuple
        Values of each category of "node", "edge" and "graph", the references themselves.

    Attributes
    ----------
    together : tuple of int
        Indices of the categories of nodes that count together in neighborhoods and edges. Where new
        pairs of values are usual, as of persons, a category would hide what is new by the others:
        it counts by itself only.
    step : int
        The category of nodes by which edges are most seldom new.
    who : tuple of int
        Other categories, of which most nodes of a graph have different values, as of persons: two
        steps with the same value are of interest.
    """

    def __init__(
        self, by_label: bool, names: tuple, labels: tuple, edge_labels: tuple, values: dict
    ) -> None:
        self.by_label = by_label
        self.names = names
        self.labels = labels
        self.edge_labels = edge_labels
        self.values = values
        self.together = tuple(range(len(names)))
        self.step = 0
        self.who: tuple[int, ...] = ()

    @classmethod
    def of(cls, references: GraphBatch, by_label: bool) -> Self:
        """Collect the categories of reference graphs."""
        names: tuple = references.schema.node_categories if by_label else ()
        # Names that no reference uses count as unknown.
        used = np.unique(np.asarray(references.labels)).tolist() if by_label else ()
        labels = tuple(references.label_names[code] for code in used)
        edge_labels = () if references.edge_labels is None else references.edge_label_names
        values = {part: values_in_use(references, part) for part in PARTS}
        vocabulary = cls(by_label, names, labels, edge_labels, values)
        if len(names) > 1:
            vocabulary._set_roles(references)
        return vocabulary

    def _set_roles(self, references: GraphBatch) -> None:
        """Choose the step, who did it, and the categories that count together."""

        def pairs_of(*categories: int) -> ReferenceTable:
            keys = self.edge_keys(references, categories)
            return ReferenceTable.of(keys, references.graph_of_arc)

        def regularity(i: int) -> tuple:
            pairs = pairs_of(i)  # of the ends of edges: steps have few, whatever their names
            return pairs.chance, len(pairs.counts), np.sort(pairs.counts).tolist()

        self.step, *others = sorted(range(len(self.names)), key=regularity)
        who = []
        together = [self.step]
        for i in progress(sorted(others)):
            values = ReferenceTable.of(self.value_keys(references, i), references.graph_of_node)
            is_who = values.n_graphs.sum() >= OFTEN_DISTINCT * references.n_nodes
            if is_who:
                who.append(i)
            if (pairs_of(self.step, i) if is_who else pairs_of(i)).chance <= OFTEN_NEW:
                together.append(i)
        self.who = tuple(who)
        self.together = tuple(sorted(together))

    def steps_of_pairs(
        self, graphs: GraphBatch, first: np.ndarray, second: np.ndarray
    ) -> list[tuple[Any, Any]]:
        """The steps of pairs of nodes, as values in an order that is the same in all graphs."""
        steps = graphs.values_by_category("node")[self.names[self.step]]
        rank = {value: i for i, value in enumerate(sorted_labels(set(steps)))}
        found = []
        for ends in zip(graphs.labels[first], graphs.labels[second], strict=True):
            a, b = (steps[code] for code in ends)
            found.append((a, b) if rank[a] <= rank[b] else (b, a))
        return found

    def same_value(self, graphs: GraphBatch, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of different steps of a graph with the same value of a category.

        Parameters
        ----------
        graphs : GraphBatch
        i : int
            Index of the category.

        Returns
        -------
        first, second : ndarray of shape (n_pairs,), int
            A node of each step; each pair of steps once for each value.
        """
        (values, who), (_, step) = (graphs.category("node", self.names[j]) for j in (i, self.step))
        labels = np.asarray(graphs.labels)
        given = np.flatnonzero(np.array([x is not None for x in values])[who[labels]])
        rows = np.column_stack([graphs.graph_of_node, who[labels], step[labels]])[given]
        rows, first = np.unique(rows, axis=0, return_index=True)
        nodes = given[first]
        pairs = [np.zeros((0, 2), dtype=np.int64)]
        for gap in range(1, len(rows)):
            is_same = (rows[gap:, :2] == rows[:-gap, :2]).all(axis=1)
            if not is_same.any():
                break
            pairs.append(np.column_stack([nodes[:-gap][is_same], nodes[gap:][is_same]]))
        return tuple(np.concatenate(pairs).T)

    def check_batch(self, graphs: GraphBatch) -> None:
        """Raise a ValueError if graphs lack the labels of the references."""
        if self.by_label:
            graphs.check_labels()

    def node_keys(self, graphs: GraphBatch) -> np.ndarray:
        """Color of each node by its label, or by its degree, shape (n_nodes,)."""
        codes = graphs.degrees
        if self.by_label:
            codes = codes_in(graphs.label_names, self.labels)
            # New labels differ from each other, as those do that only a graph left out has.
            codes = np.where(codes < 0, -1 - np.arange(len(codes)), codes)[graphs.labels]
        return hash64(codes.astype(np.uint64))

    def keys_together(self, graphs: GraphBatch, categories: tuple[int, ...]) -> np.ndarray:
        """Color of each node by some of its categories together, shape (n_nodes,)."""
        if len(categories) == len(self.names):
            return self.node_keys(graphs)
        keys = np.zeros(graphs.n_nodes, dtype=np.uint64)
        for i in categories:
            keys = hash64(keys + self.value_keys(graphs, i))
        return keys

    def node_kinds(self, graphs: GraphBatch) -> np.ndarray:
        """Color of each node by its label, shape (n_nodes,); 0 if labels are not used."""
        if self.by_label:
            return self.node_keys(graphs)
        return np.zeros(graphs.n_nodes, dtype=np.uint64)

    @property
    def named(self) -> str:
        """The category by which nodes are called: "label", or else what they are a step of."""
        return "label" if "label" in self.names else self.names[self.step]

    def value_keys(self, graphs: GraphBatch, i: int) -> np.ndarray:
        """Color of each node by one of its categories.

        Parameters
        ----------
        graphs : GraphBatch
        i : int
            Index of the category.

        Returns
        -------
        ndarray of shape (n_nodes,), uint64
        """
        return self.keys_alone(graphs, "node", self.names[i])

    def keys_alone(self, graphs: GraphBatch, part: str, name: str) -> np.ndarray:
        """Color of each node, arc, or graph, by one of its own categories."""
        (values, own), labels = graphs.category(part, name), graphs.data(part).labels
        keys = hash64(codes_in(values, self.values[part][name]).astype(np.uint64))
        return keys[own[[] if labels is None else labels]]  # None: no edges

    def gap_keys(self, graphs: GraphBatch) -> np.ndarray:
        """Color of each node by its label and its set of missing numbers, shape (n_nodes,)."""
        keys = self.node_kinds(graphs)
        for is_missing in np.isnan(np.asarray(graphs.attributes)).T:
            keys = hash64(keys + is_missing.astype(np.uint64))
        return keys

    def edge_keys(
        self, graphs: GraphBatch, categories: tuple[int, ...] | None = None
    ) -> np.ndarray:
        """Color of each arc by its category and those at its ends, shape (n_arcs,).

        Parameters
        ----------
        graphs : GraphBatch
        categories : tuple of int, default=None
            The categories of nodes that count. None: those that count together.
        """
        ends = np.zeros(graphs.n_nodes, dtype=np.uint64)
        if self.by_label:
            ends = self.keys_together(graphs, self.together if categories is None else categories)
        source = ends[graphs.source_of_arc]
        target = ends[graphs.adjacency.indices]
        pair = hash64(source) + (
            hash64(target + np.uint64(1)) if graphs.directed else hash64(target)
        )
        codes = self.edge_codes(graphs)
        return (
            hash64(pair)
            if codes is None
            else hash64(hash64(pair) + hash64(codes.astype(np.uint64)))
        )

    def edge_codes(self, graphs: GraphBatch) -> np.ndarray | None:
        """Code of the category of each arc, shape (n_arcs,); None if edges have no categories."""
        if not self.edge_labels:
            return None
        unknown = len(self.edge_labels)
        if graphs.edge_labels is None:  # of graphs without edges
            return np.full(graphs.adjacency.nnz, unknown)
        return codes_in(graphs.edge_label_names, self.edge_labels, unknown)[graphs.edge_labels]


class Table(NamedTuple):
    """How often each kind of some parts is in the references."""

    name: str
    part: str  # "node", "edge", "graph", or "pair" of two steps
    role: Role  # by what it tells its parts apart
    categories: tuple[int, ...] = ()  # indices of the categories of nodes that count
    category: str = ""  # the only category that counts, of nodes, edges or graphs; "": several
    known: ReferenceTable = NOTHING
    #: How unusual something new is: 1 if no reference has anything new, compared with the others,
    #: down to 0 if a tenth of them do, or more.
    surprise: float = 0.0
    #: How many times as much something new counts, in a graph that is no reference, and in one.
    factors: tuple[float, float] = (1.0, 1.0)

    @property
    def is_main(self) -> bool:
        """True for nodes by all their categories, edges, and pairs."""
        return self.role in ("together", "edges", "same")


class CategoryCounts:
    """Counts of the nodes and edges of references by their categories.

    Parameters
    ----------
    vocabulary : Vocabulary
    tables : dict of str -> Table
        By their names.
    """

    def __init__(self, vocabulary: Vocabulary, tables: dict[str, Table]) -> None:
        self.vocabulary = vocabulary
        self.tables = tables

    @classmethod
    def of(cls, references: GraphBatch, by_label: bool, with_edges: bool) -> Self:
        """Count the parts of reference graphs.

        Parameters
        ----------
        references : GraphBatch
        by_label : bool
            Whether to use the categories of nodes.
        with_edges : bool
            Whether to count edges.

        Returns
        -------
        CategoryCounts
            Without tables of surroundings in which nothing new is a surprise.
        """
        may_lack = references.schema.missing != "error" and references.attributes is not None
        vocabulary = references.once(Vocabulary.of, by_label)
        tables = describe_tables(vocabulary, with_gaps=may_lack, with_edges=with_edges)
        counts = cls(vocabulary, {table.name: table for table in tables})
        counted = {}
        for table, keys, graph in counts.parts(references):
            known = ReferenceTable.of(keys, graph)
            share = (np.unique(known.owners) >= 0).sum() / len(references)
            surprise = max(1 - share / USUALLY_NEW, 0.0)
            if surprise or table.role != "surroundings":
                counted[table.name] = table._replace(known=known, surprise=float(surprise))
        return cls(vocabulary, _with_factors(counted, len(references)))

    def with_role(self, *roles: str) -> list[Table]:
        """The tables with one of some roles, in their order."""
        return [table for table in self.tables.values() if table.role in roles]

    @property
    def values_of_nodes(self) -> list[Table]:
        """The tables of nodes by a single category; none, if nodes have only one."""
        return [table for table in self.with_role("value") if table.part == "node"]

    def parts(self, graphs: GraphBatch) -> Iterator[tuple[Table, np.ndarray, np.ndarray]]:
        """Generate each table, the colors of all its parts in graphs, and the graphs of these."""
        passed = None  # which tables of surroundings share
        if self.with_role("surroundings"):
            passed = self._messages(graphs)
        for table in self.tables.values():
            yield table, *self.colors(graphs, table, passed)

    def _messages(self, graphs: GraphBatch) -> list[Messages]:
        return messages(graphs, self.vocabulary.edge_codes(graphs), weighted=False)

    def colors(
        self, graphs: GraphBatch, table: Table, passed: list[Messages] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The colors of all parts of one table, and the graphs of these, shape (n_parts,) each.

        Parameters
        ----------
        graphs : GraphBatch
        table : Table
        passed : list of Messages, default=None
            Along what surroundings pass colors. None: it is found, if they are asked for.
        """
        vocabulary = self.vocabulary
        if table.role == "together":
            return vocabulary.node_keys(graphs), graphs.graph_of_node
        if table.role == "value":
            keys = vocabulary.keys_alone(graphs, table.part, table.category)
            return keys, graphs.owner(table.part)
        if table.role == "gaps":
            return vocabulary.gap_keys(graphs), graphs.graph_of_node
        if table.role == "edges":
            return vocabulary.edge_keys(graphs, table.categories), graphs.graph_of_arc
        if table.role == "surroundings":
            nodes = vocabulary.keys_together(graphs, table.categories)
            _, keys = refined(nodes, passed or self._messages(graphs), 1)
            return keys, graphs.graph_of_node
        first, second = vocabulary.same_value(graphs, *table.categories)
        steps = hash64(vocabulary.value_keys(graphs, vocabulary.step))
        return hash64(steps[first] + steps[second]), graphs.graph_of_node[first]

    def ends(self, graphs: GraphBatch, table: Table) -> tuple[np.ndarray, ...]:
        """The two nodes of each edge, or of each pair with the same value, or the one node."""
        if table.role == "same":
            return self.vocabulary.same_value(graphs, *table.categories)
        if table.role == "surroundings":
            return (np.arange(graphs.n_nodes),)
        return graphs.source_of_arc, graphs.adjacency.indices


def describe_tables(
    vocabulary: Vocabulary, *, with_gaps: bool, with_edges: bool
) -> Iterator[Table]:
    """Generate the tables that there are, before anything is counted.

    If nodes have several categories, a new value is hard to see among many new combinations: each
    category has a table of its own. Edges and surroundings are compared by the categories that
    count together, and by each one of several.

    Parameters
    ----------
    vocabulary : Vocabulary
    with_gaps : bool
        Whether nodes are told apart by their missing numbers, too.
    with_edges : bool
        Whether edges are counted.
    """
    names = vocabulary.names
    several = len(names) > 1
    if vocabulary.by_label:
        yield Table("categories", "node", "together", category="" if several else names[0])
    for i, name in enumerate(names):
        if several:
            yield Table(f"category {name}", "node", "value", (i,), name)
    if with_gaps:
        yield Table("gaps", "node", "gaps")
    for part in ("edge", "graph"):
        for name in vocabulary.values[part]:
            if with_edges or part == "graph":
                yield Table(f"{part} {name}", part, "value", category=name)
    compared = {"": vocabulary.together}
    for i, name in enumerate(names):
        if several and vocabulary.together != (i,):
            compared[f" {name}"] = (i,)
    for suffix, categories in compared.items():
        if with_edges:
            yield Table(f"edges{suffix}", "edge", "edges", categories)
    for suffix, categories in compared.items():
        if vocabulary.by_label:
            yield Table(f"surroundings{suffix}", "node", "surroundings", categories)
    for i in vocabulary.who:
        yield Table(f"same {names[i]}", "pair", "same", (i,))


def _with_factors(tables: dict[str, Table], n_references: int) -> dict[str, Table]:
    """Find how usual it is that a reference has a value of its own, for `factors`."""
    n = n_references
    owners = {}
    for table in tables.values():
        if table.category:
            owners[table.name] = {*table.known.owners.tolist()} - {-2}
    before = set[int]()
    n_owners = dict[int, int]()
    for some in sorted(owners.values(), key=len):
        before |= some
        n_owners[len(some)] = len(before)  # also of tables where as many have one
    found = dict(tables)
    for name, some in owners.items():
        k = n_owners[len(some)]
        # A reference with a value of its own is judged by the others, of which one less has.
        shares = np.array([k / n, (k - 1) / max(n - 1, 1)])
        of_new, of_reference = NEW_VALUE_FACTOR ** np.clip(1 - shares / SELDOM_NEW, 0, 1)
        found[name] = tables[name]._replace(factors=(float(of_new), float(of_reference)))
    return found


def counts_edges(edges: str | bool, references: GraphBatch, *, by_label: bool) -> bool:
    """True if edges are parts: as the parameter `edges` says, or "auto" decides.

    Neighborhoods cover the edges of labeled graphs without directions and data, unless all
    neighborhoods are new because each node has its own name.
    """
    if edges != "auto":
        return bool(edges)
    return references.edge_labels is not None or (
        by_label and (references.directed or _has_fixed_nodes(references))
    )


def _has_fixed_nodes(graphs: GraphBatch) -> bool:
    """True if no label occurs twice in a graph, such as regions of a brain."""
    pairs = graphs.graph_of_node * len(graphs.label_names) + np.asarray(graphs.labels)
    return len(np.unique(pairs)) == graphs.n_nodes > len(graphs)


def means(values: np.ndarray, graph: np.ndarray, n_graphs: int) -> np.ndarray:
    """Mean of the values of each graph's parts.

    Parameters
    ----------
    values : ndarray of shape (n_parts,)
    graph : ndarray of shape (n_parts,), int
        Index of the graph of each part.
    n_graphs : int

    Returns
    -------
    ndarray of shape (n_graphs,)
        0 for a graph without parts.
    """
    counts = np.bincount(graph, minlength=n_graphs)
    return np.bincount(graph, values, n_graphs) / np.maximum(counts, 1)


def places(graph: GraphBatch, part: str, index: np.ndarray) -> tuple[tuple, tuple]:
    """Positions of some parts of a graph, the first five of them; none of the graph itself.

    Parameters
    ----------
    graph : GraphBatch
        Batch of one graph.
    part : {"node", "edge", "graph"}
    index : ndarray of int
        Indices of nodes, or of arcs.

    Returns
    -------
    nodes : tuple of int
        The nodes, or the ends of the edges.
    edges : tuple of (int, int)
        The edges; () for nodes.
    """
    if part == "graph":
        return (), ()
    if part == "node":
        return tuple(index[:LISTED].tolist()), ()
    pairs = zip(graph.source_of_arc[index], graph.adjacency.indices[index], strict=True)
    listed = [(int(u), int(v)) for u, v in pairs if graph.directed or u < v]
    return tuple(dict.fromkeys(x for pair in listed for x in pair))[:LISTED], tuple(listed[:LISTED])
