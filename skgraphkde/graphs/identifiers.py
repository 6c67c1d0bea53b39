"""Identifiers: categories whose values hardly repeat between graphs, such as names of hosts.

They say which node it is, not what kind of node: with a column each, every new graph would be odd.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.schema import GraphSchema
from skgraphkde.graphs.selection import select_categories, without_repeated_arcs

# An identifier has at least so many values, and less than this share of the nodes have one that
# another graph has, too.
LEAST_VALUES, SHARED = 10, 0.5


def without_identifiers(
    batch: GraphBatch, schema: GraphSchema | None, counted: np.ndarray | None = None
) -> GraphBatch:
    """Leave out categories that are identifiers, unless the user named them: then warn.

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
            if not _is_identifier(np.asarray(own)[some], len(values), owner[some]):
                continue
            if name in named:
                warnings.warn(
                    f"the {kind[:4]} category {name!r} has {len(values)} values that hardly repeat "
                    "between graphs: it is an identifier, under which every new graph is odd; it "
                    "is used because the schema names it",
                    stacklevel=5,
                )
            else:
                found.append(name)
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


def _is_identifier(codes: np.ndarray, n_values: int, owner: np.ndarray) -> bool:
    if n_values < LEAST_VALUES:
        return False
    value = np.unique(np.column_stack([codes, owner]), axis=0)[:, 0]  # once per graph
    n_graphs = np.bincount(value, minlength=n_values)
    shared = (n_graphs[codes] > 1).mean()
    return bool(shared < SHARED)
