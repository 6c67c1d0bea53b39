"""Identifiers: categories whose values hardly repeat between graphs, such as names of hosts.

They say which node it is, not what kind of node: with a column each, every new graph would be odd.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skgraphkde.computing.warn import warn
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.schema import GraphSchema
from skgraphkde.graphs.selection import select_categories, without_repeated_arcs

# An identifier has at least so many values, and less than this share of the nodes have one that
# another graph has, too. Below the third number new graphs look odd, though it is none.
LEAST_VALUES, SHARED, OFTEN_SHARED = 10, 0.5, 0.8


def without_identifiers(
    batch: GraphBatch, schema: GraphSchema | None, counted: np.ndarray | None = None
) -> GraphBatch:
    """Leave out categories that are identifiers, unless the user named them: then warn.

    Also of those that are nearly so.

    Parameters
    ----------
    batch : GraphBatch
        The training graphs.
    schema : GraphSchema or None
        What the user wrote.
    counted : ndarray of int, default=None
        Graphs by which it is decided. None: all. Between copies of a graph any value repeats.
    """
    is_counted = np.ones(len(batch), dtype=bool)
    if counted is not None:
        is_counted = np.isin(np.arange(len(batch)), counted)
    for prefix, kind, owner in (
        ("", "node_categories", batch.graph_of_node),
        ("edge_", "edge_categories", batch.graph_of_arc),
    ):
        codes, names = getattr(batch, f"{prefix}labels"), getattr(batch, f"{prefix}label_names")
        categories = getattr(batch.schema, kind)
        if codes is None:
            continue
        named = () if schema is None else schema.named(kind)
        found = []
        for name in categories:
            own, values = select_categories(codes, names, categories, (name,))
            some = is_counted[owner]
            shared = _shared(np.asarray(own)[some], len(values), owner[some])
            if shared < SHARED and name not in named:
                found.append(name)
            elif shared < OFTEN_SHARED:
                _warn(f"{kind[:4]} category {name!r}", len(values), shared)
        if found:
            kept = tuple(name for name in categories if name not in found)
            own, values = select_categories(codes, names, categories, kept)
            left_out = [f"{kind[:4]} attribute {name!r} (an identifier)" for name in found]
            named_anew: dict[str, Any] = {kind: kept}
            fitted = replace(
                batch.schema, **named_anew, left_out=(*batch.schema.left_out, *left_out)
            )
            changes = {f"{prefix}labels": own, f"{prefix}label_names": values}
            # Edges that only it told apart are one.
            batch = without_repeated_arcs(batch.replace(**changes, schema=fitted))
    return batch


def _warn(what: str, n_values: int, shared: float) -> None:
    if shared < SHARED:
        warn(
            f"the {what} has {n_values} values that hardly repeat between graphs: it is an "
            "identifier, under which every new graph is odd; it is used because the schema names "
            "it"
        )
    else:
        part = what.partition(" ")[0]
        warn(
            f"the {what} has {n_values} values, and {1 - shared:.0%} of the {part}s have one that "
            "no other graph has: new graphs will have as many new ones and look odd; group the "
            "values, as dates into years, or leave it out"
        )


def _shared(codes: np.ndarray, n_values: int, owner: np.ndarray) -> float:
    """The share of nodes, or edges, with a value that another graph has; 1 if there are few."""
    if n_values < LEAST_VALUES or not len(codes):
        return 1.0
    value = np.unique(np.column_stack([codes, owner]), axis=0)[:, 0]  # once per graph
    n_graphs = np.bincount(value, minlength=n_values)
    return float((n_graphs[codes] > 1).mean())
