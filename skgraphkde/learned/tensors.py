"""Tensors: their devices, and operations registered for functions that dispatch on types.

These are the functions of `computing.arrays`, `distances.engines` and `density.kde`. A module that
makes tensors imports this one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from skgraphkde.computing.arrays import concatenated, filled, like, maximum, to_numpy, weighted_sums
from skgraphkde.density.kde import log_densities
from skgraphkde.learned import engines  # noqa: F401  registers the engines
from skgraphkde.learned.sparse import CSRMatrix


@to_numpy.register
def _to_numpy(x: torch.Tensor) -> np.ndarray:
    return x.numpy(force=True)


@like.register
def _like(x: torch.Tensor, values: np.ndarray) -> torch.Tensor:
    return torch.as_tensor(values, device=x.device).to(x.dtype)


@concatenated.register
def _concatenated(first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    return torch.cat([first, *others])


@filled.register
def _filled(first: torch.Tensor, others: Iterator[torch.Tensor], n_rows: int) -> torch.Tensor:
    return torch.cat([first, *others])


maximum.register(torch.Tensor, torch.maximum)


@weighted_sums.register
def _weighted_sums(points: torch.Tensor, weights: sp.csr_array) -> torch.Tensor:
    return CSRMatrix(weights, points) @ points


@log_densities.register
def _log_densities(
    squared: torch.Tensor,
    logits: torch.Tensor | np.ndarray,
    bandwidths: np.ndarray,
    log_weights: np.ndarray | None,
    left_out: np.ndarray | None,
) -> torch.Tensor:
    h = torch.as_tensor(bandwidths).to(squared)
    log_pi = torch.log_softmax(torch.as_tensor(logits).to(squared), 0)
    log_scales = log_pi - torch.log(math.sqrt(2 * math.pi) * h)
    # The mixture is the same for every reference: sum over bandwidths, then references.
    exponents = squared / (2 * h**2)[:, None, None]
    log_kernel = torch.logsumexp(log_scales[:, None, None] - exponents, dim=0)
    if log_weights is not None:
        log_kernel = log_kernel + torch.as_tensor(log_weights).to(squared)
    counts = np.full(len(squared), squared.shape[1])
    if left_out is not None:
        mask = torch.as_tensor(left_out, device=squared.device)
        log_kernel = log_kernel.masked_fill(mask, -math.inf)
        counts = (~left_out).sum(axis=1)
    return torch.logsumexp(log_kernel, 1) - torch.log(torch.as_tensor(counts).to(squared))


def resolve_device(device: Any, fitted: bool = False) -> torch.device:
    """The torch device that `device` means.

    Parameters
    ----------
    device : str or torch.device
        "auto" is the GPU if torch sees one, else the CPU.
    fitted : bool, default=False
        Whether the CPU may replace a GPU that is not available: a detector fitted on a GPU still
        works elsewhere.

    Returns
    -------
    torch.device

    Raises
    ------
    ValueError
        If the device is not supported or not available.
    """
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(device)
    except RuntimeError:
        resolved = None
    if resolved is None or resolved.type not in ("cpu", "cuda"):
        raise ValueError(f"device={device!r} is not supported: use 'auto', 'cpu' or 'cuda'")
    if resolved.type == "cuda" and (resolved.index or 0) >= torch.cuda.device_count():
        if not fitted:
            raise ValueError(f"device={device!r}, but torch sees no such GPU: use 'auto' or 'cpu'")
        return torch.device("cpu")
    return resolved


def on_device(points: Any, device: torch.device) -> torch.Tensor:
    """Put points on a device.

    Parameters
    ----------
    points : ndarray or Tensor
    device : torch.device

    Returns
    -------
    Tensor
    """
    return torch.as_tensor(points, device=device)
