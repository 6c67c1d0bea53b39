"""MMD: the maximum mean discrepancy between the point clouds of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from skgraphkde.computing.arrays import concatenated, like, maximum, to_numpy
from skgraphkde.distances import engines
from skgraphkde.distances.base import Distance, FittedDistance, nearest_other
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.random_features import check_angles, draw_frequencies
from skgraphkde.specification import at_least, positive_numbers

# Largest number of distinct training nodes for which method="auto" is exact: its time grows with
# the square of their number, and is about that of random features here.
EXACT_POINTS = 5_000
# Largest number of points of a graph with method="auto". A sample of this size adds about 1 / 8192
# to a squared distance, far below the distance between two graphs of such a size, and bounds the
# time, which would otherwise grow with the square of the size.
MOST_POINTS = 8_192
# Default of n_components.
N_COMPONENTS = 512
FIVE_DECADES = (1e-2, 1e-1, 1.0, 1e1, 1e2)
# Key of features in a memo.
FEATURES = "random features"
# Rounding error of squares of size 1.
SQUARED_TOL = 1e-12


class MMD(Distance):
    """Maximum mean discrepancy with Gaussian kernels, the largest difference of smooth functions.

    ``d(P, Q) = max_gamma |mean_P k_gamma(., p) - mean_Q k_gamma(., q)|`` with the Gaussian kernels
    ``k_gamma(u, v) = exp(-gamma |u - v|^2)`` (paper, eq. mmd_distance).

    Parameters
    ----------
    gammas : array-like of float, default=(0.01, 0.1, 1, 10, 100)
        Exponents of the kernels.
    estimator : {"adaptive", "biased", "unbiased"}, default="adaptive"
        "biased" is the V-statistic, a metric under which small graphs are far from all others.
        "unbiased" is the U-statistic, which has no such bias but can be negative; the density uses
        negative squares as they are, closer than equal. "adaptive" removes a share of the bias that
        depends on the training graphs (Notes).
    method : {"auto", "exact", "random_features"}, default="auto"
        The cost of "exact" grows with the square of the number of distinct nodes; the cost of
        "random_features" is linear in it. "auto" is exact for up to 5,000 training nodes that the
        encoder distinguishes, and uses a sample of 8,192 nodes of a graph with more distinct nodes.
    n_components : int, default=None
        Number of random features for each of `gammas`, an even number; the error falls with its
        square root. They are the same in every fit. None is 512. Not allowed with
        ``method="exact"``.

    Notes
    -----
    The U-statistic assumes that the nodes of a graph are independent draws. If they are, few graphs
    are closer to their nearest neighbor than equal distributions would be, and few of these squared
    distances are negative. Atoms of molecules are not independent: equal molecules are common, and
    nearly all distances between neighbors are negative. "adaptive" removes a share of the bias. It
    is the share of training graphs with a non-negative unbiased squared distance to their nearest
    neighbor under the biased estimate, for kernels of five decades. With more than 500 training
    graphs, 500 of them are used, selected by their content.

    Examples
    --------
    >>> from skgraphkde import MMD, Density, GraphKDEDetector
    >>> detector = GraphKDEDetector(views=Density(MMD(gammas=(1, 10), estimator="biased")))
    >>> detector.set_params(views__distance__estimator="unbiased").views.distance
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
                "n_components is the number of random features, and method='exact' has none: "
                "omit it, or use method='random_features'"
            )
        if self.n_components is not None and self.n_components % 2:
            raise ValueError(
                "n_components must be even, because each frequency has a cosine and a sine. Got "
                f"{self.n_components} instead."
            )

    def build(self, dim: int, n_points: int, rng: np.random.RandomState) -> FittedMMD:
        """Build the fitted distance with its random features, see :meth:`Distance.build`.

        Parameters
        ----------
        dim : int
            Number of coordinates of a point.
        n_points : int
            Number of training nodes that the encoder distinguishes, for ``method="auto"``.
        rng : RandomState
            Not used: random features are the same in every fit.

        Returns
        -------
        FittedMMD
        """
        exact = self.method == "exact" or (self.method == "auto" and n_points <= EXACT_POINTS)
        n_components = N_COMPONENTS if self.n_components is None else self.n_components
        return FittedMMD(
            gammas=tuple(dict.fromkeys(positive_numbers(self, "gammas"))),
            correction=1.0 if self.estimator == "unbiased" else 0.0,
            adaptive=self.estimator == "adaptive",
            frequencies=None if exact else draw_frequencies(dim, n_components),
            most_points=MOST_POINTS if self.method == "auto" else None,
        )


