"""results: all that a detector says of graphs, a row each."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skgraphkde.calibration import check_alpha, discoveries
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.inspection.reasons import WEAKEST, strongest_reasons
from skgraphkde.inspection.views import view_surprises
from skgraphkde.inspection.wording import checked_names, node_ids

__all__ = ["results"]


def results(
    detector: BaseGraphDetector,
    graphs: Any,
    *,
    names: Sequence[Any] | None = None,
    alpha: float = 0.1,
) -> pd.DataFrame:
    """All that a detector says of graphs, one row each; every graph is scored once.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    graphs : sequence of graphs, or GraphBatch
        Not those of `fit`.
    names : sequence, default=None
        What to call the graphs, one name each. None: their positions.
    alpha : float, default=0.1
        Bound on the expected share of normal graphs among those selected, in (0, 1].

    Returns
    -------
    DataFrame
        In the order of the graphs, with the columns

        - name : see `names`;
        - score : what ``score_samples`` returns, higher for normal graphs;
        - decision : the score minus the threshold, negative for anomalies;
        - verdict : 1 for a normal graph, -1 for an anomaly;
        - p_value : as in :meth:`~skgraphkde.BaseGraphDetector.p_values`; missing with
          ``calibration="train"``;
        - selected : whether it is an anomaly among all these graphs, as in
          :meth:`~skgraphkde.BaseGraphDetector.select`; missing with ``calibration="train"``;
        - reason : the first that :func:`explain` gives, in words; missing if its strength is below
          1, which is nothing unusual, and for detectors other than
          :class:`~skgraphkde.GraphKDEDetector`.

    Raises
    ------
    TypeError, ValueError
        If a graph cannot be used, there are not as many names as graphs, or alpha is not in
        (0, 1].

    Notes
    -----
    Graphs are selected by the procedure of Benjamini and Hochberg (1995). Reasons take several
    times as long as scores.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.inspection import results
    >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(15, 65)])
    >>> frame = results(detector, [nx.cycle_graph(30), nx.star_graph(30)], names=["ring", "star"])
    >>> frame[["name", "verdict", "selected"]]
       name  verdict  selected
    0  ring        1     False
    1  star       -1      True
    """
    check_alpha(alpha)
    detector = copy.copy(detector)  # as it is now, whatever another thread updates
    batch = detector.read(graphs)
    columns: dict[str, Any] = {"name": np.arange(len(batch))}
    if names is not None:  # Arrow does not hold every name of a file
        columns["name"] = pd.Series(checked_names(names, len(batch)), dtype=object)
    scores, reasons = _scores_and_reasons(detector, batch, node_ids(graphs))
    decisions = scores - detector.offset_
    columns |= {"score": scores, "decision": decisions, "verdict": np.where(decisions < 0, -1, 1)}
    p_values = np.full(len(batch), np.nan)
    selected: Any = [pd.NA] * len(batch)
    if detector.is_calibrated_:
        p_values = detector.calibration_.p_values(scores)
        selected = discoveries(p_values, alpha)
    columns |= {"p_value": p_values, "selected": pd.array(selected, dtype="boolean")}
    columns["reason"] = pd.array(reasons, dtype="string")
    return pd.DataFrame(columns)


def _scores_and_reasons(
    detector: BaseGraphDetector, batch: GraphBatch, ids: list | None
) -> tuple[np.ndarray, list[Any]]:
    if not isinstance(detector, GraphKDEDetector):
        return detector.score_samples(batch), [pd.NA] * len(batch)
    surprises = view_surprises(detector, batch)  # which explain needs, too
    reasons = strongest_reasons(detector, batch, surprises, n_reasons=1, names=ids)
    return -surprises.sum(axis=1), reasons["reason"].where(reasons["strength"] >= WEAKEST).tolist()
