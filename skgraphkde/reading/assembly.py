"""Assembly: graphs as their formats hold them, and a schema -> one GraphBatch.

:func:`resolve_schema` chooses the names that are read, for all graphs of a list;
:class:`Elements` reads the values of a name, for all nodes, edges or graphs at once;
:func:`build_arcs` turns edges into arcs; and :func:`assemble` does all of that. Each raises a
:class:`~skgraphkde.core.graphs.problems.GraphError` that names the graph, the node or edge, and the
remedy.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Set
from decimal import Decimal
from enum import Enum
from itertools import chain
from numbers import Complex
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde._messages import listed, shown
from skgraphkde._utils import warn
from skgraphkde.core.graphs.arrays import (
    LARGEST,
    codes_in,
    group_rows,
    offsets,
    opposites,
    row_codes,
    sorted_labels,
)
from skgraphkde.core.graphs.batch import Data, GraphBatch
from skgraphkde.core.graphs.problems import GraphError, Ignored, MissingError, called
from skgraphkde.core.graphs.schema import (
    CONVENTIONS,
    KINDS_OF,
    FittedSchema,
    GraphSchema,
    closest_names,
    names_in_schema,
)
from skgraphkde.reading.formats.common import (
    Graph,
    Written,
    as_doubles,
    as_floats,
    in_hours,
    is_a,
    is_duration,
    is_label,
    is_missing,
    is_target,
    length,
    listed_ids,
    plain,
)

# Types whose values are all numbers.
NUMBERS = {int, float, Written, np.int64, np.int32, np.float64, np.float32}
# A number as programs write it: with an exponent only after decimals, as 1E5 may be a code.
WRITTEN = re.compile(r"-?(0|[1-9]\d*)(\.\d+(e[+-]?\d+)?)?", re.IGNORECASE)
# Whole numbers as text are numbers if there are so many, and codes if there are fewer.
FEWEST_NUMBERS = 10
REMEDY = "or say missing='indicate' in the GraphSchema (--missing indicate in the shell)"


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
    one_hot = _known_one_hot(known)
    nodes = Elements(graphs, "node", schema, labels, one_hot)
    firsts = nodes.ptr[:-1].tolist()
    ends = np.concatenate([graph.pairs + k for graph, k in zip(graphs, firsts, strict=True)])
    kept = np.flatnonzero(ends[:, 0] != ends[:, 1])
    edges = Elements(graphs, "edge", schema, labels, one_hot, kept)
    weights, adds_up = _weights(edges, schema.edge_weight)
    if not len(kept):
        names |= {"edge_categories": (), "edge_numbers": ()}
    data: dict[str, Data] = {}
    fields: dict[str, Any] = {}
    for elements in (nodes, edges, Elements(graphs, "graph", schema, labels, one_hot)):
        data[elements.part], found = _data(elements, names, known, may_lack)
        fields |= found
    adjacency, edge_of_arc, is_directed = build_arcs(
        edges, ends[kept], int(nodes.ptr[-1]), weights, adds_up, data["edge"]
    )
    is_directed |= schema.directed is True or (known is not None and known.directed)
    if is_directed:
        kinds = ("edges",) if schema.directed is True else ("edges", "either")
        undirected = [graph.index for graph in graphs if graph.kind in kinds and len(graph.pairs)]
        if undirected:
            warn(
                f"{called(undirected[0])} is undirected among directed ones: each of its edges is "
                "read as two arcs, one in each direction"
            )
    in_schema = schema.named("node_numbers")
    edge_weight = schema.edge_weight
    if edge_weight is None and (weights != 1).any():  # of matrices, which hold them
        edge_weight = "weight"
    fitted = FittedSchema(
        **fields,
        edge_weight=edge_weight,
        directed=is_directed,
        missing=schema.missing,
        named=names["node_numbers"] if schema.is_all("node_numbers") else in_schema,
        ignored=tuple(ignored),
        n_self_loops=len(ends) - len(kept),
        directed_policy=schema.directed,
        labels=tuple(sorted(labels.items())),
        called=tuple((schema.call or {}).items()),
        one_hot=tuple(key for key, is_so in one_hot.items() if is_so),
    )
    columns = data["node"], data["edge"].take(edge_of_arc), data["graph"]
    ids = None
    if not all(isinstance(graph.names, range) for graph in graphs):
        ids = np.fromiter(chain.from_iterable(graph.names for graph in graphs), object)
    return GraphBatch(nodes.ptr, adjacency, *columns, fitted, [x.name for x in graphs], ids)


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
    for part, kinds in KINDS_OF.items():
        columns = [getattr(graph, part) for graph in graphs]
        fullest = max(columns, key=len)  # with the order of a table that has gaps
        every = dict.fromkeys(chain(fullest, *columns))
        found = [name for name in every if isinstance(name, str)]
        in_schema = names_in_schema(schema, part)
        conventional = {*CONVENTIONS[kinds[0]], *CONVENTIONS[kinds[1]]}
        others = set(found) - {*in_schema, *conventional}
        targets = {x for x in others if is_target(x)}
        if part == "graph":  # also "y" and "label" in a dict, which a node has for other things
            targets |= {x for x in others if is_target(x.rpartition(".")[2])}
        free = sorted(set(found) - set(in_schema) - targets)
        typed = free if schema.reads_all(part) else []
        kind_of = {name: _kind_of(part, name, columns) for name in typed}
        for kind in kinds:
            names[kind] = schema.named(kind)
            if getattr(schema, kind) == "auto":
                names[kind] = tuple(
                    x for x in CONVENTIONS[kind] if x in free and kind_of.get(x, kind) == kind
                )
            elif schema.is_all(kind):
                names[kind] += tuple(name for name in free if kind_of[name] == kind)
        read = {*in_schema, *names[kinds[0]], *names[kinds[1]]}
        for name in every:
            if not isinstance(name, str):
                ignored.append(Ignored(part, repr(name), "not text"))
            elif name not in read:
                why = "nested" if kind_of.get(name) == "" else "unread"
                why = "target" if name in targets else why
                ignored.append(Ignored(part, name, why))
        if part == "edge" and not any(len(graph.pairs) for graph in graphs):
            continue
        for name in in_schema:
            is_weight = part == "edge" and name == schema.edge_weight
            if is_weight and any(graph.weights is not None for graph in graphs):
                continue  # each graph says whether it has it
            if name not in found and (is_weight or not may_lack):
                raise _no_such(graphs, part, name, found, known)
    return names, ignored


def _no_such(
    graphs: list[Graph], part: str, name: str, found: list[str], known: FittedSchema | None
) -> GraphError:
    """The error that no graph has what is to be read."""
    there = closest_names(name, found) or "no attributes"
    why = "which the schema names" if known is None else "which earlier graphs had"
    text = f"{part} attribute {name!r}, {why}: {part}s have {there}"
    if len(graphs) == 1:  # others of a list may have it
        return MissingError(graphs[0].index, f" has no {text}")
    return GraphError(None, f" has the {text}")


def _kind_of(part: str, name: str, columns: list[Mapping[str, Any]]) -> str:
    """What an attribute is to "all", by its name or else by its values; "" if it is nested."""
    categories, numbers = KINDS_OF[part]
    if name in CONVENTIONS[categories]:
        return categories
    forms = {form for x in columns if x.get(name) is not None for form in _forms(plain(x[name]))}
    widths = {width for _, width in forms}
    if name in CONVENTIONS[numbers] and widths != {1}:  # vectors, or an error that names them
        return numbers
    if 0 in widths or len(widths) > 1:
        return ""
    are_numbers = all(x for x, _ in forms) or _are_written_numbers([x.get(name) for x in columns])
    return numbers if are_numbers else categories


def _are_written_numbers(columns: list[Any]) -> bool:
    """True for texts that are numbers, with decimals or hardly ever equal: others may be codes.

    Parameters
    ----------
    columns : list
        One for each graph; None where it has none.
    """
    texts = []
    for given in columns:
        values = () if given is None or length(plain(given)) is None else plain(given)
        for value in values.values() if isinstance(values, Mapping) else values:
            if isinstance(value, str) and WRITTEN.fullmatch(value):
                texts.append(value)
            elif not is_missing(value):
                return False
    distinct = set(texts)
    if len(set(map(float, distinct))) < len(distinct):  # 1.1 and 1.10 are versions
        return False
    have_decimals = any("." in text for text in distinct)
    hardly_repeat = len(distinct) >= FEWEST_NUMBERS and 2 * len(distinct) > len(texts)
    return have_decimals or hardly_repeat


def _forms(values: Any) -> set[tuple[bool, int]]:
    """Of each value: if it is of numbers, and how many; 1 for a category, 0 for what is neither."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        width = int(np.prod(values.shape[1:])) if values.ndim < 3 else 0
        return {(values.dtype.kind in "iufcm", width)}
    if length(values) is None:
        return {(True, 1)}
    items: Iterable[Any] = values.values() if isinstance(values, Mapping) else values
    types = set(map(type, items))
    if types <= NUMBERS | {str, bool, type(None)}:
        return {(x in NUMBERS, 1) for x in types if x is not type(None)}
    forms = set()
    for x in [plain(x) for x in items if not is_missing(x)]:
        width = np.size(x) if np.ndim(x) < 2 else 0
        is_category = isinstance(x, Set) or is_label(x)
        forms.add((True, width) if is_number(x) else (False, int(is_category)))
    return forms


