"""Blocks of consecutive items that fit into scikit-learn's `working_memory`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn import get_config
from tqdm.auto import tqdm

MOST_BYTES = 2**62  # more than any machine has


def working_memory() -> int:
    """Bytes that scikit-learn's `working_memory` allows, at least 1; finite if it is infinite."""
    return int(min(max(get_config()["working_memory"] * 2**20, 1), MOST_BYTES))


def memory_limit() -> float:
    """Limit in bytes on the temporary arrays of one block: half of `working_memory`."""
    return working_memory() / 2


def blocks(costs: np.ndarray) -> list[slice]:
    """Split items into consecutive blocks.

    Parameters
    ----------
    costs : ndarray of shape (n_items,)
        Bytes that each item takes.

    Returns
    -------
    list of slice
        Each block takes at most :func:`memory_limit` bytes, or contains a single item.
    """
    cuts = np.flatnonzero(np.diff(np.cumsum(costs) // memory_limit())) + 1
    return [slice(a, b) for a, b in zip([0, *cuts], [*cuts, len(costs)], strict=True)]


def progress(parts: Sequence[Any], name: str, verbose: int) -> Iterable[Any]:
    """Iterate over blocks with a progress bar, if there are several."""
    return tqdm(parts, desc=name, leave=None) if verbose and len(parts) > 1 else parts
