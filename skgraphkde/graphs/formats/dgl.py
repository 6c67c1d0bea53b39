"""Graphs of DGL: a ``dgl.DGLGraph`` -> Graph. DGL itself is not imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from skgraphkde.graphs.arrays import offsets
from skgraphkde.graphs.formats.columns import require_nodes
from skgraphkde.graphs.formats.common import Graph, columns_of, plain
from skgraphkde.graphs.formats.edges import pair_array
from skgraphkde.graphs.formats.typed import joined_types
from skgraphkde.graphs.problems import GraphError


def read_dgl(index: int, graph: Any, _: tuple[str, ...]) -> Graph:
    """Read a graph, undirected if it holds each edge in both directions.

    The types of a heterogeneous graph are the categories "node_type" and "edge_type".
    """
    if graph.is_block:
        raise GraphError(
            index, " is a block of a sampler, with edges between two sets of nodes: give graphs"
        )
    if graph.batch_size > 1:
        raise GraphError(
            index, f" is a batch of {graph.batch_size} graphs: give dgl.unbatch(graph)"
        )
    if not graph.is_homogeneous:
        return _read_types(index, graph)
    names = require_nodes(index, range(graph.num_nodes()))
    pairs = _pairs(graph.edges())
    return Graph(index, names, pairs, "both", columns_of(graph.ndata), columns_of(graph.edata))


def _read_types(index: int, graph: Any) -> Graph:
    counts = [graph.num_nodes(kind) for kind in graph.ntypes]
    first = dict(zip(graph.ntypes, offsets(counts)[:-1], strict=True))
    nodes = [
        (kind, n, dict(graph.nodes[kind].data))
        for kind, n in zip(graph.ntypes, counts, strict=True)
    ]
    pairs, edges = [], []
    for source, kind, target in graph.canonical_etypes:
        relation = (source, kind, target)
        ends = _pairs(graph.edges(etype=relation)) + np.array([first[source], first[target]])
        pairs.append(ends)
        edges.append((kind, len(ends), dict(graph.edges[relation].data)))
    names = require_nodes(index, range(sum(counts)))
    ends = np.concatenate(pairs) if pairs else pair_array([])
    node_columns, edge_columns = joined_types(nodes, "node_type"), joined_types(edges, "edge_type")
    return Graph(index, names, ends, "both", node_columns, edge_columns)


def _pairs(edges: Any) -> np.ndarray:
    return pair_array(np.column_stack([plain(ends) for ends in edges]))
