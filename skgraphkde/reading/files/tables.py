"""Tables in files, of edges, nodes and graphs -> networkx graphs, named by the tables.

An empty cell of a CSV is a missing value. A cell that is a number is a number, unless it begins
with a zero that says nothing, as in "007". In a column of categories, which the schema names or
convention does, it is one only if the number is written like that: the version "1.10" is not 1.1,
and the well "1E2" of a plate is not 100. The separator, the quotes, the encoding and the decimal
mark of a CSV are recognized, unless options say them: "separator", "encoding" and "decimal".
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Any
from unicodedata import decimal as digit

import pandas as pd

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.core.graphs.schema import CONVENTIONS, GraphSchema, names_in_schema
from skgraphkde.reading.cases import CaseRule, graphs_of_cases
from skgraphkde.reading.files.common import AnyPath, Graphs, read_content
from skgraphkde.reading.formats.common import NUMBER, as_written, category_of, number_of
from skgraphkde.reading.problems import UnreadableError
from skgraphkde.reading.tables import (
    graphs_of_tables,
    not_a_number,
    seem_numbers,
    with_whole_numbers,
)

# Numbers by their decimal mark, perhaps with another mark between thousands; 007 is none.
LOCAL_NUMBERS = {
    ",": re.compile(
        r"[+-]?(0|[1-9]\d*|[1-9]\d{0,2}([. '\u00a0\u202f]\d{3})+)(,\d+)?(e[+-]?\d+)?", re.I
    ),
    ".": re.compile(r"[+-]?(0|[1-9]\d*|[1-9]\d{0,2}(,\d{3})+)(\.\d+)?(e[+-]?\d+)?", re.I),
}
SWISS = re.compile(r"[+-]?[1-9]\d{0,2}('\d{3})+(\.\d+)?")
# Signs of Unicode for those of ASCII: minus, apostrophe, and points and commas of other scripts.
SIGNS = str.maketrans("\u2212\u2019\uff0b\uff0d\uff0e\uff0c\u066b", "-'+-.,.")
THOUSANDS = {",": re.compile(r"[. '\u00a0\u202f]"), ".": re.compile(",")}
SEPARATORS = ",;\t| "
# Comments above the row of names; "#,source,target" and "#id,source,target" are no comments.
ABOVE = re.compile(r"\A(#([# ].*|[^,;\t|\n]*)\n)+")

# Names of the ends of edges, of which all but the first are a direction.
ENDS = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("payer", "payee"),
    ("sender", "receiver"),
    ("caller", "callee"),
    ("# fromnodeid", "tonodeid"),  # of SNAP
    (":start_id", ":end_id"),
    ("_start", "_end"),
)

Cells = dict[str, list[str]]  # of each column
FIRST_ROW = 2  # of a spreadsheet, below the names of its columns


class FileCells(Cells):
    """The cells of a file, and the numbers of the rows that they are in."""

    rows: list[int]


def row_of(cells: Cells, k: int) -> int:
    """What people call the row k of a table: the first is below the names of the columns."""
    return cells.rows[k] if isinstance(cells, FileCells) else k + FIRST_ROW


NO_OPTIONS: Mapping[str, str] = {}
# Columns of the tables of a call whose decimal mark is not clear, for one warning; None: warn of
# those of each table.
unclear: ContextVar[list[str] | None] = ContextVar("unclear", default=None)
SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")


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
    rule : CaseRule or None
        What a graph is, in tables without the column of the graph.
    """

    edges: AnyPath
    nodes: AnyPath | None = None
    graphs: AnyPath | None = None
    graph: str = "graph"
    source: str = "source"
    target: str = "target"
    node: str = "node"
    prefix: str = ""
    rule: CaseRule | None = None

    @property
    def files(self) -> list[AnyPath]:
        """The tables that there are."""
        return [path for path in (self.edges, self.nodes, self.graphs) if path is not None]

    def __str__(self) -> str:
        return self.prefix  # the graphs have names of their own

    def read(self, schema: GraphSchema, options: Mapping[str, str] = NO_OPTIONS) -> Graphs:
        """The graphs, with their names, and errors in place of those that cannot be read.

        Parameters
        ----------
        schema : GraphSchema
            What is read: cells of categories are text unless they are written like numbers.
        options : mapping of str
            How tables are written, as for :func:`~skgraphkde.reading.files.batches.iter_graphs`.
        """
        tables = {path: read_table(path, options) for path in self.files}
        source, target = _ends_among(tables[self.edges], (self.source, self.target))
        ids = {self.graph, source, target, self.node}
        decimal = options.get("decimal") or decimal_mark(
            *(
                {k: x for k, x in of.items() if k not in ids}
                for of in tables.values()
                if isinstance(of, dict)
            )
        )
        is_one_way = (source.lower(), target.lower()) in ENDS[1:]

        def frame(path: AnyPath | None, part: str, *ids: str) -> Any:
            """A table with cells that have types; ids are text."""
            table = None if path is None else tables[path]
            if path is None or not isinstance(table, dict):
                return table
            texts = {
                name: [cell or None for cell in table.pop(name)] for name in ids if name in table
            }
            values = typed_columns(path, table, schema, part, decimal)
            typed = pd.DataFrame(texts | values, dtype=object)
            typed.index = pd.Index([row_of(table, k) for k in range(len(typed))])
            return typed

        edges = frame(self.edges, "edge", self.graph, source, target)
        nodes = frame(self.nodes, "node", self.graph, self.node)
        graphs = frame(self.graphs, "graph", self.graph)
        columns = {"graph": self.graph, "source": source, "target": target, "node": self.node}
        kinds = take_directions(edges, schema)
        directed = schema.directed is True or (is_one_way and schema.directed is not False)
        if schema.directed is True:  # the last word
            kinds = None
        if kinds is not None:
            directed = "directed" in kinds
        if kinds is not None and directed:
            ends = {source: target, target: source}
            both_ways = edges[[kind != "directed" for kind in kinds]]
            edges = pd.concat([edges, both_ways.rename(columns=ends)])
        try:
            if self.rule is None:
                found = graphs_of_tables(edges, nodes, graphs, columns, directed)
            else:
                found = graphs_of_cases(self.rule, edges, nodes, columns, directed)
        except ValueError as error:
            raise ValueError(f"{', '.join(map(str, self.files))}: {error}") from error
        return [(str(name), graph) for name, graph in found.items()]


