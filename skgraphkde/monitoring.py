"""Drift: a fitted detector and new graphs -> alarms when their distribution changes.

:class:`OnlinePValues` ranks each score among all before it, :class:`ShiryaevRoberts` bets on these
ranks, and :class:`DriftMonitor` does both for the graphs of a detector. :class:`OnlineSelection`
selects anomalies among the graphs of a stream, with a bounded false discovery rate over all.
"""

from __future__ import annotations

import copy
from bisect import bisect_left, bisect_right, insort
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import betainc, betaln
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from skgraphkde._utils import warn
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.copies import kinds_of
from skgraphkde.core.scoring.calibration import rounding
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.estimator import GraphKDEDetector
from skgraphkde.saving import save

# A bet is the density of a beta distribution. An exponent below 1 bets on p-values near an end, one
# above 1 on few of them there: low scores, high ones, both or neither, strongly and less so.
_SHAPES = (0.25, 0.5, 1.0, 2.0, 4.0)
_BETS = np.array([(a, b) for a in _SHAPES for b in _SHAPES if (a, b) != (1.0, 1.0)])
_A, _B = _BETS.T
# Training graphs are noticed among so many last graphs.
WINDOW = 20
# Smallest p-value: a single graph multiplies a capital by 85 at most.
_SMALLEST = 1e-3


def _densities(p_values: np.ndarray) -> np.ndarray:
    """Densities of the bets at clipped p-values, shape (n, n_bets); clipping makes them unfair."""
    p = np.clip(p_values, _SMALLEST, 1 - _SMALLEST)[:, None]
    return np.exp((_A - 1) * np.log(p) + (_B - 1) * np.log1p(-p) - betaln(_A, _B))


_MEANS = (
    betainc(_A, _B, 1 - _SMALLEST)
    - betainc(_A, _B, _SMALLEST)
    + _SMALLEST * _densities(np.array([0.0, 1.0])).sum(axis=0)
)


class OnlinePValues:
    """Smoothed conformal p-values: each new score is ranked among all scores before it.

    p = (#{scores < s} + u (1 + #{scores = s})) / (n + 1), with u uniform in [0, 1) and n scores
    before s. If all scores are exchangeable, these p-values are independent and uniform (Vovk,
    Gammerman and Shafer: Algorithmic Learning in a Random World, 2nd edition, 2022, chapter 8).
    Ranks among the calibration scores alone would be uniform, too, but all would err in the same
    direction: a test that accumulates evidence would eventually reject any calibration set.

    Parameters
    ----------
    calibration : ndarray of shape (n,)
        Scores of normal graphs.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of u.
    """

    def __init__(self, calibration: np.ndarray, random_state: Any = None) -> None:
        self._sorted = sorted(calibration.tolist())
        self._random = np.random.RandomState(check_random_state(random_state).randint(2**31))

    def rank(self, scores: np.ndarray, copies: list[np.ndarray] | None = None) -> np.ndarray:
        """Rank new scores, and add them to the scores before.

        Parameters
        ----------
        scores : ndarray of shape (n_graphs,)
        copies : list of ndarray, default=None
            For each graph, the calibration scores that count as equal to its own, beside those that
            are equal.

        Returns
        -------
        ndarray of shape (n_graphs,)
            In [0, 1], small for low scores.
        """
        margins = rounding(scores)  # scores that differ by less are equal
        p_values = self._random.random_sample(len(scores))
        for i, (score, margin) in enumerate(zip(scores, margins, strict=True)):
            n_lower = bisect_left(self._sorted, score - margin)
            n_equal = bisect_right(self._sorted, score + margin) - n_lower
            if copies is not None:
                n_copies_lower = np.sum(copies[i] < score - margin)
                n_lower -= n_copies_lower
                n_equal += n_copies_lower + np.sum(copies[i] > score + margin)
            p_values[i] = (n_lower + p_values[i] * (1 + n_equal)) / (len(self._sorted) + 1)
            insort(self._sorted, float(score))
        return p_values


