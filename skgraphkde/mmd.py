"""Squared distances between graphs whose nodes are points.

In come discrete measures: support points and, for each graph, weights on them. Out go squared
distances between the measures. Nothing here knows what a graph is: measure, kernel means, distance.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from skgraphkde import _mmd_cpu, _mmd_torch
from skgraphkde._mmd_torch import squared_distances
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
    y, V = (None, None) if Q is None else (Q.points, Q.weights)
    return _engine(P.points).kernel_means(P.points, P.weights, y, V, gammas)


def self_means(P: DiscreteMeasures, gammas: Sequence[float]) -> torch.Tensor:
    """The diagonal of ``kernel_means(P, None, gammas)`` alone, shape (n_gammas, len(P))."""
    return _engine(P.points).self_means(P.points, P.weights, gammas)


def _engine(points: torch.Tensor) -> ModuleType:
    """The fastest engine there is for the device of the points."""
    if points.device.type == "cpu":
        return _mmd_cpu
    if importlib.util.find_spec("triton") is None:
        return _mmd_torch
    from skgraphkde import _mmd_triton  # where there is a GPU

    return _mmd_triton


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
    return _engine(P.points).feature_means(P.points, P.weights, gammas, frequencies)


# -- distance --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EmbeddedMeasures(DiscreteMeasures):
    """Measures with what distances need of each of them alone, made by :meth:`Distance.embed`.

    Parameters
    ----------
    squared_norms : Tensor of shape (n_gammas, n_measures)
        Of the MMD: mean kernels within each measure.
    features : Tensor of shape (n_gammas, n_measures, n_components), or (n_measures, d)
        Means of random features, or the pooled points. Empty if the distance needs none.
    """

    squared_norms: torch.Tensor
    features: torch.Tensor

    def __getitem__(self, index: Any) -> EmbeddedMeasures:
        P = super().__getitem__(index)
        norms, features = self.squared_norms[:, index], self.features[..., index, :]
        return EmbeddedMeasures(P.points, P.weights, P.sizes, norms, features)


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
    correction : float, default=0.0
        Share of the bias of the MMD that is taken out, in [0, 1]. 0 is the V-statistic, a squared
        metric. 1 is the U-statistic, which leaves the pairs of a sample with itself out of the
        means within a measure, and can be negative; a measure of one sample has no other pairs and
        keeps its biased mean, 1.
    frequencies : Tensor of shape (d, n_components // 2) or None
        Of random features for the MMD, see :func:`draw_frequencies`; None: exact.
    """

    kind: str
    gammas: tuple[float, ...]
    correction: float = 0.0
    frequencies: torch.Tensor | None = None

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None = None) -> torch.Tensor:
        """Squared distances, shape (len(P), len(Q)); None for `Q` means `P`.

        For the MMD the largest over the gammas (paper, eq. mmd_distance).
        """
        embedded_P = self.embed(P)
        embedded_Q = embedded_P if Q is None else self.embed(Q)
        if self.kind != "mmd":
            return squared_distances(embedded_P.features, embedded_Q.features)
        norms_P = embedded_P.squared_norms[:, :, None]
        norms_Q = embedded_Q.squared_norms[:, None, :]
        if self.frequencies is None:
            of_gamma = norms_P + norms_Q - 2 * kernel_means(P, Q, self.gammas)
        else:  # the sums in the matrix product, which else take longer than it does
            features_P, features_Q = embedded_P.features, embedded_Q.features
            of_gamma = norms_P + torch.baddbmm(norms_Q, features_P, features_Q.mT, alpha=-2)
        squared = of_gamma.amax(0)
        return squared if self.correction else squared.clamp_min(0)

    def embed(self, P: DiscreteMeasures) -> EmbeddedMeasures:
        """What distances need of each measure alone, which pays where it is needed twice."""
        if isinstance(P, EmbeddedMeasures):
            return P
        norms, features = P.points.new_empty(0, len(P)), P.points.new_empty(0, len(P), 0)
        if self.kind != "mmd":
            features = pooled(P, self.kind)
        elif self.frequencies is None:
            norms = self_means(P, self.gammas)
        else:
            features = feature_means(P, self.gammas, self.frequencies)
            norms = torch.einsum("gnf,gnf->gn", features, features)
        if self.correction:
            norms = torch.lerp(norms, _without_self(norms, P), self.correction)
        return EmbeddedMeasures(P.points, P.weights, P.sizes, norms, features)


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
