"""Helpers for things laid end to end, and for sparse matrices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

LARGEST = 1e100  # larger numbers overflow when they are squared and added


def offsets(counts: Any) -> np.ndarray:
    """The start of each item laid end to end: 0, counts[0], counts[0] + counts[1], ..."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def ranges(start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The integers start[0], ..., stop[0] - 1, start[1], ... in one flat array."""
    counts = (stop - start).astype(np.int64)
    position = np.arange(counts.sum()) - np.repeat(offsets(counts)[:-1], counts)
    return np.repeat(start, counts) + position


def scaled(matrix: sp.csr_array, scale: np.ndarray) -> sp.csr_array:
    """S A S with the diagonal matrix S of `scale`, without the cost of two sparse products."""
    rows = np.repeat(scale, np.diff(matrix.indptr))
    data = rows * matrix.data * scale[matrix.indices]
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def frozen(array: np.ndarray) -> np.ndarray:
    """A view that cannot be written to; the caller's own array stays writable."""
    view = array.view()
    view.flags.writeable = False
    return view


def sorted_labels(labels: set[Hashable]) -> tuple[Hashable, ...]:
    """Sort labels of any types, independently of the order of the graphs."""
    return tuple(sorted(labels, key=_label_order))


def _label_order(label: Any) -> tuple[str, Any]:
    is_number = isinstance(label, int | float | np.integer | np.floating)
    is_number = is_number and not isinstance(label, np.timedelta64)  # an integer to NumPy
    if is_number and abs(label) < 1e300:  # larger integers overflow a float
        return "", float(label)
    return type(label).__name__, _text_of(label)


def _text_of(label: Any) -> str:
    """The label in words, the same in every process: sets have an order of each their own."""
    if isinstance(label, frozenset):
        return repr(sorted(map(_text_of, label)))
    if type(label) is tuple:
        return repr(tuple(map(_text_of, label)))
    return repr(label)


def columns_by_name(
    numbers: np.ndarray | None, widths: Iterable[tuple[str, int]]
) -> dict[str, np.ndarray]:
    """The columns of each attribute, shape (n, width), which stand side by side in `numbers`."""
    columns, first = {}, 0
    for name, width in widths:
        columns[name] = np.asarray(numbers)[:, first : first + width]
        first += width
    return columns


def used_codes(codes: np.ndarray | None, names: tuple[Hashable, ...]) -> tuple:
    """Codes in a vocabulary without the names that none of them has, and these names."""
    if codes is None:
        return None, ()
    used, codes = np.unique(codes, return_inverse=True)
    return codes, tuple(names[code] for code in used)


def merged_codes(codes: list[np.ndarray], names: list[tuple[Hashable, ...]]) -> tuple:
    """One vocabulary for codes in several: the codes, end to end, and the sorted names."""
    vocabulary = sorted_labels({name for of_part in names for name in of_part})
    code = {name: i for i, name in enumerate(vocabulary)}
    parts = [
        np.array([code[name] for name in of_part], dtype=np.int64)[part]
        for part, of_part in zip(codes, names, strict=True)
    ]
    return np.concatenate(parts), vocabulary
