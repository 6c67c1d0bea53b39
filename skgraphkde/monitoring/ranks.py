"""Online p-values: calibration scores and new scores, one after the other -> uniform p-values."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

import numpy as np

from skgraphkde.calibration import rounding


class OnlinePValues:
    """Smoothed conformal p-values, each new score ranked among all that came before it.

    p = (#{scores < s} + u (1 + #{scores = s})) / (n + 1), with u uniform in [0, 1) and n scores
    before s. If all scores are exchangeable, these p-values are independent and uniform (Vovk,
    Gammerman and Shafer: Algorithmic Learning in a Random World, 2nd edition, 2022, chapter 8).
    Ranked among the calibration scores alone, they would be uniform, too, but would all err in the
    same direction: a test that adds up evidence would in the end reject any calibration set.

    Parameters
    ----------
    calibration : ndarray of shape (n,)
        Scores of normal graphs.
    seed : int
        Draws u. It depends on the number of new scores alone, not on how they are divided among
        calls.
    scores : ndarray of shape (n_new,), default=()
        New scores that were ranked before.
    """

    def __init__(
        self, calibration: np.ndarray, seed: int, scores: np.ndarray | tuple[()] = ()
    ) -> None:
        self.seed = seed
        self.scores: list[float] = list(map(float, scores))
        self._sorted = sorted([*calibration.tolist(), *self.scores])

    def rank(self, scores: np.ndarray) -> np.ndarray:
        """Rank new scores, and remember them.

        Parameters
        ----------
        scores : ndarray of shape (n_graphs,)

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
            p_values[i] = (lower + uniform[i] * (1 + equal)) / (len(self._sorted) + 1)
            insort(self._sorted, score)
            self.scores.append(score)
        return p_values
