"""Kernel density estimates: squared distances to reference graphs -> log densities.

Kernels are computed in log space: at h = 0.01 the plain kernel underflows at a distance of 0.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sklearn.utils._param_validation import StrOptions
from torch import nn

from skgraphkde.density import kde_loops
from skgraphkde.distances.engines.cpu_threads import ranges_of, threads
from skgraphkde.persistence import State, register
from skgraphkde.specification import LARGEST, SMALLEST, Specification, positive_numbers

# Bandwidths of bandwidths="nearest", as multiples of the median nearest-neighbor distance.
NEAREST_MULTIPLES = (0.075, 0.15, 0.3)
# Number of jobs that share the rows of a distance matrix among threads.
ROW_JOBS = 16
# Candidates of bandwidths="likelihood", as multiples of the median distance.
LIKELIHOOD_MULTIPLES = np.geomspace(0.01, 10, 31)


@register
class KDE(Specification):
    """Kernel density estimate with a mixture of bandwidths.

    f(G) = sum_k pi_k mean_i K(d(G, G_i), h_k), K(d, h) = exp(-d^2 / 2h^2) / (sqrt(2 pi) h), over
    the references G_i; the mixture weights pi_k are equal unless training learns them.

    Parameters
    ----------
    bandwidths : {"nearest", "likelihood"} or array-like of float, default="nearest"
        Bandwidths h_k. "nearest" is 0.075, 0.15 and 0.3 times the median distance from a training
        graph to its nearest neighbor; these short bandwidths find outliers. "likelihood" is the one
        bandwidth, between a hundredth of the median distance and ten times that distance, that
        maximizes the leave-one-out likelihood of the training graphs. It finds modes, with the
        other parameters of :func:`density_settings`, such as ``size_kernel=False``. With more than
        500 training graphs, 500 of them are used, evenly spaced in their list.
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
        "bandwidths": [StrOptions({"nearest", "likelihood"}), "array-like"],
        "size_kernel": ["boolean"],
    }

    def __init__(self, bandwidths: Any = "nearest", size_kernel: bool = True) -> None:
        self.bandwidths = bandwidths
        self.size_kernel = size_kernel

    def _validate_values(self) -> None:
        if not isinstance(self.bandwidths, str):
            positive_numbers(self, "bandwidths")

    def build(self, n_distances: int = 1) -> MultiBandwidthKDE:
        """Build the mixtures, one for each of `n_distances` distances."""
        if isinstance(self.bandwidths, str):
            multiples = NEAREST_MULTIPLES if self.bandwidths == "nearest" else (1.0,)
            return MultiBandwidthKDE(multiples, self.bandwidths, n_distances)
        return MultiBandwidthKDE(positive_numbers(self, "bandwidths"), "fixed", n_distances)


