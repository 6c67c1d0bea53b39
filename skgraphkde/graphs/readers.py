"""read_graphs: a list of graphs -> GraphBatch.

It takes a list of graphs in any mix of formats; :mod:`skgraphkde.graphs.formats` reads each one.
It returns a :class:`~skgraphkde.graphs.batch.GraphBatch`, or raises one error that names the graph,
the node and the cure. The caller's graphs are never changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.batch import GraphBatch, offsets, sorted_labels
from skgraphkde.graphs.formats import is_one_graph, reader_of
from skgraphkde.graphs.formats.common import Fields, Graph

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
          ``torch_geometric.data.Data``, on any device, with or without gradients. Both must hold
          each edge in both directions;
        - an ``igraph.Graph``;
        - a dict ``{"edges": [(u, v), ...]}``, with the pairs in a list or in an array (m, 2). Other
          keys are optional: "nodes" (all node ids, any hashable) or "num_nodes" (the ids are then
          0, 1, ...), `node_label` and `node_attributes` (dicts by node id, or one value per node,
          in order), and `edge_weight` (one number per edge). Without "nodes" and "num_nodes", the
          nodes are those that the other keys mention. Further keys are ignored;
        - a tuple or list as GraKeL takes it: ``(edges, labels)`` or ``(edges, labels, edge
          labels)``. Edges are a set or list of pairs, a dict ``{(u, v): weight}``,
          ``{u: {v: weight}}`` or ``{u: [v, ...]}``, or an adjacency matrix. Labels are a dict by
          node id, or None; labels that are lists or arrays are read as node attributes. Edge labels
          are ignored;
        - a pair ``(A, X)`` of a symmetric adjacency matrix (n, n) and node features (n, p), each a
          NumPy array or a SciPy sparse array. The entries of ``A`` are weights; ``X`` may be None;
        - a :class:`GraphBatch`.

        Edges (u, v) and (v, u) are two directions of one edge. Parallel edges count as one edge;
        their weights are added if `edge_weight` is given. Self-loops are dropped, because the
        encoder gives every node its own. Directed graphs are refused with the line of code that
        converts them: only you know whether the conversion makes sense for your data.
    node_label : str, default="label"
        Node attribute that holds a discrete label, any hashable.
    node_attributes : str, default="x"
        Node attribute that holds a number or a vector of numbers, of the same length in all graphs.
    edge_weight : str, default=None
        Edge attribute that holds a positive weight. None: every edge has the weight 1.

    Returns
    -------
    GraphBatch
        The graphs in the given order, with node labels and attributes if they have them.

    Raises
    ------
    TypeError
        If `graphs` is not a sequence of graphs.
    ValueError
        If `graphs` is empty, or a graph has no nodes, is directed, has labels or attributes on only
        some of its nodes, or contains a number that is not finite.

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
    waiting: list[Graph] = []  # read, but not yet in a batch
    for i, graph in enumerate(_check_sequence(graphs)):
        if isinstance(graph, GraphBatch):
            batches += [*_join(waiting), graph]
            waiting = []
        elif (read := reader_of(graph)) is not None:
            waiting.append(read(i, graph, fields))
        else:
            raise TypeError(
                f"graph {i} has the type {type(graph).__name__}; give a graph from networkx, DGL, "
                "PyTorch Geometric or igraph, an (A, X) pair of arrays, a dict with 'edges', a "
                "tuple as GraKeL takes it, or a GraphBatch"
            )
    batches += _join(waiting)
    return batches[0] if len(batches) == 1 else GraphBatch.concatenate(batches)


def _check_sequence(graphs: Any) -> Any:
    """Return `graphs` if it is a non-empty sequence; else say what it is and what to do."""
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
            f"expected a list of graphs, got a {type(graphs).__name__}, which has no order for "
            "the scores to follow: write list(graphs) and keep that list"
        )
    if sp.issparse(graphs) or (hasattr(graphs, "dtype") and graphs.dtype != object):
        raise TypeError(
            f"expected a list of graphs, got an array of numbers of shape {tuple(graphs.shape)}. "
            "np.array(list_of_networkx_graphs) keeps node ids and loses every edge when the graphs "
            "have equal size: pass the list itself. Pass a single adjacency matrix as [(A, None)]"
        )
    if isinstance(graphs, (str, bytes, dict)) or not hasattr(graphs, "__len__"):
        raise TypeError(f"expected a list of graphs, got a {type(graphs).__name__}")
    if isinstance(graphs, np.ndarray) and graphs.ndim != 1:
        raise TypeError(f"expected a list of graphs, got an array of shape {graphs.shape}")
    if len(graphs) == 0:
        raise ValueError("the list of graphs is empty: give at least one graph")
    return graphs


# -- joining graphs --------------------------------------------------------------------------------


def _join(graphs: list[Graph]) -> list[GraphBatch]:
    """One batch of all `graphs`, in a list; an empty list if there are no graphs."""
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
    ).tocsr()  # adds the weights of parallel edges
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
    """Check that all graphs have labels or none do, and that all attributes have one width."""
    first = graphs[0]
    for graph in graphs[1:]:
        if (graph.labels is None) != (first.labels is None):
            has, lacks = (first, graph) if graph.labels is None else (graph, first)
            raise ValueError(
                f"graph {has.index} has node labels and graph {lacks.index} has none: "
                "give them to all graphs or to none"
            )
        width, first_width = (
            None if g.attributes is None else g.attributes.shape[1] for g in (graph, first)
        )
        if width != first_width:
            raise ValueError(
                f"graph {graph.index} has {width or 'no'} node attributes and graph {first.index} "
                f"has {first_width or 'none'}: give all graphs node attributes of the same width, "
                "or none"
            )
