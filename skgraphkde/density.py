"""MultiBandwidthKDE: squared distances to reference graphs -> log density.

In come squared distances (n, N), and for the size term the sizes of the graphs. Out goes the log of
a mean of kernels. Everything is computed in log space: at h = 0.01 the plain kernel underflows at a
distance of 0.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from scipy.spatial.distance import cdist
from torch import nn

from skgraphkde.graphs import GraphBatch

# Multiples of the distance scale that the bandwidths "nearest" stand for.
NEAREST_MULTIPLES = (0.075, 0.15, 0.3)


class MultiBandwidthKDE(nn.Module):
    """Kernel density estimate with a softmax-weighted mixture of bandwidths.

    f(G) = sum_k pi_k mean_i K(d(G, G_i), h_k) with K(d, h) = exp(-d^2 / 2h^2) / (sqrt(2 pi) h) and
    pi = softmax(mixture_logits).

    Parameters
    ----------
    bandwidths : "nearest" or sequence of float
        Bandwidths h_k. "nearest" makes them multiples of the median distance between a reference
        and the reference nearest to it, set by :meth:`scale_to`.
    """

    def __init__(self, bandwidths: str | Sequence[float]) -> None:
        super().__init__()
        self.relative = isinstance(bandwidths, str)
        self.multiples = np.array(NEAREST_MULTIPLES if self.relative else bandwidths, dtype=float)
        self.scale = 1.0
        self.mixture_logits = nn.Parameter(torch.zeros(len(self.multiples), device="cpu"))

    @property
    def bandwidths(self) -> np.ndarray:
        """The bandwidths h_k, shape (M,)."""
        return self.multiples * self.scale

    @property
    def mixture_weights(self) -> np.ndarray:
        """Their weights pi_k, shape (M,)."""
        return torch.softmax(self.mixture_logits.detach().double(), 0).cpu().numpy()

    def scale_to(self, nearest: torch.Tensor) -> None:
        """Set the scale of relative bandwidths.

        Parameters
        ----------
        nearest : Tensor of shape (n,)
            Squared distances from references to the reference nearest to each, itself left out; an
            unbiased estimate counts by its size. References with a twin, at no distance but
            rounding, do not count; if all have one, the scale is 1.
        """
        rounding = 1e-10 if nearest.dtype == torch.float64 else 1e-5
        size = nearest.abs()
        apart = size[size > rounding * max(1.0, size.max().item())]
        self.scale = apart.median().sqrt().item() if len(apart) else 1.0

    def forward(
        self,
        squared_distances: torch.Tensor,
        log_weights: torch.Tensor | None = None,
        left_out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Log density.

        Parameters
        ----------
        squared_distances : Tensor of shape (n, N)
            To the N references. Negative values (from an unbiased estimate) are legal.
        log_weights : Tensor of shape (n, N), default=None
            Log of a second kernel, which multiplies the first.
        left_out : bool Tensor of shape (n, N), default=None
            References that do not count, neither in the sum nor in N; at least one has to stay.

        Returns
        -------
        Tensor of shape (n,)
        """
        h = torch.as_tensor(self.bandwidths).to(squared_distances)
        log_scale = torch.log_softmax(self.mixture_logits.to(h.dtype), 0) - torch.log(
            math.sqrt(2 * math.pi) * h
        )
        # The same mixture for every reference: sum over the bandwidths first, then over references.
        log_kernel = torch.logsumexp(
            log_scale[:, None, None] - squared_distances / (2 * h**2)[:, None, None], dim=0
        )
        if log_weights is not None:
            log_kernel = log_kernel + log_weights
        n_references = torch.full((len(log_kernel),), log_kernel.shape[1], device=h.device)
        if left_out is not None:
            log_kernel = log_kernel.masked_fill(left_out, -math.inf)
            n_references = (~left_out).sum(1)
        return torch.logsumexp(log_kernel, 1) - torch.log(n_references.to(h.dtype))


def own_references(index: np.ndarray, n_references: int, device: torch.device) -> torch.Tensor:
    """Marks row r's own reference ``index[r]``, shape (len(index), n_references); -1 has none."""
    own = torch.zeros((len(index), n_references), dtype=torch.bool, device=device)
    rows = np.flatnonzero(index >= 0)
    own[rows, index[rows]] = True
    return own


class SizeKernel:
    """Gaussian kernel on (log number of nodes, log (1 + number of edges)), for a product kernel.

    The mean of a kernel over nodes cannot see how many there are. Sizes are standardized on the
    training graphs; the bandwidth is Scott's, N^(-1/6) in two dimensions (Scott, 1992).

    Parameters
    ----------
    graphs : GraphBatch
        The training graphs.
    """

    def __init__(self, graphs: GraphBatch) -> None:
        sizes = _log_sizes(graphs)
        spread = sizes.std(axis=0)
        self.center = sizes.mean(axis=0)
        self.scale = np.where(spread > 1e-12, spread, 1.0) * len(sizes) ** (-1 / 6)

    @classmethod
    def of(cls, center: np.ndarray, scale: np.ndarray) -> SizeKernel:
        """The kernel with this `center` and `scale`, both of shape (2,)."""
        kernel = cls.__new__(cls)
        kernel.center, kernel.scale = center, scale
        return kernel

    def __call__(self, graphs: GraphBatch, references: GraphBatch) -> np.ndarray:
        """Log kernel between all `graphs` and `references`, shape (n, N)."""
        x, y = ((_log_sizes(g) - self.center) / self.scale for g in (graphs, references))
        return -0.5 * cdist(x, y, "sqeuclidean") - math.log(2 * math.pi)


def _log_sizes(graphs: GraphBatch) -> np.ndarray:
    sizes = (graphs.n_nodes_per_graph, 1 + graphs.n_edges_per_graph)
    return np.log(np.column_stack(sizes).astype(float))


def contrast(
    log_density: torch.Tensor, log_density_perturbed: torch.Tensor, epsilon: float = 1e-6
) -> torch.Tensor:
    """Mean over twins of  (f(twin) - f(graph)) / (f(graph) + epsilon)  (paper, eq. objective).

    Parameters
    ----------
    log_density : Tensor of shape (n,)
        Of the graphs.
    log_density_perturbed : Tensor of shape (r * n,)
        Of their perturbed twins: r for each graph, graph i's at i, i + n, ...
    epsilon : float
        The paper's, for numerical stability.

    Returns
    -------
    Tensor
        The loss, a scalar in (-1, inf): negative where graphs are denser than their twins.
    """
    log_floor = torch.full_like(log_density, math.log(epsilon))
    log_denominator = torch.logaddexp(log_density, log_floor)
    ratio = torch.exp(log_density - log_denominator)
    of_twins = log_density_perturbed.reshape(-1, len(log_density))
    return (torch.exp(of_twins - log_denominator) - ratio).mean()
