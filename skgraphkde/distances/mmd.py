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

# Up to this number of training nodes that look different method="auto" is exact: 8 * 10^8 pairs,
# some ten seconds on one core, and as many again to score as many nodes.
EXACT_POINTS = 40_000
# Of a graph with more points that differ, so many stand for all where the method is "auto": the
# squared distance that this adds, about 1 / 8192, is far below that of a graph of such a size to
# another. The time is no longer the square of its size.
MOST_POINTS = 8_192
# Random features per gamma, unless n_components says otherwise.
N_COMPONENTS = 512
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
        Of a graph with more than 8,192 such nodes it takes 8,192. From 5,000 training nodes and
        100 graphs on, unless these share most of their nodes, it leaves out of a density the
        references that are too far away to add to it: without them it is lower by a hundredth at
        most (Notes).
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
    neighbor, as found by the biased estimate, is not negative. Of more than 500 training graphs
    500 are asked, evenly spaced in their list. MMDs that share their kernel means remove the same
    share.

    Which references are too far away is known from lower bounds of the distances: mean embeddings
    are projected on the kernels at 256 points (Williams and Seeger, NeurIPS 2000), and of what is
    left only the lengths are compared. One matrix product bounds all distances, and a density needs
    exact ones to a few references in a hundred. These are computed in single precision,
    unless their squares are below 0.001 or it could change a log density by a hundredth. Distances
    that you ask for are all exact, in double precision.

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
            gammas=tuple(dict.fromkeys(positive_numbers(self, "gammas"))),
            correction=1.0 if self.estimator == "unbiased" else 0.0,
            adaptive=self.estimator == "adaptive",
            frequencies=None if exact else draw_frequencies(dim, n_components, rng),
            most_points=MOST_POINTS if self.method == "auto" else None,
        )
