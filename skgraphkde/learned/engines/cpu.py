"""Kernel means of tensors on the CPU: the compiled loops, with gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    rows, columns = cpu.supports(_points(x), W, None if y is None else _points(y), V, memo)

    def gradients(grad: np.ndarray) -> tuple[np.ndarray, ...]:
        return cpu.gradients_of(rows, columns, gammas, grad)

    means = cpu.means_of(rows, columns, gammas)
    return _Differentiable.apply(means, gradients, x, x if y is None else y)


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
    points = _points(x)

    def gradients(grad: np.ndarray) -> tuple[np.ndarray]:
        return (cpu.self_gradient(points, W, gammas, grad),)

    return _Differentiable.apply(cpu.self_means(points, W, gammas), gradients, x)


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
    points = _points(x)

    def gradients(grad: np.ndarray) -> tuple[np.ndarray]:
        return (cpu.feature_gradient(points, W, gammas, frequencies, grad),)

    means = cpu.feature_means(points, W, gammas, frequencies)
    return _Differentiable.apply(means, gradients, x)


def _points(x: torch.Tensor) -> np.ndarray:
    return x.detach().numpy()


class _Differentiable(torch.autograd.Function):
    """An array that was computed from tensors, as a tensor with gradients.

    `gradients` takes the gradient in the array, and returns those in each of the tensors.
    """

    @staticmethod
    def forward(
        ctx: Any,
        values: np.ndarray,
        gradients: Callable[[np.ndarray], tuple[np.ndarray, ...]],
        *tensors: torch.Tensor,
    ) -> torch.Tensor:
        ctx.gradients = gradients
        return torch.from_numpy(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        return None, None, *map(torch.from_numpy, ctx.gradients(grad.numpy()))
