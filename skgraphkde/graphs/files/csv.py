"""CSV files: edge lists, with a table of nodes beside them, and lists of SMILES -> graphs.

The first row of ``NAME.csv`` names its columns. Edges of an undirected graph have their ends in the
columns "source" and "target", those of a directed one in "from" and "to"; where the schema says
``directed=True``, "source" and "target" are a direction, too. All other columns are data of the
edges. ``NAME.nodes.csv`` is optional. It has the nodes in the column "id" (or "node"), and their
data in the others. Without it, the nodes are those that the edges join. In an undirected graph, a
second row that has the ends of an edge the other way round, and the same data, is the same edge.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from skgraphkde.graphs.files.common import AnyPath, Graphs, UnreadableError
from skgraphkde.graphs.files.molecules import read_smiles
from skgraphkde.graphs.files.tables import Cells, read_cells, typed_frame
from skgraphkde.graphs.problems import GraphError
from skgraphkde.graphs.schema import GraphSchema
from skgraphkde.graphs.tables import graphs_of_tables

ENDS = (("source", "target"), ("from", "to"))
IDS = ("id", "node")
# Columns that are likely to say to which of many graphs a row belongs, with or without "_id".
OF_GRAPHS = ("graph", "case", "trace", "session")
GRAPH = ""  # the column of the only graph, and its name; columns of a file have longer names


def is_node_table(path: AnyPath) -> bool:
    """True for a table of nodes, which is read with the edge list beside it."""
    return path.name.lower().removesuffix(".gz").endswith(".nodes.csv")


def node_table_of(path: AnyPath) -> AnyPath | None:
    """The table of nodes beside an edge list."""
    plain = Path(path.stem if path.suffix.lower() == ".gz" else path.name)
    return _beside(path, f"{plain.stem}.nodes{plain.suffix}")


def edge_list_of(path: AnyPath) -> AnyPath | None:
    """The edge list beside a table of nodes."""
    plain = Path(path.stem if path.suffix.lower() == ".gz" else path.name)
    return _beside(path, f"{plain.stem[: -len('.nodes')]}{plain.suffix}")


def _beside(path: AnyPath, name: str) -> AnyPath | None:
    """The file of a name in the folder of another one, gzipped or not."""
    folder: Any = path.parent
    found = (folder / f"{name}{packing}" for packing in ("", ".gz", ".GZ"))
    return next((file for file in found if file.exists()), None)


def read_csv(path: AnyPath, schema: GraphSchema) -> Graphs:
    """Read a graph from an edge list and the table of its nodes, or molecules from their SMILES.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    """
    import pandas as pd  # heavy

    if is_node_table(path):
        raise UnreadableError(
            f"{path} is a table of nodes, and no edge list beside it has its name without "
            '".nodes": add that, or leave the table out'
        )
    cells = read_cells(path)
    lower = {name.lower(): name for name in cells}
    present = [ends for ends in ENDS if set(ends) <= set(lower)]
    smiles = [name for name in cells if "smiles" in name.lower()]
    if len(smiles) == 1 and not present:
        return _read_molecules(cells, smiles[0], schema)
    if len(present) != 1:
        both = "both" if present else "no"
        raise ValueError(
            f'it has {both} columns "source" and "target", {"and" if present else "or"} "from" and '
            f'"to"; its first row is {", ".join(cells)!r}'
        )
    _check_one_graph(path, cells, schema)
    directed = present[0] == ENDS[1] or schema.directed is True
    source, target = (lower[end] for end in present[0])
    columns = {"graph": GRAPH, "source": source, "target": target, "node": ""}
    edges = typed_frame(cells, schema, "edge", (source, target))
    if not directed:
        edges = edges.loc[_are_first(edges, source, target)]
    nodes, table = None, node_table_of(path)
    if table is not None:
        cells = read_cells(table)
        ids = [name for x in IDS for name in cells if name.lower() == x]
        if not ids:
            raise ValueError(
                f'{table} has no column "id" or "node"; its first row is {", ".join(cells)!r}'
            )
        columns["node"] = ids[0]
        nodes = typed_frame(cells, schema, "node", ids[:1]).assign(**{GRAPH: GRAPH})
    edges = edges.assign(**{GRAPH: GRAPH})
    graphs = pd.DataFrame({GRAPH: [GRAPH]})
    graph = graphs_of_tables(edges, nodes, graphs, columns, directed)[GRAPH]
    if isinstance(graph, GraphError):
        raise ValueError(graph.text.strip(" ,"))
    del graph.graph["name"]
    return [("", graph)]


def _are_first(edges: Any, source: str, target: str) -> np.ndarray:
    """For each row, False if it is the other direction of an edge that is there."""
    are_first, count = [], Counter[tuple]()
    others = [name for name in edges if name not in (source, target)]
    for u, v, *data in edges[[source, target, *others]].itertuples(index=False):
        key = tuple(data)
        count[u, v, key] += 1
        are_first.append(u == v or count[u, v, key] > count[v, u, key])
    return np.array(are_first, dtype=bool)


def _check_one_graph(path: AnyPath, cells: Cells, schema: GraphSchema) -> None:
    """Refuse what seems to be a table of many graphs."""
    for name in cells:
        is_data = name in schema.named("edge_categories") + schema.named("edge_numbers")
        if name.lower().removesuffix("_id") in OF_GRAPHS and not is_data:
            cure = f"give --graph-column {name} (in Python, read_tables)"
            if not isinstance(path, Path):
                cure = "call the tables in the zip edges.csv, nodes.csv and graphs.csv"
            raise UnreadableError(
                f"{path}: the column {name!r} looks like that of many graphs in one table: {cure}, "
                "or name it in edge_categories (--edge-category) if it is data of the edges of one "
                "graph"
            )


def _read_molecules(cells: Cells, smiles: str, schema: GraphSchema) -> Graphs:
    """Molecules of a table, with the names of the column "name" or "id"."""
    texts = cells.pop(smiles)
    names = [""] * len(texts)
    for column in cells:
        if column.lower() in ("name", "id"):
            names = cells.pop(column)
            break
    rows = []
    for record in typed_frame(cells, schema, "graph").to_dict("records"):
        rows.append({name: value for name, value in record.items() if value is not None})
        for value in record.values():
            if isinstance(value, ValueError):  # in the place of a cell that cannot be read
                raise value
    return read_smiles(texts, names, rows=rows or None)
