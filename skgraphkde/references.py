"""References: which training graphs stay as centers of kernels.

In come the log densities of all training graphs. Out go the indices of those that stay; the cost of
a score is proportional to their number (the paper's appendix on scalability).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

# Shares that the paper keeps of the graphs of low, middle and high density: on average 0.8.
RETENTION = np.array([0.9, 0.8, 0.7])


def choose_references(
    log_density: np.ndarray, ratio: float, sampling: str, rng: np.random.RandomState
) -> np.ndarray:
    """Choose round(ratio * N) of N graphs, and 2 at least.

    Parameters
    ----------
    log_density : ndarray of shape (N,)
    ratio : float
        In (0, 1].
    sampling : {"uniform", "stratified", "importance"}
        "stratified" keeps graphs of the low, middle and high third of the densities in the
        proportion 9 : 8 : 7; where a third is used up, the others make up for it. "importance"
        draws with probabilities proportional to 1 / (1 + exp(median(rho) - rho)), rho the density.
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
    thirds = np.array_split(np.argsort(log_density, kind="stable"), 3)
    counts = _shares(Q, np.array([len(third) for third in thirds]))
    kept = [rng.permutation(third)[:count] for third, count in zip(thirds, counts, strict=True)]
    return np.sort(np.concatenate(kept))


def places(chosen: np.ndarray, n_graphs: int) -> np.ndarray:
    """Where each graph stands among the chosen ones, shape (n_graphs,); -1 if it does not."""
    place = np.full(n_graphs, -1)
    place[chosen] = np.arange(len(chosen))
    return place


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
