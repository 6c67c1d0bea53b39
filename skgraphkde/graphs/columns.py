"""Columns: one attribute of the nodes, edges, or graphs of a list -> categories or numbers.

:class:`Elements` lays the values of all graphs end to end and reads them at once. An error names
the graph, the node or edge, and the cure.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from skgraphkde.graphs.arrays import LARGEST, offsets
from skgraphkde.graphs.formats.common import (
    Graph,
    as_floats,
    is_a,
    is_label,
    is_missing,
    length,
    listed_ids,
    plain,
    row_labels,
    same_order,
    unknown_node,
)
from skgraphkde.graphs.naming import listed, shown
from skgraphkde.graphs.problems import GraphError

# Types whose values are all numbers.
NUMBERS = {bool, int, float, np.int64, np.int32, np.float64, np.float32}
CURE = "or say missing='indicate' in the GraphSchema (--missing indicate in the shell)"


class Elements:
    """The nodes, or the edges, of many graphs, laid end to end, or the graphs themselves.

    Parameters
    ----------
    graphs : list of Graph
    part : {"node", "edge", "graph"}
    missing : {"error", "indicate"}
        As in a schema.
    labels : dict
        The names that pandas has for the columns of an attribute, by attribute; they are added as
        they are found.
    kept : ndarray of int, default=None
        The elements that are read. None: all.
    directed : bool, default=False
        Whether all edges are read as directed ones.
    """

    def __init__(
        self,
        graphs: list[Graph],
        part: str,
        missing: str,
        labels: dict[str, tuple[str, ...]],
        kept: np.ndarray | None = None,
        directed: bool = False,
    ) -> None:
        self.graphs, self.part, self.missing, self.labels = graphs, part, missing, labels
        self.directed = directed
        self.ptr = offsets([graph.size(part) for graph in graphs])
        self.kept = np.arange(self.ptr[-1]) if kept is None else kept

    def __len__(self) -> int:
        return len(self.kept)

    @cached_property
    def owner(self) -> np.ndarray:
        """The position in `graphs` of the graph of each element, shape (n_elements,)."""
        return np.arange(len(self.graphs)).repeat(np.diff(self.ptr))[self.kept]

    def _find(self, k: int) -> tuple[int, str]:
        """The position of the graph of an element, and the element's name in a message."""
        i = self.owner[k]
        graph, position = self.graphs[i], self.kept[k] - self.ptr[i]
        is_graph = self.part == "graph"
        return graph.index, "" if is_graph else f", {self.part} {graph.ids(self.part)[position]!r}"

    def error(self, k: int, text: str, other: int | None = None) -> GraphError:
        """The error that an element is wrong.

        Parameters
        ----------
        k : int
            The element.
        text : str
            The message after its name.
        other : int, default=None
            Another element, which the message names at its end.
        """
        index, name = self._find(k)
        return GraphError(index, f"{name}{text}", *(() if other is None else self._find(other)))

    # -- values ------------------------------------------------------------------------------------

    def values(self, name: str, given: list | None = None) -> Any:
        """One value per element, in an array or a list; None where a value is missing.

        Parameters
        ----------
        name : str
            Of the attribute.
        given : list, default=None
            Those of each graph, of which none may be missing. None: the attribute `name`.

        Raises
        ------
        GraphError
            If a graph does not have one value per element, or, unless ``missing="indicate"``, a
            value is None.
        """
        is_required, cure = True, "a weight cannot be missing"
        if given is None:
            is_required, cure = self.missing == "error", CURE
            given = [graph.columns(self.part).get(name) for graph in self.graphs]
        parts: list[Any] = [
            [None] * n if x is None else self._one_each(graph, n, name, x)
            for graph, n, x in zip(self.graphs, np.diff(self.ptr).tolist(), given, strict=True)
            if n
        ]
        are_arrays = all(isinstance(x, np.ndarray) for x in parts)
        if parts and are_arrays and len({(x.dtype.kind, x.shape[1:]) for x in parts}) == 1:
            return np.concatenate(parts)[self.kept]
        values = list(chain.from_iterable(parts))
        if len(self) < len(values):
            values = [values[k] for k in self.kept]
        if is_required and type(None) in set(map(type, values)):
            raise self._lacks(values, name, cure)
        return values

    def _one_each(self, graph: Graph, n: int, name: str, given: Any) -> Any:
        """The values of one graph, which holds them in any form."""
        if type(given) is list and len(given) == n:  # what most formats give
            return given
        if is_a(given, "pandas", "DataFrame"):
            self._check_labels(graph, name, given.columns)
        self._check_order(graph, name, given)
        values = plain(given)
        if isinstance(values, Mapping):
            values = self._by_name(graph, values, name)
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

    def _by_name(self, graph: Graph, values: Mapping, name: str) -> list:
        """The values of a dict by node id, or by pair of them."""
        ids = graph.ids(self.part)
        is_one_way = self.part == "node" or self.directed or graph.kind == "arcs"
        known = {*ids, *(() if is_one_way else (pair[::-1] for pair in ids))}
        for item in values:
            if item not in known:
                which = f"the edge {item!r}, which it does not have"
                if self.part == "node":
                    which = f"a node that it does not have: {unknown_node(item, ids)}"
                raise GraphError(
                    graph.index, f" has {name!r} for {which}: remove it or add the {self.part}"
                )
        if is_one_way:
            return [values.get(item) for item in ids]
        return [self._of_either(graph, pair, values, name) for pair in ids]

    def _of_either(self, graph: Graph, edge: tuple, values: Mapping, name: str) -> Any:
        """The value of an undirected edge, which may be given for either direction, or for both."""
        there, back = values.get(edge), values.get(edge[::-1])
        if is_missing(there) or is_missing(back):
            return back if is_missing(there) else there
        if not np.array_equal(plain(there), plain(back)):
            raise GraphError(
                graph.index,
                f" has two values of {name!r} for the edge {edge!r}, which has no "
                f"direction: {there!r} and, the other way round, {back!r}; give it one, or make "
                "the graph directed",
            )
        return there

    def _check_order(self, graph: Graph, name: str, values: Any) -> None:
        """Refuse values of pandas whose index may mean another order than that of the elements."""
        labels = row_labels(values)
        if labels is None or same_order(labels, ids := list(graph.ids(self.part))):
            return
        part = self.part
        cure = ", as Series.to_dict() makes it" if part == "node" else ""
        raise GraphError(
            graph.index,
            f": the index of {name!r} ({listed_ids(labels)}) is not that of the "
            f"{part}s in their order ({listed_ids(ids)}): give a dict by {part}{cure}, or the "
            f"values alone in the order of the {part}s, as to_numpy() does",
        )

    def _check_labels(self, graph: Graph, name: str, labels: Iterable[Any]) -> None:
        """Refuse columns of pandas, which are read in order, if others have another order."""
        labels = list(labels)
        if labels == list(range(len(labels))):
            return
        names = tuple(map(str, labels))
        known = self.labels.setdefault(f"{self.part} attribute {name!r}", names)
        if names != known:
            raise GraphError(
                graph.index,
                f": the {self.part} attribute {name!r} has the columns {listed(names)}, "
                f"and others have {listed(known)}: give all the same in the same order, as "
                "table[columns] does",
            )

    def _lacks(self, values: list, name: str, cure: str) -> GraphError:
        """The error that values are missing, in a whole graph or in a part of it."""
        owner, is_none = self.owner, np.array([value is None for value in values])
        i = owner[is_none.argmax()]
        graph, of_graph = self.graphs[i], np.flatnonzero(owner == i)
        lacking = of_graph[is_none[of_graph]]
        if len(lacking) < len(of_graph):
            ids = graph.ids(self.part)
            names = [ids[k] for k in self.kept[lacking] - self.ptr[i]]
            have = f"{self.part} {{}} has" if len(lacking) == 1 else f"{self.part}s {{}} have"
            return GraphError(
                graph.index,
                f", {have.format(listed_ids(names))} no {name!r}, but other {self.part}s of the "
                f"graph do ({len(lacking)} of {len(of_graph)} lack it): give it to every "
                f"{self.part}, {cure}",
            )
        text = f" has no {self.part} attribute {name!r}, "
        if is_none.all():
            return GraphError(graph.index, f"{text}which is to be read: give it one, {cure}")
        other = self.graphs[owner[is_none.argmin()]].index
        rest = f" has: give it to all graphs or to none, {cure}"
        return GraphError(graph.index, f"{text}and ", other, rest)

    # -- categories and numbers --------------------------------------------------------------------

    def categories(self, name: str) -> list[Hashable]:
        """The category of each element; None for one that is missing.

        Raises
        ------
        GraphError
            If a value cannot be a category.
        """
        values = self.values(name)
        values = values.tolist() if isinstance(values, np.ndarray) else values
        if set(map(type, values)) <= {str, int, bool}:
            return values
        if self.missing == "indicate":
            values = [None if is_missing(value) else value for value in values]
        for k, value in enumerate(values):
            if not is_label(value):
                what = "label" if self.part == "node" else "category"
                raise self.error(
                    k,
                    f" has the {what} {value!r} as {name!r}: a {what} must be hashable and not "
                    f"missing (numbers belong in {self.part}_numbers, such as 'x'); {CURE}",
                )
        return values

    def numbers(self, name: str, width: int = 0) -> np.ndarray:
        """The numbers of each element; NaN for missing ones.

        Parameters
        ----------
        name : str
            Of the attribute.
        width : int, default=0
            The number of columns if all values are missing.

        Returns
        -------
        ndarray of shape (n_elements, width)

        Raises
        ------
        GraphError
            If a value is no number, or not finite, or vectors differ in length.
        """
        rows = self.rows(name, self.values(name))
        is_nan = np.isnan(rows)
        usable = (np.abs(rows) <= LARGEST) | (is_nan & (self.missing == "indicate"))
        if not usable.all():
            k, position = np.argwhere(~usable)[0]
            which = f"number {position} of the" if rows.shape[1] > 1 else "the"
            cure = f"impute, clip or drop it first, {CURE}"
            raise self.error(
                k,
                f": {which} {self.part} attribute {name!r} is {rows[k, position]}: "
                f"{cure if is_nan[k, position] else 'clip or drop it first'}",
            )
        return np.full((len(self), width), np.nan) if is_nan.all() else rows

    def rows(self, name: str, values: Any) -> np.ndarray:
        """Values as rows of numbers of one width, unchecked for NaN and infinity.

        Parameters
        ----------
        name : str
            Of the attribute, for messages.
        values : list or ndarray
            One for each element.

        Returns
        -------
        ndarray of shape (n_elements, width)
        """
        at_once = _rows_at_once(values)
        if at_once is not None:
            return at_once
        where = f"the {self.part} attribute {name!r}"
        found: dict[int, np.ndarray] = {}
        for k, value in enumerate(values):
            if is_missing(value):
                continue
            if is_a(value, "pandas", "Series"):
                self._check_labels(self.graphs[self.owner[k]], name, value.index)
            try:
                found[k] = np.atleast_1d(as_floats(value))
            except (TypeError, ValueError, RuntimeError, OverflowError) as error:
                raise self.error(
                    k,
                    f": {where} is not a number or a vector of numbers: {shown(repr(value))}; make "
                    "it one first, such as days for a date",
                ) from error
            if found[k].ndim != 1:
                shape = found[k].shape
                raise self.error(k, f": {where} has shape {shape}: give a number or a flat vector")
            first = next(iter(found))
            if len(found[k]) != len(found[first]):
                raise self.error(
                    k,
                    f": {where} has {len(found[k])} numbers: give all {self.part}s vectors of the "
                    f"same width, which is {len(found[first])} in ",
                    first,
                )
        if not found:
            return np.full((len(values), 1), np.nan)
        return _at(list(found), list(found.values()), len(values))


def _at(index: Any, given: Any, n_rows: int) -> np.ndarray:
    """Rows of NaN, but for those that are given."""
    rows = np.full((n_rows, len(given[0])), np.nan)
    rows[index] = given
    return rows


def _rows_at_once(values: Any) -> np.ndarray | None:
    """Rows of plain numbers, or of vectors of one length; None if values need a closer look."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "biuf" or values.ndim > 2:
            return None
        return (values[:, np.newaxis] if values.ndim == 1 else values).astype(float)
    types = set(map(type, values)) - {type(None)}
    try:
        if types <= NUMBERS:
            return np.array(values, dtype=float)[:, np.newaxis]  # NaN for None
        if types <= {list, tuple, np.ndarray}:
            given = np.array([value for value in values if value is not None])
            if given.dtype.kind in "biuf" and given.ndim == 2:
                return _at([value is not None for value in values], given, len(values))
    except (ValueError, RuntimeError, OverflowError):  # vectors of several lengths, or of tensors
        pass
    return None
