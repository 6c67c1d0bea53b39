"""Adjacency matrices in files: NumPy (.npy, .npz), MATLAB (.mat) -> networkx graphs.

A square array is a graph, whose edges have its entries as "weight", a number that is read unless a
schema says what is read of edges. The graph is directed unless the array is symmetric. An array of
three dimensions holds many of these. Rows and columns have the names of an array of as many
different texts beside it, if there is one. The diagonal is not read.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np
import scipy.io
import scipy.sparse as sp

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.core.graphs.schema import GraphSchema
from skgraphkde.reading.files.common import AnyPath, Graphs, read_content
from skgraphkde.reading.files.tables import ENDS, NUMBER
from skgraphkde.reading.formats.common import as_doubles

# Both halves of a symmetric matrix are equal but for so large a share.
MATRIX_DIGITS = 1e-6
# A list of edges does not have so many numbers.
MANY = 8
# Attribute of a graph of a matrix: whether it has entries other than 0 and 1.
HAS_WEIGHTS = "matrix with weights"
# What scipy.sparse.save_npz writes.
SPARSE = {"format", "shape", "data"}


def read_npy(path: AnyPath, _: GraphSchema) -> Graphs:
    """The graphs of an array in a file of NumPy.

    Parameters
    ----------
    path : Path or zipfile.Path
    _ : GraphSchema
        This format needs none.
    """
    array = np.load(io.BytesIO(read_content(path)), allow_pickle=False)
    return graphs_of_arrays(path, {"": array})


def read_npz(path: AnyPath, _: GraphSchema) -> Graphs:
    """The graphs of the arrays in a file of NumPy, or of a sparse one of SciPy.

    Parameters
    ----------
    path : Path or zipfile.Path
    _ : GraphSchema
        This format needs none.
    """
    content = io.BytesIO(read_content(path))
    with np.load(content, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    if arrays.keys() >= SPARSE:
        content.seek(0)
        arrays = {"": sp.load_npz(content)}
    return graphs_of_arrays(path, arrays)


def read_mat(path: AnyPath, _: GraphSchema) -> Graphs:
    """The graphs of the variables of a file of MATLAB, up to version 7.

    Parameters
    ----------
    path : Path or zipfile.Path
    _ : GraphSchema
        This format needs none.
    """
    content = io.BytesIO(read_content(path))
    try:
        variables = scipy.io.loadmat(content)
    except NotImplementedError as error:
        raise ValueError("it is of version 7.3: save it in MATLAB with '-v7'") from error
    return graphs_of_arrays(
        path, {name: x for name, x in variables.items() if not name.startswith("__")}
    )


def graphs_of_arrays(path: AnyPath, arrays: Mapping[str, Any]) -> Graphs:
    """The graphs of arrays by name; a warning lists those that are no matrices.

    Parameters
    ----------
    path : Path or zipfile.Path
        For messages.
    arrays : mapping of str
    """
    found: dict[str, list[Any]] = {}
    others = dict(arrays)
    for name, array in arrays.items():
        matrices = _matrices_in(array)
        if matrices:
            found[name] = matrices
            del others[name]
    if not found:
        shapes = [f"{name or 'one'} of shape {np.shape(x)}" for name, x in arrays.items()]
        raise ValueError(
            f"it has no square matrix of numbers, (n, n), (graphs, n, n) or (n, n, graphs), but "
            f"{listed(shapes) or 'nothing'}"
        )
    names_of_size: dict[int, list[str]] = {}
    for name, array in list(others.items()):
        texts = _texts_in(array)
        n = len(texts)
        are_ids = n == len(set(texts)) and any(n == x[0].shape[0] for x in found.values())
        if are_ids and n not in names_of_size:
            names_of_size[n] = texts
            del others[name]
    if others:
        warn(f"{path}: no matrices, and not read: {listed(list(others))}")
    graphs = []
    for name, matrices in found.items():
        for k, matrix in enumerate(matrices):
            position = name if len(found) > 1 else ""
            if len(matrices) > 1:
                position = f"{position} {k}".strip()
            graph = graph_of_matrix(matrix, names_of_size.get(matrix.shape[0]))
            graphs.append((f"#{position}" if position else "", graph))
    return graphs


def graph_of_matrix(matrix: Any, names: list[str] | None) -> nx.Graph:
    """The graph of an adjacency matrix, whose entries are the "weight" of edges.

    Parameters
    ----------
    matrix : ndarray or sparse array of shape (n, n)
    names : list of str, or None
        The ids of the nodes. None: their numbers.
    """
    # SciPy has no half precision.
    is_half = getattr(matrix, "dtype", None) == np.float16
    entries = sp.coo_array(matrix.astype(np.float32) if is_half else matrix)
    entries.sum_duplicates()
    is_edge = (entries.row != entries.col) & (entries.data != 0)
    row = entries.row[is_edge].astype(np.int64)
    column = entries.col[is_edge].astype(np.int64)
    weights = as_doubles(entries.data[is_edge])
    is_symmetric = _is_symmetric(row, column, weights)
    graph = nx.Graph() if is_symmetric else nx.DiGraph()
    graph.graph[HAS_WEIGHTS] = bool((weights != 1).any())
    ids = list(range(entries.shape[0])) if names is None else names
    graph.add_nodes_from(ids)
    is_read = row < column if is_symmetric else np.ones(len(row), dtype=bool)
    triples = zip(*(x[is_read].tolist() for x in (row, column, weights)), strict=True)
    for u, v, weight in triples:
        graph.add_edge(ids[u], ids[v], weight=None if np.isnan(weight) else weight)
    return graph


def _is_symmetric(row: np.ndarray, column: np.ndarray, weights: np.ndarray) -> bool:
    """True if each entry is also there, but for its last digits, with row and column exchanged."""
    n = max(row.max(initial=0), column.max(initial=0)) + 1
    key = row * n + column
    order = np.argsort(key)
    back = np.argsort(column * n + row)
    if not np.array_equal(key[order], (column * n + row)[back]):
        return False
    return np.allclose(weights[order], weights[back], rtol=MATRIX_DIGITS, atol=0, equal_nan=True)


def _matrices_in(array: Any) -> list[Any]:
    """The square matrices of numbers of an array; none, if it holds something else."""
    if array.dtype.kind not in "biuf" or array.ndim not in (2, 3):
        return []
    if array.ndim == 2:
        return [array] if array.shape[0] == array.shape[1] > 1 else []
    first, second, third = array.shape
    of_first = list(array)
    of_last = list(np.moveaxis(array, 2, 0))
    if first == second == third > 1:
        are_symmetric = [all((x == x.T).all() for x in stack) for stack in (of_first, of_last)]
        if are_symmetric[0] == are_symmetric[1]:
            raise ValueError(
                f"an array of shape {array.shape} may be (graphs, n, n) or (n, n, graphs): write "
                "each matrix under a name of its own"
            )
        return of_first if are_symmetric[0] else of_last
    if second == third > 1:
        return of_first
    return of_last if first == second > 1 else []


def _texts_in(array: Any) -> list[str]:
    """The texts of an array, also of a cell array of MATLAB; none, if it holds something else."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "UO":
        return []
    found = []
    for cell in array.ravel().tolist():
        inner = cell.ravel().tolist() if isinstance(cell, np.ndarray) else [cell]
        if len(inner) != 1 or not isinstance(inner[0], str):
            return []
        found.append(inner[0].strip())
    return found