def _ends_among(names: Iterable[str], given: tuple[str, str]) -> tuple[str, str]:
    """The columns of the ends of edges, which may have other usual names than "source"."""
    lower = {str(name).lower(): name for name in names}
    for first, second in ENDS[1:] if given == ENDS[0] and not set(given) <= set(lower) else ():
        if first in lower and second in lower:
            return lower[first], lower[second]
    return given


def read_table(path: AnyPath, options: Mapping[str, str]) -> Any:
    """The cells of a CSV, or a table of Parquet, whose cells have types."""
    if path.suffix.lower() != ".parquet":
        return read_cells(path, options)
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(f"{path} is read by pyarrow: pip install pyarrow") from error
    try:
        return with_whole_numbers(parquet.read_table(io.BytesIO(read_content(path))))
    except (OSError, ValueError) as error:  # of pyarrow, which does not know the path
        raise ValueError(
            f"{path} cannot be read as Parquet ({error}): write it with DataFrame.to_parquet, or "
            "as CSV"
        ) from error


def tables_in(
    files: Sequence[AnyPath],
    given: Mapping[str, str],
    options: Mapping[str, str],
    *,
    with_edges_alone: bool = False,
) -> TableFiles | None:
    """The tables of many graphs among the files of one folder; None if there are none.

    They are called edges, nodes and graphs, with one of `SUFFIXES`. Either nodes or graphs may be
    missing. Where the user named the column of the graph, those of other names are recognized by
    their columns, which a warning says.

    Parameters
    ----------
    files : sequence of Path or zipfile.Path
    given : mapping
        Fields of :class:`TableFiles` that the user gave.
    options : mapping
        How tables are written.
    with_edges_alone : bool, default=False
        Whether both may be missing, as in a zip, which has no other use for edges.
    """
    place = {path.name.lower(): path for path in files}
    names = [(what, what + x) for what in ("edges", "nodes", "graphs") for x in SUFFIXES[::-1]]
    found: dict[str, Any] = {what: place[name] for what, name in names if name in place}
    others = [path for path in files if path not in found.values()] if "graph" in given else []
    for path in others:
        part = _part_of(path, given, options)
        if part is not None and part not in found and part not in given:
            found[part] = path
            warn(f"{path} is taken for the table of {part}: call it {part}.csv to make that sure")
    is_alone = len(found) == 1 and not (with_edges_alone or "graph" in given)
    return None if is_alone or "edges" not in found else TableFiles(**{**found, **given})


