"""read_graphs: a list of graphs -> GraphBatch.

It takes a list of graphs in any mix of formats; :mod:`skgraphkde.graphs.formats` reads each one.
It returns a :class:`~skgraphkde.graphs.batch.GraphBatch`, or raises one error that names the graph,
the node and the cure. The caller's graphs are never changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.computing.warn import warn
from skgraphkde.graphs.arrays import offsets, sorted_labels
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.formats import is_one_graph, reader_of
from skgraphkde.graphs.formats.common import Graph
from skgraphkde.graphs.formats.finish import Data, Finished, finished
from skgraphkde.graphs.resolution import Plan, resolved
from skgraphkde.graphs.schema import CONVENTIONS, FittedSchema, GraphSchema, Widths, validated
from skgraphkde.graphs.selection import selected

__all__ = ["read_graphs"]


def read_graphs(
    graphs: Any, *, schema: GraphSchema | FittedSchema | str | None = None
) -> GraphBatch:
    """Read graphs into a :class:`GraphBatch`.

    Parameters
    ----------
    graphs : sequence of graphs, or GraphBatch
        Each is one of

        - a networkx graph, directed or not, with any hashable node ids;
        - a ``dgl.DGLGraph`` with tensors in ``ndata`` and ``edata``, or a
          ``torch_geometric.data.Data``, on any device, with or without gradients. If they hold each
          edge in both directions they are undirected. The types of a heterogeneous graph are the
          categories "node_type" and "edge_type";
        - an ``igraph.Graph``;
        - a dict ``{"edges": [(u, v), ...]}``, with the pairs in a list or in an array (m, 2). Other
          keys are optional: "nodes" (all node ids, any hashable) or "num_nodes" (the ids are then
          0, 1, ...), "directed" (True or False), "edge_data" (a dict of name -> one value per
          edge), the weight by its name (one number per edge), and data of the nodes by name (dicts
          by node id, or one value per node, in order). Without "nodes" and "num_nodes", the nodes
          are those that the other keys mention;
        - a tuple or list as GraKeL takes it: ``(edges, labels)`` or ``(edges, labels, edge
          labels)``. Edges are a set or list of pairs, a dict ``{(u, v): weight}``,
          ``{u: {v: weight}}`` or ``{u: [v, ...]}``, or an adjacency matrix. Labels are a dict by
          node id, or None, and have the name "label"; those that are lists or arrays are numbers
          of the name "x";
        - a pair ``(A, X)`` of an adjacency matrix (n, n) and node features (n, p), each a NumPy
          array or a SciPy sparse array. The entries of ``A`` are weights, and the graph is directed
          if ``A`` is not symmetric; ``X`` may be None, and has the name "x";
        - a :class:`GraphBatch`.

        In place of an array there may be a tensor, or a table or series of pandas, whose rows are
        the values: an index that may mean another order than that of the nodes is an error. Masked
        values are missing. Complex numbers, dates and times are no numbers.

        Parallel edges that agree in all data that is read count as one, and their weights are added
        if a weight is read; those that differ stay apart. Self-loops are left out, because the
        encoder gives every node its own. Beside directed graphs, an undirected edge is two arcs.
    schema : GraphSchema, FittedSchema, "all" or None, default=None
        Which names are read, and as what. None is ``GraphSchema()``, the conventions; "all" is
        everything that the graphs have; a FittedSchema, of a batch or a detector, is what was read
        there.

    Returns
    -------
    GraphBatch
        The graphs in the given order, with node labels and attributes if they have them.

    Raises
    ------
    TypeError
        If `graphs` is not a sequence of graphs.
    ValueError
        If `graphs` is empty, a graph has no nodes, a name in `schema` is not there, data are on
        only some of the nodes or edges, or a number is not finite.

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
    fitted = schema if isinstance(schema, FittedSchema) else None
    schema = validated(schema) if fitted is None else fitted.to_schema()
    if isinstance(graphs, GraphBatch) and len(graphs):
        return selected(graphs, schema)
    node_names = _node_names(schema)
    batches: list[GraphBatch] = []
    waiting: list[Graph] = []  # read, but not yet in a batch
    for i, graph in enumerate(_check_sequence(graphs)):
        if isinstance(graph, GraphBatch):
            batches += [*_join(waiting, schema, fitted), selected(graph, schema)]
            waiting = []
        elif (read := reader_of(graph)) is not None:
            waiting.append(read(i, graph, node_names))
        else:
            raise TypeError(
                f"graph {i} has the type {type(graph).__name__}; give a graph from networkx, DGL, "
                "PyTorch Geometric or igraph, an (A, X) pair of arrays, a dict with 'edges', a "
                "tuple as GraKeL takes it, or a GraphBatch"
            )
    batches += _join(waiting, schema, fitted)
    return batches[0] if len(batches) == 1 else GraphBatch.concatenate(batches)


def _node_names(schema: GraphSchema) -> tuple[str, ...]:
    """Names of node data that may be read; some formats count their nodes by it."""
    kinds = ("node_categories", "node_numbers")
    named = [name for kind in kinds for name in schema.named(kind)]
    return tuple(dict.fromkeys([*named, *(name for kind in kinds for name in CONVENTIONS[kind])]))


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


