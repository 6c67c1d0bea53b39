"""Tables in files, of edges, nodes and graphs -> networkx graphs, named by the tables."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from skgraphkde.graphs.files.common import Graphs, open_zip, read_member, unpacked
from skgraphkde.graphs.files.csv import read_cells, typed_columns
from skgraphkde.graphs.schema import GraphSchema
from skgraphkde.graphs.tables import graphs_of_tables

SUFFIXES = (".csv", ".csv.gz", ".parquet")


@dataclass(frozen=True)
class TableFiles:
    """Tables of many graphs, in place of one file for each.

    Parameters
    ----------
    edges : Path
        CSV, gzipped or not, or Parquet.
    nodes, graphs : Path or None
        Tables of nodes and of graphs.
    graph, source, target, node : str
        Names of the columns, see :func:`~skgraphkde.read_tables`.
    archive : Path or None
        The zip in which the files are.
    prefix : str
        Of the names of the graphs, where those of several tables may be alike.
    """

    edges: Path
    nodes: Path | None = None
    graphs: Path | None = None
    graph: str = "graph"
    source: str = "source"
    target: str = "target"
    node: str = "node"
    archive: Path | None = None
    prefix: str = ""

    @property
    def paths(self) -> list[Path]:
        """The files, or the zip."""
        if self.archive is not None:
            return [self.archive]
        return [path for path in (self.edges, self.nodes, self.graphs) if path is not None]

    @property
    def place(self) -> Path:
        """The zip or the folder."""
        return self.archive or self.edges.parent

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

    def _frame(self, path: Path | None, schema: GraphSchema, part: str, ids: tuple) -> Any:
        """A table with cells that have types; ids are text."""
        if path is None:
            return None
        import pandas as pd  # heavy

        content = self._content(path)
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(io.BytesIO(content))
        table = read_cells(path, content)
        names = {name: [cell or None for cell in table.pop(name)] for name in ids if name in table}
        frame = pd.DataFrame(names | typed_columns(table, schema, part), dtype=object)
        frame.index += 2  # the rows of a spreadsheet, of which the first is the header
        return frame

    def _content(self, path: Path) -> bytes:
        if self.archive is None:
            return unpacked(path, path.read_bytes())
        with open_zip(self.archive) as archive:
            member = archive.getinfo(path.as_posix())
            return unpacked(path, read_member(archive, self.archive, member))


#: Where graphs come from: a file of one or many, or tables.
Source = Path | TableFiles


def tables_in(place: Path) -> TableFiles | None:
    """The tables of many graphs in a folder or a zip; None if there are none.

    They are called edges, nodes and graphs, with one of `SUFFIXES`, and are in one folder. Either
    nodes or graphs may be missing; in a zip, which has no other use for edges, both.

    Parameters
    ----------
    place : Path
    """
    if place.is_dir():
        found = _named(x.name for x in place.iterdir() if x.is_file())
        return TableFiles(**{k: place / x for k, x in found.items()}) if len(found) > 1 else None
    if place.suffix.lower() != ".zip" or not place.is_file():
        return None
    try:
        with open_zip(place) as archive:
            members = [PurePosixPath(name) for name in archive.namelist()]
    except ValueError:  # whoever reads it says so
        return None
    for folder in dict.fromkeys(x.parent for x in members):
        found = _named(x.name for x in members if x.parent == folder)
        if found:
            files: dict[str, Any] = {k: Path(folder, x) for k, x in found.items()}
            return TableFiles(**files, archive=place)
    return None


def _named(names: Iterable[str]) -> dict[str, Any]:
    """The files with tables, by what they are; none without edges."""
    place = {name.lower(): name for name in names}
    found = {
        what: next((place[what + x] for x in SUFFIXES if what + x in place), None)
        for what in ("edges", "nodes", "graphs")
    }
    return {what: x for what, x in found.items() if x} if found["edges"] else {}
