"""Selection of columns: a batch -> the same graphs with fewer columns, or with those of `fit`.

:func:`select_columns` keeps what a schema names, :func:`align_to_schema` compares graphs with the
training graphs, and :func:`drop_id_columns` removes identifiers: categories whose values hardly
repeat between graphs, such as names of hosts. They say which node it is, not what kind of node, and
every new graph would be an anomaly. So do running numbers and times, where "all" would read them.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.core.graphs.arrays import (
    codes_in,
    columns_by_name,
    group_rows,
    offsets,
    row_codes,
    sorted_labels,
)
from skgraphkde.core.graphs.batch import Data, GraphBatch, with_edge_columns
from skgraphkde.core.graphs.problems import GraphError, Ignored
from skgraphkde.core.graphs.schema import (
    CONVENTIONS,
    KINDS,
    PARTS,
    FittedSchema,
    GraphSchema,
    closest_names,
)
from skgraphkde.reading.formats.common import is_missing, words_in_name

# An identifier has at least so many values, and less than this share of the nodes have one that
# another graph has, too. Below the third number new graphs look odd, though it is none.
LEAST_VALUES = 10
SHARED = 0.5
OFTEN_SHARED = 0.8
# Graphs lack an attribute by chance if the training graphs make this more likely.
BY_CHANCE = 0.01
# A column has a larger number; products of smaller ones underflow.
SMALLEST = 1e-100
# Words in names of running numbers, and of times, in seconds since 1970 or parts of them.
NUMBERING = {
    *("id", "ids", "index", "key", "nr", "no", "number", "lfd"),
    *("osmid", "uid", "pid", "eid", "nid", "userid", "nodeid"),
}
CLOCKS = {"time", "timestamp", "date", "datetime", "ts", "nano", "at"}
LEAST_TIME = 1e8
FEWEST_TIMES = 2
ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:.*)?")
TIME = re.compile(ISO_TIME.pattern + r"|\d{1,2}([./])\d{1,2}\2(\d{4}|\d\d)([ ,].*)?")
# Shapes on maps, as programs write them as text.
SHAPE = re.compile(
    r"(SRID=\d+;)?\s*((MULTI)?(POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)"
    r"\s*(Z|M|ZM)?\s*(\(|EMPTY)",
    re.IGNORECASE,
)
FEWEST_BLANKS = 2  # in free text
# Numbers that are text for their decimal comma, blanks, or signs of currencies and units.
MARKED = re.compile(
    r"\D{0,4}\d[\d.' \u00a0\u202f]*,\d+\D{0,4}"
    r"|\d{1,3}([ \u00a0\u202f]\d{3})+\.\d+"
    r"|[+-]?([$\u00a3\u00a5\u20ac]|[A-Z]{3}\s)\s?[+-]?\d[\d.,']*"
    r"|[+-]?\d[\d.,']*\s?([%$\u00a3\u00a5\u20ac\u2030]|(?<=\s)[^\W\d_]{1,5})"
)


def select_columns(batch: GraphBatch, schema: GraphSchema) -> GraphBatch:
    """The data of a batch that a schema names; "auto" and "all" are everything that was read.

    Parameters
    ----------
    batch : GraphBatch
    schema : GraphSchema

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
    names = {}
    for kind in KINDS:
        names[kind] = has.names(kind)
        if getattr(schema, kind) == "auto":
            continue
        part, _, what = kind.partition("_")
        for name in schema.named(kind):
            if name not in names[kind] and (part != "edge" or batch.adjacency.nnz):
                raise ValueError(
                    f"these graphs have no {part} attribute {name!r} that was read as {what}: they "
                    f"have {closest_names(name, names[kind]) or 'none'}; read them with the schema "
                    "of fit"
                )
        if not schema.is_all(kind):
            names[kind] = schema.named(kind)
    found = replace(
        has,
        named=tuple(dict.fromkeys([*has.named, *schema.named("node_numbers")])),
        directed=has.directed or schema.directed is True,
        directed_policy=has.directed_policy if schema.directed == "auto" else schema.directed,
        called=tuple((dict(has.called) | (schema.call or {})).items()),
    )
    return _keep(batch if found == has else batch.replace(schema=found), names)


