"""Shared by all formats: the Graph that they return, ids of nodes, and plain values.

The functions of this module take values as users and packages hold them (tensors, sparse arrays,
lists, arrays) and return arrays, lists or counts that the readers understand.
"""

from __future__ import annotations

import contextlib
import datetime
import re
import sys
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Set
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from numbers import Integral
from operator import itemgetter
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from skgraphkde._messages import listed
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.core.graphs.schema import GraphSchema, names_in_schema

# Numbers that should be equal differ by so many units in the last place, at most.
LAST_DIGITS = 8
# The largest power of ten that is exact in double precision.
MOST_EXACT = 22
# Of an hour.
NANOSECONDS = 3.6e12
# Of one graph, which would take gigabytes.
MOST_NODES = 10**8
# In a cell of a table: 007 is none.
NUMBER = re.compile(
    r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|nan|[+-]?inf(inity)?", re.IGNORECASE
)
# What graphs are called, what may be predicted of them, and what networkx writes there.
# These are read only if a schema names them.
NO_DATA = {"name", "id", "node_default", "edge_default"}
# Words that name what may be predicted, in any spelling.
TARGETS = {
    *("y", "label", "class", "target", "targets", "truth", "groundtruth"),
    *("anomaly", "isanomaly", "outlier", "isoutlier", "fraud", "isfraud"),
}


class Written(float):
    """A number as a table has it, such as 1.10, which is a category where other values are text.

    Parameters
    ----------
    value : float
    text : str
        How it is written.
    """

    text: str

    def __new__(cls, value: float, text: str) -> Self:
        """The number; its text is an attribute."""
        number = super().__new__(cls, value)
        number.text = text
        return number

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]  # of a copy
        return float(self), self.text


def category_of(text: str, number: Any) -> Any:
    """The number in a cell if it is written like one, else the text; a missing one is missing.

    Examples
    --------
    >>> category_of("1.5", 1.5), category_of("1.50", 1.5)
    (1.5, '1.50')
    """
    if number is None or number != number:
        return number
    return number if str(number) == text and number not in (inf, -inf) else text


def as_written(text: str, number: Any) -> Any:
    """A number with its text, if that would be its category."""
    return Written(number, text) if isinstance(category_of(text, number), str) else number


def cell_of(text: str) -> Any:
    """The number that a text is, with how it is written; else the text."""
    number = number_of(text)
    return text if number is None else as_written(text, number)


def number_of(text: str) -> int | float | None:
    """The number that a text is; None if it is none."""
    if not NUMBER.fullmatch(text):
        return None
    return int(text) if text.lstrip("+-").isdigit() else float(text)


@dataclass(frozen=True)
class Graph:
    """One graph as its format holds it, with numbered nodes.

    `node` and `edge` have the data of nodes and edges, dicts of name -> one value each, in any form
    (a list, an array, a tensor, a dict by id), and `graph` those of the graph itself, lists of one
    value. The values are None where the schema does not read the name.
    """

    index: int | str  # in the caller's list, or what the graph is called, for messages
    names: Any  # the caller's own node ids, shape (n,), for messages
    pairs: np.ndarray  # (m, 2): numbers of the nodes that edges join
    # "edges", each undirected edge once; "arcs", directed; "either", undirected edges in one
    # direction or in both; or "both", undirected if all are there in both directions.
    kind: str
    node: Mapping[str, Any] = field(default_factory=dict)
    edge: Mapping[str, Any] = field(default_factory=dict)
    graph: Mapping[str, Any] = field(default_factory=dict)
    weights: Any = None  # of a format whose edges have weights without a name
    is_simple: bool = False  # whether no two edges join the same nodes
    name: str = ""  # of the graph; "" if it has none
    # Data of which the format does not say of what they are, and the parts that they can be of.
    guessed: Mapping[str, tuple[Any, tuple[str, ...]]] = field(default_factory=dict)
    # By part and name: what the columns of a vector are, if its width depends on a type.
    layouts: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not len(self.names):
            raise GraphError(self.index, " has no nodes: leave it out or give it a node")

    def size(self, part: str) -> int:
        """The number of nodes, of edges, or of graphs, which is 1; by "node", "edge", "graph"."""
        return {"node": len(self.names), "edge": len(self.pairs), "graph": 1}[part]

    def ids(self, part: str) -> Sequence[Any]:
        """The ids of the nodes, the pairs of them that edges join, or the position of the graph."""
        if part == "edge":
            return [(self.names[u], self.names[v]) for u, v in self.pairs.tolist()]
        return self.names if part == "node" else [self.index]


