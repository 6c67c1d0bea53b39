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

    @classmethod
    def from_colors(
        cls,
        points: torch.Tensor,
        colors_of_points: np.ndarray,
        colors: np.ndarray,
        ptr: np.ndarray,
    ) -> DiscreteMeasures:
        """The measures of :meth:`from_clouds`, where samples of one color are at one point.

        Parameters
        ----------
        points : Tensor of shape (n_points, d)
        colors_of_points : ndarray of shape (n_points,)
            Each color of a sample is there; of several points of one color the first is taken.
        colors : ndarray of shape (n_samples,)
        ptr : ndarray of shape (n_measures + 1,)
            Measure i is uniform on the samples ``ptr[i]`` to ``ptr[i + 1] - 1``.
        """
        distinct, first = np.unique(colors_of_points, return_index=True)
        order = np.argsort(first)  # keeps the points of a measure side by side
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        sizes = np.diff(ptr)
        weights = sp.csr_array(
            (
                np.repeat(1.0 / sizes, sizes),
                place[np.searchsorted(distinct, colors)],
                np.array(ptr),
            ),
            shape=(len(sizes), len(distinct)),
        )
        weights.sum_duplicates()
        index = torch.as_tensor(first[order], device=points.device)
        return cls(points[index], weights, sizes)

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
    plan = _Cross(P, P if Q is None else Q, gammas, symmetric=Q is None)
    return _KernelMeans.apply(P.points, P.points if Q is None else Q.points, plan)


def self_means(P: DiscreteMeasures, gammas: Sequence[float]) -> torch.Tensor:
    """The diagonal of ``kernel_means(P, None, gammas)`` alone, shape (n_gammas, len(P))."""
    return _SelfMeans.apply(P.points, _Diagonal(P, gammas))


class _KernelMeans(torch.autograd.Function):
    """W_P K W_Q' tile by tile, K the kernel between the points.

    K is forgotten and made anew for the gradient. Of mirror images one is computed: with symmetric
    measures the result is H + H', H the tiles above the diagonal and half of those on it.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, plan: _Cross) -> torch.Tensor:
        ctx.save_for_backward(x, y)
        ctx.plan = plan
        out = x.new_zeros((len(plan.gammas), *plan.shape))
        for i, row in enumerate(plan.rows):
            # sums[s, j, p] = sum_q v_jq k_s(x_p, y_q) over the tiles q so far.
            sums = x.new_zeros((len(plan.gammas), plan.shape[1], row.n_points))
            for column in plan.columns_of(i):
                D = _squared_distances(y[column.points], x[row.points])
                K = torch.empty_like(D)
                for s, gamma in enumerate(plan.gammas):
                    block = column.weights @ _gaussian(D, gamma, out=K)
                    sums[s].index_add_(0, column.measures, block, alpha=plan.share(row, column))
            for s in range(len(plan.gammas)):
                out[s].index_add_(0, row.measures, row.weights @ sums[s].T.contiguous())
        return out + out.mT if plan.symmetric else out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x, y), plan = ctx.saved_tensors, ctx.plan
        grad_x, grad_y = torch.zeros_like(x), torch.zeros_like(y)
        grad = grad + grad.mT if plan.symmetric else grad
        for i, row in enumerate(plan.rows):
            of_row = grad[:, row.measures]
            for column in plan.columns_of(i):
                G = of_row[:, :, column.measures] * plan.share(row, column)
                _add_gradients(x, y, row, column, plan.gammas, G, grad_x, grad_y)
        return grad_x, grad_y, None


class _SelfMeans(torch.autograd.Function):
    """The diagonal of W K W': tiles of measures with themselves."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, plan: _Diagonal) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.plan = plan
        out = x.new_zeros((len(plan.gammas), plan.n_measures))
        for row, column, (measures, i, j), count in plan.pairs():
            D = _squared_distances(x[row.points], x[column.points])
            K = torch.empty_like(D)
            for s, gamma in enumerate(plan.gammas):
                half = row.weights @ _gaussian(D, gamma, out=K)
                block = column.weights @ half.T.contiguous()
                out[s].index_add_(0, measures, block[j, i], alpha=count)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x,), plan = ctx.saved_tensors, ctx.plan
        grad_x = torch.zeros_like(x)
        for row, column, (measures, i, j), count in plan.pairs():
            G = grad.new_zeros((len(plan.gammas), len(row.measures), len(column.measures)))
            G[:, i, j] = grad[:, measures] * count
            _add_gradients(x, x, row, column, plan.gammas, G, grad_x, grad_x)
        return grad_x, None


