"""Helpers for things laid end to end, and for sparse matrices."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

LARGEST = 1e100  # larger numbers overflow when they are squared and added
ROUNDING = 1e-13  # differences of numbers that are smaller, as a share of these, are none


def offsets(counts: Any) -> np.ndarray:
    """The start of each item laid end to end: 0, counts[0], counts[0] + counts[1], ..."""
    return np.append(0, np.cumsum(counts, dtype=np.int64))


def ranges(start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The integers start[0], ..., stop[0] - 1, start[1], ... in one flat array.

    Parameters
    ----------
    start, stop : ndarray of int, shape (n,)
    """
    counts = stop - start
    first = offsets(counts)
    return np.arange(first[-1]) + (start - first[:-1]).repeat(counts)


def row_keys(*columns: np.ndarray) -> np.ndarray:
    """An integer for each row of columns, by which rows are sorted as by the columns, in order.

    Parameters
    ----------
    *columns : ndarray of shape (n,), int
        Without negative numbers.
    """
    key = columns[0].astype(np.int64)
    for column in columns[1:]:
        size = int(column.max(initial=0)) + 1
        if int(key.max(initial=0)) * size > 2**62:
            key = np.unique(key, return_inverse=True)[1]
        key = key * size + column
    return key


def group_rows(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Groups of equal rows, in the order of :func:`row_keys`.

    Parameters
    ----------
    *columns : ndarray of shape (n,), int

    Returns
    -------
    first : ndarray of int
        The first row of each group.
    group : ndarray of shape (n,), int
        The group of each row.
    """
    return np.unique(row_keys(*columns), return_index=True, return_inverse=True)[1:]


def row_codes(n_rows: int, *tables: np.ndarray | None) -> np.ndarray:
    """A number for each row of tables side by side, equal for equal rows.

    Parameters
    ----------
    n_rows : int
    *tables : ndarray of shape (n_rows,) or (n_rows, n_columns), or None
    """
    columns = [table for table in tables if table is not None]
    if not columns:
        return np.zeros(n_rows, dtype=np.int64)
    rows = np.nan_to_num(np.column_stack(columns), nan=np.inf)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def find_in(ordered: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The position of each value among distinct ones in ascending order; -1 for others.

    Parameters
    ----------
    ordered : ndarray of shape (n,)
    values : ndarray
    """
    if not len(ordered):
        return np.full(np.shape(values), -1)
    position = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.where(ordered[position] == values, position, -1)


def opposites(u: np.ndarray, v: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The index of the arc from v to u for each arc from u to v; -1 if there is none.

    Parameters
    ----------
    u, v : ndarray of shape (n_arcs,), int
    codes : ndarray of shape (n_arcs,), int
        Numbers that differ for arcs with different data. The arcs are sorted by u, v and codes, and
        no two agree in all three.
    """
    key, back = arc_keys(u, v, codes)
    return find_in(key, back)


def arc_keys(u: np.ndarray, v: np.ndarray, *codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The :func:`row_keys` of arcs from u to v, and those of arcs from v to u with equal codes.

    Parameters
    ----------
    u, v, *codes : ndarray of shape (n_arcs,), int
    """
    twice = (np.tile(x, 2) for x in codes)
    both = row_keys(np.concatenate([u, v]), np.concatenate([v, u]), *twice)
    return both[: len(u)], both[len(u) :]


def scaled(matrix: sp.csr_array, scale: np.ndarray) -> sp.csr_array:
    """S A S with the diagonal matrix S of `scale`, without the cost of two sparse products.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
    scale : ndarray of shape (n,)
    """
    rows = scale.repeat(np.diff(matrix.indptr))
    return with_data(matrix, rows * matrix.data * scale[matrix.indices])


def take_blocks(
    matrix: sp.csr_array, start: np.ndarray, stop: np.ndarray
) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Some blocks of a block-diagonal matrix, in any order.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
    start, stop : ndarray of shape (n_blocks,), int
        The first row of each block, and the one after its last.

    Returns
    -------
    blocks : csr_array
        Block-diagonal.
    rows, entries : ndarray of int
        Where its rows, and its entries, were in `matrix`.
    """
    indptr = matrix.indptr
    rows = ranges(start, stop)
    entries = ranges(indptr[start], indptr[stop])
    shift = (offsets(stop - start)[:-1] - start).repeat(indptr[stop] - indptr[start])
    columns = matrix.indices[entries] + shift
    n = len(rows)
    csr = matrix.data[entries], columns, offsets(np.diff(indptr)[rows])
    return sp.csr_array(csr, shape=(n, n)), rows, entries


def full_blocks(matrix: sp.csr_array, start: np.ndarray, n: int) -> np.ndarray:
    """Some blocks of one size of a block-diagonal matrix, (n_blocks, n, n); entries are summed.

    Parameters
    ----------
    matrix : csr_array
    start : ndarray of shape (n_blocks,), int
        The first row of each block.
    n : int
        Number of its rows.
    """
    entries = take_blocks(matrix, start, start + n)[0].tocoo()
    place = entries.row.astype(np.int64) * n + entries.col % n
    return np.bincount(place, entries.data, len(start) * n**2).reshape(-1, n, n)


def with_data(matrix: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    """A matrix with other entries in the same places; SciPy's constructor would check them."""
    other = copy.copy(matrix)
    other.data = data
    return other


def frozen(array: Any, dtype: Any = None) -> Any:
    """A view that cannot be written to, or None; the caller's own array stays writable."""
    if array is None:
        return None
    view = np.asarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def held_by(objects: Iterable[Any]) -> Iterator[Any]:
    """Generate some objects and all that they hold, each once; not what arrays hold."""
    found = list(objects)
    seen = set[int]()
    while found:
        x = found.pop()
        if id(x) in seen or isinstance(x, type):
            continue
        seen.add(id(x))
        yield x
        held = x if isinstance(x, dict) else getattr(x, "__dict__", {})
        found += x if isinstance(x, list | tuple) else held.values()


def freeze(objects: Iterable[Any]) -> None:
    """Make all arrays read-only that some objects hold."""
    for x in held_by(objects):
        if isinstance(x, np.ndarray):
            x.flags.writeable = False


def sorted_labels(labels: set[Hashable]) -> tuple[Hashable, ...]:
    """Sort labels of any types, independently of the order of the graphs."""
    return tuple(sorted(labels, key=_label_order))


def _label_order(label: Any) -> tuple[str, Any]:
    is_time = isinstance(label, np.timedelta64)  # an integer to NumPy
    is_number = isinstance(label, int | float | np.integer | np.floating) and not is_time
    if is_number:
        size = abs(label) if isinstance(label, int) else abs(float(label))
        if size < 1e300:  # larger integers overflow a float
            return "", float(label)
    return type(label).__name__, _text_of(label)


def _text_of(label: Any) -> str:
    """The label in words, the same in every process: sets have an order of each their own."""
    if isinstance(label, frozenset):
        return repr(sorted(map(_text_of, label)))
    return repr(tuple(map(_text_of, label)) if type(label) is tuple else label)


def columns_by_name(
    numbers: np.ndarray | None, widths: Iterable[tuple[str, int]]
) -> dict[str, np.ndarray]:
    """The columns of each attribute, shape (n, width), which stand side by side in `numbers`.

    Parameters
    ----------
    numbers : ndarray of shape (n, n_columns) or None
    widths : iterable of (str, int)
        The names of the attributes, each with its number of columns.
    """
    columns = {}
    first = 0
    for name, width in widths:
        columns[name] = np.asarray(numbers)[:, first : first + width]
        first += width
    return columns


def codes_in(
    values: Iterable[Hashable], vocabulary: Iterable[Hashable], unknown: int = -1
) -> np.ndarray:
    """The position of each value in a vocabulary, shape (n_values,).

    Parameters
    ----------
    values, vocabulary : iterable of hashable
    unknown : int, default=-1
        The code of all other values.
    """
    code = {name: i for i, name in enumerate(vocabulary)}
    return np.array([code.get(value, unknown) for value in values], dtype=np.int64)
