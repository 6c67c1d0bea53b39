"""Readers: what a user has -> GraphBatch.

In comes a list of graphs, each of any format, mixed as they come: :mod:`skgraphkde._formats` reads
one. Out goes a :class:`~skgraphkde.graphs.GraphBatch`, or one error that names the graph, the node
and the cure. Nothing in the caller's graphs is changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde._formats import Fields, Graph, is_one_graph, reader_of
from skgraphkde.graphs import GraphBatch, offsets, sorted_labels

__all__ = ["read_graphs"]


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

        - a :class:`networkx.Graph` with any hashable node ids;
        - a homogeneous ``dgl.DGLGraph``, with tensors in ``ndata`` and ``edata``, or a
          ``torch_geometric.data.Data``, on any device, with or without gradients. Either holds each
          edge in both directions;
        - an ``igraph.Graph``;
        - a dict ``{"edges": [(u, v), ...]}``, pairs in a list or an array (m, 2), with the optional
          keys "nodes" (all node ids, any hashable) or "num_nodes" (then they are 0, 1, ...), and
          `node_label`, `node_attributes` (dicts by node id, or a value a node in order) and
          `edge_weight` (a number an edge). Without "nodes" and "num_nodes", the nodes are those
          that come up; other keys are ignored;
        - what GraKeL takes: ``(edges, labels)`` or ``(edges, labels, edge labels)``. Edges are a
          set or list of pairs, a dict ``{(u, v): weight}``, ``{u: {v: weight}}`` or
          ``{u: [v, ...]}``, or an adjacency matrix; labels are a dict by node id, or None. Where
          they are lists or arrays they are node attributes. Edge labels are ignored;
        - a pair ``(A, X)`` of a symmetric adjacency matrix (n, n) and node features (n, p), each a
          NumPy array or a SciPy sparse array; ``X`` may be None. The entries of ``A`` are weights;
        - a :class:`GraphBatch`.

        Edges (u, v) and (v, u) are two directions of one. Parallel edges count once, or add up
        where `edge_weight` names their weight. Directed graphs are refused with the line that
        converts them: only you know whether it means the right thing. Self-loops are dropped (the
        encoder gives every node its own).
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
    >>> ammonia = {"edges": [(7, 1), (7, 2), (7, 3)], "label": {7: "N", 1: "H", 2: "H", 3: "H"}}
    >>> read_graphs([water, ammonia])
    GraphBatch(n_graphs=2, n_nodes=7, n_edges=5, n_labels=3)
    """
    if isinstance(graphs, GraphBatch) and len(graphs):
        return graphs
    fields = Fields(node_label, node_attributes, edge_weight)
    batches: list[GraphBatch] = []
    waiting: list[Graph] = []
    for i, graph in enumerate(_check_sequence(graphs)):
        if isinstance(graph, GraphBatch):
            batches += [*_assembled(waiting), graph]
            waiting = []
        elif (read := reader_of(graph)) is not None:
            waiting.append(read(i, graph, fields))
        else:
            raise TypeError(
                f"graph {i} is a {type(graph).__name__}; give a graph of networkx, DGL, PyTorch "
                "Geometric or igraph, an (A, X) pair of arrays, a dict with 'edges', a tuple as "
                "GraKeL takes it, or a GraphBatch"
            )
    batches += _assembled(waiting)
    return batches[0] if len(batches) == 1 else GraphBatch.concatenate(batches)


def _check_sequence(graphs: Any) -> Any:
    """A non-empty sequence, or an error that says what arrived instead and what to do."""
    if is_one_graph(graphs):
        raise TypeError("expected a list of graphs, got one graph: write [graph]")
    is_pair = isinstance(graphs, tuple) and len(graphs) == 2
    if is_pair and all(getattr(part, "ndim", 0) == 2 for part in graphs):
        raise TypeError("expected a list of graphs, got one (A, X) pair: write [(A, X)]")
    if isinstance(graphs, Iterator):
        raise TypeError(
            f"expected a list of graphs, got a {type(graphs).__name__}, which can be read only "
            "once: write list(graphs)"
        )
    if isinstance(graphs, Set):
        raise TypeError(
            f"expected a list of graphs, got a {type(graphs).__name__}, which has no order that "
            "scores could follow: write list(graphs), and keep that list"
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


# -- all graphs ------------------------------------------------------------------------------------


def _assembled(graphs: list[Graph]) -> list[GraphBatch]:
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


def _check_alike(graphs: list[Graph]) -> None:
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
