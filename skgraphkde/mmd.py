"""Squared distances between graphs whose nodes are points.

In come discrete measures: support points and, for each graph, weights on them. Out go squared
distances between the measures. Nothing here knows what a graph is: measure, kernel means, distance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn import get_config
from torch.autograd.function import once_differentiable

from skgraphkde._sparse import CSRMatrix

# -- measure ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DiscreteMeasures:
    """Weighted point clouds on common support points.

    Parameters
    ----------
    points : Tensor of shape (n_points, d)
        The support, shared by all measures.
    weights : csr_array of shape (n_measures, n_points)
        Non-negative, rows sum to 1.
    sizes : ndarray of shape (n_measures,)
        The number of samples (nodes) behind each measure, which the unbiased estimate needs.
    """

    points: torch.Tensor
    weights: sp.csr_array
    sizes: np.ndarray

    @classmethod
    def from_clouds(cls, points: torch.Tensor, ptr: np.ndarray) -> DiscreteMeasures:
        """Measure i is uniform on the points ``ptr[i]`` to ``ptr[i + 1] - 1``."""
        sizes = np.diff(ptr)
        weights = sp.csr_array(
            (np.repeat(1.0 / sizes, sizes), np.arange(len(points)), ptr),
            shape=(len(sizes), len(points)),
        )
        return cls(points, weights, sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, index: Any) -> DiscreteMeasures:
        """Measures `index` (a slice or an index array), on the support points they use."""
        weights = self.weights[index]
        used, columns = np.unique(weights.indices, return_inverse=True)
        weights = sp.csr_array(
            (weights.data, columns, weights.indptr), shape=(weights.shape[0], len(used))
        )
        points = self.points[torch.as_tensor(used, device=self.points.device)]
        return DiscreteMeasures(points, weights, self.sizes[index])


# -- kernel means ----------------------------------------------------------------------------------


def kernel_means(
    P: DiscreteMeasures, Q: DiscreteMeasures | None, gammas: Sequence[float]
) -> torch.Tensor:
    """Mean kernel between all measures: sum_pq  w_ip v_jq exp(-gamma |x_p - y_q|^2).

    Parameters
    ----------
    P, Q : DiscreteMeasures
        None for `Q` means `P`, at half the price.
    gammas : sequence of float

    Returns
    -------
    Tensor of shape (n_gammas, len(P), len(Q))
        Differentiable in the points. What is needed beside it is bounded by scikit-learn's
        `working_memory`.
    """
    plan = _Plan(P, P if Q is None else Q, gammas, symmetric=Q is None)
    return _KernelMeans.apply(P.points, plan.Q.points, plan)


def self_means(P: DiscreteMeasures, gammas: Sequence[float]) -> torch.Tensor:
    """The diagonal of ``kernel_means(P, None, gammas)`` alone, shape (n_gammas, len(P))."""
    plan = _Plan(P, P, gammas, symmetric=True, diagonal=True)
    return _KernelMeans.apply(P.points, P.points, plan)


class _KernelMeans(torch.autograd.Function):
    """W_P K W_Q' tile by tile, K the kernel between the points.

    K is forgotten and made anew for the gradient, where a gamma whose incoming gradient is zero,
    because its MMD was not the largest, costs nothing. With T = sum_s -gamma_s K_s * (W_P' G_s
    W_Q), the gradients in x and y are 2 (T 1) x - 2 T y and 2 (T' 1) y - 2 T' x.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, plan: _Plan) -> torch.Tensor:
        ctx.save_for_backward(x, y)
        ctx.plan = plan
        out = x.new_zeros((len(plan.gammas), *plan.shape))
        for pair in plan.pairs():
            row, column = pair.row, pair.column
            D = _squared_distances(x[row.points], y[column.points])
            K = torch.empty_like(D)
            for s, gamma in enumerate(plan.gammas):
                _gaussian(D, gamma, out=K)
                block = column.weights @ (row.weights @ K).T.contiguous()
                pair.add(out[s], block.T)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x, y), plan = ctx.saved_tensors, ctx.plan
        grad_x, grad_y = torch.zeros_like(x), torch.zeros_like(y)
        for pair in plan.pairs():
            row, column = pair.row, pair.column
            x_tile, y_tile = x[row.points], y[column.points]
            D = _squared_distances(x_tile, y_tile)
            K, T = torch.empty_like(D), torch.zeros_like(D)
            for s, gamma in enumerate(plan.gammas):
                G = pair.get(grad[s])
                if G.any():
                    half = column.weights.transpose_matmul(G.T.contiguous())
                    spread = row.weights.transpose_matmul(half.T.contiguous())
                    T.addcmul_(spread, _gaussian(D, gamma, out=K), value=-gamma)
            grad_x[row.points] += 2 * (T.sum(1)[:, None] * x_tile - T @ y_tile)
            grad_y[column.points] += 2 * (T.sum(0)[:, None] * y_tile - T.T @ x_tile)
        return grad_x, grad_y, None


