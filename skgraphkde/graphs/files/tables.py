"""Tables in files, of edges, nodes and graphs -> networkx graphs, named by the tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skgraphkde.graphs.files.common import Graphs
from skgraphkde.graphs.files.csv import read_cells, typed_columns
from skgraphkde.graphs.schema import GraphSchema
from skgraphkde.graphs.tables import graphs_of_tables


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
    """

    edges: Path
    nodes: Path | None = None
    graphs: Path | None = None
    graph: str = "graph"
    source: str = "source"
    target: str = "target"
    node: str = "node"

    @property
    def paths(self) -> list[Path]:
        """The files."""
        return [path for path in (self.edges, self.nodes, self.graphs) if path is not None]

    def __str__(self) -> str:
        return ""  # the graphs have names of their own

    def read(self, schema: GraphSchema) -> Graphs:
        """The graphs, with their names, and errors in place of those that cannot be read.

        Parameters
        ----------
        schema : GraphSchema
            What is read: cells of categories are text unless they are written like numbers.
        """
        edges = _frame(self.edges, schema, "edge", (self.graph, self.source, self.target))
        nodes = _frame(self.nodes, schema, "node", (self.graph, self.node))
        graphs = _frame(self.graphs, schema, "graph", (self.graph,))
        columns = {x: getattr(self, x) for x in ("graph", "source", "target", "node")}
        try:
            found = graphs_of_tables(edges, nodes, graphs, columns, schema.directed is True)
        except ValueError as error:
            paths = ", ".join(map(str, self.paths))
            raise ValueError(f"{paths}: {error}") from error
        return [(str(name), graph) for name, graph in found.items()]


#: Where graphs come from: a file of one or many, or tables.
Source = Path | TableFiles


def _frame(path: Path | None, schema: GraphSchema, part: str, ids: tuple[str, ...]) -> Any:
    """A table with cells that have types; ids are text."""
    if path is None:
        return None
    import pandas as pd  # heavy

    if path.suffix.lower() == ".parquet":
        return pd.read_parquet(path)
    table = read_cells(path)
    names = {name: [cell or None for cell in table.pop(name)] for name in ids if name in table}
    frame = pd.DataFrame(names | typed_columns(table, schema, part), dtype=object)
    frame.index += 2  # the rows of a spreadsheet, of which the first is the header
    return frame
