"""Tables in files, of edges, nodes and graphs -> networkx graphs, named by the tables."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from skgraphkde.graphs.files.common import AnyPath, Graphs, files_in_zip, read_content
from skgraphkde.graphs.files.csv import read_cells, typed_columns
from skgraphkde.graphs.schema import GraphSchema
from skgraphkde.graphs.tables import graphs_of_tables

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
    def paths(self) -> list[Path]:
        """The files, or the zip."""
        paths = [path for path in (self.edges, self.nodes, self.graphs) if path is not None]
        return list(dict.fromkeys(_on_disk(path) for path in paths))

    @property
    def place(self) -> Path:
        """The zip or the folder."""
        return self.edges.parent if isinstance(self.edges, Path) else _on_disk(self.edges)

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
            paths = ", ".join(map(str, self.paths))
            raise ValueError(f"{paths}: {error}") from error
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
        table = read_cells(path)
        names = {name: [cell or None for cell in table.pop(name)] for name in ids if name in table}
        frame = pd.DataFrame(names | typed_columns(table, schema, part), dtype=object)
        frame.index += 2  # the rows of a spreadsheet, of which the first is the header
        return frame


def _on_disk(path: AnyPath) -> Path:
    """The file, or the zip in which it is."""
    return path if isinstance(path, Path) else Path(path.root.filename or "")


#: Where graphs come from: a file of one or many, also in a zip, or tables.
Source = Path | zipfile.Path | TableFiles


def tables_in(place: Path) -> TableFiles | None:
    """The tables of many graphs in a folder or a zip; None if there are none.

    They are called edges, nodes and graphs, with one of `SUFFIXES`, and are in one folder. Either
    nodes or graphs may be missing; in a zip, which has no other use for edges, both.

    Parameters
    ----------
    place : Path
    """
    if place.is_dir():
        found = _named(x for x in place.iterdir() if x.is_file())
        return TableFiles(**found) if len(found) > 1 else None
    folders = groupby(files_in_zip(place), lambda x: str(x.parent))
    found = next(filter(None, (_named(files) for _, files in folders)), {})
    return TableFiles(**found) if found else None


def _named(files: Iterable[AnyPath]) -> dict[str, Any]:
    """The files with tables, by what they are; none without edges."""
    place = {path.name.lower(): path for path in files}
    found = {
        what: next((place[what + x] for x in SUFFIXES if what + x in place), None)
        for what in ("edges", "nodes", "graphs")
    }
    return {what: x for what, x in found.items() if x} if found["edges"] else {}
