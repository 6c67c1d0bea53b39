"""Graphs of PyTorch Geometric: a ``Data`` or a ``HeteroData`` -> Graph.

PyTorch Geometric itself is not imported.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from skgraphkde.graphs.formats.common import (
    Columns,
    Graph,
    columns_of_graph,
    is_a,
    join_types,
    length,
    longest,
    pair_array,
    plain,
    unknown_node,
)
from skgraphkde.graphs.problems import GraphError

# Items of a Data that are no columns.
_RESERVED = ("edge_index", "num_nodes", "y", "ptr", "batch", "train_mask", "val_mask", "test_mask")


def listed(graphs: Any) -> Any:
    """The graphs of a ``Batch`` or a ``DataLoader``, in a list; anything else as it is.

    Raises
    ------
    ValueError
        If a DataLoader shuffles, or leaves graphs out.
    """
    if is_a(graphs, "torch_geometric.data", "Batch"):
        return graphs.to_data_list()
    if not is_a(graphs, "torch_geometric.loader", "DataLoader"):
        return graphs
    data = sys.modules["torch.utils.data"]
    is_whole = type(graphs.sampler) is data.SequentialSampler and not graphs.drop_last
    if not is_whole or type(graphs.batch_sampler) is not data.BatchSampler:
        raise ValueError(
            "the DataLoader shuffles or leaves graphs out, so nobody knows whose the scores would "
            "be: give loader.dataset"
        )
    return [graph for batch in graphs for graph in batch.to_data_list()]


def read_pyg(index: int, graph: Any, node_names: tuple[str, ...]) -> Graph:
    """Read a graph, undirected if it holds each edge in both directions.

    The types of a HeteroData are the categories "node_type" and "edge_type".

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : Data or HeteroData
    node_names : tuple of str
        Names of node data that may be read; some formats count their nodes by them.
    """
    if is_a(graph, "torch_geometric.data", "Batch"):
        raise GraphError(
            index, f" is a batch of {graph.num_graphs} graphs: give graph.to_data_list()"
        )
    if is_a(graph, "torch_geometric.data", "HeteroData"):
        return _read_types(index, graph)
    given = graph.to_dict()
    pairs = _pairs(index, given.get("edge_index"))
    of_nodes = {name: x for name, x in given.items() if name not in _RESERVED}
    n_nodes = None
    if "num_nodes" not in given:
        n_nodes = longest(*(plain(given.get(name)) for name in node_names))
    # If nothing gives the number of nodes, PyG guesses it from the largest id in an edge, and
    # warns.
    names = range(int(graph.num_nodes) if n_nodes is None else n_nodes)
    _check_ends(index, pairs, (len(names), len(names)))
    nodes = _columns_of(of_nodes, len(names), is_edge=False, always=node_names)
    edges = _columns_of(of_nodes, len(pairs), is_edge=True, always=("edge_attr", "edge_type"))
    known = {*nodes.names, *edges.names}
    return Graph(index, names, pairs, "both", nodes, edges, _columns_of_graph(of_nodes, known))


def _columns_of_graph(data: Mapping[str, Any], known: set[str]) -> Columns:
    """Data of the graph: numbers, texts, and tensors of one row or none.

    Whatever is asked for by name is given: in a graph of one node, data of nodes look the same.
    """
    values = {name: plain(given) for name, given in data.items()}
    many = {name for name, value in values.items() if length(value) not in (None, 1)}
    for name, value in values.items():
        if length(value) == 1:
            values[name] = value[0]
        elif isinstance(value, np.ndarray) and value.ndim == 0:
            values[name] = value.item()
    columns = columns_of_graph(values)
    return Columns([name for name in columns.names if name not in known | many], columns.get)


def _columns_of(
    data: Mapping[str, Any], n: int, *, is_edge: bool, always: tuple[str, ...]
) -> Columns:
    """Data of nodes or of edges. PyTorch Geometric tells them apart by their names and lengths.

    Whatever is asked for by name is given, so that a wrong length is an error.
    """
    fitting = [x for x, values in data.items() if x in always or length(plain(values)) == n]
    return Columns([x for x in fitting if x.startswith("edge_") == is_edge], data.get)


def _read_types(index: int, graph: Any) -> Graph:
    counts = {kind: int(graph[kind].num_nodes or 0) for kind in graph.node_types}
    edges = {}
    for relation in graph.edge_types:
        ends = _pairs(index, graph[relation].to_dict().get("edge_index"))
        _check_ends(index, ends, (counts[relation[0]], counts[relation[2]]))
        edges[relation] = ends, _data(graph[relation], len(ends))
    return join_types(index, [(x, n, _data(graph[x], n)) for x, n in counts.items()], edges)


def _data(store: Any, n: int) -> dict[str, Any]:
    """The columns that a type of nodes, or of edges, has."""
    given = store.to_dict().items()
    return {k: x for k, x in given if k not in _RESERVED and length(plain(x)) == n}


def _pairs(index: int, edges: Any) -> np.ndarray:
    edges = plain(edges)
    if (
        edges is None
        or edges.ndim != 2
        or len(edges) != 2
        or (edges.size and edges.dtype.kind not in "iu")
    ):
        raise GraphError(
            index,
            f" has {'no' if edges is None else 'a broken'} edge_index: give it "
            "integers of shape (2, n_edges), or torch.empty((2, 0)) if it has no edges",
        )
    return pair_array(edges.T)


def _check_ends(index: int, pairs: np.ndarray, n_nodes: tuple[int, int]) -> None:
    """Refuse an edge from, or to, a node that is not there; other packages do so themselves."""
    outside = (pairs < 0) | (pairs >= n_nodes)
    if outside.any():
        k, end = np.argwhere(outside)[0]
        node = unknown_node(int(pairs[k, end]), range(n_nodes[end]))
        raise GraphError(
            index,
            f", edge {tuple(pairs[k].tolist())}: {node}: raise the number of nodes or leave the "
            "edge out",
        )
