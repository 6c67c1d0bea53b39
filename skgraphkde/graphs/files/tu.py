"""Zips of the TU collection: a path -> checked, flat arrays -> GraphBatch -> networkx graphs.

The functions of this module take the path of a zip in the collection's layout. They return checked
arrays or graphs, or raise one error that names the file, the line and what is wrong with it.
Nothing is unpacked to disk.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.batch import GraphBatch, offsets
from skgraphkde.graphs.files.reading import Graphs, Reading, numbered

INTEGER = re.compile(rb"\s*[+-]?\d+\s*")
NUMBER = re.compile(rb"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
# The errors of reading a damaged zip; RuntimeError if it is encrypted.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
# How many times larger than the zip a member may be; in the collection the ratio is about 10.
LARGEST_RATIO = 100
ZIP_BLOCK = 1_000  # how many graphs of a zip are converted to networkx graphs at a time
REQUIRED = ("A", "graph_indicator", "graph_labels")
OPTIONAL = ("node_labels", "node_attributes")


def read_tu(path: Path, _: Reading) -> Graphs:
    """Read the graphs of a zip as networkx graphs, which are created block by block."""
    batch = read_zip(path)
    blocks = range(0, len(batch), ZIP_BLOCK)
    return numbered(g for i in blocks for g in batch[i : i + ZIP_BLOCK].to_networkx())


def read_zip(path: Path) -> GraphBatch:
    """Read the graphs of a zip whose file name is the name of the data set."""
    return to_batch(read_arrays(path, path.stem))


def to_batch(arrays: dict[str, np.ndarray]) -> GraphBatch:
    """Convert the arrays of :func:`read_arrays` to a batch."""
    n_nodes = int(arrays["node_ptr"][-1])
    weights = np.ones(len(arrays["indices"]))
    adjacency = sp.csr_array(
        (weights, arrays["indices"], arrays["indptr"]), shape=(n_nodes, n_nodes)
    )
    codes = None
    names: tuple[Any, ...] = ()
    if "node_labels" in arrays:
        rows, codes = np.unique(arrays["node_labels"], axis=0, return_inverse=True)
        names = tuple(row[0] if len(row) == 1 else tuple(row) for row in rows.tolist())
    return GraphBatch(arrays["node_ptr"], adjacency, codes, names, arrays.get("node_attributes"))


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
        "node_ptr" (n_graphs + 1,), "indptr" and "indices" of the adjacency, "n_self_loops" (),
        "classes" (n_graphs,), and, if the set has them, "node_labels" (n_nodes, n_labels) and
        "node_attributes" (n_nodes, n_attributes).

    Raises
    ------
    ValueError
        If the zip is damaged, a file is missing, or the files contradict each other.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            texts = _members(archive, path, name)
    except DAMAGED as error:
        raise ValueError(
            f"{path} is damaged or not a zip file ({error}): delete it and get another copy"
        ) from error
    indicator = _table(texts.pop("graph_indicator"), path, f"{name}_graph_indicator.txt", 1)[:, 0]
    classes = _table(texts.pop("graph_labels"), path, f"{name}_graph_labels.txt", 1)[:, 0]
    node_ptr = _node_ptr(indicator, len(classes), f"{path}, {name}_graph_indicator.txt")
    edges = _table(texts.pop("A"), path, f"{name}_A.txt", 2)
    arrays = {"node_ptr": node_ptr, "classes": classes}
    arrays |= _adjacency(edges, indicator, f"{path}, {name}_A.txt")
    for part, text in texts.items():
        arrays[part] = _table(text, path, f"{name}_{part}.txt", None, part == "node_labels")
        if len(arrays[part]) != len(indicator):
            raise ValueError(
                f"{path}, {name}_{part}.txt has {len(arrays[part])} lines, but "
                f"{name}_graph_indicator.txt has {len(indicator)}: both need one line per node"
            )
    return arrays


def _members(archive: zipfile.ZipFile, path: Path, name: str) -> dict[str, bytes]:
    """The contents of the files to read; the keys are their names without the data set's name."""
    where = {Path(member).name: member for member in archive.namelist()}
    missing = [f"{name}_{part}.txt" for part in REQUIRED if f"{name}_{part}.txt" not in where]
    if missing:
        found = ", ".join(sorted(where)) or "nothing"
        raise ValueError(f"{path} has no {', '.join(missing)}; it contains {found}")
    return {
        part: _read(archive, archive.getinfo(where[f"{name}_{part}.txt"]), path)
        for part in REQUIRED + OPTIONAL
        if f"{name}_{part}.txt" in where
    }


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> bytes:
    """The contents of a member, unless a small zip would fill the memory with it."""
    if member.file_size > LARGEST_RATIO * path.stat().st_size + 2**20:
        raise ValueError(
            f"{path}, {member.filename} would expand to {member.file_size} bytes, more than "
            f"{LARGEST_RATIO} times the size of the zip: it is not a data set"
        )
    with archive.open(member) as file:  # archive.read does not stop at the size in the header
        return file.read(max(member.file_size, 1))


def _table(
    text: bytes, path: Path, file: str, n_columns: int | None, integer: bool = True
) -> np.ndarray:
    """Comma-separated numbers as an array."""
    import pandas as pd  # ten times as fast as np.loadtxt

    dtype: Any = np.int64 if integer else np.float64
    try:
        table = pd.read_csv(io.BytesIO(text), header=None, dtype=dtype, skip_blank_lines=False)
    except (ValueError, OverflowError, pd.errors.ParserError) as error:
        raise ValueError(f"{path}, {file}{_first_bad_line(text, n_columns, integer)}") from error
    values = table.to_numpy()
    if values.shape[1] != (n_columns or values.shape[1]) or not np.isfinite(values).all():
        raise ValueError(f"{path}, {file}{_first_bad_line(text, n_columns, integer)}")
    return values


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


def _adjacency(edges: np.ndarray, indicator: np.ndarray, file: str) -> dict[str, np.ndarray]:
    """The symmetric adjacency without self-loops; repeated edges count once."""
    n = len(indicator)
    bad = ((edges < 1) | (edges > n)).any(axis=1)
    if bad.any():
        line = int(bad.argmax())
        raise ValueError(
            f"{file}, line {line + 1}: edge {_pair(edges[line])}, but nodes are 1 to {n}"
        )
    u, v = edges.T.astype(np.int32) - 1
    across = indicator[u] != indicator[v]
    if across.any():
        line = int(across.argmax())
        raise ValueError(
            f"{file}, line {line + 1}: edge {_pair(edges[line])} joins graph "
            f"{indicator[u[line]]} and graph {indicator[v[line]]}"
        )
    loop = u == v
    n_self_loops = len(np.unique(u[loop]))
    if n_self_loops:
        u, v = u[~loop], v[~loop]
    A = sp.coo_array((np.ones(len(u), dtype=bool), (u, v)), shape=(n, n)).tocsr()
    reverse = A.T.tocsr()
    A.sum_duplicates()
    reverse.sum_duplicates()
    if not np.array_equal(A.indptr, reverse.indptr) or not np.array_equal(
        A.indices, reverse.indices
    ):
        i, j = (int(ends[0]) + 1 for ends in (reverse < A).nonzero())
        raise ValueError(f"{file}: edge {_pair((i, j))} is listed, but {_pair((j, i))} is not")
    return {
        "indptr": A.indptr.astype(np.int64),
        "indices": A.indices.astype(np.int32),
        "n_self_loops": np.array(n_self_loops),
    }


def _pair(edge: Any) -> str:
    return f"({edge[0]}, {edge[1]})"