def _part_of(path: AnyPath, given: Mapping[str, str], options: Mapping[str, str]) -> str | None:
    """What a table seems to have a row for, by its columns: "edges", "nodes", "graphs" or None."""
    if not path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv")):
        return None
    names = set(read_cells(path, options))
    source, target, node = (given.get(x, x) for x in ("source", "target", "node"))
    if given["graph"] not in names:
        return None
    if {source, target} <= names:
        return "edges"
    return "nodes" if node in names else "graphs"


# -- cells ----------------------------------------------------------------------------------------


def read_cells(path: AnyPath, options: Mapping[str, str] = NO_OPTIONS) -> Cells:
    """The cells of a file, by the names in its first row.

    Parameters
    ----------
    path : Path or zipfile.Path
    options : mapping
        As for :func:`~skgraphkde.reading.files.batches.iter_graphs`.
    """
    return cells_of(path, read_rows(path, options))


def read_rows(path: AnyPath, options: Mapping[str, str] = NO_OPTIONS) -> list[tuple[str, ...]]:
    """The rows of a file; empty ones, comments and what is above the names have no cells.

    The parameters are those of `read_cells`.
    """
    whole = decode_text(path, read_content(path), options.get("encoding"))
    text = ABOVE.sub("", whole, count=1)
    n_above = whole.count("\n") - text.count("\n")
    said = re.match(r"sep=(.)\r?\n", text)  # by Excel
    text = text[said.end() :] if said else text
    separator = options.get("separator") or (said[1] if said else _separator(text))
    style: Any = {"quotechar": "'" if text.startswith("'") else '"', "skipinitialspace": True}
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True, **style)
    try:  # tuples, as a garbage collector goes through lists again and again
        rows = list(map(tuple, reader))
    except csv.Error as error:
        if "limit" in str(error):
            raise UnreadableError(
                f"{path}, line {reader.line_num}: a cell has more than {csv.field_size_limit()} "
                "characters: leave its column out, or close the quote that it begins with, if any"
            ) from error
        raise UnreadableError(
            f"{path}: a quote is not closed, or there is text after one that closes: write a quote "
            "in a cell as two"
        ) from error
    header = next((row for row in rows if row), ())
    if not header:
        raise ValueError(f"{path} is empty: leave it out")
    start = rows.index(header)  # which may name an index "#"
    of_data = [() if _is_comment(row, len(header)) else row for row in rows[start + 1 :]]
    pairs = zip(rows[start + 1 :], of_data, strict=True)
    n_with_cells = sum(len(row) > 1 and not data for row, data in pairs)
    if n_with_cells:  # which may be data
        which = "1 line that begins" if n_with_cells == 1 else f"{n_with_cells} lines that begin"
        warn(f"{path}: left out as comments, {which} with # and several cells")
    return [()] * (n_above + start) + [header, *of_data]


def _is_comment(row: tuple[str, ...], n_columns: int) -> bool:
    """True for "# ...", and for other rows after "#" that are too short: "#7,a,b" is an id."""
    return bool(row) and (row[0].startswith("# ") or (row[0][:1] == "#" and len(row) < n_columns))


def cells_of(path: AnyPath, rows: list[tuple[str, ...]]) -> Cells:
    """The cells of rows, without the space around them; an index without a name is left out."""
    table = FileCells()
    table.rows = [number for number, row in enumerate(rows, 1) if row][1:]
    rows = [row for row in rows if row]
    for k in range(max(map(len, rows))):
        name, *cells = [row[k].strip() if k < len(row) else "" for row in rows]
        counts = all(map(str.isdigit, cells)) or cells == [x.strip() for x in rows[0][1:]]
        is_index = k == 0 and name in ("", "Unnamed: 0") and counts
        if (is_index and len(set(cells)) == len(cells)) or not (name or any(cells)):
            continue
        if not name:
            row = row_of(table, next(i for i, cell in enumerate(cells) if cell))
            raise ValueError(
                f"{path}, row {row}: column {k + 1} has no name: name it or leave it out, with "
                "what is above the row of names; put quotes around cells that have the separator"
            )
        if name in table:
            raise ValueError(f"{path} has the column {name!r} twice")
        table[name] = cells
    return table


