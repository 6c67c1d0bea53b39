"""Edges and their weights as a graph holds them -> arrays with each undirected edge once.

The functions of this module take pairs of node ids or numbers, and weights. They return arrays of
node numbers (m, 2), weights (m,) or indices, or raise an error that names the edge and the cure.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Set
from numbers import Real
from typing import Any

import numpy as np

from skgraphkde.graphs.arrays import LARGEST
from skgraphkde.graphs.formats.common import (
    Graph,
    describe_amount,
    is_label,
    length,
    plain,
    unknown_node,
)
from skgraphkde.graphs.problems import GraphError


def pair_array(edges: Any) -> np.ndarray:
    """Pairs of node numbers as an array (m, 2). If there are none, `edges` can have any shape."""
    return np.array(edges, dtype=np.int64).reshape(-1, 2)


def ends_of(index: int, edge: Any) -> tuple:
    """The two node ids of an edge in a list.

    Two letters, and the keys of a dict, are no edge. A set has two nodes, but no first one.
    """
    u = v = None
    if not isinstance(edge, str | bytes | Mapping | Set):
        with contextlib.suppress(TypeError, ValueError):
            u, v = edge
    if u is None or v is None or not (is_label(u) and is_label(v)):
        raise GraphError(index, f": the edge {edge!r} is not a pair (u, v) of node ids")
    return u, v


def number_ends(index: int, names: Any, edges: list[tuple]) -> np.ndarray:
    """Convert pairs of node ids to pairs of node numbers, shape (m, 2)."""
    for name in names:
        if name is None or not is_label(name):
            raise GraphError(
                index, f" has the node id {name!r}: a node id must be hashable, and not None"
            )
    number = {name: k for k, name in enumerate(names)}
    if len(number) < len(names):
        twice = next(name for k, name in enumerate(names) if number[name] != k)
        raise GraphError(index, f" lists the node {twice!r} twice: list every node once")
    for edge in edges:
        for node in edge:
            if node not in number:
                raise GraphError(
                    index,
                    f", edge {edge!r}: {unknown_node(node, names)}: "
                    "list the ids of all nodes in 'nodes', or leave the edge out",
                )
    return pair_array([(number[u], number[v]) for u, v in edges])


def weight_of(index: int, edge: tuple, weight: Any, name: str) -> float:
    """The weight of one edge as a float."""
    if not isinstance(weight, Real | np.bool_) or isinstance(weight, np.timedelta64):
        what = "no" if weight is None else f"the {type(weight).__name__} {weight!r} as"
        raise GraphError(
            index,
            f", edge {edge!r} has {what} {name!r}: give every edge a number; a weight "
            "cannot be missing",
        )
    try:
        return float(weight)
    except OverflowError:  # an integer that is too large for a float
        return np.inf


def weights_of(index: int, names: Any, pairs: np.ndarray, values: Any, name: str) -> np.ndarray:
    """The weights of all edges from a sequence or a column, shape (m,)."""
    values = plain(values)
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if length(values) != len(pairs) or getattr(values, "ndim", 1) != 1:
        raise GraphError(
            index,
            f" has {len(pairs)} edges and {describe_amount(values)} as {name!r}: "
            "give every edge a number",
        )
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.astype(float)
    edges = [(names[u], names[v]) for u, v in pairs]
    return np.array(
        [weight_of(index, edge, value, name) for edge, value in zip(edges, values, strict=True)]
    )


def check_weights(index: int, names: Any, edges: np.ndarray, weights: np.ndarray) -> None:
    """Check that all weights are positive, finite and not too large."""
    bad = ~((weights > 0) & (weights <= LARGEST))
    if bad.any():
        u, v = edges[bad.argmax()]
        raise GraphError(
            index,
            f", edge ({names[u]!r}, {names[v]!r}) has the weight "
            f"{weights[bad.argmax()]}: weights must be positive, and at most {LARGEST:g}",
        )


def check_range(index: int, names: Any, pairs: np.ndarray) -> None:
    """Check that all node numbers are numbers of nodes."""
    outside = ((pairs < 0) | (pairs >= len(names))).any(axis=1)
    if outside.any():
        u, v = pairs[outside.argmax()].tolist()
        node = v if 0 <= u < len(names) else u
        raise GraphError(
            index,
            f", edge ({u}, {v}): {unknown_node(node, names)}: raise the number of "
            "nodes or leave the edge out",
        )


def merged(
    graph: Graph, pairs: np.ndarray, weights: np.ndarray, codes: np.ndarray, adds_up: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs without repetitions: indices of the first of each, and the weights, added up.

    Parallel edges that agree in their data (`codes`) are one edge.

    Parameters
    ----------
    graph : Graph
    pairs : ndarray of shape (m, 2)
    weights : ndarray of shape (m,)
    codes : ndarray of shape (m,)
        Equal for edges with the same data.
    adds_up : bool
        Whether weights are added, or all are 1.

    Returns
    -------
    first : ndarray of int
    weights : ndarray
    """
    key = _keys(graph, pairs, codes)
    _, first, position = np.unique(key, return_index=True, return_inverse=True)
    if not adds_up:
        return first, weights[first]
    return first, np.bincount(position, weights, len(first))


def _keys(graph: Graph, pairs: np.ndarray, codes: np.ndarray) -> np.ndarray:
    n_codes = int(codes.max(initial=0)) + 1
    return (pairs[:, 0] * len(graph.names) + pairs[:, 1]) * n_codes + codes


def opposite(graph: Graph, pairs: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The index of each pair's opposite with the same data; -1 if there is none.

    `pairs` are without repetitions, sorted by :func:`merged`.
    """
    key, back = _keys(graph, pairs, codes), _keys(graph, pairs[:, ::-1], codes)
    position = np.minimum(np.searchsorted(key, back), len(key) - 1)
    return np.where(key[position] == back, position, -1)


def check_opposite_weights(
    graph: Graph, pairs: np.ndarray, weights: np.ndarray, back: np.ndarray
) -> None:
    """Check that the two directions of an edge have the same weight."""
    unequal = (back >= 0) & (abs(weights - weights[back]) > 1e-8 * weights)
    if unequal.any():
        k = unequal.argmax()
        a, b = (graph.names[end] for end in pairs[k].tolist())
        raise GraphError(
            graph.index,
            f", edge ({a!r}, {b!r}) has the weight {weights[k]}, but "
            f"({b!r}, {a!r}) has {weights[back[k]]}: in an undirected graph both directions have "
            "the same weight; read it with GraphSchema(directed=True) if it is directed",
        )
