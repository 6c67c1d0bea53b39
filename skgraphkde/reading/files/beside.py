"""Beside: what files say of graphs, and a schema does not name: rows of a table, and data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.schema import KINDS_OF, GraphSchema, closest_names
from skgraphkde.reading.cases import ROWS
from skgraphkde.reading.files.common import AnyPath
from skgraphkde.reading.files.tables import check_values, read_table, typed_columns

# Data of graphs that people can be told: others are nested, or say little.
TOLD = (str, int, bool)


@dataclass(frozen=True)
class GraphTable:
    """A table with one row for each of the files of graphs.

    Parameters
    ----------
    path : Path or zipfile.Path
        CSV, gzipped or not, or Parquet.
    column : str
        The column of the names of the graphs: of their files, with or without folder and suffix.
    """

    path: AnyPath
    column: str = "graph"

    def read(self, schema: GraphSchema, options: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        """The data of each graph, by its name in the table.

        Parameters
        ----------
        schema : GraphSchema
            As for :meth:`TableFiles.read`.
        options : mapping of str

        Raises
        ------
        ValueError
            If the column is not there, or a graph has two rows.
        """
        cells = read_table(self.path, options)
        if self.column not in cells:
            raise ValueError(
                f"{self.path} has no column {self.column!r} with the names of the graphs: it has "
                f"{listed(list(map(repr, cells)))}; name it by --graph-column"
            )
        if isinstance(cells, dict):
            names = cells.pop(self.column)
            columns = typed_columns(self.path, cells, schema, "graph", options.get("decimal"))
        else:
            names = cells[self.column].astype(str).tolist()
            columns = {x: cells[x].tolist() for x in cells.columns if x != self.column}
        found: dict[str, dict[str, Any]] = {}
        for row, name in enumerate(names):
            if name in found:
                raise ValueError(f"{self.path} has two rows of {name!r}: keep one of them")
            found[name] = {column: values[row] for column, values in columns.items()}
        return found


class Beside:
    """What files say of graphs beside what is read.

    Parameters
    ----------
    table : GraphTable, default=None
        Gives each graph the data of its row.

    Attributes
    ----------
    rows : dict of str -> list
        The rows of the table of which a graph is a case, by its name.
    data : dict of str -> dict
        Data of graphs as a whole, by their names.
    """

    def __init__(self, table: GraphTable | None = None) -> None:
        self.table = table
        self.rows: dict[str, list[Any]] = {}
        self.data: dict[str, dict[str, Any]] = {}
        self._texts: dict[str, dict[str, str]] = {}  # all that is one value, by graph and name
        self._rows_of_table: dict[str, dict[str, Any]] = {}
        self._user_of: dict[str, str] = {}  # the graph of each row
        self._names: list[str] = []
        self._replaced: set[str] = set()

    def open(self, schema: GraphSchema, options: Mapping[str, str]) -> None:
        """Read the table, if there is one."""
        if self.table is not None:
            self._rows_of_table = self.table.read(schema, options)

    def give(self, name: str, graph: nx.Graph) -> None:
        """Give a graph the data of its row in the table.

        Raises
        ------
        ValueError
            If a graph has two rows, or two graphs have one.
        """
        if self.table is None:
            return
        self._names.append(name)
        keys = [key for key in _keys_of(name) if key in self._rows_of_table]
        if not keys:
            return
        if len(keys) > 1:
            both = listed(list(map(repr, keys)))
            raise ValueError(f"{self.table.path} has two rows of {name!r}: {both}; keep one")
        [key] = keys
        if key in self._user_of:
            raise ValueError(
                f"the row {key!r} of {self.table.path} is that of {self._user_of[key]!r}, and of "
                f"{name!r}: call them so in the table"
            )
        self._user_of[key] = name
        row = self._rows_of_table[key]
        check_values(row.values())
        self._replaced |= {x for x in row if x in graph.graph and graph.graph[x] != row[x]}
        graph.graph.update(row)

    def take(self, name: str, graph: nx.Graph) -> None:
        """Take the rows of a case out of a graph, and note its data."""
        rows = graph.graph.pop(ROWS, None)
        if rows is not None:
            self.rows[name] = rows
        told = {}
        for key, value in graph.graph.items():
            if isinstance(value, (*TOLD, float)) and value == value:  # no NaN
                self._texts.setdefault(name, {})[str(key)] = str(value)
            is_whole = isinstance(value, float) and value.is_integer()  # as beside missing ones
            if key != "name" and (is_whole or isinstance(value, TOLD)):
                told[key] = int(value) if is_whole else value
        self.data[name] = told

    def close(self) -> None:
        """Raise a ValueError if no row is that of a graph, and warn of what fits nothing."""
        if self.table is None:
            return
        path = self.table.path
        others = [key for key in self._rows_of_table if key not in self._user_of]
        if others and not self._user_of:
            rows = listed(list(map(repr, others)), 3)
            names = listed(list(map(repr, self._names)), 2)
            raise ValueError(
                f"no row of {path} is that of a graph: it has {rows}, and graphs are called {names}"
            )
        n_lacking = len(self._names) - len(self._user_of)
        if n_lacking:
            warn(f"{n_lacking} of {len(self._names)} graphs have no row in {path}")
        if others:
            warn(f"{len(others)} rows of {path} are those of no graph: {listed(others, 5)}")
        if self._replaced:
            names = listed(sorted(map(repr, self._replaced)))
            warn(f"{path} replaces {names}, which files have, too, and say otherwise")

    def column(self, names: Sequence[str], column: str) -> list[str]:
        """One datum of each graph, as text; "" where a graph has none.

        Parameters
        ----------
        names : sequence of str
            Of the graphs.
        column : str
            Of the datum.

        Raises
        ------
        ValueError
            If no graph has it.
        """
        found = [self._texts.get(name, {}).get(column, "") for name in names]
        if not any(found):
            there = {key: None for name in names for key in self._texts.get(name, {})}
            raise ValueError(
                f"no graph has {column!r}: graphs have {closest_names(column, there) or 'no data'}"
            )
        return found

    def unread(self, batch: GraphBatch) -> list[dict[str, Any]]:
        """For each graph of a batch, its data that are not read.

        Parameters
        ----------
        batch : GraphBatch
            With names.
        """
        read = {name for kind in KINDS_OF["graph"] for name in batch.schema.names(kind)}
        found = []
        for name in batch.names or ():
            data = self.data.get(name, {})
            found.append({key: value for key, value in data.items() if key not in read})
        return found


def _keys_of(name: str) -> list[str]:
    """How a table may call a graph: as it is, without its folder, without suffixes, or its number.

    Examples
    --------
    >>> _keys_of("scans/sub01.csv.gz")
    ['scans/sub01.csv.gz', 'sub01.csv.gz', 'sub01.csv', 'sub01']
    >>> _keys_of("all.sdf#CHEMBL25")
    ['all.sdf#CHEMBL25', 'all#CHEMBL25', 'CHEMBL25']
    """
    base = name.rpartition("/")[2]
    file, mark, place = base.partition("#")
    if "." not in file:  # the mark is one of the file's own name
        file, mark, place = base, "", ""
    found = [name]
    while file:
        found.append(f"{file}{mark}{place}")
        file = file.rpartition(".")[0]
    return list(dict.fromkeys([*found, place] if place else found))
