"""Calibration: scores of normal graphs -> threshold, p-values and discoveries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

from skgraphkde._utils import warn
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.copies import has_excess_duplicates, kinds_but_for_rounding
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.core.specification import Interval, Specification, StrOptions


class Calibration(Specification):
    """Base class of calibrations: the scores that set the threshold, and the weight of copies.

    A p-value assumes that a new graph and the training graphs come from the same distribution. If
    the training graphs contain duplicates that new graphs do not have, each duplicate has a copy
    of itself among its references, a new graph has none, and most new graphs look anomalous.
    """

    _parameter_constraints: dict = {"copies": [StrOptions({"auto", "together", "apart"})]}

    def __init__(self, copies: str = "auto") -> None:
        self.copies = copies

    def distinct(self, graphs: GraphBatch) -> np.ndarray:
        """Find the graphs that count: all graphs, or the first of each group of copies.

        Parameters
        ----------
        graphs : GraphBatch

        Returns
        -------
        ndarray of shape (n_graphs,), int
            For each graph the index of the graph that represents it.
        """
        if self.copies == "apart":
            return np.arange(len(graphs))
        canonical_index = kinds_but_for_rounding(graphs)
        if self.copies == "together":
            return canonical_index
        n_copies = np.unique(canonical_index, return_counts=True)[1]
        if not has_excess_duplicates(n_copies):
            return np.arange(len(graphs))
        warn(
            f"{len(graphs) - len(n_copies)} of {len(graphs)} training graphs are copies of others, "
            "more than chance explains: each graph counts once. If duplicates are expected in new "
            f"data as well, fit with calibration={type(self).__name__}(copies='apart'); "
            "copies='together' silences this warning"
        )
        return canonical_index


class LeaveOneOut(Calibration):
    """Calibrate with the leave-one-out scores of the training graphs.

    Parameters
    ----------
    copies : {"auto", "together", "apart"}, default="auto"
        Weight of training graphs that are equal up to the order of their nodes and the rounding of
        their numbers. With "together", each group of copies counts once, in the density and in the
        calibration. With "apart", each copy counts, which is right if new graphs repeat the
        training graphs as often as the training graphs repeat each other (small molecules do).
        "auto" is "apart" unless there are more copies than chance explains: many graphs that occur
        twice, and few or none that occur three times. Chance explains a sample with replacement:
        use "together" for it.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector, LeaveOneOut
    >>> graphs = [nx.cycle_graph(n) for n in range(10, 60)]
    >>> detector = GraphKDEDetector(calibration=LeaveOneOut(copies="together"))
    >>> len(detector.fit(graphs + graphs).calibration_scores_)
    50
    """


class Split(Calibration):
    """Calibrate with held-out graphs, which the density does not use.

    Parameters
    ----------
    fraction : float, default=0.1
        Share of the training graphs to hold out, in (0, 1).
    copies : {"auto", "together", "apart"}, default="auto"
        Weight of copies among the training graphs, as in :class:`LeaveOneOut`. With "together", all
        copies of a held-out graph are held out, too.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector, Split
    >>> detector = GraphKDEDetector(calibration=Split(fraction=0.25), random_state=0)
    >>> detector = detector.fit([nx.cycle_graph(n) for n in range(10, 90)])
    >>> len(detector.calibration_scores_)
    20
    """

    _parameter_constraints: dict = {
        **Calibration._parameter_constraints,
        "fraction": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(self, fraction: float = 0.1, copies: str = "auto") -> None:
        super().__init__(copies)
        self.fraction = fraction

    def split(
        self, n_graphs: int, contamination: float | None, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Split graphs at random into calibration and training graphs.

        Parameters
        ----------
        n_graphs : int
            Number of graphs.
        contamination : float or None
            Share of normal graphs that will fall below the threshold; None for :func:`lower_fence`.
        rng : RandomState

        Returns
        -------
        calibration, training : ndarray of int
            Indices, ascending.

        Raises
        ------
        ValueError
            If too few graphs are held out to set the threshold, or fewer than 2 remain.
        """
        n, needed = round(self.fraction * n_graphs), 4  # a score in each quarter
        if contamination is not None:
            needed = fewest_scores(contamination)
        if n < needed or n_graphs - n < 2:
            change = "raise" if n < needed else "lower"
            raise ValueError(
                f"calibration=Split(fraction={self.fraction}) holds out {n} of {n_graphs} graphs, "
                f"but contamination={contamination or 'auto'} needs at least {needed}, and "
                f"training needs 2: {change} fraction, or use calibration='loo'"
            )
        order = rng.permutation(n_graphs)
        return np.sort(order[:n]), np.sort(order[n:])


