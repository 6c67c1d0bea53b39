"""MMD: the specification of the maximum mean discrepancy between the point clouds of graphs."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from skgraphkde.distances.base import Distance
from skgraphkde.distances.fitted_mmd import FittedMMD
from skgraphkde.distances.random_features import draw_frequencies
from skgraphkde.persistence import register
from skgraphkde.specification import at_least, positive_numbers

# Largest number of distinct training nodes for which method="auto" is exact: 8 * 10^8 pairs, which
# take about ten seconds on one core in fit, and the same time to score the same number of nodes.
EXACT_POINTS = 40_000
# Largest number of points of a graph with method="auto". A sample of this size adds about 1 / 8192
# to a squared distance, far below the distance between two graphs of such a size, and bounds the
# time, which would otherwise grow with the square of the size.
MOST_POINTS = 8_192
# Default of n_components.
N_COMPONENTS = 512
FIVE_DECADES = (1e-2, 1e-1, 1.0, 1e1, 1e2)


@register
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
        "random_features" is linear in it. "auto" is exact for up to 40,000 training nodes that the
        encoder distinguishes, and uses a sample of 8,192 nodes of a graph with more distinct nodes.
        With at least 5,000 distinct training nodes and 100 training graphs, unless these share most
        of their nodes, "auto" skips references that are too far away to contribute to a density.
        The density is then lower by at most a hundredth (Notes).
    n_components : int, default=None
        Number of random features for each of `gammas`, an even number; the error falls with its
        square root. None is 512. Not allowed with ``method="exact"``.

    Notes
    -----
    The U-statistic assumes that the nodes of a graph are independent draws. If they are, few graphs
    are closer to their nearest neighbor than equal distributions would be, and few of these squared
    distances are negative. Atoms of molecules are not independent: equal molecules are common, and
    nearly all distances between neighbors are negative. "adaptive" removes a share of the bias. It
    is the share of training graphs with a non-negative unbiased squared distance to their nearest
    neighbor under the biased estimate. With more than 500 training graphs, 500 of them are used,
    evenly spaced in their list. MMDs that share their kernel means remove the same share.

    Lower bounds of the distances identify references that are too far away: mean embeddings are
    projected on the kernels at 256 points (Williams and Seeger, NeurIPS 2000), and the residuals
    are bounded by their lengths. One matrix product bounds all distances, and a density needs exact
    distances to a few percent of the references. These are computed in single precision, unless
    their squares are below 0.001 or single precision could change a log density by a hundredth.
    Distances returned to the user are always exact, in double precision.

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
        """Build the fitted distance, and draw its random features, see :meth:`Distance.build`.

        Parameters
        ----------
        dim : int
            Number of coordinates of a point.
        n_points : int
            Number of training nodes that the encoder distinguishes, for ``method="auto"``.
        rng : RandomState
            Generator of the random features.

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
            frequencies=None if exact else draw_frequencies(dim, n_components, rng),
            most_points=MOST_POINTS if self.method == "auto" else None,
        )
