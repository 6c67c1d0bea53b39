"""Zips of the TU collection: a path -> checked, flat arrays -> GraphBatch -> networkx graphs.

The functions of this module take the path of a zip in the collection's layout. They return checked
arrays or graphs, or raise one error that names the file, the line and what is wrong with it.
Nothing is unpacked to disk.

Each line of ``NAME_A.txt`` is an arc with its line in ``NAME_edge_labels.txt`` and in
``NAME_edge_attributes.txt``. Lines that repeat one with the same data count once. If each arc has
an opposite with the same data, the graphs are undirected. Else they are directed: in Cuneiform the
data are displacements, which differ by direction.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.arrays import arc_keys, offsets, row_codes, row_keys
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files.common import Graphs, numbered, read_member, reading_zip
from skgraphkde.graphs.schema import GraphSchema

INTEGER = re.compile(rb"\s*[+-]?\d+\s*")
NUMBER = re.compile(rb"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
ZIP_BLOCK = 1_000  # how many graphs of a zip are converted to networkx graphs at a time
REQUIRED = ("A", "graph_indicator", "graph_labels")
OF_NODES = ("node_labels", "node_attributes")
OF_EDGES = ("edge_labels", "edge_attributes")


def read_tu(path: Path, _: GraphSchema) -> Graphs:
    """Read the graphs of a zip as networkx graphs, which are created block by block.

    Labels of nodes and of edges have the name "label", attributes the name "x".

    Parameters
    ----------
    path : Path
    _ : GraphSchema
        This format needs none.
    """
    return numbered(_graphs(to_batch(read_arrays(path, path.stem), edge_data=True)))


def _graphs(batch: GraphBatch) -> Iterator[nx.Graph]:
    for i in range(0, len(batch), ZIP_BLOCK):
        yield from batch[i : i + ZIP_BLOCK].to_networkx()


def to_batch(arrays: dict[str, np.ndarray], *, edge_data: bool) -> GraphBatch:
    """Convert the arrays of :func:`read_arrays` to a batch.

    Parameters
    ----------
    arrays : dict of ndarray
    edge_data : bool
        Whether edges have their data. Without, arcs between the same nodes are one, and each must
        have an opposite: see :func:`check_both_directions`.
    """
    node_ptr, source, target = arrays["node_ptr"], _sources(arrays), arrays["indices"]
    kept = np.arange(len(source))
    if not edge_data:  # arcs are sorted
        kept = np.flatnonzero(np.diff(row_keys(source, target), prepend=-1))
    indptr = offsets(np.bincount(source[kept], minlength=node_ptr[-1]))
    adjacency = (np.ones(len(kept)), target[kept], indptr)
    codes, names = _categories(arrays.get("node_labels"))
    of_edges = {part: arrays.get(part) if edge_data else None for part in OF_EDGES}
    edge_codes, edge_names = _categories(of_edges["edge_labels"])
    batch = GraphBatch(
        node_ptr,
        sp.csr_array(adjacency, shape=(node_ptr[-1], node_ptr[-1])),
        codes,
        names,
        arrays.get("node_attributes"),
        edge_codes,
        edge_names,
        of_edges["edge_attributes"],
    )
    is_directed = edge_data and not arrays["is_symmetric"]
    return batch.replace(schema=replace(batch.schema, directed=True)) if is_directed else batch


def check_both_directions(arrays: dict[str, np.ndarray], name: str) -> None:
    """Check that each arc has an opposite, whatever their data.

    Parameters
    ----------
    arrays : dict of ndarray
        As of :func:`read_arrays`.
    name : str
        The path and the name of the data set, for the error.
    """
    if arrays["is_symmetric"]:
        return
    u, v = _sources(arrays), arrays["indices"]
    is_one_way = ~np.isin(*arc_keys(u, v))
    if is_one_way.any():
        i, j = u[is_one_way.argmax()] + 1, v[is_one_way.argmax()] + 1
        raise ValueError(
            f"{name}_A.txt: edge ({i}, {j}) is listed, but ({j}, {i}) is not: read the "
            "set with edge_data=True, if its edges have a direction"
        )


def _sources(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """The node from which each arc comes."""
    return np.repeat(np.arange(len(arrays["indptr"]) - 1), np.diff(arrays["indptr"]))


def _categories(labels: np.ndarray | None) -> tuple[np.ndarray | None, tuple[Any, ...]]:
    """Codes of integers, or of tuples if there are several, and what they stand for."""
    if labels is None:
        return None, ()
    rows, codes = np.unique(labels, axis=0, return_inverse=True)
    names = tuple(row[0] if len(row) == 1 else tuple(row) for row in rows.tolist())
    return codes.reshape(-1), names


def read_arrays(path: Path, name: str) -> dict[str, np.ndarray]:
    """Read and check a data set.

    Parameters
    ----------
    path : Path
        The zip.
    name : str
        The name of the data set, as in the names of its files.

    Returns
    -------
    dict of ndarray
        "node_ptr" (n_graphs + 1,), "indptr" and "indices" of the arcs, "n_self_loops" (), "classes"
        (n_graphs,), and, if the set has them, "node_labels" (n_nodes, n_labels), "node_attributes"
        (n_nodes, n_attributes), and "edge_labels" and "edge_attributes" in the order of the arcs.
        "is_symmetric" () says whether each arc has an opposite with the same data.

    Raises
    ------
    ValueError
        If the zip is damaged, a file is missing, or the files contradict each other.
    """
    with reading_zip(path), zipfile.ZipFile(path) as archive:
        texts = _members(archive, path, name)
    indicator = _table(texts.pop("graph_indicator"), path, f"{name}_graph_indicator.txt", 1)[:, 0]
    classes = _table(texts.pop("graph_labels"), path, f"{name}_graph_labels.txt", 1)[:, 0]
    node_ptr = _node_ptr(indicator, len(classes), f"{path}, {name}_graph_indicator.txt")
    edges = _table(texts.pop("A"), path, f"{name}_A.txt", 2)
    arrays = {"node_ptr": node_ptr, "classes": classes}
    tables = {}
    for part, text in texts.items():
        tables[part] = _table(text, path, f"{name}_{part}.txt", None, part.endswith("labels"))
        other, n_lines = (
            ("A", len(edges)) if part in OF_EDGES else ("graph_indicator", len(indicator))
        )
        if len(tables[part]) != n_lines:
            raise ValueError(
                f"{path}, {name}_{part}.txt has {len(tables[part])} lines, but {name}_{other}.txt "
                f"has {n_lines}: both need one line per {part[:4]}"
            )
    arrays |= {part: tables.pop(part) for part in OF_NODES if part in tables}
    return arrays | _arcs(edges, tables, indicator, f"{path}, {name}_A.txt")


def _members(archive: zipfile.ZipFile, path: Path, name: str) -> dict[str, bytes]:
    """The contents of the files to read; the keys are their names without the data set's name."""
    where = {Path(member).name: member for member in archive.namelist()}
    missing = [f"{name}_{part}.txt" for part in REQUIRED if f"{name}_{part}.txt" not in where]
    if missing:
        found = ", ".join(sorted(where)) or "nothing"
        has_tables = any(x.endswith((".csv", ".parquet")) for x in where)
        cure = (
            "; call its tables edges.csv, nodes.csv and graphs.csv, or unpack it, and give its "
            "table of edges with --graph-column, or to read_tables"
        )
        raise ValueError(
            f"{path} has no {', '.join(missing)}; it contains {found}{cure * has_tables}"
        )
    contents = {}
    for part in REQUIRED + OF_NODES + OF_EDGES:
        member = where.get(f"{name}_{part}.txt")
        if member is not None:
            contents[part] = read_member(archive, member)
    return contents


