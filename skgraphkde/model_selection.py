"""Folds of one-class detection: targets -> indices of normal training graphs and of test graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_consistent_length, column_or_1d


class OneClassKFold(StratifiedKFold):
    """Stratified folds for testing, with the normal graphs of the other folds for training.

    This is the protocol of one-class detection: the detector is fitted on normal graphs only, and
    evaluated on held-out graphs of both kinds.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Whether to shuffle each class before splitting it.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the order if ``shuffle=True``.
    anomaly_class : int, default=-1
        The value of `y` that marks anomalies. With the default, `y` must be 1 and -1. With any
        other value, `y` may contain several classes, each of which is spread over the folds.

    See Also
    --------
    sklearn.model_selection.StratifiedKFold : The folds, before anomalies leave the training part.

    Examples
    --------
    >>> from skgraphkde.datasets import load_mutag
    >>> from skgraphkde.model_selection import OneClassKFold
    >>> graphs, y = load_mutag(return_X_y=True)
    >>> for train, test in OneClassKFold(2).split(graphs, y):
    ...     print(sorted(set(y[train].tolist())), sorted(set(y[test].tolist())))
    [1] [-1, 1]
    [1] [-1, 1]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        anomaly_class: int = -1,
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)
        self.anomaly_class = anomaly_class

    def split(self, X: Any, y: Any, groups: None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Generate the indices of training and test graphs of each fold.

        Parameters
        ----------
        X : sequence of graphs
            Only its length is used.
        y : array-like of shape (n_graphs,)
            Target, see `anomaly_class`.
        groups : None
            Ignored.

        Yields
        ------
        train, test : ndarray of int

        Raises
        ------
        ValueError
            If `y` is None, contains fewer anomalies than folds, or contains values other than 1
            and -1 while `anomaly_class` is -1.
        """
        if y is None:
            raise ValueError("OneClassKFold needs y: 1 for normal graphs, -1 for anomalies")
        y = check_target(y) if self.anomaly_class == -1 else column_or_1d(y)
        n_anomalies = np.count_nonzero(y == self.anomaly_class)
        if not n_anomalies:
            raise ValueError(
                f"y contains no graph of the anomaly class {self.anomaly_class}, only "
                f"{np.unique(y).tolist()}"
            )
        if n_anomalies < self.n_splits:
            raise ValueError(
                f"there are {n_anomalies} anomalies for {self.n_splits} test folds, and each fold "
                f"needs one: use n_splits={n_anomalies}"
                if n_anomalies > 1
                else "there is one anomaly, and each of two or more test folds needs one"
            )
        check_consistent_length(X, y)
        for train, test in super().split(np.zeros(len(y)), y):
            yield train[y[train] != self.anomaly_class], test


def check_target(y: Any) -> np.ndarray:
    """Check that a target is 1 for normal graphs and -1 for anomalies, and flatten it.

    Any other coding is an error: with 0 and 1, a metric could be inverted unnoticed.

    Parameters
    ----------
    y : array-like of shape (n_graphs,)

    Returns
    -------
    ndarray of shape (n_graphs,)

    Raises
    ------
    ValueError
        If `y` contains values other than 1 and -1.

    Examples
    --------
    >>> from skgraphkde.model_selection import check_target
    >>> check_target([1, -1, 1])
    array([ 1, -1,  1])
    """
    y = column_or_1d(y)
    values = set(np.unique(y).tolist())
    if y.dtype == bool or not values <= {1, -1}:
        found = ", ".join(map(repr, sorted(values, key=str)[:5]))
        raise ValueError(
            f"y must be 1 for normal graphs and -1 for anomalies, got {found}. If 1 marks "
            "anomalies, pass np.where(y == 1, -1, 1); if 0 does, np.where(y == 0, -1, 1)"
        )
    return y
