"""Several maximum mean discrepancies between the same measures, which share their mean kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from skgraphkde.distances.base import nearest_other
from skgraphkde.distances.cross_means import CrossMeans
from skgraphkde.distances.engines.cpu_pairs import largest_of_all, largest_of_pairs
from skgraphkde.distances.kernel_means import (
    EmbeddedMeasures,
    feature_means,
    gamma_index,
    kernel_means,
    pair_means,
    self_means,
    without_own_pairs,
)
from skgraphkde.distances.landmarks import Landmarks, Projections
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.random_features import check_angles

# Rounding error of squares of size 1.
SQUARED_TOL = 1e-12
# Number of references with the lowest bounds that are first searched for the nearest one.
N_FIRST_REFERENCES = 4
# Number of bounds that are computed at once.
MAX_BLOCK_ELEMENTS = 2**20
# Largest error of the squared distances that identify the nearest reference.
NEIGHBOR_TOL = 1e-5
# Squares below this are computed again in double precision: 1e-7 is too large an error for them.
FLOAT32_RECHECK_BELOW = 1e-3
# Largest error of a bound of size 1 in single precision: twice the largest error seen, 2.5e-6.
FLOAT32_BOUND_ERROR = 5e-6

WithNorms = EmbeddedMeasures | Projections


@dataclass(frozen=True, eq=False)
class MMDConstants:
    """Constants of an MMD: its kernels, and the share of the bias that is removed.

    Parameters
    ----------
    gammas : tuple of float
        Exponents of the kernels.
    correction : float
        Share of the bias that is removed, in [0, 1]. 0 is the V-statistic, a squared metric. 1 is
        the U-statistic, which excludes the pairs of a sample with itself from the means within a
        measure; a measure of one sample has no other pairs and keeps its biased mean, 1.
    adaptive : bool
        Whether :meth:`MMDs.adapted` sets the correction.
    frequencies : Tensor of shape (d, n_components // 2) or None
        Frequencies of random features. None for an exact MMD.
    most_points : int or None
        Largest number of points of a graph; a sample replaces more points. None for no limit.
    """

    gammas: tuple[float, ...]
    correction: float = 0.0
    adaptive: bool = False
    frequencies: torch.Tensor | None = None
    most_points: int | None = None

    def norms(self, P: WithNorms) -> torch.Tensor:
        """Mean kernels within each measure, less the share of their bias, shape (n_gammas, n)."""
        if not self.correction:
            return P.squared_norms
        key = "norms", self.gammas, self.correction
        memo: dict[Any, torch.Tensor] = {} if P.squared_norms.requires_grad else P.memo
        if key not in memo:
            without_self = without_own_pairs(P.squared_norms, P.sizes)
            memo[key] = torch.lerp(P.squared_norms, without_self, self.correction)
        return memo[key]

    def largest(self, squared_by_gamma: torch.Tensor) -> torch.Tensor:
        """Squared distance: the maximum over gammas, at least 0 if it is biased."""
        squared = squared_by_gamma.amax(0)
        return squared if self.correction else squared.clamp_min(0)


Member = TypeVar("Member", bound=MMDConstants)
Adapted = tuple["MMDs[Member]", torch.Tensor, torch.Tensor | None]


class MMDs(Generic[Member]):
    """One or several MMDs between the same measures, which share their mean kernels.

    Parameters
    ----------
    members : tuple of MMDConstants
        MMDs that are all exact, or all have the same random features.
    """

    def __init__(self, members: tuple[Member, ...]) -> None:
        self.members, self.frequencies = members, members[0].frequencies
        self.gammas = tuple(dict.fromkeys(gamma for x in members for gamma in x.gammas))
        self.gamma_indices = [gamma_index(x.gammas, self.gammas) for x in members]

    def embed(self, P: DiscreteMeasures) -> EmbeddedMeasures:
        """Add the mean kernels within each measure, and the means of random features."""
        if isinstance(P, EmbeddedMeasures):
            return P
        features = P.points.new_empty(len(self.gammas), len(P), 0)
        if self.frequencies is None:
            limits = [x.most_points for x in self.members if x.most_points is not None]
            if len(limits) == len(self.members):
                P = P.thinned(min(limits))
            norms = self_means(P, self.gammas)
        else:
            check_angles(P.points, self.gammas, self.frequencies)
            features = feature_means(P, self.gammas, self.frequencies)
            norms = torch.einsum("gnf,gnf->gn", features, features)
        return EmbeddedMeasures(P.points, P.weights, P.sizes, norms, features)

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None = None) -> torch.Tensor:
        """Squared distances between all measures.

        Parameters
        ----------
        P, Q : DiscreteMeasures
            None for `Q` means `P`.

        Returns
        -------
        Tensor of shape (n_members, len(P), len(Q))
        """
        P = self.embed(P)
        Q = P if Q is None else self.embed(Q)
        return self._of_all_members(P, Q, self.cross(P, Q))

    def has_bounds(self, Q: DiscreteMeasures) -> bool:
        """True if lower bounds of distances to references save time, and no member is "exact"."""
        by_choice = all(x.most_points is not None for x in self.members)
        return by_choice and self.frequencies is None and Landmarks.save_time(Q)

    def lower_bounds(self, P: EmbeddedMeasures, Q: EmbeddedMeasures, rows: slice) -> torch.Tensor:
        """Lower bounds of squared distances.

        Parameters
        ----------
        P, Q : EmbeddedMeasures
            Graphs and references.
        rows : slice
            Measures of P.

        Returns
        -------
        Tensor of shape (n_members, n_rows, len(Q))
        """
        landmarks = Landmarks.of(Q, self.gammas, self.gamma_indices)
        return self._bounds(landmarks, landmarks.project(P)[rows])

    def _bounds(self, landmarks: Landmarks, P: Projections) -> torch.Tensor:
        """Lower bounds for projected measures, from the deciding gammas."""
        gammas = landmarks.gammas
        few = [replace(x, gammas=tuple(g for g in x.gammas if g in gammas)) for x in self.members]
        mmds = MMDs(tuple(few))
        P, Q = (
            x.select_gammas(gamma_index(mmds.gammas, gammas)) for x in (P, landmarks.references)
        )
        return mmds._of_all_members(P, Q, P.features @ Q.features.mT) - FLOAT32_BOUND_ERROR

    def squared_at(
        self,
        P: EmbeddedMeasures,
        Q: EmbeddedMeasures,
        wanted: torch.Tensor,
        row_index: np.ndarray | None = None,
        tolerance: float = NEIGHBOR_TOL,
    ) -> torch.Tensor:
        """Squared distances of selected pairs.

        Parameters
        ----------
        P, Q : EmbeddedMeasures
        wanted : bool Tensor of shape (n_rows, len(Q))
            Pairs to compute.
        row_index : ndarray of shape (n_rows,), default=None
            Measure of P of each row of `wanted`, ascending. None means all measures of P.
        tolerance : float
            Largest allowed error.

        Returns
        -------
        Tensor of shape (n_members, n_wanted)
        """
        rows, columns = wanted.numpy().nonzero()
        rows = rows if row_index is None else row_index[rows]
        if P is not Q:
            return self._squared_of_pairs(P, Q, rows, columns, tolerance)
        n = len(P)  # each pair once
        first, second = np.minimum(rows, columns), np.maximum(rows, columns)
        pairs, position = np.unique(first * n + second, return_inverse=True)
        return self._squared_of_pairs(P, Q, pairs // n, pairs % n, tolerance)[:, position]

    def _squared_of_pairs(
        self,
        P: EmbeddedMeasures,
        Q: EmbeddedMeasures,
        rows: np.ndarray,
        columns: np.ndarray,
        tolerance: float,
    ) -> torch.Tensor:
        """Squared distances of pairs with ascending rows, shape (n_members, n_pairs).

        Small or negative squares are computed again in double precision.
        """
        cross = pair_means(P, Q, self.gammas, rows, columns, tolerance).numpy()
        squared = torch.empty(len(self.members), len(rows), dtype=torch.float64)
        for member, index, out in zip(self.members, self.gamma_indices, squared, strict=True):
            norms = (member.norms(x.select_gammas(index)).numpy() for x in (P, Q))
            largest_of_pairs(*norms, cross[index], rows, columns, out.numpy())
            out[:] = member.largest(out[None])
        close = (squared < FLOAT32_RECHECK_BELOW).any(0).numpy()
        if tolerance and close.any():
            squared[:, close] = self._squared_of_pairs(P, Q, rows[close], columns[close], 0.0)
        return squared

    def _nearest_other(
        self, landmarks: Landmarks, Q: EmbeddedMeasures, some: np.ndarray
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Squared distances of some references to the nearest other one, and its index.

        The first member is used. Both results have shape (len(some),). The search skips references
        whose lower bound exceeds the smallest distance to the references of the lowest bounds.
        """
        height = max(1, MAX_BLOCK_ELEMENTS // len(Q))
        parts = np.split(some, range(height, len(some), height))
        low = torch.cat([self._bounds(landmarks, landmarks.references[x])[0] for x in parts])
        own = torch.arange(len(some)), torch.as_tensor(some)
        low[own] = torch.inf
        none = torch.zeros_like(low, dtype=torch.bool)
        first = none.scatter(
            1, low.topk(min(N_FIRST_REFERENCES, len(Q)), dim=1, largest=False).indices, True
        )
        first[own] = False
        squared = torch.full_like(low, torch.inf, dtype=torch.float64)
        squared[first] = self.squared_at(Q, Q, first, some)[0]
        others = (low <= squared.amin(1, keepdim=True)) & ~first
        squared[others] = self.squared_at(Q, Q, others, some)[0]
        nearest = squared.argmin(1)
        wanted = none.scatter(1, nearest[:, None], True)
        return self.squared_at(Q, Q, wanted, some, tolerance=0.0)[0], nearest

    def cross(self, P: EmbeddedMeasures, Q: EmbeddedMeasures) -> torch.Tensor:
        """Mean kernels between measures.

        Parameters
        ----------
        P, Q : EmbeddedMeasures

        Returns
        -------
        Tensor of shape (n_gammas, len(P), len(Q))
        """
        if self.frequencies is None:
            return kernel_means(P, None if Q is P else Q, self.gammas)
        return P.features @ Q.features.mT

    def _of_all_members(self, P: WithNorms, Q: WithNorms, cross: torch.Tensor) -> torch.Tensor:
        return torch.stack([self._combined(i, P, Q, cross) for i in range(len(self.members))])

    def _combined(self, i: int, P: WithNorms, Q: WithNorms, cross: torch.Tensor) -> torch.Tensor:
        """Squared distances of one member from the mean kernels."""
        member, cross = self.members[i], cross[self.gamma_indices[i]]
        norms = [member.norms(x.select_gammas(self.gamma_indices[i])) for x in (P, Q)]
        if torch.is_grad_enabled() or cross.device.type != "cpu":
            return member.largest(norms[0][:, :, None] + norms[1][:, None, :] - 2 * cross)
        out = torch.empty_like(cross[0])
        largest_of_all(*(x.numpy() for x in (*norms, cross, out)))
        return member.largest(out[None])

    def adapted(self, P: DiscreteMeasures, sample: np.ndarray) -> Adapted[Member]:
        """Adapt the corrections to references, and find their nearest neighbors.

        The mean kernels, which take most of the time, do not depend on the correction. They are
        computed once if they fit in memory.

        Parameters
        ----------
        P : DiscreteMeasures
            The references.
        sample : ndarray of int
            Indices of references whose nearest neighbors are needed.

        Returns
        -------
        MMDs
        nearest : Tensor of shape (n_members, len(sample))
        squared : Tensor of shape (n_members, len(P), len(P)) or None
        """
        P = self.embed(P)
        if self.has_bounds(P):
            return self._adapted_by_bounds(P, sample)
        crosses = CrossMeans(self.cross, P, sample, len(self.gammas), len(self.members))
        adapted = self.members
        if any(x.adaptive for x in adapted):
            adapted = self._corrected(self._are_possible(P, crosses))
        mmds, members = MMDs(adapted), range(len(adapted))
        if crosses.everything is not None:
            squared = P.points.new_empty(len(members), len(P), len(P))
            for rows in crosses.blocks(np.arange(len(P))):
                Q, cross = P[rows], crosses.everything[:, rows]
                for i in members:
                    squared[i, rows] = mmds._combined(i, Q, P, cross)
            nearest_squared = [nearest_other(x[sample], sample)[0] for x in squared]
            return mmds, torch.stack(nearest_squared), squared
        nearest: list[list[torch.Tensor]] = [[] for _ in members]
        for rows, cross in crosses:
            Q = P[rows]
            for i in members:
                nearest[i].append(nearest_other(mmds._combined(i, Q, P, cross), rows)[0])
        return mmds, torch.stack([torch.cat(parts) for parts in nearest]), None

    def _adapted_by_bounds(self, P: EmbeddedMeasures, sample: np.ndarray) -> Adapted[Member]:
        """Adapt by :meth:`adapted` without computing the distances to far references."""
        landmarks = Landmarks.of(P, self.gammas, self.gamma_indices)
        members = self.members
        known: dict[tuple, torch.Tensor] = {}
        if any(x.adaptive for x in members):
            biased, unbiased = self._of_all_gammas(0.0), self._of_all_gammas(1.0)
            values, nearest = biased._nearest_other(landmarks, P, sample)
            known[self.gammas, 0.0] = values
            wanted = torch.zeros(len(sample), len(P), dtype=torch.bool)
            wanted.scatter_(1, nearest[:, None], True)
            members = self._corrected(unbiased.squared_at(P, P, wanted, sample) >= -SQUARED_TOL)
        for x in members:
            if (x.gammas, x.correction) not in known:
                embedded = P.select_gammas(gamma_index(x.gammas, self.gammas))
                values, _ = MMDs((x,))._nearest_other(landmarks, embedded, sample)
                known[x.gammas, x.correction] = values
        return MMDs(members), torch.stack([known[x.gammas, x.correction] for x in members]), None

    def _of_all_gammas(self, correction: float) -> MMDs:
        some = replace(self.members[0], gammas=self.gammas, correction=correction, adaptive=False)
        return MMDs((some,))

    def _corrected(self, possible: torch.Tensor) -> tuple[Member, ...]:
        """Members with the correction set to the share of possible nearest neighbors."""
        share = possible.double().mean().item()
        return tuple(replace(x, correction=share) if x.adaptive else x for x in self.members)

    def _are_possible(self, P: EmbeddedMeasures, crosses: CrossMeans) -> torch.Tensor:
        """Mark measures with a non-negative unbiased squared distance to their nearest neighbor.

        Their share estimates the independence of the samples of a measure, for any kernel: it
        depends on all gammas of all members.
        """
        biased, unbiased = self._of_all_gammas(0.0), self._of_all_gammas(1.0)
        possible = []
        for rows, cross in crosses:
            Q = P[rows]
            _, nearest = nearest_other(biased._combined(0, Q, P, cross), rows)
            squared = unbiased._combined(0, Q, P, cross)
            possible.append(squared.gather(1, nearest[:, None])[:, 0] >= -SQUARED_TOL)
        return torch.cat(possible)
