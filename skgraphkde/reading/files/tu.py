"""Zips of the TU collection: a path -> checked, flat arrays -> GraphBatch -> networkx graphs.

Each line of ``NAME_A.txt`` is an arc with its line in ``NAME_edge_labels.txt`` and in
``NAME_edge_attributes.txt``. Lines that repeat one with the same data count once. If each arc has
an opposite with the same data, the graphs are undirected. Else they are directed: in Cuneiform the
data are displacements, which differ by direction. Errors name the file, and the line.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp

from skgraphkde._utils import progress
from skgraphkde.core.graphs.arrays import arc_keys, offsets, row_codes
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.schema import GraphSchema, names_in_schema
from skgraphkde.reading.files.common import DAMAGED, Graphs, damaged, numbered, open_zip

ZIP_BLOCK = 1_000  # how many graphs of a zip are converted to networkx graphs at a time
REQUIRED = ("A", "graph_indicator", "graph_labels")
OF_EDGES = ("edge_labels", "edge_attributes")
OPTIONAL = ("node_labels", "node_attributes", *OF_EDGES)


def read_tu(path: Path, schema: GraphSchema) -> Graphs:
    """Read the graphs of a zip as networkx graphs, which are created block by block.

    Labels of nodes and of edges have the name "label", attributes the name "x". A graph has its
    "class" if the schema names that.

    Parameters
    ----------
    path : Path
    schema : GraphSchema
        The names of what is read.
    """
    arrays = read_arrays(path, path.stem)
    classes = arrays["classes"].tolist() if "class" in names_in_schema(schema, "graph") else []
    return numbered(_graphs(to_batch(arrays), classes))


def _graphs(batch: GraphBatch, classes: list[int]) -> Iterator[nx.Graph]:
    """The graphs of a set one after the other; with their classes, if there are any."""
    for i in progress(range(0, len(batch), ZIP_BLOCK)):
        for k, graph in enumerate(batch[i : i + ZIP_BLOCK].to_networkx(), i):
            if classes:
                graph.graph["class"] = classes[k]
            yield graph


def to_batch(arrays: dict[str, np.ndarray]) -> GraphBatch:
    """Convert the arrays of :func:`read_arrays` to a batch.

    Parameters
    ----------
    arrays : dict of ndarray
    """
    node_ptr = arrays["node_ptr"]
    source = arrays["source"]
    target = arrays["target"]
    n = node_ptr[-1]
    indptr = offsets(np.bincount(source, minlength=n))
    batch = GraphBatch(
        node_ptr,
        sp.csr_array((np.ones(len(target)), target, indptr), shape=(n, n)),
        (*_categories(arrays.get("node_labels")), arrays.get("node_attributes")),
        (*_categories(arrays.get("edge_labels")), arrays.get("edge_attributes")),
    )
    return batch.replace(schema=replace(batch.schema, directed=not arrays["is_symmetric"]))


def _categories(labels: np.ndarray | None) -> tuple[np.ndarray | None, tuple[Any, ...]]:
    """Codes of integers, or of tuples if there are several, and what they stand for."""
    if labels is None:
        return None, ()
    rows, codes = np.unique(labels, axis=0, return_inverse=True)
    names = tuple(row[0] if len(row) == 1 else tuple(row) for row in rows.tolist())
    return codes.reshape(-1), names


def read_arrays(path: Path, name: str, *, edge_data: bool = True) -> dict[str, np.ndarray]:
    """Read and check a data set.

    Parameters
    ----------
    path : Path
        The zip.
    name : str
        The name of the data set, as in the names of its files.
    edge_data : bool, default=True
        Whether edges have their data. Without, arcs between the same nodes are one.

    Returns
    -------
    dict of ndarray
        "node_ptr" (n_graphs + 1,), "source" and "target" of the arcs, which are sorted,
        "n_self_loops" (), "classes" (n_graphs,), and, if the set has them, "node_labels" (n_nodes,
        n_labels), "node_attributes" (n_nodes, n_attributes), and "edge_labels" and
        "edge_attributes" in the order of the arcs. "is_symmetric" () says whether each arc has an
        opposite with the same data.

    Raises
    ------
    ValueError
        If the zip is damaged, a file is missing, or the files contradict each other.
    """
    tables = {}
    for part, text in _texts(path, name).items():
        tables[part] = _table(text, f"{path}, {name}_{part}.txt", part)
    indicator = tables.pop("graph_indicator")[:, 0]
    classes = tables.pop("graph_labels")[:, 0]
    edges = tables.pop("A")
    for part, table in tables.items():
        other, lines = ("A", edges) if part in OF_EDGES else ("graph_indicator", indicator)
        if len(table) != len(lines):
            raise ValueError(
                f"{path}, {name}_{part}.txt has {len(table)} lines, but {name}_{other}.txt has "
                f"{len(lines)}: both need one line per {part[:4]}"
            )
    steps = np.diff(indicator, prepend=0)
    file = f"{path}, {name}_graph_indicator.txt"
    _check(
        (steps == 0) | (steps == 1),
        file,
        lambda k: f"graph {indicator[k]}, but graphs are numbered 1, 2, ... in order",
    )
    if indicator[-1] != len(classes):
        raise ValueError(
            f"{file} has {indicator[-1]} graphs, but the data set has {len(classes)} graph labels"
        )
    arrays = {"node_ptr": offsets(np.bincount(indicator - 1)), "classes": classes}
    of_edges = {part: tables.pop(part) for part in OF_EDGES if part in tables}
    file = f"{path}, {name}_A.txt"
    return arrays | tables | _arcs(edges, of_edges if edge_data else {}, indicator, file)


def _texts(path: Path, name: str) -> dict[str, bytes]:
    """The contents of the files of a set; the keys are their names without that of the set."""
    try:
        with open_zip(path) as archive:
            where = {Path(member).name: member for member in archive.namelist()}
            names = {part: f"{name}_{part}.txt" for part in REQUIRED + OPTIONAL}
            texts = {
                part: archive.read(where[file]) for part, file in names.items() if file in where
            }
    except (*DAMAGED, OSError) as error:
        raise damaged(path, error) from error
    missing = [names[part] for part in REQUIRED if part not in texts]
    if missing:
        found = ", ".join(sorted(where)) or "nothing"
        raise ValueError(f"{path} has no {', '.join(missing)}; it contains {found}")
    return texts


def _table(text: bytes, file: str, part: str) -> np.ndarray:
    """Comma-separated numbers as an array; integers, but for attributes."""
    if not text.strip():
        raise ValueError(f"{file} is empty")
    try:  # ten times as fast as np.loadtxt
        table = pd.read_csv(io.BytesIO(text), header=None, dtype=float, skip_blank_lines=False)
    except ValueError as error:  # also of pandas' parser
        why = str(error).rpartition("C error: ")[2].strip()
        raise ValueError(f"{file}: expected numbers with commas; {why}") from error
    numbers = table.to_numpy()
    if part.endswith("attributes"):
        _check(np.isfinite(numbers).all(axis=1), file, lambda _: "expected finite numbers")
        return numbers
    n_columns = {"A": 2, "graph_indicator": 1, "graph_labels": 1}.get(part, numbers.shape[1])
    if numbers.shape[1] != n_columns:
        raise ValueError(f"{file} has {numbers.shape[1]} columns, and must have {n_columns}")
    _check((abs(numbers % 1) == 0).all(axis=1), file, lambda _: "expected integers")
    return numbers.astype(np.int64)


def _check(is_good: Any, file: str, message: Any) -> None:
    """Raise an error about the first line that is not good."""
    if not is_good.all():
        k = int(is_good.argmin())
        raise ValueError(f"{file}, line {k + 1}: {message(k)}")


def _arcs(
    edges: np.ndarray, of_edges: dict[str, np.ndarray], indicator: np.ndarray, file: str
) -> dict[str, np.ndarray]:
    """The arcs without self-loops and repetitions, sorted, with their data.

    Arcs between the same nodes are sorted by their data, so that those of an undirected edge come
    in the same order in both directions.
    """
    n = len(indicator)
    _check(
        ((edges >= 1) & (edges <= n)).all(axis=1),
        file,
        lambda k: f"edge {tuple(edges[k].tolist())}, but nodes are 1 to {n}",
    )
    u, v = edges.T.astype(np.int32) - 1
    _check(
        indicator[u] == indicator[v],
        file,
        lambda k: (
            f"edge {tuple(edges[k].tolist())} joins graph {indicator[u[k]]} and graph "
            f"{indicator[v[k]]}"
        ),
    )
    is_edge = np.flatnonzero(u != v)
    data = [table[is_edge] for table in of_edges.values()]
    codes = [row_codes(len(is_edge), *data)] if data else []
    key, back = arc_keys(u[is_edge], v[is_edge], *codes)
    key, first = np.unique(key, return_index=True)
    lines = is_edge[first]
    arrays = {part: table[lines] for part, table in of_edges.items()}
    arrays["source"], arrays["target"] = u[lines], v[lines]
    arrays["n_self_loops"] = np.array(len(np.unique(u[u == v])))
    arrays["is_symmetric"] = np.array(np.array_equal(key, np.sort(back[first])))
    return arrays
