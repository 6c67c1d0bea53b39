"""Verdicts of people on graphs, as `fit` and `learn` take them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from skgraphkde._messages import shown
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.copies import kinds_of
from skgraphkde.core.graphs.problems import called
from skgraphkde.reading.formats.common import is_missing

ANOMALY = -1
UNKNOWN = 0
NORMAL = 1
# Verdicts in tables and on pages.
WORDS = {"anomaly": ANOMALY, "normal": NORMAL, "": UNKNOWN}


def check_coding(verdicts: Any) -> None:
    """Raise a ValueError if verdicts are 0 and 1 only, as others write normal and anomaly.

    Parameters
    ----------
    verdicts : array-like, or None
        As people gave them.
    """
    if not isinstance(verdicts, Sequence | np.ndarray) and not hasattr(verdicts, "to_numpy"):
        return
    given = {value for value in verdicts if isinstance(value, Real) and not isinstance(value, bool)}
    if given == {0, 1} and not any(isinstance(value, str) for value in verdicts):
        raise ValueError(
            "verdicts are 0 and 1 only, which here are 'no verdict' and 'normal', and elsewhere "
            "normal and anomaly: write np.where(labels == 1, -1, 1) if 1 is an anomaly, or "
            "'normal' and '' if 1 is normal"
        )


def checked_verdicts(verdicts: Any, graphs: GraphBatch) -> np.ndarray:
    """Check verdicts, and extend those on anomalies to their copies.

    Parameters
    ----------
    verdicts : array-like of shape (n_graphs,), or None
        -1 or "anomaly", 1 or "normal", 0, None or NaN for no verdict. None: there are none.
    graphs : GraphBatch

    Returns
    -------
    ndarray of shape (n_graphs,), int

    Raises
    ------
    ValueError
        If their number is wrong, a verdict is none of these, or equal graphs have two verdicts.
    """
    if verdicts is None:
        return np.zeros(len(graphs), dtype=np.int64)
    is_list = hasattr(verdicts, "__len__") and not isinstance(verdicts, str | dict | set)
    values = list(verdicts) if is_list else []
    if not is_list or any(np.ndim(value) for value in values):
        raise ValueError(
            f"verdicts must be a list with one value for each of {len(graphs)} graphs, got "
            f"{shown(repr(verdicts))}"
        )
    if len(values) != len(graphs):
        raise ValueError(
            f"verdicts must have one value for each of {len(graphs)} graphs, and have {len(values)}"
        )
    found = np.zeros(len(graphs), dtype=np.int64)
    for graph, value in enumerate(values):
        known = WORDS.get(value, value) if isinstance(value, str) else value
        if is_missing(value):
            known = UNKNOWN
        if isinstance(known, bool | np.bool_) or known not in (ANOMALY, UNKNOWN, NORMAL):
            value = value.item() if isinstance(value, np.generic) else value
            raise ValueError(
                "a verdict is 'anomaly' or -1, 'normal' or 1, or 0 for none, and that of "
                f"{called(graphs.name(graph))} is {value!r}"
            )
        found[graph] = known
    (kinds,) = kinds_of(graphs)
    of_kind: dict[int, int] = {}
    for graph in np.flatnonzero(found).tolist():
        first = of_kind.setdefault(int(kinds[graph]), graph)
        if found[first] != found[graph]:
            raise ValueError(
                f"{called(graphs.name(first))} and {called(graphs.name(graph))} are equal, and one "
                "verdict is 'anomaly', the other 'normal': keep one of them"
            )
    anomalies = np.unique(kinds[found == ANOMALY])
    return np.where(np.isin(kinds, anomalies), ANOMALY, found)
