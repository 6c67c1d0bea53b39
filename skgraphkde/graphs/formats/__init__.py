"""Readers of single graphs: which function reads a graph of which kind.

There is one module per package (networkx, igraph, DGL, PyTorch
Geometric, RDKit) or kind of graph (edge
lists, triples as in GraKeL, matrices). Each has one function that takes the index of a graph in the
caller's list, the graph, and the names of node data. It returns a
:class:`~skgraphkde.graphs.formats.common.Graph` (numbered nodes, pairs of them, and columns of
data), or raises one error that names the node and the cure. No package is imported to read its
graphs, and graphs are never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skgraphkde.graphs.formats.common import Graph
from skgraphkde.graphs.formats.dgl import read_dgl
from skgraphkde.graphs.formats.edge_list import read_edge_list
from skgraphkde.graphs.formats.grakel import read_triple
from skgraphkde.graphs.formats.igraph import read_igraph
from skgraphkde.graphs.formats.kinds import is_one_graph, is_pair, is_triple, package_of
from skgraphkde.graphs.formats.matrices import read_pair
from skgraphkde.graphs.formats.networkx import read_networkx
from skgraphkde.graphs.formats.pyg import read_pyg
from skgraphkde.graphs.formats.rdkit import read_mol

__all__ = ["is_one_graph", "reader_of"]

Reader = Callable[[int, Any, tuple[str, ...]], Graph]

_READERS: dict[str, Reader] = {
    "networkx": read_networkx,
    "dgl": read_dgl,
    "pyg": read_pyg,
    "igraph": read_igraph,
    "rdkit": read_mol,
}


def reader_of(graph: Any) -> Reader | None:
    """The function that reads a graph of this kind; None if the object is not a graph."""
    if isinstance(graph, Mapping):
        return read_edge_list
    if is_triple(graph):
        return read_triple
    if is_pair(graph):
        return read_pair
    package = package_of(graph)
    return None if package is None else _READERS[package]
