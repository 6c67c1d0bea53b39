"""Readers of single graphs: which function reads a graph of which kind.

There is one module per package (networkx, igraph, DGL, PyTorch Geometric, RDKit) or kind of graph
(edge lists, triples as in GraKeL, matrices). Each has one function that takes the index of a graph
in the caller's list, the graph, and the schema. It returns a
:class:`~skgraphkde.graphs.formats.common.Graph` (numbered nodes, pairs of them, and columns of
data), or raises one error that names the node and the cure. No package is imported to read its
graphs, and graphs are never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.formats.common import Graph, is_a
from skgraphkde.graphs.formats.dgl import read_dgl
from skgraphkde.graphs.formats.edge_list import read_edge_list
from skgraphkde.graphs.formats.grakel import read_triple
from skgraphkde.graphs.formats.igraph import read_igraph
from skgraphkde.graphs.formats.matrices import read_pair
from skgraphkde.graphs.formats.networkx import read_networkx
from skgraphkde.graphs.formats.pyg import read_pyg
from skgraphkde.graphs.formats.rdkit import read_mol
from skgraphkde.graphs.schema import GraphSchema

__all__ = ["is_one_graph", "reader_of"]

Reader = Callable[[int, Any, GraphSchema], Graph]

# The module, and the names of the classes whose instances are graphs, that a function reads.
_PACKAGES: dict[Reader, tuple[str, ...]] = {
    read_networkx: ("networkx", "Graph"),
    read_dgl: ("dgl", "DGLGraph"),
    read_pyg: ("torch_geometric.data", "Data", "HeteroData"),
    read_igraph: ("igraph", "Graph"),
    read_mol: ("rdkit.Chem", "Mol"),
}


def reader_of(graph: Any) -> Reader | None:
    """The function that reads a graph of this kind; None if the object is not a graph."""
    for reader, classes in _PACKAGES.items():
        if is_a(graph, *classes):
            return reader
    if isinstance(graph, Mapping):
        return read_edge_list
    if _is_triple(graph):
        return read_triple
    is_pair = isinstance(graph, tuple) and len(graph) == 2
    return read_pair if is_pair or sp.issparse(graph) else None


def is_one_graph(graph: Any) -> bool:
    """True for an object given in place of a list of graphs that can only be one graph."""
    is_edge_list = isinstance(graph, Mapping) and "edges" in graph
    return is_edge_list or reader_of(graph) in _PACKAGES


def _is_triple(graph: Any) -> bool:
    """True if `graph` is edges with dicts of labels, as in GraKeL, rather than a pair (A, X)."""
    if not isinstance(graph, list | tuple) or len(graph) not in (2, 3):
        return False
    edges, *labels = graph
    if not all(part is None or isinstance(part, Mapping) for part in labels):
        return False
    if isinstance(edges, Mapping | set | frozenset):
        return True
    are_edges = isinstance(edges, list | tuple | np.ndarray) or sp.issparse(edges)
    return are_edges and (labels[0] is not None or len(labels) == 2)
