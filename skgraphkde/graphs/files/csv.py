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

import io
import re
from collections import Counter
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import networkx as nx

from skgraphkde.graphs.files.common import (
    AnyPath,
    Graphs,
    UnreadableError,
    read_content,
    repeated,
)
from skgraphkde.graphs.files.molecules import read_smiles
from skgraphkde.graphs.formats.networkx import simplified
from skgraphkde.graphs.schema import CONVENTIONS, GraphSchema
from skgraphkde.graphs.tables import not_a_number, seem_numbers

ENDS = (("source", "target"), ("from", "to"))
IDS = ("id", "node")
# Columns that are likely to say to which of many graphs a row belongs, with or without "_id".
OF_GRAPHS = ("graph", "case", "trace", "session")
NUMBER = re.compile(
    r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|nan|[+-]?inf(inity)?", re.IGNORECASE
)

Table = dict[str, list[str]]  # the cells of each column


def is_node_table(path: AnyPath) -> bool:
    """True for a table of nodes, which is read with the edge list beside it."""
    return path.name.lower().removesuffix(".gz").endswith(".nodes.csv")


def node_table_of(path: AnyPath) -> AnyPath | None:
    """The table of nodes beside an edge list.

    Raises
    ------
    ValueError
        If there are two.
    """
    folder: Any = path.parent
    plain = Path(path.stem if path.suffix.lower() == ".gz" else path.name)
    names = [f"{plain.stem}.nodes{plain.suffix}{gz}" for gz in ("", ".gz")]
    found = [table for table in (folder / name for name in names) if table.exists()]
    if len(found) > 1:
        raise ValueError(f"there are two tables of its nodes, {found[0]} and {found[1]}: keep one")
    return found[0] if found else None


def read_csv(path: AnyPath, schema: GraphSchema) -> Graphs:
    """Read a graph from an edge list and the table of its nodes.

    Parameters
    ----------
    path : Path
    schema : GraphSchema
        The names of what is read.
    """
    edges = read_cells(path)
    present = [ends for ends in ENDS if set(ends) <= set(map(str.lower, edges))]
    smiles = [name for name in edges if "smiles" in name.lower()]
    if len(smiles) == 1 and not present:
        return _read_molecules(edges, smiles[0], schema)
    if len(present) != 1:
        both = "both" if present else "no"
        raise ValueError(
            f'it has {both} columns "source" and "target", {"and" if present else "or"} "from" and '
            f'"to"; its first row is {", ".join(edges)!r}'
        )
    known = schema.named("edge_categories") + schema.named("edge_numbers")
    for name in edges:
        if name.lower().removesuffix("_id") in OF_GRAPHS and name not in known:
            cure = f"give --graph-column {name} (in Python, read_tables)"
            if not isinstance(path, Path):
                cure = "call the tables in the zip edges.csv, nodes.csv and graphs.csv"
            raise UnreadableError(
                f"{path}: the column {name!r} looks like that of many graphs in one table: {cure}, "
                "or name it in edge_categories (--edge-category) if it is data of the edges of one "
                "graph"
            )
    is_directed = present[0] == ENDS[1] or schema.directed is True
    graph: nx.MultiGraph = nx.MultiDiGraph() if is_directed else nx.MultiGraph()
    sources, targets = (_take_ids(path, edges, end) for end in present[0])
    table = node_table_of(path)
    if table is not None:
        _add_nodes(graph, table, schema)
        for row, ends in enumerate(zip(sources, targets, strict=True), start=2):
            for node in ends:
                if node not in graph:
                    raise ValueError(
                        f"row {row}: the node {node!r} is not in {table.name}: list all nodes "
                        "there, or none"
                    )
    listed, count = [], Counter[tuple]()
    for u, v, data in zip(sources, targets, _records(edges, sources, schema, "edge"), strict=True):
        if not is_directed and u != v:
            key = tuple(data.items())
            count[u, v, key] += 1
            if count[u, v, key] <= count[v, u, key]:
                continue  # the other direction of an edge that is there
        listed.append((u, v, data))
    graph.add_edges_from(listed)
    return [("", simplified(graph))]


def _read_molecules(table: Table, smiles: str, schema: GraphSchema) -> Graphs:
    """Molecules of a table, with the names of the column "name" or "id"."""
    cells = table.pop(smiles)
    names = next((table.pop(x) for x in [*table] if x.lower() in ("name", "id")), [""] * len(cells))
    return read_smiles(cells, names, _records(table, cells, schema, "graph"))


