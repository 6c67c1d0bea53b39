"""Graphs of igraph: an ``igraph.Graph`` -> Graph. igraph itself is not imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from skgraphkde.graphs.formats.common import Fields, Graph
from skgraphkde.graphs.formats.edges import pair_array
from skgraphkde.graphs.formats.finish import graph_from_pairs
from skgraphkde.graphs.formats.nodes import require_nodes


def read_igraph(index: int, graph: Any, fields: Fields) -> Graph:
    """Read an undirected graph; messages name its nodes by the attribute "name" if it has one."""
    if graph.is_directed():
        raise ValueError(
            f"graph {index} is directed: convert it with "
            "graph.as_undirected(combine_edges='first') first"
        )
    given = graph.vs.attributes()
    names = require_nodes(index, graph.vs["name"] if "name" in given else range(graph.vcount()))
    labels, vectors = (
        graph.vs[name] if name in given else None for name in (fields.label, fields.attributes)
    )
    weights = graph.es[fields.weight] if fields.weight in graph.es.attributes() else None
    pairs = np.sort(pair_array(graph.get_edgelist()), axis=1)  # the order of the ends is arbitrary
    return graph_from_pairs(index, names, pairs, weights, labels, vectors, fields)
