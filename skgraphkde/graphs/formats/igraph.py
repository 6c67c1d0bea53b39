"""Graphs of igraph: an ``igraph.Graph`` -> Graph. igraph itself is not imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from skgraphkde.graphs.formats.columns import require_nodes
from skgraphkde.graphs.formats.common import Columns, Graph
from skgraphkde.graphs.formats.edges import pair_array


def read_igraph(index: int, graph: Any, _: tuple[str, ...]) -> Graph:
    """Read a graph; messages name its nodes by the attribute "name" if it has one."""
    given = graph.vs.attributes()
    names = require_nodes(index, graph.vs["name"] if "name" in given else range(graph.vcount()))
    pairs = pair_array(graph.get_edgelist())
    if not graph.is_directed():
        pairs = np.sort(pairs, axis=1)  # the order of the ends is arbitrary
    kind = "arcs" if graph.is_directed() else "edges"
    return Graph(index, names, pairs, kind, _columns(graph.vs, ("name",)), _columns(graph.es))


def _columns(sequence: Any, ignored: tuple[str, ...] = ()) -> Columns:
    def get(name: str) -> list | None:
        return sequence[name] if name in sequence.attributes() else None

    return Columns(lambda: [name for name in sequence.attributes() if name not in ignored], get)
