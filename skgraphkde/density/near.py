"""The references that are near enough to matter: bounds of distances -> exact ones of a few.

A kernel density estimate with short bandwidths is a sum of which most terms are next to nothing.
Lower bounds of the distances say which ones, and only the others are computed.
"""

from __future__ import annotations

import numpy as np
import torch

from skgraphkde.computing.compiled import compiled
from skgraphkde.density.kde import MultiBandwidthKDE
from skgraphkde.distances.joint import Distances, Embedded

# What all references that are left out could add to a density, as a share of it.
TOLERANCE = 1e-3
# The most promising references, whose distances come first: they say how near is near enough.
FIRST = 8
# Steps in which log kernels are compared, and their number: beyond them is exp(-50).
STEP, STEPS = 0.5, 100


@torch.no_grad()
def near_squared(
    distances: Distances,
    kde: MultiBandwidthKDE,
    P: Embedded,
    Q: Embedded,
    log_weights: torch.Tensor | None,
    left_out: torch.Tensor | None,
) -> torch.Tensor:
    """Squared distances to the references that matter; infinite ones to the others.

    Parameters
    ----------
    distances : Distances
        That have bounds.
    kde : MultiBandwidthKDE
    P, Q : tuple of DiscreteMeasures
        Graphs and references, embedded.
    log_weights, left_out : Tensor of shape (len(P), len(Q)) or None
        As for `kde`.

    Returns
    -------
    Tensor of shape (n_distances, len(P), len(Q))
        Densities are too low by a share of at most `TOLERANCE`.
    """
    low = distances.lower_bounds(P, Q)
    upper = kde.log_kernels(low, log_weights, left_out)
    squared = torch.full_like(low, torch.inf)
    first = torch.zeros_like(low[0], dtype=torch.bool)
    for of_view in upper:
        first.scatter_(1, of_view.topk(min(FIRST, upper.shape[2]), dim=1).indices, True)
    squared[:, first] = distances.squared_at(P, Q, first)
    known = kde.log_kernels(squared, log_weights, left_out).amax(2)
    wanted = np.zeros(first.shape, bool)
    for of_view, best in zip(upper.numpy(), known.numpy(), strict=True):
        _add_wanted(of_view, best, TOLERANCE, wanted)
    others = torch.from_numpy(wanted) & ~first
    squared[:, others] = distances.squared_at(P, Q, others)
    return squared


@compiled(nogil=True)
def _add_wanted(upper, best, tolerance, wanted):
    """Mark the terms without which less than exp(best) * tolerance is missing from each sum.

    The terms are counted by steps of their bounds below `best`, and those of the last steps left
    out as long as their sum, each as large as its step allows, is within the tolerance.
    """
    counts = np.empty(STEPS + 1, np.int64)
    for i in range(upper.shape[0]):
        counts[:] = 0
        for j in range(upper.shape[1]):
            counts[_step(upper[i, j], best[i])] += 1
        missing, last = 0.0, STEPS
        while last > 0:
            missing += counts[last] * np.exp(-STEP * last)
            if missing > tolerance:
                break
            last -= 1
        for j in range(upper.shape[1]):
            if _step(upper[i, j], best[i]) <= last:
                wanted[i, j] = True


@compiled(nogil=True)
def _step(upper, best):
    gap = (best - upper) / STEP
    if gap >= STEPS:
        return STEPS
    return max(0, int(gap))