def decode_text(path: AnyPath, content: bytes, encoding: str | None = None) -> str:
    """The text of a file; what is not in UTF-8 is read as Windows-1252, which a warning says.

    Parameters
    ----------
    path : Path or zipfile.Path
        For messages.
    content : bytes
    encoding : str, default=None
        That the user gave.
    """
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return content.decode(encoding or ("utf-16" if is_utf16 else "utf-8-sig"))
    except (UnicodeDecodeError, LookupError) as error:
        if encoding is not None:
            raise UnreadableError(f"{path}: {error}: give another --encoding") from error
    warn(
        f"{path} is not in UTF-8: it is read as Windows-1252, of Western Europe; save it in UTF-8, "
        "or give its --encoding in the shell"
    )
    return content.decode("cp1252", errors="replace")


def _separator(text: str) -> str:
    """The separator that gives each of the first rows the most cells; a blank if no other does."""
    n_cells = dict.fromkeys(SEPARATORS, 0)
    for mark in SEPARATORS:
        rows = islice(csv.reader(io.StringIO(text, newline=""), delimiter=mark), 100)
        with suppress(csv.Error):  # of a long line that is one cell, if this is not its separator
            no_comments = (row for row in rows if row and not row[0].startswith("#"))
            n_cells[mark] = min(map(len, no_comments), default=0)
    best = max(SEPARATORS[:-1], key=lambda mark: n_cells[mark])
    return max(best, " ", key=lambda mark: n_cells[mark]) if n_cells[best] < 2 else best


def take_ids(path: AnyPath, cells: Cells, name: str) -> list[str]:
    """Remove a column of ids, none of which is empty, from a table."""
    ids = cells.pop(name)
    if "" in ids:
        row = row_of(cells, ids.index(""))
        raise UnreadableError(f"{path}, row {row}: {name!r} is empty: fill or remove it")
    return ids


def take_directions(edges: Any, schema: GraphSchema) -> list[str] | None:
    """The column of Gephi that says of each edge if it is directed; None if there is none.

    It is removed, unless the schema names it.

    Parameters
    ----------
    edges : DataFrame, or dict of list of str
    schema : GraphSchema
    """
    for name in [name for name in edges if name.lower() == "type"]:
        kinds = [str(cell).lower() for cell in edges[name]]
        if set(kinds) <= {"directed", "undirected", "mutual"}:
            if name not in names_in_schema(schema, "edge"):
                del edges[name]
            return kinds
    return None


def records(
    path: AnyPath, cells: Cells, schema: GraphSchema, part: str, n: int, decimal: str | None = None
) -> Iterator[dict[str, Any]]:
    """The data in each of the `n` rows of a table, without what is missing."""
    columns = typed_columns(path, cells, schema, part, decimal)
    for k in range(n):
        record = {name: values[k] for name, values in columns.items() if values[k] is not None}
        check_values(record.values())
        yield record


def check_values(values: Iterable[Any]) -> None:
    """Raise the first error that is in the place of a number, see :func:`typed_columns`."""
    for value in values:
        if isinstance(value, ValueError):
            raise value


