"""Batches that were read one after the other -> one batch.

What only some batches have is filled in where it may be missing, and is else an error that names
the graphs by their files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skgraphkde.graphs.arrays import filled_columns
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files.mixed import first_without_number
from skgraphkde.graphs.naming import shown
from skgraphkde.graphs.schema import CONVENTIONS, KINDS, FittedSchema, GraphSchema

# What readers call the graphs in a message: the first words, and another graph further on.
GRAPH = re.compile(r"^graph (\d+)|(?<=, and )graph (\d+)(?= has\b)")

LOOPS = re.compile(r"(\d+) self-loops?")


class Part(NamedTuple):
    """Some graphs that were read together."""

    names: list[str]  # of the graphs
    batch: GraphBatch


Wanted = dict[str, dict[str, int]]  # kind -> name -> number of columns, in order


def with_names(message: str, names: Sequence[str]) -> str:
    """A message about graphs with the names of their files."""

    def name(match: re.Match) -> str:
        index = int(match[1] or match[2])
        return names[index] if index < len(names) else match[0]

    if len(names) > 1 and message.startswith("no graph has "):
        first, last = names[0], names[-1]
        return f"none of the {len(names)} graphs from {first} to {last}{message[8:]}"
    return GRAPH.sub(name, message)


def joined(parts: Sequence[Part], schema: GraphSchema) -> GraphBatch:
    """One batch of all graphs.

    Parameters
    ----------
    parts : sequence of Part
        Read by one schema.
    schema : GraphSchema

    Raises
    ------
    ValueError
        If graphs differ in what they have, and the schema does not say ``missing="indicate"``.
    """
    if len(parts) == 1:
        return parts[0].batch
    _check_kinds(parts)
    wanted = {kind: _wanted(parts, kind, schema) for kind in KINDS}
    batch = GraphBatch.concatenate([_filled(part.batch, wanted) for part in parts])
    left_out = _left_out(batch.schema.left_out)
    return batch.replace(schema=replace(batch.schema, left_out=left_out))


def _check_kinds(parts: Sequence[Part]) -> None:
    """Check that nothing is a number in some graphs and a category in others."""
    for part in ("node", "edge"):
        kinds = f"{part}_numbers", f"{part}_categories"
        numbers, others = ({x for p in parts for x in _columns(p.batch.schema, k)} for k in kinds)
        for name in sorted(numbers & others):
            number, other = (_owner(parts, kind, name) for kind in kinds)
            for names, batch in parts:
                if name in _columns(batch.schema, kinds[1]):
                    odd = first_without_number(batch, kinds[1], name)
                    other = other if odd is None else f"{names[odd[0]]} ({shown(odd[1])!r})"
                    break
            raise ValueError(
                f"the {part} attribute {name!r} is a number in {number} and none in {other}: name "
                f"it in the schema, as one of {kinds[0]} or of {kinds[1]}"
            )


def _left_out(texts: Sequence[str]) -> tuple[str, ...]:
    """What was left out of any graph: data of nodes, data of edges, and the number of loops."""
    loops = [int(found[1]) for text in texts if (found := LOOPS.fullmatch(text))]
    others = dict.fromkeys(text for text in texts if not LOOPS.fullmatch(text))
    ordered = sorted(others, key=lambda text: not text.startswith("node"))
    total = sum(loops)
    return (*ordered, *[f"{total} self-loop{'s' * (total > 1)}"][: len(loops)])


def _wanted(parts: Sequence[Part], kind: str, schema: GraphSchema) -> dict[str, int]:
    """The names of a kind that any part has, with numbers of columns."""
    found: dict[str, int] = {}
    for names, batch in parts:
        for name, width in _columns(batch.schema, kind).items():
            if found.setdefault(name, width) != width:
                raise ValueError(
                    f"{names[0]} has {width} numbers in the {kind[:4]} attribute {name!r}, and "
                    f"{_owner(parts, kind, name)} has {found[name]}: give all graphs {kind[:4]} "
                    "attributes of the same width, or none"
                )
    if schema.missing == "error":
        for part in parts:
            lacking = [name for name in found if name not in _columns(part.batch.schema, kind)]
            if lacking and _has_elements(part, kind):
                raise ValueError(
                    f"{_first(part, kind)} has no {kind[:4]} attribute {lacking[0]!r}, and "
                    f"{_owner(parts, kind, lacking[0])} has: give it to all graphs or to none"
                )
    value = getattr(schema, kind)
    order = CONVENTIONS[kind] if value == "auto" else schema.named(kind) or sorted(found)
    return {name: found[name] for name in order if name in found}


def _columns(schema: FittedSchema, kind: str) -> dict[str, int]:
    value = getattr(schema, kind)
    return dict.fromkeys(value, 1) if kind.endswith("categories") else dict(value)


def _has_elements(part: Part, kind: str) -> bool:
    return kind.startswith("node") or part.batch.adjacency.nnz > 0


def _first(part: Part, kind: str) -> str:
    """The name of the first graph that has nodes, or edges."""
    has_edges = part.batch.n_edges_per_graph > 0
    return part.names[0 if kind.startswith("node") else int(has_edges.argmax())]


def _owner(parts: Sequence[Part], kind: str, name: str) -> str:
    """The name of a graph among those that have an attribute."""
    return next(_first(part, kind) for part in parts if name in _columns(part.batch.schema, kind))


# -- filling in ------------------------------------------------------------------------------------


def _filled(batch: GraphBatch, wanted: Wanted) -> GraphBatch:
    """The same graphs with all data that are wanted; what they lack is missing."""
    fitted = batch.schema
    if all(_columns(fitted, kind) == wanted[kind] for kind in KINDS):
        return batch
    labels, names = _categories(
        batch.labels,
        batch.label_names,
        fitted.node_categories,
        wanted["node_categories"],
        batch.n_nodes,
    )
    edge_labels, edge_names = _categories(
        batch.edge_labels,
        batch.edge_label_names,
        fitted.edge_categories,
        wanted["edge_categories"],
        batch.adjacency.nnz,
    )
    numbers = ((kind, tuple(wanted[kind].items())) for kind in ("node_numbers", "edge_numbers"))
    categories = ((kind, tuple(wanted[kind])) for kind in ("node_categories", "edge_categories"))
    changes: dict[str, Any] = {**dict(numbers), **dict(categories)}
    return batch.replace(
        labels=labels,
        label_names=names,
        attributes=filled_columns(
            batch.attributes, dict(fitted.node_numbers), wanted["node_numbers"], batch.n_nodes
        ),
        edge_labels=edge_labels,
        edge_label_names=edge_names,
        edge_attributes=filled_columns(
            batch.edge_attributes,
            dict(fitted.edge_numbers),
            wanted["edge_numbers"],
            batch.adjacency.nnz,
        ),
        schema=replace(fitted, **changes),
    )


def _categories(
    codes: np.ndarray | None,
    vocabulary: tuple[Any, ...],
    has: tuple[str, ...],
    wanted: Mapping[str, int],
    n: int,
) -> tuple[np.ndarray | None, tuple[Any, ...]]:
    """Codes and vocabulary with None in place of the categories that are not there."""
    if not wanted or has == tuple(wanted):
        return codes, vocabulary
    if codes is None:
        codes, vocabulary = np.zeros(n, dtype=np.int64), ((),) if n else ()
    elif len(has) == 1:
        vocabulary = tuple((value,) for value in vocabulary)
    by_name = [dict(zip(has, values, strict=True)) for values in vocabulary]
    rows = [tuple(values.get(name) for name in wanted) for values in by_name]
    return codes, tuple(rows if len(wanted) > 1 else (row[0] for row in rows))
