"""Window test: the last graphs and the references -> p-values of a two-sample MMD test."""

from __future__ import annotations

import math

import numpy as np

from skgraphkde.detectors.model import GraphModel
from skgraphkde.graphs.batch import GraphBatch

TESTS_PER_WINDOW = 4
SHORTEST_WINDOW = 5 * TESTS_PER_WINDOW
MOST_LANDMARKS, MOST_KNOWN = 25, 400
FEWEST_PERMUTATIONS, MOST_PERMUTATIONS = 199, 9_999


class WindowTest:
    """Two-sample test of the last graphs against the references: MMD with a permutation p-value.

    The description of a graph consists of its distances from a few references, the landmarks, in
    each distance of the detector. The MMD with a Gaussian kernel, whose bandwidth is the median
    distance, compares the descriptions of the last `window` graphs with those of the other
    references. The cost of a test does not depend on the number of earlier graphs, and the
    description of a graph does not depend on other new graphs.

    There are four tests per window, each at the level that `rate` allows. They overlap, and the
    mean number of false alarms is at most the sum of their levels. An alarm empties the window,
    which only omits tests.

    Parameters
    ----------
    model : GraphModel
    window : int
        Number of graphs.
    rate : float
        Mean number of false alarms per graph.
    seed : int
        Seed of landmarks and permutations.

    Attributes
    ----------
    level : float
        Largest p-value that sounds an alarm.
    rows : ndarray of shape (at most window, n_distances * n_landmarks)
        Descriptions of the last graphs.
    p_value : float
        P-value of the last test; 1 before the first.

    Raises
    ------
    ValueError
        If the level is too low for a permutation test, or so high that each test would sound an
        alarm, or there are too few references.

    References
    ----------
    Gretton, Borgwardt, Rasch, Schölkopf, Smola: A kernel two-sample test, JMLR 13, 2012.
    """

    def __init__(self, model: GraphModel, window: int, rate: float, seed: int) -> None:
        self.model, self.window, self.seed = model, window, seed
        self._step = window // TESTS_PER_WINDOW
        self.level = self._step * rate
        least = math.ceil(TESTS_PER_WINDOW / (rate * (MOST_PERMUTATIONS + 1)))
        if self.level * (MOST_PERMUTATIONS + 1) < 1:
            raise ValueError(
                f"window={window} is too short to be tested at this false_alarm_rate: take at "
                f"least {least}, or None for no window"
            )
        longest_step = math.ceil(1 / rate - 1e-9) - 1
        if self._step > longest_step:
            raise ValueError(
                f"window={window} is too long for this false_alarm_rate, which lets every test of "
                f"such a window sound: take from {max(least, SHORTEST_WINDOW)} to "
                f"{TESTS_PER_WINDOW * (longest_step + 1) - 1}, or None for no window"
            )
        n_graphs = len(model.references)
        if n_graphs < 8:
            raise ValueError(
                f"{n_graphs} references are too few for a test of the last graphs: use window=None"
            )
        order = np.random.default_rng(seed).permutation(n_graphs)
        n_landmarks = min(MOST_LANDMARKS, n_graphs // 4)
        self._landmarks = model.references[np.sort(order[:n_landmarks])]
        known = np.sort(order[n_landmarks : n_landmarks + MOST_KNOWN])
        self._scales = np.ones(1)
        self._known = self.describe(model.references[known])
        self._scales = _scales(self._known, n_landmarks)
        self._known = self._known / self._scales
        self.rows = np.empty((0, self._known.shape[1]))
        self.p_value = 1.0

    def describe(self, graphs: GraphBatch) -> np.ndarray:
        """Distances from the landmarks, shape (n_graphs, n_distances * n_landmarks)."""
        views = self.model.densities
        parts = [self.model.distances(graphs, self._landmarks, view=view) for view in views]
        return np.hstack(parts) / self._scales

    def update(self, rows: np.ndarray, n_before: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """Add graphs to the window, and run the tests that are due.

        Parameters
        ----------
        rows : ndarray of shape (n_graphs, n_columns)
            The result of `describe`.
        n_before : int
            Number of graphs that came before them.

        Returns
        -------
        p_values : ndarray of shape (n_graphs,)
            P-value of the last test, for each graph; 1 before the first test.
        alarms : list of (at, since)
            Graphs at which an alarm sounds, and first graphs of their windows.
        """
        p_values, alarms = np.empty(len(rows)), []
        for i, row in enumerate(rows):
            self.rows = np.vstack([self.rows[-self.window + 1 :], row])
            n_seen = n_before + i + 1
            if len(self.rows) == self.window and n_seen % self._step == 0:
                self.p_value = self._test(np.random.default_rng([self.seed, n_seen]))
                if self.p_value <= self.level:
                    alarms.append((n_seen - 1, n_seen - self.window))
                    self.rows = self.rows[:0]
            p_values[i] = self.p_value
        return p_values, alarms

    def _test(self, rng: np.random.Generator) -> float:
        n_permutations = np.clip(
            math.ceil(10 / self.level) - 1, FEWEST_PERMUTATIONS, MOST_PERMUTATIONS
        )
        return mmd_p_value(self.rows, self._known, int(n_permutations), rng)


def mmd_p_value(
    X: np.ndarray, Y: np.ndarray, n_permutations: int, rng: np.random.Generator
) -> float:
    """Permutation p-value of the biased MMD between two samples.

    Parameters
    ----------
    X, Y : ndarray of shape (n_rows, n_columns)
    n_permutations : int
    rng : Generator

    Returns
    -------
    float
        In [1 / (n_permutations + 1), 1]: the share of divisions of the rows into two samples,
        including the given one, whose MMD is at least as large.
    """
    Z = np.vstack([X, Y])
    norms = np.einsum("ij,ij->i", Z, Z)
    D2 = np.maximum(norms[:, None] + norms - 2 * Z @ Z.T, 0)
    K = np.exp(-D2 / (np.median(D2[np.triu_indices(len(Z), 1)]) or 1.0))
    signs = np.where(np.arange(len(Z)) < len(X), 1 / len(X), -1 / len(Y))
    exceeding, of_these = 0, float(signs @ K @ signs)
    for start in range(0, n_permutations, 1000):
        n = min(1000, n_permutations - start)
        A = rng.permuted(np.tile(signs, (n, 1)), axis=1)
        permuted = np.einsum("ij,ij->i", A @ K, A)
        exceeding += int((permuted >= of_these - 1e-12).sum())
    return (1 + exceeding) / (n_permutations + 1)


def _scales(rows: np.ndarray, n_landmarks: int) -> np.ndarray:
    """Median distance in each view, by which views get the same weight; 1 if it is 0."""
    medians = [np.median(part) for part in np.hsplit(rows, rows.shape[1] // n_landmarks)]
    return np.repeat([median or 1.0 for median in medians], n_landmarks)
