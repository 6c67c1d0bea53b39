"""Assembly: graphs as their formats hold them, and a schema -> one GraphBatch.

This is where it is decided what is read: :func:`resolve_schema` chooses the names for all graphs of
a list, :func:`build_edges` turns the pairs of a graph into arcs, and :func:`assemble` lays the
graphs end to end. Each raises a :class:`~skgraphkde.graphs.problems.GraphError` that names the
graph, the node or edge, and the cure.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from skgraphkde.computing.warn import warn
from skgraphkde.graphs.arrays import offsets, sorted_labels
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.formats.columns import (
    CURE,
    EdgeNames,
    Elements,
    categories,
    column,
    edges_of,
    is_missing,
    nodes_of,
    numbers,
)
from skgraphkde.graphs.formats.common import (
    Columns,
    Graph,
    check_order,
    column_labels,
    length,
    plain,
)
from skgraphkde.graphs.formats.edges import (
    check_opposite_weights,
    check_range,
    check_weights,
    merged,
    opposite,
    weights_of,
)
from skgraphkde.graphs.naming import listed
from skgraphkde.graphs.problems import GraphError, Ignored
from skgraphkde.graphs.schema import (
    CONVENTIONS,
    KINDS,
    FittedSchema,
    GraphSchema,
    Widths,
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
    plan = resolve_schema(schema, graphs, known, may_lack=may_lack)
    parts = [_read(graph, plan) for graph in graphs]
    node_ptr = offsets([len(graph.names) for graph in graphs])
    n_nodes = int(node_ptr[-1])
    arcs = np.concatenate([x.edges.arcs + n for x, n in zip(parts, node_ptr[:-1], strict=True)])
    weights = np.concatenate([x.edges.weights for x in parts])
    order = np.lexsort((arcs[:, 1], arcs[:, 0]))  # stable: parallel edges keep their order
    indptr = offsets(np.bincount(arcs[:, 0], minlength=n_nodes))
    adjacency = sp.csr_array((weights[order], arcs[order, 1], indptr), shape=(n_nodes, n_nodes))
    labels, label_names, attributes, widths = _joined([x.node_data for x in parts], plan, "node")
    edge_data = [x.edge_data for x in parts if x.edge_data is not None]
    edge_labels, edge_label_names, edge_attributes, edge_widths = _joined(edge_data, plan, "edge")
    if len(arcs):
        first = offsets([0 if x.edge_data is None else len(x.edge_data) for x in parts])[:-1]
        pairs = zip(parts, first, strict=True)
        row = np.concatenate([x.edges.row_of_arc + n for x, n in pairs])[order]
        edge_labels, edge_attributes = (
            None if x is None else x[row] for x in (edge_labels, edge_attributes)
        )
    else:  # without edges there are no data of edges
        edge_labels, edge_label_names, edge_attributes, edge_widths = None, (), None, ()
    is_directed = (
        schema.directed is True
        or (known is not None and known.directed)
        or any(x.edges.is_directed for x in parts)
    )
    if is_directed:
        _warn_undirected(graphs, schema)
    edge_weight = schema.edge_weight
    if edge_weight is None and (weights != 1).any():  # of matrices, which hold them
        _check_all_weighted(graphs, parts)
        edge_weight = "weight"
    ignored = plan.ignored
    n_loops = sum(x.edges.n_loops for x in parts)
    if n_loops:
        ignored = (*ignored, Ignored("edge", "self-loop", "self-loop", n_loops))
    fitted = FittedSchema(
        node_categories=plan.names["node_categories"],
        node_numbers=widths,
        edge_categories=plan.names["edge_categories"] if len(arcs) else (),
        edge_numbers=edge_widths,
        edge_weight=edge_weight,
        directed=is_directed,
        missing=schema.missing,
        named=schema.named("node_numbers"),
        ignored=ignored,
        directed_policy=schema.directed,
        labels=tuple(sorted(plan.labels.items())),
    )
    return GraphBatch(
        node_ptr,
        adjacency,
        labels,
        label_names,
        attributes,
        edge_labels,
        edge_label_names,
        edge_attributes,
        fitted,
    )


def _warn_undirected(graphs: list[Graph], schema: GraphSchema) -> None:
    kinds = ("edges",) if schema.directed is True else ("edges", "either")
    undirected = [graph.index for graph in graphs if graph.kind in kinds and len(graph.pairs)]
    if undirected:
        warn(
            f"graph {undirected[0]} is undirected among directed ones: each of its edges is read "
            "as two arcs, one in each direction"
        )


def _check_all_weighted(graphs: list[Graph], parts: list[Part]) -> None:
    """Check that no graph is without weights where matrices have some that are not 1."""
    pairs = zip(graphs, parts, strict=True)
    first = next(graph.index for graph, part in pairs if (part.edges.weights != 1).any())
    for graph in graphs:
        is_weighted = graph.weights is not None and graph.weights(None) is not None
        if len(graph.pairs) and not is_weighted:
            raise GraphError(
                graph.index,
                " has no weights, and ",
                first,
                " has, in its matrix: name those of the others in GraphSchema(edge_weight=...), or "
                "give a matrix of 0 and 1",
            )


# -- the names that are read -----------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """The names that are read of some graphs."""

    schema: GraphSchema
    names: dict[str, tuple[str, ...]]  # by kind, such as "node_categories"
    owners: dict[tuple[str, str], int]  # ("node" or "edge", name) -> a graph that has it
    ignored: tuple[Ignored, ...]
    labels: dict[str, tuple[str, ...]]  # of columns of pandas, by attribute, as they are found
    widths: dict[str, dict[str, int]]  # of numbers that earlier graphs had, by kind

    def check_labels(
        self, index: int, part: str, name: str, labels: tuple[str, ...] | None
    ) -> None:
        """Raise a GraphError if columns, which are read by place, are others than elsewhere."""
        if labels is None:
            return
        known = self.labels.setdefault(f"{part} attribute {name!r}", labels)
        if labels != known:
            raise GraphError(
                index,
                f": the {part} attribute {name!r} has the columns {listed(labels)}, "
                f"and other graphs have {listed(known)}: give all the same in the same order, as "
                "table[columns] does",
            )


def resolve_schema(
    schema: GraphSchema,
    graphs: list[Graph],
    known: FittedSchema | None = None,
    *,
    may_lack: bool = False,
) -> Plan:
    """The names that are read of some graphs; the parameters are those of :func:`assemble`.

    Raises
    ------
    GraphError
        If the schema names something that no graph has. The message lists the names that there are.
    """
    owners: dict[tuple[str, str], int] = {}
    unnamable: dict[Ignored, None] = {}
    for graph in graphs:
        for part in ("node", "edge"):
            for name in _columns(graph, part).names():
                if isinstance(name, str):
                    owners.setdefault((part, name), graph.index)
                else:
                    unnamable[Ignored(part, repr(name), "not text")] = None
    may_lack = (may_lack or known is not None) and schema.missing == "indicate"
    names: dict[str, tuple[str, ...]] = {}
    ignored: list[Ignored] = []
    for part in ("node", "edge"):
        found = [name for owner, name in owners if owner == part]
        is_there = part == "node" or any(len(graph.pairs) for graph in graphs)
        taken = set(names_in_schema(schema, part))
        for kind in (kind for kind in KINDS if kind.startswith(part)):
            value = getattr(schema, kind)
            free = [name for name in found if name not in taken]
            if value == "auto":
                names[kind] = tuple(name for name in CONVENTIONS[kind] if name in free)
            elif value == "all":
                names[kind] = tuple(x for x in sorted(free) if _is_of(kind, x, graphs))
            else:
                names[kind] = schema.named(kind)
        weight = schema.edge_weight if part == "edge" else None
        read = {name for kind, x in names.items() if kind.startswith(part) for name in x} | {weight}
        ignored += [Ignored(part, name) for name in found if name not in read]
        for name in names_in_schema(schema, part) if is_there else ():
            if name in found:
                continue
            if name == weight and any(graph.weights is not None for graph in graphs):
                continue  # each graph says whether it has it
            if name == weight or not may_lack:
                _check_given(graphs, part, name, found, known)
            owners[part, name] = graphs[0].index
    return Plan(
        schema,
        names,
        owners,
        (*ignored, *unnamable),
        {} if known is None else dict(known.labels),
        {} if known is None else {k: dict(getattr(known, k)) for k in KINDS if "numbers" in k},
    )


def names_in_schema(schema: GraphSchema, part: str) -> list[str]:
    """The names of data of nodes, or of edges, that the user wrote; `part` is "node" or "edge"."""
    names = [name for kind in KINDS if kind.startswith(part) for name in schema.named(kind)]
    if part == "edge" and schema.edge_weight is not None:
        names.append(schema.edge_weight)
    return names


def _check_given(
    graphs: list[Graph], part: str, name: str, found: list[str], known: FittedSchema | None
) -> None:
    """Raise if no graph has it, though it may be there without being listed."""
    if any(_columns(graph, part).get(name) is not None for graph in graphs):
        return
    there = closest_names(name, found) or "no attributes"
    why = "which the schema names" if known is None else "which earlier graphs had"
    graph, no = (graphs[0].index, "no") if len(graphs) == 1 else (None, "the")
    raise GraphError(graph, f" has {no} {part} attribute {name!r}, {why}: {part}s have {there}")


def _columns(graph: Graph, part: str) -> Columns:
    return graph.nodes if part == "node" else graph.edges


def _is_of(kind: str, name: str, graphs: list[Graph]) -> bool:
    """True if an attribute is of a kind, by its name or else by its values."""
    part, _, what = kind.partition("_")
    conventional = [k for k in KINDS if k.startswith(part) and name in CONVENTIONS[k]]
    if conventional:
        return kind in conventional
    are_numbers = all(_are_numbers(_columns(graph, part).get(name)) for graph in graphs)
    return are_numbers == (what == "numbers")


def _are_numbers(values: Any) -> bool:
    """True if all values that are given are numbers."""
    values = plain(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.dtype.kind != "b"
    items: Iterable[Any] = values.values() if hasattr(values, "values") else values
    if length(values) is None:
        return True
    return all(is_number(value) for value in items if not is_missing(value))


def is_number(value: Any) -> bool:
    """True if a value of an attribute is a number or a vector of numbers."""
    if isinstance(value, bool | np.bool_):
        return False
    if isinstance(value, Real | np.number):
        return True
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(x, Real) for x in value)
    return isinstance(value, np.ndarray) and value.dtype.kind in "iuf"


# -- one graph -------------------------------------------------------------------------------------


class Edges(NamedTuple):
    """The edges of one graph as arcs."""

    arcs: np.ndarray  # (n_arcs, 2): an undirected edge is two
    weights: np.ndarray  # (n_arcs,)
    row_of_arc: np.ndarray  # (n_arcs,): into the data of the edges
    is_directed: bool
    n_loops: int


@dataclass(frozen=True)
class Data:
    """Categories and numbers of the nodes, or of the edges, of one graph."""

    index: int  # of the graph
    n: int
    labels: list[Hashable] | None  # tuples, if there are several categories
    numbers: list[np.ndarray]  # one of shape (n, width) for each name

    def __len__(self) -> int:
        return self.n


class Part(NamedTuple):
    """One graph, read."""

    edges: Edges
    node_data: Data
    edge_data: Data | None  # None if there are no edges


def _read(graph: Graph, plan: Plan) -> Part:
    check_range(graph.index, graph.names, graph.pairs)
    weights, adds_up = _weights(graph, plan)
    node_data = _data(nodes_of(graph), graph.nodes, plan)
    edge_data = None
    if len(graph.pairs):
        elements = edges_of(graph, plan.schema.directed is True)
        edge_data = _data(elements, _columns_of_edges(graph), plan)
    edges = build_edges(graph, plan.schema.directed, weights, adds_up, edge_data)
    return Part(edges, node_data, edge_data)


def _columns_of_edges(graph: Graph) -> Columns:
    """The data of the edges; a self-loop, which is ignored anyway, may lack them."""
    if graph.is_simple:
        return graph.edges
    is_loop = graph.pairs[:, 0] == graph.pairs[:, 1]

    def get(name: str) -> Any:
        values = graph.edges.get(name)
        if not isinstance(values, list) or len(values) != len(is_loop):
            return values
        other = next((x for x in values if x is not None), None)
        pairs = zip(values, is_loop, strict=True)
        return [other if x is None and of_loop else x for x, of_loop in pairs]

    return Columns(graph.edges.names, get)


def _weights(graph: Graph, plan: Plan) -> tuple[np.ndarray, bool]:
    """The weight of each pair, and whether those of parallel edges are added."""
    name = plan.schema.edge_weight
    values = None
    if graph.weights is not None:
        values = graph.weights(name)
    elif name is not None:
        values = graph.edges.get(name)
    if (name is None and values is None) or not len(graph.pairs):
        return np.ones(len(graph.pairs)), False
    name = name or "weight"
    check_order(graph.index, "edge", EdgeNames(graph), values, name)
    return weights_of(graph.index, graph.names, graph.pairs, values, name), True


def _data(elements: Elements, columns: Columns, plan: Plan) -> Data:
    missing, n = plan.schema.missing, len(elements.names)
    found: dict[str, list] = {}
    for kind, read in (("categories", categories), ("numbers", numbers)):
        found[kind] = []
        for name in plan.names[f"{elements.kind}_{kind}"]:
            given = columns.get(name)
            plan.check_labels(elements.index, elements.kind, name, column_labels(given))
            values = column(elements, given, name, missing)
            if values is None:
                if missing == "error":
                    raise _lacks(elements, plan.owners, name)
                values = [None] * n
            found[kind].append(read(elements, values, name, missing))
    labels: list[Hashable] | None = None
    if found["categories"]:
        several = len(found["categories"]) > 1
        labels = list(zip(*found["categories"], strict=True)) if several else found["categories"][0]
    return Data(elements.index, n, labels, found["numbers"])


def _lacks(elements: Elements, owners: dict[tuple[str, str], int], name: str) -> GraphError:
    text = f" has no {elements.kind} attribute {name!r}, "
    other = owners.get((elements.kind, name), elements.index)
    if other == elements.index:
        return GraphError(other, f"{text}which is to be read: give it one, {CURE}")
    rest = f" has: give it to all graphs or to none, {CURE}"
    return GraphError(elements.index, f"{text}and ", other, rest)


def build_edges(
    graph: Graph, directed: Any, weights: np.ndarray, adds_up: bool, edge_data: Data | None
) -> Edges:
    """The arcs of a graph without self-loops and repetitions.

    Parameters
    ----------
    graph : Graph
    directed : {"auto"} or bool
        As in a schema.
    weights : ndarray of shape (n_pairs,)
    adds_up : bool
        Whether the weights of edges that agree in their data are added.
    edge_data : Data or None

    Raises
    ------
    GraphError
        If a weight is not positive, or differs between the directions of an undirected edge.
    """
    kept = np.arange(len(graph.pairs))
    if not graph.is_simple:
        kept = np.flatnonzero(graph.pairs[:, 0] != graph.pairs[:, 1])
    n_loops = len(graph.pairs) - len(kept)
    pairs, weights = graph.pairs[kept], weights[kept]
    check_weights(graph.index, graph.names, pairs, weights)
    kind = graph.kind
    if directed is False:
        kind = "either" if kind in ("arcs", "both") else kind
    elif directed is True:
        kind = "arcs" if kind in ("either", "both") else kind
    is_directed = kind == "arcs"
    if not (graph.is_simple and kind in ("edges", "arcs")):
        pairs = np.sort(pairs, axis=1) if kind == "edges" else pairs
        codes = _codes(edge_data, kept)
        first, weights = merged(graph, pairs, weights, codes, adds_up)
        pairs, kept, codes = pairs[first], kept[first], codes[first]
        back = opposite(graph, pairs, codes)
        is_directed |= kind == "both" and not _is_symmetric(weights, back)
        if not is_directed and kind != "edges":
            check_opposite_weights(graph, pairs, weights, back)
            once = np.flatnonzero((pairs[:, 0] < pairs[:, 1]) | (back < 0))
            pairs, weights, kept = pairs[once], weights[once], kept[once]
    if not is_directed:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
        weights, kept = np.tile(weights, 2), np.tile(kept, 2)
    return Edges(pairs, weights, kept, is_directed, n_loops)


def _is_symmetric(weights: np.ndarray, back: np.ndarray) -> bool:
    """True if each arc has an opposite of the same weight."""
    return bool((back >= 0).all() and (abs(weights - weights[back]) <= 1e-8 * weights).all())


def _codes(data: Data | None, kept: np.ndarray) -> np.ndarray:
    """A number for each kept edge, equal for those with the same data."""
    codes = np.zeros(len(kept), dtype=np.int64)
    if data is None:
        return codes
    if data.labels is not None:
        number = {label: i for i, label in enumerate(dict.fromkeys(data.labels))}
        codes = np.array([number[data.labels[k]] for k in kept], dtype=np.int64)
    for rows in data.numbers:
        columns = np.column_stack([codes, np.nan_to_num(rows[kept], nan=np.inf)])
        codes = np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1)
    return codes


# -- many graphs -----------------------------------------------------------------------------------


def _joined(data: list[Data], plan: Plan, part: str) -> tuple:
    """Codes of categories, their names, numbers, and the widths of these, of all graphs."""
    labels = attributes = None
    names: tuple[Hashable, ...] = ()
    widths: Widths = ()
    if not data:
        return labels, names, attributes, widths
    if plan.names[f"{part}_categories"]:
        values = [label for of_graph in data for label in of_graph.labels or ()]
        names = sorted_labels(set(values))
        code = {name: i for i, name in enumerate(names)}
        labels = np.array([code[value] for value in values], dtype=np.int64)
    kind = f"{part}_numbers"
    known = plan.widths.get(kind, {})
    columns = {
        name: _rows([(x.numbers[i], x.index) for x in data], part, name, known.get(name, 0))
        for i, name in enumerate(plan.names[kind])
    }
    widths = tuple((name, x.shape[1]) for name, x in columns.items() if x.shape[1])
    if widths:
        attributes = np.hstack(list(columns.values()))
    return labels, names, attributes, widths


def _rows(rows: list[tuple[np.ndarray, int]], part: str, name: str, width: int) -> np.ndarray:
    """Numbers of all graphs, which must have one width; if all are missing, this one."""
    widths = {
        x.shape[1]: index for x, index in reversed(rows) if not x.shape[1] or not np.isnan(x).all()
    }
    if len(widths) > 1:
        (wrong, index), (first, first_index) = list(widths.items())[:2]
        raise GraphError(
            index,
            f" has {wrong or 'no'} numbers in the {part} attribute {name!r}, and ",
            first_index,
            f" has {first or 'none'}: give all graphs {part} attributes of the same width, or none",
        )
    width = next(iter(widths), width)
    blank = [x if x.shape[1] == width else np.full((len(x), width), np.nan) for x, _ in rows]
    return np.concatenate(blank)
