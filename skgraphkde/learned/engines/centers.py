"""Centers: origins of points that reduce cancellation in differences."""

from __future__ import annotations

import torch


def center_of(points: torch.Tensor) -> torch.Tensor:
    """Point nearest to 0 in the bounding box of the points, shape (d,).

    Subtracting it brings distant points close to 0, and at most doubles the distance of a point
    from 0. Unlike a mean, it does not let one very distant point change the rounding of others. In
    single precision, which only training uses, the center is the mean: the points are standardized
    together, and the course of the training depends on rounding.

    Parameters
    ----------
    points : Tensor of shape (n_points, d)

    Returns
    -------
    Tensor of shape (d,)
    """
    if points.dtype != torch.float64:
        return points.mean(0)
    points = points.detach()
    return points.amin(0).clamp_min(0) + points.amax(0).clamp_max(0)
