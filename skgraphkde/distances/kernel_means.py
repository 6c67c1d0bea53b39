"""Mean kernels between discrete measures, the terms of maximum mean discrepancies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from skgraphkde.distances.engines import cpu, engine_for
from skgraphkde.distances.measures import DiscreteMeasures


@dataclass(frozen=True, eq=False)
class EmbeddedMeasures(DiscreteMeasures):
    """Measures with the terms of an MMD that depend on single measures.

    Parameters
    ----------
    squared_norms : Tensor of shape (n_gammas, n_measures)
        Mean kernels within each measure, with their bias.
    features : Tensor of shape (n_gammas, n_measures, n_components)
        Means of random features; n_components is 0 if the distance is exact.
    """

    squared_norms: torch.Tensor
    features: torch.Tensor

    def __getitem__(self, index: Any) -> EmbeddedMeasures:
        P = super().__getitem__(index)
        norms, features = self.squared_norms[:, index], self.features[:, index]
        return EmbeddedMeasures(P.points, P.weights, P.sizes, norms, features)

    @classmethod
    def with_embeddings(
        cls, plain: DiscreteMeasures, parts: Sequence[EmbeddedMeasures]
    ) -> EmbeddedMeasures:
        """Add the embeddings of several parts to their concatenated measures.

        Parameters
        ----------
        plain : DiscreteMeasures
            Concatenated measures.
        parts : sequence of EmbeddedMeasures

        Returns
        -------
        EmbeddedMeasures
        """
        norms = torch.cat([part.squared_norms for part in parts], dim=1)
        features = torch.cat([part.features for part in parts], dim=1)
        return cls(plain.points, plain.weights, plain.sizes, norms, features)

    def select_gammas(self, index: slice | list[int]) -> EmbeddedMeasures:
        """Select the embeddings of some gammas by a slice or a list of indices."""
        norms, features = self.squared_norms[index], self.features[index]
        some = EmbeddedMeasures(self.points, self.weights, self.sizes, norms, features)
        vars(some)["memo"] = self.memo  # depends on points and weights only
        return some


def kernel_means(
    P: DiscreteMeasures, Q: DiscreteMeasures | None, gammas: Sequence[float]
) -> torch.Tensor:
    """Mean kernel between all measures: sum_pq  w_ip v_jq exp(-gamma |x_p - y_q|^2).

    Parameters
    ----------
    P, Q : DiscreteMeasures
        None for `Q` means `P`, at half the cost.
    gammas : sequence of float
        Exponents of the kernels.

    Returns
    -------
    Tensor of shape (n_gammas, len(P), len(Q))
        Differentiable in the points. scikit-learn's `working_memory` bounds the memory for
        intermediate results.
    """
    engine = engine_for(P.points)
    if Q is None:
        return engine.kernel_means(P.points, P.weights, None, None, gammas)
    return engine.kernel_means(P.points, P.weights, Q.points, Q.weights, gammas, Q.memo)


def pair_means(
    P: DiscreteMeasures,
    Q: DiscreteMeasures,
    gammas: Sequence[float],
    rows: np.ndarray,
    columns: np.ndarray,
    tolerance: float,
) -> torch.Tensor:
    """Selected entries of :func:`kernel_means`, on the CPU and without gradients.

    Parameters
    ----------
    P, Q : DiscreteMeasures
    gammas : sequence of float
        Exponents of the kernels.
    rows, columns : ndarray of shape (n_pairs,), int
        Measures of P, ascending, and of Q.
    tolerance : float
        Largest allowed error of squared distances.

    Returns
    -------
    Tensor of shape (n_gammas, n_pairs)
    """
    indptr = np.searchsorted(rows, np.arange(len(P) + 1))
    pairs, memos = (indptr, columns), (P.memo, Q.memo)
    return cpu.pair_means(P.points, P.weights, Q.points, Q.weights, gammas, pairs, memos, tolerance)


def self_means(P: DiscreteMeasures, gammas: Sequence[float]) -> torch.Tensor:
    """Mean kernels within measures: the diagonal of ``kernel_means(P, None, gammas)``.

    Parameters
    ----------
    P : DiscreteMeasures
    gammas : sequence of float
        Exponents of the kernels.

    Returns
    -------
    Tensor of shape (n_gammas, len(P))
    """
    return engine_for(P.points).self_means(P.points, P.weights, gammas)


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
    return engine_for(P.points).feature_means(P.points, P.weights, gammas, frequencies)


def without_own_pairs(means: torch.Tensor, sizes: np.ndarray) -> torch.Tensor:
    """Means over pairs of different samples: (n^2 m - n) / (n (n - 1)), as k(x, x) = 1.

    Parameters
    ----------
    means : Tensor of shape (n_gammas, n_measures)
        Mean kernels within measures.
    sizes : ndarray of shape (n_measures,)
        Numbers of samples n; a measure of one sample keeps its mean.

    Returns
    -------
    Tensor of shape (n_gammas, n_measures)
    """
    n = torch.tensor(sizes, dtype=means.dtype, device=means.device)
    return torch.where(n > 1, (n * means - 1) / (n - 1).clamp_min(1), means)


def gamma_index(some: tuple[float, ...], gammas: tuple[float, ...]) -> slice | list[int]:
    """Indices of some gammas among all.

    Parameters
    ----------
    some, gammas : tuple of float

    Returns
    -------
    slice or list of int
        A slice, which avoids copies, if the indices are consecutive.
    """
    position = {gamma: i for i, gamma in enumerate(gammas)}
    index = [position[gamma] for gamma in some]
    in_a_row = index == list(range(index[0], index[0] + len(index)))
    return slice(index[0], index[0] + len(index)) if in_a_row else index