def columns_of_graph(data: Mapping[str, Any], schema: GraphSchema) -> dict[str, list]:
    """Columns from a dict of name -> value of a graph."""
    named = names_in_schema(schema, "graph")
    return flattened({x: [value] for x, value in data.items() if x not in NO_DATA or x in named})


def words_in_name(name: str) -> set[str]:
    """The words of a name, in small letters.

    Examples
    --------
    >>> sorted(words_in_name("isNormal_2"))
    ['2', 'is', 'normal']
    """
    return {word.lower() for word in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name)}


def is_target(name: str) -> bool:
    """True for the name of what may be predicted, in any spelling, also of what is nested.

    Examples
    --------
    >>> [is_target(x) for x in ("Class", "is_fraud", "info.is_fraud", "Y", "position.y")]
    [True, True, True, True, False]
    """
    own = name.lower()
    nested = own.rpartition(".")[2] if "." in own else ""
    if re.sub("[^a-z]", "", nested) in TARGETS - {"y", "label", "class"}:
        return True
    return re.sub("[^a-z]", "", own) in TARGETS


def flattened(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns without dicts: what these hold under "nodes" in "stats" is in "stats.nodes"."""
    found: dict[str, Any] = {}
    for name, values in columns.items():
        are_dicts = {dict} <= set(map(type, values or ())) <= {dict, type(None)}
        keys = dict.fromkeys(key for x in values if x for key in x) if are_dicts else {}
        if not keys or not all(isinstance(key, str) for key in keys):  # others are ids
            found[name] = values
            continue
        inner = {f"{name}.{key}": [(x or {}).get(key) for x in values] for key in keys}
        found |= flattened(inner)
    return found


# -- ids of nodes ----------------------------------------------------------------------------------


def pair_array(edges: Any) -> np.ndarray:
    """Pairs of node numbers as an array (m, 2). If there are none, `edges` can have any shape."""
    return np.array(edges, dtype=np.int64).reshape(-1, 2)


def ends_of(index: int, edge: Any) -> tuple:
    """The two node ids of an edge in a list.

    Two letters, and the keys of a dict, are no edge. A set has two nodes, but no first one.

    Parameters
    ----------
    index : int
        The position of the graph, for messages.
    edge : object
    """
    if not isinstance(edge, str | bytes | Mapping | Set):
        with contextlib.suppress(TypeError, ValueError):
            u, v = edge
            if u is not None and v is not None and is_label(u) and is_label(v):
                return u, v
    raise GraphError(index, f": the edge {edge!r} is not a pair (u, v) of node ids")


def number_ends(index: int, names: Any, edges: list[tuple]) -> np.ndarray:
    """Convert pairs of node ids to pairs of node numbers, shape (m, 2).

    Parameters
    ----------
    index : int
        The position of the graph, for messages.
    names : sequence
        All node ids of the graph.
    edges : list of tuple
    """
    number: dict[Any, int] = {}
    for name in names:
        if name is None or not is_label(name):
            raise GraphError(
                index, f" has the node id {name!r}: a node id must be hashable, and not None"
            )
        if name in number:
            raise GraphError(index, f" lists the node {name!r} twice: list every node once")
        number[name] = len(number)
    for edge in edges:
        for end in edge:
            if end not in number:
                raise GraphError(
                    index,
                    f", edge {edge!r}: {unknown_node(end, names)}: "
                    "list the ids of all nodes in 'nodes', or leave the edge out",
                )
    return pair_array([(number[u], number[v]) for u, v in edges])


def is_label(value: Any) -> bool:
    """True for a value that can be a category or a node id: hashable, and not NaN or NaT."""
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return False  # a tensor is hashable, but equal tensors have different hashes
    if type(value) is tuple:  # which is equal to itself, whatever it contains
        return all(is_label(item) for item in value)
    try:
        hash(value)
        return bool(value == value)  # NaN is not equal to itself
    except (TypeError, ValueError):
        return False


def without_last_digits(pairs: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Numbers of arcs, equal in both directions if all of them differ by no more than rounding.

    Parameters
    ----------
    pairs : ndarray of shape (m, 2), int
        The nodes that arcs join.
    values : ndarray of shape (m,) or (m, n_columns)
        In the precision in which they were given.
    """
    if values.dtype.kind != "f" or not len(pairs) or not np.isfinite(values).all():
        return values
    u, v = pairs.T
    n = int(pairs.max()) + 1
    key = u * n + v
    back = v * n + u
    order = np.argsort(key, kind="stable")
    if not np.array_equal(key[order], np.sort(back)) or (np.diff(key[order]) == 0).any():
        return values  # there are arcs in one direction only, or parallel ones
    other = values[order[np.searchsorted(key[order], back)]]
    size = np.maximum(np.abs(values), np.abs(other))
    if not (np.abs(values - other) <= LAST_DIGITS * np.finfo(values.dtype).eps * size).all():
        return values
    is_first = (u < v) if values.ndim == 1 else (u < v)[:, np.newaxis]
    return np.where(is_first, values, other)


# A name of data that says nothing of an edge.
of_no_edge: ContextVar[str | None] = ContextVar("of_no_edge", default=None)


class Directions:
    """Recognizes rows that list an undirected edge once more, in the other direction.

    The long table of a symmetric matrix has two rows for each edge, which are one edge.
    """

    def __init__(self) -> None:
        self._count = Counter[tuple]()

    def is_return(self, u: Hashable, v: Hashable, data: Mapping[str, Any]) -> bool:
        """True if the edge from v to u, with the same data, was listed before this one.

        Parameters
        ----------
        u, v : hashable
            The ends of an undirected edge.
        data : mapping of str
        """
        left_out = of_no_edge.get()
        items = [item for item in data.items() if item[0] != left_out]
        said = repr(sorted(items, key=itemgetter(0)))
        self._count[u, v, said] += 1
        return u != v and self._count[u, v, said] <= self._count[v, u, said]


# -- values ----------------------------------------------------------------------------------------


def is_a(thing: Any, module: str, *names: str) -> bool:
    """True if `thing` is an instance of one of some classes, whose package is not imported for it.

    Parameters
    ----------
    thing : object
    module : str
        The module of the classes. An instance can only exist where it is loaded.
    *names : str
        The names of the classes.
    """
    loaded = sys.modules.get(module)
    return loaded is not None and any(isinstance(thing, getattr(loaded, x, ())) for x in names)


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
        return values.to_numpy()
    if isinstance(values, np.ma.MaskedArray):
        is_masked = np.ma.getmaskarray(values)
        values = np.asarray(values.data)
        return np.where(is_masked, None, values) if is_masked.any() else values
    if not is_a(values, "torch", "Tensor"):
        return values
    values = values.detach().cpu().to_dense().resolve_conj()
    if str(values.dtype) == "torch.bfloat16":  # which NumPy has not
        values = values.double()
    return values.numpy()


def as_floats(values: Any) -> np.ndarray:
    """A copy of numbers in double precision.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If there is something that is no number, or that NumPy would make one without a word: it
        drops the imaginary part of complex numbers, and has an integer for dates and for NaT.
    """
    array = np.asarray(plain(values))
    if array.dtype.kind == "m":
        return in_hours(array)
    if array.dtype.kind in "cM":
        raise TypeError(
            "complex numbers, dates or times: make them numbers first, such as the real part and "
            "the imaginary part, or days since an event"
        )
    return as_doubles(array)


def as_doubles(array: np.ndarray) -> np.ndarray:
    """Numbers in double precision, of which those of less are the decimal numbers that they mean.

    The 0.1 of single precision is 0.1, and not 0.100000001490116: the number with the fewest
    decimal digits that is nearest to it, as NumPy writes it.

    Parameters
    ----------
    array : ndarray of numbers

    Examples
    --------
    >>> as_doubles(np.array([0.1, 2.5, 1e10], dtype=np.float32)).tolist()
    [0.1, 2.5, 10000000000.0]
    """
    found = array.astype(float)
    if array.dtype.kind != "f" or array.dtype.itemsize >= found.dtype.itemsize:
        return found
    finfo = np.finfo(array.dtype)
    values = found.ravel()
    left = np.flatnonzero(np.isfinite(values) & (values != 0))
    for n_digits in range(1, finfo.precision + 4):
        some = values[left]
        exponent = n_digits - 1 - np.floor(np.log10(np.abs(some)))
        # Powers of ten up to this one are exact, so that each quotient is rounded only once.
        power = 10.0 ** np.minimum(np.abs(exponent), MOST_EXACT)
        short = np.where(
            exponent >= 0, np.rint(some * power) / power, np.rint(some / power) * power
        )
        is_meant = (short.astype(array.dtype) == some) & (np.abs(exponent) <= MOST_EXACT)
        values[left[is_meant]] = short[is_meant]
        left = left[~is_meant]
    return values.reshape(array.shape)


def in_hours(durations: Any) -> np.ndarray:
    """Durations as hours, NaN for missing ones.

    Parameters
    ----------
    durations : ndarray of timedelta64, or sequence of durations
    """
    array = np.array(durations, dtype="timedelta64[ns]")
    return np.where(np.isnat(array), np.nan, array.astype(np.int64) / NANOSECONDS)


def is_duration(value: Any) -> bool:
    """True for a timedelta of Python, NumPy or pandas."""
    return isinstance(value, datetime.timedelta | np.timedelta64)


def as_list(index: int, values: Any, key: str) -> list:
    """The values of a dict's key as a list.

    Iterators are refused, as reading would use them up, dicts, whose values would be lost, and
    sets, which have no order.

    Parameters
    ----------
    index : int
        The position of the graph, for messages.
    values : object
    key : str
        Of the dict that is the graph, for messages.
    """
    values = plain(values)
    if length(values) is None or isinstance(values, Mapping | Set):
        raise GraphError(index, f": {key!r} is a {type(values).__name__}, give a list or an array")
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def length(values: Any) -> int | None:
    """The number of values; None if they cannot be counted or are a single string, or bytes."""
    if isinstance(values, str | bytes) or getattr(values, "ndim", 1) == 0:
        return None
    return len(values) if hasattr(values, "__len__") else None


def longest(data: Mapping[str, Any], names: Collection[str]) -> int | None:
    """The length of the longest of some columns; None if there is none, dicts by node apart."""
    columns = [plain(data.get(name)) for name in names]
    lengths = [length(values) for values in columns if not isinstance(values, Mapping)]
    return max((n_values for n_values in lengths if n_values is not None), default=None)


def number_of_nodes(index: int, given: Any) -> int:
    """The number of nodes that a graph is said to have, if it can be one."""
    is_integer = isinstance(given, Integral) and not isinstance(given, bool)
    if not is_integer or not 0 <= given <= MOST_NODES:
        raise GraphError(
            index, f": 'num_nodes' is {given!r}: give an integer from 0 to {MOST_NODES}"
        )
    return int(given)


def is_missing(value: Any) -> bool:
    """True for a missing value: None, NaN, NaT, a masked one, or pandas' NA."""
    if value is None or isinstance(value, str):
        return value is None
    if isinstance(value, float | np.floating | np.datetime64 | np.timedelta64):
        return bool(value != value)
    return value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")


# -- for messages ----------------------------------------------------------------------------------


def listed_ids(ids: Iterable[Any]) -> str:
    """The first few of some ids, as Python writes them, and how many more there are."""
    return listed(list(map(repr, ids)))


def unknown_node(node: Any, names: Any) -> str:
    """The statement that a node is not one of the graph's, with the ids that are.

    Parameters
    ----------
    node : hashable
    names : sequence
        The ids of all nodes.
    """
    known = f"0 to {len(names) - 1}" if isinstance(names, range) else listed_ids(names)
    return f"{node!r} is not among the {len(names)} nodes ({known})"
