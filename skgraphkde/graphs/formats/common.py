"""Shared by all formats: the Graph that they return, ids of nodes, and plain values.

The functions of this module take values as users and packages hold them (tensors, sparse arrays,
lists, arrays) and return arrays, lists or counts that the readers understand.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.arrays import offsets
from skgraphkde.graphs.naming import listed
from skgraphkde.graphs.problems import GraphError


class Columns(NamedTuple):
    """Data of all nodes, or of all edges, of one graph, or of the graph itself."""

    names: Iterable[str]  # of the attributes that there are
    get: Callable[[str], Any]  # the values of one, in any form; None if there is no such


def columns_of(data: Mapping[str, Any]) -> Columns:
    """Columns from a dict of name -> values."""
    return Columns(list(data), data.get)


NO_COLUMNS = columns_of({})


# What graphs are called, what somebody wants to predict of them, and what networkx writes there.
# These are read only if a schema writes them.
NO_DATA = {"name", "id", "y", "label", "target", "class", "anomaly", "node_default", "edge_default"}


def columns_of_graph(data: Mapping[str, Any]) -> Columns:
    """Columns from a dict of name -> value of a graph."""

    def get(name: str) -> list | None:
        value = data.get(name)
        return None if value is None else [value]

    return Columns([name for name in data if name not in NO_DATA], get)


@dataclass(frozen=True)
class Graph:
    """One graph as its format holds it, with numbered nodes."""

    index: int  # in the caller's list
    names: Any  # the caller's own node ids, shape (n,), for messages
    pairs: np.ndarray  # (m, 2): numbers of the nodes that edges join
    # "edges", each undirected edge once; "arcs", directed; "either", undirected edges in one
    # direction or in both; or "both", undirected if all are there in both directions.
    kind: str
    nodes: Columns = NO_COLUMNS
    edges: Columns = NO_COLUMNS
    whole: Columns = NO_COLUMNS  # of the graph itself: one value each, in a list
    # From the name of the weight, or None, to the weights; None: they are among `edges`.
    weights: Callable[[str | None], Any] | None = None
    is_simple: bool = False  # whether no two edges join the same nodes
    name: str = ""  # of the graph; "" if it has none

    def __post_init__(self) -> None:
        if not len(self.names):
            raise GraphError(self.index, " has no nodes: leave it out or give it a node")

    def columns(self, part: str) -> Columns:
        """The data of the nodes, the edges, or the graph; `part` is "node", "edge" or "graph"."""
        return self.nodes if part == "node" else self.edges if part == "edge" else self.whole

    def size(self, part: str) -> int:
        """The number of nodes, of edges, or of graphs, which is 1."""
        return 1 if part == "graph" else len(self.names if part == "node" else self.pairs)

    def weights_of(self, name: str | None) -> Any:
        """The weights of the edges; None if there are none. Without a name, those of a matrix."""
        if self.weights is not None:
            return self.weights(name)
        return None if name is None else self.edges.get(name)

    def ids(self, part: str) -> Sequence[Any]:
        """The ids of the nodes, the pairs of them that edges join, or the position of the graph."""
        if part == "node":
            return self.names
        if part == "graph":
            return [self.index]
        return [(self.names[u], self.names[v]) for u, v in self.pairs.tolist()]


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
    u = v = None
    if not isinstance(edge, str | bytes | Mapping | Set):
        with contextlib.suppress(TypeError, ValueError):
            u, v = edge
    if u is None or v is None or not (is_label(u) and is_label(v)):
        raise GraphError(index, f": the edge {edge!r} is not a pair (u, v) of node ids")
    return u, v


def number_ends(index: int, names: Any, edges: list[tuple]) -> np.ndarray:
    """Convert pairs of node ids to pairs of node numbers.

    Parameters
    ----------
    index : int
        The position of the graph, for messages.
    names : sequence
        All node ids of the graph.
    edges : list of tuple

    Returns
    -------
    ndarray of shape (m, 2)
    """
    for name in names:
        if name is None or not is_label(name):
            raise GraphError(
                index, f" has the node id {name!r}: a node id must be hashable, and not None"
            )
    number = {name: k for k, name in enumerate(names)}
    if len(number) < len(names):
        twice = next(name for k, name in enumerate(names) if number[name] != k)
        raise GraphError(index, f" lists the node {twice!r} twice: list every node once")
    try:
        return pair_array([(number[u], number[v]) for u, v in edges])
    except KeyError:
        edge, node = next((e, node) for e in edges for node in e if node not in number)
        raise GraphError(
            index,
            f", edge {edge!r}: {unknown_node(node, names)}: "
            "list the ids of all nodes in 'nodes', or leave the edge out",
        ) from None


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
        values = values.to_numpy()
    if isinstance(values, np.ma.MaskedArray):
        is_masked, values = np.ma.getmaskarray(values), np.asarray(values.data)
        return np.where(is_masked, None, values) if is_masked.any() else values
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
    some = array.flat if array.dtype == object else [array]
    kinds = {value.dtype.kind for value in some if isinstance(value, np.generic | np.ndarray)}
    if kinds & {"c", "m", "M"}:
        raise TypeError(
            "complex numbers, dates or times: make them numbers first, such as the real part and "
            "the imaginary part, or days since an event"
        )
    return array.astype(float)


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
    is_text = isinstance(values, str | bytes | bytearray | memoryview)
    if is_text or getattr(values, "ndim", 1) == 0:
        return None
    return len(values) if hasattr(values, "__len__") else None


def longest(*columns: Any) -> int | None:
    """The length of the longest column; None if there is none. Dicts by node do not count."""
    lengths = [length(values) for values in columns if not isinstance(values, Mapping)]
    return max((n_values for n_values in lengths if n_values is not None), default=None)


def is_missing(value: Any) -> bool:
    """True for a missing value: None, NaN, NaT, a masked one, or pandas' NA."""
    if value is None or isinstance(value, str):
        return value is None
    if isinstance(value, float | np.floating | np.datetime64 | np.timedelta64):
        return bool(value != value)
    return value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")


