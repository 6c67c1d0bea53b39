"""Graphs of networkx, directed or not, with or without parallel edges -> Graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import networkx as nx

from skgraphkde.graphs.formats.columns import require_nodes
from skgraphkde.graphs.formats.common import Columns, Graph
from skgraphkde.graphs.formats.edges import pair_array


def read_networkx(index: int, graph: nx.Graph, _: tuple[str, ...]) -> Graph:
    """Read a graph with any hashable node ids."""
    names = require_nodes(index, list(graph))
    if any(name != name for name in names):  # NaN, of which each is a node of its own
        raise ValueError(
            f"graph {index} has a node whose id is NaN, as a missing end of an edge becomes: drop "
            "or name such edges before the graph is built"
        )
    number = {name: k for k, name in enumerate(names)}
    pairs = pair_array([(number[u], number[v]) for u, v in graph.edges()])
    return Graph(
        index,
        names,
        pairs,
        "arcs" if graph.is_directed() else "edges",
        _columns(lambda: (data for _, data in graph.nodes(data=True))),
        _columns(lambda: (data for *_, data in graph.edges(data=True))),
        is_simple=not graph.is_multigraph() and not (pairs[:, 0] == pairs[:, 1]).any(),
    )


def _columns(records: Callable[[], Iterable[Mapping[str, Any]]]) -> Columns:
    """Columns of a dict per node, or per edge."""

    def get(name: str) -> list | None:
        values = [record.get(name) for record in records()]
        return values if any(value is not None for value in values) else None

    return Columns(lambda: dict.fromkeys(name for record in records() for name in record), get)