def _join(
    graphs: list[Graph], schema: GraphSchema, fitted: FittedSchema | None
) -> list[GraphBatch]:
    """One batch of all `graphs`, in a list; an empty list if there are no graphs."""
    if not graphs:
        return []
    plan = resolved(schema, graphs, fitted)
    read = [finished(graph, plan) for graph in graphs]
    node_ptr = offsets([graph.n_nodes for graph in read])
    arcs = np.concatenate([g.arcs + first for g, first in zip(read, node_ptr[:-1], strict=True)])
    weights = np.concatenate([graph.weights for graph in read])
    n_nodes = int(node_ptr[-1])
    order = np.lexsort((arcs[:, 1], arcs[:, 0]))  # stable: parallel edges keep their order
    indptr = offsets(np.bincount(arcs[:, 0], minlength=n_nodes))
    adjacency = sp.csr_array((weights[order], arcs[order, 1], indptr), shape=(n_nodes, n_nodes))
    n_edges = offsets([_n_edges(graph) for graph in read])[:-1]
    edge = np.concatenate([g.edge_of_arc + n for g, n in zip(read, n_edges, strict=True)])[order]
    node_labels, node_names, node_numbers, node_widths = _joined(
        [(g.nodes, g.index) for g in read], plan, "node"
    )
    with_data = [(g.edges, g.index) for g in read if _n_edges(g)]
    labels, names, numbers, edge_widths = _joined(with_data, plan, "edge")
    is_directed = schema.directed is True or any(g.is_directed for g in read)
    is_directed |= fitted is not None and fitted.directed
    what = plan.fitted(is_directed, node_widths, edge_widths)
    kinds = ("edges",) if schema.directed is True else ("edges", "either")
    undirected = [graph.index for graph in graphs if graph.kind in kinds and len(graph.pairs)]
    if is_directed and undirected:
        warn(
            f"graph {undirected[0]} is undirected among directed ones: each of its edges is read "
            "as two arcs, one in each direction"
        )
    if schema.edge_weight is None and (weights != 1).any():  # of matrices, which hold them
        _check_all_weighted(graphs, read)
        what = replace(what, edge_weight="weight")
    n_loops = sum(graph.n_loops for graph in read)
    if n_loops:
        loops = f"{n_loops} self-loop{'s' * (n_loops > 1)}"
        what = replace(what, left_out=(*what.left_out, loops))
    labels, numbers = (None if x is None else x[edge] for x in (labels, numbers))
    if not len(edge):  # of no edges there are no data
        what = replace(what, edge_categories=(), edge_numbers=())
        labels, names, numbers = None, (), None
    of_nodes = node_labels, node_names, node_numbers
    return [GraphBatch(node_ptr, adjacency, *of_nodes, labels, names, numbers, what)]


def _check_all_weighted(graphs: list[Graph], read: list[Finished]) -> None:
    """Check that no graph is without weights where matrices have some that are not 1."""
    first = next(graph.index for graph in read if (graph.weights != 1).any())
    for graph in graphs:
        is_weighted = graph.weights is not None and graph.weights(None) is not None
        if len(graph.pairs) and not is_weighted:
            raise ValueError(
                f"graph {graph.index} has no weights, and graph {first} has, in its matrix: name "
                "those of the others in GraphSchema(edge_weight=...), or give a matrix of 0 and 1"
            )


def _n_edges(graph: Finished) -> int:
    """The number of edges that have data, which includes those that were left out."""
    if graph.edges.labels is not None:
        return len(graph.edges.labels)
    return len(graph.edges.numbers[0]) if graph.edges.numbers else 0


def _joined(data: list[tuple[Data, int]], plan: Plan, part: str) -> tuple:
    """Codes of categories, their names, numbers, and the widths of these, of all graphs."""
    labels = numbers = None
    names: tuple[Hashable, ...] = ()
    widths: Widths = ()
    if not data:
        return labels, names, numbers, widths
    if plan.names[f"{part}_categories"]:
        values = [label for of_graph, _ in data for label in of_graph.labels or ()]
        names = sorted_labels(set(values))
        code = {name: i for i, name in enumerate(names)}
        labels = np.array([code[value] for value in values], dtype=np.int64)
    columns = []
    for i, name in enumerate(plan.names[f"{part}_numbers"]):
        rows = [(of_graph.numbers[i], index) for of_graph, index in data]
        columns.append(_rows(rows, part, name))
    widths = tuple(
        (name, x.shape[1])
        for name, x in zip(plan.names[f"{part}_numbers"], columns, strict=True)
        if x.shape[1]
    )
    if widths:
        numbers = np.hstack(columns)
    return labels, names, numbers, widths


def _rows(rows: list[tuple[np.ndarray, int]], part: str, name: str) -> np.ndarray:
    """Numbers of all graphs, which must have one width; 0 columns if all are missing."""
    widths = {
        x.shape[1]: index for x, index in reversed(rows) if not x.shape[1] or not np.isnan(x).all()
    }
    if len(widths) > 1:
        (width, index), (first, first_index) = list(widths.items())[:2]
        raise ValueError(
            f"graph {index} has {width or 'no'} numbers in the {part} attribute {name!r}, and "
            f"graph {first_index} has {first or 'none'}: give all graphs {part} attributes of the "
            "same width, or none"
        )
    width = next(iter(widths), 0)
    blank = [x if x.shape[1] == width else np.full((len(x), width), np.nan) for x, _ in rows]
    return np.concatenate(blank)
