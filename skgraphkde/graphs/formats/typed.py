"""Heterogeneous graphs: nodes and edges by type -> Graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from skgraphkde.graphs.arrays import offsets
from skgraphkde.graphs.formats.common import Columns, Graph, pair_array, plain

# A type, how many nodes or edges are of it, and their data by name.
OfType = tuple[str, int, dict[str, Any]]


def join_types(
    index: int, nodes: list[OfType], edges: dict[tuple[str, str, str], tuple[np.ndarray, dict]]
) -> Graph:
    """One graph of all nodes and edges, whose types are "node_type" and "edge_type".

    Parameters
    ----------
    index : int
        The position of the graph.
    nodes : list of (str, int, dict)
        Each type, its number of nodes, and their data.
    edges : dict
        From (type of the source, type of the edge, type of the target) to pairs of numbers of nodes
        in their types, shape (m, 2), and the data of these edges.
    """
    counts = [n for _, n, _ in nodes]
    first = dict(zip((kind for kind, *_ in nodes), offsets(counts)[:-1], strict=True))
    pairs = [ends + np.array([first[u], first[v]]) for (u, _, v), (ends, _) in edges.items()]
    of_edges = [(kind, len(ends), data) for (_, kind, _), (ends, data) in edges.items()]
    return Graph(
        index,
        range(sum(counts)),
        np.concatenate([pair_array([]), *pairs]),
        "both",
        _columns(nodes, "node_type"),
        _columns(of_edges, "edge_type"),
    )


def _columns(types: list[OfType], type_name: str) -> Columns:
    """Columns of all types, end to end; the column `type_name` holds the types.

    Types without a column have missing values there.
    """
    names = dict.fromkeys([type_name, *(name for *_, data in types for name in data)])

    def get(name: str) -> Any:
        if name not in names:
            return None
        if name == type_name:
            return [kind for kind, n, _ in types for _ in range(n)]
        given = [(plain(data.get(name)), n) for _, n, data in types]
        return [x for values, n in given for x in ([None] * n if values is None else values)]

    return Columns(names, get)
