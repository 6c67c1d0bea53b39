"""Graphs of DGL: a ``dgl.DGLGraph`` -> Graph. DGL itself is not imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from skgraphkde.graphs.formats.common import Graph, join_types, pair_array, plain
from skgraphkde.graphs.problems import GraphError
from skgraphkde.graphs.schema import GraphSchema


def read_dgl(index: int, graph: Any, _: GraphSchema) -> Graph:
    """Read a graph, undirected if it holds each edge in both directions.

    The types of a heterogeneous graph are the categories "node_type" and "edge_type".

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : dgl.DGLGraph
    _ : GraphSchema
    """
    if graph.is_block:
        raise GraphError(
            index, " is a block of a sampler, with edges between two sets of nodes: give graphs"
        )
    if graph.batch_size > 1:
        raise GraphError(
            index, f" is a batch of {graph.batch_size} graphs: give dgl.unbatch(graph)"
        )
    if graph.is_homogeneous:
        names, pairs = range(graph.num_nodes()), _pairs(graph.edges())
        return Graph(index, names, pairs, "both", dict(graph.ndata), dict(graph.edata))
    nodes = [(x, graph.num_nodes(x), dict(graph.nodes[x].data)) for x in graph.ntypes]
    edges = {
        relation: (_pairs(graph.edges(etype=relation)), dict(graph.edges[relation].data))
        for relation in graph.canonical_etypes
    }
    return join_types(index, nodes, edges)


def _pairs(edges: Any) -> np.ndarray:
    return pair_array(np.column_stack([plain(ends) for ends in edges]))