def typed_columns(
    path: AnyPath, cells: Cells, schema: GraphSchema, part: str, decimal: str | None = None
) -> dict[str, list[Any]]:
    """The values of the cells of each column; None for those that are missing.

    In a column of numbers an error is in the place of a cell that is none.

    Parameters
    ----------
    path : Path or zipfile.Path
        For messages.
    cells : dict of list of str
    schema : GraphSchema
        The names of categories and of numbers.
    part : {"node", "edge", "graph"}
    decimal : {",", "."}, default=None
        The decimal mark. None: as the cells say.
    """
    kinds = f"{part}_categories", f"{part}_numbers"
    categories = schema.named(kinds[0]) + CONVENTIONS[kinds[0]]
    decimal = decimal or decimal_mark(cells)
    if decimal is None:
        _note_unclear(path, cells, categories)
    may_be_any = schema.reads_all(part)
    columns: dict[str, list[Any]] = {}
    for name, texts in cells.items():
        plain = filter(NUMBER.fullmatch, set(texts))
        is_local = decimal is not None and all(map(LOCAL_NUMBERS[decimal].fullmatch, plain))
        value_of = {text: _value(text, decimal if is_local else None) for text in set(texts)}
        values = columns[name] = [value_of[text] for text in texts]
        has_text = any(isinstance(value, str) for value in value_of.values())
        is_category = name in categories
        are_numbers = name in schema.named(kinds[1]) or (
            has_text and may_be_any and not is_category and seem_numbers(values)
        )
        if not are_numbers and (is_category or has_text):
            value_of = {text: category_of(text, value) for text, value in value_of.items()}
            columns[name] = [value_of[text] for text in texts]
        elif may_be_any and not are_numbers:  # the column may have text in another file
            value_of = {text: as_written(text, value) for text, value in value_of.items()}
            columns[name] = [value_of[text] for text in texts]
        elif has_text:
            cure = (
                "correct it, or leave it empty and say missing='indicate' (in the shell, --missing "
                f"indicate); numbers with commas may need --decimal; if {name!r} is a category, "
                f"name it in {part}_categories (--{part}-category)"
            )
            for k, value in enumerate(values):
                if isinstance(value, str):
                    values[k] = not_a_number(f"{part}s", row_of(cells, k), name, value, cure)
    return columns


def decimal_mark(*tables: Cells) -> str | None:
    """The decimal mark that the numbers of a column say, one with commas first; None if none does.

    Parameters
    ----------
    *tables : dict of list of str
        Written alike.
    """
    for sign in LOCAL_NUMBERS:
        for texts in (texts for table in tables for texts in table.values()):
            with_sign, fits = _fits(texts, sign)
            # "1,234" may be either
            if fits[","] != fits["."] and max(fits.values()) >= 0.9 * len(with_sign):
                return max(fits, key=lambda mark: fits[mark])
    return None


def _fits(texts: Sequence[str], sign: str) -> tuple[set[str], dict[str, int]]:
    """The cells that have a comma, or a point, and how many of them fit each decimal mark."""
    with_sign = {text for text in texts if sign in text}
    fits = {
        mark: sum(number.fullmatch(text) is not None for text in with_sign)
        for mark, number in LOCAL_NUMBERS.items()
    }
    return with_sign, fits


def _note_unclear(path: AnyPath, cells: Cells, categories: Collection[str]) -> None:
    """Note columns in which each comma, or point, may be a decimal mark or between thousands."""
    columns = list[str]()
    for name, texts in cells.items():
        for sign in LOCAL_NUMBERS if name not in categories else ():
            with_sign, fits = _fits(texts, sign)
            if with_sign and min(fits.values()) == len(with_sign):
                columns.append(f"'1{sign}234' under {name!r} of {path.name}")
    of_call = unclear.get()
    if of_call is not None:
        of_call.extend(columns)
    else:
        warn_of_unclear(columns)


def warn_of_unclear(columns: Sequence[str]) -> None:
    """Warn of columns whose decimal mark is not clear, if there are any.

    Parameters
    ----------
    columns : sequence of str
        An example of each.
    """
    if columns:
        warn(
            f"numbers such as {listed(columns)} may have a decimal mark or thousands: those with a "
            "comma are read as text, those with a point as decimal numbers; say --decimal , or "
            "--decimal . in the shell (in Python, the options of read_batch)"
        )


def _value(cell: str, decimal: str | None) -> Any:
    if not cell:
        return None
    number = cell if cell.isascii() else _in_ascii(cell)
    if decimal is not None and LOCAL_NUMBERS[decimal].fullmatch(number):
        number = THOUSANDS[decimal].sub("", number).replace(",", ".")
    elif SWISS.fullmatch(number):
        number = number.replace("'", "")
    found = number_of(number)
    return cell if found is None else found


def _in_ascii(cell: str) -> str:
    """A cell with the digits and signs of ASCII for those of other scripts, such as Arabic."""
    return "".join(str(digit(sign, sign)) for sign in cell.translate(SIGNS))
