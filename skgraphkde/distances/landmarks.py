"""Landmarks: bounds of mean kernels, so that distant graphs need no exact distance.

Mean embeddings are projected on the span of the kernels at a few points, the landmarks (Williams
and Seeger, NeurIPS 2000). With the projections z and the lengths r of the residuals,

    <mu_P, mu_Q> <= z_P'z_Q + r_P r_Q

by Cauchy and Schwarz, and so the squared MMD is not below |mu_P|^2 + |mu_Q|^2 - 2 (z_P'z_Q + r_P
r_Q). One matrix product bounds all pairs, and only close pairs are computed exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from skgraphkde.distances.engines import engine_for
from skgraphkde.distances.kernel_means import EmbeddedMeasures
from skgraphkde.distances.measures import DiscreteMeasures

# Number of landmarks: with fewer the bounds are looser, with more they take longer.
N_LANDMARKS = 256
# Smallest numbers of reference points and of references for which bounds save time: all pairs of
# points then take half a second, and some references are skipped. The mean number of references per
# point is limited, too: if references share most of their points, exact distances cost less.
MIN_POINTS, MIN_REFERENCES, MAX_SHARING = 5_000, 100, 3
# Number of elements that are projected at once.
MAX_BLOCK_ELEMENTS = 2**23
# Constant on the diagonal of the kernel matrix. The bounds stay valid, because the residual kernel
# stays positive semidefinite.
JITTER = 1e-7
# Rounding error of squares of size 1, amplified by the jitter.
SQUARED_TOL = 1e-9
# Number of references that select the deciding gammas, and the share of the pairs from which on a
# gamma is one of them.
MAX_SAMPLE, MIN_DECIDING_SHARE = 50, 0.05


@dataclass(frozen=True)
class Projections:
    """Projections of measures, whose inner products are upper bounds of their mean kernels.

    Parameters
    ----------
    squared_norms : Tensor of shape (n_gammas, n_measures)
        Mean kernels within each measure.
    sizes : ndarray of shape (n_measures,)
        Number of samples of each measure.
    features : Tensor of shape (n_gammas, n_measures, n_landmarks + 1), float32
        Projections on the landmarks, and the lengths of the residuals.
    """

    squared_norms: torch.Tensor
    sizes: np.ndarray
    features: torch.Tensor

    @cached_property
    def memo(self) -> dict[tuple, torch.Tensor]:
        """Values computed from the norms, by gammas, cached for the next call."""
        return {}

    def __getitem__(self, rows: slice | np.ndarray) -> Projections:
        return Projections(self.squared_norms[:, rows], self.sizes[rows], self.features[:, rows])

    def select_gammas(self, index: slice | list[int]) -> Projections:
        """Select the projections of some gammas by a slice or a list of indices."""
        some = Projections(self.squared_norms[index], self.sizes, self.features[index])
        vars(some)["memo"] = self.memo
        return some


class Landmarks:
    """Landmarks of some references.

    Parameters
    ----------
    Q : EmbeddedMeasures
        The references.
    gammas : tuple of float
        Exponents of the kernels of `Q`.
    gamma_indices : sequence of (slice or list of int)
        Indices of the gammas of each MMD that needs bounds.

    Attributes
    ----------
    gammas : tuple of float
        Gammas that decide the bound of more than a few pairs. A maximum over fewer gammas is a
        lower bound, too.
    references : Projections
        Projections of the references for these gammas.
    """

    def __init__(
        self,
        Q: EmbeddedMeasures,
        gammas: tuple[float, ...],
        gamma_indices: Sequence[slice | list[int]],
    ) -> None:
        total = sp.csr_array(np.asarray(Q.weights.sum(axis=0)).reshape(1, -1) / len(Q))
        everything = DiscreteMeasures(Q.points, total, np.array([Q.sizes.sum()]))
        self.points = everything.thinned(N_LANDMARKS).points
        self._identity = sp.eye_array(len(self.points), format="csr")
        self._memo: dict[str, Any] = {}  # the engine's cache for the landmarks
        self.gammas, self._kept = gammas, list(range(len(gammas)))
        self._kept = self._deciding(Q, gamma_indices)
        self.gammas = tuple(gammas[s] for s in self._kept)
        del self._factors  # computed for all gammas
        self.references = self.project(Q)

    @staticmethod
    def save_time(Q: DiscreteMeasures) -> bool:
        """True for many references on the CPU in double precision."""
        on_cpu = Q.points.device.type == "cpu" and Q.points.dtype == torch.float64
        are_many = len(Q.points) >= MIN_POINTS and len(Q) >= MIN_REFERENCES
        return on_cpu and are_many and Q.weights.nnz <= MAX_SHARING * len(Q.points)

    @classmethod
    def of(
        cls,
        Q: EmbeddedMeasures,
        gammas: tuple[float, ...],
        gamma_indices: Sequence[slice | list[int]],
    ) -> Landmarks:
        """Landmarks of references, computed in the first call and cached.

        Parameters
        ----------
        Q, gammas, gamma_indices
            As for the class.

        Returns
        -------
        Landmarks
        """
        kept = Q.memo.get("landmarks")
        if kept is None or kept[0] != gammas:
            Q.memo["landmarks"] = kept = gammas, cls(Q, gammas, gamma_indices)
        return kept[1]

    def _deciding(
        self, Q: EmbeddedMeasures, gamma_indices: Sequence[slice | list[int]]
    ) -> list[int]:
        """Indices of the gammas of the largest bounds, among all and those of each member."""
        some = Q[np.unique(np.linspace(0, len(Q) - 1, min(len(Q), MAX_SAMPLE)).astype(int))]
        norms, projected = some.squared_norms, self._project(some).features
        bounds = norms[:, :, None] + norms[:, None, :] - 2 * (projected @ projected.mT)
        kept: set[int] = set()
        for members in (slice(None), *gamma_indices):
            own = np.array(self._kept)[members]
            wins = np.bincount(bounds[own].argmax(0).numpy().ravel(), minlength=len(own))
            # With many gammas, each may decide few pairs.
            enough = min(MIN_DECIDING_SHARE * wins.sum(), wins.max())
            kept.update(own[wins >= enough].tolist())
        return sorted(kept)

    @cached_property
    def _factors(self) -> torch.Tensor:
        """Cholesky factors of the kernel matrices, shape (n_gammas, n_landmarks, n_landmarks)."""
        engine = engine_for(self.points)
        K = engine.kernel_means(self.points, self._identity, None, None, self.gammas)
        return torch.linalg.cholesky(K + JITTER * torch.eye(len(self.points), dtype=K.dtype))

    def project(self, P: EmbeddedMeasures) -> Projections:
        """Projections of measures, computed in the first call and cached."""
        kept = P.memo.get("projections")
        if kept is None or kept[0] is not self:
            P.memo["projections"] = kept = self, self._project(P)
        return kept[1]

    def _project(self, P: EmbeddedMeasures) -> Projections:
        n_landmarks, norms = len(self.points), P.squared_norms[self._kept]
        features = torch.empty(len(norms), len(P), n_landmarks + 1, dtype=torch.float32)
        engine = engine_for(P.points)
        height = max(1, MAX_BLOCK_ELEMENTS // features[:, :1].numel())
        for start in range(0, len(P), height):
            rows = slice(start, start + height)
            some = P if height >= len(P) else P[rows]
            means = engine.kernel_means(
                some.points, some.weights, self.points, self._identity, self.gammas, self._memo
            )
            Z = torch.linalg.solve_triangular(self._factors, means.mT, upper=False).mT
            left = norms[:, rows] - torch.einsum("gnm,gnm->gn", Z, Z)
            features[:, rows, :-1] = Z
            features[:, rows, -1] = (left.clamp_min(0) + SQUARED_TOL).sqrt()
        return Projections(norms, P.sizes, features)
