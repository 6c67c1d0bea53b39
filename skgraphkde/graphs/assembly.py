"""Assembly: graphs as their formats hold them, and a schema -> one GraphBatch.

This is where it is decided what is read: :func:`resolve_schema` chooses the names for all graphs of
a list, :class:`~skgraphkde.graphs.columns.Elements` reads the values, :func:`build_arcs` turns
edges into arcs, and :func:`assemble` does all of that. Each raises a
:class:`~skgraphkde.graphs.problems.GraphError` that names the graph, the node or edge, and the
cure.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde._utils import warn
from skgraphkde.graphs.arrays import (
    LARGEST,
    codes_in,
    group_rows,
    offsets,
    opposites,
    row_codes,
    sorted_labels,
)
from skgraphkde.graphs.batch import Data, GraphBatch
from skgraphkde.graphs.columns import Elements
from skgraphkde.graphs.formats.common import Graph, is_missing, length, plain
from skgraphkde.graphs.problems import GraphError, Ignored
from skgraphkde.graphs.schema import (
    CONVENTIONS,
    KINDS_OF,
    FittedSchema,
    GraphSchema,
    closest_names,
)


def assemble(
    graphs: list[Graph],
    schema: GraphSchema,
    known: FittedSchema | None = None,
    *,
    may_lack: bool = False,
) -> GraphBatch:
    """One batch of all graphs.

    Parameters
    ----------
    graphs : list of Graph
        At least one.
    schema : GraphSchema
    known : FittedSchema, default=None
        The schema of graphs that were read before, from which `schema` comes.
    may_lack : bool, default=False
        Allow names of `schema` that no graph has, if values may be missing: other graphs have them.

    Raises
    ------
    GraphError
        If a graph does not have what is to be read, or graphs contradict each other.
    """
    names, ignored = resolve_schema(schema, graphs, known, may_lack=may_lack)
    labels = {} if known is None else dict(known.labels)
    nodes = Elements(graphs, "node", schema.missing, labels)
    firsts = nodes.ptr[:-1].tolist()
    ends = np.concatenate([graph.pairs + k for graph, k in zip(graphs, firsts, strict=True)])
    kept = (ends[:, 0] != ends[:, 1]).nonzero()[0]
    edges = Elements(graphs, "edge", schema.missing, labels, kept, schema.directed is True)
    weights, adds_up = _weights(edges, schema.edge_weight)
    if not len(edges):
        names |= {"edge_categories": (), "edge_numbers": ()}
    elements = (nodes, edges, Elements(graphs, "graph", schema.missing, labels))
    (node_data, node_fields), (edge_data, edge_fields), (graph_data, graph_fields) = (
        _read(x, names, known) for x in elements
    )
    adjacency, edge_of_arc, is_directed = build_arcs(
        edges, ends[kept], int(nodes.ptr[-1]), schema.directed, weights, adds_up, edge_data
    )
    is_directed |= schema.directed is True or (known is not None and known.directed)
    if is_directed:
        kinds = ("edges",) if schema.directed is True else ("edges", "either")
        undirected = [graph.index for graph in graphs if graph.kind in kinds and len(graph.pairs)]
        if undirected:
            warn(
                f"graph {undirected[0]} is undirected among directed ones: each of its edges is "
                "read as two arcs, one in each direction"
            )
    edge_weight = schema.edge_weight
    if edge_weight is None and (weights != 1).any():  # of matrices, which hold them
        edge_weight = "weight"
    n_loops = len(ends) - len(kept)
    if n_loops:
        ignored.append(Ignored("edge", "self-loop", "self-loop", n_loops))
    fitted = FittedSchema(
        **node_fields,
        **edge_fields,
        **graph_fields,
        edge_weight=edge_weight,
        directed=is_directed,
        missing=schema.missing,
        named=schema.named("node_numbers"),
        ignored=tuple(ignored),
        directed_policy=schema.directed,
        labels=tuple(sorted(labels.items())),
    )
    data = *node_data, *edge_data.take(edge_of_arc), *graph_data
    return GraphBatch(nodes.ptr, adjacency, *data, fitted, [graph.name for graph in graphs])


# -- the names that are read -----------------------------------------------------------------------


def resolve_schema(
    schema: GraphSchema,
    graphs: list[Graph],
    known: FittedSchema | None = None,
    *,
    may_lack: bool = False,
) -> tuple[dict[str, tuple[str, ...]], list[Ignored]]:
    """The names that are read of some graphs.

    Parameters
    ----------
    schema : GraphSchema
    graphs : list of Graph
    known : FittedSchema, default=None
    may_lack : bool, default=False
        As in :func:`assemble`.

    Returns
    -------
    names : dict
        By kind, such as "node_categories".
    ignored : list of Ignored

    Raises
    ------
    GraphError
        If the schema names something that no graph has. The message lists the names that there are.
    """
    may_lack = (may_lack or known is not None) and schema.missing == "indicate"
    names: dict[str, tuple[str, ...]] = {}
    ignored: list[Ignored] = []
    unnamable: list[Ignored] = []
    for part, kinds in KINDS_OF.items():
        columns = [list(graph.columns(part).names) for graph in graphs]
        fullest = max(columns, key=len, default=[])  # with the order of a table that has gaps
        every = dict.fromkeys(chain(fullest, *columns))
        found = [name for name in every if isinstance(name, str)]
        others = [repr(name) for name in every if not isinstance(name, str)]
        unnamable += [Ignored(part, name, "not text") for name in others]
        in_schema = names_in_schema(schema, part)
        free = [name for name in found if name not in in_schema]
        for kind in kinds:
            names[kind] = schema.named(kind)
            if getattr(schema, kind) == "auto":
                names[kind] = tuple([name for name in CONVENTIONS[kind] if name in free])
            elif getattr(schema, kind) == "all":
                names[kind] = tuple(x for x in sorted(free) if _is_of(kind, x, graphs))
        weight = schema.edge_weight if part == "edge" else None
        read = {weight, *names[kinds[0]], *names[kinds[1]]}
        ignored += [Ignored(part, name) for name in found if name not in read]
        is_there = part != "edge" or any(len(graph.pairs) for graph in graphs)
        for name in in_schema if is_there else ():
            if name in found:
                continue
            if name == weight and any(graph.weights is not None for graph in graphs):
                continue  # each graph says whether it has it
            if name == weight or not may_lack:
                _check_given(graphs, part, name, found, known)
    return names, [*ignored, *unnamable]


def names_in_schema(schema: GraphSchema, part: str) -> list[str]:
    """The names of data of nodes, of edges, or of graphs, that the user wrote.

    Parameters
    ----------
    schema : GraphSchema
    part : {"node", "edge", "graph"}
    """
    names = [name for kind in KINDS_OF[part] for name in schema.named(kind)]
    if part == "edge" and schema.edge_weight is not None:
        names.append(schema.edge_weight)
    return names


def _check_given(
    graphs: list[Graph], part: str, name: str, found: list[str], known: FittedSchema | None
) -> None:
    """Raise if no graph has it, though it may be there without being listed."""
    if any(graph.columns(part).get(name) is not None for graph in graphs):
        return
    there = closest_names(name, found) or "no attributes"
    why = "which the schema names" if known is None else "which earlier graphs had"
    graph, no = (graphs[0].index, "no") if len(graphs) == 1 else (None, "the")
    raise GraphError(graph, f" has {no} {part} attribute {name!r}, {why}: {part}s have {there}")


def _is_of(kind: str, name: str, graphs: list[Graph]) -> bool:
    """True if an attribute is of a kind, by its name or else by its values."""
    part, _, what = kind.partition("_")
    conventional = [k for k in KINDS_OF[part] if name in CONVENTIONS[k]]
    if conventional:
        return kind in conventional
    are_numbers = all(_are_numbers(graph.columns(part).get(name)) for graph in graphs)
    return are_numbers == (what == "numbers")


def _are_numbers(values: Any) -> bool:
    """True if all values that are given are numbers."""
    values = plain(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.dtype.kind != "b"
    items: Iterable[Any] = values.values() if hasattr(values, "values") else values
    return length(values) is None or all(is_number(x) for x in items if not is_missing(x))


def is_number(value: Any) -> bool:
    """True if a value of an attribute is a number or a vector of numbers."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(x, Real) for x in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iuf"
    return isinstance(value, Real | np.number) and not isinstance(value, bool)


