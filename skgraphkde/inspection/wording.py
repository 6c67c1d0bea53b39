"""Wording: what nodes and edges are called in reasons, by their ids and their categories."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from skgraphkde.graphs.batch import GraphBatch


def node_ids(graphs: Any) -> list[list] | None:
    """The ids of the nodes of networkx graphs; None for others."""
    if isinstance(graphs, GraphBatch) or not all(isinstance(x, nx.Graph) for x in graphs):
        return None
    return [list(graph) for graph in graphs]


def part_names(graph: GraphBatch, kind: str) -> list[str]:
    """What each node, or each arc, is called by its categories; `kind` is that of Parts."""
    return _node_names(graph) if kind == "categories" else _edge_names(graph)


def _node_names(graph: GraphBatch) -> list[str]:
    """The categories of each node, in words."""
    categories = graph.schema.node_categories
    names = [_named(categories, value) for value in graph.label_names]
    return [names[code] for code in np.asarray(graph.labels)]


def _edge_names(graph: GraphBatch) -> list[str]:
    """The categories of each arc and of its ends, in words."""
    source, target = graph.source_of_arc, graph.adjacency.indices
    ends = [""] * graph.n_nodes
    if graph.labels is not None:
        ends = [_value(graph.label_names[code]) for code in np.asarray(graph.labels)]
    between = [""] * len(target)
    if graph.edge_labels is not None:
        between = [_value(graph.edge_label_names[code]) for code in graph.edge_labels]
    arrow = "->" if graph.directed else "-"
    texts = []
    for u, v, what in zip(source, target, between, strict=True):
        a, b = ends[u], ends[v]
        if not graph.directed and b < a:
            a, b = b, a
        texts.append(" ".join(filter(None, (a, f"-{what}{arrow}" if what else arrow, b))))
    return texts


def _named(categories: tuple[str, ...], value: Any) -> str:
    values = value if len(categories) > 1 else (value,)
    return " with ".join(f"{name}={x}" for name, x in zip(categories, values, strict=True))


def _value(value: Any) -> str:
    return "/".join(map(str, value)) if isinstance(value, tuple) else str(value)
