"""Graphs of networkx: a ``networkx.Graph`` or ``MultiGraph`` -> Graph."""

from __future__ import annotations

import networkx as nx
import numpy as np

from skgraphkde.graphs.formats.common import Fields, Graph
from skgraphkde.graphs.formats.edges import pair_array, weight_of
from skgraphkde.graphs.formats.finish import graph_from_edges
from skgraphkde.graphs.formats.nodes import require_nodes


def read_networkx(index: int, graph: nx.Graph, fields: Fields) -> Graph:
    """Read an undirected graph with any hashable node ids."""
    if graph.is_directed():
        raise ValueError(f"graph {index} is directed: convert it with graph.to_undirected() first")
    names = require_nodes(index, list(graph))
    if graph.is_multigraph() and fields.weight is None:
        graph = nx.Graph(graph)  # parallel edges count once
    number = {name: k for k, name in enumerate(names)}
    edges, weights = [], []
    for u, v, weight in graph.edges(data=fields.weight):
        weight = 1.0 if fields.weight is None else weight_of(index, (u, v), weight, fields.weight)
        if u != v:
            edges.append((number[u], number[v]))
            weights.append(weight)
    labels, vectors = (
        [data.get(name) for _, data in graph.nodes(data=True)]
        for name in (fields.label, fields.attributes)
    )
    pairs = pair_array(edges)
    return graph_from_edges(index, names, pairs, np.array(weights), labels, vectors, fields)