# -- data ------------------------------------------------------------------------------------------


def _read(
    elements: Elements, names: dict[str, tuple[str, ...]], known: FittedSchema | None
) -> tuple[Data, dict[str, Any]]:
    """The data of nodes, edges, or graphs, and the fields of a FittedSchema that name them."""
    of_categories, kind = KINDS_OF[elements.part]
    categories = [elements.categories(name) for name in names[of_categories]]
    widths = {} if known is None else dict(getattr(known, kind))
    columns = {name: elements.numbers(name, widths.get(name, 0)) for name in names[kind]}
    codes, vocabulary = None, tuple[Hashable, ...]()
    if categories:
        values: list[Any] = categories[0]
        if len(categories) > 1:
            values = list(zip(*categories, strict=True))
        vocabulary = sorted_labels(set(values))
        codes = codes_in(values, vocabulary)
    sizes = tuple((name, x.shape[1]) for name, x in columns.items() if x.shape[1])
    numbers = np.hstack(list(columns.values())) if sizes else None
    return Data(codes, vocabulary, numbers), {of_categories: names[of_categories], kind: sizes}


def _weights(edges: Elements, name: str | None) -> tuple[np.ndarray, np.ndarray]:
    """The weight of each edge, and whether those of parallel edges are added.

    Without a name, weights are the entries of matrices.
    """
    given = [graph.weights_of(name) for graph in edges.graphs]
    adds_up = np.array([name is not None or x is not None for x in given])[edges.owner]
    if not adds_up.any():
        return np.ones(len(edges)), adds_up
    if name is None:
        pairs = zip(edges.graphs, given, strict=True)
        given = [np.ones(len(graph.pairs)) if x is None else x for graph, x in pairs]
    shown = name or "weight"
    rows = edges.rows(shown, edges.values(shown, given))
    if rows.shape[1] != 1:
        raise edges.error(0, f" has {rows.shape[1]} numbers as {shown!r}: give every edge one")
    weights = rows[:, 0]
    bad = ~((weights > 0) & (weights <= LARGEST))
    if bad.any():
        k = int(bad.argmax())
        raise edges.error(
            k, f" has the weight {weights[k]}: weights must be positive, and at most {LARGEST:g}"
        )
    if not adds_up.all() and (weights != 1).any():
        raise GraphError(
            edges.graphs[edges.owner[adds_up.argmin()]].index,
            " has no weights, and ",
            edges.graphs[edges.owner[(weights != 1).argmax()]].index,
            " has, in its matrix: name those of the others in GraphSchema(edge_weight=...), or "
            "give a matrix of 0 and 1",
        )
    return weights, adds_up


