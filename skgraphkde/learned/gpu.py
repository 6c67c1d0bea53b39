"""GPU: measures on any torch device -> squared MMDs as tensors, with gradients in the points.

Training uses it on every device, and :class:`TorchMMD` to compute distances on a GPU. Kernels of a
block of points are computed once for the means and again for their gradient: they take more memory
than time. Squared distances are kept for the gradient if they fit in memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding_bag

from skgraphkde._utils import memory_limit
from skgraphkde.core.distances.kernels import RECOMPUTE_BELOW
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.distances.mmd import FIVE_DECADES, MMD, FittedMMD

# Number of points of a block on a CPU, whose arrays fit into a cache, and on a GPU.
WIDTHS = {"cpu": 512, "cuda": 8192}
# Number of points of the measures whose means within them are computed together.
GROUP = 256


class TorchMMD(MMD):
    """MMD whose exact kernels torch computes, on a GPU.

    Parameters
    ----------
    gammas, estimator, method, n_components
        As for :class:`MMD`.
    device : str, default="auto"
        "cpu", a GPU such as "cuda", or "auto", the GPU if torch finds one.
    """

    _parameter_constraints: dict = {**MMD._parameter_constraints, "device": [str]}

    def __init__(
        self,
        gammas: Any = FIVE_DECADES,
        estimator: str = "adaptive",
        method: str = "auto",
        n_components: int | None = None,
        device: str = "auto",
    ) -> None:
        super().__init__(gammas, estimator, method, n_components)
        self.device = device

    def build(self, dim: int, n_points: int, rng: np.random.RandomState) -> FittedTorchMMD:
        """Build the fitted distance, see :meth:`MMD.build`."""
        built = super().build(dim, n_points, rng)
        return FittedTorchMMD(**vars(built), device=str(find_device(self.device)))


@dataclass(frozen=True, eq=False)
class FittedTorchMMD(FittedMMD):
    """Fitted distance of :class:`TorchMMD`; a machine without the GPU of the fit takes its CPU."""

    device: str = "cpu"

    def cross(self, P: DiscreteMeasures, Q: DiscreteMeasures) -> np.ndarray:
        """Mean kernels between measures, see :meth:`FittedMMD.cross`."""
        if self.frequencies is not None:
            return super().cross(P, Q)
        device = device_or_cpu(self.device)
        rows = replace(P, points=torch.tensor(P.points, device=device))
        columns = None if Q is P else replace(Q, points=torch.tensor(Q.points, device=device))
        return kernel_means(rows, columns, self.gammas).numpy(force=True)


def find_device(device: str) -> torch.device:
    """The torch device that a parameter means.

    Parameters
    ----------
    device : str
        "auto" is the GPU if torch finds one, else the CPU.

    Returns
    -------
    torch.device

    Raises
    ------
    ValueError
        If torch does not find the device, or it is neither a CPU nor a GPU of CUDA.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # torch without CUDA asserts
        raise ValueError(f"torch does not find device={device!r}: use 'auto' or 'cpu'") from error
    found = torch.device(device)
    if found.type not in WIDTHS:
        raise ValueError(f"device={device!r} cannot be used: use 'cpu', 'cuda' or 'auto'")
    return found


def device_or_cpu(device: str) -> torch.device:
    """The torch device of a fit, or the CPU on a machine that has it not.

    Parameters
    ----------
    device : str
        As for :func:`find_device`.
    """
    try:
        return find_device(device)
    except ValueError:
        return torch.device("cpu")


def embed(distance: FittedMMD, P: DiscreteMeasures) -> DiscreteMeasures:
    """Add the terms of single measures, as :meth:`FittedMMD.embed` does, as tensors.

    Parameters
    ----------
    distance : FittedMMD
    P : DiscreteMeasures
        Its points are a tensor.

    Returns
    -------
    DiscreteMeasures
    """
    features = None
    if distance.frequencies is None:
        norms = self_means(P, distance.gammas).T
    else:
        features = feature_means(P, distance.gammas, distance.frequencies)
        norms = (features * features).sum(2)
    sizes = torch.as_tensor(P.sizes).to(norms)
    return replace(P, sizes=sizes, squared_norms=norms, features=features)


def squared_mmd(
    distance: FittedMMD, P: DiscreteMeasures, Q: DiscreteMeasures | None = None
) -> torch.Tensor:
    """Squared distances between all measures, as :meth:`FittedMMD.squared`, as a tensor.

    Parameters
    ----------
    distance : FittedMMD
    P, Q : DiscreteMeasures
        None for `Q` means `P`, at half the cost.

    Returns
    -------
    Tensor of shape (len(P), len(Q))
    """
    columns = P if Q is None else Q
    if distance.frequencies is None:
        cross = kernel_means(P, Q, distance.gammas)
    else:
        cross = distance.cross(P, columns)
    p = distance.norms(P)
    q = distance.norms(columns)
    squared = (p[:, :, None] + q[:, None, :] - 2 * cross).amax(0)
    return squared if distance.correction else squared.clamp_min(0)