def _keep(batch: GraphBatch, names: dict[str, tuple[str, ...]]) -> GraphBatch:
    """The data with these names, by kind; edges that no other data told apart are one."""
    has = batch.schema
    if all(names[kind] == has.names(kind) for kind in KINDS):
        return batch
    data: dict[str, Any] = {}
    fields: dict[str, Any] = dict(names)
    for part in PARTS:
        kind = f"{part}_numbers"
        labels, vocabulary = _select(batch, part, names[f"{part}_categories"])
        columns = columns_by_name(batch.data(part).numbers, getattr(has, kind))
        kept = {name: columns[name] for name in names[kind] if name in columns}
        fields[kind] = tuple((name, x.shape[1]) for name, x in kept.items())
        numbers = np.hstack([*kept.values()]) if kept else None
        data[part] = Data(labels, vocabulary, numbers)
    return _without_repeated_arcs(batch.replace(**data, schema=replace(has, **fields)))


def _select(
    batch: GraphBatch, part: str, names: tuple[str, ...]
) -> tuple[np.ndarray | None, tuple[Any, ...]]:
    """The labels of some of the categories of a part, and their vocabulary."""
    labels = batch.data(part).labels
    if labels is None or not names:
        return None, ()
    values = batch.values_by_category(part)
    columns = [values[name] for name in names]
    chosen = list(zip(*columns, strict=True)) if len(names) > 1 else columns[0]
    vocabulary = sorted_labels(set(chosen))
    return codes_in(chosen, vocabulary)[labels], vocabulary


def _without_repeated_arcs(batch: GraphBatch) -> GraphBatch:
    """Join parallel edges that agree in all data that is left; weights that were read are added."""
    adjacency = batch.adjacency
    source = batch.source_of_arc
    data = batch.data("edge")
    codes = row_codes(adjacency.nnz, data.labels, data.numbers)
    first, group = group_rows(source, adjacency.indices, codes)
    if len(first) == adjacency.nnz:
        return batch
    weights = adjacency.data[first]
    if batch.schema.edge_weight is not None:
        weights = np.bincount(group, adjacency.data)
    indptr = offsets(np.bincount(source[first], minlength=batch.n_nodes))
    return batch.replace(
        adjacency=sp.csr_array((weights, adjacency.indices[first], indptr), adjacency.shape),
        edge=data.take(first),
    )


# -- the columns of fit ----------------------------------------------------------------------------


def align_to_schema(batch: GraphBatch, fitted: FittedSchema) -> GraphBatch:
    """Graphs that were read by the schema of the training graphs, with the same columns.

    Parameters
    ----------
    batch : GraphBatch
    fitted : FittedSchema
        The schema of the training graphs.

    Raises
    ------
    ValueError
        If they are directed and the training graphs were not, or have columns of other widths.
    """
    has = batch.schema
    if has.directed and not fitted.directed:
        one_way = (batch.adjacency != batch.adjacency.T).nonzero()[0]
        i = int(batch.graph_of_node[one_way].min()) if len(one_way) else 0
        raise GraphError(
            batch.name(i),
            " is directed, and fit saw undirected graphs: fit on directed graphs, or "
            "with schema=GraphSchema(directed=False) (--undirected in the shell)",
        )
    if fitted.missing == "error" and has.missing == "indicate":
        _check_given(batch)
    if fitted.directed and not has.directed and batch.adjacency.nnz:
        warn(
            "these graphs are undirected, and fit saw directed ones: each edge is read as two "
            "arcs, one in each direction"
        )
    if not batch.adjacency.nnz:
        batch = with_edge_columns(batch, fitted)
    conflict = fitted.conflict(batch.schema)
    if conflict is not None:
        raise ValueError(
            f"fit and these graphs differ in what was read, {conflict}: read them with the schema "
            "of fit; entries of matrices are weights, unless they are 0 and 1"
        )
    if has.directed == fitted.directed:
        return batch
    return batch.replace(schema=replace(batch.schema, directed=fitted.directed))


def _check_given(batch: GraphBatch) -> None:
    """Raise if a number is missing, which a batch may have that was read by another schema."""
    for part, name, values in _number_columns(batch):
        if np.isnan(values).any():
            raise _error(
                batch,
                part,
                int(np.isnan(values).argmax()),
                f"the {part} attribute {name!r} is missing, and fit read no missing values: fit "
                "with missing='indicate' in the GraphSchema (--missing indicate in the shell), or "
                "impute or drop it",
            )


def check_scale(batch: GraphBatch) -> None:
    """Raise if no number of a column is large enough for its square not to be 0.

    Parameters
    ----------
    batch : GraphBatch
        The training graphs.
    """
    for part, name, values in _number_columns(batch):
        size = np.abs(np.nan_to_num(values))
        if 0 < size.max(initial=0.0) < SMALLEST:
            row = int(size.argmax())
            raise _error(
                batch,
                part,
                row,
                f"the {part} attribute {name!r} is {values[row]:g}, and nowhere above "
                f"{SMALLEST:g}: multiply it by a power of ten, or drop it",
            )


