"""Blocks of consecutive items that fit into scikit-learn's `working_memory`."""

from __future__ import annotations

import numpy as np
from sklearn import get_config


def memory_limit() -> float:
    """Bytes that the temporary arrays of one block may take: half of `working_memory`."""
    return get_config()["working_memory"] * 2**20 / 2


def blocks(costs: np.ndarray) -> list[slice]:
    """Split items into consecutive blocks.

    Parameters
    ----------
    costs : ndarray of shape (n_items,)
        Bytes that each item takes.

    Returns
    -------
    list of slice
        Each within :func:`memory_limit` where that is possible, and with at least one item.
    """
    cuts = np.flatnonzero(np.diff(np.cumsum(costs) // memory_limit())) + 1
    return [slice(a, b) for a, b in zip([0, *cuts], [*cuts, len(costs)], strict=True)]
