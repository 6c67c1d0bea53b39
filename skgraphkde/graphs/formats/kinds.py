"""Kinds of graphs: an object -> the name of its kind, without importing a package.

The functions of this module take any object. A graph of a package can only exist where the package
is loaded, so they look the package up in ``sys.modules`` instead of importing it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

# Kind -> the module and the names of the classes whose instances are graphs of this kind.
_CLASSES = {
    "networkx": ("networkx", "Graph"),
    "dgl": ("dgl", "DGLGraph"),
    "pyg": ("torch_geometric.data", "Data", "HeteroData"),
    "igraph": ("igraph", "Graph"),
    "rdkit": ("rdkit.Chem", "Mol"),
}


def package_of(graph: Any) -> str | None:
    """The package whose graph this is, a key of :data:`_CLASSES`; None if there is none."""
    for kind, (module, *names) in _CLASSES.items():
        if is_a(graph, module, *names):
            return kind
    return None


def is_a(thing: Any, module: str, *names: str) -> bool:
    """True if `thing` is an instance of one of some classes.

    Parameters
    ----------
    thing : object
    module : str
        The module of the classes.
    *names : str
        Their names.
    """
    loaded = sys.modules.get(module)
    return any(isinstance(thing, getattr(loaded, name, ())) for name in names)


def is_one_graph(graph: Any) -> bool:
    """True for an object given in place of a list of graphs that can only be one graph."""
    is_edge_list = isinstance(graph, Mapping) and "edges" in graph
    return is_edge_list or package_of(graph) is not None


def is_triple(graph: Any) -> bool:
    """True if `graph` is edges with dicts of labels, as in GraKeL, rather than a pair (A, X)."""
    if not isinstance(graph, list | tuple) or len(graph) not in (2, 3):
        return False
    edges, *labels = graph
    if not all(part is None or isinstance(part, Mapping) for part in labels):
        return False
    is_matrix = isinstance(edges, np.ndarray) or sp.issparse(edges)
    only_edges = isinstance(edges, Mapping | set | frozenset)
    says_triple = labels[0] is not None or len(labels) == 2
    return only_edges or ((is_matrix or isinstance(edges, list | tuple)) and says_triple)


def is_pair(graph: Any) -> bool:
    """True if `graph` is given as matrices: a pair (A, X), or a sparse matrix A alone."""
    return sp.issparse(graph) or (isinstance(graph, tuple) and len(graph) == 2)
