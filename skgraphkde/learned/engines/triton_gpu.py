"""Exact kernel means on a GPU by fused Triton kernels, which store no pairs of points in memory.

One program handles a pair of measures (forward), or some points of a measure against all others
(backward), so no two programs write to the same address and sums have a fixed order. With
``TRITON_INTERPRET=1`` the same kernels run on the CPU, slowly, for tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import triton
import triton.language as tl
from torch.autograd.function import once_differentiable

from skgraphkde.learned.engines.torch_tiles import center_of, feature_means
from skgraphkde.learned.sparse import CSRMatrix

__all__ = ["feature_means", "kernel_means", "self_means"]

BLOCK = 32  # points at a time


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
    P = _Entries.of(W, x)
    if y is None or V is None:
        return _Means.apply(x, x, _Pairs(P, P, gammas, symmetric=True))
    memo = {} if memo is None else memo
    if "entries" not in memo:
        memo["entries"] = _Entries.of(V, y)
    return _Means.apply(x, y, _Pairs(P, memo["entries"], gammas))


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
    P = _Entries.of(W, x)
    return _Means.apply(x, x, _Pairs(P, P, gammas, diagonal=True))[..., 0]


@dataclass(frozen=True)
class _Entries:
    """CSR matrix (measures, points) on the device."""

    weights: torch.Tensor
    points: torch.Tensor
    ptr: torch.Tensor
    longest: int  # entries of one measure
    to_points: CSRMatrix  # sums over the entries of each point

    @classmethod
    def of(cls, W: sp.csr_array, x: torch.Tensor) -> _Entries:
        """Convert a matrix to the dtype and the device of the points.

        Parameters
        ----------
        W : csr_array of shape (n_measures, n_points)
        x : Tensor of shape (n_points, d)

        Returns
        -------
        _Entries
        """
        n_entries = W.nnz
        to_points = sp.csr_array(
            (np.ones(n_entries), (W.indices, np.arange(n_entries))), shape=(W.shape[1], n_entries)
        )
        return cls(
            torch.as_tensor(W.data, device=x.device).to(x),
            torch.as_tensor(W.indices, device=x.device).long(),
            torch.as_tensor(W.indptr, device=x.device).long(),
            int(np.diff(W.indptr).max()),
            CSRMatrix(to_points, x),
        )

    def __len__(self) -> int:
        return len(self.ptr) - 1


@dataclass(frozen=True)
class _Pairs:
    """Pairs of measures: all, without mirror images (symmetric), or equal ones (diagonal)."""

    P: _Entries
    Q: _Entries
    gammas: Sequence[float]
    symmetric: bool = False
    diagonal: bool = False


class _Means(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, pairs: _Pairs) -> torch.Tensor:
        x, y = _centered(x, y)
        ctx.save_for_backward(x, y)
        ctx.pairs, P, Q = pairs, pairs.P, pairs.Q
        n_columns = 1 if pairs.diagonal else len(Q)
        gammas = x.new_tensor(pairs.gammas)
        out = x.new_zeros((len(gammas), len(P), n_columns))
        _mean_kernel[(len(P) * n_columns,)](  # other axes of a grid end at 65,535
            *(x, P.weights, P.points, P.ptr, y, Q.weights, Q.points, Q.ptr, gammas, out),
            *(x.shape[1], len(P), n_columns, len(gammas)),
            D_BLOCK=_power_of_2(x.shape[1]),
            BLOCK=BLOCK,
            SYMMETRIC=pairs.symmetric,
            DIAGONAL=pairs.diagonal,
        )
        if pairs.symmetric:
            out = out + out.triu(1).mT
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x, y), pairs = ctx.saved_tensors, ctx.pairs
        if pairs.diagonal:  # a point enters its own measure twice
            return _gradient(x, pairs.P, y, pairs.Q, pairs, 2 * grad), None, None
        if pairs.symmetric:
            return _gradient(x, pairs.P, y, pairs.Q, pairs, grad + grad.mT), None, None
        of_x = _gradient(x, pairs.P, y, pairs.Q, pairs, grad)
        return of_x, _gradient(y, pairs.Q, x, pairs.P, pairs, grad.mT), None


def _gradient(
    x: torch.Tensor, P: _Entries, y: torch.Tensor, Q: _Entries, pairs: _Pairs, G: torch.Tensor
) -> torch.Tensor:
    """Gradient of sum(G * means) in the points x of P."""
    of_entries = x.new_empty((len(P.points), x.shape[1]))
    gammas = x.new_tensor(pairs.gammas)
    _gradient_kernel[(len(P), triton.cdiv(P.longest, BLOCK))](
        *(x, P.weights, P.points, P.ptr, y, Q.weights, Q.points, Q.ptr, gammas, G.contiguous()),
        *(of_entries, x.shape[1], len(P), G.shape[2], len(gammas)),
        D_BLOCK=_power_of_2(x.shape[1]),
        BLOCK=BLOCK,
        DIAGONAL=pairs.diagonal,
    )
    return P.to_points @ of_entries


def _centered(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Points relative to a common center, which reduces cancellation."""
    center = center_of(y)
    return (x - center).contiguous(), (y - center).contiguous()