@dataclass(frozen=True, eq=False)
class EmbeddedMeasures(DiscreteMeasures):
    """Measures with the terms of an MMD that depend on single measures.

    Parameters
    ----------
    squared_norms : ndarray or Tensor of shape (n_measures, n_gammas)
        Mean kernels within each measure, with their bias.
    features : ndarray or Tensor of shape (n_measures, n_gammas, n_components), or None
        Means of random features. None if the distance is exact.
    """

    squared_norms: Any
    features: Any = None

    def __getitem__(self, index: Any) -> EmbeddedMeasures:
        features = None if self.features is None else self.features[index]
        if self.points is None:
            sizes, norms = self.sizes[index], self.squared_norms[index]
            return EmbeddedMeasures(None, None, sizes, norms, features)
        P = super().__getitem__(index)
        return EmbeddedMeasures(P.points, P.weights, P.sizes, self.squared_norms[index], features)

    @classmethod
    def of_features(cls, parts: Sequence[Any]) -> EmbeddedMeasures:
        """Concatenate measures with random features, without their points.

        Parameters
        ----------
        parts : sequence of EmbeddedMeasures

        Returns
        -------
        EmbeddedMeasures
            `points` and `weights` are None.
        """
        sizes = np.concatenate([part.sizes for part in parts])
        norms = concatenated(*(part.squared_norms for part in parts))
        return cls(None, None, sizes, norms, concatenated(*(part.features for part in parts)))


