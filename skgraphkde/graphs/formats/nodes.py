"""Node data: labels and attributes as a graph holds them -> one value or one row per node.

The functions of this module take the node ids and a dict, list, array or tensor of values. They
return values in the order of the nodes, or raise an error that names the node that lacks one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skgraphkde.graphs.formats.common import (
    describe_amount,
    first_few,
    length,
    plain,
    unknown_node,
)


def require_nodes(index: int, names: Any) -> Any:
    """Return the node ids if there are any."""
    if not len(names):
        raise ValueError(f"graph {index} has no nodes: leave it out or give it a node")
    return names


def longest(*columns: Any) -> int | None:
    """The length of the longest column; None if there is none. Dicts by node do not count."""
    lengths = [length(values) for values in columns if not isinstance(values, Mapping)]
    return max((n_values for n_values in lengths if n_values is not None), default=None)


def values_per_node(index: int, names: Any, values: Any, name: str) -> Any:
    """One value per node, from a dict by node or from a sequence; None if no node has a value."""
    values = plain(values)
    if values is None:
        return None
    if isinstance(values, Mapping):
        known = set(names)
        for node in values:
            if node not in known:
                raise ValueError(
                    f"graph {index} has {name!r} for a node that it does not have: "
                    f"{unknown_node(node, names)}: remove it or add the node"
                )
        values = [values.get(node) for node in names]
    n_values = length(values)
    if n_values is None or n_values > len(names) or isinstance(values, set | frozenset):
        raise ValueError(
            f"graph {index} has {len(names)} nodes and {describe_amount(values)} as {name!r}: "
            "give every node one value, in a list or an array"
        )
    if isinstance(values, np.ndarray) and values.dtype != object and n_values == len(names):
        return values
    values = [*values, *[None] * (len(names) - n_values)]
    missing = [node for node, value in zip(names, values, strict=True) if value is None]
    if not missing:
        return values
    if len(missing) == len(values):
        return None
    nodes_have = "node {} has" if len(missing) == 1 else "nodes {} have"
    raise ValueError(
        f"graph {index}, {nodes_have.format(first_few(missing))} no {name!r}, but other nodes of "
        f"the graph do ({len(missing)} of {len(values)} lack it): give it to every node or to none"
    )


def attribute_rows(index: int, names: Any, values: Any, name: str) -> np.ndarray | None:
    """The attributes of the nodes, vectors or single numbers, as rows, shape (n, p)."""
    if values is None:
        return None
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and values.ndim <= 2:
        return values.astype(float).reshape(len(names), -1 if values.size else 0)
    width = None
    rows = []
    for node, vector in zip(names, values, strict=True):
        where = f"graph {index}, node {node!r}: the node attribute {name!r}"
        try:
            row = np.atleast_1d(np.asarray(plain(vector), dtype=float))
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            raise ValueError(
                f"{where} is not a number or a vector of numbers: {vector!r}"
            ) from error
        if row.ndim != 1:
            raise ValueError(f"{where} has shape {row.shape}: give a number or a flat vector")
        width = len(row) if width is None else width
        if len(row) != width:
            raise ValueError(
                f"{where} has {len(row)} numbers, but the nodes before it have {width}: "
                "give all nodes vectors of the same length"
            )
        rows.append(row)
    return np.stack(rows)
