"""Engines: means of kernels between weighted points. All have the same functions and results.

- `cpu`: matrix products and compiled loops, in threads;
- `triton_gpu`: fused kernels on a GPU;
- `torch_tiles`: plain torch, on all other devices.
"""

from __future__ import annotations

import importlib.util
from types import ModuleType

import torch

from skgraphkde.distances.engines import cpu, torch_tiles


def engine_for(points: torch.Tensor) -> ModuleType:
    """Fastest available engine for the device of the points."""
    if points.device.type == "cpu":
        return cpu
    if importlib.util.find_spec("triton") is None:
        return torch_tiles
    from skgraphkde.distances.engines import triton_gpu  # imports triton

    return triton_gpu
