"""Kernels: squared distances to reference graphs, and their sizes -> log densities.

Kernels are computed in log space: at h = 0.01 the plain kernel underflows at a distance of 0.4.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import log_softmax
from sklearn.utils._param_validation import StrOptions

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.specification import Specification, positive_numbers

# Bandwidths of bandwidths="nearest", as multiples of the median nearest-neighbor distance.
NEAREST_MULTIPLES = (0.075, 0.15, 0.3)
# Number of kernel values in a block of rows, which fits into a cache.
BLOCK = 2**15
# Logarithm of the smallest kernel, as a share of the largest one of a graph.
LOG_SMALLEST = -700.0


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

    def multiples(self) -> np.ndarray:
        """Bandwidths, shape (n_bandwidths,): in units of the nearest distance if "nearest"."""
        if isinstance(self.bandwidths, str):
            return np.array(NEAREST_MULTIPLES)
        return np.array(positive_numbers(self, "bandwidths"))


def log_densities(
    squared: np.ndarray,
    logits: np.ndarray,
    bandwidths: np.ndarray,
    log_weights: np.ndarray | None = None,
    left_out: np.ndarray | None = None,
) -> np.ndarray:
    """Log densities under a mixture of kernels.

    f(G) = sum_k pi_k mean_i K(d(G, G_i), h_k) with K(d, h) = exp(-d^2 / 2h^2) / (sqrt(2 pi) h) and
    pi = softmax(logits).

    Parameters
    ----------
    squared : ndarray of shape (n, N)
        Squared distances to the N references. Negative unbiased estimates are allowed.
    logits, bandwidths : ndarray of shape (n_bandwidths,)
    log_weights : ndarray of shape (n, N), default=None
        Logarithm of a second kernel, which multiplies the first.
    left_out : ndarray of shape (n, N), bool, default=None
        References that are excluded from the sum and from N; at least one must remain.

    Returns
    -------
    ndarray of shape (n,)
    """
    n, n_references = squared.shape
    counts = np.full(n, n_references)
    if left_out is not None:
        counts -= left_out.sum(axis=1)
    log_scales = log_softmax(logits) - np.log(math.sqrt(2 * math.pi) * bandwidths)
    widths = -2 * bandwidths**2
    sums, step = np.empty(n), max(1, BLOCK // n_references)
    for rows in (slice(start, start + step) for start in range(0, n, step)):
        log_kernels = squared[rows] / widths[:, np.newaxis, np.newaxis]
        log_kernels += log_scales[:, np.newaxis, np.newaxis]
        if log_weights is not None:
            log_kernels += log_weights[rows]
        if left_out is not None:
            log_kernels += np.where(left_out[rows], -np.inf, 0.0)
        largest = log_kernels.max(axis=(0, 2))
        log_kernels -= np.where(np.isfinite(largest), largest, 0.0)[:, np.newaxis]
        # Exponentials that underflow are slow.
        np.exp(np.maximum(log_kernels, LOG_SMALLEST, out=log_kernels), out=log_kernels)
        sums[rows] = np.log(log_kernels.sum(axis=(0, 2))) + largest
    return sums - np.log(counts)


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
    tolerance = 1e-10 if size.dtype == np.float64 else 1e-5
    apart = np.sort(size[size > tolerance * max(1.0, size.max())])
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
