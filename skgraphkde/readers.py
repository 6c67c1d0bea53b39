"""Readers: what a user has -> GraphBatch.

In comes a list of networkx graphs, of ``(A, X)`` pairs, of batches, or of all three mixed. Out goes
a :class:`~skgraphkde.graphs.GraphBatch`, or one error that names the graph, the node and the cure.
Nothing in the caller's graphs is changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from numbers import Real
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs import GraphBatch, offsets, sorted_labels

__all__ = ["read_graphs"]


LARGEST = 1e100  # numbers beyond it would overflow when squared and added


class _Graph(NamedTuple):
    """One graph on its way into a batch."""

    place: int  # its place in the caller's list and
    names: Any  # the caller's own node ids, shape (n,): for messages
    edges: np.ndarray  # (m, 2): each undirected edge once, no self-loops; parallel edges add up
    weights: np.ndarray  # (m,)
    labels: list[Hashable] | None
    attributes: np.ndarray | None  # (n, p)


def read_graphs(
    graphs: Any,
    *,
    node_label: str = "label",
    node_attributes: str = "x",
    edge_weight: str | None = None,
) -> GraphBatch:
    """Read graphs into a :class:`GraphBatch`.

    Parameters
    ----------
    graphs : sequence of graphs, or GraphBatch
        Each is one of

        - a :class:`networkx.Graph` with any hashable node ids. A multigraph's parallel edges count
          once, or add up where `edge_weight` names their weight. Directed graphs are refused: only
          you know whether ``graph.to_undirected()`` means the right thing;
        - a pair ``(A, X)`` of a symmetric adjacency matrix (n, n) and node features (n, p), each a
          NumPy array or a SciPy sparse array; ``X`` may be None. The entries of ``A`` are weights;
        - a :class:`GraphBatch`.

        Self-loops are dropped (the encoder gives every node its own).
    node_label : str, default="label"
        Node attribute that holds a discrete label, any hashable.
    node_attributes : str, default="x"
        Node attribute that holds a number or a vector of numbers, of one length in all graphs.
    edge_weight : str, default=None
        Edge attribute that holds a positive weight. None: every edge weighs 1.

    Returns
    -------
    GraphBatch
        In the order given, with node labels (attributes) if the graphs have them.

    Raises
    ------
    TypeError
        If `graphs` is not a sequence of graphs.
    ValueError
        If it is empty, or a graph has no nodes, is directed, has labels or attributes on some nodes
        only, or a number that is not finite.

    Examples
    --------
    >>> import networkx as nx
    >>> water = nx.Graph([("H1", "O"), ("O", "H2")])
    >>> nx.set_node_attributes(water, {"H1": "H", "H2": "H", "O": "O"}, "label")
    >>> read_graphs([water])
    GraphBatch(n_graphs=1, n_nodes=3, n_edges=2, n_labels=2)
    """
    if isinstance(graphs, GraphBatch) and len(graphs):
        return graphs
    batches: list[GraphBatch] = []
    waiting: list[_Graph] = []
    for i, graph in enumerate(_check_sequence(graphs)):
        if isinstance(graph, GraphBatch):
            batches += [*_assembled(waiting), graph]
            waiting = []
        elif isinstance(graph, nx.Graph):
            waiting.append(_read_networkx(i, graph, node_label, node_attributes, edge_weight))
        elif sp.issparse(graph) or (isinstance(graph, tuple) and len(graph) == 2):
            waiting.append(_read_pair(i, graph))
        else:
            raise TypeError(
                f"graph {i} is a {type(graph).__name__}; give a networkx graph, an (A, X) pair of "
                "arrays or a GraphBatch"
            )
    batches += _assembled(waiting)
    return batches[0] if len(batches) == 1 else GraphBatch.concatenate(batches)


def _check_sequence(graphs: Any) -> Any:
    """A non-empty sequence, or an error that says what arrived instead and what to do."""
    if isinstance(graphs, nx.Graph):
        raise TypeError("expected a list of graphs, got one graph: write [graph]")
    is_pair = isinstance(graphs, tuple) and len(graphs) == 2
    if is_pair and all(getattr(part, "ndim", 0) == 2 for part in graphs):
        raise TypeError("expected a list of graphs, got one (A, X) pair: write [(A, X)]")
    if isinstance(graphs, Iterator):
        raise TypeError(
            f"expected a list of graphs, got a {type(graphs).__name__}, which can be read only "
            "once: write list(graphs)"
        )
    if sp.issparse(graphs) or (hasattr(graphs, "dtype") and graphs.dtype != object):
        raise TypeError(
            f"expected a list of graphs, got an array of numbers of shape {tuple(graphs.shape)}. "
            "np.array(list_of_networkx_graphs) keeps node ids and loses every edge when the graphs "
            "have equal size: pass the list itself. A single adjacency matrix goes in as "
            "[(A, None)]"
        )
    if isinstance(graphs, (str, bytes, dict)) or not hasattr(graphs, "__len__"):
        raise TypeError(f"expected a list of graphs, got a {type(graphs).__name__}")
    if isinstance(graphs, np.ndarray) and graphs.ndim != 1:
        raise TypeError(f"expected a list of graphs, got an array of shape {graphs.shape}")
    if len(graphs) == 0:
        raise ValueError("the list of graphs is empty: give at least one graph")
    return graphs


# -- one graph -------------------------------------------------------------------------------------


def _read_networkx(
    index: int, graph: nx.Graph, node_label: str, node_attributes: str, edge_weight: str | None
) -> _Graph:
    if graph.is_directed():
        raise ValueError(f"graph {index} is directed: convert it with graph.to_undirected() first")
    names = list(graph)
    if not names:
        raise ValueError(f"graph {index} has no nodes: leave it out or give it a node")
    if graph.is_multigraph() and edge_weight is None:
        graph = nx.Graph(graph)  # parallel edges count once
    position = {name: k for k, name in enumerate(names)}
    edges, weights = [], []
    for u, v, weight in graph.edges(data=edge_weight):
        if edge_weight is not None and not isinstance(weight, (Real, np.bool_)):
            what = "no" if weight is None else f"the {type(weight).__name__} {weight!r} as"
            raise ValueError(
                f"graph {index}, edge ({u!r}, {v!r}) has {what} {edge_weight!r}: "
                "give every edge a number"
            )
        if u != v:
            edges.append((position[u], position[v]))
            weights.append(1.0 if edge_weight is None else float(weight))
    labels = _node_values(index, graph, node_label)
    vectors = _node_values(index, graph, node_attributes)
    return _checked(
        _Graph(
            index,
            names,
            np.array(edges, dtype=np.int64).reshape(-1, 2),
            np.array(weights, dtype=float),
            labels,
            None if vectors is None else _stack(index, names, vectors, node_attributes),
        )
    )


def _node_values(index: int, graph: nx.Graph, name: str) -> list[Any] | None:
    """The attribute `name` of every node, or None if no node has it."""
    values = [data.get(name) for _, data in graph.nodes(data=True)]
    missing = [node for node, value in zip(graph, values, strict=True) if value is None]
    if not missing:
        return values
    if len(missing) == len(values):
        return None
    raise ValueError(
        f"graph {index}, node {missing[0]!r} has no {name!r}, but other nodes of the graph do "
        f"({len(missing)} of {len(values)} lack it): give it to every node or to none"
    )


def _stack(index: int, names: Any, vectors: list[Any], attribute: str) -> np.ndarray:
    """Feature vectors (or single numbers) of the nodes as rows."""
    width = None
    rows = []
    for name, vector in zip(names, vectors, strict=True):
        where = f"graph {index}, node {name!r}: the node attribute {attribute!r}"
        try:
            row = np.atleast_1d(np.asarray(vector, dtype=float))
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            raise ValueError(
                f"{where} is not a number or a vector of numbers: {vector!r}"
            ) from error
        if row.ndim != 1:
            raise ValueError(f"{where} has shape {row.shape}: give a number or a flat vector")
        width = len(row) if width is None else width
        if len(row) != width:
            raise ValueError(
                f"{where} has {len(row)} numbers, the nodes before it {width}: "
                "give all nodes vectors of one length"
            )
        rows.append(row)
    return np.stack(rows)


def _read_pair(index: int, graph: Any) -> _Graph:
    A, X = (graph, None) if sp.issparse(graph) else graph
    if isinstance(A, nx.Graph):
        raise ValueError(
            f"graph {index} is a pair of a networkx graph and something else: give the graph alone "
            "(targets go into y, node features into the node attribute 'x')"
        )
    A = sp.coo_array(_as_float(index, "A", A))
    n = A.shape[0]
    if n == 0:
        raise ValueError(f"graph {index} has no nodes: leave it out or give it a node")
    if X is not None:
        X = X.toarray() if sp.issparse(X) else np.asarray(X)
        X = _as_float(index, "X", X[:, np.newaxis] if X.ndim == 1 else X)
        if len(X) != n:
            raise ValueError(
                f"graph {index} has {n} nodes in A, but X has shape {X.shape}: give X a row a node"
            )
    if A.shape != (n, n):
        raise ValueError(
            f"graph {index}: the adjacency matrix has shape {A.shape}, expected (n, n)"
        )
    A.sum_duplicates()
    upper = (A.row < A.col) & (A.data != 0)
    edges = np.column_stack([A.row[upper], A.col[upper]]).astype(np.int64)
    read = _checked(_Graph(index, range(n), edges, A.data[upper], None, X))
    asymmetry = abs(A - A.T).tocoo()
    if asymmetry.nnz and not asymmetry.data.max() <= 1e-8 * abs(A).max():
        worst = int(asymmetry.data.argmax())
        u, v = int(asymmetry.row[worst]), int(asymmetry.col[worst])
        raise ValueError(
            f"graph {index}: the adjacency matrix is not symmetric at ({u}, {v}): graphs are "
            "undirected, symmetrize it with A.maximum(A.T) (SciPy) or np.maximum(A, A.T)"
        )
    return read


def _as_float(index: int, name: str, matrix: Any) -> Any:
    """A copy of a matrix in double precision."""
    try:
        matrix = matrix if sp.issparse(matrix) else np.asarray(matrix)
        if matrix.ndim != 2 or np.iscomplexobj(matrix):
            raise ValueError(
                f"expected real numbers in two dimensions, got {matrix.dtype} in {matrix.ndim}"
            )
        return matrix.astype(float)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ValueError(
            f"graph {index} is not an (A, X) pair of numeric matrices; {name}: {error}"
        ) from error


def _checked(graph: _Graph) -> _Graph:
    """The graph itself, if its labels are hashable and all its numbers are usable."""
    bad = ~((graph.weights > 0) & (graph.weights <= LARGEST))
    if bad.any():
        u, v = graph.edges[bad.argmax()]
        raise ValueError(
            f"graph {graph.place}, edge ({graph.names[u]!r}, {graph.names[v]!r}) has the weight "
            f"{graph.weights[bad.argmax()]}: weights must be positive and finite"
        )
    if graph.attributes is not None:
        if graph.attributes.shape[1] == 0:
            return _checked(graph._replace(attributes=None))
        usable = np.abs(graph.attributes) <= LARGEST  # not NaN, not infinite
        if not usable.all():
            node, column = np.argwhere(~usable)[0]
            raise ValueError(
                f"graph {graph.place}, node {graph.names[node]!r}: node attribute {column} is "
                f"{graph.attributes[node, column]}: impute, clip or drop it first"
            )
    for name, label in zip(graph.names, graph.labels or (), strict=False):
        if not _is_label(label):
            raise ValueError(
                f"graph {graph.place}, node {name!r} has the label {label!r}: a label must be "
                "hashable and not NaN (a feature vector goes into the attribute 'x')"
            )
    return graph


def _is_label(value: Any) -> bool:
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return False  # a tensor is hashable, but each one is its own
    try:
        hash(value)
        return bool(value == value)  # NaN is not equal to itself
    except (TypeError, ValueError, RuntimeError):
        return False


# -- all graphs ------------------------------------------------------------------------------------


def _assembled(graphs: list[_Graph]) -> list[GraphBatch]:
    """One batch of all `graphs`, or no batch of none."""
    if not graphs:
        return []
    _check_alike(graphs)
    node_ptr = offsets([len(graph.names) for graph in graphs])
    edges = np.concatenate(
        [g.edges + first for g, first in zip(graphs, node_ptr[:-1], strict=True)]
    )
    weights = np.concatenate([graph.weights for graph in graphs])
    rows, columns = np.concatenate([edges, edges[:, ::-1]]).T
    adjacency = sp.coo_array(
        (np.concatenate([weights, weights]), (rows, columns)), shape=(node_ptr[-1], node_ptr[-1])
    ).tocsr()  # adds up parallel edges
    adjacency.sort_indices()
    labels = None
    names: tuple[Hashable, ...] = ()
    if graphs[0].labels is not None:
        all_labels = [label for graph in graphs for label in graph.labels or ()]
        names = sorted_labels(set(all_labels))
        code = {name: i for i, name in enumerate(names)}
        labels = np.array([code[label] for label in all_labels])
    attributes = None
    if graphs[0].attributes is not None:
        attributes = np.concatenate([graph.attributes for graph in graphs])  # type: ignore[misc]
    return [GraphBatch(node_ptr, adjacency, labels, names, attributes)]


def _check_alike(graphs: list[_Graph]) -> None:
    """Labels, and attributes of one width, are in every graph or in none."""
    first = graphs[0]
    for graph in graphs[1:]:
        if (graph.labels is None) != (first.labels is None):
            has, lacks = (first, graph) if graph.labels is None else (graph, first)
            raise ValueError(
                f"graph {has.place} has node labels and graph {lacks.place} has none: "
                "give them to all graphs or to none"
            )
        here, there = (
            None if g.attributes is None else g.attributes.shape[1] for g in (graph, first)
        )
        if here != there:
            raise ValueError(
                f"graph {graph.place} has {here or 'no'} node attributes and graph {first.place} "
                f"{there or 'none'}: give all graphs node attributes of one width, or none"
            )