def kernel_means(
    P: DiscreteMeasures, Q: DiscreteMeasures | None, gammas: Sequence[float]
) -> torch.Tensor:
    """Weighted means of the kernels exp(-gamma |x - y|^2) over the points of two measures.

    Parameters
    ----------
    P, Q : DiscreteMeasures
        Their points are tensors. None for `Q` means `P`, at half the cost.
    gammas : sequence of float

    Returns
    -------
    Tensor of shape (n_gammas, len(P), len(Q))
    """
    columns = P if Q is None else Q
    center = columns.points.detach().mean(0)  # reduces cancellation
    x = P.points - center
    y = columns.points - center
    return _KernelMeans.apply(x, y, P.weights, columns.weights, gammas, Q is None)


def self_means(P: DiscreteMeasures, gammas: Sequence[float]) -> torch.Tensor:
    """Mean kernels within measures, shape (n_gammas, len(P)).

    Parameters
    ----------
    P : DiscreteMeasures
    gammas : sequence of float

    Returns
    -------
    Tensor of shape (n_gammas, len(P))
        Diagonals of the kernel means of a few measures at a time.
    """
    cuts = np.flatnonzero(np.diff(P.weights.indptr[1:] // GROUP)) + 1
    means = []
    for some in np.split(np.arange(len(P)), cuts):
        means.append(kernel_means(P[some], None, gammas).diagonal(dim1=1, dim2=2))
    return torch.cat(means, 1)


def feature_means(
    P: DiscreteMeasures, gammas: Sequence[float], frequencies: np.ndarray
) -> torch.Tensor:
    """Weighted means of random features, as `feature_means` of the kernels in NumPy.

    Parameters
    ----------
    P : DiscreteMeasures
    gammas : sequence of float
    frequencies : ndarray of shape (d, n_frequencies)

    Returns
    -------
    Tensor of shape (len(P), n_gammas, 2 * n_frequencies)
    """
    angles = P.points @ torch.tensor(frequencies).to(P.points)
    weights = P.weights / math.sqrt(frequencies.shape[1])
    means = []
    for gamma in gammas:
        scaled = math.sqrt(2 * gamma) * angles
        features = torch.cat([torch.cos(scaled), torch.sin(scaled)], 1)
        means.append(sparse_product(weights, features))
    return torch.stack(means, 1)


# -- sparse products -------------------------------------------------------------------------------


def sparse_product(matrix: sp.csr_array, dense: torch.Tensor) -> torch.Tensor:
    """Product of a constant sparse matrix with a tensor on any device, with gradients.

    Parameters
    ----------
    matrix : csr_array of shape (m, n)
    dense : Tensor of shape (n, k)

    Returns
    -------
    Tensor of shape (m, k)
    """
    return _SparseProduct.apply(matrix, dense)


class _SparseProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: sp.csr_array, dense: torch.Tensor) -> torch.Tensor:
        ctx.matrix = matrix
        return _bag_sums(_rows_of(matrix, dense), dense)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        return None, _SparseProduct.apply(ctx.matrix.T.tocsr(), grad.contiguous())


def _rows_of(matrix: sp.csr_array, like: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Indices, offsets and values of a CSR matrix on the device of a tensor, in its precision."""
    # Copies here and elsewhere, since these arrays are read-only, of which torch would warn.
    indices, offsets = (torch.tensor(x).long() for x in (matrix.indices, matrix.indptr))
    values = torch.tensor(matrix.data).to(like)
    return indices.to(like.device), offsets.to(like.device), values


def _bag_sums(rows: tuple[torch.Tensor, ...], dense: torch.Tensor) -> torch.Tensor:
    """Weighted sums of rows: torch's fastest product with a sparse matrix, in a fixed order."""
    indices, offsets, values = rows
    return embedding_bag(
        indices, dense, offsets, mode="sum", per_sample_weights=values, include_last_offset=True
    )


# -- blocks of points ------------------------------------------------------------------------------


class _Block(NamedTuple):
    """Consecutive points, and the measures with weight on them."""

    points: slice
    measures: torch.Tensor  # indices
    weights: tuple[torch.Tensor, ...]  # (measures, points), see `_rows_of`
    transposed: tuple[torch.Tensor, ...]  # (points, measures)


def _blocks(x: torch.Tensor, W: sp.csr_array) -> list[_Block]:
    blocks = []
    by_point = W.tocsc()
    width = WIDTHS[x.device.type]
    for start in range(0, len(x), width):
        points = slice(start, min(start + width, len(x)))
        weights = by_point[:, points].tocsr()
        measures = np.flatnonzero(np.diff(weights.indptr))
        weights = weights[measures]
        index = torch.as_tensor(measures, device=x.device)
        blocks.append(_Block(points, index, _rows_of(weights, x), _rows_of(weights.T.tocsr(), x)))
    return blocks


class _KernelMeans(torch.autograd.Function):
    """W K V' with K_pq = exp(-gamma |x_p - y_q|^2), for each gamma.

    If x and y are the same, the result is H + H', where H has the blocks above the diagonal, and
    half of those on it. Arrays of a block have the axes (q, gamma, p).
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        y: torch.Tensor,
        W: sp.csr_array,
        V: sp.csr_array,
        gammas: Sequence[float],
        symmetric: bool,
    ) -> torch.Tensor:
        rows = _blocks(x, W)
        columns = rows if symmetric else _blocks(y, V)
        scales = x.new_tensor(gammas)
        keeps = any(ctx.needs_input_grad) and x.element_size() * len(x) * len(y) <= memory_limit()
        kept: list[torch.Tensor] = []
        ctx.save_for_backward(x, y, scales)
        ctx.constants = rows, columns, symmetric, kept
        out = x.new_zeros((W.shape[0], len(gammas), V.shape[0]))
        for i, row in enumerate(rows):
            sums = x.new_zeros((V.shape[0], len(gammas), len(x[row.points])))
            for column in columns[i:] if symmetric else columns:
                D = _squared_distances(x, y, row, column)
                if keeps:
                    kept.append(D)
                K = _kernels(D, scales)
                of_measures = _bag_sums(column.weights, K.flatten(1)).view(-1, *K.shape[1:])
                share = 0.5 if column is row else 1.0
                sums.index_add_(0, column.measures, of_measures, alpha=share)
            by_point = sums.permute(2, 1, 0).flatten(1)
            of_rows = _bag_sums(row.weights, by_point).view(-1, *out.shape[1:])
            out.index_add_(0, row.measures, of_rows)
        out = out.transpose(0, 1)
        return out + out.mT if symmetric else out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        """Gradients 2 (T' 1) x - 2 T' y and 2 (T 1) y - 2 T x with T_qp = dL / d|x_p - y_q|^2."""
        (x, y, scales), (rows, columns, symmetric, kept) = ctx.saved_tensors, ctx.constants
        grad_x = torch.zeros_like(x)
        grad_y = torch.zeros_like(y)
        if not grad.any():
            return grad_x, grad_y, None, None, None, None
        grad = grad + grad.mT if symmetric else grad
        used = grad.flatten(1).any(1)  # often the MMD is largest for the same few gammas
        scales = scales[used]
        slopes = (-scales[:, None, None] * grad[used]).transpose(0, 1)
        distances = iter(kept)
        for i, row in enumerate(rows):
            of_points = _bag_sums(row.transposed, slopes[row.measures].flatten(1))
            of_points = of_points.view(-1, *slopes.shape[1:]).permute(2, 1, 0)
            for column in columns[i:] if symmetric else columns:
                D = next(distances) if kept else _squared_distances(x, y, row, column)
                K = _kernels(D, scales)
                of_pairs = of_points[column.measures].flatten(1)
                of_pairs = _bag_sums(column.transposed, of_pairs).view(K.shape)
                T = K.mul_(of_pairs).sum(1)
                if column is row:
                    T *= 0.5
                x_p = x[row.points]
                y_q = y[column.points]
                grad_x[row.points] += 2 * (T.sum(0)[:, None] * x_p - T.T @ y_q)
                grad_y[column.points] += 2 * (T.sum(1)[:, None] * y_q - T @ x_p)
        return grad_x, grad_y, None, None, None, None


def _squared_distances(
    x: torch.Tensor, y: torch.Tensor, row: _Block, column: _Block
) -> torch.Tensor:
    """|y_q - x_p|^2 for the points p of a row and q of a column, exactly 0 for the same point."""
    x = x[row.points]
    y = y[column.points]
    x_norms = (x * x).sum(1)
    y_norms = (y * y).sum(1)[:, None]
    D = torch.addmm(x_norms, y, x.T, alpha=-2).add_(y_norms)
    # Of near points, nothing but rounding is left: these are computed from the differences.
    near = torch.nonzero(RECOMPUTE_BELOW * (x_norms + y_norms) > D)
    for q, p in (some.T for some in near.split(len(x) + len(y))):  # in the memory of the block
        D[q, p] = ((y[q] - x[p]) ** 2).sum(1)
    return D


def _kernels(D: torch.Tensor, gammas: torch.Tensor) -> torch.Tensor:
    """exp(-gamma D) of shape (q, gamma, p), bounded below: denormal numbers are slow."""
    exponents = D[:, None, :] * -gammas[:, None]
    return exponents.clamp_min_(math.log(torch.finfo(D.dtype).tiny) / 2).exp_()
