"""Resolution: a GraphSchema and the names that graphs have -> the names that are read.

It takes graphs as their formats hold them, and returns a :class:`Plan`, or raises an error that
lists the names that there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from skgraphkde.graphs.formats.columns import is_missing
from skgraphkde.graphs.formats.common import Columns, Graph, length, plain
from skgraphkde.graphs.naming import listed
from skgraphkde.graphs.schema import (
    CONVENTIONS,
    KINDS,
    FittedSchema,
    GraphSchema,
    Widths,
    closest_names,
)


@dataclass(frozen=True)
class Plan:
    """What is read of some graphs, by name."""

    schema: GraphSchema
    names: dict[str, tuple[str, ...]]  # by kind, such as "node_categories"
    owners: dict[tuple[str, str], int]  # ("node" or "edge", name) -> a graph that has it
    left_out: tuple[str, ...]
    labels: dict[str, tuple[str, ...]]  # of columns of pandas, by attribute, as they are found

    def check_labels(
        self, index: int, part: str, name: str, labels: tuple[str, ...] | None
    ) -> None:
        """Raise a ValueError if columns, which are read by place, are others than elsewhere."""
        if labels is None:
            return
        known = self.labels.setdefault(f"{part} attribute {name!r}", labels)
        if labels != known:
            raise ValueError(
                f"graph {index}: the {part} attribute {name!r} has the columns {listed(labels)}, "
                f"and other graphs have {listed(known)}: give all the same in the same order, as "
                "table[columns] does"
            )

    def fitted(self, directed: bool, node_numbers: Widths, edge_numbers: Widths) -> FittedSchema:
        """What was read, once it is known how wide the numbers are."""
        return FittedSchema(
            self.names["node_categories"],
            node_numbers,
            self.names["edge_categories"],
            edge_numbers,
            self.schema.edge_weight,
            directed,
            self.schema.missing,
            self.schema.named("node_numbers"),
            self.left_out,
            self.schema.directed is False,
            self.schema.directed is True,
            tuple(sorted(self.labels.items())),
        )


def resolved(schema: GraphSchema, graphs: list[Graph], known: FittedSchema | None) -> Plan:
    """Decide what is read.

    Parameters
    ----------
    schema : GraphSchema
    graphs : list of Graph
    known : FittedSchema or None
        Where `schema` comes from, if other graphs were read before. What is in it and in none of
        these graphs is missing, if values may be.

    Raises
    ------
    ValueError
        If the schema names something that no graph has.
    """
    owners: dict[tuple[str, str], int] = {}
    unnamable: dict[str, None] = {}
    for graph in graphs:
        for part, columns in (("node", graph.nodes), ("edge", graph.edges)):
            for name in columns.names():
                if isinstance(name, str):
                    owners.setdefault((part, name), graph.index)
                else:
                    unnamable[f"{part} attribute {name!r} (rename it: this is no text)"] = None
    has_edges = any(len(graph.pairs) for graph in graphs)
    names: dict[str, tuple[str, ...]] = {}
    for kind in KINDS:
        part = kind.partition("_")[0]
        found = [name for owner, name in owners if owner == part]
        taken = {x for other in KINDS if other.startswith(part) for x in schema.named(other)}
        if part == "edge" and schema.edge_weight is not None:
            taken.add(schema.edge_weight)
        value = getattr(schema, kind)
        if value == "auto":
            names[kind] = tuple(x for x in CONVENTIONS[kind] if x in found and x not in taken)
        elif value == "all":
            free = [x for x in found if x not in taken]
            names[kind] = tuple(x for x in sorted(free) if _is_of(kind, x, part, graphs))
        else:
            names[kind] = schema.named(kind)
            for name in names[kind]:
                if name not in found and (part == "node" or has_edges):
                    if known is None or schema.missing == "error":
                        _check_given(graphs, part, name, found, known)
                    owners[part, name] = graphs[0].index
    weight = schema.edge_weight
    if weight is not None and has_edges and all(graph.weights is None for graph in graphs):
        found = [name for owner, name in owners if owner == "edge"]
        if weight not in found:
            _check_given(graphs, "edge", weight, found, known)
    left_out = (*_left_out(schema, names, owners), *unnamable)
    labels = {} if known is None else dict(known.labels)
    return Plan(schema, names, owners, left_out, labels)


def _check_given(
    graphs: list[Graph], part: str, name: str, found: list[str], known: FittedSchema | None
) -> None:
    """Raise if no graph has it, though it may be there without being listed."""
    if any(_columns(graph, part).get(name) is not None for graph in graphs):
        return
    there = closest_names(name, found) or "no attributes"
    why = "which the schema names" if known is None else "which earlier graphs had"
    who = f"graph {graphs[0].index} has" if len(graphs) == 1 else "no graph has"
    no = "no " if len(graphs) == 1 else "the "
    raise ValueError(f"{who} {no}{part} attribute {name!r}, {why}: {part}s have {there}")


def _columns(graph: Graph, part: str) -> Columns:
    return graph.nodes if part == "node" else graph.edges


def _is_of(kind: str, name: str, part: str, graphs: list[Graph]) -> bool:
    """Whether an attribute is of a kind, by its name or by whether its values are numbers."""
    conventional = [k for k in KINDS if k.startswith(part) and name in CONVENTIONS[k]]
    if conventional:
        return kind in conventional
    are_numbers = all(_are_numbers(_columns(graph, part).get(name)) for graph in graphs)
    return are_numbers == kind.endswith("numbers")


def _are_numbers(values: Any) -> bool:
    """Whether all values that are given are numbers."""
    values = plain(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.dtype.kind != "b"
    items: Iterable[Any] = values.values() if hasattr(values, "values") else values
    if length(values) is None:
        return True
    return all(is_number(value) for value in items if not is_missing(value))


def is_number(value: Any) -> bool:
    """Whether a value of an attribute is a number, or several."""
    if isinstance(value, bool | np.bool_):
        return False
    if isinstance(value, Real | np.number):
        return True
    array = value if isinstance(value, np.ndarray) else None
    if isinstance(value, list | tuple) and value and all(isinstance(x, Real) for x in value):
        return True
    return array is not None and array.dtype.kind in "iuf"


def _left_out(
    schema: GraphSchema, names: dict[str, tuple[str, ...]], owners: Iterable[tuple[str, str]]
) -> Iterable[str]:
    """What is there and not read."""
    for part in ("node", "edge"):
        kinds = [kind for kind in KINDS if kind.startswith(part)]
        read = {name for kind in kinds for name in names[kind]}
        if part == "edge" and schema.edge_weight is not None:
            read.add(schema.edge_weight)
        for owner, name in owners:
            if owner == part and name not in read:
                yield f"{part} attribute {name!r}"