@dataclass(frozen=True, eq=False)
class FittedMMD(FittedDistance):
    """Fitted distance of :class:`MMD`.

    Parameters
    ----------
    gammas : tuple of float
        Exponents of the kernels.
    correction : float
        Share of the bias that is removed, in [0, 1]. 0 is the V-statistic, a squared metric. 1 is
        the U-statistic, which excludes the pairs of a sample with itself from the means within a
        measure; a measure of one sample has no other pairs and keeps its biased mean, 1.
    adaptive : bool
        Whether :meth:`adapted` sets the correction.
    frequencies : ndarray of shape (d, n_components // 2) or None
        Frequencies of random features. None for an exact MMD.
    most_points : int or None
        Largest number of points of a graph; a sample replaces more points. None for no limit.
    """

    gammas: tuple[float, ...]
    correction: float = 0.0
    adaptive: bool = False
    frequencies: np.ndarray | None = None
    most_points: int | None = None

    @property
    def needs_points(self) -> bool:  # type: ignore[override]
        """False with random features, unless :meth:`adapted` makes others."""
        return self.frequencies is None or self.adaptive

    @property
    def numbers_per_pair(self) -> int:  # type: ignore[override]
        """Numbers in memory for a pair of measures: one for each gamma, and three for sums."""
        return len(self.gammas) + 3

    @property
    def largest_coordinate(self) -> float:  # type: ignore[override]
        """Limit on coordinates; lower for random features, which need angles below 1e15."""
        return FittedDistance.largest_coordinate if self.frequencies is None else 1e9

    @property
    def name(self) -> str:
        """Name of the distance: the range of the gammas, and the share of bias removed."""
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
        """Method of computation: "exact" or "random_features"."""
        return "exact" if self.frequencies is None else "random_features"

    def embed(self, P: DiscreteMeasures) -> EmbeddedMeasures:
        """Add the mean kernels within each measure, and the means of random features."""
        if isinstance(P, EmbeddedMeasures):
            return P
        features = None
        if self.frequencies is None:
            if self.most_points is not None:
                P = P.thinned(self.most_points)
            norms = engines.self_means(P.points, P.weights, self.gammas).T
        else:
            features = P.memo.get(f"{FEATURES} {self.gammas}")
            if features is None:
                features = self._features(P, self.gammas)
            norms = (features * features).sum(2)
        return EmbeddedMeasures(P.points, P.weights, P.sizes, norms, features)

    def _features(self, P: DiscreteMeasures, gammas: tuple[float, ...]) -> Any:
        """Means of random features, shape (len(P), len(gammas), n_components)."""
        check_angles(P.points, gammas, self.frequencies)  # type: ignore[arg-type]
        return engines.feature_means(P.points, P.weights, gammas, self.frequencies).swapaxes(0, 1)

    def concatenate(self, parts: list[DiscreteMeasures]) -> EmbeddedMeasures:
        """Concatenate embedded measures, whose embeddings are not computed again."""
        embedded = [self.embed(part) for part in parts]
        if any(part.points is None for part in parts):
            return EmbeddedMeasures.of_features(embedded)
        P = DiscreteMeasures.concatenate(parts)
        norms, features = concatenated(*(part.squared_norms for part in embedded)), None
        if self.frequencies is not None:
            features = concatenated(*(part.features for part in embedded))
        return EmbeddedMeasures(P.points, P.weights, P.sizes, norms, features)

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None = None) -> Any:
        """Squared distances between all measures.

        Parameters
        ----------
        P, Q : DiscreteMeasures
            None for `Q` means `P`, at half the cost.

        Returns
        -------
        ndarray or Tensor of shape (len(P), len(Q))
        """
        P = self.embed(P)
        Q = P if Q is None else self.embed(Q)
        return self._combined(P, Q, self.cross(P, Q))

    def cross(self, P: EmbeddedMeasures, Q: EmbeddedMeasures) -> Any:
        """Mean kernels between measures, shape (n_gammas, len(P), len(Q)).

        The mean kernel is sum_pq w_ip v_jq exp(-gamma |x_p - y_q|^2). With random features it is an
        inner product, as exp(-gamma |u - v|^2) is the mean of cos(sqrt(2 gamma) w'(u - v)) over
        standard normal w.
        """
        if self.frequencies is not None:
            return P.features.swapaxes(0, 1) @ Q.features.swapaxes(0, 1).swapaxes(1, 2)
        if Q is P:
            return engines.kernel_means(P.points, P.weights, None, None, self.gammas)
        return engines.kernel_means(P.points, P.weights, Q.points, Q.weights, self.gammas, Q.memo)

    def norms(self, P: EmbeddedMeasures) -> Any:
        """Mean kernels within each measure, less the share of their bias, shape (n_gammas, n)."""
        norms = P.squared_norms.T
        if not self.correction:
            return norms
        # Without the pairs of a sample with itself, (n m - 1) / (n - 1); one sample keeps its mean.
        n = like(norms, P.sizes)
        unbiased = (n * norms - 1 + (n == 1)) / (n - 1).clip(1)
        return norms + self.correction * (unbiased - norms)

    def _combined(self, P: EmbeddedMeasures, Q: EmbeddedMeasures, cross: Any) -> Any:
        """Squared distances from mean kernels: the maximum over gammas, at least 0 if biased."""
        of_gammas = zip(self.norms(P), self.norms(Q), cross, strict=True)
        squared = reduce(maximum, (p[:, None] + q - 2 * k for p, q, k in of_gammas))
        return squared if self.correction else squared.clip(0)

    def adapted(
        self, P: DiscreteMeasures, sample: np.ndarray
    ) -> tuple[FittedDistance, np.ndarray, Any]:
        """Adapt the correction to references, and find their nearest neighbors.

        Parameters
        ----------
        P : DiscreteMeasures
            The references.
        sample : ndarray of int
            Indices of references whose nearest neighbors are needed.

        Returns
        -------
        distance : FittedMMD
        nearest : ndarray of shape (len(sample),)
        squared : ndarray or Tensor of shape (len(P), len(P)), or None
        """
        P, adapted = self.embed(P), self
        if self.adaptive:
            adapted = replace(self, correction=self._independence(P, sample))
        return super(FittedMMD, adapted).adapted(P, sample)

    def _independence(self, P: EmbeddedMeasures, sample: np.ndarray) -> float:
        """Share of measures whose unbiased squared distance to their nearest neighbor is not < 0.

        It estimates the independence of the samples of a measure, whatever the kernel: kernels of
        five decades determine it. The neighbor is the nearest under the biased distance.
        """
        gammas = tuple(dict.fromkeys((*FIVE_DECADES, *self.gammas)))
        biased = replace(self, gammas=gammas, correction=0.0)
        unbiased = replace(biased, correction=1.0)
        P = biased.embed(DiscreteMeasures(P.points, P.weights, P.sizes))
        are_possible = []
        for rows in biased._parts(sample, len(P)):
            some = P[rows]
            cross = biased.cross(some, P)
            nearest = nearest_other(biased._combined(some, P, cross), rows)[1]
            squared = to_numpy(unbiased._combined(some, P, cross))
            are_possible.append(squared[np.arange(len(rows)), nearest] >= -SQUARED_TOL)
        return float(np.concatenate(are_possible).mean())

    def contributions(self, Z: Any, Q: DiscreteMeasures) -> np.ndarray:
        """Contributions of a graph's nodes to its squared distances.

        The witness function is the difference between the mean kernels m_G and m_R to the nodes of
        G and of R (Gretton et al., JMLR 2012, section 2.3). The squared MMD is a sum of the witness
        function over the nodes p of G and over the nodes q of R; the sum over q is divided evenly
        among the nodes of G::

            d^2(G, R) = sum_p  (m_G(p) - m_R(p) + mean_q (m_R(q) - m_G(q))) / n

        Parameters
        ----------
        Z : ndarray or Tensor of shape (n_nodes, dim)
            Points of the graph's nodes.
        Q : DiscreteMeasures
            Measures of other graphs.

        Returns
        -------
        ndarray of shape (n_nodes, len(Q))
            Columns sum to the squared distances.
        """
        n = len(Z)
        nodes = self.embed(DiscreteMeasures.from_clouds(Z, np.arange(n + 1)))
        graph = self.embed(DiscreteMeasures.from_clouds(Z, np.array([0, n])))
        to_self = to_numpy(self.cross(nodes, graph))  # (n_gammas, n, 1)
        if n > 1:  # the correction of `norms`
            to_self = to_self + self.correction * ((n * to_self - 1) / (n - 1) - to_self)
        Q = self.embed(Q)
        to_references = to_numpy(self.cross(nodes, Q))  # (n_gammas, n, k)
        reference_part = to_numpy(self.norms(Q)) - to_references.mean(axis=1)  # (n_gammas, k)
        shares = (to_self - to_references + reference_part[:, np.newaxis, :]) / n
        largest = shares.sum(axis=1).argmax(axis=0)  # the MMD is the maximum over gammas
        return shares[largest, :, np.arange(len(Q))].T


def share_features(distances: Sequence[FittedDistance], P: DiscreteMeasures) -> None:
    """Compute the random features of several distances together, for their method `embed`.

    Those of equal frequencies share the projections of the points, which take most of the time.

    Parameters
    ----------
    distances : sequence of FittedDistance
    P : DiscreteMeasures
        Its memo gets the features.
    """
    mmds = [x for x in distances if isinstance(x, FittedMMD) and x.frequencies is not None]
    alike = [x for x in mmds if np.array_equal(x.frequencies, mmds[0].frequencies)]  # type: ignore
    if len(alike) < 2:
        return
    first, gammas = alike[0], tuple(gamma for x in alike for gamma in x.gammas)
    features, start = first._features(P, gammas), 0
    for x in alike:
        P.memo[f"{FEATURES} {x.gammas}"] = features[:, start : start + len(x.gammas)]
        start += len(x.gammas)