def _squared_distances(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """|x_p - y_q|^2 by one matrix product, around a common center: no cancellation far from 0."""
    center = y.mean(0)
    x, y = x - center, y - center
    D = torch.addmm((y * y).sum(1), x, y.T, alpha=-2)
    return D.add_((x * x).sum(1)[:, None]).clamp_min_(0)


def _gaussian(D: torch.Tensor, gamma: float, out: torch.Tensor) -> torch.Tensor:
    """exp(-gamma D), held above underflow.

    MKL's exp takes 20 times as long where it underflows (5.2 ms against 0.3 ms for 2^20 float32),
    and so does arithmetic with what it then returns; most pairs of nodes are there. The square root
    of the smallest number, 1e-19 in float32, changes no mean and leaves room for the weights.
    """
    lowest = math.log(torch.finfo(D.dtype).tiny) / 2
    return torch.mul(D, -gamma, out=out).clamp_min_(lowest).exp_()


@dataclass(frozen=True)
class _Tile:
    """A run of support points, and the measures that have weight on it."""

    points: slice
    measures: np.ndarray
    weights: CSRMatrix  # (measures, points)


@dataclass(frozen=True)
class _Pair:
    """Two tiles that meet, and where the block of (row measures, column measures) belongs."""

    row: _Tile
    column: _Tile
    mirrored: bool  # whether the pair stands for its mirror image, too
    common: (
        tuple[np.ndarray, ...] | None
    )  # for the diagonal: measures in both, their places in each

    def add(self, out: torch.Tensor, block: torch.Tensor) -> None:
        """Add the block to the result of one gamma."""
        if self.common is not None:
            measures, i, j = self.common
            out[measures] += block[i, j] * (2 if self.mirrored else 1)
            return
        out[np.ix_(self.row.measures, self.column.measures)] += block
        if self.mirrored:
            out[np.ix_(self.column.measures, self.row.measures)] += block.T

    def get(self, grad: torch.Tensor) -> torch.Tensor:
        """The block that belongs there: the transpose of `add`, as a linear map."""
        if self.common is not None:
            measures, i, j = self.common
            block = grad.new_zeros((len(self.row.measures), len(self.column.measures)))
            block[i, j] = grad[measures] * (2 if self.mirrored else 1)
            return block
        block = grad[np.ix_(self.row.measures, self.column.measures)]
        if self.mirrored:
            block = block + grad[np.ix_(self.column.measures, self.row.measures)].T
        return block


class _Plan:
    """Which tiles meet."""

    def __init__(
        self,
        P: DiscreteMeasures,
        Q: DiscreteMeasures,
        gammas: Sequence[float],
        symmetric: bool,
        diagonal: bool = False,
    ) -> None:
        self.Q = Q
        self.gammas, self.symmetric, self.diagonal = gammas, symmetric, diagonal
        self.shape = (len(P),) if diagonal else (len(P), len(Q))
        width = _tile_width(P.points)
        # Of the diagonal's tiles only the part within measures is of use: keep them narrow.
        self.rows = _tiles(P, min(width, 256) if diagonal else width)
        self.columns = self.rows if symmetric else _tiles(Q, width)

    def pairs(self) -> Iterator[_Pair]:
        """The pairs of tiles to compute; of mirror images, one."""
        for i, row in enumerate(self.rows):
            for column in self.columns[i:] if self.symmetric else self.columns:
                common = None
                if self.diagonal:
                    common = np.intersect1d(row.measures, column.measures, return_indices=True)
                    if not len(common[0]):
                        continue
                yield _Pair(row, column, self.symmetric and row is not column, common)


def _tile_width(points: torch.Tensor) -> int:
    """Points a tile: four square temporaries fit into working_memory, on a CPU into the cache."""
    budget = int(get_config()["working_memory"] * 2**20)
    fits = math.isqrt(budget // (4 * points.element_size()))
    return max(1, min(fits, 1024 if points.device.type == "cpu" else 8192))


def _tiles(P: DiscreteMeasures, width: int) -> list[_Tile]:
    """Cut the support into runs of at most `width` points, between measures where possible."""
    n_points = len(P.points)
    first, last = np.minimum.reduceat, np.maximum.reduceat
    starts = P.weights.indptr[:-1]
    covered = np.bincount(first(P.weights.indices, starts) + 1, minlength=n_points + 2)
    covered -= np.bincount(last(P.weights.indices, starts) + 1, minlength=n_points + 2)
    clean = np.flatnonzero(np.cumsum(covered)[: n_points + 1] == 0)
    by_point = P.weights.tocsc()
    tiles, start = [], 0
    while start < n_points:
        stop = clean[np.searchsorted(clean, start + width, side="right") - 1]
        if stop <= start:
            stop = min(start + width, n_points)
        weights = by_point[:, start:stop].tocsr()
        measures = np.flatnonzero(np.diff(weights.indptr))
        tile = _Tile(slice(start, stop), measures, CSRMatrix(weights[measures], P.points))
        tiles.append(tile)
        start = stop
    return tiles


# -- kernel means by random features ---------------------------------------------------------------


def draw_frequencies(d: int, n_components: int, rng: np.random.RandomState) -> torch.Tensor:
    """Orthogonal random frequencies for a Gaussian kernel (Yu et al., NeurIPS 2016).

    Blocks of d orthogonal directions, each with the length of a standard normal vector: the
    kernel's estimate is unbiased as with independent directions, and varies less.

    Parameters
    ----------
    d : int
        Dimension of the points.
    n_components : int
        Number of features, a cosine and a sine a frequency.
    rng : RandomState

    Returns
    -------
    Tensor of shape (d, n_components // 2), on the CPU
    """
    n_frequencies = n_components // 2
    blocks = []
    for _ in range(math.ceil(n_frequencies / d)):
        directions, _ = np.linalg.qr(rng.standard_normal((d, d)))
        blocks.append(directions * np.linalg.norm(rng.standard_normal((d, d)), axis=0))
    return torch.from_numpy(np.hstack(blocks)[:, :n_frequencies].copy())


def feature_means(
    P: DiscreteMeasures, gammas: Sequence[float], frequencies: torch.Tensor
) -> torch.Tensor:
    """Means of random features, whose inner products approximate :func:`kernel_means`.

    exp(-gamma |u - v|^2) is the mean of cos(sqrt(2 gamma) w'(u - v)) over standard normal w. Cost
    and memory are linear in the number of points; the error falls with 1 / sqrt(n_components).

    Parameters
    ----------
    P : DiscreteMeasures
    gammas : sequence of float
    frequencies : Tensor of shape (d, n_components // 2)

    Returns
    -------
    Tensor of shape (n_gammas, len(P), n_components)
        Differentiable in the points.
    """
    frequencies = frequencies.to(P.points)
    n_frequencies = frequencies.shape[1]
    width = max(1, _tile_width(P.points) ** 2 // (2 * n_frequencies))
    out = P.points.new_zeros((len(gammas), len(P), 2 * n_frequencies))
    for tile in _tiles(P, width):
        projection = P.points[tile.points] @ frequencies
        for s, gamma in enumerate(gammas):
            angle = math.sqrt(2 * gamma) * projection
            features = torch.cat([angle.cos(), angle.sin()], 1) / math.sqrt(n_frequencies)
            index = torch.as_tensor(tile.measures, device=out.device)
            out[s] = out[s].index_add(0, index, tile.weights @ features)
    return out


# -- distance --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Distance:
    """Which distance between measures, with its constants.

    Parameters
    ----------
    kind : {"mmd", "mean", "sum"}
        "mmd" is maximum mean discrepancy; "mean" and "sum" are Euclidean distances between the
        means, or the sums, of the points (the paper's ablation "w/o MMD distance").
    gammas : tuple of float
        Exponents of the MMD's kernels exp(-gamma |u - v|^2).
    estimator : {"biased", "unbiased"}
        Of the MMD, see :func:`squared_mmd`.
    frequencies : Tensor of shape (d, n_components // 2) or None
        Of random features for the MMD; None: exact.
    """

    kind: str
    gammas: tuple[float, ...]
    estimator: str
    frequencies: torch.Tensor | None = None

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None = None) -> torch.Tensor:
        """Squared distances, shape (len(P), len(Q)); None for `Q` means `P`."""
        if self.kind == "mmd":
            return squared_mmd(P, Q, self.gammas, self.estimator, self.frequencies)
        x = pooled(P, self.kind)
        return _squared_distances(x, x if Q is None else pooled(Q, self.kind))


def squared_mmd(
    P: DiscreteMeasures,
    Q: DiscreteMeasures | None,
    gammas: Sequence[float],
    estimator: str = "biased",
    frequencies: torch.Tensor | None = None,
) -> torch.Tensor:
    """Squared maximum mean discrepancy, the largest over the gammas (paper, eq. mmd_distance).

    Parameters
    ----------
    P, Q : DiscreteMeasures
        None for `Q` means `P`.
    gammas : sequence of float
        Exponents of the kernels exp(-gamma |u - v|^2).
    estimator : {"biased", "unbiased"}
        "biased" (V-statistic) is a squared metric. "unbiased" (U-statistic) leaves the pairs of a
        sample with itself out of the means within a measure, and can be negative; a measure of one
        sample has no other pairs and keeps its biased mean, 1.
    frequencies : Tensor of shape (d, n_components // 2), default=None
        Of random features, see :func:`draw_frequencies`. None: exact.

    Returns
    -------
    Tensor of shape (len(P), len(Q))
    """
    if frequencies is None:
        own_P = self_means(P, gammas)
        own_Q = own_P if Q is None else self_means(Q, gammas)
        cross = kernel_means(P, Q, gammas)
    else:
        means_P = feature_means(P, gammas, frequencies)
        means_Q = means_P if Q is None else feature_means(Q, gammas, frequencies)
        own_P, own_Q = (means_P**2).sum(-1), (means_Q**2).sum(-1)
        cross = means_P @ means_Q.mT
    if estimator == "unbiased":
        own_P, own_Q = _without_self(own_P, P), _without_self(own_Q, P if Q is None else Q)
    squared = (own_P[:, :, None] + own_Q[:, None, :] - 2 * cross).amax(0)
    return squared.clamp_min(0) if estimator == "biased" else squared


def _without_self(own: torch.Tensor, P: DiscreteMeasures) -> torch.Tensor:
    """Means over the pairs of different samples: (n^2 m - n) / (n (n - 1)), as k(x, x) = 1."""
    n = torch.tensor(P.sizes, dtype=own.dtype, device=own.device)
    return torch.where(n > 1, (n * own - 1) / (n - 1).clamp_min(1), own)


def pooled(P: DiscreteMeasures, readout: str) -> torch.Tensor:
    """Mean (or sum) of each measure's points, shape (len(P), d); `readout` is "mean" or "sum"."""
    mean = CSRMatrix(P.weights, P.points) @ P.points
    if readout == "mean":
        return mean
    return mean * torch.tensor(P.sizes, dtype=mean.dtype, device=mean.device)[:, None]
