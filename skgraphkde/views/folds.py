"""Folds: references -> parts, each of which is scored by what is learned of the others.

A view that learns means and covariances follows its references: measured by them, a reference is
nearer to the others than a new graph is, the more so the fewer references and the more numbers
there are. Left out of all that is learned, it is measured as a new graph.
"""

from __future__ import annotations

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
