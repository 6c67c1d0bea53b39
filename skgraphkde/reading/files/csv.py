"""CSV files: edge lists, with tables of nodes, lists of SMILES, and event logs -> graphs.

The first row of ``NAME.csv`` names its columns. Edges of an undirected graph have their ends in the
columns "source" and "target", those of a directed one in "from" and "to" (or "src" and "dst", or as
Neo4j exports them); where the schema says
``directed=True``, "source" and "target" are a direction, too. A column "Type" of "Directed" and
"Undirected", as Gephi writes it, says so of each edge. All other columns are data of the edges.
``NAME.nodes.csv`` is optional. It has the nodes in the column "id" (or "node"), and their
data in the others. Without it, the nodes are those that the edges join. In an undirected graph, a
second row that has the ends of an edge the other way round, and the same data, is the same edge.
Without a row of names, two columns are the ends of edges, and a third one their weights; lines that
begin with "#" are comments. A square table of numbers is an adjacency matrix.
Tabs or semicolons may be in place of commas: see :mod:`skgraphkde.reading.files.tables`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from skgraphkde._utils import warn
from skgraphkde.core.graphs.schema import GraphSchema, names_in_schema
from skgraphkde.reading.files.common import AnyPath, Graphs, build_graph
from skgraphkde.reading.files.logs import cases_of_cells, log_columns
from skgraphkde.reading.files.matrices import graph_of_matrix, matrix_in
from skgraphkde.reading.files.molecules import read_smiles_table, smiles_column
from skgraphkde.reading.files.tables import (
    ENDS,
    NO_OPTIONS,
    NUMBER,
    Cells,
    cells_of,
    decimal_mark,
    read_cells,
    read_rows,
    records,
    take_directions,
    take_ids,
)
from skgraphkde.reading.formats.common import Directions
from skgraphkde.reading.logs import LOG_COLUMNS
from skgraphkde.reading.problems import UnreadableError

# A row of names, as people write them, and no ids.
WORDS = re.compile(r"[^\W\d_][\w :-]*")
IDS = ("id", "node")
# Options that say what the columns are, which a matrix does not have.
NAMES_COLUMNS = {*LOG_COLUMNS, "smiles_column"}
FILE_OF_TABLE = re.compile(r"\.[ct]sv(\.gz)?$", re.IGNORECASE)
# If more entries of a matrix are missing, they may be meant for no edges.
MOST_MISSING = 0.5
# Columns that are likely to say to which of many graphs a row belongs, with or without "_id".
OF_GRAPHS = ("graph", "case", "trace", "session")


def is_node_table(path: AnyPath) -> bool:
    """True for a table of nodes, which is read with the edge list beside it."""
    return path.name.lower().removesuffix(".gz").endswith((".nodes.csv", ".nodes.tsv"))


def table_beside(path: AnyPath, part: str) -> AnyPath | None:
    """The edge list (`part` is "") or the table of nodes (".nodes") with the name of the other."""
    folder: Any = path.parent
    plain = re.sub(r"(\.nodes)?(\.[ct]sv)(\.gz)?$", rf"{part}\2", path.name, flags=re.IGNORECASE)
    for packing in ("", ".gz", ".GZ"):
        table = folder / f"{plain}{packing}"
        if table.exists():
            return table
    return None


def read_csv(path: AnyPath, schema: GraphSchema, options: Mapping[str, str] = NO_OPTIONS) -> Graphs:
    """Read a graph from an edge list and its table of nodes, or many from SMILES or an event log.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    options : mapping
        As for :func:`~skgraphkde.reading.files.batches.iter_graphs`.
    """
    if is_node_table(path):
        raise UnreadableError(
            f"{path} is a table of nodes, and no edge list beside it has its name without "
            '".nodes": add that, or leave the table out'
        )
    rows = read_rows(path, options)
    decimal = options.get("decimal")
    if NAMES_COLUMNS.isdisjoint(options):
        matrix = matrix_in(rows)
        if matrix is not None:
            return [("", _read_matrix(*matrix))]
    cells = _with_names(cells_of(path, rows))
    lower = {name.lower(): name for name in cells}
    present = [ends for ends in ENDS if set(ends) <= set(lower)]
    wanted = options.get("smiles_column")
    if wanted is not None or schema.reads_molecules or not present:
        column = smiles_column(path, cells, schema, wanted)
        if column is not None:
            return read_smiles_table(path, cells, column, schema, decimal=decimal)
    if not (present and LOG_COLUMNS.keys().isdisjoint(options)):
        columns = log_columns(path, cells, options)
        if columns is not None:
            return cases_of_cells(path, cells, columns, schema, decimal)
    if len(present) != 1:
        both = "both" if present else "no"
        raise ValueError(
            f'it has {both} columns "source" and "target", {"and" if present else "or"} "from" and '
            f'"to"; its first row is {", ".join(cells)!r}; in the shell, a table of many graphs, '
            "or of their nodes, needs --graph-column, and an event log --case and --activity"
        )
    _check_one_graph(path, cells, schema)
    ends = [lower[end] for end in present[0]]
    directed = present[0] != ENDS[0] or schema.directed is True
    if present[0] == ENDS[-1]:
        return [("", _read_neo4j(path, cells, ends, schema, decimal))]
    return [("", _read_edges(path, cells, ends, schema, options, directed=directed))]


def _with_names(cells: Cells) -> Cells:
    """The cells of an edge list without a row of names, which get them."""
    names = list(cells)
    columns = list(cells.values())
    if len(names) not in (2, 3) or (len(names) == 3 and not NUMBER.fullmatch(names[2])):
        return cells
    recur = not {*names[:2]}.isdisjoint({*columns[0], *columns[1]})
    if not recur and any(map(WORDS.fullmatch, names[:2])):
        return cells
    with_weights = ", with weights" if len(names) == 3 else ""
    warn(  # the same text for all files of a folder
        f"a table without a row of names is read as edges from a source to a target{with_weights}: "
        "give it a first row such as source,target if it is something else"
    )
    found = ("source", "target", "weight")[: len(names)]
    return {name: [first, *x] for name, first, x in zip(found, names, columns, strict=True)}


def has_matrix(path: Path, options: Mapping[str, str] = NO_OPTIONS) -> bool:
    """True for a file of a table which is an adjacency matrix."""
    if not (FILE_OF_TABLE.search(path.name) and path.is_file()):
        return False
    return matrix_in(read_rows(path, options)) is not None


def _read_matrix(names: list[str], entries: np.ndarray) -> nx.Graph:
    """The graph of an adjacency matrix, whose entries are the "weight" of edges."""
    warn("a square table of numbers is read as an adjacency matrix, with the weights of edges")
    if np.isnan(entries).mean() > MOST_MISSING:
        warn(
            "most entries of a square table are missing: an edge is there, and its weight is "
            "missing; write 0 where there is no edge"
        )
    return graph_of_matrix(entries, names)


def _read_neo4j(
    path: AnyPath, cells: Cells, ends: list[str], schema: GraphSchema, decimal: str | None
) -> nx.Graph:
    """The graph of an export of Neo4j, whose rows are nodes, then edges, in one table."""
    ids = next((name for name in cells if name.lower() == "_id"), None)
    sources, targets = (cells[end] for end in ends)
    of_edges = [k for k, text in enumerate(sources) if text]
    of_nodes = [k for k, text in enumerate(sources) if not text]
    rest = {name: x for name, x in cells.items() if name not in (*ends, ids)}

    def rows(part: str, index: list[int]) -> Iterator[dict[str, Any]]:
        some = {name: [x[k] for k in index] for name, x in rest.items()}
        some = {name: x for name, x in some.items() if any(x)}
        return records(path, some, schema, part, len(index), decimal)

    names = [cells[ids][k] for k in of_nodes] if ids else []
    nodes = list(zip(names, rows("node", of_nodes), strict=True)) if names else []
    if not nodes:
        ends_in_order = dict.fromkeys(x for k in of_edges for x in (sources[k], targets[k]))
        nodes = [(x, {}) for x in ends_in_order]
    edges = []
    for k, data in zip(of_edges, rows("edge", of_edges), strict=True):
        edges.append((sources[k], targets[k], data, True))
    return build_graph(True, nodes, edges, {})


def _read_edges(
    path: AnyPath,
    cells: Cells,
    ends: list[str],
    schema: GraphSchema,
    options: Mapping[str, str],
    *,
    directed: bool,
) -> nx.Graph:
    """The graph of an edge list and of the table of nodes beside it."""
    sources, targets = (take_ids(path, cells, end) for end in ends)
    kinds = take_directions(cells, schema)
    if kinds is not None and schema.directed is not True:
        directed = "directed" in kinds
    else:
        kinds = ["directed"] * len(sources)
    ends_in_order = dict.fromkeys(chain.from_iterable(zip(sources, targets, strict=True)))
    nodes: list[tuple] = [(node, {}) for node in ends_in_order]
    decimal = options.get("decimal")
    table = table_beside(path, ".nodes")
    if table is not None:
        columns = read_cells(table, options)
        found = [name for x in IDS for name in columns if name.lower() == x]
        if not found:
            raise ValueError(
                f'{table} has no column "id" or "node"; its first row is {", ".join(columns)!r}'
            )
        ids = take_ids(table, columns, found[0])
        decimal = decimal or decimal_mark(cells, columns)
        of_nodes = records(table, columns, schema, "node", len(ids), decimal)
        nodes = list(zip(ids, of_nodes, strict=True))
    edges = []
    directions = Directions()
    of_edges = records(path, cells, schema, "edge", len(sources), decimal)
    for u, v, data, kind in zip(sources, targets, of_edges, kinds, strict=True):
        if not directed and directions.is_return(u, v, data):
            continue
        edges.append((u, v, data, kind == "directed"))
    return build_graph(directed, nodes, edges, {})


def _check_one_graph(path: AnyPath, cells: Cells, schema: GraphSchema) -> None:
    """Refuse what seems to be a table of many graphs; warn of what may be one."""
    of_edges = names_in_schema(schema, "edge")
    for name in cells:
        if name.lower().removesuffix("_id") in OF_GRAPHS and name not in of_edges:
            cure = f"give --graph-column {name} (in Python, read_tables)"
            if not isinstance(path, Path):
                cure = "call the tables in the zip edges.csv, nodes.csv and graphs.csv"
            raise UnreadableError(
                f"{path}: the column {name!r} looks like that of many graphs in one table: {cure}, "
                "or name it in edge_categories (--edge-category) if it is data of the edges of one "
                "graph"
            )
    first, values = next(iter(cells.items()))
    in_runs = len(values) / 2 >= len(set(values)) == len(list(groupby(values))) > 1
    if in_runs and first.lower() not in chain(*ENDS) and first not in of_edges:
        warn(
            f"a table of edges is one graph; if {first!r}, its first column, says to which of many "
            f"graphs a row belongs, give --graph-column {first} (in Python, read_tables)"
        )
