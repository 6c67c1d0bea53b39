"""GraphBatch: many graphs laid end to end.

In come flat arrays: offsets, a block-diagonal adjacency, labels, attributes. Out goes an immutable
sequence of graphs that scikit-learn's splitters can index. Everything past
:mod:`skgraphkde.readers` works on this type alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp

__all__ = ["GraphBatch"]


class GraphBatch:
    """An immutable sequence of undirected graphs, stored as flat arrays.

    Build one with :func:`skgraphkde.read_graphs`, which checks its input; the constructor trusts
    it.

    Parameters
    ----------
    node_ptr : ndarray of shape (n_graphs + 1,)
        Graph ``i`` owns the nodes ``node_ptr[i]`` to ``node_ptr[i + 1] - 1``.
    adjacency : csr_array of shape (n_nodes, n_nodes)
        Block-diagonal, symmetric, zero diagonal, positive weights; 1 where edges have no weight.
    labels : ndarray of shape (n_nodes,), default=None
        Each node's index into `label_names`.
    label_names : sequence of hashable, default=()
        The vocabulary of the node labels.
    attributes : ndarray of shape (n_nodes, n_attributes), default=None
        One feature vector a node.

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
        """Number of nodes of all graphs together."""
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
        """Number of neighbors of each node, shape (n_nodes,); edge weights do not count."""
        return np.diff(self.adjacency.indptr)

    @property
    def graph_of_node(self) -> np.ndarray:
        """Index of the graph that owns each node, shape (n_nodes,)."""
        return np.repeat(np.arange(self.n_graphs), self.n_nodes_per_graph)

    @property
    def shape(self) -> tuple[int]:
        """``(n_graphs,)``: what scikit-learn asks before it indexes with an array."""
        return (self.n_graphs,)

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

    # -- slicing and joining -------------------------------------------------------------------

    def __getitem__(self, key: Any) -> GraphBatch:
        """Graphs `key` (an int, a slice, an index array or a boolean mask), always as a batch."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes whatever has a shape with X[key, ...]
        if isinstance(key, int | np.integer):
            if not -self.n_graphs <= key < self.n_graphs:
                raise IndexError(f"graph {key} is out of range: the batch has {self.n_graphs}")
            key = [key]
        return self._take(np.arange(self.n_graphs)[key])

    def _take(self, index: np.ndarray) -> GraphBatch:
        start, stop = self.node_ptr[index], self.node_ptr[index + 1]
        nodes = ranges(start, stop)
        indptr = self.adjacency.indptr
        entries = ranges(indptr[start], indptr[stop])  # rows of one graph lie side by side
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
        """Join batches into one; their label vocabularies are merged.

        Parameters
        ----------
        batches : sequence of GraphBatch
            At least one. Labels, and attributes of one width, must be in all of them or in none.

        Returns
        -------
        GraphBatch

        Raises
        ------
        ValueError
            If there is nothing to join, or labels or attributes are in some batches only.
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
        """The same nodes with another `adjacency` or other `attributes`, or both."""
        return GraphBatch(
            self.node_ptr,
            self.adjacency if adjacency is None else adjacency,
            self.labels,
            self.label_names,
            self.attributes if attributes is None else attributes,
        )

    # -- and back ------------------------------------------------------------------------------

    def to_networkx(self) -> list[nx.Graph]:
        """The graphs as networkx graphs with the nodes 0, 1, ...

        Returns
        -------
        list of networkx.Graph
            With the node attributes "label" and "x" where the batch has labels and attributes, and
            the edge attribute "weight" where a weight differs from 1.
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
    """Labels in an order that does not depend on the order of the graphs."""
    return tuple(sorted(labels, key=_label_order))


def _label_order(label: Any) -> tuple[str, Any]:
    is_number = isinstance(label, int | float | np.integer | np.floating)
    if is_number and abs(label) < 1e300:  # larger integers are no floats
        return "", float(label)
    return type(label).__name__, repr(label)


def _frozen(array: np.ndarray) -> np.ndarray:
    view = array.view()  # the caller's own array stays writable
    view.flags.writeable = False
    return view


def offsets(counts: Any) -> np.ndarray:
    """Where things start that are laid end to end: 0, counts[0], counts[0] + counts[1], ..."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def ranges(start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """start[0], ..., stop[0] - 1, start[1], ... in one flat array."""
    counts = (stop - start).astype(np.int64)
    position = np.arange(counts.sum()) - np.repeat(offsets(counts)[:-1], counts)
    return np.repeat(start, counts) + position