@dataclass(frozen=True, eq=False)
class FittedCalibration:
    """Calibration scores, and the threshold and p-values that follow from them.

    Parameters
    ----------
    scores : ndarray of shape (n_scores,)
        Scores of normal graphs.
    graphs : ndarray of shape (n_scores,), int
        Indices of the training graphs that have these scores, ascending.
    contamination : float or None
        Share of normal graphs below the threshold, in (0, 0.5]. None: the threshold is
        :func:`lower_fence`.
    is_comparable : bool, default=True
        Whether scores of new graphs can be compared with these scores. False for
        ``calibration="train"``, in which each graph is its own reference.
    """

    scores: np.ndarray
    graphs: np.ndarray
    contamination: float | None
    is_comparable: bool = True

    @cached_property
    def offset(self) -> float:
        """Threshold: scores below it are anomalies.

        A new score falls below the k-th smallest of n exchangeable scores with probability
        k / (n + 1). The largest k for which this is at most `contamination` flags exactly the
        graphs whose :func:`conformal_p_values` are at most `contamination`. If there is none, as
        with few scores, k is 1: a graph below all scores is flagged.
        """
        if self.contamination is None:
            return lower_fence(self.scores)
        if self.is_comparable:
            k = max(math.floor((len(self.scores) + 1) * self.contamination + 1e-9), 1)
            threshold = float(np.sort(self.scores)[k - 1])
        else:  # the paper interpolates between scores
            threshold = float(np.quantile(self.scores, self.contamination))
        return threshold - rounding(threshold)  # a tie is not an anomaly, whatever its rounding

    def p_values(self, scores: np.ndarray) -> np.ndarray:
        """Conformal p-values of new graphs, see :func:`conformal_p_values`."""
        return conformal_p_values(scores, self.scores)

    def warn_if_few(self) -> None:
        """Warn if the scores are too few to set the threshold."""
        if self.contamination is None:
            return
        n = len(self.scores)
        needed = fewest_scores(self.contamination)
        if self.is_comparable and n < needed:
            warn(
                f"{n} training graphs cannot place a threshold that flags "
                f"{self.contamination:.3g} of normal graphs: it will flag about 1 in {n + 1}. "
                f"Give at least {needed} graphs, or raise contamination"
            )


def fewest_scores(contamination: float) -> int:
    """Smallest number of calibration scores that can set a threshold for `contamination`."""
    return math.ceil(1 / contamination - 1e-9) - 1