def warn_of_lacking(batch: GraphBatch, training: GraphBatch) -> None:
    """Warn of attributes that no graph has, though by the training graphs some should.

    Parameters
    ----------
    batch : GraphBatch
    training : GraphBatch
        The training graphs, with the same columns.
    """
    lacking = [x for x, n in _n_graphs_with(batch).items() if not n]
    known = _n_graphs_with(training) if lacking else {}
    chance = {x: (1 - known[x] / len(training)) ** len(batch) for x in lacking}
    names = [f"{x[0]} attribute {x[1]!r}" for x in lacking if chance[x] < BY_CHANCE]
    if names:
        warn(
            f"no graph here has {listed(names)}, which the training graphs had: did you leave out "
            "a table or rename a column?"
        )


def _n_graphs_with(batch: GraphBatch) -> dict[tuple[str, str], int]:
    """The number of graphs with a value, by the part and the name of the attribute."""
    has = {(part, name): ~np.isnan(values) for part, name, values in _number_columns(batch)}
    for part in PARTS:
        for name, values in batch.values_by_category(part).items():
            is_given = np.array([not is_missing(x) for x in values], dtype=bool)
            has[part, name] = is_given[batch.data(part).labels]
    owners = {x: batch.owner(x[0])[rows] for x, rows in has.items() if len(rows)}
    return {x: len(np.unique(owner)) for x, owner in owners.items()}


def _number_columns(batch: GraphBatch) -> Iterator[tuple[str, str, np.ndarray]]:
    """The part, the name and the values of each column of numbers."""
    for part in PARTS:
        numbers = batch.data(part).numbers
        names = getattr(batch.schema, f"{part}_columns")
        if numbers is not None:
            yield from ((part, x, values) for x, values in zip(names, numbers.T, strict=True))


def _error(batch: GraphBatch, part: str, row: int, message: str) -> GraphError:
    """The error of a node, an arc or a graph, which it names."""
    i = int(batch.owner(part)[row])
    where = {"node": f", node {row - batch.node_ptr[i]}", "edge": ", an edge", "graph": ""}
    return GraphError(batch.name(i), f"{where[part]}: {message}")


# -- identifiers -----------------------------------------------------------------------------------


def drop_id_columns(
    batch: GraphBatch, schema: GraphSchema | None, counted: np.ndarray | None = None
) -> GraphBatch:
    """Remove identifiers, running numbers and times, unless the user named them.

    A warning names identifiers that the user named, and those that are nearly identifiers.

    Parameters
    ----------
    batch : GraphBatch
        The training graphs.
    schema : GraphSchema or None
        What the user wrote.
    counted : ndarray of int, default=None
        Graphs by which it is decided. None: all. Between copies of a graph any value repeats.
    """
    names = {kind: batch.schema.names(kind) for kind in KINDS}
    ignored = []
    for part in PARTS:
        kind = f"{part}_categories"
        owner = batch.owner(part)
        some = np.isin(owner, np.arange(len(batch)) if counted is None else counted)
        named = () if schema is None else schema.named(kind)
        for name in names[kind]:
            values, own = batch.category(part, name)
            codes = own[batch.data(part).labels]
            shared = _shared(codes[some], len(values), owner[some])
            why = _not_a_category(values, shared)
            if why in (None, "identifier") and _are_running(
                values, codes[some], owner[some], part == "node"
            ):
                why = "running number"
            if why is not None and name not in named:
                ignored.append(Ignored(part, name, why))
            elif shared < SHARED:
                warn(
                    f"the {part} category {name!r} has {len(values)} values that hardly repeat "
                    "between graphs: it is an identifier, under which every new graph is odd; it "
                    "is used because the schema names it"
                )
            elif shared < OFTEN_SHARED:
                warn(
                    f"the {part} category {name!r} has {len(values)} values, and {1 - shared:.0%} "
                    f"of the {part}s have one that no other graph has: new graphs will have as "
                    "many new ones and look odd; group the values, as dates into years, or leave "
                    "it out"
                )
        kind = f"{part}_numbers"
        if schema is None or not schema.is_all(kind):
            continue
        columns = columns_by_name(batch.data(part).numbers, getattr(batch.schema, kind))
        for name, numbers in columns.items():
            why = _not_a_number(name, numbers[some], owner[some], part == "node")
            if why is not None and name not in (*CONVENTIONS[kind], *schema.named(kind)):
                ignored.append(Ignored(part, name, why))
    if not ignored:
        return batch
    for kind in KINDS:
        left_out = {x.name for x in ignored if x.part == kind.partition("_")[0]}
        names[kind] = tuple(x for x in names[kind] if x not in left_out)
    fitted = replace(batch.schema, ignored=(*batch.schema.ignored, *ignored))
    return _keep(batch.replace(schema=fitted), names)


