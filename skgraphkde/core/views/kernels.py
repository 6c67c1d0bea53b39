"""Kernels: squared distances to reference graphs, and their sizes -> log densities.

Kernels are computed in log space: at h = 0.01 the plain kernel underflows at a distance of 0.4.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.specification import Specification, StrOptions, positive_numbers

# Bandwidths of bandwidths="relative", as multiples of the median nearest-neighbor distance.
RELATIVE_MULTIPLES = tuple(2.4 / 2**k for k in range(8, -1, -1))
# Number of kernel values in a block of rows, which fits into a cache.
BLOCK = 2**15
# Logarithm of the smallest kernel, as a share of the largest one of a graph.
LOG_SMALLEST = -700.0


class KDE(Specification):
    """Kernel density estimate with a mixture of bandwidths.

    f(G) = sum_k pi_k mean_i K(d(G, G_i), h_k), K(d, h) = exp(-d^2 / 2h^2) / (sqrt(2 pi) h), over
    the references G_i, with mixture weights pi = softmax(alpha) (paper, eq. kde).

    Parameters
    ----------
    bandwidths : "relative" or array-like of float, default="relative"
        Bandwidths h_k. "relative" is nine multiples, 0.0094 to 2.4, each twice the one before, of
        the median distance from a training graph to its nearest neighbor. Of more than 500 training
        graphs, 500 are used, selected by their content.
    weights : {"learned", "equal"}, default="learned"
        Mixture weights pi_k. "learned" weights make graphs denser than their perturbed twins, see
        :func:`skgraphkde.core.views.mixture.learn_weights`. Nothing else is learned.
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
        "bandwidths": [StrOptions({"relative"}), "array-like"],
        "weights": [StrOptions({"learned", "equal"})],
        "size_kernel": ["boolean"],
    }

    def __init__(
        self, bandwidths: Any = "relative", weights: str = "learned", size_kernel: bool = True
    ) -> None:
        self.bandwidths = bandwidths
        self.weights = weights
        self.size_kernel = size_kernel

    def _validate_values(self) -> None:
        if not isinstance(self.bandwidths, str):
            positive_numbers(self, "bandwidths")

    def multiples(self) -> np.ndarray:
        """Bandwidths, shape (n_bandwidths,): in units of the nearest distance if "relative"."""
        if isinstance(self.bandwidths, str):
            return np.array(RELATIVE_MULTIPLES)
        return np.array(positive_numbers(self, "bandwidths"))


def log_densities(
    squared: np.ndarray,
    bandwidths: np.ndarray,
    log_weights: np.ndarray | None = None,
    left_out: np.ndarray | None = None,
) -> np.ndarray:
    """Log densities under each bandwidth, of which a density is a mixture.

    f_k(G) = mean_i K(d(G, G_i), h_k) with K(d, h) = exp(-d^2 / 2h^2) / (sqrt(2 pi) h).

    Parameters
    ----------
    squared : ndarray of shape (n, N)
        Squared distances to the N references. Negative unbiased estimates are allowed.
    bandwidths : ndarray of shape (n_bandwidths,)
    log_weights : ndarray of shape (n, N), default=None
        Logarithm of a second kernel, which multiplies the first.
    left_out : ndarray of shape (n, N), bool, default=None
        References that are excluded from the sum and from N; at least one must remain.

    Returns
    -------
    ndarray of shape (n, n_bandwidths)
    """
    n, n_references = squared.shape
    counts = np.full(n, n_references)
    constant = np.zeros((1, n_references)) if log_weights is None else log_weights
    if left_out is not None:
        counts -= left_out.sum(axis=1)
        constant = np.where(left_out, -np.inf, constant)
    constant = np.broadcast_to(constant, squared.shape)
    log_scales = np.log(math.sqrt(2 * math.pi) * bandwidths)
    log_sums = np.empty((n, len(bandwidths)))
    step = max(1, BLOCK // n_references)
    for rows in (slice(start, start + step) for start in range(0, n, step)):
        for k, bandwidth in enumerate(bandwidths):
            log_kernels = squared[rows] / (-2 * bandwidth**2)
            log_kernels += constant[rows]
            largest = log_kernels.max(axis=1)
            log_kernels -= np.where(np.isfinite(largest), largest, 0.0)[:, np.newaxis]
            # Exponentials that underflow are slow.
            np.exp(np.maximum(log_kernels, LOG_SMALLEST, out=log_kernels), out=log_kernels)
            log_sums[rows, k] = np.log(log_kernels.sum(axis=1)) + largest
    return log_sums - log_scales - np.log(counts)[:, np.newaxis]


def mixture(log_densities: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """Log densities of the mixture with the weights softmax(logits).

    Parameters
    ----------
    log_densities : ndarray of shape (n, n_bandwidths)
        Under each bandwidth.
    logits : ndarray of shape (n_bandwidths,)

    Returns
    -------
    ndarray of shape (n,)
    """
    log_weights = logits - np.logaddexp.reduce(logits)
    return np.logaddexp.reduce(log_densities + log_weights, axis=1)


def median_distance(squared: np.ndarray) -> float:
    """Median of distances, without those of equal graphs.

    Parameters
    ----------
    squared : ndarray of shape (n,)
        Squared distances from references to the nearest other reference. A negative unbiased
        estimate counts by its absolute value.

    Returns
    -------
    float
        Of the distances that are not 0 up to rounding; 1 if all are 0.
    """
    size = np.abs(squared)
    relative, rounding = (1e-10, 1e-13) if size.dtype == np.float64 else (1e-5, 1e-6)
    apart = np.sort(size[size > max(relative * size.max(), rounding)])
    return float(np.sqrt(apart[(len(apart) - 1) // 2])) if len(apart) else 1.0


def size_bandwidths(graphs: GraphBatch) -> np.ndarray:
    """Scott's bandwidths (1992) of sizes, N^(-1/6) times the deviation in two dimensions.

    Parameters
    ----------
    graphs : GraphBatch

    Returns
    -------
    ndarray of shape (2,)
        Of the logarithms of the numbers of nodes and of edges.
    """
    sizes = _log_sizes(graphs)
    spread = sizes.std(axis=0)
    return np.where(spread > 1e-12, spread, 1.0) * len(sizes) ** (-1 / 6)


def log_size_kernel(
    graphs: GraphBatch, references: GraphBatch, bandwidths: np.ndarray
) -> np.ndarray:
    """Log of a Gaussian kernel on (log number of nodes, log (1 + number of edges)).

    A mean over nodes does not depend on the number of nodes, so a distance between clouds ignores
    size. This kernel is a factor of the density.

    Parameters
    ----------
    graphs, references : GraphBatch
    bandwidths : ndarray of shape (2,)

    Returns
    -------
    ndarray of shape (n_graphs, n_references)
    """
    x, y = (_log_sizes(batch) / bandwidths for batch in (graphs, references))
    return -0.5 * cdist(x, y, "sqeuclidean") - math.log(2 * math.pi)


def _log_sizes(graphs: GraphBatch) -> np.ndarray:
    sizes = (graphs.n_nodes_per_graph, 1 + graphs.n_edges_per_graph)
    return np.log(np.column_stack(sizes).astype(float))