def is_number(value: Any) -> bool:
    """True if a value is a number, or a vector of numbers, complex ones included."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(x, Complex | Decimal) for x in value)
    value = plain(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iufm"
    if is_duration(value):
        return True
    return isinstance(value, Complex | Decimal | np.number) and not isinstance(value, bool)


# -- values ----------------------------------------------------------------------------------------


class Elements:
    """The nodes, or the edges, of many graphs, laid end to end, or the graphs themselves.

    Parameters
    ----------
    graphs : list of Graph
    part : {"node", "edge", "graph"}
    schema : GraphSchema
    labels : dict
        The names that pandas has for the columns of an attribute, by attribute; they are added as
        they are found.
    one_hot : dict
        Whether the vectors of a category are read as the positions of their 1, by part and name;
        the same.
    kept : ndarray of int, default=None
        The elements that are read. None: all.
    """

    def __init__(
        self,
        graphs: list[Graph],
        part: str,
        schema: GraphSchema,
        labels: dict[str, tuple[str, ...]],
        one_hot: dict[tuple[str, str], bool],
        kept: np.ndarray | None = None,
    ) -> None:
        self.graphs = graphs
        self.part = part
        self.schema = schema
        self.labels = labels
        self.one_hot = one_hot
        self.ptr = offsets([graph.size(part) for graph in graphs])
        self.kept = np.arange(self.ptr[-1]) if kept is None else kept
        # The position in `graphs` of the graph of each element.
        self.owner = np.arange(len(graphs)).repeat(np.diff(self.ptr))[self.kept]

    def error(self, k: int, text: str, kind: type[GraphError] = GraphError) -> GraphError:
        """The error that an element is wrong.

        Parameters
        ----------
        k : int
            The element.
        text : str
            The message after its name.
        kind : type, default=GraphError
        """
        i = self.owner[k]
        graph = self.graphs[i]
        if self.part != "graph":
            text = f", {self.part} {graph.ids(self.part)[self.kept[k] - self.ptr[i]]!r}{text}"
        return kind(graph.index, text)

    def values(self, name: str, given: list | None = None) -> Any:
        """One value per element, in an array or a list; None where a value is missing.

        Parameters
        ----------
        name : str
            Of the attribute.
        given : list, default=None
            Weights by graph, of which none may be missing. None: the attribute `name`.

        Raises
        ------
        GraphError
            If a graph does not have one value per element, or, unless ``missing="indicate"``, a
            value is None.
        """
        is_required = True
        remedy = "a weight cannot be missing"
        if given is None:
            is_required = self.schema.missing == "error"
            remedy = REMEDY
            given = [getattr(graph, self.part).get(name) for graph in self.graphs]
        parts: list[Any] = []
        for graph, x in zip(self.graphs, given, strict=True):
            self._check_layout(graph, name)
            n = graph.size(self.part)
            own = [None] * n if x is None else x
            if n and not (type(own) is list and len(own) == n):  # what most formats give
                own = self._one_each(graph, n, name, x)
            if n:
                parts.append(own)
        forms = {(x.dtype.kind, x.shape[1:]) if isinstance(x, np.ndarray) else None for x in parts}
        if len(forms) == 1 and None not in forms:
            return np.concatenate(parts)[self.kept]
        values = list(chain.from_iterable(parts))
        if len(self.kept) < len(values):
            values = [values[k] for k in self.kept]
        if is_required and type(None) in set(map(type, values)):
            raise self._lacks(values, name, remedy)
        return values

    def _one_each(self, graph: Graph, n: int, name: str, given: Any) -> Any:
        """The values of one graph, which holds them in any form."""
        if is_a(given, "pandas", "DataFrame"):
            self._check_labels(graph, name, given.columns)
        values = plain(given)
        if hasattr(given, "to_numpy") and hasattr(given, "index"):
            rows = list(given.index)
            ids = list(graph.ids(self.part))
            # An index or ids that only count, 0, 1, ..., say nothing of the other.
            counts = list(range(len(rows)))
            is_silent = counts in (rows, ids) and set(rows) != set(ids)
            if rows != ids and not is_silent:
                values = dict(zip(rows, values, strict=True))
        if isinstance(values, Mapping):
            values = self._by_id(graph, values, name)
        if length(values) != n or isinstance(values, set | frozenset):
            n_values = length(values)
            what = f"the {type(values).__name__} {values!r}"
            raise GraphError(
                graph.index,
                f" has {n} {self.part}s and {what if n_values is None else f'{n_values} values'} "
                f"as {name!r}: give every {self.part} one value, in a list or an array",
            )
        is_array = isinstance(values, np.ndarray) and values.dtype.kind not in "OmM"
        return values if is_array else list(values)

    def _by_id(self, graph: Graph, values: Mapping, name: str) -> list:
        """The values of a dict by node id, or by pair of them.

        That of an undirected edge may be given for either direction, or for both.
        """
        ids = graph.ids(self.part)
        is_directed = graph.kind == "arcs" or self.schema.directed is True
        has_two_ids = self.part == "edge" and not is_directed
        known = {*ids, *(pair[::-1] for pair in ids)} if has_two_ids else {*ids}
        for item in values:
            if item not in known:
                raise GraphError(
                    graph.index,
                    f" has {name!r} for the {self.part} {item!r}, which is not among its "
                    f"{self.part}s ({listed_ids(ids)}): remove it or add the {self.part}",
                )
        found = [values.get(item) for item in ids]
        for k, item in enumerate(ids) if has_two_ids else ():
            there = found[k]
            back = values.get(item[::-1])
            if is_missing(there):
                found[k] = back
            elif not (is_missing(back) or np.array_equal(plain(there), plain(back))):
                raise GraphError(
                    graph.index,
                    f" has two values of {name!r} for the edge {item!r}, which has no direction: "
                    f"{there!r} and, the other way round, {back!r}; give it one, or make the graph "
                    "directed",
                )
        return found

    def _check_labels(self, graph: Graph, name: str, labels: Iterable[Any]) -> None:
        """Refuse columns of pandas, which are read in order, if others have another order."""
        names = tuple(map(str, labels))
        if list(labels) == list(range(len(names))):
            return
        known = self.labels.setdefault(f"{self.part} attribute {name!r}", names)
        if names != known:
            raise GraphError(
                graph.index,
                f": the {self.part} attribute {name!r} has the columns {listed(names)}, "
                f"and others have {listed(known)}: give all the same in the same order, as "
                "table[columns] does",
            )

    def _check_layout(self, graph: Graph, name: str) -> None:
        """Refuse vectors of types of several widths, if other graphs have other types."""
        columns = graph.layouts.get((self.part, name))
        if columns is None:
            return
        known = self.labels.setdefault(f"{self.part} attribute {name!r} by type", columns)
        if columns != known:
            raise GraphError(
                graph.index,
                f": the vectors {name!r} of its types of {self.part}s are {listed(columns)}, and "
                f"those of others {listed(known)}: give each graph all types, some of them without "
                f"{self.part}s",
            )

    def _lacks(self, values: list, name: str, remedy: str) -> MissingError:
        """The error that values are missing, in a whole graph or in a part of it."""
        is_none = np.array([value is None for value in values])
        i = self.owner[is_none.argmax()]
        graph = self.graphs[i]
        of_graph = self.owner == i
        n = of_graph.sum()
        n_lacking = (is_none & of_graph).sum()
        if n_lacking < n:
            ids = graph.ids(self.part)
            lacking = listed_ids([ids[k] for k in self.kept[is_none & of_graph] - self.ptr[i]])
            have = f" {lacking} has" if n_lacking == 1 else f"s {lacking} have"
            return MissingError(
                graph.index,
                f", {self.part}{have} no {name!r}, but other {self.part}s of the graph do "
                f"({n_lacking} of {n} lack it): give it to every {self.part}, {remedy}",
            )
        why = "which is to be read" if is_none.all() else "and other graphs have"
        return MissingError(
            graph.index,
            f" has no {self.part} attribute {name!r}, {why}: give it to all graphs or to none, "
            f"{remedy}",
        )

    # -- categories and numbers --------------------------------------------------------------------

    def categories(self, name: str) -> list[Hashable]:
        """The category of each element; None for one that is missing.

        A vector of 0 and 1 is the position of its 1, if all that fit read are such vectors.

        Raises
        ------
        GraphError
            If a value cannot be a category.
        """
        values = self.values(name)
        values = values.tolist() if isinstance(values, np.ndarray) else values
        types = set(map(type, values))
        if Written in types:
            values = [x.text if type(x) is Written else x for x in values]
            types = types - {Written} | {str}
        if types <= {str, int, bool}:
            return values
        rows = None
        width = length(next((plain(x) for x in values if x is not None), None))
        if width:  # vectors
            missing = [np.nan] * width
            rows = _rows_at_once([missing if x is None else plain(x) for x in values])
        found = _positions(rows)
        is_one_hot = self.one_hot.setdefault((self.part, name), found is not None)
        if is_one_hot and found is not None:
            return found
        if is_one_hot:
            values = [_position(value) for value in values]
        if self.schema.missing == "indicate":
            values = [None if is_missing(value) else value for value in values]
        for k, value in enumerate(values):
            if rows is not None and rows.shape[1] > 1 and np.isin(rows[k], (0, 1)).all():
                continue  # another vector is wrong
            # What is equal, and has the same text after a file.
            if isinstance(value, Set):
                values[k] = value = tuple(sorted_labels({*value}))
            elif is_a(value, "torch", "Tensor") and value.ndim == 0:
                values[k] = value = value.item()
            elif isinstance(value, Enum) and isinstance(value, str | int):
                values[k] = value = value.value
            elif is_a(value, "pandas", "Timestamp") and not value.nanosecond:
                values[k] = value = value.to_pydatetime()
            if not is_label(value):
                what = "label" if self.part == "node" else "category"
                raise self.error(
                    k,
                    f" has the {what} {value!r} as {name!r}: a {what} must be hashable and not "
                    f"missing (numbers belong in {self.part}_numbers, such as 'x'); {REMEDY}",
                )
        return values

    def numbers(self, name: str, width: int = 0) -> np.ndarray:
        """The numbers of each element; NaN for missing ones.

        Parameters
        ----------
        name : str
            Of the attribute.
        width : int, default=0
            That of `rows`, also if all values are missing.

        Returns
        -------
        ndarray of shape (n_elements, width)

        Raises
        ------
        GraphError
            If a value is no number, or not finite, or vectors differ in length.
        """
        rows = self.rows(name, self.values(name), width)
        is_nan = np.isnan(rows)
        usable = (np.abs(rows) <= LARGEST) | (is_nan & (self.schema.missing == "indicate"))
        if not usable.all():
            k, position = np.argwhere(~usable)[0]
            which = f"number {position} of the" if rows.shape[1] > 1 else "the"
            what = f": {which} {self.part} attribute {name!r} is {rows[k, position]}: "
            if is_nan[k, position]:
                remedy = f"impute, clip or drop it first, {REMEDY}"
                raise self.error(k, what + remedy, MissingError)
            raise self.error(k, f"{what}clip or drop it first")
        return np.full((len(self.kept), width), np.nan) if is_nan.all() else rows

    def rows(self, name: str, values: Any, width: int = 0) -> np.ndarray:
        """Values as rows of numbers of one width, unchecked for NaN and infinity.

        Parameters
        ----------
        name : str
            Of the attribute, for messages.
        values : list or ndarray
            One for each element.
        width : int, default=0
            How many numbers each has. 0: as many as most.

        Returns
        -------
        ndarray of shape (n_elements, width)
        """
        at_once = _rows_at_once(values)
        if at_once is not None and (width in (0, at_once.shape[1]) or np.isnan(at_once).all()):
            return at_once
        where = f"the {self.part} attribute {name!r}"
        found: dict[int, np.ndarray] = {}
        for k, value in enumerate(values):
            if is_missing(value):
                continue
            if is_a(value, "pandas", "Series"):
                self._check_labels(self.graphs[self.owner[k]], name, value.index)
            try:
                found[k] = np.atleast_1d(
                    in_hours(value) if is_duration(value) else as_floats(value)
                )
            except OverflowError as error:
                raise self.error(
                    k, f": {where} is too large for double precision: clip or drop it first"
                ) from error
            except (TypeError, ValueError, RuntimeError) as error:
                raise self.error(
                    k,
                    f": {where} is not a number or a vector of numbers: {shown(repr(value))}; make "
                    "it one first, such as days for a date",
                ) from error
            if found[k].ndim != 1:
                shape = found[k].shape
                raise self.error(k, f": {where} has shape {shape}: give a number or a flat vector")
        width = width or Counter([len(x) for x in found.values()] or [1]).most_common(1)[0][0]
        for k, row in found.items():
            if len(row) != width:
                raise self.error(
                    k,
                    f": {where} has {len(row)} numbers, and others have {width}: "
                    f"give all {self.part}s vectors of the same width",
                )
        rows = np.full((len(values), width), np.nan)
        if found:
            rows[list(found)] = list(found.values())
        return rows


def _rows_at_once(values: Any) -> np.ndarray | None:
    """Rows of plain numbers, or of vectors of one length; None if values need a closer look."""
    if isinstance(values, list):
        types = set(map(type, values))
        try:
            if types <= NUMBERS | {bool, type(None)}:
                values = np.array(values, dtype=float)  # NaN for None
            elif types <= {list, tuple, np.ndarray}:
                values = np.array(values)
        except (ValueError, RuntimeError, OverflowError):  # of several lengths, or of tensors
            return None
    if isinstance(values, list) or values.dtype.kind not in "biuf" or values.ndim > 2:
        return None
    return as_doubles(values).reshape(len(values), -1)


# -- data ------------------------------------------------------------------------------------------


def _data(
    elements: Elements,
    names: dict[str, tuple[str, ...]],
    known: FittedSchema | None,
    may_lack: bool,
) -> tuple[Data, dict[str, Any]]:
    """The data of nodes, edges, or graphs, and what was read, by the fields of FittedSchema."""
    of_categories, of_numbers = KINDS_OF[elements.part]
    codes = None
    vocabulary = tuple[Hashable, ...]()
    columns = {name: elements.categories(name) for name in names[of_categories]}
    known_widths = {} if known is None else dict(getattr(known, of_numbers))
    numbers = []
    widths = []
    for name in names[of_numbers]:
        rows = elements.numbers(name, known_widths.get(name, 0))
        is_named = name in elements.schema.named(of_numbers)
        positions = None if is_named else _positions(rows)
        if positions is not None and tuple not in set(map(type, positions)):
            columns[name] = positions
            elements.one_hot[elements.part, name] = True
        elif rows.shape[1]:
            if known is None:
                _warn_of_one_hot(elements.part, name, rows)
            numbers.append(rows)
            widths.append((name, rows.shape[1]))
        elif is_named and known is None and not may_lack:
            raise GraphError(
                None,
                f" has a value of the {elements.part} attribute {name!r}, which the schema names "
                f"as a number: leave it out, or name it in {of_categories}",
            )
    if columns:
        each = list(columns.values())
        values: list[Any] = each[0] if len(each) == 1 else list(zip(*each, strict=True))
        vocabulary = sorted_labels(set(values))
        codes = codes_in(values, vocabulary)
    data = Data(codes, vocabulary, np.hstack(numbers) if numbers else None)
    return data, {of_categories: tuple(columns), of_numbers: tuple(widths)}


def _warn_of_one_hot(part: str, name: str, rows: np.ndarray) -> None:
    """Warn if some columns of a vector say a category: one of them is 1, and the others are 0."""
    is_binary = np.isin(rows, (0, 1)).all(axis=0)
    if is_binary.all() or not is_binary.any():
        return
    borders = np.flatnonzero(np.diff(np.r_[False, is_binary, False].astype(int)))
    for first, end in borders.reshape(-1, 2).tolist():
        block = rows[:, first:end]
        varies = len(np.unique(block, axis=0)) > 1
        if end - first > 1 and varies and (block.sum(axis=1) == 1).all():
            warn(
                f"the {part} attribute {name!r} has a category in its columns {first} to "
                f"{end - 1}, of which one is 1: it is found more often as one, "
                f"kind = {name}[:, {first}:{end}].argmax(axis=1), in {part}_categories, beside "
                "the other columns"
            )


def _positions(rows: np.ndarray | None) -> list[Hashable] | None:
    """The category of each vector of 0 and 1: the position of its 1, or of all if not just one.

    A missing vector is None. Other rows have no categories.
    """
    if rows is None or rows.shape[1] < 2:
        return None
    is_given = ~np.isnan(rows).all(axis=1)
    if not (is_given.any() and np.isin(rows[is_given], (0, 1)).all()):
        return None
    found: list[Hashable] = rows.argmax(axis=1).tolist()
    for k in np.flatnonzero(rows.sum(axis=1) != 1).tolist():
        found[k] = tuple(np.flatnonzero(rows[k]).tolist()) if is_given[k] else None
    return found


def _position(value: Any) -> Any:
    """The position of the 1 in a vector of 0 and 1; other values as they are."""
    vector = plain(value)
    if isinstance(vector, str) or not length(vector):
        return value
    found = _positions(_rows_at_once([vector]))
    return value if found is None else found[0]


def _known_one_hot(known: FittedSchema | None) -> dict[tuple[str, str], bool]:
    """Which categories of earlier graphs were vectors of 0 and 1, by part and name."""
    if known is None or known.one_hot is None:
        return {}
    keys = [(part, name) for part, (kind, _) in KINDS_OF.items() for name in known.names(kind)]
    return {key: key in known.one_hot for key in keys}


def _weights(edges: Elements, name: str | None) -> tuple[np.ndarray, np.ndarray]:
    """The weight of each edge, and whether those of parallel edges are added.

    Without a name, weights are those of formats that hold them without one.
    """
    given = [x.edge.get(name) if name and x.weights is None else x.weights for x in edges.graphs]
    adds_up = np.array([name is not None or x is not None for x in given])[edges.owner]
    if not adds_up.any():
        return np.ones(len(adds_up)), adds_up
    if name is None:
        pairs = zip(edges.graphs, given, strict=True)
        given = [np.ones(len(graph.pairs)) if x is None else x for graph, x in pairs]
    name = name or "weight"
    rows = edges.rows(name, edges.values(name, given))
    if rows.shape[1] != 1:
        raise edges.error(0, f" has {rows.shape[1]} numbers as {name!r}: give every edge one")
    weights = rows[:, 0]
    least = np.finfo(float).tiny  # smaller ones lose digits
    bad = ~((weights >= least) & (weights <= LARGEST))
    if bad.any():
        k = int(bad.argmax())
        raise edges.error(
            k,
            f" has the weight {weights[k]}: weights must be positive, at least {least:.2g} and at "
            f"most {LARGEST:g}; to read numbers of any sign, name {name!r} in edge_numbers, and no "
            "edge_weight",
        )
    if not adds_up.all() and (weights != 1).any():
        raise GraphError(
            edges.graphs[edges.owner[adds_up.argmin()]].index,
            " has no weights, and others have, in their matrices: name the weights in "
            "GraphSchema(edge_weight=...), or give matrices of 0 and 1",
        )
    return weights, adds_up


# -- arcs ------------------------------------------------------------------------------------------


def build_arcs(
    edges: Elements,
    ends: np.ndarray,
    n_nodes: int,
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
    kinds = np.array([graph.kind for graph in edges.graphs], dtype=object)
    if edges.schema.directed != "auto":
        kinds[kinds != "edges"] = "arcs" if edges.schema.directed else "either"
    is_directed = kinds == "arcs"
    owner, edge, (u, v) = edges.owner, np.arange(len(ends)), ends.T
    are_simple = all(graph.is_simple for graph in edges.graphs)
    if not (are_simple and {*kinds.tolist()} <= {"edges", "arcs"}):
        turned = (kinds == "edges")[owner] & (u > v)  # the order of their ends is arbitrary
        u, v = np.where(turned, v, u), np.where(turned, u, v)
        codes = row_codes(len(ends), data.labels, data.numbers)
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
    source = np.concatenate([u, v[both]])
    target = np.concatenate([v, u[both]])
    order = np.lexsort((target, source))  # stable: parallel edges keep their order
    indptr = offsets(np.bincount(source, minlength=n_nodes))
    weights, edge = (np.concatenate([x, x[both]])[order] for x in (weights, edge))
    adjacency = sp.csr_array((weights, target[order], indptr), shape=(n_nodes, n_nodes))
    return adjacency, edge, bool(is_directed.any())
