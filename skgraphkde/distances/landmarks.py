"""Landmarks: bounds of mean kernels, so that graphs that are far away need no exact distance.

Mean embeddings are projected on the span of the kernels at a few points, the landmarks (Williams
and Seeger, NeurIPS 2000). With the projections z and the lengths r of what is left,

    <mu_P, mu_Q> <= z_P'z_Q + r_P r_Q

by Cauchy and Schwarz, and so the squared MMD is not below |mu_P|^2 + |mu_Q|^2 - 2 (z_P'z_Q + r_P
r_Q). All pairs take one matrix product, and those that are close are computed exactly.
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

# Landmarks: with fewer the bounds are looser, with more they take longer.
LANDMARKS = 256
# From these numbers of reference points and of references bounds save time: all pairs of points
# take half a second then, and some references are left out. Where references share most of their
# points, all pairs of points are fewer than those of a few references.
POINTS_FROM, REFERENCES_FROM, SHARED = 5_000, 100, 3
# Numbers that are projected at once.
NUMBERS = 2**23
# Added to the diagonal of the kernel matrix, which keeps the bounds valid: the kernel that is left
# stays positive semidefinite.
JITTER = 1e-7
# Squares of size 1 that are 0 up to rounding, after the jitter has amplified it.
ROUNDING = 1e-9
# References among which the gammas that decide are looked for, and the share of the pairs from
# which one does.
SAMPLE, DECIDING = 50, 0.05


@dataclass(frozen=True)
class Projections:
    """What bounds need of measures; inner products of the features are above their mean kernels.

    Parameters
    ----------
    squared_norms : Tensor of shape (n_gammas, n_measures)
    sizes : ndarray of shape (n_measures,)
    features : Tensor of shape (n_gammas, n_measures, n_landmarks + 1), float32
        Projections on the landmarks, and the lengths of what is left.
    """

    squared_norms: torch.Tensor
    sizes: np.ndarray
    features: torch.Tensor

    @cached_property
    def memo(self) -> dict[tuple, torch.Tensor]:
        """What is computed of the norms, by gammas, and kept for the next call."""
        return {}

    def __getitem__(self, rows: slice | np.ndarray) -> Projections:
        return Projections(self.squared_norms[:, rows], self.sizes[rows], self.features[:, rows])

    def of_gammas(self, index: slice | list[int]) -> Projections:
        """The same for some of the gammas only."""
        some = Projections(self.squared_norms[index], self.sizes, self.features[index])
        vars(some)["memo"] = self.memo
        return some


class Landmarks:
    """The landmarks of some references.

    Parameters
    ----------
    Q : EmbeddedMeasures
        The references.
    gammas : tuple of float
        Of Q.
    of_member : sequence of (slice or list of int)
        The gammas of each MMD of which bounds are needed.

    Attributes
    ----------
    gammas : tuple of float
        Those that decide a bound for more than a few pairs. The others are left out: the largest
        of fewer is a bound, too.
    references : Projections
        Of these gammas.
    """

    def __init__(
        self,
        Q: EmbeddedMeasures,
        gammas: tuple[float, ...],
        of_member: Sequence[slice | list[int]],
    ) -> None:
        total = sp.csr_array(np.asarray(Q.weights.sum(axis=0)).reshape(1, -1) / len(Q))
        everything = DiscreteMeasures(Q.points, total, np.array([Q.sizes.sum()]))
        self.points = everything.thinned(LANDMARKS).points
        self._identity = sp.eye_array(len(self.points), format="csr")
        self._memo: dict[str, Any] = {}  # what the engine keeps of the landmarks
        self.gammas, self._kept = gammas, list(range(len(gammas)))
        self._kept = self._deciding(Q, of_member)
        self.gammas = tuple(gammas[s] for s in self._kept)
        del self._factors  # of all gammas
        self.references = self.project(Q)

    @staticmethod
    def save_time(Q: DiscreteMeasures) -> bool:
        """Whether there are many references; bounds need the CPU and double precision."""
        on_cpu = Q.points.device.type == "cpu" and Q.points.dtype == torch.float64
        are_many = len(Q.points) >= POINTS_FROM and len(Q) >= REFERENCES_FROM
        return on_cpu and are_many and Q.weights.nnz <= SHARED * len(Q.points)

    @classmethod
    def of(
        cls,
        Q: EmbeddedMeasures,
        gammas: tuple[float, ...],
        of_member: Sequence[slice | list[int]],
    ) -> Landmarks:
        """The landmarks of references, computed once."""
        kept = Q.memo.get("landmarks")
        if kept is None or kept[0] != gammas:
            Q.memo["landmarks"] = kept = gammas, cls(Q, gammas, of_member)
        return kept[1]

    def _deciding(self, Q: EmbeddedMeasures, of_member: Sequence[slice | list[int]]) -> list[int]:
        """The gammas of the largest bounds, among all and among those of each member."""
        some = Q[np.unique(np.linspace(0, len(Q) - 1, min(len(Q), SAMPLE)).astype(int))]
        norms, projected = some.squared_norms, self._project(some).features
        bounds = norms[:, :, None] + norms[:, None, :] - 2 * (projected @ projected.mT)
        kept: set[int] = set()
        for members in (slice(None), *of_member):
            own = np.array(self._kept)[members]
            wins = np.bincount(bounds[own].argmax(0).numpy().ravel(), minlength=len(own))
            enough = min(DECIDING * wins.sum(), wins.max())  # of many gammas each may win few
            kept.update(own[wins >= enough].tolist())
        return sorted(kept)

    @cached_property
    def _factors(self) -> torch.Tensor:
        """Cholesky factors of the kernel matrices, shape (n_gammas, n_landmarks, n_landmarks)."""
        engine = engine_for(self.points)
        K = engine.kernel_means(self.points, self._identity, None, None, self.gammas)
        return torch.linalg.cholesky(K + JITTER * torch.eye(len(self.points), dtype=K.dtype))

    def project(self, P: EmbeddedMeasures) -> Projections:
        """The projections of measures, computed in the first call with them."""
        kept = P.memo.get("projections")
        if kept is None or kept[0] is not self:
            P.memo["projections"] = kept = self, self._project(P)
        return kept[1]

    def _project(self, P: EmbeddedMeasures) -> Projections:
        n_landmarks, norms = len(self.points), P.squared_norms[self._kept]
        features = torch.empty(len(norms), len(P), n_landmarks + 1, dtype=torch.float32)
        engine = engine_for(P.points)
        height = max(1, NUMBERS // features[:, :1].numel())
        for start in range(0, len(P), height):
            rows = slice(start, start + height)
            some = P if height >= len(P) else P[rows]
            means = engine.kernel_means(
                some.points, some.weights, self.points, self._identity, self.gammas, self._memo
            )
            Z = torch.linalg.solve_triangular(self._factors, means.mT, upper=False).mT
            left = norms[:, rows] - torch.einsum("gnm,gnm->gn", Z, Z)
            features[:, rows, :-1] = Z
            features[:, rows, -1] = (left.clamp_min(0) + ROUNDING).sqrt()
        return Projections(norms, P.sizes, features)
