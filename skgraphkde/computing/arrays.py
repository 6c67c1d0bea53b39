"""Arrays: the few operations on points that differ between NumPy arrays and torch tensors.

Points are NumPy arrays, or torch tensors where an encoder is trained or a GPU is used. These
functions dispatch on the type of their first argument; `learned/tensors.py` registers those for
tensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp


@singledispatch
def to_numpy(x: Any) -> np.ndarray:
    """Convert to a NumPy array, without gradients."""
    return np.asarray(x)


@singledispatch
def like(x: Any, values: np.ndarray) -> Any:
    """Convert a NumPy array to the type of `x`, with its precision and on its device."""
    return np.asarray(values, x.dtype)


@singledispatch
def concatenated(first: Any, *others: Any) -> Any:
    """Concatenate arrays along the first axis."""
    return np.concatenate([first, *others])


@singledispatch
def filled(first: Any, others: Iterator, n_rows: int) -> Any:
    """Concatenate arrays that come one by one, without a second copy of all.

    Parameters
    ----------
    first : ndarray or Tensor
    others : iterator of such
    n_rows : int
        Number of rows of all together.
    """
    out, row = np.empty((n_rows, *first.shape[1:]), first.dtype), 0
    for part in chain([first], others):
        out[row : row + len(part)] = part
        row += len(part)
    return out


@singledispatch
def maximum(x: Any, y: Any) -> Any:
    """Elementwise maximum of two arrays."""
    return np.maximum(x, y)


@singledispatch
def weighted_sums(points: Any, weights: sp.csr_array) -> Any:
    """Product of a sparse matrix with points, ``weights @ points``.

    Parameters
    ----------
    points : ndarray or Tensor of shape (n_points, d)
    weights : csr_array of shape (m, n_points)

    Returns
    -------
    ndarray or Tensor of shape (m, d)
    """
    return weights.astype(points.dtype, copy=False) @ points
