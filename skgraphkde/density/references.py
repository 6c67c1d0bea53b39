"""References: which training graphs remain as centers of kernels."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.special import expit
from sklearn.utils._param_validation import Interval, StrOptions

from skgraphkde.persistence import register
from skgraphkde.specification import Specification

# Shares of the graphs of low, middle and high density that the paper keeps: on average 0.8.
RETENTION = np.array([0.9, 0.8, 0.7])


@register
class References(Specification):
    """Keep some of the training graphs as centers of kernels: scoring costs in proportion to them.

    Training chooses references in the same way among the graphs of each batch (the paper's appendix
    on scalability).

    Parameters
    ----------
    sampling : {"stratified", "importance", "uniform"}, default="stratified"
        "stratified" keeps graphs of the low, middle and high third of the densities in the
        proportion 9 : 8 : 7; if a third is used up, the others make up for it. "importance" draws
        with probabilities proportional to 1 / (1 + exp(median(rho) - rho)), rho the density.
        "uniform" draws all with the same probability.
    ratio : float, default=0.8
        Share of the graphs to keep, in (0, 1]; at least two graphs remain.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, References
    >>> from skgraphkde.datasets import load_mutag
    >>> detector = GraphKDEDetector(references=References("uniform", ratio=0.25), random_state=0)
    >>> len(detector.fit(load_mutag().graphs[:80]).density_.references)
    20
    """

    _parameter_constraints: dict = {
        "sampling": [StrOptions({"stratified", "importance", "uniform"})],
        "ratio": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(self, sampling: str = "stratified", ratio: float = 0.8) -> None:
        self.sampling = sampling
        self.ratio = ratio

    def choose(self, log_density: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        """Choose among graphs of these log densities; sorted indices."""
        return choose_references(log_density, self.ratio, self.sampling, rng)


def choose_references(
    log_density: np.ndarray, ratio: float, sampling: str, rng: np.random.RandomState
) -> np.ndarray:
    """Choose round(ratio * N) of N graphs, at least 2.

    Parameters
    ----------
    log_density : ndarray of shape (N,)
    ratio : float
        In (0, 1].
    sampling : {"uniform", "stratified", "importance"}
        See :class:`References`.
    rng : RandomState

    Returns
    -------
    ndarray of int, sorted, without repetition
    """
    N = len(log_density)
    Q = min(N, max(2, round(ratio * N)))
    if sampling == "uniform":
        return np.sort(rng.permutation(N)[:Q])
    if sampling == "importance":
        density = np.exp(np.minimum(log_density, 700.0))  # exp(700) is the largest float's size
        weights = expit(density - np.median(density))
        return np.sort(rng.choice(N, Q, replace=False, p=weights / weights.sum()))
    # Rounded: equal graphs differ in the last bits, which must not decide.
    thirds = np.array_split(np.argsort(np.round(log_density, 8), kind="stable"), 3)
    counts = _shares(Q, np.array([len(third) for third in thirds]))
    kept = [rng.permutation(third)[:count] for third, count in zip(thirds, counts, strict=True)]
    return np.sort(np.concatenate(kept))


def positions(chosen: np.ndarray, n_graphs: int) -> np.ndarray:
    """Position of each graph among the chosen ones, -1 if it is not chosen; shape (n_graphs,)."""
    position = np.full(n_graphs, -1)
    position[chosen] = np.arange(len(chosen))
    return position


def _shares(total: int, sizes: np.ndarray) -> np.ndarray:
    """Split `total` in proportion to RETENTION * sizes, no part above its size."""
    # The factor c with sum min(1, c * RETENTION) * sizes = total, which is piecewise linear in c.
    knots = np.concatenate([[0.0], 1 / RETENTION])
    filled = np.minimum(1, np.outer(knots, RETENTION)) @ sizes
    quota = np.minimum(1, np.interp(total, filled, knots) * RETENTION) * sizes
    counts = np.floor(quota + 1e-9).astype(int)
    due = np.argsort(counts - quota, kind="stable")  # the largest remainders get what is left
    counts[due[: total - counts.sum()]] += 1
    return counts
