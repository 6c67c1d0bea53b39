"""Calibration: scores of normal graphs -> the threshold of a verdict, and p-values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skgraphkde.graphs import GraphBatch


def split_off(
    graphs: GraphBatch, fraction: float, contamination: float, rng: np.random.RandomState
) -> tuple[GraphBatch, GraphBatch]:
    """Set graphs aside for the threshold.

    Parameters
    ----------
    graphs : GraphBatch
    fraction : float
        Share to set aside.
    contamination : float
        Share of normal graphs to fall below the threshold.
    rng : RandomState

    Returns
    -------
    calibration, training : GraphBatch

    Raises
    ------
    ValueError
        If too few graphs would be set aside to place the threshold, or fewer than 2 be left.
    """
    n, needed = round(fraction * len(graphs)), math.ceil(1 / contamination) - 1
    if n < needed or len(graphs) - n < 2:
        raise ValueError(
            f"threshold='split' sets {n} of {len(graphs)} graphs aside, but contamination="
            f"{contamination} needs at least {needed}, and 2 to train on: raise "
            "validation_fraction or contamination, or take threshold='loo'"
        )
    order = rng.permutation(len(graphs))
    return graphs[np.sort(order[:n])], graphs[np.sort(order[n:])]


def offset(scores: np.ndarray, contamination: float, threshold: str) -> float:
    """The threshold.

    Of n exchangeable scores, a new one falls below the k-th smallest with probability k / (n + 1):
    the quantile that NumPy calls "weibull" hits `contamination`. The paper takes the percentile,
    "linear", of densities that contain the graph's own kernel.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Log densities of normal graphs.
    contamination : float
    threshold : {"loo", "split", "train"}

    Returns
    -------
    float
    """
    method: Any = "linear" if threshold == "train" else "weibull"
    quantile = float(np.quantile(scores, contamination, method=method))
    return quantile - _rounding(quantile)  # a tie is no anomaly, however it is rounded


def conformal_p_values(scores: np.ndarray, calibration: np.ndarray) -> np.ndarray:
    """Share of the calibration scores, the new one counted among them, that are as low.

    p = (1 + #{calibration scores <= score}) / (n + 1) (Vovk et al., 2005): of n + 1 exchangeable
    scores, the new one is among the k lowest with a probability of at most k / (n + 1). Ties count
    as lower, which keeps that bound.

    Parameters
    ----------
    scores : ndarray of shape (n_graphs,)
    calibration : ndarray of shape (n,)
        Scores of normal graphs.

    Returns
    -------
    ndarray of shape (n_graphs,)
        In [1 / (n + 1), 1].
    """
    as_low = np.searchsorted(np.sort(calibration), scores + _rounding(scores), side="right")
    return (1 + as_low) / (len(calibration) + 1)


def _rounding(score: Any) -> Any:
    """Scores that differ by less are equal."""
    return 1e-9 * np.maximum(1.0, np.abs(score))
