"""DriftMonitor: a fitted detector and a stream of graphs -> alarms and starts of changes."""

from __future__ import annotations

import copy
import hashlib
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.copies import kinds_of
from skgraphkde.monitoring.martingale import OnlinePValues, ShiryaevRoberts
from skgraphkde.monitoring.window import SHORTEST_WINDOW, WindowTest

_FORMAT = 1
_CONSTRAINTS: dict = {
    "false_alarm_rate": [Interval(Real, 0, 0.1, closed="right")],
    "window": [Interval(Integral, SHORTEST_WINDOW, None, closed="left"), None],
}


class Alarm(NamedTuple):
    """An alarm. Graphs are numbered 0, 1, ... in the order of arrival at the monitor.

    Parameters
    ----------
    test : {"martingale", "mmd"}
        Test that sounded the alarm.
    at : int
        Graph at which it sounded.
    since : int
        Estimated first graph of the change; for "mmd", the first graph of the window.
    """

    test: str
    at: int
    since: int


class DriftMonitor:
    """Test if the distribution of new graphs differs from that of a detector's training graphs.

    A detector judges single graphs; a monitor judges their distribution, which can change without
    any anomaly. Each of two tests has half of the false alarms: a *martingale*, which bets on the
    ranks of scores among all scores before them, and the *MMD* between the last graphs and the
    references, in the detector's own distances. The martingale is faster if scores become lower or
    higher; the MMD detects changes that do not affect the scores. A monitor never changes its
    detector. If the detector is updated or fitted again, the monitor keeps its state of the start.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted, with ``calibration="split"`` or "loo". It may be updated meanwhile (`partial_fit`):
        the monitor keeps a copy of the fitted state of its start.
    false_alarm_rate : float, default=0.001
        Upper bound on the mean number of false alarms per graph, of both tests together, in
        (0, 0.1]. The default is one in 1,000 graphs.
    window : int or None, default=100
        Number of last graphs that the MMD compares with the references, four times per window. At
        least 20. Must be below ``8 / false_alarm_rate``; otherwise the per-test level exceeds 1.
        None: the martingale alone, with all of the false alarms. Detectors without a ``model_``
        need None.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the ranks of equal scores and of the permutations of the MMD.

    Attributes
    ----------
    alarms_ : list of Alarm
        Alarms so far, in the order of `at`.
    n_graphs_ : int
        Number of graphs so far.
    threshold_ : float
        Statistic at which the martingale sounds an alarm.

    See Also
    --------
    skgraphkde.display.DriftDisplay : Plot of the statistic, its threshold and the alarms.

    Notes
    -----
    If the calibration graphs and the new ones are exchangeable (drawn from the same source, in any
    order), the mean number of alarms among n new graphs is at most ``n * false_alarm_rate``, for
    every n.

    - *Martingale.* Each score is ranked among the calibration scores and all new scores before it,
      with ties broken at random: such p-values are independent and uniform (Vovk, Gammerman and
      Shafer, 2022). The statistic is the sum of the capital of gamblers who start at every graph
      and bet on small p-values, large ones, both or neither (Shiryaev and Roberts; Vovk et al.,
      2021; Shin, Ramdas and Rinaldo, 2023). It grows by 1 per graph on average. When it reaches
      `threshold_`, an alarm sounds, and it restarts at 0.
    - *MMD.* Each test has a permutation p-value, and its level is the number of graphs since the
      last test times the rate. After an alarm it waits for a window of new graphs.

    The bound is exact for graphs that were set aside (``calibration="split"``), and approximate
    with "loo", where a graph counts as equal to the training graphs of which it is a copy. For the
    MMD it is approximate as far as features and encoder were fitted to the references, or the
    references were not drawn uniformly.

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
    Alarm(test='martingale', at=103, since=100)
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
        """Number of graphs so far."""
        return self._evidence.n_steps

    @property
    def threshold_(self) -> float:
        """Statistic at which the martingale sounds an alarm."""
        return self._evidence.threshold

    def update(self, graphs: Any) -> pd.DataFrame:
        """Test new graphs, in the order of their arrival.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
            New graphs, not those of `fit`. Their division into calls makes no difference.

        Returns
        -------
        DataFrame
            One row per graph; the index is its number. The columns are "score"; "p_value", the rank
            of the score among those before it; "statistic" of the martingale; "mmd_p_value" of the
            last test of the window, 1 before the first; and "alarm", the names of the tests that
            sound, joined by " and ", or an empty text.

        Raises
        ------
        TypeError, ValueError
            If a graph cannot be used. The monitor does not change.
        """
        batch = self.detector.read(graphs)
        scores = self.detector.score_samples(batch)
        rows = None if self._test is None else self._test.describe(batch)
        n_before = self.n_graphs_
        p_values = self._ranks.rank(scores, self._scores_of_copies(batch))
        statistic, sounded = self._evidence.update(p_values)
        alarms = [Alarm("martingale", *alarm) for alarm in sounded]
        mmd_p_values = np.ones(len(scores))
        if self._test is not None and rows is not None:
            mmd_p_values, sounded = self._test.update(rows, n_before)
            alarms += [Alarm("mmd", *alarm) for alarm in sounded]
        self.alarms_ = sorted([*self.alarms_, *alarms], key=lambda alarm: alarm.at)
        tests: list[list[str]] = [[] for _ in scores]
        for alarm in alarms:
            tests[alarm.at - n_before].append(alarm.test)
        columns = {
            "score": scores,
            "p_value": p_values,
            "statistic": statistic,
            "mmd_p_value": mmd_p_values,
            "alarm": [" and ".join(names) for names in tests],
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(n_before, self.n_graphs_))

    def _scores_of_copies(self, graphs: GraphBatch) -> list[np.ndarray] | None:
        """Calibration scores of the copies of each graph; None unless each leaves its graph out.

        A training graph was compared with the others. Left out, a new copy of it would be compared
        with the same graphs, and have the same score.
        """
        detector = self.detector
        if not isinstance(detector, GraphKDEDetector) or not detector.keeps_training_graphs:
            return None
        of_known, of_graphs = kinds_of(detector.model_.references, graphs)
        return [detector.calibration_scores_[of_known == kind] for kind in of_graphs]

    # -- state -------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """State for JSON, without the detector.

        Returns
        -------
        dict
            It grows by one number per graph: its score, among which later ones are ranked.

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
            monitor._start(int(state["seed"]), state["scores"])
            monitor._evidence = ShiryaevRoberts.from_dict(monitor.threshold_, state["evidence"])
            monitor.alarms_ = [Alarm(test, int(at), int(s)) for test, at, s in state["alarms"]]
            if monitor._test is not None:
                rows = np.array(state["rows"], dtype=float)
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
    parameters = {"false_alarm_rate": false_alarm_rate, "window": window}
    validate_parameter_constraints(_CONSTRAINTS, parameters, caller_name="DriftMonitor")
    if window is None:
        return
    if not isinstance(detector, GraphKDEDetector):
        raise ValueError(
            f"{type(detector).__name__} has no distances between graphs: use window=None"
        )


def _fingerprint(detector: BaseGraphDetector) -> str:
    """Checksum of the fitted state, which changes with each fit or update."""
    seen = f"{len(detector.training_graphs_)} ".encode()
    return hashlib.sha256(seen + detector.calibration_scores_.tobytes()).hexdigest()
