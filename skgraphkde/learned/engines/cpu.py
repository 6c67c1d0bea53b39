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
    supports = cpu.supports(_points(x), W, None if y is None else _points(y), V, memo)
    return _KernelMeans.apply(x, x if y is None else y, supports, gammas)


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
    return _FeatureMeans.apply(x, W, gammas, frequencies)


def _points(x: torch.Tensor) -> np.ndarray:
    return x.detach().numpy()


class _KernelMeans(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        y: torch.Tensor,
        supports: tuple[cpu.Support, cpu.Support],
        gammas: Sequence[float],
    ) -> torch.Tensor:
        ctx.operands = *supports, gammas
        return torch.from_numpy(cpu.means_of(*supports, gammas))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        rows, columns, gammas = ctx.operands
        of_rows, of_columns = cpu.gradients_of(rows, columns, gammas, grad.numpy())
        return torch.from_numpy(of_rows), torch.from_numpy(of_columns), None, None


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
    def forward(
        ctx: Any,
        x: torch.Tensor,
        W: sp.csr_array,
        gammas: Sequence[float],
        frequencies: np.ndarray,
    ) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.operands = W, gammas, frequencies
        return torch.from_numpy(cpu.feature_means(_points(x), W, gammas, frequencies))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x,) = ctx.saved_tensors
        W, gammas, frequencies = ctx.operands
        gradient = cpu.feature_gradient(_points(x), W, gammas, frequencies, grad.numpy())
        return torch.from_numpy(gradient), None, None, None
