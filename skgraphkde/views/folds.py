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


def folds(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divide references into folds by their content, whatever their order.

    Of references with equal keys, in folds one after the other, the fold of the first is left out
    for each: all of them are scored alike, as if one of them were left out.

    Parameters
    ----------
    keys : ndarray of shape (n_references,), uint64
        Hashes of the references.

    Returns
    -------
    fold : ndarray of shape (n_references,), int
        The fold of each reference.
    left_out : ndarray of shape (n_references,), int
        The fold that is left out when a reference is scored.
    """
    fold = np.empty(len(keys), dtype=np.int64)
    fold[np.argsort(keys, kind="stable")] = np.arange(len(keys)) % MOST_FOLDS
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    return fold, fold[first[kind]]


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