def _table(
    text: bytes, path: Path, file: str, n_columns: int | None, integer: bool = True
) -> np.ndarray:
    """Comma-separated numbers as an array."""
    import pandas as pd  # ten times as fast as np.loadtxt

    dtype: Any = np.int64 if integer else np.float64
    try:
        table = pd.read_csv(io.BytesIO(text), header=None, dtype=dtype, skip_blank_lines=False)
        if n_columns in (None, table.shape[1]) and np.isfinite(table.to_numpy()).all():
            return table.to_numpy()
    except (ValueError, OverflowError):  # said in terms of the file
        pass
    raise ValueError(f"{path}, {file}{_first_bad_line(text, n_columns, integer)}")


def _first_bad_line(text: bytes, n_columns: int | None, integer: bool) -> str:
    pattern, what = (INTEGER, "integer") if integer else (NUMBER, "finite number")
    lines = text.splitlines()
    n_columns = n_columns or (lines[0].count(b",") + 1 if lines else 1)
    for i, line in enumerate(lines, 1):
        cells = line.split(b",")
        if len(cells) != n_columns or not all(map(pattern.fullmatch, cells)):
            expected = f"{n_columns} {what}{'s' * (n_columns > 1)}"
            return f", line {i}: expected {expected}, got {line[:60].decode(errors='replace')!r}"
    return " is empty" if not lines else " has a number that is too large to store"


def _node_ptr(indicator: np.ndarray, n_graphs: int, file: str) -> np.ndarray:
    steps = np.diff(indicator, prepend=0)
    bad = (steps < 0) | (steps > 1)
    if bad.any():
        line = int(bad.argmax())
        raise ValueError(
            f"{file}, line {line + 1}: graph {indicator[line]} comes after graph "
            f"{indicator[line - 1] if line else 0}, but graphs are numbered 1, 2, ... in order"
        )
    if indicator[-1] != n_graphs:
        raise ValueError(
            f"{file} has {indicator[-1]} graphs, but the data set has {n_graphs} graph labels"
        )
    return offsets(np.bincount(indicator - 1))


def _arcs(
    edges: np.ndarray, tables: dict[str, np.ndarray], indicator: np.ndarray, file: str
) -> dict[str, np.ndarray]:
    """The arcs without self-loops and repetitions, sorted, with their data.

    Arcs between the same nodes are sorted by their data, so that those of an undirected edge come
    in the same order in both directions.
    """
    n = len(indicator)
    bad = ((edges < 1) | (edges > n)).any(axis=1)
    if bad.any():
        line = int(bad.argmax())
        raise ValueError(
            f"{file}, line {line + 1}: edge {tuple(edges[line].tolist())}, but nodes are 1 to {n}"
        )
    u, v = edges.T.astype(np.int32) - 1
    across = indicator[u] != indicator[v]
    if across.any():
        line = int(across.argmax())
        raise ValueError(
            f"{file}, line {line + 1}: edge {tuple(edges[line].tolist())} joins graph "
            f"{indicator[u[line]]} and graph {indicator[v[line]]}"
        )
    is_edge = np.flatnonzero(u != v)
    data = [table[is_edge] for table in tables.values()]
    codes = [row_codes(len(is_edge), *data)] if data else []
    key, back = arc_keys(u[is_edge], v[is_edge], *codes)
    key, first = np.unique(key, return_index=True)
    lines = is_edge[first]
    return {
        "indptr": offsets(np.bincount(u[lines], minlength=n)),
        "indices": v[lines],
        "n_self_loops": np.array(len(np.unique(u[u == v]))),
        "is_symmetric": np.array(np.array_equal(key, np.sort(back[first]))),
        **{part: table[lines] for part, table in tables.items()},
    }
