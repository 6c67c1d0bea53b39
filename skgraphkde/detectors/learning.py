"""Learning from verdicts: a fitted model and graphs with verdicts -> a model with other weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skgraphkde.calibration import finite
from skgraphkde.detectors.model import GraphModel
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import shown
from skgraphkde.views.confirmed import Confirmed
from skgraphkde.views.p_values import LogPValues, view_weights
from skgraphkde.views.statistics import Statistics
from skgraphkde.views.verdicts import learn_weights

# Verdicts in tables and on pages.
WORDS = {"anomaly": -1, "normal": 1}


def checked_verdicts(verdicts: Any, n_graphs: int) -> np.ndarray:
    """Check that there is a verdict for each graph.

    Parameters
    ----------
    verdicts : array-like of shape (n_graphs,)
        -1 or "anomaly", 1 or "normal".
    n_graphs : int

    Returns
    -------
    ndarray of shape (n_graphs,), int

    Raises
    ------
    ValueError
        If their number is wrong, or a verdict is none of these.
    """
    values = verdicts.tolist() if hasattr(verdicts, "tolist") else list(verdicts)
    if len(values) != n_graphs:
        raise ValueError(
            f"verdicts must have one value for each of {n_graphs} graphs, and have {len(values)}"
        )
    items = [WORDS.get(x, x) if isinstance(x, str) else x for x in values]
    for graph, value in enumerate(items):
        if isinstance(value, bool) or value not in (-1, 1):
            raise ValueError(
                "a verdict is 'anomaly' or -1, 'normal' or 1, and that of graph "
                f"{graph} is {value!r}"
            )
    return np.array(items, dtype=np.int64)


def check_consistent(kinds: np.ndarray, verdicts: np.ndarray, names: Sequence[str]) -> None:
    """Raise a ValueError if equal graphs have different verdicts.

    Parameters
    ----------
    kinds : ndarray of shape (n_graphs,), int
        The same number for equal graphs, see :func:`~skgraphkde.calibration.kinds_of`.
    verdicts : ndarray of shape (n_graphs,), int
    names : sequence of str
        Names of the graphs, by which the error calls them; empty if they have none.
    """
    _, first, inverse = np.unique(kinds, return_index=True, return_inverse=True)
    wrong = np.flatnonzero(verdicts != verdicts[first[inverse]])
    if len(wrong):
        pair = [int(first[inverse[wrong[0]]]), int(wrong[0])]
        one, other = (repr(shown(names[i])) if names and names[i] else i for i in pair)
        raise ValueError(
            f"graphs {one} and {other} are equal, and one verdict is "
            "'anomaly', the other 'normal': keep one of them"
        )


def latest(kinds: np.ndarray) -> np.ndarray:
    """Positions of the last graph of each kind, ascending."""
    _, from_the_end = np.unique(kinds[::-1], return_index=True)
    return np.sort(len(kinds) - 1 - from_the_end)


def learned(
    model: GraphModel,
    graphs: GraphBatch,
    verdicts: np.ndarray,
    removed: np.ndarray,
    is_known: np.ndarray,
) -> GraphModel:
    """Learn the weights of the views from verdicts.

    A view of the confirmed anomalies joins the others, with the prior weight of a mean view.

    Parameters
    ----------
    model : GraphModel
        Without verdicts; its references are the training graphs.
    graphs : GraphBatch
        Graphs with a verdict, none of which is an anomaly among the references.
    verdicts : ndarray of shape (n_graphs,), int
        -1 for an anomaly, of which there is at least one; 1 for a normal graph.
    removed : ndarray of shape (n_graphs,), bool
        True for an anomaly that was a training graph.
    is_known : ndarray of shape (n_graphs,), bool
        True for copies of references; normal ones are so without a verdict.

    Returns
    -------
    GraphModel
    """
    references = model.references
    assert model.training_scores is not None
    statistics = model.first(Statistics) or Statistics().fit(references)
    confirmed = Confirmed.of(statistics, graphs, verdicts, removed)
    of_training = confirmed.scores(references, np.arange(len(references)))
    of_verdicts = confirmed.scores_of_verdicts()
    of_verdicts = np.where(np.isnan(of_verdicts), np.median(of_training), of_verdicts)
    scores = np.vstack([model.training_scores, of_training])
    p_values = [LogPValues(x) for x in scores]
    training = np.array([x.leave_one_out() for x in p_values])
    rows = np.vstack([model.view_scores(graphs), of_verdicts])
    surprises = -np.array([f(x) for f, x in zip(p_values, rows, strict=True)]).T
    finite(surprises)
    is_anomaly = verdicts == -1
    weights = learn_weights(
        np.append(view_weights(training[:-1]), 1.0),
        -training.T,
        surprises[~is_anomaly & ~is_known],
        surprises[is_anomaly],
    )
    result = model.calibrated(scores, weights, [*model.views, confirmed])
    if model.reference_scores is not None:
        result.reference_scores = scores
    return result
