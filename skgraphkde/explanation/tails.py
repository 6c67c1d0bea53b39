"""Tails: numbers of the known graphs -> how improbable a number of a new graph is.

Minus the logarithm of a p-value: the share of the known graphs with numbers as far out, and beyond
all of them a tail that falls like that of an exponential or a t-distribution, whichever is heavier.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy import stats

from skgraphkde.core.scoring.calibration import rounding

# The tail begins here.
TAIL = 0.9


class Tail:
    """The upper tail of one number.

    Parameters
    ----------
    known : ndarray of shape (n,)
        Of the known graphs; NaN where a graph has none.
    """

    def __init__(self, known: np.ndarray) -> None:
        self.known = np.sort(known[np.isfinite(known)])

    @cached_property
    def _moments(self) -> tuple[float, float, float]:
        """Mean, deviation, and the mean excess over where the tail begins."""
        known = self.known
        begin = np.quantile(known, TAIL)
        above = known[known > begin] - begin
        excess = above.mean() if len(above) else 0.0
        return float(known.mean()), float(known.std(ddof=1)), float(excess)

    def strengths(
        self, values: np.ndarray, least: np.ndarray | float = 0.0, scale: float = 0.0
    ) -> np.ndarray:
        """Minus log p of new numbers.

        Parameters
        ----------
        values : ndarray of shape (n_graphs,)
        least : ndarray of shape (n_graphs,) or float, default=0.0
            Smallest excess over the largest known value that counts as unusual.
        scale : float, default=0.0
            The least scale of the tail, if it is larger than `least`.

        Returns
        -------
        ndarray of shape (n_graphs,)
            0 where there is no number, or fewer than two known ones.
        """
        known = self.known
        n = len(self.known)
        is_given = np.isfinite(values)
        if n < 2:
            return np.zeros(len(values))
        values = np.where(is_given, values, known[0])
        nearly = values - np.maximum(rounding(values), least)
        as_far = n - np.searchsorted(known, nearly, side="left")
        log_p = np.log((1 + as_far) / (n + 1))
        if as_far.all():  # none is beyond all known ones
            return np.where(is_given, -log_p, 0.0)
        mean, spread, excess = self._moments
        floor = np.maximum(np.maximum(least, scale), 1e-9 * (1 + abs(known[-1])))
        exponential = -np.maximum(values - known[-1], 0) / np.maximum(
            max(excess, spread / 2), floor
        )
        deviation = (values - mean) / np.maximum(spread, floor)
        student = stats.t.logsf(deviation * np.sqrt(n / (n + 1)), n - 1) + np.log(n + 1)
        beyond = np.minimum(np.maximum(exponential, student), 0.0)
        return np.where(is_given, -log_p - np.where(as_far == 0, beyond, 0.0), 0.0)

    def leave_one_out(self, values: np.ndarray, least: np.ndarray | float = 0.0) -> np.ndarray:
        """Minus log p of the known numbers, each compared with the others."""
        n = len(self.known)
        if n < 3:
            return np.zeros(len(values))
        is_given = np.isfinite(values)
        filled = np.where(is_given, values, self.known[0])
        least = np.broadcast_to(least, values.shape)
        nearly = filled - np.maximum(rounding(filled), least)
        as_far = n - np.searchsorted(self.known, nearly, side="left")
        strengths = np.where(is_given, -np.log(np.maximum(as_far, 1) / n), 0.0)
        for i in np.flatnonzero(is_given & (as_far == 1)):  # beyond all others
            others = Tail(np.delete(values, i))
            strengths[i] = others.strengths(values[i : i + 1], least[i : i + 1])[0]
        return strengths


class Tails:
    """Both tails of many numbers, and how large the largest strength of a known graph is.

    The strength of a number is minus the logarithm of the probability that any number of a known
    graph, judged by the others, is as improbable (the step of Westfall and Young, 1993): numbers
    that go together count once, and whatever the distributions are, a graph like the known ones has
    a strength of at least s with a probability of about exp(-s).

    Parameters
    ----------
    known : ndarray of shape (n_known, n_numbers)
    both : ndarray of shape (n_numbers,), bool
        True for numbers of which small values are unusual, too.
    least : ndarray of the shape of `known`
        As for :class:`Tail`.
    """

    def __init__(self, known: np.ndarray, both: np.ndarray, least: np.ndarray) -> None:
        signs = ((1, -1) if is_both else (1,) for is_both in both)
        self._tails = [(j, x, Tail(x * known[:, j])) for j, of_j in enumerate(signs) for x in of_j]
        # Each known graph judged by the others.
        self.own = self._largest(Tail.leave_one_out, known, least)
        # Of the same rank, a number among n others is less probable than one among n - 1.
        self.maxima = self.own.max(axis=1, initial=0.0) + np.log1p(1 / len(known))
        self.largest = Tail(self.maxima)

    def _largest(
        self, strengths: Callable[..., np.ndarray], values: np.ndarray, least: np.ndarray
    ) -> np.ndarray:
        """The larger strength in the tails of each number."""
        found = np.zeros(values.shape)
        for j, sign, tail in self._tails:
            in_tail = strengths(tail, sign * values[:, j], least[:, j])
            found[:, j] = np.maximum(found[:, j], in_tail)
        return found

    def raw(self, values: np.ndarray, least: np.ndarray) -> np.ndarray:
        """Minus log p of each number by itself, shape (n_graphs, n_numbers)."""
        return self._largest(Tail.strengths, values, least)

    def strengths(self, raw: np.ndarray) -> np.ndarray:
        """Minus log p among all numbers, of the same shape as what :meth:`raw` returns."""
        return self.largest.strengths(raw.reshape(-1), scale=1.0).reshape(raw.shape)

    def strengths_of_known(self, own: np.ndarray) -> np.ndarray:
        """The strengths of known graphs, each judged by the others, shape (len(own), n_numbers).

        Parameters
        ----------
        own : ndarray of int
            Indices of known graphs.
        """
        found = [
            Tail(np.delete(self.maxima, i)).strengths(self.own[i], scale=1.0) for i in own.tolist()
        ]
        return np.array(found).reshape(len(own), self.own.shape[1])
