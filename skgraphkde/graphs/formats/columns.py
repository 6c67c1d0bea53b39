"""Columns: data of nodes or edges as a graph holds them -> categories, or rows of numbers.

The functions of this module take the elements of a graph (its nodes, or its edges) and a dict,
list, array or tensor of values. They return values in the order of the elements, or raise an error
that names the element that lacks one.
"""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from skgraphkde.graphs.arrays import LARGEST
from skgraphkde.graphs.formats.common import (
    Graph,
    as_floats,
    check_order,
    describe_amount,
    first_few,
    is_label,
    length,
    plain,
    unknown_node,
)
from skgraphkde.graphs.formats.kinds import is_a
from skgraphkde.graphs.problems import GraphError

CURE = "or say missing='indicate' in the GraphSchema"


@dataclass(frozen=True)
class Elements:
    """The nodes, or the edges, of a graph, for messages."""

    index: int  # of the graph
    kind: str  # "node" or "edge"
    names: Any  # ids of nodes, or pairs of them
    one_way: bool = False  # whether edges have a direction

    def where(self, k: int) -> str:
        """The element k in the text of an error, after the name of the graph."""
        return f", {self.kind} {self.names[k]!r}"


class EdgeNames:
    """The pairs of node ids that edges join, made one at a time."""

    def __init__(self, graph: Graph) -> None:
        self.names, self.pairs = graph.names, graph.pairs

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, k: int) -> tuple:
        u, v = self.pairs[k].tolist()
        return self.names[u], self.names[v]


def nodes_of(graph: Graph) -> Elements:
    """The nodes of a graph."""
    return Elements(graph.index, "node", graph.names)


def edges_of(graph: Graph, directed: bool) -> Elements:
    """The edges of a graph, which are directed if it is, or if all are to be read so."""
    return Elements(graph.index, "edge", EdgeNames(graph), directed or graph.kind == "arcs")


def require_nodes(index: int, names: Any) -> Any:
    """Return the node ids if there are any."""
    if not len(names):
        raise GraphError(index, " has no nodes: leave it out or give it a node")
    return names


def longest(*columns: Any) -> int | None:
    """The length of the longest column; None if there is none. Dicts by node do not count."""
    lengths = [length(values) for values in columns if not isinstance(values, Mapping)]
    return max((n_values for n_values in lengths if n_values is not None), default=None)


def is_missing(value: Any) -> bool:
    """True for a missing value: None, NaN, NaT, a masked one, or pandas' NA."""
    if value is None or isinstance(value, str):
        return value is None
    if value is np.ma.masked:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return type(value).__name__ in ("NAType", "NaTType")


def column(elements: Elements, values: Any, name: str, missing: str) -> Any:
    """One value per element, from a dict by node or from a sequence; None if none has a value.

    With ``missing="indicate"`` the values of elements without one are None.
    """
    index, kind, names = elements.index, elements.kind, elements.names
    check_order(index, kind, names, values, name)
    values = plain(values)
    if values is None:
        return None
    if isinstance(values, Mapping):
        values = _by_name(elements, values, name)
    n_values = length(values)
    n_lacking = None if n_values is None else len(names) - n_values
    fits = n_lacking == 0 or (n_lacking is not None and n_lacking > 0 and missing == "error")
    if not fits or isinstance(values, set | frozenset):
        raise GraphError(
            index,
            f" has {len(names)} {kind}s and {describe_amount(values)} as {name!r}: "
            f"give every {kind} one value, in a list or an array",
        )
    is_array = isinstance(values, np.ndarray) and values.dtype.kind not in "OmM"
    if is_array and not n_lacking:
        return values
    values = [*values, *[None] * (n_lacking or 0)]
    if missing == "indicate" or type(None) not in set(map(type, values)):
        return values
    lacking = [k for k, value in enumerate(values) if value is None]
    if len(lacking) == len(values):
        return None
    have = f"{kind} {{}} has" if len(lacking) == 1 else f"{kind}s {{}} have"
    raise GraphError(
        index,
        f", {have.format(first_few([names[k] for k in lacking]))} no {name!r}, but "
        f"other {kind}s of the graph do ({len(lacking)} of {len(values)} lack it): give it to "
        f"every {kind} or to none, {CURE}",
    )


def _by_name(elements: Elements, values: Mapping, name: str) -> list:
    index, kind, names = elements.index, elements.kind, elements.names
    if kind == "edge":
        pairs = [names[k] for k in range(len(names))]
        known = {*pairs, *(() if elements.one_way else (pair[::-1] for pair in pairs))}
        for pair in values:
            if pair not in known:
                raise GraphError(
                    index,
                    f" has {name!r} for the edge {pair!r}, which it does not have: "
                    "remove it or add the edge",
                )
        if elements.one_way:
            return [values.get(pair) for pair in pairs]
        return [value_of_edge(index, pair, values, name) for pair in pairs]
    known = set(names)
    for node in values:
        if node not in known:
            raise GraphError(
                index,
                f" has {name!r} for a node that it does not have: "
                f"{unknown_node(node, names)}: remove it or add the node",
            )
    return [values.get(node) for node in names]


def value_of_edge(index: int, edge: tuple, values: Mapping, name: str) -> Any:
    """The value of an undirected edge, which may be given for either direction, or for both."""
    there, back = values.get(edge), values.get(edge[::-1])
    if is_missing(there) or is_missing(back):
        return back if is_missing(there) else there
    if not _are_equal(there, back):
        raise GraphError(
            index,
            f" has two values of {name!r} for the edge {edge!r}, which has no "
            f"direction: {there!r} and, the other way round, {back!r}; give it one, or make the "
            "graph directed",
        )
    return there


