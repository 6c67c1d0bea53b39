"""Calibration: scores of normal graphs -> the threshold of a verdict, p-values, discoveries."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.utils._param_validation import Interval

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import register
from skgraphkde.specification import Specification


@register
class Split(Specification):
    """Calibrate with graphs that are set aside: the density never sees them.

    Parameters
    ----------
    fraction : float, default=0.1
        Share of the training graphs to set aside, in (0, 1).

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector, Split
    >>> detector = GraphKDEDetector(calibration=Split(fraction=0.25), random_state=0)
    >>> detector = detector.fit([nx.cycle_graph(n) for n in range(10, 90)])
    >>> len(detector.calibration_scores_)
    20
    """

    _parameter_constraints: dict = {"fraction": [Interval(Real, 0, 1, closed="neither")]}

    def __init__(self, fraction: float = 0.1) -> None:
        self.fraction = fraction

    def split(
        self, graphs: GraphBatch, contamination: float, rng: np.random.RandomState
    ) -> tuple[GraphBatch, GraphBatch]:
        """Set graphs aside.

        Parameters
        ----------
        graphs : GraphBatch
        contamination : float
            Share of normal graphs that will fall below the threshold.
        rng : RandomState

        Returns
        -------
        calibration, training : GraphBatch

        Raises
        ------
        ValueError
            If too few graphs are set aside to place the threshold, or fewer than 2 remain.
        """
        n, needed = round(self.fraction * len(graphs)), math.ceil(1 / contamination) - 1
        if n < needed or len(graphs) - n < 2:
            raise ValueError(
                f"calibration=Split(fraction={self.fraction}) sets {n} of {len(graphs)} graphs "
                f"aside, but contamination={contamination} needs at least {needed}, and 2 to train "
                "on: raise fraction or contamination, or use calibration='loo'"
            )
        order = rng.permutation(len(graphs))
        return graphs[np.sort(order[:n])], graphs[np.sort(order[n:])]


def finite(scores: Any) -> np.ndarray:
    """The scores, all finite: no NaN leaves the library or becomes a verdict.

    Raises
    ------
    ValueError
        If one is not; the message names the graph.
    """
    scores = np.asarray(scores, dtype=float)
    if not np.isfinite(scores).all():
        raise ValueError(
            f"the score of graph {np.isfinite(scores).argmin()} is not a finite number: look for "
            "extreme node attributes or edge weights, there and in the training graphs"
        )
    return scores


def offset(scores: np.ndarray, contamination: float, *, interpolate: bool = False) -> float:
    """The threshold.

    Of n exchangeable scores, a new one falls below the k-th smallest with probability k / (n + 1):
    the quantile that NumPy calls "weibull" meets `contamination`.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Of normal graphs.
    contamination : float
        Share of normal graphs below the threshold.
    interpolate : bool, default=False
        Whether to take the percentile that NumPy calls "linear" instead, as the paper does.

    Returns
    -------
    float
    """
    method: Any = "linear" if interpolate else "weibull"
    quantile = float(np.quantile(scores, contamination, method=method))
    return quantile - rounding(quantile)  # a tie is not an anomaly, however it is rounded


def conformal_p_values(scores: np.ndarray, calibration: np.ndarray) -> np.ndarray:
    """Share of the calibration scores, and the new one, that are as low as the new one.

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
    as_low = np.searchsorted(np.sort(calibration), scores + rounding(scores), side="right")
    return (1 + as_low) / (len(calibration) + 1)


def discoveries(p_values: np.ndarray, alpha: float) -> np.ndarray:
    """Which p-values to select so that the expected share of false discoveries is at most `alpha`.

    The procedure of Benjamini and Hochberg (1995).

    Parameters
    ----------
    p_values : ndarray of shape (n_graphs,)
    alpha : float
        In (0, 1].

    Returns
    -------
    ndarray of shape (n_graphs,), bool

    Raises
    ------
    ValueError
        If alpha is not in (0, 1].
    """
    check_alpha(alpha)
    return false_discovery_control(p_values) <= alpha + rounding(alpha)


def check_alpha(alpha: Any) -> None:
    """Raise a ValueError unless alpha is in (0, 1]."""
    if not isinstance(alpha, int | float | np.number) or not 0 < alpha <= 1:
        raise ValueError(f"alpha must be in (0, 1], got {alpha!r}")


def rounding(score: Any) -> Any:
    """Scores that differ by less than this are equal."""
    return 1e-9 * np.maximum(1.0, np.abs(score))
