"""Tables in files, of edges, nodes and graphs -> networkx graphs, named by the tables.

An empty cell of a CSV is a missing value. A cell that is a number is a number, unless it begins
with a zero that says nothing, as in "007". In a column of categories, which the schema names or
convention does, it is one only if the number is written like that: the version "1.10" is not 1.1,
and the well "1E2" of a plate is not 100.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from skgraphkde.graphs.files.common import AnyPath, Graphs, UnreadableError, read_content
from skgraphkde.graphs.schema import CONVENTIONS, GraphSchema
from skgraphkde.graphs.tables import graphs_of_tables, not_a_number, seem_numbers

NUMBER = re.compile(
    r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|nan|[+-]?inf(inity)?", re.IGNORECASE
)

Cells = dict[str, list[str]]  # of each column
SUFFIXES = (".csv", ".csv.gz", ".parquet")


@dataclass(frozen=True)
class TableFiles:
    """Tables of many graphs, in place of one file for each.

    Parameters
    ----------
    edges : Path or zipfile.Path
        CSV, gzipped or not, or Parquet.
    nodes, graphs : Path, zipfile.Path or None
        Tables of nodes and of graphs.
    graph, source, target, node : str
        Names of the columns, see :func:`~skgraphkde.read_tables`.
    prefix : str
        Of the names of the graphs, where those of several tables may be alike.
    """

    edges: AnyPath
    nodes: AnyPath | None = None
    graphs: AnyPath | None = None
    graph: str = "graph"
    source: str = "source"
    target: str = "target"
    node: str = "node"
    prefix: str = ""

    @property
    def files(self) -> list[AnyPath]:
        """The tables that there are."""
        return [path for path in (self.edges, self.nodes, self.graphs) if path is not None]

    def __str__(self) -> str:
        return self.prefix  # the graphs have names of their own

    def read(self, schema: GraphSchema) -> Graphs:
        """The graphs, with their names, and errors in place of those that cannot be read.

        Parameters
        ----------
        schema : GraphSchema
            What is read: cells of categories are text unless they are written like numbers.
        """
        edges = self._frame(self.edges, schema, "edge", (self.graph, self.source, self.target))
        nodes = self._frame(self.nodes, schema, "node", (self.graph, self.node))
        graphs = self._frame(self.graphs, schema, "graph", (self.graph,))
        columns = {x: getattr(self, x) for x in ("graph", "source", "target", "node")}
        try:
            found = graphs_of_tables(edges, nodes, graphs, columns, schema.directed is True)
        except ValueError as error:
            raise ValueError(f"{', '.join(map(str, self.files))}: {error}") from error
        return [(str(name), graph) for name, graph in found.items()]

    def _frame(self, path: AnyPath | None, schema: GraphSchema, part: str, ids: tuple) -> Any:
        """A table with cells that have types; ids are text."""
        if path is None:
            return None
        import pandas as pd  # heavy

        if path.suffix.lower() == ".parquet":
            try:
                return pd.read_parquet(io.BytesIO(read_content(path)))
            except (OSError, ValueError) as error:  # of pyarrow, which does not know the path
                raise ValueError(
                    f"{path} cannot be read as Parquet ({error}): write it with "
                    "DataFrame.to_parquet, or as CSV"
                ) from error
        cells = read_cells(path)
        names = {name: [cell or None for cell in cells.pop(name)] for name in ids if name in cells}
        frame = pd.DataFrame(names | typed_columns(cells, schema, part), dtype=object)
        frame.index += 2  # the rows of a spreadsheet, of which the first is the header
        return frame


#: Where graphs come from: a file of one or many, also in a zip, or tables.
Source = Path | zipfile.Path | TableFiles


def tables_in(files: Iterable[AnyPath], *, with_edges_alone: bool = False) -> TableFiles | None:
    """The tables of many graphs among the files of one folder; None if there are none.

    They are called edges, nodes and graphs, with one of `SUFFIXES`. Either nodes or graphs may be
    missing.

    Parameters
    ----------
    files : iterable of Path or zipfile.Path
    with_edges_alone : bool, default=False
        Whether both may be missing, as in a zip, which has no other use for edges.
    """
    place = {path.name.lower(): path for path in files}
    edges, nodes, graphs = (
        next((place[what + x] for x in SUFFIXES if what + x in place), None)
        for what in ("edges", "nodes", "graphs")
    )
    if edges is None or not (nodes or graphs or with_edges_alone):
        return None
    return TableFiles(edges, nodes, graphs)


# -- cells ----------------------------------------------------------------------------------------


def read_cells(path: AnyPath) -> Cells:
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
    table: Cells = {}
    for k, (name, *column) in enumerate(cells.to_numpy().T.tolist()):
        if not name.strip():
            raise ValueError(
                f"{path}: column {k + 1} has no name: name it, or leave it out, as "
                "DataFrame.to_csv(index=False) does"
            )
        if name.strip() in table:
            raise ValueError(f"{path} has the column {name.strip()!r} twice")
        table[name.strip()] = [cell.strip() for cell in column]
    return table


def take_ids(path: AnyPath, cells: Cells, name: str) -> list[str]:
    """Remove a column of ids, none of which is empty, from a table."""
    ids = cells.pop(name)
    if "" in ids:
        raise ValueError(f"{path}, row {ids.index('') + 2}: {name!r} is empty: fill or remove it")
    return ids


def records(cells: Cells, schema: GraphSchema, part: str, n: int) -> Iterator[dict[str, Any]]:
    """The data in each of the `n` rows of a table, without what is missing."""
    columns = typed_columns(cells, schema, part)
    for k in range(n):
        record = {}
        for name, values in columns.items():
            if isinstance(values[k], ValueError):
                raise values[k]
            if values[k] is not None:
                record[name] = values[k]
        yield record


def typed_columns(cells: Cells, schema: GraphSchema, part: str) -> dict[str, list[Any]]:
    """The values of the cells of each column; None for those that are missing.

    In a column of numbers an error is in the place of a cell that is none.

    Parameters
    ----------
    cells : dict of list of str
    schema : GraphSchema
        The names of categories and of numbers.
    part : {"node", "edge", "graph"}
    """
    kinds = f"{part}_categories", f"{part}_numbers"
    categories = schema.named(kinds[0]) or CONVENTIONS[kinds[0]]
    may_be_any = "all" in [getattr(schema, kind) for kind in kinds]
    columns: dict[str, list[Any]] = {}
    for name, texts in cells.items():
        value_of = {text: _value(text) for text in set(texts)}
        values = columns[name] = [value_of[text] for text in texts]
        has_text = any(isinstance(value, str) for value in value_of.values())
        is_category = name in categories
        are_numbers = name in schema.named(kinds[1]) or (
            has_text and may_be_any and not is_category and seem_numbers(values)
        )
        if not are_numbers and (is_category or has_text):
            value_of = {text: _category(text, value) for text, value in value_of.items()}
            columns[name] = [value_of[text] for text in texts]
        elif has_text:
            for k, value in enumerate(values):
                if isinstance(value, str):
                    values[k] = _no_number(part, name, k, value)
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
