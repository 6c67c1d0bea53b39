"""Near references: bounds of distances -> densities from exact distances to a few references.

Most terms of a kernel density estimate with short bandwidths are negligible. Lower bounds of the
distances identify them, and only the other terms are computed.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from skgraphkde.computing.compiled import compiled
from skgraphkde.density.kde import MultiBandwidthKDE
from skgraphkde.distances.joint import Distances, Embedded

# Largest share of a density that all skipped references may have.
MAX_MISSING_SHARE = 1e-2
# References with the largest bounds, whose distances come first: they give the size of the sum.
N_FIRST_REFERENCES = 8
# Step of the histogram of log kernels, and number of steps: the last one is exp(-50).
LOG_STEP, N_LOG_STEPS = 0.5, 100
# Largest change of a log density by the rounding of squared distances.
LOG_DENSITY_TOL = 1e-2
# Number of bounds that are computed at once, so that they stay in the cache.
MAX_BLOCK_ELEMENTS = 2**18


@torch.no_grad()
def near_log_sums(
    distances: Distances,
    kde: MultiBandwidthKDE,
    P: Embedded,
    Q: Embedded,
    log_weights: torch.Tensor | None,
    left_out: torch.Tensor | None,
) -> torch.Tensor:
    """Logarithms of the sums over near references, see :meth:`MultiBandwidthKDE.log_sums`.

    Parameters
    ----------
    distances : Distances
        Distances with lower bounds.
    kde : MultiBandwidthKDE
    P, Q : tuple of DiscreteMeasures
        Embedded graphs and references.
    log_weights, left_out : Tensor of shape (len(P), len(Q)) or None
        As for `kde`.

    Returns
    -------
    Tensor of shape (n_distances, len(P))
        The sums are too low by a share of at most `MAX_MISSING_SHARE`. The rounding of squared
        distances changes the logarithms by at most `LOG_DENSITY_TOL`.
    """
    # The widest kernel, exp(-d^2 / 2h^2), dominates unless d is short.
    tolerance = LOG_DENSITY_TOL * 2 * float(kde.bandwidths.max(axis=1).min()) ** 2

    def log_sums(of_pairs: torch.Tensor) -> torch.Tensor:
        squared = distances.squared_at(P, Q, of_pairs, tolerance)
        return kde.log_sums_of_pairs(squared, log_weights, of_pairs)

    upper, top = _upper_bounds(distances, kde, P, Q, log_weights, left_out)
    first = torch.zeros(upper.shape[1:], dtype=torch.bool)
    for of_view in upper:
        first.scatter_(
            1, of_view.topk(min(N_FIRST_REFERENCES, upper.shape[2]), dim=1).indices, True
        )
    if left_out is not None:
        first &= ~left_out
    known = log_sums(first)
    wanted = np.zeros(first.shape, bool)
    for of_view, of_first in zip(upper.numpy(), (known - top).numpy(), strict=True):
        _add_wanted(of_view, of_first, MAX_MISSING_SHARE, wanted)
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

    The sum over bandwidths is bounded by its largest term times their number.

    Returns
    -------
    upper : Tensor of shape (n_distances, len(P), len(Q)), float32
        Bounds relative to the largest bound of each graph.
    top : Tensor of shape (n_distances, len(P))
        The largest bound of each graph.
    """
    n, N = len(P[0]), len(Q[0])
    upper = torch.empty(len(distances), n, N, dtype=torch.float32)
    top = torch.empty(len(distances), n, dtype=torch.float64)
    height = max(1, MAX_BLOCK_ELEMENTS // N)
    for rows in (slice(start, start + height) for start in range(0, n, height)):
        low = distances.lower_bounds(P, Q, rows)
        of_rows = (None if x is None else x[rows] for x in (log_weights, left_out))
        bounds = kde.log_kernels(low, *of_rows)
        top[:, rows] = bounds.amax(2)
        upper[:, rows] = bounds - top[:, rows, None]
    return upper, top + math.log(len(kde.multiples))


@compiled(nogil=True)
def _add_wanted(upper, known, tolerance, wanted):
    """Mark terms so that less than exp(known) * tolerance is missing from each sum.

    The terms are counted by steps of their bounds below `known`. Terms in the last steps are
    skipped as long as the sum of their bounds is within the tolerance.
    """
    counts = np.empty(N_LOG_STEPS + 1, np.int64)
    for i in range(upper.shape[0]):
        counts[:] = 0
        for j in range(upper.shape[1]):
            counts[_step(upper[i, j], known[i])] += 1
        missing, last = 0.0, N_LOG_STEPS
        while last > 0:
            missing += counts[last] * np.exp(-LOG_STEP * last)
            if missing > tolerance:
                break
            last -= 1
        for j in range(upper.shape[1]):
            if _step(upper[i, j], known[i]) <= last:
                wanted[i, j] = True


@compiled(nogil=True)
def _step(upper, known):
    gap = (known - upper) / LOG_STEP
    if gap >= N_LOG_STEPS:
        return N_LOG_STEPS
    return max(0, int(gap))