# -- arcs ------------------------------------------------------------------------------------------


def build_arcs(
    edges: Elements,
    ends: np.ndarray,
    n_nodes: int,
    directed: Any,
    weights: np.ndarray,
    adds_up: np.ndarray,
    data: Data,
) -> tuple[sp.csr_array, np.ndarray, bool]:
    """The arcs of all graphs, without repetitions.

    Parameters
    ----------
    edges : Elements
        Without self-loops.
    ends : ndarray of shape (n_edges, 2)
        Numbers of nodes.
    n_nodes : int
    directed : {"auto"} or bool
        As in a schema.
    weights : ndarray of shape (n_edges,)
    adds_up : ndarray of shape (n_edges,), bool
        Whether the weights of edges that agree in their data are added.
    data : Data
        Of the edges.

    Returns
    -------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        An undirected edge is two arcs.
    edge : ndarray of shape (n_arcs,), int
        The edge of each arc.
    is_directed : bool

    Raises
    ------
    GraphError
        If a weight differs between the directions of an undirected edge.
    """
    instead = {
        False: {"arcs": "either", "both": "either"},
        True: {"either": "arcs", "both": "arcs"},
    }
    known_as = {} if directed == "auto" else instead[directed]
    kinds = np.array([known_as.get(graph.kind, graph.kind) for graph in edges.graphs])
    is_directed = kinds == "arcs"
    owner, edge, (u, v) = edges.owner, np.arange(len(edges)), ends.T
    are_simple = all(graph.is_simple for graph in edges.graphs)
    if not (are_simple and {*kinds.tolist()} <= {"edges", "arcs"}):
        turned = (kinds == "edges")[owner] & (u > v)  # the order of their ends is arbitrary
        u, v = np.where(turned, v, u), np.where(turned, u, v)
        codes = row_codes(len(edges), data.labels, data.numbers)
        edge, group = group_rows(u, v, codes)
        total = np.bincount(group, weights, len(edge))
        weights = np.where(adds_up[edge], total, weights[edge])
        owner, u, v, codes = (x[edge] for x in (owner, u, v, codes))
        back = opposites(u, v, codes)
        is_unequal = abs(weights - weights[back]) > 1e-8 * weights
        is_one_way = (back < 0) | is_unequal
        is_directed[owner[is_one_way & (kinds == "both")[owner]]] = True
        wrong = is_unequal & (back >= 0) & ~is_directed[owner]
        if wrong.any():
            k = int(wrong.argmax())
            raise edges.error(
                edge[k],
                f" has the weight {weights[k]}, but {weights[back[k]]} the other way round: in an "
                "undirected graph both directions have the same weight; read it with "
                "GraphSchema(directed=True) (--directed in the shell) if it is directed",
            )
        once = np.flatnonzero(is_directed[owner] | (u < v) | (back < 0))
        owner, u, v, weights, edge = (x[once] for x in (owner, u, v, weights, edge))
    both = (~is_directed[owner]).nonzero()[0]
    source, target = np.concatenate([u, v[both]]), np.concatenate([v, u[both]])
    order = np.lexsort((target, source))  # stable: parallel edges keep their order
    indptr = offsets(np.bincount(source, minlength=n_nodes))
    weights, edge = (np.concatenate([x, x[both]])[order] for x in (weights, edge))
    adjacency = sp.csr_array((weights, target[order], indptr), shape=(n_nodes, n_nodes))
    return adjacency, edge, bool(is_directed.any())
