"""MMD: maximum mean discrepancy between the point clouds of graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import torch
from sklearn.utils._param_validation import StrOptions

from skgraphkde.distances.base import Distance, FittedDistance, nearest_other
from skgraphkde.distances.cross_means import CrossMeans
from skgraphkde.distances.kernel_means import (
    EmbeddedMeasures,
    feature_means,
    kernel_means,
    positions,
    self_means,
    without_own_pairs,
)
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.random_features import check_angles, draw_frequencies
from skgraphkde.persistence import State, check, register
from skgraphkde.specification import LARGEST, SMALLEST, at_least, positive_numbers

# Up to this number of training nodes that look different method="auto" is exact: 8 * 10^8 pairs,
# some ten seconds on one core, and as many again to score as many nodes.
EXACT_POINTS = 40_000
# Of a graph with more points that differ, so many stand for all where the method is "auto": the
# squared distance that this adds, about 1 / 8192, is far below that of a graph of such a size to
# another. The time is no longer the square of its size.
MOST_POINTS = 8_192
# Random features per gamma, unless n_components says otherwise.
N_COMPONENTS = 512
# Squares of size 1 that are 0 up to rounding.
ROUNDING = 1e-12
FIVE_DECADES = (1e-2, 1e-1, 1.0, 1e1, 1e2)


@register
class MMD(Distance):
    """Maximum mean discrepancy with Gaussian kernels: how well smooth functions tell clouds apart.

    ``d(P, Q) = max_gamma |mean_P k_gamma(., p) - mean_Q k_gamma(., q)|`` with the Gaussian kernels
    ``k_gamma(u, v) = exp(-gamma |u - v|^2)`` (paper, eq. mmd_distance).

    Parameters
    ----------
    gammas : array-like of float, default=(0.01, 0.1, 1, 10, 100)
        Exponents of the kernels.
    estimator : {"adaptive", "biased", "unbiased"}, default="adaptive"
        "biased" is the V-statistic, a metric that finds small graphs far from everything.
        "unbiased" is the U-statistic, which does not, and can be negative; the density takes a
        negative square as it is, closer than equal. "adaptive" removes a share of the bias that the
        training graphs determine (Notes).
    method : {"auto", "exact", "random_features"}, default="auto"
        Exact costs grow with the square of the number of distinct nodes; random features are linear
        in it. "auto" is exact up to 40,000 training nodes that look different to the encoder.
        Of a graph with more than 8,192 such nodes it takes 8,192.
    n_components : int, default=None
        Number of random features for each of `gammas`, an even number; the error falls with its
        square root. None is 512. Not with ``method="exact"``.

    Notes
    -----
    The U-statistic assumes that the nodes of a graph are independent draws. If they are, few graphs
    are closer to their nearest neighbor than equal distributions would be, and few of these squared
    distances are negative. Atoms of molecules are not independent: equal molecules are common, and
    nearly all distances between neighbors are negative. The share of the bias that "adaptive"
    removes is the share of training graphs whose unbiased squared distance to their nearest
    neighbor, as found by the biased estimate, is not negative. MMDs that share their kernel means
    remove the same share.

    Examples
    --------
    >>> from skgraphkde import MMD, GraphKDEDetector
    >>> detector = GraphKDEDetector(distance=MMD(gammas=(1, 10), estimator="biased"))
    >>> detector.set_params(distance__estimator="unbiased").distance
    MMD(estimator='unbiased', gammas=(1, 10))
    """

    _parameter_constraints: dict = {
        "gammas": ["array-like"],
        "estimator": [StrOptions({"adaptive", "biased", "unbiased"})],
        "method": [StrOptions({"auto", "exact", "random_features"})],
        "n_components": [at_least(2, Integral), None],
    }

    def __init__(
        self,
        gammas: Any = FIVE_DECADES,
        estimator: str = "adaptive",
        method: str = "auto",
        n_components: int | None = None,
    ) -> None:
        self.gammas = gammas
        self.estimator = estimator
        self.method = method
        self.n_components = n_components

    def _validate_values(self) -> None:
        positive_numbers(self, "gammas")
        if self.n_components is not None and self.method == "exact":
            raise ValueError(
                "n_components is the number of random features, of which method='exact' has none: "
                "leave it out, or use method='random_features'"
            )
        if self.n_components is not None and self.n_components % 2:
            raise ValueError(
                "n_components must be even, as each frequency has a cosine and a sine. Got "
                f"{self.n_components} instead."
            )

    def build(self, dim: int, n_points: int, rng: np.random.RandomState) -> FittedMMD:
        """Choose the method, and draw the random features if there are any."""
        exact = self.method == "exact" or (self.method == "auto" and n_points <= EXACT_POINTS)
        n_components = N_COMPONENTS if self.n_components is None else self.n_components
        return FittedMMD(
            gammas=positive_numbers(self, "gammas"),
            correction=1.0 if self.estimator == "unbiased" else 0.0,
            adaptive=self.estimator == "adaptive",
            frequencies=None if exact else draw_frequencies(dim, n_components, rng),
            most_points=MOST_POINTS if self.method == "auto" else None,
        )


@register
@dataclass(frozen=True, eq=False)
class FittedMMD(FittedDistance):
    """The distance that :class:`MMD` builds.

    Parameters
    ----------
    gammas : tuple of float
    correction : float
        Share of the bias that is removed, in [0, 1]. 0 is the V-statistic, a squared metric. 1 is
        the U-statistic, which leaves the pairs of a sample with itself out of the means within a
        measure; a measure of one sample has no other pairs and keeps its biased mean, 1.
    adaptive : bool
        Whether :meth:`adapted` sets the correction.
    frequencies : Tensor of shape (d, n_components // 2) or None
        Of random features. None: exact.
    most_points : int or None
        Of a graph with more points, so many stand for all. None: never.
    """

    gammas: tuple[float, ...]
    correction: float = 0.0
    adaptive: bool = False
    frequencies: torch.Tensor | None = None
    most_points: int | None = None

    @property
    def numbers_per_pair(self) -> int:  # type: ignore[override]
        """Numbers that a pair of measures takes: four for each gamma."""
        return 4 * len(self.gammas)

    @property
    def numbers_per_measure(self) -> int:  # type: ignore[override]
        """Numbers that embedding adds to a measure: a norm for each gamma, and its features."""
        n_features = 0 if self.frequencies is None else 2 * self.frequencies.shape[1]
        return len(self.gammas) * (1 + n_features)

    @property
    def largest_coordinate(self) -> float:  # type: ignore[override]
        """Of random features less: they are sines and cosines, which need angles below 1e15."""
        return FittedDistance.largest_coordinate if self.frequencies is None else 1e9

    @property
    def name(self) -> str:
        """The range of the gammas, and the share of the bias that is removed."""
        low, high = min(self.gammas), max(self.gammas)
        gammas = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        removed = {0.0: "biased", 1.0: "unbiased"}.get(
            self.correction, f"{self.correction:.0%} of the bias removed"
        )
        return f"MMD with gamma {gammas}, {removed}" + ", random features" * (
            self.method != "exact"
        )

    @property
    def method(self) -> str:
        """How it is computed: "exact" or "random_features"."""
        return "exact" if self.frequencies is None else "random_features"

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None = None) -> torch.Tensor:
        """Squared distances, shape (len(P), len(Q)); None for `Q` means `P`, at half the cost."""
        return MMDs((self,)).squared(P, Q)[0]

    def embed(self, P: DiscreteMeasures) -> EmbeddedMeasures:
        """Add the mean kernels within each measure, and the means of random features."""
        return MMDs((self,)).embed(P)

    def adapted(
        self, P: DiscreteMeasures, sample: np.ndarray
    ) -> tuple[FittedMMD, torch.Tensor, torch.Tensor | None]:
        """Set the correction as the references suggest, and find the neighbors among them."""
        mmds, nearest, squared = MMDs((self,)).adapted(P, sample)
        return mmds.members[0], nearest[0], None if squared is None else squared[0]

    def norms(self, P: EmbeddedMeasures) -> torch.Tensor:
        """Mean kernels within each measure, less the share of their bias, shape (n_gammas, n)."""
        if not self.correction:
            return P.squared_norms
        without_self = without_own_pairs(P.squared_norms, P.sizes)
        return torch.lerp(P.squared_norms, without_self, self.correction)

    def largest(self, of_gamma: torch.Tensor) -> torch.Tensor:
        """The squared distance, given that of each gamma."""
        squared = of_gamma.amax(0)
        return squared if self.correction else squared.clamp_min(0)

    def contributions(self, Z: torch.Tensor, Q: DiscreteMeasures) -> torch.Tensor:
        """Shares of a graph's nodes in its squared distances, shape (n_nodes, len(Q)).

        The squared MMD is a sum over the nodes p of a graph G of the witness function, which is the
        difference between the mean kernels m_G and m_R to the nodes of G and of R (Gretton et al.,
        JMLR 2012, section 2.3), and of the same of R, spread evenly over the nodes of G::

            d^2(G, R) = sum_p  (m_G(p) - m_R(p) + mean_q (m_R(q) - m_G(q))) / n
        """
        n, mmds = len(Z), MMDs((self,))
        nodes = self.embed(DiscreteMeasures.from_clouds(Z, np.arange(n + 1)))
        graph = self.embed(DiscreteMeasures.from_clouds(Z, np.array([0, n])))
        to_own = mmds.cross(nodes, graph)  # (n_gammas, n, 1)
        if n > 1:  # as in without_own_pairs
            to_own = torch.lerp(to_own, (n * to_own - 1) / (n - 1), self.correction)
        Q = self.embed(Q)
        to_references = mmds.cross(nodes, Q)  # (n_gammas, n, k)
        of_references = self.norms(Q) - to_references.mean(1)  # (n_gammas, k)
        shares = (to_own - to_references + of_references[:, None, :]) / n
        largest = shares.sum(1).argmax(0)  # the MMD is that of the gamma for which it is largest
        return shares[largest, :, torch.arange(len(Q), device=Z.device)].T

    def check_dim(self, dim: int) -> None:
        """Raise a ValueError if the frequencies are not for points of `dim` coordinates."""
        fits = self.frequencies is None or len(self.frequencies) == dim
        check(fits, "the random frequencies do not fit the points")

    def to_state(self) -> dict[str, Any]:
        """What a file keeps."""
        return vars(self)

    @classmethod
    def from_state(cls, state: State) -> FittedMMD:
        """The distance in a file."""
        gammas = state.take("gammas", tuple)
        are_numbers = gammas and all(type(x) is float and SMALLEST <= x <= LARGEST for x in gammas)
        state.check(are_numbers, "gammas is out of range")
        correction = state.take_number("correction", 0, 1)
        adaptive = state.take("adaptive", bool)
        frequencies = state.take_optional("frequencies", torch.Tensor)
        if frequencies is not None:
            is_matrix = frequencies.ndim == 2 and frequencies.numel() > 0
            state.check(
                is_matrix and frequencies.dtype == torch.float64 and frequencies.isfinite().all(),
                "frequencies is not a matrix of finite numbers in double precision",
            )
        most_points = state.take_optional("most_points", int)
        state.check(most_points is None or most_points > 0, "most_points is not positive")
        return cls(gammas, correction, adaptive, frequencies, most_points)


class MMDs:
    """One or several MMDs between the same measures: the mean kernels are computed once for all.

    Parameters
    ----------
    members : tuple of FittedMMD
        All exact, or all with the same random features.
    """

    def __init__(self, members: tuple[FittedMMD, ...]) -> None:
        self.members, self.frequencies = members, members[0].frequencies
        self.gammas = tuple(dict.fromkeys(gamma for x in members for gamma in x.gammas))
        self.of_member = [positions(x.gammas, self.gammas) for x in members]

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
        """Squared distances, shape (n_members, len(P), len(Q)); None for `Q` means `P`."""
        P = self.embed(P)
        Q = P if Q is None else self.embed(Q)
        if self.frequencies is None:
            cross = self.cross(P, Q)
            return torch.stack([self._combined(i, P, Q, cross) for i in range(len(self.members))])
        return torch.stack([self._from_features(i, P, Q) for i in range(len(self.members))])

    def cross(self, P: EmbeddedMeasures, Q: EmbeddedMeasures) -> torch.Tensor:
        """Mean kernels between measures, shape (n_gammas, len(P), len(Q))."""
        if self.frequencies is None:
            return kernel_means(P, None if Q is P else Q, self.gammas)
        return P.features @ Q.features.mT

    def _combined(
        self, i: int, P: EmbeddedMeasures, Q: EmbeddedMeasures, cross: torch.Tensor
    ) -> torch.Tensor:
        """Squared distances of a member, from the mean kernels."""
        member, index = self.members[i], self.of_member[i]
        norms_P, norms_Q = (member.norms(x.of_gammas(index)) for x in (P, Q))
        return member.largest(norms_P[:, :, None] + norms_Q[:, None, :] - 2 * cross[index])

    def _from_features(self, i: int, P: EmbeddedMeasures, Q: EmbeddedMeasures) -> torch.Tensor:
        """The same from random features: the sum in the matrix product, not slower after it."""
        member = self.members[i]
        P, Q = (x.of_gammas(self.of_member[i]) for x in (P, Q))
        norms_P, norms_Q = member.norms(P)[:, :, None], member.norms(Q)[:, None, :]
        products = torch.baddbmm(norms_Q, P.features, Q.features.mT, alpha=-2)
        return member.largest(norms_P + products)

    def adapted(
        self, P: DiscreteMeasures, sample: np.ndarray
    ) -> tuple[MMDs, torch.Tensor, torch.Tensor | None]:
        """Set corrections as the references suggest, and find the neighbors among them.

        The mean kernels, which take the time, are the same for any correction. If they fit in
        memory they are computed once.

        Returns
        -------
        MMDs
        nearest : Tensor of shape (n_members, len(sample))
        squared : Tensor of shape (n_members, len(P), len(P)) or None
        """
        P = self.embed(P)
        crosses = CrossMeans(self.cross, P, sample, len(self.gammas), len(self.members))
        adapted = self.members
        if any(x.adaptive for x in adapted):
            share = self._possible_share(P, crosses)
            adapted = tuple(replace(x, correction=share) if x.adaptive else x for x in adapted)
        mmds, members = MMDs(adapted), range(len(adapted))
        if crosses.everything is not None:
            squared = P.points.new_empty(len(members), len(P), len(P))
            for rows in crosses.blocks(np.arange(len(P))):
                Q, cross = P[rows], crosses.everything[:, rows]
                for i in members:
                    squared[i, rows] = mmds._combined(i, Q, P, cross)
            of_sample = (nearest_other(x[sample], sample)[0] for x in squared)
            return mmds, torch.stack(list(of_sample)), squared
        nearest: list[list[torch.Tensor]] = [[] for _ in members]
        for rows, cross in crosses:
            Q = P[rows]
            for i in members:
                nearest[i].append(nearest_other(mmds._combined(i, Q, P, cross), rows)[0])
        return mmds, torch.stack([torch.cat(parts) for parts in nearest]), None

    def _possible_share(self, P: EmbeddedMeasures, crosses: CrossMeans) -> float:
        """Share of the measures whose nearest neighbor is at no negative unbiased distance.

        It says how independent the samples of a measure are, whatever the kernel: all gammas of all
        members determine it.
        """
        biased, unbiased = (
            MMDs((FittedMMD(self.gammas, correction, False, self.frequencies),))
            for correction in (0.0, 1.0)
        )
        possible = []
        for rows, cross in crosses:
            Q = P[rows]
            _, nearest = nearest_other(biased._combined(0, Q, P, cross), rows)
            squared = unbiased._combined(0, Q, P, cross)
            possible.append(squared.gather(1, nearest[:, None])[:, 0] >= -ROUNDING)
        return torch.cat(possible).double().mean().item()