class ShiryaevRoberts:
    """Evidence that p-values are no longer uniform, summed over all past moments of the change.

    A bet f is a density on [0, 1]. While p-values are independent and uniform, the product of
    f(p_j), ..., f(p_n) is a martingale: the capital of a gambler who starts at j. With K bets, a
    gambler for each bet and each j, and capital 1 / K for each of them, the sum R of all capital
    grows by 1 in a step on average,

        R_k <- (R_k + 1 / K) f_k(p),    R = sum of R_k .

    An alarm sounds when R reaches the threshold c, and R restarts at 0. R plus c times the number
    of alarms grows by at most 1 in a step on average. The mean number of alarms in n steps is thus
    at most n / c, for every n, and the mean time to the first alarm is at least c.

    Parameters
    ----------
    threshold : float
        More than 0.

    Attributes
    ----------
    n_steps : int
        Number of p-values.

    References
    ----------
    Vovk, Petej, Nouretdinov, Ahlberg, Carlsson, Gammerman: Retrain or not retrain: conformal test
    martingales for change-point detection, COPA 2021. Shin, Ramdas, Rinaldo: E-detectors: a
    nonparametric framework for sequential change detection, 2023.
    """

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.n_steps = 0
        self._restart()

    def _restart(self) -> None:
        self._capital = np.zeros(len(_BETS))
        # For each bet, the capital of the most successful gambler, who started with 1 (CUSUM), and
        # the step at which this gambler started.
        self._best = np.ones(len(_BETS))
        self._start = np.full(len(_BETS), self.n_steps)

    def update(self, p_values: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """Bet on new p-values.

        Parameters
        ----------
        p_values : ndarray of shape (n,)
            In [0, 1]; NaN for a step without a bet.

        Returns
        -------
        statistic : ndarray of shape (n,)
            R after each p-value.
        alarms : list of (at, since)
            Steps at which an alarm sounds, and estimated starts of the change: the starts of the
            most successful gamblers.
        """
        bets = _densities(p_values) / _MEANS
        statistic = np.empty(len(bets))
        alarms = []
        for i, bet in enumerate(bets):
            if not np.isnan(p_values[i]):
                self._start[self._best <= 1] = self.n_steps
                self._best = np.maximum(self._best, 1) * bet
                self._capital = (self._capital + 1 / len(_BETS)) * bet
            statistic[i] = self._capital.sum()
            self.n_steps += 1
            if statistic[i] >= self.threshold:
                alarms.append((self.n_steps - 1, int(self._start[self._best.argmax()])))
                self._restart()
        return statistic, alarms


class Alarm(NamedTuple):
    """An alarm. Graphs are numbered 0, 1, ... in the order of arrival at the monitor.

    Parameters
    ----------
    at : int
        Graph at which it sounded.
    since : int
        Estimated first graph of the change.
    """

    at: int
    since: int

    @property
    def test(self) -> str:
        """Name of the test that sounded. There is one, of the ranks of scores."""
        return "ranks"


def _check_detector(detector: Any) -> None:
    """Raise an error unless a detector is one, and fitted."""
    if not isinstance(detector, BaseGraphDetector):
        raise TypeError(f"detector must be a fitted BaseGraphDetector, got {detector!r}")
    check_is_fitted(detector)


class DriftMonitor:
    """Test if the scores of new graphs have another distribution than those of normal graphs.

    A detector judges single graphs; a monitor judges their distribution, which can change without
    any anomaly. Save a monitor to continue another day. If the detector is fitted again, the
    monitor keeps the fitted state of its start.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted, with ``calibration="split"`` or "loo".
    false_alarm_rate : float, default=0.001
        Upper bound on the mean number of false alarms per graph, in (0, 0.1]. The default is one in
        1,000 graphs.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the ranks of equal scores.

    Attributes
    ----------
    alarms_ : list of Alarm
        Alarms so far.
    n_graphs_ : int
        Number of graphs so far.
    threshold_ : float
        Statistic at which an alarm sounds.

    Notes
    -----
    If the calibration graphs and the new ones are exchangeable (drawn from the same source, in any
    order), the mean number of alarms among n new graphs is at most ``n * false_alarm_rate``, for
    every n. :class:`OnlinePValues` and :class:`ShiryaevRoberts` say why. Equal scores are ranked at
    random, which keeps the bound. It is exact for graphs that were set aside
    (``calibration="split"``), and approximate with "loo", where a graph counts as equal to the
    training graphs of which it is a copy.

    Graphs of `fit` that are given again are not exchangeable with others: they are among the
    references, and score too high. They are left out with a warning; where training graphs repeat
    each other, as small ones do, only if the last 20 graphs have more of them than chance explains
    (with an error of one in a thousand). They are in no rank, and a step without a bet adds nothing
    to the statistic, which cannot cause an alarm.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.monitoring import DriftMonitor
    >>> seeds = range(1000, 1200)
    >>> graphs = [nx.connected_watts_strogatz_graph(30, 4, 0.1, seed=i) for i in seeds]
    >>> detector = GraphKDEDetector().fit(graphs[:100])
    >>> monitor = DriftMonitor(detector, random_state=0)
    >>> table = monitor.update(graphs[100:])
    >>> monitor.alarms_
    []
    >>> others = [nx.connected_watts_strogatz_graph(30, 4, 0.5, seed=i) for i in range(50)]
    >>> table = monitor.update(others)  # the share of rewired edges changes
    >>> monitor.alarms_[0]
    Alarm(at=101, since=93)
    """

    def __init__(
        self,
        detector: BaseGraphDetector,
        *,
        false_alarm_rate: float = 0.001,
        random_state: Any = None,
    ) -> None:
        _check_detector(detector)
        if not detector.is_calibrated_:
            raise ValueError(
                "a monitor needs calibration scores that are comparable with those of new graphs: "
                "fit the detector with calibration='split', or 'loo'"
            )
        check_scalar(
            false_alarm_rate,
            "false_alarm_rate",
            Real,
            min_val=0,
            max_val=0.1,
            include_boundaries="right",
        )
        # Fitted attributes are replaced and never changed, so that they remain with the copy.
        self.detector = copy.copy(detector)
        self.false_alarm_rate = false_alarm_rate
        self.threshold_ = 1 / false_alarm_rate
        self.alarms_: list[Alarm] = []
        self._p_values = OnlinePValues(detector.calibration_scores_, random_state)
        self._evidence = ShiryaevRoberts(self.threshold_)
        self._were_known = np.zeros(0, dtype=bool)  # the last graphs

    @property
    def n_graphs_(self) -> int:
        """Number of graphs so far."""
        return self._evidence.n_steps

    def update(self, graphs: Any) -> pd.DataFrame:
        """Test new graphs, in the order of their arrival.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
            New graphs, not those of `fit`. Their division into calls makes no difference; of an
            empty list, the table is empty.

        Returns
        -------
        DataFrame
            One row per graph; the index is its number. The columns are "score"; "p_value", the rank
            of the score among those before it; "statistic"; and "alarm", whether one sounds.
            Scores and p-values of training graphs that are left out are missing.

        Raises
        ------
        TypeError, ValueError
            If a graph cannot be used. The monitor does not change.
        """
        batch = self.detector.read(graphs)
        are_known = np.zeros(0, dtype=bool)
        if len(batch):
            are_known = self.detector.known_graphs.contain(batch)
        were_known = np.append(self._were_known, are_known)
        given_again = self._given_again(were_known)[len(self._were_known) :]
        new = np.flatnonzero(~given_again)
        if len(new) < len(batch):
            warn(
                f"{len(batch) - len(new)} of {len(batch)} graphs seem to be training graphs: they "
                "are left out, as they say nothing of a change; give new graphs"
            )
        scores, p_values = np.full((2, len(batch)), np.nan)
        if len(new):
            scores[new] = self.detector.score_samples(batch[new])
            copies = self._scores_of_copies(batch[new])
            p_values[new] = self._p_values.rank(scores[new], copies)
        self._were_known = were_known[1 - WINDOW :]
        first = self.n_graphs_
        statistic, alarms = self._evidence.update(p_values)
        self.alarms_ += [Alarm(*alarm) for alarm in alarms]
        columns = {
            "score": scores,
            "p_value": p_values,
            "statistic": statistic,
            "alarm": statistic >= self.threshold_,
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(first, self.n_graphs_))

    def save(self, path: Any) -> None:
        """Save the monitor, with its detector, to a file that :func:`skgraphkde.load` reads.

        Parameters
        ----------
        path : str, path-like, or binary file
            As for :meth:`BaseGraphDetector.save`.

        Examples
        --------
        >>> import io
        >>> import networkx as nx
        >>> import skgraphkde
        >>> from skgraphkde.monitoring import DriftMonitor
        >>> detector = skgraphkde.GraphKDEDetector().fit(
        ...     [nx.cycle_graph(n) for n in range(10, 60)]
        ... )
        >>> monitor = DriftMonitor(detector, random_state=0)
        >>> table = monitor.update([nx.cycle_graph(99)])
        >>> file = io.BytesIO()
        >>> monitor.save(file)
        >>> skgraphkde.load(file.getvalue()).n_graphs_
        1
        """
        save(self.detector, path, monitor=self)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"alarms_": [tuple(alarm) for alarm in self.alarms_]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.alarms_ = [Alarm(*alarm) for alarm in state["alarms_"]]

    def check_loaded(self, detector: BaseGraphDetector) -> None:
        """Raise an error, of any class, if what a file holds does not fit together."""
        self.detector = detector
        evidence = self._evidence
        known = np.array(self._p_values._sorted, dtype=float)
        arrays = [evidence._capital, evidence._best, evidence._start]
        fits = [
            self.threshold_ == evidence.threshold == 1 / self.false_alarm_rate,
            len(known) >= len(detector.calibration_scores_),
            bool((np.diff(known) >= 0).all()),
            all(x.shape == (len(_BETS),) and np.isfinite(x).all() for x in arrays),
            self._were_known.dtype == bool and len(self._were_known) < WINDOW,
            evidence.n_steps >= 0,
            isinstance(self._p_values._random, np.random.RandomState),
        ]
        if not all(fits):
            raise ValueError("the state of the monitor does not fit together")

    def _given_again(self, is_known: np.ndarray) -> np.ndarray:
        """Mark known graphs if none repeats, or the last graphs had more than chance explains."""
        given_again = np.zeros(len(is_known), dtype=bool)
        known = self.detector.known_graphs
        for i in np.flatnonzero(is_known):
            last = is_known[max(i + 1 - WINDOW, 0) : i + 1]
            given_again[i] = not known.n_repeated or known.exceed_chance(int(last.sum()), len(last))
        return given_again

    def _scores_of_copies(self, graphs: GraphBatch) -> list[np.ndarray] | None:
        """Calibration scores of the copies of each graph; None unless each leaves its graph out.

        A training graph was compared with the others. Left out, a new copy of it would be compared
        with the same graphs, and have the same score.
        """
        detector = self.detector
        if not isinstance(detector, GraphKDEDetector) or not detector.keeps_training_graphs:
            return None
        known = detector.training_graphs_[detector.calibration_graphs_]
        of_known, of_graphs = kinds_of(known, graphs)
        return [detector.calibration_scores_[of_known == kind] for kind in of_graphs]


class OnlineSelection:
    """Select anomalies in a stream, with a bounded false discovery rate over all that came so far.

    ``detector.select`` bounds the rate in one list. Of many lists, or graph by graph, as many false
    discoveries add up as there are lists. This class takes the graphs of a stream in batches, and
    selects in each by the procedure of Benjamini and Hochberg at a level that depends on what was
    selected before (BatchBH of Zrnic et al., 2020), as the package ``online-fdr`` has it.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted, with ``calibration="split"`` or "loo".
    alpha : float, default=0.1
        Bound on the expected share of normal graphs among all that are selected, in (0, 1).

    Attributes
    ----------
    n_graphs_ : int
        Number of graphs so far.
    n_selected_ : int
        Number of those selected.

    Notes
    -----
    **Give batches, not single graphs.** No p-value is below 1 / (n + 1) with n calibration scores,
    and the level of a single graph is soon below that. Of clear anomalies, 10% of a stream of
    2,000, batches of 100 find none with 200 calibration scores, half of them with 400, and nine in
    ten with 2,000; single graphs find none with any of these (neither LORD nor SAFFRON does).

    The bound holds for independent p-values. Conformal p-values share their calibration scores; in
    simulations the share was at most 0.08 at a nominal 0.1.

    References
    ----------
    T. Zrnic, D. L. Jiang, A. Ramdas, M. I. Jordan. The Power of Batching in Multiple Hypothesis
    Testing. AISTATS, 2020.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.monitoring import OnlineSelection
    >>> def small_world(seed, rewired=0.1):
    ...     return nx.connected_watts_strogatz_graph(20, 4, rewired, seed=seed)
    >>> detector = GraphKDEDetector().fit([small_world(seed) for seed in range(400)])
    >>> selection = OnlineSelection(detector, alpha=0.2)
    >>> batch = [small_world(seed) for seed in range(400, 440)] + [nx.star_graph(19)] * 10
    >>> bool(selection.update(batch)["selected"][-10:].all()), selection.n_graphs_
    (True, 50)
    """

    def __init__(self, detector: BaseGraphDetector, *, alpha: float = 0.1) -> None:
        try:
            from online_fdr.p_values.batching.bh import BatchBH
        except ImportError as error:
            raise ImportError(
                "OnlineSelection needs online-fdr, which is not installed: pip install online-fdr"
            ) from error
        _check_detector(detector)
        check_scalar(alpha, "alpha", Real, min_val=0, max_val=1, include_boundaries="neither")
        if not detector.is_calibrated_:
            raise ValueError(
                "selection needs p-values: fit the detector with calibration='split', or 'loo'"
            )
        self.detector = copy.copy(detector)
        self.alpha = alpha
        self.n_graphs_ = 0
        self.n_selected_ = 0
        self._test = BatchBH(alpha)

    def update(self, graphs: Any) -> pd.DataFrame:
        """Select among the next graphs of the stream, which are one batch.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
            New graphs, not those of `fit`; of an empty list, the table is empty.

        Returns
        -------
        DataFrame
            One row per graph; the index is its number. The columns are "score", "p_value" and
            "selected".

        Raises
        ------
        TypeError, ValueError
            If a graph cannot be used. Nothing changes.
        """
        scores = self.detector.score_samples(graphs)
        p_values = self.detector.calibration_.p_values(scores)
        selected = np.array(self._test.test_batch(p_values.tolist()), dtype=bool)
        first = self.n_graphs_
        self.n_graphs_ += len(scores)
        self.n_selected_ += int(selected.sum())
        columns = {"score": scores, "p_value": p_values, "selected": selected}
        return pd.DataFrame(columns, index=pd.RangeIndex(first, self.n_graphs_))
