"""Color refinement: nodes with equal colors look alike up to some radius.

It takes a color per node, and returns the colors after each round, in which a node gets a new one
by its own and by those of its neighbors (Weisfeiler and Leman, 1968). Colors are hashes of 64 bits,
the same in every process. Nodes that look the same have equal colors in any batch; two others have
equal colors with a probability of 2^-64, so that of n distinct colors two are equal with one of
about n^2 / 2^65: 3e-6 for ten million.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from skgraphkde._utils import elementwise

# The increment of SplitMix64, without which the hash of 0 would be 0.
INCREMENT = np.uint64(0x9E3779B97F4A7C15)
# Trailing bits of a float that are ignored: sums in another order differ by up to 2^-40.
ROUNDING_BITS = 12
# Standardized numbers that differ by less than about this are equal.
UNIT = 1e-6
# Numbers that are hashed at once: 8 MiB, a cache full.
NUMBERS = 2**20


class Messages(NamedTuple):
    """Arcs along which colors pass, by the node that they reach."""

    indices: np.ndarray  # (n_arcs,): the nodes whose colors pass
    indptr: np.ndarray  # (n_nodes + 1,)
    keys: np.ndarray  # (n_arcs,) or (1,), uint64: what kind of arc it is, never 0


def refined(
    colors: np.ndarray, messages: Sequence[Messages], n_rounds: int
) -> Iterator[np.ndarray]:
    """Refine colors.

    Parameters
    ----------
    colors : ndarray of shape (n_nodes,), uint64
    messages : sequence of Messages
        For each direction in which colors pass, see :func:`skgraphkde.graphs.relations.messages`.
    n_rounds : int

    Yields
    ------
    ndarray of shape (n_nodes,), uint64
        The colors after 0, 1, ..., `n_rounds` rounds.
    """
    yield colors
    for _ in range(n_rounds):
        new = hash64(colors)
        for indices, indptr, keys in messages:
            if len(keys) == 1:  # a node tells all its neighbors the same
                told = hash64(colors + keys)[indices]
            else:
                told = hash64(colors[indices] + keys)
            totals = np.zeros(len(told) + 1, dtype=np.uint64)
            np.cumsum(told, out=totals[1:])  # modulo 2^64, as differences are
            new += totals[indptr[1:]] - totals[indptr[:-1]]
        colors = hash64(new)
        yield colors


def hash_rows(columns: np.ndarray) -> np.ndarray:
    """A color for each row of a matrix of numbers, equal for rows that are equal up to rounding.

    Parameters
    ----------
    columns : ndarray of shape (n_nodes, n_columns)

    Returns
    -------
    ndarray of shape (n_nodes,), uint64
    """
    salts = hash64(np.arange(columns.shape[1], dtype=np.uint64))  # the same number, elsewhere
    totals = np.empty(len(columns), dtype=np.uint64)
    height = max(1, NUMBERS // max(columns.shape[1], 1))
    for first in range(0, len(columns), height):
        rows = slice(first, first + height)
        totals[rows] = hash64(quantize(columns[rows]) + salts).sum(axis=1, dtype=np.uint64)
    return hash64(totals)  # modulo 2^64


def hash_points(points: np.ndarray) -> np.ndarray:
    """A color for each row of a matrix of standardized numbers.

    Numbers are compared in one unit: their last digits depend on the order of the graphs whose
    means they were standardized by, and numbers near 0 have no others.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_columns)

    Returns
    -------
    ndarray of shape (n_points,), uint64
    """
    return hash_rows(np.rint(points / UNIT))


def quantize(values: np.ndarray, n_bits: int = ROUNDING_BITS) -> np.ndarray:
    """Floats as integers, equal up to rounding to all but `n_bits` bits."""
    values = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # -0 is 0
    half = np.uint64(1 << (n_bits - 1))
    return (values.view(np.uint64) + half) >> np.uint64(n_bits)


@elementwise("uint64(uint64)")
def hash64(x: np.ndarray) -> np.ndarray:
    """Hashes by SplitMix64 (Steele et al., OOPSLA 2014): a bijection, the same everywhere."""
    x = x + INCREMENT
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def factorize(colors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number distinct colors in the order in which they first come.

    Returns
    -------
    first : ndarray of int
        Where each distinct color first is, ascending.
    number : ndarray of shape (len(colors),), int
        The number of each color.
    """
    number, distinct = pd.factorize(colors)
    first = np.empty(len(distinct), dtype=np.intp)
    first[number[::-1]] = np.arange(len(colors) - 1, -1, -1)  # the last one that is written stays
    return first, number
