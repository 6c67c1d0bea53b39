"""Centers: where to put the origin, so that differences of points do not cancel."""

from __future__ import annotations

import torch


def center_of(points: torch.Tensor) -> torch.Tensor:
    """The point nearest to 0 in the box around the points, shape (d,).

    Points far from 0 come close to it, and none gets more than twice as far: what a point is
    rounded to does not depend on another that is very far, as it would around the mean. In single
    precision it is the mean: that is training, whose points are standardized together, and whose
    course depends on rounding.

    Parameters
    ----------
    points : Tensor of shape (n_points, d)
    """
    if points.dtype != torch.float64:
        return points.mean(0)
    points = points.detach()
    return points.amin(0).clamp_min(0) + points.amax(0).clamp_max(0)
