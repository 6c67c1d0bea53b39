"""GraphBatch: many graphs laid end to end.

It takes flat arrays (offsets, a block-diagonal adjacency matrix, labels, attributes) and is an
immutable sequence of graphs that scikit-learn's splitters can index. It is the only graph type
after :mod:`skgraphkde.graphs.readers`. This module also has the array helpers for things laid end
to end.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp

from skgraphkde.persistence import State, register

__all__ = ["GraphBatch"]

LARGEST = 1e100  # larger numbers overflow when they are squared and added


@register
class GraphBatch:
    """An immutable sequence of undirected graphs, stored as flat arrays.

    Build one with :func:`skgraphkde.read_graphs`, which checks its input; the constructor does
    not.

    Parameters
    ----------
    node_ptr : ndarray of shape (n_graphs + 1,)
        Graph ``i`` owns the nodes ``node_ptr[i]`` to ``node_ptr[i + 1] - 1``.
    adjacency : csr_array of shape (n_nodes, n_nodes)
        Block-diagonal and symmetric, with a zero diagonal and positive weights. Edges without a
        weight have the weight 1.
    labels : ndarray of shape (n_nodes,), default=None
        The index of each node's label in `label_names`.
    label_names : sequence of hashable, default=()
        The vocabulary of the node labels.
    attributes : ndarray of shape (n_nodes, n_attributes), default=None
        One feature vector per node.

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
    ) -> None:
        self.node_ptr = _frozen(np.asarray(node_ptr, dtype=np.int64))
        self.adjacency = sp.csr_array(
            tuple(map(_frozen, (adjacency.data, adjacency.indices, adjacency.indptr))),
            shape=adjacency.shape,
        )
        self.labels = None if labels is None else _frozen(np.asarray(labels, dtype=np.int64))
        self.label_names = tuple(label_names)
        self.attributes = (
            None if attributes is None else _frozen(np.asarray(attributes, dtype=np.float64))
        )

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
    def n_edges_per_graph(self) -> np.ndarray:
        """Number of undirected edges of each graph, shape (n_graphs,)."""
        return np.diff(self.adjacency.indptr[self.node_ptr]) // 2

    @property
    def degrees(self) -> np.ndarray:
        """Number of neighbors of each node, shape (n_nodes,); edge weights are ignored."""
        return np.diff(self.adjacency.indptr)

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
                "by read_graphs(graphs, node_label=...)"
            )

    @property
    def graph_of_node(self) -> np.ndarray:
        """Index of the graph that owns each node, shape (n_nodes,)."""
        return np.repeat(np.arange(self.n_graphs), self.n_nodes_per_graph)

    @property
    def shape(self) -> tuple[int]:
        """``(n_graphs,)``, which scikit-learn checks before it indexes with an array."""
        return (self.n_graphs,)

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take, in bytes."""
        csr = self.adjacency
        arrays = [self.node_ptr, csr.data, csr.indices, csr.indptr, self.labels, self.attributes]
        return sum(array.nbytes for array in arrays if array is not None)

    def __reduce__(self) -> tuple:
        parts = (self.node_ptr, self.adjacency, self.labels, self.label_names, self.attributes)
        return GraphBatch, parts

    def __len__(self) -> int:
        return self.n_graphs

    def __repr__(self) -> str:
        parts = [
            f"n_graphs={self.n_graphs}",
            f"n_nodes={self.n_nodes}",
            f"n_edges={self.adjacency.nnz // 2}",
        ]
        if self.labels is not None:
            parts.append(f"n_labels={len(self.label_names)}")
        if self.attributes is not None:
            parts.append(f"n_attributes={self.attributes.shape[1]}")
        return f"GraphBatch({', '.join(parts)})"

    # -- state ---------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """What a file keeps."""
        names = ("node_ptr", "adjacency", "labels", "label_names", "attributes")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_state(cls, state: State) -> GraphBatch:
        """The graphs in a file, for which everything holds that the constructor relies on."""
        node_ptr = state.take_array("node_ptr", np.int64, (None,))
        adjacency = state.take("adjacency", sp.csr_array)
        n_nodes = adjacency.shape[0]
        state.check(adjacency.shape == (n_nodes, n_nodes), "adjacency is not square")
        is_ptr = len(node_ptr) > 1 and node_ptr[0] == 0 and node_ptr[-1] == n_nodes
        state.check(is_ptr and (np.diff(node_ptr) > 0).all(), "node_ptr does not ascend")
        graph_of_node = np.repeat(np.arange(len(node_ptr) - 1), np.diff(node_ptr))
        row = np.repeat(np.arange(n_nodes), np.diff(adjacency.indptr))
        within = graph_of_node[row] == graph_of_node[adjacency.indices]
        state.check(within.all(), "adjacency has an edge between graphs")
        weights = adjacency.data
        are_weights = weights.dtype == np.float64 and ((weights > 0) & (weights <= LARGEST)).all()
        state.check(are_weights, "adjacency has weights that are not positive numbers")
        is_sorted = (np.diff(row * n_nodes + adjacency.indices) > 0).all()
        is_simple = is_sorted and (row != adjacency.indices).all()
        is_symmetric = is_simple and not (adjacency != adjacency.T).nnz
        state.check(is_symmetric, "adjacency is not that of undirected graphs")
        labels, names = state.take_optional("labels", np.ndarray), state.take("label_names", tuple)
        state.check(len(set(names)) == len(names), "label_names has a label twice")
        if labels is not None:
            is_code = labels.dtype == np.int64 and labels.shape == (n_nodes,)
            is_code = is_code and ((labels >= 0) & (labels < len(names))).all()
            state.check(is_code, "labels do not fit the nodes and label_names")
        attributes = state.take_optional("attributes", np.ndarray)
        if attributes is not None:
            is_matrix = attributes.dtype == np.float64 and attributes.ndim == 2
            is_matrix = is_matrix and attributes.shape[0] == n_nodes and attributes.shape[1] > 0
            state.check(
                is_matrix and (np.abs(attributes) <= LARGEST).all(),
                "attributes do not fit the nodes, or are not finite",
            )
        return cls(node_ptr, adjacency, labels, names, attributes)

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
        entries = ranges(indptr[start], indptr[stop])  # the rows of a graph are contiguous
        node_ptr = offsets(stop - start)
        shift = np.repeat(node_ptr[:-1] - start, indptr[stop] - indptr[start])
        adjacency = sp.csr_array(
            (
                self.adjacency.data[entries],
                self.adjacency.indices[entries] + shift,
                offsets(np.diff(indptr)[nodes]),
            ),
            shape=(len(nodes), len(nodes)),
        )
        return GraphBatch(
            node_ptr,
            adjacency,
            None if self.labels is None else self.labels[nodes],
            self.label_names,
            None if self.attributes is None else self.attributes[nodes],
        )

    @staticmethod
    def concatenate(batches: Sequence[GraphBatch]) -> GraphBatch:
        """Join batches into one and merge their label vocabularies.

        Parameters
        ----------
        batches : sequence of GraphBatch
            At least one. Either all or none of them have labels, and either all or none have
            attributes, of the same width.

        Returns
        -------
        GraphBatch

        Raises
        ------
        ValueError
            If there is nothing to join, or only some batches have labels or attributes.
        """
        if not batches:
            raise ValueError("nothing to concatenate: give at least one GraphBatch")
        has_labels = {batch.labels is not None for batch in batches}
        widths = {None if b.attributes is None else b.attributes.shape[1] for b in batches}
        if len(has_labels) > 1:
            raise ValueError("some batches have node labels and some do not")
        if len(widths) > 1:
            raise ValueError(f"batches differ in the width of their node attributes: {widths}")
        names = sorted_labels({name for batch in batches for name in batch.label_names})
        code = {name: i for i, name in enumerate(names)}
        indptr = offsets(np.concatenate([batch.degrees for batch in batches]))
        first_node = offsets([batch.n_nodes for batch in batches])
        indices = np.concatenate(
            [b.adjacency.indices + n for b, n in zip(batches, first_node[:-1], strict=True)]
        )
        return GraphBatch(
            offsets(np.concatenate([batch.n_nodes_per_graph for batch in batches])),
            sp.csr_array(
                (np.concatenate([b.adjacency.data for b in batches]), indices, indptr),
                shape=(first_node[-1], first_node[-1]),
            ),
            np.concatenate(
                [np.array([code[x] for x in b.label_names], dtype=int)[b.labels] for b in batches]
            )
            if True in has_labels
            else None,
            names,
            None if None in widths else np.concatenate([np.asarray(b.attributes) for b in batches]),
        )

    def replace(
        self, *, adjacency: sp.csr_array | None = None, attributes: np.ndarray | None = None
    ) -> GraphBatch:
        """The same nodes with a different `adjacency`, different `attributes`, or both."""
        return GraphBatch(
            self.node_ptr,
            self.adjacency if adjacency is None else adjacency,
            self.labels,
            self.label_names,
            self.attributes if attributes is None else attributes,
        )

    # -- conversion ----------------------------------------------------------------------------

    def to_networkx(self) -> list[nx.Graph]:
        """Convert to networkx graphs with the nodes 0, 1, ...

        Returns
        -------
        list of networkx.Graph
            They have the node attributes "label" and "x" if the batch has labels and attributes,
            and the edge attribute "weight" if any weight of the batch differs from 1.
        """
        weighted = bool(np.any(self.adjacency.data != 1))
        upper = sp.triu(self.adjacency, k=1, format="coo")
        graph_of_edge = self.graph_of_node[upper.row]
        order = np.argsort(graph_of_edge, kind="stable")
        edge_ptr = np.searchsorted(graph_of_edge[order], np.arange(self.n_graphs + 1))
        graphs = []
        for i, (start, stop) in enumerate(zip(self.node_ptr[:-1], self.node_ptr[1:], strict=True)):
            graph = nx.empty_graph(int(stop - start))
            edges = order[edge_ptr[i] : edge_ptr[i + 1]]
            ends = np.column_stack([upper.row[edges], upper.col[edges]]) - start
            graph.add_edges_from(ends.tolist())
            if weighted:
                weights = zip(map(tuple, ends.tolist()), upper.data[edges].tolist(), strict=True)
                nx.set_edge_attributes(graph, dict(weights), "weight")
            if self.labels is not None:
                names = [self.label_names[code] for code in self.labels[start:stop]]
                nx.set_node_attributes(graph, dict(enumerate(names)), "label")
            if self.attributes is not None:
                rows = [row.copy() for row in self.attributes[start:stop]]
                nx.set_node_attributes(graph, dict(enumerate(rows)), "x")
            graphs.append(graph)
        return graphs


def sorted_labels(labels: set[Hashable]) -> tuple[Hashable, ...]:
    """Sort labels of any types, independently of the order of the graphs."""
    return tuple(sorted(labels, key=_label_order))


def _label_order(label: Any) -> tuple[str, Any]:
    is_number = isinstance(label, int | float | np.integer | np.floating)
    if is_number and abs(label) < 1e300:  # larger integers overflow a float
        return "", float(label)
    return type(label).__name__, repr(label)


def _frozen(array: np.ndarray) -> np.ndarray:
    view = array.view()  # the caller's own array stays writable
    view.flags.writeable = False
    return view


def scaled(matrix: sp.csr_array, scale: np.ndarray) -> sp.csr_array:
    """S A S with the diagonal matrix S of `scale`, without the cost of two sparse products."""
    rows = np.repeat(scale, np.diff(matrix.indptr))
    data = rows * matrix.data * scale[matrix.indices]
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def offsets(counts: Any) -> np.ndarray:
    """Where each item starts when laid end to end: 0, counts[0], counts[0] + counts[1], ..."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def ranges(start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The integers start[0], ..., stop[0] - 1, start[1], ... in one flat array."""
    counts = (stop - start).astype(np.int64)
    position = np.arange(counts.sum()) - np.repeat(offsets(counts)[:-1], counts)
    return np.repeat(start, counts) + position
