"""The references that are near enough to matter: bounds of distances -> exact ones of a few.

A kernel density estimate with short bandwidths is a sum of which most terms are next to nothing.
Lower bounds of the distances say which ones, and only the others are computed.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from skgraphkde.computing.compiled import compiled
from skgraphkde.density.kde import MultiBandwidthKDE
from skgraphkde.distances.joint import Distances, Embedded

# What all references that are left out could add to a density, as a share of it.
TOLERANCE = 1e-2
# The most promising references, whose distances come first: they say how near is near enough.
FIRST = 8
# Steps in which log kernels are compared, and their number: beyond them is exp(-50).
STEP, STEPS = 0.5, 100
# By which log densities may change where squared distances are rounded.
ROUNDING = 1e-2
# Bounds that are computed at once: they stay in the cache.
BOUNDS = 2**18


@torch.no_grad()
def near_log_sums(
    distances: Distances,
    kde: MultiBandwidthKDE,
    P: Embedded,
    Q: Embedded,
    log_weights: torch.Tensor | None,
    left_out: torch.Tensor | None,
) -> torch.Tensor:
    """Logarithms of the sums of all terms that matter, see :meth:`MultiBandwidthKDE.log_sums`.

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
    Tensor of shape (n_distances, len(P))
        The sums are too low by a share of at most `TOLERANCE`; the rounding of squared distances
        changes them by `ROUNDING` at most.
    """
    # The widest kernel, exp(-d^2 / 2h^2), is the one that counts where d is not short.
    tolerance = ROUNDING * 2 * float(kde.bandwidths.max(axis=1).min()) ** 2

    def log_sums(of_pairs: torch.Tensor) -> torch.Tensor:
        squared = distances.squared_at(P, Q, of_pairs, tolerance)
        return kde.log_sums_of_pairs(squared, log_weights, of_pairs)

    upper, top = _upper_bounds(distances, kde, P, Q, log_weights, left_out)
    first = torch.zeros(upper.shape[1:], dtype=torch.bool)
    for of_view in upper:
        first.scatter_(1, of_view.topk(min(FIRST, upper.shape[2]), dim=1).indices, True)
    if left_out is not None:
        first &= ~left_out
    known = log_sums(first)
    wanted = np.zeros(first.shape, bool)
    for of_view, of_first in zip(upper.numpy(), (known - top).numpy(), strict=True):
        _add_wanted(of_view, of_first, TOLERANCE, wanted)
    return known.logaddexp(log_sums(torch.from_numpy(wanted) & ~first))


def _upper_bounds(
    distances: Distances,
    kde: MultiBandwidthKDE,
    P: Embedded,
    Q: Embedded,
    log_weights: torch.Tensor | None,
    left_out: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Upper bounds of the logarithms of all terms.

    The sum over bandwidths counts as its largest term times their number.

    Returns
    -------
    upper : Tensor of shape (n_distances, len(P), len(Q)), float32
        Relative to the largest of each graph.
    top : Tensor of shape (n_distances, len(P))
        The largest.
    """
    n, N = len(P[0]), len(Q[0])
    upper = torch.empty(len(distances), n, N, dtype=torch.float32)
    top = torch.empty(len(distances), n, dtype=torch.float64)
    height = max(1, BOUNDS // N)
    for rows in (slice(start, start + height) for start in range(0, n, height)):
        low = distances.lower_bounds(P, Q, rows)
        of_rows = (None if x is None else x[rows] for x in (log_weights, left_out))
        bounds = kde.log_kernels(low, *of_rows)
        top[:, rows] = bounds.amax(2)
        upper[:, rows] = bounds - top[:, rows, None]
    return upper, top + math.log(len(kde.multiples))


@compiled(nogil=True)
def _add_wanted(upper, known, tolerance, wanted):
    """Mark the terms without which less than exp(known) * tolerance is missing from each sum.

    The terms are counted by steps of their bounds below `known`, and those of the last steps left
    out as long as their sum, each as large as its step allows, is within the tolerance.
    """
    counts = np.empty(STEPS + 1, np.int64)
    for i in range(upper.shape[0]):
        counts[:] = 0
        for j in range(upper.shape[1]):
            counts[_step(upper[i, j], known[i])] += 1
        missing, last = 0.0, STEPS
        while last > 0:
            missing += counts[last] * np.exp(-STEP * last)
            if missing > tolerance:
                break
            last -= 1
        for j in range(upper.shape[1]):
            if _step(upper[i, j], known[i]) <= last:
                wanted[i, j] = True


@compiled(nogil=True)
def _step(upper, known):
    gap = (known - upper) / STEP
    if gap >= STEPS:
        return STEPS
    return max(0, int(gap))
