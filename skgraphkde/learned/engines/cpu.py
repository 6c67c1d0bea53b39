"""Kernel means of tensors on the CPU: the compiled loops, with gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch.autograd.function import once_differentiable

from skgraphkde.distances.engines import cpu


def kernel_means(
    x: torch.Tensor,
    W: sp.csr_array,
    y: torch.Tensor | None,
    V: sp.csr_array | None,
    gammas: Sequence[float],
    memo: dict[str, Any] | None = None,
) -> torch.Tensor:
    """W K V' with K the kernel matrix, for each gamma.

    Parameters
    ----------
    x, W, y, V, gammas, memo
        As for :func:`skgraphkde.distances.engines.cpu.kernel_means`.

    Returns
    -------
    Tensor of shape (n_gammas, W.shape[0], V.shape[0])
    """
    known = None if y is None else _points(y)
    tiling, is_swapped = cpu.tiling_of(_points(x), W, known, V, gammas, memo)
    other = x if y is None or V is None else y
    if is_swapped:
        return _KernelMeans.apply(other, x, tiling).mT
    return _KernelMeans.apply(x, other, tiling)


def self_means(x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float]) -> torch.Tensor:
    """Mean kernels within measures.

    Parameters
    ----------
    x, W, gammas
        As for :func:`skgraphkde.distances.engines.cpu.self_means`.

    Returns
    -------
    Tensor of shape (n_gammas, n_measures)
    """
    return _SelfMeans.apply(x, W, gammas)


def feature_means(
    x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float], frequencies: np.ndarray
) -> torch.Tensor:
    """Means of random features.

    Parameters
    ----------
    x, W, gammas, frequencies
        As for :func:`skgraphkde.distances.engines.cpu.feature_means`.

    Returns
    -------
    Tensor of shape (n_gammas, n_measures, 2 * n_frequencies)
    """
    of_dtype = frequencies.astype(_points(x).dtype, copy=False)
    return _FeatureMeans.apply(x, cpu.Features(W, gammas, of_dtype))


def _points(x: torch.Tensor) -> np.ndarray:
    return x.detach().numpy()


class _KernelMeans(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, tiling: cpu.Tiling) -> torch.Tensor:
        ctx.tiling = tiling
        return torch.from_numpy(tiling.means())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        grad_x, grad_y = ctx.tiling.gradients(grad.numpy())
        return torch.from_numpy(grad_x), torch.from_numpy(grad_y), None


class _SelfMeans(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, W: sp.csr_array, gammas: Sequence[float]
    ) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.operands = W, gammas
        return torch.from_numpy(cpu.self_means(_points(x), W, gammas))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x,) = ctx.saved_tensors
        W, gammas = ctx.operands
        gradient = cpu.self_gradient(_points(x), W, gammas, grad.numpy())
        return torch.from_numpy(gradient), None, None


class _FeatureMeans(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, features: cpu.Features) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.features = features
        return torch.from_numpy(features.means(_points(x)))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x,) = ctx.saved_tensors
        return torch.from_numpy(ctx.features.gradient(_points(x), grad.numpy())), None
