"""Rows of numbers: winsorized, whitened, and divided into folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from skgraphkde.graphs.arrays import offsets

# Numbers farther from the quartiles, in interquartile ranges, are far outliers. Heavy tails, as of
# durations and amounts, are within (the far outliers of Tukey, 1977, begin at 3).
FAR_OUT = 10.0


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
    columns = table.T
    ordered = np.sort(columns, axis=1)  # NaN is last in each kind
    if kinds.any():
        order = np.lexsort((columns, np.broadcast_to(kinds, columns.shape)))
        ordered = np.take_along_axis(columns, order, axis=1)
    n = np.stack([np.bincount(kinds, x) for x in ~np.isnan(columns)], axis=1).astype(np.int64)
    first = offsets(np.bincount(kinds))[:-1, np.newaxis]
    quartiles = []
    for place in ((n - 1) // 4, (3 * (n - 1) + 3) // 4):
        place = np.minimum(first + place * (n > 0), len(table) - 1)
        quartiles.append(np.take_along_axis(ordered, place.T, axis=1).T)
    low, high = quartiles
    reach = np.where(high > low, FAR_OUT * (high - low), np.inf)
    return np.clip(table, (low - reach)[kinds], (high + reach)[kinds])


class Whitening:
    """Linear map of rows, after which the columns are uncorrelated: x -> (C + r I)^(-1/2) x.

    C = X'X / n is the covariance of the rows X, and r the ridge. C has at most n eigenvalues above
    0, so that with their eigenvectors V as columns, of which there are few for wide rows::

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
            eigenvalues, vectors = eigenvalues[kept], vectors[:, kept]
            self.directions = rows.T @ (vectors / np.sqrt(n * eigenvalues))
        self.along_others = 1 / np.sqrt(ridge)
        self.along = 1 / np.sqrt(eigenvalues.clip(min=0) + ridge)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Map rows, shape (n_rows, n_columns)."""
        changes = rows @ self.directions * (self.along - self.along_others)
        return self.along_others * rows + changes @ self.directions.T

    @property
    def norm(self) -> float:
        """The factor by which the length of a row grows at most."""
        is_complete = len(self.along) == len(self.directions) > 0
        return float(self.along.max() if is_complete else self.along_others)


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


def by_fold(
    own: np.ndarray, left_out: Callable[[], np.ndarray]
) -> Iterator[tuple[int, np.ndarray]]:
    """Group rows by the fold that is left out for them.

    Parameters
    ----------
    own : ndarray of shape (n_rows,), int
        Reference that equals the graph of each row; -1 for none.
    left_out : callable
        Function that returns the fold left out for each reference; called only if a row has one.

    Yields
    ------
    fold : int
        -1 for rows without a reference, for which nothing is left out.
    rows : ndarray of shape (n_rows,), bool
    """
    fold = np.full(len(own), -1)
    is_reference = own >= 0
    if is_reference.any():
        fold[is_reference] = left_out()[own[is_reference]]
    for i in np.unique(fold).tolist():
        yield i, fold == i
