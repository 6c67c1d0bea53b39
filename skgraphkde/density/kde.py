"""Kernel density estimates: squared distances to reference graphs -> log densities.

Everything is computed in log space: at h = 0.01 the plain kernel underflows at a distance of 0.4.
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

# Multiples of the median nearest-neighbor distance that bandwidths="nearest" stands for.
NEAREST_MULTIPLES = (0.075, 0.15, 0.3)
# Jobs in which the rows of a matrix of distances are shared among threads.
ROW_JOBS = 16
# Multiples of the median distance among which bandwidths="likelihood" chooses.
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
        graph to its nearest neighbor: short, which finds outliers. "likelihood" is one bandwidth,
        between a hundredth of the median distance and ten times it, under which the training
        graphs, each left out, have the largest likelihood: it finds modes, with the other
        parameters of :func:`density_settings`, among them ``size_kernel=False``. Of more than 500
        training graphs 500 are asked, evenly spaced in their list.
    size_kernel : bool, default=True
        Whether the kernel is a product of two, one on shape (the distance) and one on size (the
        logarithms of the numbers of nodes and edges). Means over nodes cannot see how many there
        are.

    Examples
    --------
    >>> from skgraphkde import KDE, GraphKDEDetector
    >>> GraphKDEDetector(density=KDE(bandwidths=[0.1, 1.0]))
    GraphKDEDetector(density=KDE(bandwidths=[0.1, 1.0]))
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
        """Build the mixtures, one for each distance."""
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
        What sets the scales: nothing, they are 1; :meth:`scale_to_nearest`; or
        :meth:`scale_by_likelihood`.
    n_distances : int, default=1
    """

    def __init__(self, multiples: Sequence[float], scale_by: str, n_distances: int = 1) -> None:
        super().__init__()
        self.scale_by = scale_by
        self.multiples = np.array(multiples, dtype=float)
        self.scales = np.ones(n_distances)
        logits = torch.zeros(n_distances, len(self.multiples), device="cpu")
        self.mixture_logits = nn.Parameter(logits)

    def to_state(self) -> dict[str, Any]:
        """What a file keeps."""
        return {
            "multiples": self.multiples,
            "scale_by": self.scale_by,
            "scales": self.scales,
            "mixture_logits": self.mixture_logits.detach().float().numpy(force=True),
        }

    @classmethod
    def from_state(cls, state: State) -> MultiBandwidthKDE:
        """The density in a file."""
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
        """The bandwidths h_k, shape (n_distances, M)."""
        return self.scales[:, None] * self.multiples

    @property
    def mixture_weights(self) -> np.ndarray:
        """Their weights pi_k, shape (n_distances, M)."""
        return torch.softmax(self.mixture_logits.detach().double(), 1).cpu().numpy()

    def scale_to_nearest(self, nearest: torch.Tensor) -> None:
        """Set the scales to the median distance to the nearest neighbor.

        Parameters
        ----------
        nearest : Tensor of shape (n_distances, n)
            Squared distances from references to the nearest other reference. A negative square, of
            an unbiased estimate, counts by its absolute value. References with an equal one, at a
            distance of 0 up to rounding, are left out; if all have one, the scale is 1.
        """
        self.scales = np.array([_median_distance(squared) for squared in nearest])

    def scale_by_likelihood(
        self,
        squared_distances: torch.Tensor,
        log_weights: torch.Tensor | None,
        left_out: torch.Tensor,
    ) -> None:
        """Set the scales to those of the largest likelihood; the arguments are those of `forward`.

        The mean log density of the n graphs, each left out, is compared on a grid of multiples of
        the median distance.
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

        `like` has their precision and device.
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
            To the N references. Negative values (from an unbiased estimate) are legal.
        log_weights : Tensor of shape (n, N), default=None
            Log of a second kernel, a factor of the first.
        left_out : bool Tensor of shape (n, N), default=None
            References that are left out of the sum and of N; at least one has to remain.

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
        """Logarithms of the sums of all terms, on the CPU and without gradients.

        Arguments and result are those of `forward`, but nothing is divided by N.
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
        """The same of some terms only.

        Parameters
        ----------
        squared : Tensor of shape (n_distances, n_pairs)
        log_weights : Tensor of shape (n, N) or None
        of_pairs : bool Tensor of shape (n, N)
            The pairs, row by row.

        Returns
        -------
        Tensor of shape (n_distances, n)
            -inf where a graph has no term.
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
        """Logarithms of the largest terms of each graph and reference among the bandwidths.

        On the CPU; arguments are those of `forward`.

        Returns
        -------
        Tensor of shape (n_distances, n, N)
            -inf for references that are left out.
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
        """What the compiled loops take first: no weights are an empty array."""
        of_kde = (x.detach().numpy() for x in self.log_scales(squared_distances))
        return squared_distances.numpy(), *of_kde, _numpy(log_weights, squared_distances.dtype)


def log_counts(N: int, left_out: torch.Tensor | None, like: torch.Tensor) -> torch.Tensor:
    """Logarithms of the numbers of references, of N, that are not left out, shape (n,).

    `like` has shape (n_distances, n, ...), and their precision and device.
    """
    counts = torch.full((like.shape[1],), N) if left_out is None else (~left_out).sum(1)
    return torch.log(counts.to(like))


def _numpy(matrix: torch.Tensor | None, dtype: torch.dtype) -> np.ndarray:
    """A matrix as NumPy takes it; None is an empty one."""
    if matrix is None:
        return torch.empty((0, 0), dtype=dtype).numpy()
    return matrix.to(dtype).numpy()


def _median_distance(squared: torch.Tensor) -> float:
    """The median distance of those that are not 0 up to rounding; 1 if all are."""
    rounding = 1e-10 if squared.dtype == torch.float64 else 1e-5
    size = squared.abs()
    apart = size[size > rounding * max(1.0, size.max().item())]
    return apart.median().sqrt().item() if len(apart) else 1.0


def own_references(index: np.ndarray, n_references: int, device: torch.device) -> torch.Tensor:
    """Mark row r's own reference ``index[r]`` (-1: none), shape (len(index), n_references)."""
    own = torch.zeros((len(index), n_references), dtype=torch.bool, device=device)
    rows = np.flatnonzero(index >= 0)
    own[rows, index[rows]] = True
    return own
