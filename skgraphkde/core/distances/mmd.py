"""MMD: the maximum mean discrepancy between the point clouds of graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from skgraphkde.core.distances.base import Distance, FittedDistance
from skgraphkde.core.distances.kernels import (
    draw_frequencies,
    feature_means,
    kernel_means,
    self_means,
)
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.specification import StrOptions, at_least, positive_numbers

# Largest number of distinct training nodes for which method="auto" is exact: its time grows with
# the square of their number, and is about that of random features here.
EXACT_POINTS = 5_000
# Default of n_components.
N_COMPONENTS = 512
FIVE_DECADES = (1e-2, 1e-1, 1.0, 1e1, 1e2)
# Rounding error of squares of size 1.
SQUARED_TOL = 1e-12


def corrected(means: Any, n: Any, correction: float) -> Any:
    """Mean kernels within a measure, less a share of their bias.

    Parameters
    ----------
    means : ndarray or Tensor
        Over all pairs of its n samples, of which those of a sample with itself are 1.
    n : ndarray or Tensor of int, or int
    correction : float
        Share of the bias, in [0, 1]. 1 is the mean over the other pairs, (n m - 1) / (n - 1); one
        sample has none, and keeps its mean.

    Returns
    -------
    ndarray or Tensor
    """
    if not correction:
        return means
    is_single = n == 1
    unbiased = (n * means - 1 + is_single) / (n - 1 + is_single)
    return means + correction * (unbiased - means)


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
        encoder distinguishes.
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
        )


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
    """

    gammas: tuple[float, ...]
    correction: float = 0.0
    adaptive: bool = False
    frequencies: np.ndarray | None = None

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
        low = min(self.gammas)
        high = max(self.gammas)
        gammas = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        removed = {0.0: "biased", 1.0: "unbiased"}.get(
            self.correction, f"{self.correction:.0%} unbiased"
        )
        features = "" if self.frequencies is None else ", random features"
        return f"MMD with gamma {gammas}, {removed}{features}"

    @property
    def method(self) -> str:
        """Method of computation: "exact" or "random_features"."""
        return "exact" if self.frequencies is None else "random_features"

    def embed(self, P: DiscreteMeasures) -> DiscreteMeasures:
        """Add the mean kernels within each measure, and the means of random features."""
        if P.squared_norms is not None:
            return P
        features = None
        if self.frequencies is None:
            norms = self_means(P, self.gammas).T
        else:
            features = feature_means(P, self.gammas, self.frequencies).swapaxes(0, 1)
            norms = (features * features).sum(axis=2)
        return replace(P, squared_norms=norms, features=features)

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None = None) -> np.ndarray:
        """Squared distances between all measures.

        Parameters
        ----------
        P, Q : DiscreteMeasures
            None for `Q` means `P`, at half the cost.

        Returns
        -------
        ndarray of shape (len(P), len(Q))
        """
        P = self.embed(P)
        Q = P if Q is None else self.embed(Q)
        return self._combined(P, Q, self.cross(P, Q))

    def cross(self, P: DiscreteMeasures, Q: DiscreteMeasures) -> Any:
        """Mean kernels between measures, shape (n_gammas, len(P), len(Q)).

        The mean kernel is sum_pq w_ip v_jq exp(-gamma |x_p - y_q|^2). With random features it is an
        inner product, as exp(-gamma |u - v|^2) is the mean of cos(sqrt(2 gamma) w'(u - v)) over
        standard normal w.
        """
        if self.frequencies is not None:
            return P.features.swapaxes(0, 1) @ Q.features.swapaxes(0, 1).swapaxes(1, 2)
        return kernel_means(P, None if Q is P else Q, self.gammas)

    def norms(self, P: DiscreteMeasures) -> Any:
        """Mean kernels within each measure, less the share of their bias, shape (n_gammas, n)."""
        return corrected(P.squared_norms.T, P.sizes, self.correction)

    def _combined(self, P: DiscreteMeasures, Q: DiscreteMeasures, cross: Any) -> np.ndarray:
        """Squared distances from mean kernels: the maximum over gammas, at least 0 if biased."""
        squared = np.full(cross.shape[1:], -np.inf, cross.dtype)
        for p, q, k in zip(self.norms(P), self.norms(Q), cross, strict=True):
            of_gamma = -2 * k
            of_gamma += p[:, np.newaxis]
            of_gamma += q
            np.maximum(squared, of_gamma, out=squared)
        return squared if self.correction else np.maximum(squared, 0, out=squared)

    def adapted(
        self, P: DiscreteMeasures, sample: np.ndarray
    ) -> tuple[FittedDistance, np.ndarray, np.ndarray | None]:
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
        squared : ndarray of shape (len(P), len(P)), or None
        """
        P = self.embed(P)
        adapted = self
        if self.adaptive:
            adapted = replace(self, correction=self._independence(P, sample))
        return super(FittedMMD, adapted).adapted(P, sample)

    def _independence(self, P: DiscreteMeasures, sample: np.ndarray) -> float:
        """Share of measures whose unbiased squared distance to their nearest neighbor is not < 0.

        It estimates the independence of the samples of a measure, whatever the kernel: kernels of
        five decades determine it. The neighbor is the nearest under the biased distance.
        """
        gammas = tuple(dict.fromkeys((*FIVE_DECADES, *self.gammas)))
        biased = replace(self, gammas=gammas, correction=0.0)
        unbiased = replace(biased, correction=1.0)
        P = biased.embed(replace(P, squared_norms=None))
        are_possible = []
        for rows in biased._parts(sample, len(P)):
            some = P if len(rows) == len(P) else P[rows]  # all pairs at half the cost
            cross = biased.cross(some, P)
            squared = biased._combined(some, P, cross)
            each = np.arange(len(rows))
            squared[each, rows] = np.inf
            neighbor = squared.argmin(axis=1)
            squared = unbiased._combined(some, P, cross)
            are_possible.append(squared[each, neighbor] >= -SQUARED_TOL)
        return float(np.concatenate(are_possible).mean())

    def contributions(self, P: DiscreteMeasures, Q: DiscreteMeasures) -> np.ndarray:
        """Contributions of a graph's nodes to its squared distances.

        The witness function is the difference between the mean kernels m_G and m_R to the nodes of
        G and of R (Gretton et al., JMLR 2012, section 2.3). The squared MMD is a sum of the witness
        function over the nodes p of G and over the nodes q of R; the sum over q is divided evenly
        among the nodes of G::

            d^2(G, R) = sum_p  (m_G(p) - m_R(p) + mean_q (m_R(q) - m_G(q))) / n

        Parameters
        ----------
        P : DiscreteMeasures
            The measure of the graph alone, of which nodes that look alike share a point.
        Q : DiscreteMeasures
            Measures of other graphs.

        Returns
        -------
        ndarray of shape (n_points, len(Q))
            Of one node at each of the graph's points. Over all nodes they sum to the squared
            distances.
        """
        nodes = self.embed(P.of_points())
        graph = self.embed(P)
        Q = self.embed(Q)
        n = P.sizes[0]
        weights = P.weights.toarray()[0]
        to_self = corrected(self.cross(nodes, graph), n, self.correction)  # (n_gammas, n_points, 1)
        to_references = self.cross(nodes, Q)  # (n_gammas, n_points, k)
        reference_part = self.norms(Q) - weights @ to_references  # (n_gammas, k)
        shares = (to_self - to_references + reference_part[:, np.newaxis, :]) / n
        largest = (weights @ shares).argmax(axis=0)  # the MMD is the maximum over gammas
        return shares[largest, :, np.arange(len(Q))].T