@register
class MultiBandwidthKDE(nn.Module):
    """Kernel density estimates with softmax-weighted mixtures of bandwidths, one in each distance.

    f(G) = sum_k pi_k mean_i K(d(G, G_i), h_k) with K(d, h) = exp(-d^2 / 2h^2) / (sqrt(2 pi) h) and
    pi = softmax(mixture_logits).

    Parameters
    ----------
    multiples : sequence of float
        Bandwidths h_k, in units of the scale of a distance.
    scale_by : {"fixed", "nearest", "likelihood"}
        Method that sets the scales: none, they are 1; :meth:`scale_to_nearest`; or
        :meth:`scale_by_likelihood`.
    n_distances : int, default=1
        Number of mixtures.
    """

    def __init__(self, multiples: Sequence[float], scale_by: str, n_distances: int = 1) -> None:
        super().__init__()
        self.scale_by = scale_by
        self.multiples = np.array(multiples, dtype=float)
        self.scales = np.ones(n_distances)
        logits = torch.zeros(n_distances, len(self.multiples), device="cpu")
        self.mixture_logits = nn.Parameter(logits)

    def to_state(self) -> dict[str, Any]:
        """State to save."""
        return {
            "multiples": self.multiples,
            "scale_by": self.scale_by,
            "scales": self.scales,
            "mixture_logits": self.mixture_logits.detach().float().numpy(force=True),
        }

    @classmethod
    def from_state(cls, state: State) -> MultiBandwidthKDE:
        """Rebuild the density from its saved state."""
        multiples = state.take_array("multiples", float, (None,), low=SMALLEST, high=LARGEST)
        scales = state.take_array("scales", float, (None,), low=np.finfo(float).tiny)
        state.check(len(multiples) and len(scales), "there are no bandwidths")
        scale_by = state.take_choice("scale_by", ("fixed", "nearest", "likelihood"))
        kde = cls(multiples.tolist(), scale_by, len(scales))
        kde.scales = scales
        logits = state.take_array("mixture_logits", np.float32, (len(scales), len(multiples)))
        kde.mixture_logits = nn.Parameter(torch.tensor(logits))
        return kde

    @property
    def bandwidths(self) -> np.ndarray:
        """Bandwidths h_k, shape (n_distances, M)."""
        return self.scales[:, None] * self.multiples

    @property
    def mixture_weights(self) -> np.ndarray:
        """Mixture weights pi_k, shape (n_distances, M)."""
        return torch.softmax(self.mixture_logits.detach().double(), 1).cpu().numpy()

    def scale_to_nearest(self, nearest: torch.Tensor) -> None:
        """Set the scales to the median distance to the nearest neighbor.

        Parameters
        ----------
        nearest : Tensor of shape (n_distances, n)
            Squared distances from references to the nearest other reference. A negative unbiased
            estimate counts by its absolute value. Distances of 0 (up to rounding) between equal
            references are excluded; if all distances are 0, the scale is 1.
        """
        self.scales = np.array([_median_distance(squared) for squared in nearest])

    def scale_by_likelihood(
        self,
        squared_distances: torch.Tensor,
        log_weights: torch.Tensor | None,
        left_out: torch.Tensor,
    ) -> None:
        """Set the scales that maximize the leave-one-out likelihood of n references.

        The candidates are a grid of multiples of the median distance.

        Parameters
        ----------
        squared_distances : Tensor of shape (n_distances, n, N)
            Squared distances to all N references.
        log_weights : Tensor of shape (n, N) or None
            Logarithm of a second kernel.
        left_out : bool Tensor of shape (n, N)
            True where a reference is compared with itself.
        """
        medians = np.array([_median_distance(squared.ravel()) for squared in squared_distances])
        likelihoods = []
        for multiple in LIKELIHOOD_MULTIPLES:
            self.scales = multiple * medians
            log_densities = self(squared_distances, log_weights, left_out)
            likelihoods.append(log_densities.detach().mean(1).numpy(force=True))
        self.scales = LIKELIHOOD_MULTIPLES[np.argmax(likelihoods, axis=0)] * medians

    def log_scales(self, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """log(pi_k / (sqrt(2 pi) h_k)) and 2 h_k^2, each of shape (n_distances, M).

        The results have the precision and the device of `like`.
        """
        h = torch.as_tensor(self.bandwidths).to(like)
        log_pi = torch.log_softmax(self.mixture_logits.to(like), 1)
        return log_pi - torch.log(math.sqrt(2 * math.pi) * h), 2 * h**2

    def forward(
        self,
        squared_distances: torch.Tensor,
        log_weights: torch.Tensor | None = None,
        left_out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Log densities.

        Parameters
        ----------
        squared_distances : Tensor of shape (n_distances, n, N)
            Squared distances to the N references. Negative unbiased estimates are allowed.
        log_weights : Tensor of shape (n, N), default=None
            Logarithm of a second kernel, which multiplies the first.
        left_out : bool Tensor of shape (n, N), default=None
            References that are excluded from the sum and from N; at least one must remain.

        Returns
        -------
        Tensor of shape (n_distances, n)
        """
        log_n = log_counts(squared_distances.shape[2], left_out, squared_distances)
        if not torch.is_grad_enabled() and squared_distances.device.type == "cpu":
            return self.log_sums(squared_distances, log_weights, left_out) - log_n
        log_scales, widths = self.log_scales(squared_distances)
        log_densities = []
        for squared, log_scale, width in zip(squared_distances, log_scales, widths, strict=True):
            # The mixture is the same for every reference: sum over bandwidths, then references.
            log_kernel = torch.logsumexp(
                log_scale[:, None, None] - squared / width[:, None, None], dim=0
            )
            if log_weights is not None:
                log_kernel = log_kernel + log_weights
            if left_out is not None:
                log_kernel = log_kernel.masked_fill(left_out, -math.inf)
            log_densities.append(torch.logsumexp(log_kernel, 1) - log_n)
        return torch.stack(log_densities)

    def log_sums(
        self,
        squared_distances: torch.Tensor,
        log_weights: torch.Tensor | None,
        left_out: torch.Tensor | None,
    ) -> torch.Tensor:
        """Logarithms of the sums of kernels, on the CPU and without gradients.

        They are the log densities of `forward` without the division by N.

        Parameters
        ----------
        squared_distances : Tensor of shape (n_distances, n, N)
        log_weights : Tensor of shape (n, N) or None
        left_out : bool Tensor of shape (n, N) or None

        Returns
        -------
        Tensor of shape (n_distances, n)
        """
        out = squared_distances.new_empty(squared_distances.shape[:2])
        operands = self._operands(squared_distances, log_weights)
        left = _numpy(left_out, torch.bool)
        with threads(float(squared_distances.numel() * len(self.multiples))) as run:
            run(
                lambda rows: kde_loops.log_sums(*operands, left, *rows, out.numpy()),
                ranges_of(out.shape[1], ROW_JOBS),
            )
        return out

    def log_sums_of_pairs(
        self, squared: torch.Tensor, log_weights: torch.Tensor | None, of_pairs: torch.Tensor
    ) -> torch.Tensor:
        """Logarithms of the sums of kernels over some pairs of graphs and references only.

        Parameters
        ----------
        squared : Tensor of shape (n_distances, n_pairs)
            Squared distances of the pairs, row by row.
        log_weights : Tensor of shape (n, N) or None
        of_pairs : bool Tensor of shape (n, N)
            True for the pairs in the sums.

        Returns
        -------
        Tensor of shape (n_distances, n)
            -inf for a graph without pairs.
        """
        n_pairs = of_pairs.sum(1).numpy()
        pairs = np.append(0, np.cumsum(n_pairs)), of_pairs.nonzero(as_tuple=True)[1].numpy()
        out = squared.new_empty(len(squared), len(of_pairs))
        operands = self._operands(squared, log_weights)
        kde_loops.log_sums_of_pairs(*operands, pairs, out.numpy())
        return out

    def log_kernels(
        self,
        squared_distances: torch.Tensor,
        log_weights: torch.Tensor | None,
        left_out: torch.Tensor | None,
    ) -> torch.Tensor:
        """Logarithm of the largest kernel among the bandwidths for each graph and reference.

        It is computed on the CPU.

        Parameters
        ----------
        squared_distances : Tensor of shape (n_distances, n, N)
        log_weights : Tensor of shape (n, N) or None
        left_out : bool Tensor of shape (n, N) or None

        Returns
        -------
        Tensor of shape (n_distances, n, N)
            -inf for excluded references.
        """
        out = torch.empty_like(squared_distances)
        kde_loops.log_kernels(
            *self._operands(squared_distances, log_weights),
            _numpy(left_out, torch.bool),
            out.numpy(),
        )
        return out

    def _operands(
        self, squared_distances: torch.Tensor, log_weights: torch.Tensor | None
    ) -> tuple[np.ndarray, ...]:
        """First arguments of the compiled loops, in which an empty array means no weights."""
        scales = (x.detach().numpy() for x in self.log_scales(squared_distances))
        return squared_distances.numpy(), *scales, _numpy(log_weights, squared_distances.dtype)


def log_counts(N: int, left_out: torch.Tensor | None, like: torch.Tensor) -> torch.Tensor:
    """Logarithms of the numbers of references that are not excluded.

    Parameters
    ----------
    N : int
        Number of references.
    left_out : bool Tensor of shape (n, N) or None
        Excluded references.
    like : Tensor of shape (n_distances, n, ...)
        Sets the precision and the device of the result.

    Returns
    -------
    Tensor of shape (n,)
    """
    counts = torch.full((like.shape[1],), N) if left_out is None else (~left_out).sum(1)
    return torch.log(counts.to(like))


def _numpy(matrix: torch.Tensor | None, dtype: torch.dtype) -> np.ndarray:
    """Convert a matrix to NumPy; None becomes an empty matrix."""
    if matrix is None:
        return torch.empty((0, 0), dtype=dtype).numpy()
    return matrix.to(dtype).numpy()


def _median_distance(squared: torch.Tensor) -> float:
    """Median of the distances that are not 0 up to rounding; 1 if all are 0."""
    rounding = 1e-10 if squared.dtype == torch.float64 else 1e-5
    size = squared.abs()
    apart = size[size > rounding * max(1.0, size.max().item())]
    return apart.median().sqrt().item() if len(apart) else 1.0


def own_references(index: np.ndarray, n_references: int, device: torch.device) -> torch.Tensor:
    """Mark the reference that equals each graph.

    Parameters
    ----------
    index : ndarray of shape (n,), int
        Index of the reference that equals graph r, or -1.
    n_references : int
    device : torch.device

    Returns
    -------
    bool Tensor of shape (n, n_references)
    """
    own = torch.zeros((len(index), n_references), dtype=torch.bool, device=device)
    rows = np.flatnonzero(index >= 0)
    own[rows, index[rows]] = True
    return own
