"""GraphBatch: many graphs laid end to end.

It takes flat arrays (offsets, a block-diagonal matrix of arcs, the data of nodes and arcs) and is
an immutable sequence of graphs that scikit-learn's splitters can index. It is the only graph type
after :mod:`skgraphkde.graphs.readers`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.arrays import (
    LARGEST,
    columns_by_name,
    frozen,
    group_rows,
    merged_codes,
    offsets,
    ranges,
)
from skgraphkde.graphs.schema import PARTS, FittedSchema
from skgraphkde.persistence import State, check_distinct, register

__all__ = ["GraphBatch"]

# The arguments of a batch, in the order of the constructor.
DATA = tuple(f"{x}{y}" for x in PARTS.values() for y in ("labels", "label_names", "attributes"))
ARGUMENTS = ("node_ptr", "adjacency", *DATA, "schema")


@register
class GraphBatch:
    """An immutable sequence of graphs, stored as flat arrays.

    Build one with :func:`skgraphkde.read_graphs`, which checks its input; the constructor does
    not.

    Parameters
    ----------
    node_ptr : ndarray of shape (n_graphs + 1,)
        Graph ``i`` owns the nodes ``node_ptr[i]`` to ``node_ptr[i + 1] - 1``.
    adjacency : csr_array of shape (n_nodes, n_nodes)
        One entry per arc, from row to column, with a positive weight; 1 for edges without. It is
        block-diagonal, with a zero diagonal and sorted columns. In undirected graphs each edge is
        two arcs. Parallel edges, which have different data, are several entries.
    labels : ndarray of shape (n_nodes,), default=None
        The index of each node's category in `label_names`.
    label_names : sequence of hashable, default=()
        The vocabulary of the nodes; with several categories per node its items are tuples.
    attributes : ndarray of shape (n_nodes, n_attributes), default=None
        The numbers of each node. NaN is a missing one, if ``schema.missing`` is "indicate".
    edge_labels, edge_label_names, edge_attributes : default=None, (), None
        Categories and numbers of the arcs, in the order of the entries of `adjacency`.
    graph_labels, graph_label_names, graph_attributes : default=None, (), None
        Categories and numbers of the graphs themselves.
    schema : FittedSchema, default=None
        Attribute names and types, and whether graphs are directed. None: undirected, with the
        category "label" and the numbers "x".

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import read_graphs
    >>> batch = read_graphs([nx.path_graph(3), nx.cycle_graph(4), nx.star_graph(2)])
    >>> batch
    GraphBatch(n_graphs=3, n_nodes=10, n_edges=8)
    >>> batch[1:].n_nodes_per_graph.tolist()
    [4, 3]
    >>> sorted(batch[[2]].to_networkx()[0].edges)
    [(0, 1), (0, 2)]
    """

    def __init__(
        self,
        node_ptr: np.ndarray,
        adjacency: sp.csr_array,
        labels: np.ndarray | None = None,
        label_names: Sequence[Hashable] = (),
        attributes: np.ndarray | None = None,
        edge_labels: np.ndarray | None = None,
        edge_label_names: Sequence[Hashable] = (),
        edge_attributes: np.ndarray | None = None,
        graph_labels: np.ndarray | None = None,
        graph_label_names: Sequence[Hashable] = (),
        graph_attributes: np.ndarray | None = None,
        schema: FittedSchema | None = None,
    ) -> None:
        self.node_ptr = frozen(np.asarray(node_ptr, dtype=np.int64))
        self.adjacency = sp.csr_array(
            tuple(map(frozen, (adjacency.data, adjacency.indices, adjacency.indptr))),
            shape=adjacency.shape,
        )
        self.labels = _array(labels, np.int64)
        self.label_names = tuple(label_names)
        self.attributes = _array(attributes, np.float64)
        self.edge_labels = _array(edge_labels, np.int64)
        self.edge_label_names = tuple(edge_label_names)
        self.edge_attributes = _array(edge_attributes, np.float64)
        self.graph_labels = _array(graph_labels, np.int64)
        self.graph_label_names = tuple(graph_label_names)
        self.graph_attributes = _array(graph_attributes, np.float64)
        self.schema = self._default_schema() if schema is None else schema

    def _default_schema(self) -> FittedSchema:
        labels = (("label",) if x is not None else () for x in (self.labels, self.edge_labels))
        numbers = (
            () if x is None else (("x", x.shape[1]),)
            for x in (self.attributes, self.edge_attributes)
        )
        (nodes, edges), (node_numbers, edge_numbers) = labels, numbers
        return FittedSchema(nodes, node_numbers, edges, edge_numbers)

    # -- sizes ---------------------------------------------------------------------------------

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.node_ptr) - 1

    @property
    def n_nodes(self) -> int:
        """Total number of nodes in all graphs."""
        return int(self.node_ptr[-1])

    @property
    def n_nodes_per_graph(self) -> np.ndarray:
        """Number of nodes of each graph, shape (n_graphs,)."""
        return np.diff(self.node_ptr)

    @property
    def directed(self) -> bool:
        """True if arcs have a direction."""
        return self.schema.directed

    @property
    def n_edges_per_graph(self) -> np.ndarray:
        """Number of edges of each graph, shape (n_graphs,); of directed graphs, of arcs."""
        return self.n_arcs_per_graph if self.directed else self.n_arcs_per_graph // 2

    @property
    def n_arcs_per_graph(self) -> np.ndarray:
        """Number of arcs of each graph, shape (n_graphs,)."""
        return np.diff(self.adjacency.indptr[self.node_ptr])

    @cached_property
    def underlying(self) -> sp.csr_array:
        """The adjacency of the underlying simple undirected graphs, shape (n_nodes, n_nodes).

        The weights of parallel edges are added; of opposite arcs, the larger weight counts.
        """
        is_simple = (np.diff(self.source_of_arc * self.n_nodes + self.adjacency.indices) > 0).all()
        if is_simple and not self.directed:
            return self.adjacency
        simple = self.adjacency.copy()
        simple.sum_duplicates()
        if self.directed:
            simple = sp.csr_array(simple.maximum(simple.T))
            simple.sort_indices()
        return simple

    @property
    def degrees(self) -> np.ndarray:
        """Number of neighbors of each node, shape (n_nodes,), in both directions."""
        return np.diff(self.underlying.indptr)

    def label_codes(self, code_of: Mapping[Hashable, int], unknown: int) -> np.ndarray:
        """The code of each node's label in a vocabulary that `fit` saw.

        Parameters
        ----------
        code_of : mapping from label to int
        unknown : int
            The code of all other labels.

        Returns
        -------
        ndarray of int, shape (n_nodes,)
        """
        codes = np.array([code_of.get(name, unknown) for name in self.label_names], dtype=int)
        return codes[self.labels]

    def check_labels(self) -> None:
        """Raise a ValueError if the nodes have no labels, where the training graphs had them."""
        if self.labels is None:
            raise ValueError(
                "fit saw node labels; these graphs have none: read them as those of fit, such as "
                "with schema=GraphSchema(node_categories=...)"
            )

    @property
    def graph_of_node(self) -> np.ndarray:
        """Index of the graph that owns each node, shape (n_nodes,)."""
        return np.repeat(np.arange(self.n_graphs), self.n_nodes_per_graph)

    @property
    def source_of_arc(self) -> np.ndarray:
        """The node from which each arc comes, shape (n_arcs,)."""
        return np.repeat(np.arange(self.n_nodes), np.diff(self.adjacency.indptr))

    @property
    def graph_of_arc(self) -> np.ndarray:
        """Index of the graph that owns each arc, shape (n_arcs,)."""
        return np.repeat(np.arange(self.n_graphs), self.n_arcs_per_graph)

    def owner(self, part: str) -> np.ndarray:
        """Index of the graph of each row of the data of a part, "node", "edge" or "graph"."""
        if part == "graph":
            return np.arange(self.n_graphs)
        return self.graph_of_node if part == "node" else self.graph_of_arc

    @property
    def shape(self) -> tuple[int]:
        """``(n_graphs,)``, which scikit-learn checks before it indexes with an array."""
        return (self.n_graphs,)

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take, in bytes."""
        csr = self.adjacency
        arrays = [self.node_ptr, csr.data, csr.indices, csr.indptr, self.labels, self.attributes]
        arrays += [self.edge_labels, self.edge_attributes, self.graph_labels]
        arrays.append(self.graph_attributes)
        return sum(array.nbytes for array in arrays if array is not None)

    def __reduce__(self) -> tuple:
        return GraphBatch, tuple(getattr(self, name) for name in ARGUMENTS)

    def __len__(self) -> int:
        return self.n_graphs

    def __repr__(self) -> str:
        attributes, edge_attributes = self.attributes, self.edge_attributes
        of_graphs = self.graph_attributes
        sizes = {
            "n_graphs": self.n_graphs,
            "n_nodes": self.n_nodes,
            "n_arcs" if self.directed else "n_edges": self.n_edges_per_graph.sum(),
            "n_labels": None if self.labels is None else len(self.label_names),
            "n_attributes": None if attributes is None else attributes.shape[1],
            "n_edge_labels": None if self.edge_labels is None else len(self.edge_label_names),
            "n_edge_attributes": None if edge_attributes is None else edge_attributes.shape[1],
            "n_graph_attributes": None if of_graphs is None else of_graphs.shape[1],
        }
        parts = [f"{name}={size}" for name, size in sizes.items() if size is not None]
        return f"GraphBatch({', '.join(parts)})"

    # -- state ---------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """The arrays and names, for a file."""
        return {name: getattr(self, name) for name in ARGUMENTS}

    @classmethod
    def from_state(cls, state: State) -> GraphBatch:
        """The graphs in a file, for which everything holds that the constructor relies on."""
        schema = state.take_instance("schema", FittedSchema)
        node_ptr = state.take_array("node_ptr", np.int64, (None,))
        adjacency = state.take("adjacency", sp.csr_array)
        _check_structure(state, schema, node_ptr, adjacency)
        n_rows = (adjacency.shape[0], adjacency.nnz, len(node_ptr) - 1)
        data = [_take_data(state, x, n, schema) for x, n in zip(PARTS, n_rows, strict=True)]
        return cls(node_ptr, adjacency, **dict(zip(DATA, chain(*data), strict=True)), schema=schema)

    # -- slicing and joining -------------------------------------------------------------------

    def __getitem__(self, key: Any) -> GraphBatch:
        """Graphs `key` (an int, a slice, an index array or a boolean mask), always as a batch."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes anything with a shape as X[key, ...]
        if isinstance(key, int | np.integer):
            if not -self.n_graphs <= key < self.n_graphs:
                raise IndexError(f"graph {key} is out of range: the batch has {self.n_graphs}")
            key = [key]
        if isinstance(key, slice) and key.indices(self.n_graphs) == (0, self.n_graphs, 1):
            return self  # which is immutable
        return self._take(np.arange(self.n_graphs)[key])

    def _take(self, index: np.ndarray) -> GraphBatch:
        start, stop = self.node_ptr[index], self.node_ptr[index + 1]
        nodes = ranges(start, stop)
        indptr = self.adjacency.indptr
        arcs = ranges(indptr[start], indptr[stop])  # the rows of a graph are contiguous
        node_ptr = offsets(stop - start)
        shift = np.repeat(node_ptr[:-1] - start, indptr[stop] - indptr[start])
        adjacency = sp.csr_array(
            (
                self.adjacency.data[arcs],
                self.adjacency.indices[arcs] + shift,
                offsets(np.diff(indptr)[nodes]),
            ),
            shape=(len(nodes), len(nodes)),
        )
        return GraphBatch(
            node_ptr,
            adjacency,
            _taken(self.labels, nodes),
            self.label_names,
            _taken(self.attributes, nodes),
            _taken(self.edge_labels, arcs),
            self.edge_label_names,
            _taken(self.edge_attributes, arcs),
            _taken(self.graph_labels, index),
            self.graph_label_names,
            _taken(self.graph_attributes, index),
            self.schema,
        )

    @staticmethod
    def concatenate(batches: Sequence[GraphBatch]) -> GraphBatch:
        """Join batches into one and merge their vocabularies.

        Parameters
        ----------
        batches : sequence of GraphBatch
            At least one, all with the same data of nodes and edges.

        Returns
        -------
        GraphBatch

        Raises
        ------
        ValueError
            If there is nothing to join, or batches have different data.
        """
        if not batches:
            raise ValueError("nothing to concatenate: give at least one GraphBatch")
        has_edges = [batch for batch in batches if batch.adjacency.nnz]
        first = (has_edges or batches)[0].schema
        batches = [x if x.adjacency.nnz else with_edge_columns(x, first) for x in batches]
        first = batches[0].schema
        for batch in batches[1:]:
            conflict = first.conflict(batch.schema)
            if conflict is not None:
                raise ValueError(f"batches differ in what was read of their graphs: {conflict}")
        indptr = offsets(np.concatenate([np.diff(x.adjacency.indptr) for x in batches]))
        first_node = offsets([batch.n_nodes for batch in batches])
        indices = np.concatenate(
            [b.adjacency.indices + n for b, n in zip(batches, first_node[:-1], strict=True)]
        )
        adjacency = sp.csr_array(
            (np.concatenate([b.adjacency.data for b in batches]), indices, indptr),
            shape=(first_node[-1], first_node[-1]),
        )
        node_ptr = offsets(np.concatenate([batch.n_nodes_per_graph for batch in batches]))
        names = (DATA[i : i + 3] for i in range(0, len(DATA), 3))
        data = [_joined([tuple(getattr(b, x) for x in of) for b in batches]) for of in names]
        schema = first.joined(batch.schema for batch in batches[1:])
        of_parts = dict(zip(DATA, chain(*data), strict=True))
        return GraphBatch(node_ptr, adjacency, **of_parts, schema=schema)

    def replace(self, **changes: Any) -> GraphBatch:
        """A copy with other arrays, which are named as in the constructor.

        Other `attributes` are those that something computed, and have no names.
        """
        parts = {name: getattr(self, name) for name in ARGUMENTS} | changes
        if "attributes" in changes and "schema" not in changes:
            attributes = changes["attributes"]
            numbers = () if attributes is None else (("x", attributes.shape[1]),)
            parts["schema"] = replace(self.schema, node_numbers=numbers)
        return GraphBatch(**parts)

    # -- conversion ----------------------------------------------------------------------------

    def to_networkx(self) -> list[nx.Graph]:
        """Convert to networkx graphs with the nodes 0, 1, ...

        Returns
        -------
        list of networkx.Graph
            Or DiGraph, MultiGraph or MultiDiGraph, as needed. Data of nodes and edges have the
            names of the schema; edges have the attribute "weight" (or the name that was read) if
            any weight of the batch differs from 1.
        """
        adjacency = self.adjacency.tocoo()
        row, column = adjacency.row, adjacency.col
        arcs = np.flatnonzero(self.directed | (row < column))
        has_parallel = len(group_rows(row[arcs], column[arcs])[0]) < len(arcs)
        kind = {
            (False, False): nx.Graph,
            (True, False): nx.DiGraph,
            (False, True): nx.MultiGraph,
            (True, True): nx.MultiDiGraph,
        }[self.directed, has_parallel]
        of_arcs = _values_by_name(self, "edge", arcs)
        if (self.adjacency.data != 1).any():
            of_arcs[self.schema.edge_weight or "weight"] = adjacency.data[arcs].tolist()
        of_nodes = _values_by_name(self, "node", np.arange(self.n_nodes))
        of_graphs = _values_by_name(self, "graph", np.arange(len(self)))
        data = _records(of_graphs, len(self))
        records = _records(of_arcs, len(arcs)), _records(of_nodes, self.n_nodes)
        arc_ptr = np.searchsorted(row[arcs], self.node_ptr)
        graphs = []
        for i, (start, stop) in enumerate(zip(self.node_ptr[:-1], self.node_ptr[1:], strict=True)):
            graph = nx.empty_graph(0, create_using=kind)
            graph.graph.update(data[i])
            own = slice(arc_ptr[i], arc_ptr[i + 1])
            graph.add_nodes_from(enumerate(records[1][start:stop]))
            ends = (x[arcs[own]] - start for x in (row, column))
            graph.add_edges_from(zip(*(x.tolist() for x in ends), records[0][own], strict=True))
            graphs.append(graph)
        return graphs


def with_edge_columns(batch: GraphBatch, schema: FittedSchema) -> GraphBatch:
    """Graphs without edges, with the columns that edges have in other graphs.

    Parameters
    ----------
    batch : GraphBatch
    schema : FittedSchema
        The schema of the other graphs.
    """
    width = sum(width for _, width in schema.edge_numbers)
    return batch.replace(
        edge_labels=np.zeros(0, dtype=np.int64) if schema.edge_categories else None,
        edge_label_names=(),
        edge_attributes=np.zeros((0, width)) if width else None,
        schema=replace(
            batch.schema,
            edge_categories=schema.edge_categories,
            edge_numbers=schema.edge_numbers,
        ),
    )


def _array(values: np.ndarray | None, dtype: Any) -> np.ndarray | None:
    return None if values is None else frozen(np.asarray(values, dtype=dtype))


def _taken(values: np.ndarray | None, index: np.ndarray) -> np.ndarray | None:
    return None if values is None else values[index]


def _joined(parts: list[tuple]) -> tuple[Any, Any, Any]:
    """Labels, their names, and numbers, of all batches."""
    labels, names, numbers = zip(*parts, strict=True)
    joined = (None, ()) if labels[0] is None else merged_codes(list(labels), list(names))
    return joined[0], joined[1], None if numbers[0] is None else np.concatenate(numbers)


# -- files -----------------------------------------------------------------------------------------


def _check_structure(
    state: State, schema: FittedSchema, node_ptr: np.ndarray, adjacency: sp.csr_array
) -> None:
    """Raise a ValueError unless nodes and arcs are as the constructor describes them."""
    n_nodes = adjacency.shape[0]
    state.check(adjacency.shape == (n_nodes, n_nodes), "adjacency is not square")
    is_ptr = len(node_ptr) > 1 and node_ptr[0] == 0 and node_ptr[-1] == n_nodes
    state.check(is_ptr and (np.diff(node_ptr) > 0).all(), "node_ptr does not ascend")
    graph_of_node = np.repeat(np.arange(len(node_ptr) - 1), np.diff(node_ptr))
    row, column = np.repeat(np.arange(n_nodes), np.diff(adjacency.indptr)), adjacency.indices
    are_within = (graph_of_node[row] == graph_of_node[column]).all()
    state.check(are_within, "adjacency has an edge between graphs")
    weights = adjacency.data
    are_weights = weights.dtype == np.float64 and ((weights > 0) & (weights <= LARGEST)).all()
    state.check(are_weights, "adjacency has weights that are not positive numbers")
    has_data = bool(schema.edge_categories or schema.edge_numbers)
    is_sorted = (np.diff(row * n_nodes + column) >= (0 if has_data else 1)).all()
    state.check(is_sorted, "the arcs of adjacency are not sorted")
    state.check((row != column).all(), "adjacency has a self-loop")
    is_symmetric = schema.directed or not (adjacency != adjacency.T).nnz
    state.check(is_symmetric, "adjacency is not that of undirected graphs")


def _take_data(state: State, part: str, n_rows: int, schema: FittedSchema) -> tuple:
    """Labels, their names, and numbers, of nodes, arcs or graphs, as the schema has them."""
    prefix = PARTS[part]
    categories = schema.names(f"{part}_categories")
    width = sum(width for _, width in getattr(schema, f"{part}_numbers"))
    labels = state.take_optional(f"{prefix}labels", np.ndarray)
    names = state.take(f"{prefix}label_names", tuple)
    check_distinct(names, f"GraphBatch: {prefix}label_names has a label twice")
    are_names = len(categories) < 2 or all(
        type(x) is tuple and len(x) == len(categories) for x in names
    )
    state.check(are_names, f"{prefix}label_names are not tuples")
    fits = (labels is None) == (not categories)
    if labels is not None and fits:
        fits = labels.dtype == np.int64 and labels.shape == (n_rows,)
        fits = fits and bool(((labels >= 0) & (labels < len(names))).all())
    state.check(fits, f"{prefix}labels do not fit {prefix}label_names")
    numbers = state.take_optional(f"{prefix}attributes", np.ndarray)
    fits = (numbers is None) == (width == 0)
    if numbers is not None and fits:
        fits = numbers.dtype == np.float64 and numbers.shape == (n_rows, width)
        is_missing = np.isnan(numbers) & (schema.missing == "indicate")
        fits = fits and bool(((np.abs(numbers) <= LARGEST) | is_missing).all())
    state.check(fits, f"{prefix}attributes do not fit, or are not finite")
    return labels, names, numbers


# -- networkx --------------------------------------------------------------------------------------


def _values_by_name(batch: GraphBatch, part: str, index: np.ndarray) -> dict[str, list]:
    """Values of each attribute of some nodes, arcs or graphs: categories, numbers, vectors."""
    prefix = PARTS[part]
    names = batch.schema.names(f"{part}_categories")
    codes, vocabulary = getattr(batch, f"{prefix}labels"), getattr(batch, f"{prefix}label_names")
    values: dict[str, list] = {}
    if codes is not None:
        labels = [vocabulary[code] for code in codes[index]]
        for i, name in enumerate(names):
            values[name] = [label[i] for label in labels] if len(names) > 1 else labels
    numbers = columns_by_name(
        getattr(batch, f"{prefix}attributes"), getattr(batch.schema, f"{part}_numbers")
    )
    for name, column in numbers.items():
        rows = column[index]
        is_number = rows.shape[1] == 1
        values[name] = rows[:, 0].tolist() if is_number else [row.copy() for row in rows]
    return values


def _records(columns: dict[str, list], n: int) -> list[dict[str, Any]]:
    """A dict for each row of columns."""
    if not columns:
        return [{} for _ in range(n)]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
