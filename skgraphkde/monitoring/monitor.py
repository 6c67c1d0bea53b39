"""DriftMonitor: a fitted detector, and graphs one after the other -> alarms, and since when."""

from __future__ import annotations

import copy
import hashlib
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.monitoring.evidence import ShiryaevRoberts
from skgraphkde.monitoring.ranks import OnlinePValues
from skgraphkde.monitoring.window import SHORTEST_WINDOW, WindowTest

_FORMAT = 1


class Alarm(NamedTuple):
    """One alarm. Graphs are numbered 0, 1, ... in the order in which the monitor saw them.

    Parameters
    ----------
    test : {"martingale", "mmd"}
        Which of the two tests sounded.
    at : int
        At which graph.
    since : int
        The graph with which the change began, as far as that can be told: for "mmd", the first one
        of the window.
    """

    test: str
    at: int
    since: int


class DriftMonitor:
    """Watch whether new graphs are still like those that a detector was fitted to.

    A detector judges single graphs; a monitor judges whether their distribution has changed, which
    can be so without one of them being an anomaly. Two tests watch, and each is given half of the
    false alarms: a *martingale*, which bets on the ranks of the graphs' scores among those before
    them, and the *MMD* between the last graphs and the references, in the detector's own distances.
    The first is the faster one for graphs that score lower or higher than before, the second sees
    what leaves the scores as they were. A monitor never changes its detector, and if that is
    updated or fitted again, goes on with it as it was at the beginning.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted, with ``calibration="split"`` or "loo". It may be updated meanwhile (`partial_fit`):
        the monitor keeps a copy of the fitted state with which it began.
    false_alarm_rate : float, default=0.001
        The mean number of false alarms per graph, of both tests together, is at most this: one in
        1,000 graphs. In (0, 0.1].
    window : int or None, default=100
        How many of the last graphs the MMD looks at, at least 20; it does so four times per window.
        Less than ``8 / false_alarm_rate``, or each look would have to sound the alarm.
        None: the martingale alone, with all of the false alarms. Detectors without a ``density_``
        need None.
    random_state : int, RandomState instance or None, default=None
        Breaks ties of scores, and draws the permutations of the MMD.

    Attributes
    ----------
    alarms_ : list of Alarm
        All that have sounded, and since when.
    n_graphs_ : int
        How many graphs, or p-values, the monitor has seen.
    threshold_ : float
        The statistic at which the martingale sounds.

    See Also
    --------
    skgraphkde.display.DriftDisplay : The statistic, its threshold and the alarms as a picture.

    Notes
    -----
    If all graphs, those of the calibration and the new ones, are exchangeable (drawn from the same
    source, in any order), then for every n the mean number of alarms among n new graphs is at most
    ``n * false_alarm_rate``.

    - *Martingale.* Each score is ranked among the calibration scores and all new scores before it,
      with ties broken at random: such p-values are independent and uniform (Vovk, Gammerman and
      Shafer, 2022). The statistic is the sum of the capital of gamblers who begin at every graph
      and bet on p-values of one kind or another (Shiryaev and Roberts; Vovk et al., 2021; Shin,
      Ramdas and Rinaldo, 2023). It grows by 1 per graph on average, and an alarm sounds, and it
      begins anew at 0, when it reaches `threshold_`.
    - *MMD.* Each test has a permutation p-value, and its level is the number of graphs since the
      last one times the rate. After an alarm it waits for a window of new graphs.

    As with p-values, this is exact for graphs that were set aside (``calibration="split"``) and
    approximate with "loo". For the MMD it is approximate as far as features and encoder were fitted
    to the references, or these were not drawn uniformly.

    References
    ----------
    Vovk, Gammerman, Shafer: Algorithmic Learning in a Random World, 2nd edition, 2022, chapter 8.
    Vovk et al.: Retrain or not retrain, COPA 2021. Shin, Ramdas, Rinaldo: E-detectors, 2023.
    Gretton et al.: A kernel two-sample test, JMLR 13, 2012.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.datasets import make_traces
    >>> from skgraphkde.monitoring import DriftMonitor
    >>> graphs = make_traces(200, 50, kind="retries", random_state=0).graphs
    >>> detector = GraphKDEDetector().fit(graphs[:100])
    >>> monitor = DriftMonitor(detector, random_state=0)
    >>> table = monitor.update(graphs[100:200])  # normal ones
    >>> monitor.alarms_
    []
    >>> table = monitor.update(graphs[200:])  # from now on, calls fail ten times as often
    >>> monitor.alarms_[0]
    Alarm(test='martingale', at=102, since=100)
    """

    def __init__(
        self,
        detector: BaseGraphDetector,
        *,
        false_alarm_rate: float = 0.001,
        window: int | None = 100,
        random_state: Any = None,
    ) -> None:
        _check_parameters(detector, false_alarm_rate, window)
        # Fitted attributes are replaced and never changed, so that they remain with the copy.
        self.detector = copy.copy(detector)
        self.false_alarm_rate, self.window = float(false_alarm_rate), window
        self._start(int(check_random_state(random_state).randint(2**31)))

    def _start(self, seed: int, scores: Any = ()) -> None:
        self._seed = seed
        share = 1.0 if self.window is None else 0.5
        rate = share * self.false_alarm_rate
        self.alarms_: list[Alarm] = []
        self._ranks = OnlinePValues(self.detector.calibration_scores_, seed, scores)
        self._evidence = ShiryaevRoberts(1 / rate)
        self._test = None
        if self.window is not None:
            density = self.detector.density_  # type: ignore[attr-defined]
            self._test = WindowTest(density, int(self.window), rate, seed)

    @property
    def n_graphs_(self) -> int:
        """How many graphs, or p-values, the monitor has seen."""
        return self._evidence.n_steps

    @property
    def threshold_(self) -> float:
        """The statistic at which the martingale sounds."""
        return self._evidence.threshold

    def update(self, graphs: Any) -> pd.DataFrame:
        """Watch new graphs, in the order in which they came.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
            Not those of `fit`. How they are divided among calls makes no difference.

        Returns
        -------
        DataFrame
            One row per graph, whose index is its number: "score"; "p_value", its rank among the
            scores before it; "statistic", of the martingale; "mmd_p_value", that of the last test
            of the window, 1 before the first; and "alarm", the tests that sound, joined by " and ",
            or an empty text.

        Raises
        ------
        TypeError, ValueError
            If a graph cannot be used. The monitor then stays as it was.
        """
        batch = self.detector.read(graphs)
        scores = self.detector.score_samples(batch)
        rows = None if self._test is None else self._test.describe(batch)
        n_before = self.n_graphs_
        table = self._bet(self._ranks.rank(scores))
        table.insert(0, "score", scores)
        mmd_p_values = np.ones(len(scores))
        if self._test is not None and rows is not None:
            mmd_p_values, alarms = self._test.update(rows, n_before)
            self._sound("mmd", alarms, table)
        table.insert(3, "mmd_p_value", mmd_p_values)
        return table

    def update_p_values(self, p_values: Any) -> pd.DataFrame:
        """Watch p-values of a test of your own, by the martingale.

        Parameters
        ----------
        p_values : array-like of shape (n,)
            In [0, 1], independent and uniform as long as nothing has changed. Those of
            `detector.p_values` are not independent, as all of them are ranks among the same
            scores: pass the graphs to :meth:`update`.

        Returns
        -------
        DataFrame
            As that of :meth:`update`, without "score" and "mmd_p_value".

        Raises
        ------
        ValueError
            If a p-value is not in [0, 1]. The monitor then stays as it was.
        """
        numbers = check_array(p_values, ensure_2d=False, dtype=float, input_name="p_values")
        if numbers.ndim != 1 or not ((numbers >= 0) & (numbers <= 1)).all():
            raise ValueError("p_values must be a flat list of numbers in [0, 1]")
        return self._bet(numbers)

    def _bet(self, p_values: np.ndarray) -> pd.DataFrame:
        index = pd.RangeIndex(self.n_graphs_, self.n_graphs_ + len(p_values))
        statistic, alarms = self._evidence.update(p_values)
        columns = {"p_value": p_values, "statistic": statistic, "alarm": ""}
        table = pd.DataFrame(columns, index=index)
        self._sound("martingale", alarms, table)
        return table

    def _sound(self, test: str, alarms: list[tuple[int, int]], table: pd.DataFrame) -> None:
        for at, since in alarms:
            known = table.at[at, "alarm"]
            table.at[at, "alarm"] = f"{known} and {test}" if known else test
            self.alarms_.append(Alarm(test, at, since))
        self.alarms_.sort(key=lambda alarm: alarm.at)

    # -- state -------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The state, as JSON can hold it; the detector is not part of it.

        Returns
        -------
        dict
            It grows by one number per graph: the scores, among which later ones are ranked.

        Examples
        --------
        >>> import json
        >>> import networkx as nx
        >>> from skgraphkde import GraphKDEDetector
        >>> from skgraphkde.monitoring import DriftMonitor
        >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(10, 60)])
        >>> monitor = DriftMonitor(detector, random_state=0)
        >>> table = monitor.update([nx.cycle_graph(30)])
        >>> text = json.dumps(monitor.to_dict())
        >>> DriftMonitor.from_dict(detector, json.loads(text)).n_graphs_
        1
        """
        test = self._test
        return {
            "format": _FORMAT,
            "detector": _fingerprint(self.detector),
            "false_alarm_rate": self.false_alarm_rate,
            "window": None if self.window is None else int(self.window),
            "seed": self._seed,
            "scores": self._ranks.scores,
            "evidence": self._evidence.to_dict(),
            "rows": [] if test is None else test.rows.tolist(),
            "mmd_p_value": 1.0 if test is None else test.p_value,
            "alarms": [list(alarm) for alarm in self.alarms_],
        }

    @classmethod
    def from_dict(cls, detector: BaseGraphDetector, state: dict[str, Any]) -> DriftMonitor:
        """The monitor whose state :meth:`to_dict` returned.

        Parameters
        ----------
        detector : BaseGraphDetector
            As the monitor had it, saved and loaded perhaps, but neither updated nor fitted again.
        state : dict

        Returns
        -------
        DriftMonitor
            It goes on as the one before would.

        Raises
        ------
        ValueError
            If the state is damaged, or belongs to another detector.
        """
        check_is_fitted(detector)
        try:
            if state["format"] != _FORMAT:
                raise ValueError(f"its format is {state['format']!r}, not {_FORMAT}")
            if state["detector"] != _fingerprint(detector):
                raise ValueError(
                    "it belongs to another detector, or to this one before it was updated or "
                    "fitted again"
                )
            rate, window = state["false_alarm_rate"], state["window"]
            monitor = cls(detector, false_alarm_rate=rate, window=window, random_state=0)
            monitor._start(_count("seed", state["seed"], 2**31), _numbers(state["scores"], 1))
            evidence = ShiryaevRoberts.from_dict(monitor.threshold_, state["evidence"])
            monitor._evidence = evidence
            if len(monitor._ranks.scores) > evidence.n_steps:
                raise ValueError("there are more scores than graphs")
            if evidence.capital.sum() >= monitor.threshold_:
                raise ValueError("capital is above the threshold")
            monitor.alarms_ = [_alarm(alarm, window, evidence.n_steps) for alarm in state["alarms"]]
            monitor._take_window(state["rows"], state["mmd_p_value"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"this state of a DriftMonitor cannot be used: {error}") from error
        return monitor

    def _take_window(self, rows: Any, p_value: Any) -> None:
        """Go on with the last graphs, as many as there can be, and the p-value of the last test."""
        found, p = _numbers(rows, 2), float(_numbers(p_value, 0))
        ends = [0, *(alarm.at + 1 for alarm in self.alarms_ if alarm.test == "mmd")]
        n_scores = len(self._ranks.scores)
        if (len(ends) - 1) * (self.window or 0) > n_scores:  # each alarm empties the window
            raise ValueError(f"{n_scores} scores are too few for {len(ends) - 1} alarms")
        n = min(n_scores, self.n_graphs_ - ends[-1], self.window or 0)
        # Where p-values came between graphs, which are in no window, there may be fewer.
        is_right = len(found) == n if n_scores == self.n_graphs_ else len(found) <= n
        if not is_right:
            raise ValueError(f"rows has {len(found)} graphs, and {n} are in the window")
        if not 0 < p <= 1:
            raise ValueError("mmd_p_value is not in (0, 1]")
        if self._test is not None:
            self._test.rows, self._test.p_value = found.reshape(-1, self._test.rows.shape[1]), p


def _check_parameters(detector: Any, false_alarm_rate: Any, window: Any) -> None:
    if not isinstance(detector, BaseGraphDetector):
        raise TypeError(f"detector must be a fitted BaseGraphDetector, got {detector!r}")
    check_is_fitted(detector)
    if not detector.is_calibrated_:
        raise ValueError(
            "a monitor needs calibration scores that are comparable with those of new graphs: fit "
            "the detector with calibration='split', or 'loo'"
        )
    is_real = isinstance(false_alarm_rate, Real) and not isinstance(false_alarm_rate, bool)
    if not is_real or not 0 < false_alarm_rate <= 0.1:
        raise ValueError(f"false_alarm_rate must be in (0, 0.1], got {false_alarm_rate!r}")
    if window is None:
        return
    is_integer = isinstance(window, Integral) and not isinstance(window, bool)
    if not is_integer or window < SHORTEST_WINDOW:
        raise ValueError(
            f"window must be an integer of at least {SHORTEST_WINDOW}, or None, got {window!r}"
        )
    if not hasattr(detector, "density_"):
        raise ValueError(
            f"{type(detector).__name__} has no distances between graphs: use window=None"
        )


def _fingerprint(detector: BaseGraphDetector) -> str:
    """The same for a detector that was saved and loaded, another one after a fit or an update."""
    seen = f"{detector.n_graphs_seen_} ".encode()
    return hashlib.sha256(seen + detector.calibration_scores_.tobytes()).hexdigest()


def _alarm(values: Any, window: int | None, n_graphs: int) -> Alarm:
    test, at, since = values
    if test not in ("martingale", "mmd"):
        raise ValueError(f"{test!r} is no test that sounds alarms")
    at = _count("at", at, n_graphs - 1)
    since = _count("since", since, at)
    if test == "mmd" and at - since + 1 != window:
        raise ValueError(f"an alarm is of a window of {at - since + 1}, and window is {window}")
    return Alarm(test, at, since)


def _count(name: str, value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{name} must be an integer from 0 to {most}, and is {value!r}")
    return value


def _numbers(values: Any, n_axes: int) -> np.ndarray:
    numbers = np.asarray(values, dtype=float)
    if numbers.size and (numbers.ndim != n_axes or not np.isfinite(numbers).all()):
        raise ValueError("a number is missing or not finite")
    return numbers
