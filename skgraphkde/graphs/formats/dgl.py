"""Graphs of DGL: a homogeneous ``dgl.DGLGraph`` -> Graph. DGL itself is not imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from skgraphkde.graphs.formats.common import Fields, Graph, plain
from skgraphkde.graphs.formats.edges import pair_array
from skgraphkde.graphs.formats.finish import graph_from_pairs
from skgraphkde.graphs.formats.nodes import require_nodes


def read_dgl(index: int, graph: Any, fields: Fields) -> Graph:
    """Read a graph that holds each edge in both directions."""
    if not graph.is_homogeneous or graph.is_block:
        raise ValueError(
            f"graph {index} has nodes or edges of several types: convert it with "
            "dgl.to_homogeneous(graph) first"
        )
    if graph.batch_size > 1:
        raise ValueError(
            f"graph {index} is a batch of {graph.batch_size} graphs: give dgl.unbatch(graph)"
        )
    names = require_nodes(index, range(graph.num_nodes()))
    pairs = pair_array(np.column_stack([plain(ends) for ends in graph.edges()]))
    weights = graph.edata.get(fields.weight)
    labels, vectors = graph.ndata.get(fields.label), graph.ndata.get(fields.attributes)
    cure = (
        "dgl.to_bidirected(graph, copy_ndata=True)"
        if fields.weight is None
        else "dgl.add_reverse_edges(graph, copy_edata=True)"
    )
    return graph_from_pairs(index, names, pairs, weights, labels, vectors, fields, cure)