def _add_gradients(
    x: torch.Tensor,
    y: torch.Tensor,
    row: _Tile,
    column: _Tile,
    gammas: Sequence[float],
    G: torch.Tensor,
    grad_x: torch.Tensor,
    grad_y: torch.Tensor,
) -> None:
    """Add a tile's share to the gradients.

    They are 2 (T 1) x - 2 T y and 2 (T' 1) y - 2 T' x with T = sum_s -gamma_s K_s * (W_P' G_s W_Q).
    A gamma whose G is zero, because its MMD was not the largest, costs nothing.
    """
    x_tile, y_tile = x[row.points], y[column.points]
    D = _squared_distances(x_tile, y_tile)
    K, T = torch.empty_like(D), torch.zeros_like(D)
    for gamma, G_s in zip(gammas, G, strict=True):
        if G_s.any():
            half = column.weights.transpose_matmul(G_s.T.contiguous())
            spread = row.weights.transpose_matmul(half.T.contiguous())
            T.addcmul_(spread, _gaussian(D, gamma, out=K), value=-gamma)
    grad_x.index_add_(0, row.points, T.sum(1)[:, None] * x_tile - T @ y_tile, alpha=2)
    grad_y.index_add_(0, column.points, T.sum(0)[:, None] * y_tile - T.T @ x_tile, alpha=2)


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
    """Some support points, and the measures that have weight on them."""

    points: torch.Tensor  # indices
    measures: torch.Tensor  # indices
    weights: CSRMatrix  # (measures, points)

    @property
    def n_points(self) -> int:
        return len(self.points)


class _Cross:
    """Which tiles of P and Q meet."""

    def __init__(
        self, P: DiscreteMeasures, Q: DiscreteMeasures, gammas: Sequence[float], symmetric: bool
    ) -> None:
        self.gammas, self.symmetric, self.shape = gammas, symmetric, (len(P), len(Q))
        width = _tile_width(P.points, len(gammas) * len(Q))
        self.rows = _tiles(P.points, P.weights, width)
        self.columns = self.rows if symmetric else _tiles(Q.points, Q.weights, width)

    def columns_of(self, i: int) -> list[_Tile]:
        """The tiles that row tile `i` meets; of mirror images, one."""
        return self.columns[i:] if self.symmetric else self.columns

    def share(self, row: _Tile, column: _Tile) -> float:
        """A tile on the diagonal is its own mirror image, and counts half."""
        return 0.5 if row is column else 1.0


class _Diagonal:
    """Which tiles meet within measures. Each measure has its points to itself here."""

    def __init__(self, P: DiscreteMeasures, gammas: Sequence[float]) -> None:
        self.gammas, self.n_measures = gammas, len(P)
        W = P.weights
        apart = sp.csr_array((W.data, np.arange(W.nnz), W.indptr), shape=(len(P), W.nnz))
        # Only the part within measures is of use: keep the tiles narrow.
        width = min(_tile_width(P.points), 256)
        self.tiles = _tiles(P.points, apart, width, W.indices)

    def pairs(self) -> Iterator[tuple[_Tile, _Tile, tuple, int]]:
        """Two tiles, the measures in both with their places in each, and how often they count."""
        for i, row in enumerate(self.tiles):
            for column in self.tiles[i:]:
                common = np.intersect1d(
                    row.measures.numpy(force=True),
                    column.measures.numpy(force=True),
                    return_indices=True,
                )
                if not len(common[0]):
                    break  # a measure lies in consecutive tiles
                indices = tuple(torch.as_tensor(c, device=row.measures.device) for c in common)
                yield row, column, indices, 1 if row is column else 2


def _tile_width(points: torch.Tensor, n_sums: int = 0) -> int:
    """Points a tile: its temporaries fit into working_memory, on a CPU mostly into the cache.

    Four squares of this width, and `n_sums` rows of it.
    """
    numbers = int(get_config()["working_memory"] * 2**20) // points.element_size()
    fits = (math.isqrt(n_sums**2 + 16 * numbers) - n_sums) // 8  # 4 w^2 + n_sums w = numbers
    return max(1, min(fits, 1024 if points.device.type == "cpu" else 8192))


def _tiles(
    points: torch.Tensor, weights: sp.csr_array, width: int, index: np.ndarray | None = None
) -> list[_Tile]:
    """Cut the support into runs of at most `width` points, between measures where possible.

    Column j of `weights` stands for ``points[index[j]]``, or ``points[j]``.
    """
    n_points = weights.shape[1]
    index = np.arange(n_points) if index is None else index
    first, last = np.minimum.reduceat, np.maximum.reduceat
    starts = weights.indptr[:-1]
    covered = np.bincount(first(weights.indices, starts) + 1, minlength=n_points + 2)
    covered -= np.bincount(last(weights.indices, starts) + 1, minlength=n_points + 2)
    clean = np.flatnonzero(np.cumsum(covered)[: n_points + 1] == 0)
    by_point = weights.tocsc()
    tiles, start = [], 0
    while start < n_points:
        stop = clean[np.searchsorted(clean, start + width, side="right") - 1]
        if stop <= start:
            stop = min(start + width, n_points)
        of_tile = by_point[:, start:stop].tocsr()
        measures = np.flatnonzero(np.diff(of_tile.indptr))
        tiles.append(
            _Tile(
                torch.as_tensor(index[start:stop], device=points.device).long(),
                torch.as_tensor(measures, device=points.device),
                CSRMatrix(of_tile[measures], points),
            )
        )
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
    for tile in _tiles(P.points, P.weights, width):
        projection = P.points[tile.points] @ frequencies
        for s, gamma in enumerate(gammas):
            angle = math.sqrt(2 * gamma) * projection
            features = torch.cat([angle.cos(), angle.sin()], 1) / math.sqrt(n_frequencies)
            out[s] = out[s].index_add(0, tile.measures, tile.weights @ features)
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
