"""Graphs of PyTorch Geometric: a ``torch_geometric.data.Data`` -> Graph.

PyTorch Geometric itself is not imported.
"""

from __future__ import annotations

from typing import Any

from skgraphkde.graphs.formats.common import Fields, Graph, plain
from skgraphkde.graphs.formats.edges import pair_array
from skgraphkde.graphs.formats.finish import graph_from_pairs
from skgraphkde.graphs.formats.kinds import is_a
from skgraphkde.graphs.formats.nodes import longest, require_nodes


def read_pyg(index: int, graph: Any, fields: Fields) -> Graph:
    """Read a graph that holds each edge in both directions."""
    if is_a(graph, "torch_geometric.data", "HeteroData"):
        raise ValueError(
            f"graph {index} has nodes or edges of several types: convert it with "
            "graph.to_homogeneous() first"
        )
    if is_a(graph, "torch_geometric.data", "Batch"):
        raise ValueError(
            f"graph {index} is a batch of {graph.num_graphs} graphs: give graph.to_data_list()"
        )
    given = graph.to_dict()
    edges = plain(given.get("edge_index"))
    if (
        edges is None
        or edges.ndim != 2
        or len(edges) != 2
        or (edges.size and edges.dtype.kind not in "iu")
    ):
        raise ValueError(
            f"graph {index} has {'no' if edges is None else 'a broken'} edge_index: give it "
            "integers of shape (2, n_edges), or torch.empty((2, 0)) if it has no edges"
        )
    labels, vectors, weights = (plain(given.get(name)) for name in fields)
    n_nodes = None if "num_nodes" in given else longest(labels, vectors)
    # If nothing gives the number of nodes, PyG guesses it from the largest id in an edge, and
    # warns.
    names = require_nodes(index, range(int(graph.num_nodes) if n_nodes is None else n_nodes))
    cure = "torch_geometric.transforms.ToUndirected()(graph)"
    pairs = pair_array(edges.T)
    return graph_from_pairs(index, names, pairs, weights, labels, vectors, fields, cure)
