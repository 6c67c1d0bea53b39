"""Attributes that are numbers in most files: the value that makes them categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skgraphkde.computing.warn import warn
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import shown
from skgraphkde.graphs.resolution import is_number
from skgraphkde.graphs.schema import CONVENTIONS, GraphSchema
from skgraphkde.graphs.selection import select_categories


def warn_of_mixed(names: Sequence[str], batch: GraphBatch, schema: GraphSchema) -> None:
    """Warn of attributes that are categories only because of a few values, and say of which.

    Parameters
    ----------
    names : sequence of str
        Of the graphs.
    batch : GraphBatch
    schema : GraphSchema
        What the user wrote.
    """
    for kind in ("node_categories", "edge_categories"):
        if getattr(schema, kind) != "all":
            continue
        for name in set(getattr(batch.schema, kind)) - set(CONVENTIONS[kind]):
            odd = first_without_number(batch, kind, name)
            if odd is not None and odd[2] < 0.5:
                warn(
                    f"{names[odd[0]]} has {shown(odd[1])!r} as {kind[:4]} attribute {name!r}, "
                    "which is a number nearly everywhere else: it is read as a category. Correct "
                    f"the value, or name the attribute in {kind[:4]}_numbers, and no other value "
                    "is accepted"
                )


def first_without_number(batch: GraphBatch, kind: str, name: str) -> tuple[int, Any, float] | None:
    """A graph, its value of a category that is no number, and the share of such values."""
    prefix, owner = ("", batch.graph_of_node)
    if kind.startswith("edge"):
        prefix, owner = "edge_", batch.graph_of_arc
    codes, values = select_categories(
        getattr(batch, f"{prefix}labels"),
        getattr(batch, f"{prefix}label_names"),
        getattr(batch.schema, kind),
        (name,),
    )
    if codes is None or not len(codes):
        return None
    is_other = np.array([value is not None and not is_number(value) for value in values])
    is_text = is_other & ~np.array([_reads_as_number(value) for value in values])
    others = np.flatnonzero((is_text if is_text.any() else is_other)[codes])
    if not len(others):
        return None
    first = others[0]
    return int(owner[first]), values[codes[first]], float(is_other[codes].mean())


def _reads_as_number(value: Any) -> bool:
    """Whether it is a number where numbers are text, in a file in which one value is none."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
