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
    return np.column_stack([_winsorized(column, kinds) for column in table.T])


def _winsorized(column: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    given = np.flatnonzero(~np.isnan(column))
    n = np.bincount(kinds[given], minlength=kinds.max() + 1)
    first = offsets(n)[:-1]
    # With a last value, which those kinds read that have none.
    ordered = np.append(column[given[np.lexsort((column[given], kinds[given]))]], 0.0)
    low = ordered[first + (n - 1) // 4 * (n > 0)]
    high = ordered[first + (3 * (n - 1) + 3) // 4 * (n > 0)]
    reach = np.where(high > low, FAR_OUT * (high - low), np.inf)
    return np.clip(column, (low - reach)[kinds], (high + reach)[kinds])


def whitening(covariance: np.ndarray, ridge: float) -> np.ndarray:
    """Matrix W such that the rows of ``X @ W`` are uncorrelated, for X with this covariance.

    Parameters
    ----------
    covariance : ndarray of shape (n_columns, n_columns)
    ridge : float
        Variance that is added to each column.

    Returns
    -------
    ndarray of shape (n_columns, n_columns)
    """
    covariance = covariance + ridge * np.eye(len(covariance))
    return np.ascontiguousarray(np.linalg.inv(np.linalg.cholesky(covariance)).T)


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
