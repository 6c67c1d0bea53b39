"""Evidence: p-values, one after the other -> a statistic of Shiryaev and Roberts, and alarms."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betainc, betaln

# A bet is the density of a beta distribution. An exponent below 1 bets on p-values near an end, one
# above 1 on few of them there: low scores, high ones, both or neither, strongly and less so.
_SHAPES = (0.25, 0.5, 1.0, 2.0, 4.0)
_BETS = np.array([(a, b) for a in _SHAPES for b in _SHAPES if (a, b) != (1.0, 1.0)])
_A, _B = _BETS.T
# Smaller p-values count as this one, so that a single odd graph multiplies no capital by above 85.
_SMALLEST = 1e-3


def _densities(p_values: np.ndarray) -> np.ndarray:
    """The bets on p-values, not yet fair as p-values are clipped, shape (n, n_bets)."""
    p = np.clip(p_values, _SMALLEST, 1 - _SMALLEST)[:, None]
    return np.exp((_A - 1) * np.log(p) + (_B - 1) * np.log1p(-p) - betaln(_A, _B))


_MEANS = (
    betainc(_A, _B, 1 - _SMALLEST)
    - betainc(_A, _B, _SMALLEST)
    + _SMALLEST * _densities(np.array([0.0, 1.0])).sum(axis=0)
)


class ShiryaevRoberts:
    """Sum of all the evidence that p-values have ceased to be uniform, since any past moment.

    A bet f is a density on [0, 1], so that the product of f(p_j), ..., f(p_n) is a martingale as
    long as p-values are independent and uniform: the capital of a gambler who begins at j. With K
    bets, a gambler for each bet and each j, and capital 1 / K for each of them, the sum R of all
    capital grows by 1 in a step on average,

        R_k <- (R_k + 1 / K) f_k(p),    R = sum of R_k .

    An alarm sounds where R reaches the threshold c, and all begins anew. R plus c times the number
    of alarms grows by at most 1 in a step on average, so that the mean number of alarms in n steps
    is at most n / c, for every n, and the mean time to the first is at least c.

    Parameters
    ----------
    threshold : float
        More than 0.

    Attributes
    ----------
    capital : ndarray of shape (n_bets,)
        R_k.
    best : ndarray of shape (n_bets,)
        For each bet the capital of the most successful gambler, who began with 1: CUSUM.
    begin : ndarray of shape (n_bets,), int
        When that one began.
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
        """Bet on p-values.

        Parameters
        ----------
        p_values : ndarray of shape (n,)
            In [0, 1].

        Returns
        -------
        statistic : ndarray of shape (n,)
            R after each of them.
        alarms : list of (at, since)
            The steps at which an alarm sounds, and those since which p-values are probably no
            longer uniform: when the most successful gambler began.
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
        """The state, as JSON can hold it."""
        arrays = {name: getattr(self, name).tolist() for name in ("capital", "best", "begin")}
        return {"n_steps": self.n_steps, **arrays}

    @classmethod
    def from_dict(cls, threshold: float, state: dict[str, Any]) -> ShiryaevRoberts:
        """Restore the state that :meth:`to_dict` returned.

        Raises
        ------
        ValueError, KeyError, TypeError
            If the state is damaged.
        """
        restored = cls(threshold)
        restored.n_steps = int(state["n_steps"])
        for name in ("capital", "best", "begin"):
            old, new = getattr(restored, name), finite_array(state[name])
            if new.shape != old.shape:
                raise ValueError(f"{name} must have {len(old)} numbers, got shape {new.shape}")
            setattr(restored, name, new.astype(old.dtype))
        return restored


def finite_array(values: Any) -> np.ndarray:
    """The numbers of a state as an array, or a ValueError if one is missing or not finite."""
    numbers = np.asarray(values, dtype=float)
    if not np.isfinite(numbers).all():
        raise ValueError("a number is missing or not finite")
    return numbers