def _are_equal(value: Any, other: Any) -> bool:
    """True if two values are equal; missing numbers in vectors are equal."""
    if all(isinstance(x, np.ndarray | list) or is_a(x, "torch", "Tensor") for x in (value, other)):
        try:
            return np.array_equal(as_floats(value), as_floats(other), equal_nan=True)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            return False
    return type(value == other) is bool and value == other


# Whose values can all be categories.
PLAIN_LABELS = {str, int, bool}


def categories(elements: Elements, values: Any, name: str, missing: str) -> list[Hashable]:
    """The category of each element, checked; None for one that is missing."""
    values = values.tolist() if isinstance(values, np.ndarray) else values
    if set(map(type, values)) <= PLAIN_LABELS:
        return list(values)
    if missing == "indicate":
        return [None if is_missing(x) else _category(elements, k, x) for k, x in enumerate(values)]
    return [_category(elements, k, value) for k, value in enumerate(values)]


def _category(elements: Elements, k: int, value: Any) -> Hashable:
    if not is_label(value):
        what = "label" if elements.kind == "node" else "category"
        raise GraphError(
            elements.index,
            f"{elements.where(k)} has the {what} {value!r}: a {what} must be hashable and not "
            f"missing (numbers belong in {elements.kind}_numbers, such as 'x'); {CURE}",
        )
    return value


def numbers(elements: Elements, values: Any, name: str, missing: str) -> np.ndarray:
    """The numbers of the elements as rows, shape (n, width), checked; NaN for missing ones."""
    rows = _rows(elements, values, name, missing)
    usable = np.abs(rows) <= LARGEST  # not NaN, not infinite
    if missing == "indicate":
        usable |= np.isnan(rows)
    if not usable.all():
        k, position = np.argwhere(~usable)[0]
        which = f"number {position} of the" if rows.shape[1] > 1 else "the"
        raise GraphError(
            elements.index,
            f"{elements.where(k)}: {which} {elements.kind} attribute {name!r} is "
            f"{rows[k, position]}: impute, clip or drop it first, {CURE}"
            if np.isnan(rows[k, position])
            else f"{elements.where(k)}: {which} {elements.kind} attribute {name!r} is "
            f"{rows[k, position]}: clip or drop it first",
        )
    return rows


def _rows(elements: Elements, values: Any, name: str, missing: str) -> np.ndarray:
    n = len(elements.names)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and values.ndim <= 2:
        return values.astype(float).reshape(n, -1 if values.size else 0)
    if (at_once := _plain_rows(values)) is not None:
        return at_once
    width = labels = None
    rows: list[np.ndarray | None] = []
    for k, value in enumerate(values):
        if is_a(value, "pandas", "Series"):
            labels = value.index if labels is None else labels
            if not value.index.equals(labels):
                raise GraphError(
                    elements.index,
                    f"{elements.where(k)}: the {elements.kind} attribute {name!r} is a Series with "
                    f"the labels {value.index.tolist()}, but those before it have "
                    f"{labels.tolist()}: give all the same labels in the same order",
                )
        if missing == "indicate" and is_missing(value):
            rows.append(None)
            continue
        row = _row(elements, k, value, name)
        width = len(row) if width is None else width
        if len(row) != width:
            raise GraphError(
                elements.index,
                f"{elements.where(k)}: the {elements.kind} attribute {name!r} has {len(row)} "
                f"numbers, but the {elements.kind}s before it have {width}: give all "
                f"{elements.kind}s vectors of the same length",
            )
        rows.append(row)
    blank = np.full(1 if width is None else width, np.nan)
    return np.stack([blank if row is None else row for row in rows]) if rows else np.empty((0, 1))


def _plain_rows(values: Sequence[Any]) -> np.ndarray | None:
    """Rows of numbers, or of vectors of one length; None for all that is to be looked at closer."""
    types = set(map(type, values))
    if types == {np.ndarray}:
        if {(x.dtype.kind in "iuf", x.ndim) for x in values} != {(True, 1)}:
            return None
        widths, vectors = set(map(len, values)), values
    else:
        vectors = values if types <= {list, tuple} else [(x,) for x in values]
        widths = set(map(len, vectors))
        if not set(map(type, chain.from_iterable(vectors))) <= {int, float}:
            return None
    if len(widths) != 1 or widths == {0}:
        return None
    try:
        rows = np.array(vectors, dtype=float)
    except OverflowError:
        return None
    return None if np.isnan(rows).any() else rows


def _row(elements: Elements, k: int, value: Any, name: str) -> np.ndarray:
    where = f"{elements.where(k)}: the {elements.kind} attribute {name!r}"
    if is_missing(value):
        raise GraphError(
            elements.index, f"{where} is {value}, a missing value: impute or drop it, {CURE}"
        )
    if isinstance(value, np.timedelta64 | datetime.timedelta):
        raise GraphError(
            elements.index,
            f"{where} is not a number but the duration {value!r}: make it a number first, such as "
            "seconds",
        )
    if isinstance(value, np.datetime64 | datetime.date):
        raise GraphError(
            elements.index,
            f"{where} is not a number but the date {value!r}: make it a number first, such as days "
            "since an event",
        )
    try:
        row = np.atleast_1d(as_floats(value))
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise GraphError(
            elements.index, f"{where} is not a number or a vector of numbers: {value!r}"
        ) from error
    if row.ndim != 1:
        raise GraphError(
            elements.index, f"{where} has shape {row.shape}: give a number or a flat vector"
        )
    return row
