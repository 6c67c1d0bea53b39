"""Kernel density estimates: squared distances to reference graphs -> log densities.

Kernels are computed in log space: at h = 0.01 the plain kernel underflows at a distance of 0.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.utils._param_validation import StrOptions

from skgraphkde.computing.arrays import to_numpy
from skgraphkde.computing.pool import in_threads, ranges_of
from skgraphkde.density import kde_loops
from skgraphkde.specification import Specification, positive_numbers

# Bandwidths of bandwidths="nearest", as multiples of the median nearest-neighbor distance.
NEAREST_MULTIPLES = (0.075, 0.15, 0.3)
# Number of jobs that share the rows of a distance matrix among threads.
ROW_JOBS = 16


class KDE(Specification):
    """Kernel density estimate with a mixture of bandwidths.

    f(G) = sum_k pi_k mean_i K(d(G, G_i), h_k), K(d, h) = exp(-d^2 / 2h^2) / (sqrt(2 pi) h), over
    the references G_i; the mixture weights pi_k are equal unless training learns them.

    Parameters
    ----------
    bandwidths : "nearest" or array-like of float, default="nearest"
        Bandwidths h_k. "nearest" is 0.075, 0.15 and 0.3 times the median distance from a training
        graph to its nearest neighbor; these short bandwidths find outliers. Of more than 500
        training graphs, 500 are used, selected by their content.
    size_kernel : bool, default=True
        Whether the kernel is a product of a kernel on the distance and a kernel on size (the
        logarithms of the numbers of nodes and edges). A distance between means over nodes does not
        depend on the number of nodes.

    Examples
    --------
    >>> from skgraphkde import KDE, Density, GraphKDEDetector
    >>> GraphKDEDetector(views=Density(kernels=KDE(bandwidths=[0.1, 1.0])))
    GraphKDEDetector(views=Density(kernels=KDE(bandwidths=[0.1, 1.0])))
    """

    _parameter_constraints: dict = {
        "bandwidths": [StrOptions({"nearest"}), "array-like"],
        "size_kernel": ["boolean"],
    }

    def __init__(self, bandwidths: Any = "nearest", size_kernel: bool = True) -> None:
        self.bandwidths = bandwidths
        self.size_kernel = size_kernel

    def _validate_values(self) -> None:
        if not isinstance(self.bandwidths, str):
            positive_numbers(self, "bandwidths")

    def build(self) -> MultiBandwidthKDE:
        """Build the mixture of kernels."""
        if isinstance(self.bandwidths, str):
            return MultiBandwidthKDE(NEAREST_MULTIPLES, self.bandwidths)
        return MultiBandwidthKDE(positive_numbers(self, "bandwidths"), "fixed")


class MultiBandwidthKDE:
    """Kernel density estimate with a softmax-weighted mixture of bandwidths.

    f(G) = sum_k pi_k mean_i K(d(G, G_i), h_k) with K(d, h) = exp(-d^2 / 2h^2) / (sqrt(2 pi) h) and
    pi = softmax(logits).

    Parameters
    ----------
    multiples : sequence of float
        Bandwidths h_k, in units of the scale of the distance.
    scale_by : {"fixed", "nearest"}
        Method that sets the scale: none, it is 1, or :meth:`scale_to_nearest`.

    Attributes
    ----------
    scale : float
    logits : ndarray or Tensor of shape (M,)
        Logits of the mixture weights; a tensor while they are trained.
    """

    def __init__(self, multiples: Sequence[float], scale_by: str) -> None:
        self.scale_by = scale_by
        self.multiples = np.array(multiples, dtype=float)
        self.scale = 1.0
        self.logits: Any = np.zeros(len(self.multiples))

    @property
    def bandwidths(self) -> np.ndarray:
        """Bandwidths h_k, shape (M,)."""
        return self.scale * self.multiples

    @property
    def mixture_weights(self) -> np.ndarray:
        """Mixture weights pi_k, shape (M,)."""
        return softmax(to_numpy(self.logits).astype(float))

    def scale_to_nearest(self, nearest: np.ndarray) -> None:
        """Set the scale to the median distance to the nearest neighbor.

        Parameters
        ----------
        nearest : ndarray of shape (n,)
            Squared distances from references to the nearest other reference. A negative unbiased
            estimate counts by its absolute value. Distances of 0 (up to rounding) between equal
            references are excluded; if all distances are 0, the scale is 1.
        """
        self.scale = _median_distance(nearest)

    def __call__(
        self,
        squared: Any,
        log_weights: np.ndarray | None = None,
        left_out: np.ndarray | None = None,
    ) -> Any:
        """Log densities.

        Parameters
        ----------
        squared : ndarray or Tensor of shape (n, N)
            Squared distances to the N references. Negative unbiased estimates are allowed.
        log_weights : ndarray of shape (n, N), default=None
            Logarithm of a second kernel, which multiplies the first.
        left_out : ndarray of shape (n, N), bool, default=None
            References that are excluded from the sum and from N; at least one must remain.

        Returns
        -------
        ndarray or Tensor of shape (n,)
        """
        return log_densities(squared, self.logits, self.bandwidths, log_weights, left_out)


@singledispatch
def log_densities(
    squared: Any,
    logits: Any,
    bandwidths: np.ndarray,
    log_weights: np.ndarray | None,
    left_out: np.ndarray | None,
) -> Any:
    """Log densities under a mixture of kernels; `learned` registers those for tensors.

    Parameters
    ----------
    squared, log_weights, left_out
        As for :class:`MultiBandwidthKDE`.
    logits : ndarray of shape (M,)
        Logits of the mixture weights.
    bandwidths : ndarray of shape (M,)

    Returns
    -------
    ndarray of shape (n,)
    """
    n, N = squared.shape
    out, counts = np.empty(n), np.full(n, N)
    none = np.empty((0, 0))
    if left_out is not None:
        counts = (~left_out).sum(axis=1)
    log_scales = log_softmax(logits) - np.log(math.sqrt(2 * math.pi) * bandwidths)
    operands = (
        squared, log_scales, 2 * bandwidths**2,
        none if log_weights is None else log_weights,
        none.astype(bool) if left_out is None else left_out,
    )  # fmt: skip
    in_threads(
        lambda rows: kde_loops.log_sums(*operands, *rows, out),
        ranges_of(n, ROW_JOBS),
        float(squared.size * len(bandwidths)),
    )
    return out - np.log(counts)


def _median_distance(squared: np.ndarray) -> float:
    """Median of the distances that are not 0 up to rounding; 1 if all are 0."""
    size = np.abs(squared)
    tolerance = 1e-10 if size.dtype == np.float64 else 1e-5
    apart = np.sort(size[size > tolerance * max(1.0, size.max())])
    return float(np.sqrt(apart[(len(apart) - 1) // 2])) if len(apart) else 1.0
