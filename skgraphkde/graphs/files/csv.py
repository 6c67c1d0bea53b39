"""Edge lists as CSV, with a table of the nodes beside them -> networkx graphs.

The first row of ``NAME.csv`` names its columns. Edges of an undirected graph have their ends in the
columns "source" and "target", those of a directed one in "from" and "to"; where the schema says
``directed=True``, "source" and "target" are a direction, too. All other columns are data of the
edges. ``NAME.nodes.csv`` is optional. It has the nodes in the column "id" (or "node"), and their
data in the others. Without it, the nodes are those that the edges join.

An empty cell is a missing value. A cell that is a number is a number, unless it begins with a zero
that says nothing, as in "007". In a column of categories, which the schema names or convention
does, it is one only if the number is written like that: the version "1.10" is not 1.1, and the well
"1E2" of a plate is not 100. In an undirected graph, a second row that has the ends of an edge
the other way round, and the same data, is the same edge.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx

from skgraphkde.graphs.files.common import (
    Edge,
    Graphs,
    add_node,
    first_repeated,
    read_content,
    to_graph,
)
from skgraphkde.graphs.schema import CONVENTIONS, GraphSchema

ENDS = (("source", "target"), ("from", "to"))
IDS = ("id", "node")
INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]*)")
NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
NOT_FINITE = re.compile(r"nan|[+-]?inf(inity)?", re.IGNORECASE)


def is_node_table(path: Path) -> bool:
    """Whether a file is a table of nodes, which is read with the edge list beside it."""
    return path.name.lower().removesuffix(".gz").endswith(".nodes.csv")


def node_table_of(path: Path) -> Path | None:
    """The table of nodes beside an edge list.

    Raises
    ------
    ValueError
        If there are two.
    """
    name = path.name if path.suffix.lower() != ".gz" else path.name[:-3]
    stem, suffix = name[:-4], name[-4:]
    names = dict.fromkeys(
        f"{stem}.nodes{end}{gz}" for end in (suffix, ".csv") for gz in ("", ".gz")
    )
    found = [path.with_name(name) for name in names if path.with_name(name).exists()]
    if len(found) > 1 and not found[0].samefile(found[1]):
        raise ValueError(f"there are two tables of its nodes, {found[0]} and {found[1]}: keep one")
    return found[0] if found else None


def read_csv(path: Path, schema: GraphSchema) -> Graphs:
    """Read a graph from an edge list and the table of its nodes."""
    edges = _table(path)
    present = [ends for ends in ENDS if set(ends) <= set(map(str.lower, edges.columns))]
    if len(present) != 1:
        both = "both" if present else "no"
        raise ValueError(
            f'it has {both} columns "source" and "target", {"and" if present else "or"} "from" and '
            f'"to"; its first row is {", ".join(edges.columns)!r}'
        )
    is_directed = present[0] == ENDS[1] or schema.directed is True
    u, v = (_find(edges, end) for end in present[0])
    nodes: dict[str, dict[str, Any]] = {}
    table = node_table_of(path)
    if table is not None:
        nodes = _nodes(_table(table), schema)
    of_edges = _categories(edges, schema, "edge")
    listed: list[Edge] = []
    count: Counter = Counter()
    for line, cells in edges.rows:
        for k in (u, v):
            if not cells[k]:
                raise ValueError(
                    f"line {line}: {edges.columns[k]!r} is empty, but an edge has two ends"
                )
            if table is None:
                nodes.setdefault(cells[k], {})
            elif cells[k] not in nodes:
                raise ValueError(
                    f"line {line}: the node {cells[k]!r} is not in {table.name}: list all nodes "
                    "there, or none"
                )
        data = _data(edges, cells, (u, v), of_edges)
        if not is_directed and cells[u] != cells[v]:
            key = tuple(cell for k, cell in enumerate(cells) if k not in (u, v))
            count[cells[u], cells[v], key] += 1
            if count[cells[u], cells[v], key] <= count[cells[v], cells[u], key]:
                continue  # the other direction of an edge that is there
        listed.append(Edge(cells[u], cells[v], data, is_directed))
    graph: nx.Graph = to_graph(nodes, listed, is_directed)
    return [("", graph)]


def _categories(table: Table, schema: GraphSchema, part: str) -> set[str]:
    """Columns that are categories: by the schema, by convention, or as a cell is no number."""
    kind, numbers = f"{part}_categories", schema.named(f"{part}_numbers")
    found = {*schema.named(kind), *(CONVENTIONS[kind] if schema.named(kind) == () else ())}
    for k, column in enumerate(table.columns):
        if any(isinstance(_value(cells[k]), str) for _, cells in table.rows if cells[k]):
            found.add(column)
    return found - set(numbers)


def _nodes(table: Table, schema: GraphSchema) -> dict[str, dict[str, Any]]:
    categories = _categories(table, schema, "node")
    lowered = [column.lower() for column in table.columns]
    name = next((name for name in IDS if name in lowered), None)
    if name is None:
        raise ValueError(
            f'{table.path} has no column "id" or "node"; its first row is '
            f"{', '.join(table.columns)!r}"
        )
    k = _find(table, name)
    nodes: dict[str, dict[str, Any]] = {}
    for line, cells in table.rows:
        try:
            if not cells[k]:
                raise ValueError(f"{table.columns[k]!r} is empty")
            add_node(nodes, cells[k], _data(table, cells, (k,), categories))
        except ValueError as error:
            raise ValueError(f"{table.path}, line {line}: {error}") from error
    return nodes


# -- tables ----------------------------------------------------------------------------------------


class Table(NamedTuple):
    """A CSV file."""

    path: Path
    columns: list[str]
    rows: list[tuple[int, list[str]]]  # the number of the line, and a cell for each column


def _table(path: Path) -> Table:
    text = read_content(path).decode("utf-8-sig")  # with or without the mark that Excel writes
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows = []
    columns: list[str] = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not columns:
                columns = cells
            elif cells and len(cells) != len(columns):
                raise ValueError(f"{len(cells)} cells, but there are {len(columns)} columns")
            elif cells:
                rows.append((reader.line_num, cells))
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from error
    if not columns:
        raise ValueError(f"{path} is empty")
    for k, column in enumerate(columns):
        if not column:
            raise ValueError(
                f"{path}: column {k + 1} has no name: name it, or leave it out, as "
                "DataFrame.to_csv(index=False) does"
            )
    twice = first_repeated(columns)
    if twice is not None:
        raise ValueError(f"{path} has the column {twice!r} twice")
    return Table(path, columns, rows)


def _find(table: Table, name: str) -> int:
    """The column of ids, however it is capitalized."""
    found = [k for k, column in enumerate(table.columns) if column.lower() == name]
    if len(found) > 1:
        raise ValueError(f"{table.path} has the column {name!r} twice")
    return found[0]


def _data(
    table: Table, cells: list[str], ids: tuple[int, ...], categories: set[str]
) -> dict[str, Any]:
    """The data in a row, without what is missing."""
    return {
        column: _category(cell) if column in categories else _value(cell)
        for k, (column, cell) in enumerate(zip(table.columns, cells, strict=True))
        if cell and k not in ids
    }


def _category(cell: str) -> Any:
    value = _value(cell)
    is_meant = cell.lower() == "nan" or (str(value) == cell and value not in (inf, -inf))
    return value if is_meant else cell


def _value(cell: str) -> Any:
    if INTEGER.fullmatch(cell):
        return int(cell)
    if NUMBER.fullmatch(cell) or NOT_FINITE.fullmatch(cell):
        return float(cell)
    return cell
