"""Sparse times dense: a SciPy CSR array multiplies dense tensors on any device, with gradients.

A product of a CSR matrix with a dense one is a weighted sum of rows, which ``embedding_bag``
computes. It is torch's fastest way on the CPU (36,000 nodes, 128 columns, float32, two cores: 0.7
ms; CSR tensors 2.3, COO 5.5, index_add 37, DGL 7.8), it sums in a fixed order on every device, and
it needs no sparse tensor.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import scipy.sparse as sp
import torch
from torch.nn.functional import embedding_bag


class CSRMatrix:
    """A constant sparse matrix on a torch device.

    Parameters
    ----------
    matrix : csr_array of shape (m, n)
    like : Tensor
        Sets the dtype and the device.
    """

    def __init__(self, matrix: sp.csr_array, like: torch.Tensor) -> None:
        self._matrix, self._dtype, self._device = matrix, like.dtype, like.device

    @cached_property
    def _rows(self) -> tuple[torch.Tensor, ...]:
        return self._to_torch(self._matrix)

    @cached_property
    def _columns(self) -> tuple[torch.Tensor, ...]:
        return self._to_torch(sp.csr_array(self._matrix.T.tocsr()))

    def __matmul__(self, dense: torch.Tensor) -> torch.Tensor:
        """The product with a dense (n, k) tensor, shape (m, k)."""
        return _Matmul.apply(dense, self, False)

    def transpose_matmul(self, dense: torch.Tensor) -> torch.Tensor:
        """The product of the transpose with a dense (m, k) tensor, shape (n, k)."""
        return _Matmul.apply(dense, self, True)

    def _to_torch(self, matrix: sp.csr_array) -> tuple[torch.Tensor, ...]:
        return (
            torch.tensor(matrix.indices, dtype=torch.int64, device=self._device),
            torch.tensor(matrix.indptr, dtype=torch.int64, device=self._device),
            torch.tensor(matrix.data, dtype=self._dtype, device=self._device),
        )


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: torch.Tensor, matrix: CSRMatrix, transposed: bool) -> torch.Tensor:
        ctx.matrix, ctx.transposed = matrix, transposed
        indices, indptr, data = matrix._columns if transposed else matrix._rows
        return embedding_bag(
            indices, dense, indptr, mode="sum", per_sample_weights=data, include_last_offset=True
        )

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        return _Matmul.apply(grad.contiguous(), ctx.matrix, not ctx.transposed), None, None