def _shared(codes: np.ndarray, n_values: int, owner: np.ndarray) -> float:
    """The share of nodes, or edges, with a value that another graph has; 1 if there are few."""
    if n_values < LEAST_VALUES or not len(codes):
        return 1.0
    n = owner.max() + 1
    n_graphs = np.bincount(np.unique(codes * n + owner) // n, minlength=n_values)
    return float((n_graphs[codes] > 1).mean())


def _not_a_category(values: Sequence[Any], shared: float) -> str | None:
    """Why the values of a category are none, a key of `WHY_IGNORED`.

    Parameters
    ----------
    values : sequence
    shared : float
        The share of nodes, or edges, with a value that another graph has.
    """
    given = [x for x in values if not is_missing(x)]
    texts = [x for x in given if isinstance(x, str)]
    are_many = len(texts) == len(given) >= LEAST_VALUES
    are_dates = len(given) > 0 and all(isinstance(x, datetime.date | np.datetime64) for x in given)
    are_iso = len(texts) == len(given) >= FEWEST_TIMES and all(map(ISO_TIME.fullmatch, texts))
    if are_dates or are_iso or (are_many and all(map(TIME.fullmatch, texts))):
        return "time"
    if shared >= SHARED:
        return None
    if are_many and all(map(MARKED.fullmatch, texts)):
        return "marked number"
    if are_many and all(map(SHAPE.match, texts)):
        return "shape"
    n_with_words = sum(text.count(" ") >= FEWEST_BLANKS for text in texts)
    return "free text" if are_many and 2 * n_with_words > len(texts) else "identifier"


def _are_running(
    values: Sequence[Any], codes: np.ndarray, owner: np.ndarray, in_order: bool
) -> bool:
    """True for numbers as text that number the nodes, or edges, of each graph."""
    if not values or not all(isinstance(x, str) and x.isdecimal() for x in values):
        return False
    numbers = np.array(values, dtype=float)[codes]
    return _is_numbering(pd.DataFrame({"value": numbers, "owner": owner}), in_order)


def _is_numbering(pairs: pd.DataFrame, in_order: bool) -> bool:
    """True if each graph numbers its nodes, or edges, from the same number on.

    Parameters
    ----------
    pairs : DataFrame
        The "value" and the "owner" of each node, or arc.
    in_order : bool
        Whether these are in the order in which they were given, as nodes are. Arcs are not, and
        both of an edge have its number.
    """
    if not in_order:
        distinct = pairs.drop_duplicates().sort_values(["owner", "value"])
        if 2 * len(distinct) < len(pairs):
            return False
        pairs = distinct
    of_graphs = pairs.groupby("owner", sort=False)["value"]
    sizes = of_graphs.transform("size")
    place = of_graphs.cumcount()
    is_next = pairs["value"] == of_graphs.transform("first") + place
    starts = of_graphs.first()
    return bool((sizes > 1).any() and is_next.all() and starts.nunique() == 1)


def _not_a_number(name: str, numbers: np.ndarray, owner: np.ndarray, in_order: bool) -> str | None:
    """Why numbers say nothing, a key of `WHY_IGNORED`: they count, or are times.

    Running numbers are integers that all differ, and lie close together or are called so.
    """
    is_given = ~np.isnan(numbers).any(axis=1)
    pairs = pd.DataFrame({"value": numbers[:, 0], "owner": owner})[is_given]
    values = pairs.drop_duplicates()["value"].to_numpy()
    if numbers.shape[1] > 1 or len(values) < LEAST_VALUES:
        return None
    if _is_numbering(pairs, in_order):
        return "running number"
    words = words_in_name(name)
    if words & CLOCKS and values.min() >= LEAST_TIME:
        return "time"
    all_differ = (
        not (values % 1).any()
        and len(values) * 2 >= is_given.sum()  # both arcs of an edge have its number
        and len(np.unique(values)) == len(values)
    )
    is_dense = np.ptp(values) <= 1.2 * len(values)
    if all_differ and is_dense:
        return "running number"
    return "identifier" if all_differ and words & NUMBERING else None
