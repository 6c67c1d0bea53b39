"""Shared by all formats: the Graph that they return, and plain values.

The functions of this module take values as users and packages hold them (tensors, sparse arrays,
lists, arrays) and return arrays, lists or counts that the readers understand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.formats.kinds import any_is_a, is_a
from skgraphkde.graphs.problems import GraphError

# Numbers that are written as text; Python would also read 1_000, and digits of other scripts.
TEXT = re.compile(
    r"\s*[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf(inity)?)\s*", re.IGNORECASE
)


class Columns(NamedTuple):
    """Data of all nodes, or of all edges, of one graph."""

    names: Callable[[], Iterable[str]]  # of the attributes that there are
    get: Callable[[str], Any]  # the values of one, in any form; None if there is no such


@dataclass(frozen=True)
class Graph:
    """One graph as its format holds it, with numbered nodes."""

    index: int  # in the caller's list
    names: Any  # the caller's own node ids, shape (n,), for messages
    pairs: np.ndarray  # (m, 2): numbers of the nodes that edges join
    # What pairs are: "edges", each undirected edge once; "arcs", directed; "either", undirected
    # edges in one direction or in both; or "both", undirected if all are there in both directions.
    kind: str
    nodes: Columns
    edges: Columns
    # From the name of the weight, or None, to the weights; None: they are among `edges`.
    weights: Callable[[str | None], Any] | None = None
    is_simple: bool = False  # whether no two edges join the same nodes, and none is a loop


def columns_of(data: Mapping[str, Any]) -> Columns:
    """Columns from a dict of name -> values."""
    return Columns(lambda: list(data), data.get)


NO_COLUMNS = columns_of({})


def plain(values: Any) -> Any:
    """Convert a tensor (any device, with or without gradient) or sparse array to an array.

    So are pandas' objects, whose rows are the values, and masked arrays, with None where they are
    masked. Any other value is returned as it is.
    """
    if isinstance(values, list | tuple | float | int | str):  # most values of single nodes
        return values
    if sp.issparse(values):
        return values.toarray()
    if hasattr(values, "to_numpy"):  # iterating over a table would give the names of its columns
        values = values.to_numpy()
    if isinstance(values, np.ma.MaskedArray):
        is_masked, values = np.ma.getmaskarray(values), np.asarray(values.data)
        if is_masked.any():
            values = values.astype(object)
            values[is_masked] = None
        return values
    if not is_a(values, "torch", "Tensor"):
        return values
    values = values.detach().cpu().to_dense().resolve_conj()
    # NumPy has no bfloat16.
    return (values.double() if values.is_floating_point() else values).numpy()


def as_floats(values: Any) -> np.ndarray:
    """A copy of numbers in double precision.

    Raises
    ------
    TypeError, ValueError, RuntimeError, OverflowError
        If there is something that is no number, or that NumPy would make one without a word: it
        drops the imaginary part of complex numbers, and has an integer for dates and for NaT.
    """
    array = np.asarray(plain(values))
    if array.dtype.kind in "biuf":
        return array.astype(float)
    texts = array.flat if array.dtype.kind in "USO" else ()
    if any(isinstance(x, bytes) or (isinstance(x, str) and not TEXT.fullmatch(x)) for x in texts):
        raise ValueError("text that is no number")
    some: list[Any] = [array]
    if array.dtype == object:
        some = [value for value in array.flat if isinstance(value, np.generic)]
    kinds = {value.dtype.kind for value in some}
    if "c" in kinds:
        raise TypeError("complex numbers: give real and imaginary parts as numbers of their own")
    if kinds & {"m", "M"}:
        raise TypeError("dates or times: make them numbers first, such as days since an event")
    return array.astype(float)


def as_list(index: int, values: Any, key: str) -> list:
    """The values of a dict's key as a list.

    Iterators are refused, as reading would use them up, dicts, whose values would be lost, and
    sets, which have no order.
    """
    values = plain(values)
    if length(values) is None or isinstance(values, Mapping | Set):
        raise GraphError(index, f": {key!r} is a {type(values).__name__}, give a list or an array")
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def length(values: Any) -> int | None:
    """The number of values; None if they cannot be counted or are a single string, or bytes."""
    is_text = isinstance(values, str | bytes | bytearray | memoryview)
    if is_text or getattr(values, "ndim", 1) == 0:
        return None
    return len(values) if hasattr(values, "__len__") else None


def is_label(value: Any) -> bool:
    """True for a value that can be a category or a node id: hashable, and not NaN or NaT."""
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return False  # a tensor is hashable, but equal tensors have different hashes
    if type(value) is tuple:  # which is equal to itself, whatever it contains
        return all(is_label(item) for item in value)
    try:
        hash(value)
        return bool(value == value)  # NaN is not equal to itself
    except (TypeError, ValueError, RuntimeError):
        return False


def row_labels(values: Any) -> list | None:
    """The labels that pandas has for rows; None of anything else."""
    labels = getattr(values, "index", None) if hasattr(values, "to_numpy") else None
    return None if labels is None else list(labels)


def check_order(index: int, kind: str, names: Any, values: Any, name: str) -> None:
    """Refuse values of pandas whose index may mean another order than that of nodes, or edges."""
    labels = row_labels(values)
    if labels is None:
        return
    names = [names[k] for k in range(len(names))]
    if not same_order(labels, names):
        cure = ", as Series.to_dict() makes it" if kind == "node" else ""
        raise GraphError(
            index,
            f": the index of {name!r} ({first_few(labels)}) is not that of the "
            f"{kind}s in their order ({first_few(names)}): give a dict by {kind}{cure}, or the "
            f"values alone in the order of the {kind}s, as to_numpy() does",
        )


def column_labels(values: Any) -> tuple[str, ...] | None:
    """The labels of the columns of a table, or of a series, of pandas; None for 0, 1, ..."""
    if isinstance(values, Mapping | list | tuple):  # of the first of the nodes, or edges
        items = values.values() if isinstance(values, Mapping) else values
        if not any_is_a(items, "pandas", "Series"):
            return None
        labels = getattr(next((x for x in items if is_a(x, "pandas", "Series")), None), "index", ())
    else:
        labels = values.columns if is_a(values, "pandas", "DataFrame") else ()
    return None if list(labels) == list(range(len(labels))) else tuple(map(str, labels))


def same_order(rows: list, names: list) -> bool:
    """True if the labels of rows leave no doubt that these are in the order of the names.

    They are the names, or one of the two is 0, 1, ... and says nothing of the other.
    """
    if rows == names:
        return True
    are_counts = list(range(len(rows))) == rows or list(range(len(names))) == names
    return are_counts and set(rows) != set(names)


# -- for messages ----------------------------------------------------------------------------------


def describe_amount(values: Any) -> str:
    """The number of values, or a description of what is given instead of values."""
    if values is None:
        return "none"
    if getattr(values, "ndim", 1) > 1:
        return f"an array of shape {values.shape}"
    n_values = length(values)
    return f"the {type(values).__name__} {values!r}" if n_values is None else f"{n_values} values"


def first_few(names: Any) -> str:
    """The first five names, and "..." if there are more."""
    return ", ".join([*map(repr, names[:5]), *["..."] * (len(names) > 5)])


def unknown_node(node: Any, names: Any) -> str:
    """The statement that a node is not one of the graph's, with the ids that are."""
    known = f"0 to {len(names) - 1}" if isinstance(names, range) else first_few(names)
    return f"{node!r} is not among the {len(names)} nodes ({known})"
