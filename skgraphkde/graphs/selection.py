"""Selection: a batch -> the same graphs with only the data that a schema names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.computing.warn import warn
from skgraphkde.graphs.arrays import columns_by_name, filled_columns, offsets, sorted_labels
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.schema import KINDS, FittedSchema, GraphSchema, Widths, closest_names


def selected(batch: GraphBatch, schema: GraphSchema) -> GraphBatch:
    """The data of a batch that a schema names; "auto" and "all" are everything that was read.

    Raises
    ------
    ValueError
        If the schema names something that the batch does not have, or wants it read in another
        way.
    """
    has = batch.schema
    if schema.directed is False and has.directed:
        raise ValueError(
            "these graphs were read as directed: read them with GraphSchema(directed=False)"
        )
    if schema.edge_weight is not None and schema.edge_weight != has.edge_weight:
        raise ValueError(
            f"these graphs were read without the edge weight {schema.edge_weight!r}: read them "
            "with the schema of fit"
        )
    has_arcs = bool(batch.adjacency.nnz)
    wanted = {kind: _wanted(schema, kind, has, has_arcs) for kind in KINDS}
    named = tuple(dict.fromkeys([*has.named, *schema.named("node_numbers")]))
    directed = has.directed or schema.directed is True
    what = replace(has, named=named, directed=directed)
    if schema.directed != "auto":
        asks = schema.directed is True
        what = replace(what, asks_direction=asks, ignores_direction=not asks)
    if all(wanted[kind] == _names(has, kind) for kind in KINDS):
        return batch if what == has else batch.replace(schema=what)
    labels, names = select_categories(
        batch.labels, batch.label_names, has.node_categories, wanted["node_categories"]
    )
    edge_labels, edge_names = select_categories(
        batch.edge_labels, batch.edge_label_names, has.edge_categories, wanted["edge_categories"]
    )
    attributes, node_widths = _select_numbers(
        batch.attributes, has.node_numbers, wanted["node_numbers"]
    )
    edge_attributes, edge_widths = _select_numbers(
        batch.edge_attributes, has.edge_numbers, wanted["edge_numbers"]
    )
    chosen = batch.replace(
        labels=labels,
        label_names=names,
        attributes=attributes,
        edge_labels=edge_labels,
        edge_label_names=edge_names,
        edge_attributes=edge_attributes,
        schema=replace(
            what,
            node_categories=wanted["node_categories"],
            edge_categories=wanted["edge_categories"],
            node_numbers=node_widths,
            edge_numbers=edge_widths,
        ),
    )
    return without_repeated_arcs(chosen)


def without_repeated_arcs(batch: GraphBatch) -> GraphBatch:
    """Join parallel edges that agree in all data that is left; weights that were read are added."""
    columns = [batch.source_of_arc, batch.adjacency.indices]
    if batch.edge_labels is not None:
        columns.append(batch.edge_labels)
    if batch.edge_attributes is not None:
        columns += list(np.nan_to_num(batch.edge_attributes, nan=np.inf).T)
    rows = np.column_stack(columns)
    _, first, arc = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return batch
    weights = batch.adjacency.data[first]
    if batch.schema.edge_weight is not None:
        weights = np.bincount(arc.reshape(-1), batch.adjacency.data, len(first))
    source, target = columns[0][first], columns[1][first]
    order = np.lexsort((target, source))
    indptr = offsets(np.bincount(source, minlength=batch.n_nodes))
    adjacency = sp.csr_array((weights[order], target[order], indptr), shape=batch.adjacency.shape)
    kept = first[order]
    return batch.replace(
        adjacency=adjacency,
        edge_labels=None if batch.edge_labels is None else batch.edge_labels[kept],
        edge_attributes=None if batch.edge_attributes is None else batch.edge_attributes[kept],
        schema=batch.schema,
    )


def conformed(batch: GraphBatch, fitted: FittedSchema) -> GraphBatch:
    """Graphs that were read by the schema of the training graphs, with the same columns.

    Raises
    ------
    ValueError
        If they are directed and the training graphs were not, or have columns of other widths.
    """
    batch = _filled(batch, fitted)
    has = batch.schema
    if has.directed and not fitted.directed:
        each = (batch[i].adjacency for i in range(len(batch)))
        first = next((i for i, A in enumerate(each) if (A != A.T).nnz), 0)
        raise ValueError(
            f"graph {first} is directed, and fit saw undirected graphs: fit on directed graphs, or "
            "with schema=GraphSchema(directed=False)"
        )
    if has.edge_weight != fitted.edge_weight:
        raise ValueError(
            f"fit read the edge weight {fitted.edge_weight!r}, and these graphs were read with "
            f"{has.edge_weight!r}: read them with the schema of fit, or, if they are "
            "matrices, make them 0 and 1"
        )
    if fitted.missing == "error" != has.missing:
        _check_given(batch)
    if fitted.directed and not has.directed and batch.adjacency.nnz:
        warn(
            "these graphs are undirected, and fit saw directed ones: each edge is read as two "
            "arcs, one in each direction"
        )
    changes: dict[str, Any] = {}
    if not batch.adjacency.nnz:  # there are no edges to have data
        if fitted.edge_categories:
            changes["edge_labels"] = np.zeros(0, dtype=np.int64)
        if fitted.edge_numbers:
            width = sum(width for _, width in fitted.edge_numbers)
            changes["edge_attributes"] = np.zeros((0, width))
        has = replace(has, edge_categories=fitted.edge_categories, edge_numbers=fitted.edge_numbers)
    for kind in ("node_numbers", "edge_numbers"):
        if getattr(has, kind) != getattr(fitted, kind):
            part = kind[:4]
            raise ValueError(
                f"fit saw the {part} numbers {_with_widths(getattr(fitted, kind))}; these graphs "
                f"have {_with_widths(getattr(has, kind))}"
            )
    if not changes and has.directed == fitted.directed:
        return batch
    return batch.replace(**changes, schema=replace(has, directed=fitted.directed))


def _check_given(batch: GraphBatch) -> None:
    """Raise if a number is missing, which a batch may have that was read by another schema."""
    schema = batch.schema
    for part, numbers, columns, graph in (
        ("node", batch.attributes, schema.node_columns, batch.graph_of_node),
        ("edge", batch.edge_attributes, schema.edge_columns, batch.graph_of_arc),
    ):
        if numbers is None or not np.isnan(numbers).any():
            continue
        row, column = np.argwhere(np.isnan(numbers))[0].tolist()
        i = int(graph[row])
        where = "an edge"
        if part == "node":
            where = f"node {row - batch.node_ptr[i]}"
        raise ValueError(
            f"graph {i}, {where}: the {part} attribute {columns[column]!r} is missing, and fit was "
            "told of no missing values: fit with missing='indicate' in the GraphSchema, or impute "
            "or drop it"
        )


def _filled(batch: GraphBatch, fitted: FittedSchema) -> GraphBatch:
    """The same graphs, with NaN for numbers of `fitted` that none of them has a value of."""
    if fitted.missing != "indicate":
        return batch
    changes: dict[str, Any] = {}
    schema = batch.schema
    for prefix, kind, n in (
        ("", "node_numbers", batch.n_nodes),
        ("edge_", "edge_numbers", batch.adjacency.nnz),
    ):
        has, wanted = dict(getattr(schema, kind)), dict(getattr(fitted, kind))
        if has == wanted or not has.items() <= wanted.items():
            continue
        numbers = getattr(batch, f"{prefix}attributes")
        changes[f"{prefix}attributes"] = filled_columns(numbers, has, wanted, n)
        schema = replace(schema, **{kind: getattr(fitted, kind)})
    return batch.replace(**changes, schema=schema) if changes else batch


def _with_widths(numbers: Widths) -> str:
    return ", ".join(f"{name!r} ({width})" for name, width in numbers) or "none"


def _names(schema: FittedSchema, kind: str) -> tuple[str, ...]:
    value = getattr(schema, kind)
    return value if kind.endswith("categories") else tuple(name for name, _ in value)


def _wanted(schema: GraphSchema, kind: str, has: FittedSchema, has_arcs: bool) -> tuple[str, ...]:
    value, known = getattr(schema, kind), _names(has, kind)
    if value in ("auto", "all"):
        return known
    named = schema.named(kind)
    for name in named:
        if name not in known and (has_arcs or kind.startswith("node")):
            part, _, what = kind.partition("_")
            raise ValueError(
                f"these graphs have no {part} attribute {name!r} that was read as {what}: they "
                f"have {closest_names(name, known) or 'none'}; read them with the schema of fit"
            )
    return named


def select_categories(
    codes: np.ndarray | None,
    vocabulary: tuple[Any, ...],
    has: tuple[str, ...],
    wanted: tuple[str, ...],
) -> tuple[np.ndarray | None, tuple[Any, ...]]:
    """Codes and vocabulary of some of the categories."""
    if codes is None or not wanted:
        return None, ()
    if wanted == has:
        return codes, vocabulary
    values = vocabulary if len(has) > 1 else tuple((value,) for value in vocabulary)
    positions = [has.index(name) for name in wanted]
    chosen = [tuple(value[i] for i in positions) for value in values]
    chosen = chosen if len(wanted) > 1 else [value[0] for value in chosen]
    names = sorted_labels(set(chosen))
    code = {name: i for i, name in enumerate(names)}
    return np.array([code[value] for value in chosen], dtype=np.int64)[codes], names


def _select_numbers(
    numbers: np.ndarray | None, has: Widths, wanted: tuple[str, ...]
) -> tuple[np.ndarray | None, Widths]:
    if numbers is None or not wanted:
        return None, ()
    columns, widths = columns_by_name(numbers, has), dict(has)
    return np.hstack([columns[x] for x in wanted]), tuple((x, widths[x]) for x in wanted)