def _power_of_2(d: int) -> int:
    return max(16, triton.next_power_of_2(d))  # products of matrices want 16 at least


# -- kernels ---------------------------------------------------------------------------------------


@triton.jit
def _load_points(
    points, weights, index, start, stop, d, D_BLOCK: tl.constexpr, BLOCK: tl.constexpr
):
    """Coordinates and weights of the entries from `start` to `stop`; 0 beyond the end."""
    entry = start + tl.arange(0, BLOCK)
    inside = entry < stop
    k = tl.arange(0, D_BLOCK)
    row = tl.load(index + entry, mask=inside, other=0)
    address = points + row[:, None] * d + k[None, :]
    coordinates = tl.load(address, mask=inside[:, None] & (k[None, :] < d), other=0.0)
    return coordinates, tl.load(weights + entry, mask=inside, other=0.0)


@triton.jit
def _squared_distances(X, Y):
    cross = tl.dot(X, tl.trans(Y), input_precision="ieee", out_dtype=X.dtype)
    D = tl.sum(X * X, 1)[:, None] + tl.sum(Y * Y, 1)[None, :] - 2 * cross
    return tl.maximum(D, 0.0)


@triton.jit
def _mean_kernel(
    x,
    w,
    p_index,
    p_ptr,
    y,
    v,
    q_index,
    q_ptr,
    gammas,
    out,
    d,
    n,
    m,
    n_gammas,
    D_BLOCK: tl.constexpr,
    BLOCK: tl.constexpr,
    SYMMETRIC: tl.constexpr,
    DIAGONAL: tl.constexpr,
):
    """out[s, i, j] = sum_pq w_ip v_jq exp(-gamma_s |x_p - y_q|^2) for one i and j."""
    pair = tl.program_id(0).to(tl.int64)
    i, column = pair // m, pair % m
    j = column
    if DIAGONAL:
        j = i
    if SYMMETRIC and j < i:
        return
    p_stop = tl.load(p_ptr + i + 1)
    q_stop = tl.load(q_ptr + j + 1)
    for p in range(tl.load(p_ptr + i), p_stop, BLOCK):
        X, w_p = _load_points(x, w, p_index, p, p_stop, d, D_BLOCK, BLOCK)
        for q in range(tl.load(q_ptr + j), q_stop, BLOCK):
            Y, v_q = _load_points(y, v, q_index, q, q_stop, d, D_BLOCK, BLOCK)
            D = _squared_distances(X, Y)
            weight = w_p[:, None] * v_q[None, :]
            for s in range(n_gammas):
                address = out + (s * n + i) * m + column
                part = tl.sum(weight * tl.exp(-tl.load(gammas + s) * D))
                tl.store(address, tl.load(address) + part)


@triton.jit
def _gradient_kernel(
    x,
    w,
    p_index,
    p_ptr,
    y,
    v,
    q_index,
    q_ptr,
    gammas,
    G,
    out,
    d,
    n,
    m,
    n_gammas,
    D_BLOCK: tl.constexpr,
    BLOCK: tl.constexpr,
    DIAGONAL: tl.constexpr,
):
    """out[p] = 2 (T 1) x - 2 T y, T_pq = sum_sj -gamma_s G[s, i, j] w_ip v_jq K_s, for some p."""
    i = tl.program_id(0).to(tl.int64)
    p_stop = tl.load(p_ptr + i + 1)
    start = tl.load(p_ptr + i) + tl.program_id(1) * BLOCK
    if start >= p_stop:
        return
    X, w_p = _load_points(x, w, p_index, start, p_stop, d, D_BLOCK, BLOCK)
    total = tl.zeros((BLOCK, D_BLOCK), X.dtype)
    for column in range(m):
        j = i
        if not DIAGONAL:
            j = i * 0 + column  # in 64 bits
        q_stop = tl.load(q_ptr + j + 1)
        for q in range(tl.load(q_ptr + j), q_stop, BLOCK):
            Y, v_q = _load_points(y, v, q_index, q, q_stop, d, D_BLOCK, BLOCK)
            D = _squared_distances(X, Y)
            T = tl.zeros((BLOCK, BLOCK), X.dtype)
            for s in range(n_gammas):
                g = tl.load(G + (s * n + i) * m + column)
                if g != 0:
                    gamma = tl.load(gammas + s)
                    T -= gamma * g * tl.exp(-gamma * D)
            T = T * w_p[:, None] * v_q[None, :]
            pull = tl.dot(T, Y, input_precision="ieee", out_dtype=X.dtype)
            total += 2 * (tl.sum(T, 1)[:, None] * X - pull)
    entry = start + tl.arange(0, BLOCK)
    k = tl.arange(0, D_BLOCK)
    inside = (entry[:, None] < p_stop) & (k[None, :] < d)
    tl.store(out + entry[:, None] * d + k[None, :], total, mask=inside)