def _add_nodes(graph: nx.Graph, path: AnyPath, schema: GraphSchema) -> None:
    table = read_cells(path)
    name = next((name for name in IDS if name in map(str.lower, table)), None)
    if name is None:
        raise ValueError(
            f'{path} has no column "id" or "node"; its first row is {", ".join(table)!r}'
        )
    ids = _take_ids(path, table, name)
    if twice := repeated(ids):
        raise ValueError(f"{path}: the node {twice[0]!r} is listed twice: list it once")
    graph.add_nodes_from(zip(ids, _records(table, ids, schema, "node"), strict=True))


def _records(
    table: Table, ids: list[str], schema: GraphSchema, part: str
) -> Iterator[dict[str, Any]]:
    """The data in each row, without what is missing."""
    columns = typed_columns(table, schema, part)
    for k in range(len(ids)):
        record = {name: values[k] for name, values in columns.items() if values[k] is not None}
        for value in record.values():
            if isinstance(value, ValueError):
                raise value
        yield record


# -- tables ----------------------------------------------------------------------------------------


def read_cells(path: AnyPath) -> Table:
    """The cells of a file, without the space around them."""
    import pandas as pd  # heavy

    text = io.BytesIO(read_content(path))
    try:
        cells = pd.read_csv(
            text, header=None, dtype=str, keep_default_na=False, encoding="utf-8-sig"
        )
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path} is not in UTF-8 ({error}): save it in UTF-8") from error
    except pd.errors.EmptyDataError as error:
        raise ValueError(f"{path} is empty: leave it out") from error
    except pd.errors.ParserError as error:
        raise ValueError(f"{path}: {str(error).strip()}") from error
    columns, *rows = ([cell.strip() for cell in row] for row in cells.to_numpy().tolist())
    if "" in columns:
        raise ValueError(
            f"{path}: column {columns.index('') + 1} has no name: name it, or leave it out, as "
            "DataFrame.to_csv(index=False) does"
        )
    if twice := repeated(columns):
        raise ValueError(f"{path} has the column {twice[0]!r} twice")
    return {name: [row[k] for row in rows] for k, name in enumerate(columns)}


def _take_ids(path: AnyPath, table: Table, name: str) -> list[str]:
    """Remove the column of ids from a table, however it is capitalized."""
    column = next(column for column in table if column.lower() == name)
    ids = table.pop(column)
    if "" in ids:
        raise ValueError(f"{path}, row {ids.index('') + 2}: {column!r} is empty")
    return ids


def typed_columns(table: Table, schema: GraphSchema, part: str) -> dict[str, list[Any]]:
    """The values in the cells of each column; None for those that are missing.

    In a column of numbers an error is in the place of a cell that is none.

    Parameters
    ----------
    table : dict of list of str
    schema : GraphSchema
        The names of categories and of numbers.
    part : {"node", "edge", "graph"}
    """
    kind, numbers = f"{part}_categories", schema.named(f"{part}_numbers")
    categories = {*schema.named(kind), *(() if schema.named(kind) else CONVENTIONS[kind])}
    columns = {}
    for name, cells in table.items():
        values = {cell: _value(cell) for cell in set(cells)}
        has_text = any(isinstance(x, str) for x in values.values())
        has_numbers = name in numbers
        if not has_numbers and (name in categories or has_text):
            in_all = "all" in (getattr(schema, kind), getattr(schema, f"{part}_numbers"))
            has_numbers = (
                name not in categories and in_all and seem_numbers([values[cell] for cell in cells])
            )
            if not has_numbers:
                values = {cell: _category(cell, value) for cell, value in values.items()}
        columns[name] = [values[cell] for cell in cells]
        if has_numbers and has_text:
            columns[name] = [
                _no_number(part, name, k, x) if isinstance(x, str) else x
                for k, x in enumerate(columns[name])
            ]
    return columns


def _no_number(part: str, name: str, k: int, cell: str) -> ValueError:
    cure = (
        "correct it, or leave it empty and say missing='indicate' (in the shell, --missing "
        f"indicate); if {name!r} is a category, name it in {part}_categories (--{part}-category)"
    )
    return not_a_number(f"{part}s", k + 2, name, cell, cure)


def _value(cell: str) -> Any:
    if not cell:
        return None
    if not NUMBER.fullmatch(cell):
        return cell
    return int(cell) if cell.lstrip("+-").isdigit() else float(cell)


def _category(cell: str, value: Any) -> Any:
    """The number in a cell if it is written like one, else the text."""
    if value is None or value != value:
        return value
    return value if str(value) == cell and value not in (inf, -inf) else cell