def matrix_in(rows: list[tuple[str, ...]]) -> tuple[list[str], np.ndarray] | None:
    """The names of the nodes and the entries of a table that is an adjacency matrix.

    Names may stand in the first row and the first column, in the first row alone, or nowhere: then
    they are positions. An entry without a number is NaN, where both rows and columns have names.

    Parameters
    ----------
    rows : list of tuple of str
        Those of the table.

    Returns
    -------
    (list of str, ndarray of shape (n, n)), or None
        None for another table, such as an edge list with as many rows as columns.

    Examples
    --------
    >>> matrix_in([("", "a", "b"), ("a", "0", "2"), ("b", "2", "0")])[0]
    ['a', 'b']
    >>> matrix_in([("0", "1", "0"), ("1", "0", "1"), ("0", "1", "0")])[0]
    ['0', '1', '2']
    >>> matrix_in([("1", "2", "0.5"), ("2", "3", "0.5"), ("3", "4", "0.5")])  # edges
    """
    filled = [row for row in rows if any(map(str.strip, row))]
    if not filled or len(filled) > len(filled[0]) + 1:  # most tables, which are long
        return None
    cells = [[cell.strip() for cell in row] for row in filled]
    while not any(row[-1] for row in cells) and len(cells[0]) > 1:
        cells = [row[:-1] for row in cells]  # of a separator at the end of each row
    n_columns = len(cells[0])
    if any(len(row) != n_columns for row in cells):
        return None
    if cells[0][0] == "" and all(row[0].isdigit() for row in cells[1:]):
        first = [row[0] for row in cells[1:]]
        if first != cells[0][1:] and len(set(first)) == len(first):  # an index of rows
            cells = [row[1:] for row in cells]
            n_columns -= 1
    if n_columns == len(cells):
        corner, *names = cells[0]
        are_named = corner.lower() in ("", "nan") or _are_names(names)
        if are_named and names == [row[0] for row in cells[1:]] and len(set(names)) == len(names):
            entries = _numbers([[text or "nan" for text in row[1:]] for row in cells[1:]])
            if entries is not None and len(names) > 1:
                return names, entries
        entries = _numbers(cells)
        if entries is not None and _may_be_weights(entries):
            return [str(k) for k in range(n_columns)], entries
    if n_columns == len(cells) - 1:
        names = cells[0]
        entries = _numbers(cells[1:])
        if entries is not None and _may_be_weights(entries) and _are_names(names):
            ends = {name.lower() for name in names}
            if not any(set(end) <= ends for end in ENDS):
                return names, entries
    return None


def _numbers(cells: list[list[str]]) -> np.ndarray | None:
    """The numbers of cells; None if some are none."""
    if not all(NUMBER.fullmatch(text) for row in cells for text in row):
        return None
    return np.array(cells, dtype=float)


def _are_names(names: list[str]) -> bool:
    """True for different texts, and for numbers that count: others are entries of a matrix."""
    if len(set(names)) < len(names):
        return False
    if not all(map(NUMBER.fullmatch, names)):
        return True
    if not all(map(str.isdigit, names)):
        return False
    numbers = [int(name) for name in names]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _may_be_weights(entries: np.ndarray) -> bool:
    """True if a square of numbers without names is no list of few edges with numbers."""
    n = len(entries)
    diagonal = np.diagonal(entries)
    is_constant = bool((diagonal == diagonal[0]).all())
    is_symmetric = bool(np.array_equal(entries, entries.T, equal_nan=True))
    if n == 3:
        return is_constant and is_symmetric
    return n >= MANY or (n > 3 and (is_constant or is_symmetric))
