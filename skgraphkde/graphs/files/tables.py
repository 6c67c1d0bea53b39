"""Tables in files, of edges, nodes and graphs -> networkx graphs, named by the tables."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skgraphkde.graphs.files.common import AnyPath, Graphs, read_content
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
    def files(self) -> list[AnyPath]:
        """The tables that there are."""
        return [path for path in (self.edges, self.nodes, self.graphs) if path is not None]

    @property
    def paths(self) -> list[Path]:
        """The files, or the zip."""
        return list(dict.fromkeys(_on_disk(path) for path in self.files))

    @property
    def place(self) -> Path:
        """The folder, also in a zip."""
        return Path(str(self.edges)).parent

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