# -- heterogeneous graphs --------------------------------------------------------------------------

# A type, how many nodes or edges are of it, and their data by name.
OfType = tuple[str, int, dict[str, Any]]


def join_types(
    index: int, nodes: list[OfType], edges: dict[tuple[str, str, str], tuple[np.ndarray, dict]]
) -> Graph:
    """One graph of all nodes and edges, whose types are "node_type" and "edge_type".

    Parameters
    ----------
    index : int
        The position of the graph.
    nodes : list of (str, int, dict)
        Each type, its number of nodes, and their data.
    edges : dict
        From (type of the source, type of the edge, type of the target) to pairs of numbers of nodes
        in their types, shape (m, 2), and the data of these edges.
    """
    counts = [n for _, n, _ in nodes]
    first = dict(zip((kind for kind, *_ in nodes), offsets(counts)[:-1], strict=True))
    pairs = [ends + np.array([first[u], first[v]]) for (u, _, v), (ends, _) in edges.items()]
    of_edges = [(kind, len(ends), data) for (_, kind, _), (ends, data) in edges.items()]
    return Graph(
        index,
        range(sum(counts)),
        np.concatenate([pair_array([]), *pairs]),
        "both",
        _joined_columns(nodes, "node_type"),
        _joined_columns(of_edges, "edge_type"),
    )


def _joined_columns(types: list[OfType], type_name: str) -> Columns:
    """Columns of all types, end to end; the column `type_name` holds the types.

    Types without a column have missing values there.
    """
    names = dict.fromkeys([type_name, *(name for *_, data in types for name in data)])

    def get(name: str) -> Any:
        if name not in names:
            return None
        if name == type_name:
            return [kind for kind, n, _ in types for _ in range(n)]
        given = [(plain(data.get(name)), n) for _, n, data in types]
        return [x for values, n in given for x in ([None] * n if values is None else values)]

    return Columns(names, get)


# -- labels of pandas ------------------------------------------------------------------------------


def row_labels(values: Any) -> list | None:
    """The labels that pandas has for rows; None of anything else."""
    labels = getattr(values, "index", None) if hasattr(values, "to_numpy") else None
    return None if labels is None else list(labels)


def same_order(rows: list, names: list) -> bool:
    """True if the labels of rows leave no doubt that these are in the order of the names.

    They are the names, or one of the two is 0, 1, ... and says nothing of the other.

    Parameters
    ----------
    rows, names : list
    """
    if rows == names:
        return True
    are_counts = list(range(len(rows))) == rows or list(range(len(names))) == names
    return are_counts and set(rows) != set(names)


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
