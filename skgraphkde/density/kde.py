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

from skgraphkde.persistence import State, register
from skgraphkde.specification import LARGEST, SMALLEST, Specification, positive_numbers

# Multiples of the median nearest-neighbor distance that bandwidths="nearest" stands for.
NEAREST_MULTIPLES = (0.075, 0.15, 0.3)


@register
class KDE(Specification):
    """Kernel density estimate with a mixture of bandwidths.

    f(G) = sum_k pi_k mean_i K(d(G, G_i), h_k), K(d, h) = exp(-d^2 / 2h^2) / (sqrt(2 pi) h), over
    the references G_i; the mixture weights pi_k are equal unless training learns them.

    Parameters
    ----------
    bandwidths : "nearest" or array-like of float, default="nearest"
        Bandwidths h_k. "nearest" is 0.075, 0.15 and 0.3 times the median distance from a training
        graph to its nearest neighbor.
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
        """Build the mixture."""
        if isinstance(self.bandwidths, str):
            return MultiBandwidthKDE(NEAREST_MULTIPLES, relative=True)
        return MultiBandwidthKDE(positive_numbers(self, "bandwidths"), relative=False)


@register
class MultiBandwidthKDE(nn.Module):
    """Kernel density estimate with a softmax-weighted mixture of bandwidths.

    f(G) = sum_k pi_k mean_i K(d(G, G_i), h_k) with K(d, h) = exp(-d^2 / 2h^2) / (sqrt(2 pi) h) and
    pi = softmax(mixture_logits).

    Parameters
    ----------
    multiples : sequence of float
        Bandwidths h_k, in units of the scale.
    relative : bool
        Whether :meth:`scale_to` sets the scale; otherwise it is 1.
    """

    def __init__(self, multiples: Sequence[float], relative: bool) -> None:
        super().__init__()
        self.relative = relative
        self.multiples = np.array(multiples, dtype=float)
        self.scale = 1.0
        self.mixture_logits = nn.Parameter(torch.zeros(len(self.multiples), device="cpu"))

    def to_state(self) -> dict[str, Any]:
        """What a file keeps."""
        return {
            "multiples": self.multiples,
            "relative": self.relative,
            "scale": self.scale,
            "mixture_logits": self.mixture_logits.detach().float().numpy(force=True),
        }

    @classmethod
    def from_state(cls, state: State) -> MultiBandwidthKDE:
        """The density in a file."""
        multiples = state.take_array("multiples", float, (None,), low=SMALLEST, high=LARGEST)
        state.check(len(multiples), "there are no bandwidths")
        kde = cls(multiples.tolist(), state.take("relative", bool))
        kde.scale = state.take_number("scale", np.finfo(float).tiny)
        logits = state.take_array("mixture_logits", np.float32, multiples.shape)
        kde.mixture_logits = nn.Parameter(torch.tensor(logits))
        return kde

    @property
    def bandwidths(self) -> np.ndarray:
        """The bandwidths h_k, shape (M,)."""
        return self.multiples * self.scale

    @property
    def mixture_weights(self) -> np.ndarray:
        """Their weights pi_k, shape (M,)."""
        return torch.softmax(self.mixture_logits.detach().double(), 0).cpu().numpy()

    def scale_to(self, nearest: torch.Tensor) -> None:
        """Set the scale of relative bandwidths to the median distance to the nearest neighbor.

        Parameters
        ----------
        nearest : Tensor of shape (n,)
            Squared distances from references to the nearest other reference. A negative square, of
            an unbiased estimate, counts by its absolute value. References with an equal one, at a
            distance of 0 up to rounding, are left out; if all have one, the scale is 1.
        """
        if not self.relative:
            return
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
            Log of a second kernel, a factor of the first.
        left_out : bool Tensor of shape (n, N), default=None
            References that are left out of the sum and of N; at least one has to remain.

        Returns
        -------
        Tensor of shape (n,)
        """
        h = torch.as_tensor(self.bandwidths).to(squared_distances)
        log_scale = torch.log_softmax(self.mixture_logits.to(h.dtype), 0) - torch.log(
            math.sqrt(2 * math.pi) * h
        )
        # The mixture is the same for every reference: sum over bandwidths first, then references.
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
    """Mark row r's own reference ``index[r]`` (-1: none), shape (len(index), n_references)."""
    own = torch.zeros((len(index), n_references), dtype=torch.bool, device=device)
    rows = np.flatnonzero(index >= 0)
    own[rows, index[rows]] = True
    return own
