"""Rows of numbers: winsorized, whitened, and divided into folds."""

from __future__ import annotations

import math

import numpy as np

# Numbers farther from the quartiles, in interquartile ranges, are far outliers. Heavy tails, as of
# durations and amounts, are within (the far outliers of Tukey, 1977, begin at 3).
FAR_OUT = 10.0
# Of more products in covariances, a fit takes minutes.
MOST_PRODUCTS = 20_000_000_000


def winsorized(table: np.ndarray, kinds: np.ndarray | None = None) -> np.ndarray:
    """Replace far outliers of each column by the farthest number that is none.

    A mean and a scale learned of the result do not follow a few extreme references, which would
    otherwise make the others look alike. A column of which one half is a single number has no
    outliers.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        NaN is ignored, and kept.
    kinds : ndarray of shape (n_rows,), int, default=None
        Groups of rows, each with its own quartiles; from 0. None is one group.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> winsorized(np.array([[1.0], [2.0], [3.0], [4.0], [90.0]])).ravel()
    array([ 1.,  2.,  3.,  4., 24.])
    """
    if not len(table):
        return table
    if kinds is None:
        kinds = np.zeros(len(table), dtype=np.int64)
    order = np.argsort(kinds, kind="stable")
    found = np.empty_like(table)
    column = np.arange(table.shape[1])
    for rows in np.split(order, np.flatnonzero(np.diff(kinds[order])) + 1):
        values = table[rows]
        ordered = np.sort(np.ascontiguousarray(values.T), axis=1)  # NaN is last
        n = (~np.isnan(ordered)).sum(axis=1)
        low = ordered[column, (n - 1) // 4]
        high = ordered[column, 3 * n // 4]
        reach = np.where(high > low, FAR_OUT * (high - low), np.inf)
        found[rows] = np.clip(values, low - reach, high + reach)
    return found


def check_size(what: str, shape: tuple[int, ...], n_times: int, view: str) -> None:
    """Raise a ValueError if whitening would take long: its time grows with pairs of columns.

    Parameters
    ----------
    what : str
        "node", "edge" or "graph".
    shape : (int, int)
        Rows and columns of the table.
    n_times : int
        How many such tables there are: one, and one for each category of graphs.
    view : str
        The view that whitens them.
    """
    n_products = n_times * math.prod(shape) * min(shape)
    if n_products > MOST_PRODUCTS:
        raise ValueError(
            f"{shape[1]:,} {view} of each of {shape[0]:,} {what}s"
            + (f", within each of {n_times - 1:,} categories" if n_times > 1 else "")
            + f": too many to compare ({n_products:,} products in covariances, at most "
            f"{MOST_PRODUCTS:,}): name the categories and numbers that matter in "
            "GraphSchema(...), set a smaller max_references, or leave "
            f"{view!r} out of views"
        )


class Whitening:
    """Linear map of rows, after which the columns are uncorrelated.

    C = X'X / n is the covariance of the rows X, and r the ridge. With the eigenvalues L of C and
    its eigenvectors V as columns, a row x becomes x V (L + r)^(-1/2). If there are more columns
    than rows, C has at most n eigenvalues above 0, and x becomes x (C + r I)^(-1/2), which is the
    same up to a rotation::

        (C + r I)^(-1/2) = I / sqrt(r) + V (1 / sqrt(L + r) - 1 / sqrt(r)) V'

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Rows with a mean of 0.
    ridge : float
        Variance that is added to each column.
    """

    def __init__(self, rows: np.ndarray, ridge: float) -> None:
        n, n_columns = rows.shape
        if n_columns <= n:
            eigenvalues, self.directions = np.linalg.eigh(rows.T @ rows / n)
        else:
            eigenvalues, vectors = np.linalg.eigh(rows @ rows.T / max(n, 1))
            kept = eigenvalues > 1e-12 * eigenvalues.max(initial=0.0)
            eigenvalues = eigenvalues[kept]
            vectors = vectors[:, kept]
            self.directions = rows.T @ (vectors / np.sqrt(n * eigenvalues))
        self.along_others = 1 / np.sqrt(ridge)
        self.along = 1 / np.sqrt(eigenvalues.clip(min=0) + ridge)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Map rows, shape (n_rows, n_columns)."""
        if self.is_complete:
            return rows @ (self.directions * self.along)
        changes = rows @ self.directions * (self.along - self.along_others)
        return self.along_others * rows + changes @ self.directions.T

    @property
    def is_complete(self) -> bool:
        """True if the directions are all that there are."""
        return len(self.along) == len(self.directions) > 0

    @property
    def norm(self) -> float:
        """The factor by which the length of a row grows at most."""
        return float(self.along.max() if self.is_complete else self.along_others)


# Of so many references or fewer, each is left out alone.
MOST_FOLDS = 20
# Decimals of standardized numbers that tell references apart.
DECIMALS = 6


def folds(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divide references into folds by their content, whatever their order.

    Neighbors in the order of the sums of squares are in different folds, so that neither the last
    digits of numbers nor the order of the columns, such as that of the names of categories, decide
    on the folds. Of references with equal rows, in folds one after the other, the fold of the first
    is left out for each: all of them are scored alike, as if one of them were left out.

    Parameters
    ----------
    rows : ndarray of shape (n_references, n_columns)
        Standardized numbers of the references.

    Returns
    -------
    fold : ndarray of shape (n_references,), int
        The fold of each reference.
    left_out : ndarray of shape (n_references,), int
        The fold that is left out when a reference is scored.
    """
    keys = np.column_stack([(rows**2).sum(axis=1), rows]).round(DECIMALS)
    order = np.lexsort(keys.T[::-1])
    differs = np.abs(np.diff(keys[order], axis=0)) > 2 * 10.0**-DECIMALS
    first = np.append(True, differs.any(axis=1))  # of the references with equal rows
    in_order = np.arange(len(rows)) % MOST_FOLDS
    fold, left_out = np.empty((2, len(rows)), dtype=np.int64)
    fold[order] = in_order
    left_out[order] = in_order[first][np.cumsum(first) - 1]
    return fold, left_out
