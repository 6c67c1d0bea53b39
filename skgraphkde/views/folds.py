"""Folds: references -> parts, each of which is scored by what is learned of the others.

A view that learns means and covariances follows its references: measured by them, a reference is
nearer to the others than a new graph is, the more so the fewer references and the more numbers
there are. Left out of all that is learned, it is measured as a new graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

# Of so many references or fewer, each is left out alone.
MOST_FOLDS = 20


def folds(keys: np.ndarray) -> np.ndarray:
    """Divide references into folds by their content, whatever their order.

    Parameters
    ----------
    keys : ndarray of shape (n_references,), uint64
        Hashes of the references.

    Returns
    -------
    ndarray of shape (n_references,), int
        The fold of each reference.
    """
    fold = np.empty(len(keys), dtype=np.int64)
    fold[np.argsort(keys, kind="stable")] = np.arange(len(keys)) % MOST_FOLDS
    return fold


def by_fold(own: np.ndarray, fold_of: Callable[[], np.ndarray]) -> Iterator[tuple[int, np.ndarray]]:
    """Group rows by the fold that is left out for them.

    Parameters
    ----------
    own : ndarray of shape (n_rows,), int
        Reference that equals the graph of each row; -1 for none.
    fold_of : callable
        Function that returns the result of :func:`folds`; called only if a row has a reference.

    Yields
    ------
    fold : int
        -1 for rows without a reference, for which nothing is left out.
    rows : ndarray of shape (n_rows,), bool
    """
    fold = np.full(len(own), -1)
    is_reference = own >= 0
    if is_reference.any():
        fold[is_reference] = fold_of()[own[is_reference]]
    for i in np.unique(fold).tolist():
        yield i, fold == i
