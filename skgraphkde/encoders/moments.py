"""Moments: mean and variance of columns over nodes, with one row for all nodes of one color."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch


def column_moments(
    blocks: Iterable[tuple[torch.Tensor, np.ndarray]],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and variance of the columns.

    Parameters
    ----------
    blocks : iterable of (Tensor of shape (n, d), ndarray of shape (n,))
        Rows, and the number of nodes of each row.

    Returns
    -------
    mean, variance : Tensor of shape (d,)
    """
    n_nodes, total, squares = 0, torch.zeros(()), torch.zeros(())
    for H, counts in blocks:
        weights, rows = torch.tensor(counts).to(H.device, torch.float64), H.double()
        n_nodes = n_nodes + counts.sum()
        total, squares = total + weights @ rows, squares + weights @ rows**2
    mean = total / n_nodes
    return mean.to(H.dtype), (squares / n_nodes - mean**2).clamp_min(0).to(H.dtype)
