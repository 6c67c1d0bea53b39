"""Calibration: scores of normal graphs -> the threshold of a verdict, p-values, discoveries."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.utils._param_validation import Interval, StrOptions

from skgraphkde.computing.warn import warn
from skgraphkde.features.blocks import positions
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.copies import exceed_chance, first_copies
from skgraphkde.persistence import State, register
from skgraphkde.specification import Specification


class Calibration(Specification):
    """Base class: which scores determine the threshold, and what becomes of copies.

    A p-value compares a new graph with the training graphs, as if all were drawn alike. If graphs
    are given twice, each finds itself among the others as no new graph does, and most new graphs
    look odd.
    """

    copies: str
    _copies_constraint = StrOptions({"auto", "together", "apart"})

    def distinct(self, graphs: GraphBatch) -> np.ndarray:
        """The graphs that count: all, or, if copies count together, the first of each kind.

        Parameters
        ----------
        graphs : GraphBatch

        Returns
        -------
        ndarray of shape (n_graphs,), int
            For each graph the index of the one that counts for it.
        """
        if self.copies == "apart":
            return np.arange(len(graphs))
        first = first_copies(_without_positions(graphs))
        if self.copies == "together":
            return first
        n_copies = np.unique(first, return_counts=True)[1]
        if not exceed_chance(n_copies):
            return np.arange(len(graphs))
        warn(
            f"{len(graphs) - len(n_copies)} of {len(graphs)} training graphs are copies of others, "
            "more than chance gives: each graph counts once. If graphs really repeat like that, "
            f"also new ones, fit with calibration={type(self).__name__}(copies='apart'); "
            "copies='together' is the same without a warning"
        )
        return first


@register
class LeaveOneOut(Calibration):
    """Calibrate with the scores of the training graphs, each by the others.

    Parameters
    ----------
    copies : {"auto", "together", "apart"}, default="auto"
        Training graphs that look the same, whatever the order of their nodes: "together", each kind
        counts once, in the density as in the calibration; "apart", each copy counts, which is right
        if new graphs repeat the training graphs as often as these repeat each other (small
        molecules do). "auto" is "apart" unless there are more copies than chance gives: many graphs
        that come twice, and few or none that come three times. Chance explains a sample with
        replacement: use "together" there.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector, LeaveOneOut
    >>> graphs = [nx.cycle_graph(n) for n in range(10, 60)]
    >>> detector = GraphKDEDetector(calibration=LeaveOneOut(copies="together"))
    >>> len(detector.fit(graphs + graphs).calibration_scores_)
    50
    """

    _parameter_constraints: dict = {"copies": [Calibration._copies_constraint]}

    def __init__(self, copies: str = "auto") -> None:
        self.copies = copies


@register
class Split(Calibration):
    """Calibrate with graphs that are set aside: the density never sees them.

    Parameters
    ----------
    fraction : float, default=0.1
        Share of the training graphs to set aside, in (0, 1).
    copies : {"auto", "together", "apart"}, default="auto"
        What becomes of copies among the training graphs, as in :class:`LeaveOneOut`. Together, no
        graph that is set aside has a copy that is trained on, and all its copies are set aside.

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
        "fraction": [Interval(Real, 0, 1, closed="neither")],
        "copies": [Calibration._copies_constraint],
    }

    def __init__(self, fraction: float = 0.1, copies: str = "auto") -> None:
        self.fraction = fraction
        self.copies = copies

    def split(
        self, n_graphs: int, contamination: float, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Set graphs aside.

        Parameters
        ----------
        n_graphs : int
            How many there are.
        contamination : float
            Share of normal graphs that will fall below the threshold.
        rng : RandomState

        Returns
        -------
        calibration, training : ndarray of int
            Indices, ascending.

        Raises
        ------
        ValueError
            If too few graphs are set aside to place the threshold, or fewer than 2 remain.
        """
        n, needed = round(self.fraction * n_graphs), fewest_scores(contamination)
        if n < needed or n_graphs - n < 2:
            raise ValueError(
                f"calibration=Split(fraction={self.fraction}) sets {n} of {n_graphs} graphs "
                f"aside, but contamination={contamination} needs at least {needed}, and 2 to train "
                f"on: {'raise' if n < needed else 'lower'} fraction, or use calibration='loo'"
            )
        order = rng.permutation(n_graphs)
        return np.sort(order[:n]), np.sort(order[n:])


@register
@dataclass(frozen=True, eq=False)
class FittedCalibration:
    """Scores of normal graphs; the threshold and p-values follow from them.

    It never changes: an update of a detector makes another one.

    Parameters
    ----------
    scores : ndarray of shape (n_scores,)
    graphs : ndarray of shape (n_scores,), int
        The training graphs that have these scores, by their numbers among all, ascending.
    contamination : float
        Share of normal graphs below the threshold, in (0, 0.5].
    n_seen, n_counted : int
        How many graphs the detector got, and how many of them counted: copies may count once.
    is_comparable : bool, default=True
        Whether scores of new graphs may be compared with these. False for
        ``calibration="train"``, in which each graph is its own reference.
    views : ndarray of shape (n_views, n_scores), default=None
        The scores in each view of graphs that were set aside.

    Attributes
    ----------
    offset : float
        The threshold: scores below it are anomalies.
    """

    scores: np.ndarray
    graphs: np.ndarray
    contamination: float
    n_seen: int
    n_counted: int
    is_comparable: bool = True
    views: np.ndarray | None = None
    offset: float = field(init=False)

    def __post_init__(self) -> None:
        # The paper interpolates between scores.
        threshold = offset(self.scores, self.contamination, interpolate=not self.is_comparable)
        object.__setattr__(self, "offset", threshold)

    def p_values(self, scores: np.ndarray) -> np.ndarray:
        """Conformal p-values of new graphs, see :func:`conformal_p_values`."""
        return conformal_p_values(scores, self.scores)

    def warn_if_few(self) -> None:
        """Warn if the scores are too few to place the threshold."""
        n, needed = len(self.scores), fewest_scores(self.contamination)
        if self.is_comparable and n < needed:
            warn(
                f"{n} training graphs cannot place a threshold that flags "
                f"{self.contamination:.3g} of normal graphs: it will flag about 1 in {n + 1}. "
                f"Give at least {needed} graphs, or raise contamination"
            )

    def to_state(self) -> dict[str, Any]:
        """What a file keeps."""
        return {x.name: getattr(self, x.name) for x in fields(self) if x.init}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The calibration in a file."""
        scores = state.take_array("scores", float, (None,))
        state.check(len(scores), "there are no scores")
        graphs = state.take_array("graphs", int, scores.shape, low=0)
        contamination = state.take_number("contamination", 1e-300, 0.5)
        n_seen = state.take_count("n_seen", 2**62)
        n_counted = state.take_count("n_counted", n_seen)
        is_comparable = state.take("is_comparable", bool)
        views = state.take_optional("views", np.ndarray)
        if views is not None:
            is_table = views.dtype == float and views.ndim == 2 and views.shape[1] == len(scores)
            state.check(is_table and np.isfinite(views).all(), "views are not one score per graph")
        return cls(scores, graphs, contamination, n_seen, n_counted, is_comparable, views)


def _without_positions(graphs: GraphBatch) -> GraphBatch:
    """The same graphs, without the numbers that features leave out as coordinates."""
    if graphs.attributes is None:
        return graphs
    attributes = np.where(positions(graphs), 0.0, np.asarray(graphs.attributes))
    return graphs.replace(attributes=attributes, schema=graphs.schema)


def fewest_scores(contamination: float) -> int:
    """How many calibration scores it takes for a threshold that meets `contamination`."""
    return math.ceil(1 / contamination - 1e-9) - 1


def flagged_share(n_scores: int, contamination: float) -> float:
    """The share of normal graphs below the threshold: one in n + 1 if the scores are too few."""
    return max(contamination, 1 / (n_scores + 1))


def finite(values: Any, what: str = "score") -> np.ndarray:
    """The values, all finite: no NaN leaves the library or becomes a verdict.

    Parameters
    ----------
    values : array-like of shape (n_graphs,) or (n_graphs, n_columns)
    what : str, default="score"
        What they are, for the message.

    Raises
    ------
    ValueError
        If one is not; the message names the graph.
    """
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        graph = np.argwhere(~np.isfinite(values))[0, 0]
        raise ValueError(
            f"the {what} of graph {graph} is not a finite number: look for extreme node attributes "
            "or edge weights, there and in the training graphs"
        )
    return values


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
