"""DriftMonitor: a fitted detector, and graphs one after the other -> alarms, and since when."""

from __future__ import annotations

import copy
import hashlib
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.monitoring.evidence import ShiryaevRoberts, finite_array
from skgraphkde.monitoring.ranks import OnlinePValues
from skgraphkde.monitoring.window import SHORTEST_WINDOW, WindowTest

_FORMAT = 1


class Alarm(NamedTuple):
    """One alarm. Graphs are numbered 0, 1, ... in the order in which the monitor saw them.

    Parameters
    ----------
    test : {"martingale", "mmd"}
        The test that sounded.
    at : int
        The graph at which it sounded.
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
        Number of last graphs that the MMD compares with the references, four times per window. At
        least 20. Must be below ``8 / false_alarm_rate``; otherwise the per-test level exceeds 1.
        None: the martingale alone, with all of the false alarms. Detectors without a ``model_``
        need None.
    random_state : int, RandomState instance or None, default=None
        Breaks ties of scores, and draws the permutations of the MMD.

    Attributes
    ----------
    alarms_ : list of Alarm
        All that have sounded, and since when.
    n_graphs_ : int
        Number of graphs that the monitor has seen.
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
    >>> from skgraphkde.datasets import make_watts_strogatz
    >>> from skgraphkde.monitoring import DriftMonitor
    >>> graphs = make_watts_strogatz(200, 50, random_state=0).graphs
    >>> detector = GraphKDEDetector().fit(graphs[:100])
    >>> monitor = DriftMonitor(detector, random_state=0)
    >>> table = monitor.update(graphs[100:200])  # normal ones
    >>> monitor.alarms_
    []
    >>> table = monitor.update(graphs[200:])  # the share of rewired edges changes
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
            model = self.detector.model_  # type: ignore[attr-defined]
            self._test = WindowTest(model, int(self.window), rate, seed)

    @property
    def n_graphs_(self) -> int:
        """Number of graphs that the monitor has seen."""
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
        """Restore a monitor from the state that :meth:`to_dict` returned.

        Parameters
        ----------
        detector : BaseGraphDetector
            The detector of that monitor, neither updated nor fitted again; it may have been saved
            and loaded.
        state : dict

        Returns
        -------
        DriftMonitor
            It continues with the next graph.

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
            monitor._start(int(state["seed"]), finite_array(state["scores"]))
            monitor._evidence = ShiryaevRoberts.from_dict(monitor.threshold_, state["evidence"])
            monitor.alarms_ = [Alarm(test, int(at), int(s)) for test, at, s in state["alarms"]]
            if monitor._test is not None:
                rows = finite_array(state["rows"])
                monitor._test.rows = rows.reshape(-1, monitor._test.rows.shape[1])
                monitor._test.p_value = float(state["mmd_p_value"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"this state of a DriftMonitor cannot be used: {error}") from error
        return monitor


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
    if not isinstance(detector, GraphKDEDetector):
        raise ValueError(
            f"{type(detector).__name__} has no distances between graphs: use window=None"
        )


def _fingerprint(detector: BaseGraphDetector) -> str:
    """Checksum of the fitted state, which changes with each fit or update."""
    seen = f"{detector.n_graphs_seen_} ".encode()
    return hashlib.sha256(seen + detector.calibration_scores_.tobytes()).hexdigest()
