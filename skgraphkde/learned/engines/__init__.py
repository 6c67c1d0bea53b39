"""Engines for torch tensors, with gradients, registered for `distances.engines`.

- `cpu`: the compiled loops of `distances.engines.cpu`;
- `triton_gpu`: fused kernels on a GPU;
- `torch_tiles`: plain torch, on all other devices.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from skgraphkde.distances import engines
from skgraphkde.learned.engines import cpu, torch_tiles


def engine_for(points: torch.Tensor) -> ModuleType:
    """Fastest available engine for the device of the points."""
    if points.device.type == "cpu":
        return cpu
    if importlib.util.find_spec("triton") is None:
        return torch_tiles
    from skgraphkde.learned.engines import triton_gpu  # imports triton

    return triton_gpu


@engines.kernel_means.register
def _kernel_means(
    x: torch.Tensor,
    W: sp.csr_array,
    y: torch.Tensor | None,
    V: sp.csr_array | None,
    gammas: Sequence[float],
    memo: dict[str, Any] | None = None,
) -> torch.Tensor:
    if y is not None and y.requires_grad:
        memo = None  # the points change
    return engine_for(x).kernel_means(x, W, y, V, gammas, memo)


@engines.self_means.register
def _self_means(x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float]) -> torch.Tensor:
    return engine_for(x).self_means(x, W, gammas)


@engines.feature_means.register
def _feature_means(
    x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float], frequencies: np.ndarray
) -> torch.Tensor:
    return engine_for(x).feature_means(x, W, gammas, frequencies)


engines.squared_distances.register(torch.Tensor, torch_tiles.squared_distances)