def lower_fence(scores: np.ndarray) -> float:
    """Threshold that assumes no share: the lower fence of a box plot (Tukey, 1977).

    Q1 - 1.5 (Q3 - Q1), or less, so that no more than a tenth of the scores, or one, is below: where
    most scores are alike, they say nothing of how far the others may be.

    Parameters
    ----------
    scores : ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> round(lower_fence(np.array([-30.0, -4.0, -3.0, -2.0, -1.0])), 3)
    -7.0
    """
    low, high = np.quantile(scores, [0.25, 0.75])
    most = np.sort(scores)[max(len(scores) // 10, 1)]
    fence = min(low - 1.5 * (high - low), most)
    return float(fence - rounding(fence))  # a tie is not an anomaly, whatever its rounding


def finite(values: Any, what: str = "score") -> np.ndarray:
    """Check that values are finite, so that no NaN becomes a verdict.

    Parameters
    ----------
    values : array-like of shape (n_graphs,) or (n_graphs, n_columns)
    what : str, default="score"
        Noun for the values in the message.

    Returns
    -------
    ndarray
        A copy of the values, as floats.

    Raises
    ------
    GraphError
        If a value is not finite.
    """
    values = np.array(values, dtype=float)
    if not np.isfinite(values).all():
        graph = int(np.argwhere(~np.isfinite(values))[0, 0])
        raise GraphError(
            graph,
            f": its {what} is not a finite number: look for extreme node attributes or edge "
            "weights in this graph and in the training graphs",
        )
    return values


def conformal_p_values(scores: np.ndarray, calibration: np.ndarray) -> np.ndarray:
    """Conformal p-values: ranks of scores among the calibration scores.

    p = (1 + #{calibration scores <= score}) / (n + 1) (Vovk et al., 2005). A new score is among the
    k lowest of n + 1 exchangeable scores with a probability of at most k / (n + 1). Ties count as
    lower, which keeps this bound.

    Parameters
    ----------
    scores : ndarray of shape (n_graphs,)
        Scores of new graphs.
    calibration : ndarray of shape (n,)
        Scores of normal graphs.

    Returns
    -------
    ndarray of shape (n_graphs,)
        In [1 / (n + 1), 1]; NaN for a score that is NaN.

    Raises
    ------
    ValueError
        If a calibration score is NaN.
    """
    scores = np.asarray(scores)
    ordered = np.sort(calibration)
    if np.isnan(ordered).any():
        raise ValueError("a calibration score is NaN: leave its graph out")
    return np.where(np.isnan(scores), np.nan, ordered_p_values(scores, ordered))


def ordered_p_values(scores: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """Conformal p-values, see :func:`conformal_p_values`; the calibration scores are ascending."""
    return (1 + n_as_low(scores, ordered)) / (len(ordered) + 1)


def n_as_low(scores: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """Number of ordered scores that are at most each score, where ties count as lower.

    Parameters
    ----------
    scores : ndarray of shape (n_graphs,)
    ordered : ndarray of shape (n,)
        Ascending.
    """
    return np.searchsorted(ordered, scores + rounding(scores), side="right")


def discoveries(p_values: np.ndarray, alpha: float, n_scores: int | None = None) -> np.ndarray:
    """Select p-values with a false discovery rate of at most `alpha`.

    This is the procedure of Benjamini and Hochberg (1995).

    Parameters
    ----------
    p_values : ndarray of shape (n_graphs,)
    alpha : float
        Bound on the expected share of false discoveries, in (0, 1].
    n_scores : int, default=None
        Number of calibration scores, for a warning if they are too few to select any graph.

    Returns
    -------
    ndarray of shape (n_graphs,), bool
        True for a selected graph.

    Raises
    ------
    ValueError
        If alpha is not in (0, 1].
    """
    check_alpha(alpha)
    if n_scores is not None and alpha < 1 / (n_scores + 1):
        warn(
            f"{n_scores} calibration scores allow no p-value below {1 / (n_scores + 1):.2g}, so "
            f"that alpha={alpha:g} selects nothing: raise alpha, or fit to at least "
            f"{fewest_scores(alpha)} graphs"
        )
    return false_discovery_control(p_values) <= alpha + rounding(alpha)


def check_alpha(alpha: Any) -> None:
    """Raise a ValueError unless alpha is in (0, 1]."""
    if not isinstance(alpha, int | float | np.number) or not 0 < alpha <= 1:
        raise ValueError(f"alpha must be in (0, 1], got {alpha!r}")


def rounding(score: Any) -> Any:
    """Tolerance within which scores count as equal; infinite ones equal themselves alone."""
    size = np.abs(score)
    return 1e-9 * np.maximum(1.0, np.where(np.isinf(size), 0.0, size))
