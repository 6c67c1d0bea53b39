"""The last step for every format: what is read of a graph, checked -> arcs and their data.

The functions of this module take a graph as its format holds it, and the names that are read. They
return a :class:`Finished` graph whose numbers are all usable.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skgraphkde.graphs.formats.columns import (
    CURE,
    EdgeNames,
    Elements,
    categories,
    column,
    edges_of,
    nodes_of,
    numbers,
)
from skgraphkde.graphs.formats.common import Columns, Graph, check_order, column_labels
from skgraphkde.graphs.formats.edges import (
    check_opposite_weights,
    check_range,
    check_weights,
    merged,
    opposite,
    weights_of,
)
from skgraphkde.graphs.resolution import Plan


class Data(NamedTuple):
    """Categories and numbers of the nodes, or of the edges, of one graph."""

    labels: list[Hashable] | None  # tuples, if there are several categories
    numbers: list[np.ndarray]  # one of shape (n, width) for each name


@dataclass(frozen=True)
class Finished:
    """A graph that is ready to be joined with others."""

    index: int
    n_nodes: int
    arcs: np.ndarray  # (n_arcs, 2), an undirected edge as two
    weights: np.ndarray  # (n_arcs,)
    edge_of_arc: np.ndarray  # (n_arcs,): into the data of the edges
    is_directed: bool
    n_loops: int
    nodes: Data
    edges: Data


def finished(graph: Graph, plan: Plan) -> Finished:
    """Read what the plan names.

    Raises
    ------
    ValueError
        The message names the graph and the node or edge.
    """
    check_range(graph.index, graph.names, graph.pairs)
    weights, adds_up = _weights(graph, plan)
    nodes = _data(nodes_of(graph), graph.nodes, plan, "node")
    edges = Data(None, [])
    if len(graph.pairs):
        edges = _data(edges_of(graph, plan.schema.directed is True), _edges(graph), plan, "edge")
    n_loops = 0
    kept = np.arange(len(graph.pairs))
    if not graph.is_simple:
        kept = np.flatnonzero(graph.pairs[:, 0] != graph.pairs[:, 1])
        n_loops = len(graph.pairs) - len(kept)
    check_weights(graph.index, graph.names, graph.pairs[kept], weights[kept])
    arcs, weights, edge_of_arc, is_directed = _arcs(graph, plan, kept, weights, adds_up, edges)
    n_nodes = len(graph.names)
    return Finished(
        graph.index, n_nodes, arcs, weights, edge_of_arc, is_directed, n_loops, nodes, edges
    )


def _edges(graph: Graph) -> Columns:
    """The data of the edges; a self-loop, which is left out anyway, may lack them."""
    if graph.is_simple:
        return graph.edges
    is_loop = graph.pairs[:, 0] == graph.pairs[:, 1]

    def get(name: str) -> Any:
        values = graph.edges.get(name)
        if not isinstance(values, list) or len(values) != len(is_loop):
            return values
        other = next((x for x in values if x is not None), None)
        pairs = zip(values, is_loop, strict=True)
        return [other if x is None and of_loop else x for x, of_loop in pairs]

    return Columns(graph.edges.names, get)


def _weights(graph: Graph, plan: Plan) -> tuple[np.ndarray, bool]:
    """The weight of each pair, and whether those of parallel edges are added."""
    name = plan.schema.edge_weight
    values = None
    if graph.weights is not None:
        values = graph.weights(name)
    elif name is not None:
        values = graph.edges.get(name)
    if (name is None and values is None) or not len(graph.pairs):
        return np.ones(len(graph.pairs)), False
    name = name or "weight"
    check_order(graph.index, "edge", EdgeNames(graph), values, name)
    return weights_of(graph.index, graph.names, graph.pairs, values, name), True


def _data(elements: Elements, columns: Columns, plan: Plan, part: str) -> Data:
    missing = plan.schema.missing
    found: dict[str, Any] = {}
    for kind in ("categories", "numbers"):
        for name in plan.names[f"{part}_{kind}"]:
            given = columns.get(name)
            plan.check_labels(elements.index, part, name, column_labels(given))
            values = column(elements, given, name, missing)
            if values is None and missing == "indicate":
                values = [None] * len(elements.names)
            if values is None:
                _lacks(elements, plan, part, name)
            read = categories if kind == "categories" else numbers
            found[name] = read(elements, values, name, missing)
    by_category = [found[name] for name in plan.names[f"{part}_categories"]]
    labels: list[Hashable] | None = None
    if by_category:
        several = len(by_category) > 1
        labels = list(zip(*by_category, strict=True)) if several else by_category[0]
    return Data(labels, [found[name] for name in plan.names[f"{part}_numbers"]])


def _lacks(elements: Elements, plan: Plan, part: str, name: str) -> None:
    other = plan.owners.get((part, name), elements.index)
    beside = f", and graph {other} has: give it to all graphs or to none, {CURE}"
    raise ValueError(
        f"graph {elements.index} has no {part} attribute {name!r}"
        f"{beside if other != elements.index else f', which is to be read: give it one, {CURE}'}"
    )


def _arcs(
    graph: Graph,
    plan: Plan,
    kept: np.ndarray,
    weights: np.ndarray,
    adds_up: bool,
    edges: Data,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Arcs, their weights, the edge that each one comes from, and whether they are directed."""
    directed = plan.schema.directed
    kind = graph.kind
    if directed is False:
        kind = "either" if kind in ("arcs", "both") else kind
    elif directed is True:
        kind = "arcs" if kind in ("either", "both") else kind
    pairs, weights = graph.pairs[kept], weights[kept]
    if kind == "edges":
        pairs = np.sort(pairs, axis=1) if not graph.is_simple else pairs
    if graph.is_simple and kind in ("edges", "arcs"):
        is_directed, once = kind == "arcs", np.arange(len(pairs))
    else:
        codes = _codes(edges, kept)
        first, weights = merged(graph, pairs, weights, codes, adds_up)
        pairs, kept, codes = pairs[first], kept[first], codes[first]
        back = opposite(graph, pairs, codes)
        is_directed = kind == "arcs" or (kind == "both" and not _is_symmetric(weights, back))
        once = np.arange(len(pairs))
        if not is_directed and kind != "edges":
            check_opposite_weights(graph, pairs, weights, back)
            once = np.flatnonzero((pairs[:, 0] < pairs[:, 1]) | (back < 0))
    pairs, weights, kept = pairs[once], weights[once], kept[once]
    if is_directed:
        return pairs, weights, kept, True
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return both, np.concatenate([weights, weights]), np.concatenate([kept, kept]), False


def _is_symmetric(weights: np.ndarray, back: np.ndarray) -> bool:
    """Whether each arc has an opposite of the same weight."""
    return bool((back >= 0).all() and (abs(weights - weights[back]) <= 1e-8 * weights).all())


def _codes(edges: Data, kept: np.ndarray) -> np.ndarray:
    """A number for each kept edge, equal for those with the same data."""
    codes = np.zeros(len(kept), dtype=np.int64)
    if edges.labels is not None:
        number: Mapping[Hashable, int] = {x: i for i, x in enumerate(dict.fromkeys(edges.labels))}
        codes = np.array([number[edges.labels[k]] for k in kept], dtype=np.int64)
    for rows in edges.numbers:
        columns = np.column_stack([codes, np.nan_to_num(rows[kept], nan=np.inf)])
        codes = np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1)
    return codes
