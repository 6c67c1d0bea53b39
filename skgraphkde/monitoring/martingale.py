"""Martingale: scores, one after the other -> p-values, a statistic of Shiryaev and Roberts, alarms.

:class:`OnlinePValues` ranks each score among all before it, :class:`ShiryaevRoberts` bets on ranks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import betainc, betaln

from skgraphkde.calibration import rounding

# A bet is the density of a beta distribution. An exponent below 1 bets on p-values near an end, one
# above 1 on few of them there: low scores, high ones, both or neither, strongly and less so.
_SHAPES = (0.25, 0.5, 1.0, 2.0, 4.0)
_BETS = np.array([(a, b) for a in _SHAPES for b in _SHAPES if (a, b) != (1.0, 1.0)])
_A, _B = _BETS.T
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
    seed : int
        Seed of u, which depends on the number of new scores only, not on their division into calls.
    scores : ndarray of shape (n_new,), default=()
        New scores of earlier calls.
    """

    def __init__(
        self, calibration: np.ndarray, seed: int, scores: np.ndarray | tuple[()] = ()
    ) -> None:
        self.seed = seed
        self.scores: list[float] = list(map(float, scores))
        self._sorted = sorted([*calibration.tolist(), *self.scores])

    def rank(self, scores: np.ndarray, alike: Sequence[np.ndarray] | None = None) -> np.ndarray:
        """Rank new scores, and add them to the scores before.

        Parameters
        ----------
        scores : ndarray of shape (n_graphs,)
        alike : sequence of ndarray, default=None
            For each graph, the calibration scores that count as equal to its own. None: no others
            than equal ones.

        Returns
        -------
        ndarray of shape (n_graphs,)
            In [0, 1], small for low scores.
        """
        bits = np.random.PCG64(self.seed)
        bits.advance(len(self.scores))
        uniform = np.random.Generator(bits).random(len(scores)).tolist()
        margins = rounding(scores).tolist()  # scores that differ by less are equal
        p_values = np.empty(len(scores))
        for i, (score, margin) in enumerate(zip(scores.tolist(), margins, strict=True)):
            lower = bisect_left(self._sorted, score - margin)
            equal = bisect_right(self._sorted, score + margin) - lower
            if alike is not None:
                is_lower, is_higher = alike[i] < score - margin, alike[i] > score + margin
                lower -= int(is_lower.sum())
                equal += int(is_lower.sum() + is_higher.sum())
            p_values[i] = (lower + uniform[i] * (1 + equal)) / (len(self._sorted) + 1)
            insort(self._sorted, score)
            self.scores.append(score)
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
    capital : ndarray of shape (n_bets,)
        R_k.
    best : ndarray of shape (n_bets,)
        For each bet, the capital of the most successful gambler, who started with 1 (CUSUM).
    begin : ndarray of shape (n_bets,), int
        Start of that gambler.
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
        self.capital = np.zeros(len(_BETS))
        self.best = np.ones(len(_BETS))
        self.begin = np.full(len(_BETS), self.n_steps)

    def update(self, p_values: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """Bet on new p-values.

        Parameters
        ----------
        p_values : ndarray of shape (n,)
            In [0, 1].

        Returns
        -------
        statistic : ndarray of shape (n,)
            R after each p-value.
        alarms : list of (at, since)
            Steps at which an alarm sounds, and estimated starts of the change: the starts of the
            most successful gamblers.
        """
        bets = _densities(p_values) / _MEANS
        statistic, alarms = np.empty(len(bets)), []
        for i, bet in enumerate(bets):
            self.begin[self.best <= 1] = self.n_steps
            self.best = np.maximum(self.best, 1) * bet
            self.capital = (self.capital + 1 / len(_BETS)) * bet
            statistic[i] = self.capital.sum()
            self.n_steps += 1
            if statistic[i] >= self.threshold:
                alarms.append((self.n_steps - 1, int(self.begin[self.best.argmax()])))
                self._restart()
        return statistic, alarms

    def to_dict(self) -> dict[str, Any]:
        """State for JSON."""
        arrays = {name: getattr(self, name).tolist() for name in ("capital", "best", "begin")}
        return {"n_steps": self.n_steps, **arrays}

    @classmethod
    def from_dict(cls, threshold: float, state: dict[str, Any]) -> ShiryaevRoberts:
        """Restore the state that :meth:`to_dict` returned.

        Parameters
        ----------
        threshold : float
        state : dict

        Returns
        -------
        ShiryaevRoberts
        """
        restored = cls(threshold)
        restored.n_steps = int(state["n_steps"])
        for name in ("capital", "best", "begin"):
            setattr(restored, name, np.array(state[name], dtype=getattr(restored, name).dtype))
        return restored
