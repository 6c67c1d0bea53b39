"""FittedMMD: one maximum mean discrepancy between the point clouds of graphs, as a distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from skgraphkde.distances.base import FittedDistance
from skgraphkde.distances.kernel_means import EmbeddedMeasures
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.mmds import MMDConstants, MMDs
from skgraphkde.persistence import State, check, register
from skgraphkde.specification import LARGEST, SMALLEST


@register
@dataclass(frozen=True, eq=False)
class FittedMMD(MMDConstants, FittedDistance):
    """Fitted distance of :class:`MMD`, with the parameters of MMDConstants."""

    @property
    def numbers_per_pair(self) -> int:  # type: ignore[override]
        """Numbers in memory for a pair of measures: four for each gamma."""
        return 4 * len(self.gammas)

    @property
    def largest_coordinate(self) -> float:  # type: ignore[override]
        """Limit on coordinates; lower for random features, which need angles below 1e15."""
        return FittedDistance.largest_coordinate if self.frequencies is None else 1e9

    @property
    def name(self) -> str:
        """Name of the distance: the range of the gammas, and the share of bias removed."""
        low, high = min(self.gammas), max(self.gammas)
        gammas = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        removed = {0.0: "biased", 1.0: "unbiased"}.get(
            self.correction, f"{self.correction:.0%} of the bias removed"
        )
        return f"MMD with gamma {gammas}, {removed}" + ", random features" * (
            self.method != "exact"
        )

    @property
    def method(self) -> str:
        """Method of computation: "exact" or "random_features"."""
        return "exact" if self.frequencies is None else "random_features"

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None = None) -> torch.Tensor:
        """Squared distances between all measures.

        Parameters
        ----------
        P, Q : DiscreteMeasures
            None for `Q` means `P`, at half the cost.

        Returns
        -------
        Tensor of shape (len(P), len(Q))
        """
        return MMDs((self,)).squared(P, Q)[0]

    def embed(self, P: DiscreteMeasures) -> EmbeddedMeasures:
        """Add the mean kernels within each measure, and the means of random features."""
        return MMDs((self,)).embed(P)

    def adapted(
        self, P: DiscreteMeasures, sample: np.ndarray
    ) -> tuple[FittedMMD, torch.Tensor, torch.Tensor | None]:
        """Adapt the correction to references, see :meth:`FittedDistance.adapted`.

        Parameters
        ----------
        P : DiscreteMeasures
            The references.
        sample : ndarray of int
            Indices of references whose nearest neighbors are needed.

        Returns
        -------
        distance : FittedMMD
        nearest : Tensor of shape (len(sample),)
        squared : Tensor of shape (len(P), len(P)) or None
        """
        mmds, nearest, squared = MMDs((self,)).adapted(P, sample)
        return mmds.members[0], nearest[0], None if squared is None else squared[0]

    def contributions(self, Z: torch.Tensor, Q: DiscreteMeasures) -> torch.Tensor:
        """Contributions of a graph's nodes to its squared distances.

        The witness function is the difference between the mean kernels m_G and m_R to the nodes of
        G and of R (Gretton et al., JMLR 2012, section 2.3). The squared MMD is a sum of the witness
        function over the nodes p of G and over the nodes q of R; the sum over q is divided evenly
        among the nodes of G::

            d^2(G, R) = sum_p  (m_G(p) - m_R(p) + mean_q (m_R(q) - m_G(q))) / n

        Parameters
        ----------
        Z : Tensor of shape (n_nodes, dim)
            Points of the graph's nodes.
        Q : DiscreteMeasures
            Measures of other graphs.

        Returns
        -------
        Tensor of shape (n_nodes, len(Q))
            Columns sum to the squared distances.
        """
        n, mmds = len(Z), MMDs((self,))
        nodes = self.embed(DiscreteMeasures.from_clouds(Z, np.arange(n + 1)))
        graph = self.embed(DiscreteMeasures.from_clouds(Z, np.array([0, n])))
        to_self = mmds.cross(nodes, graph)  # (n_gammas, n, 1)
        if n > 1:  # the correction of without_own_pairs
            to_self = torch.lerp(to_self, (n * to_self - 1) / (n - 1), self.correction)
        Q = self.embed(Q)
        to_references = mmds.cross(nodes, Q)  # (n_gammas, n, k)
        reference_part = self.norms(Q) - to_references.mean(1)  # (n_gammas, k)
        shares = (to_self - to_references + reference_part[:, None, :]) / n
        largest = shares.sum(1).argmax(0)  # the MMD is the maximum over gammas
        return shares[largest, :, torch.arange(len(Q), device=Z.device)].T

    def check_dim(self, dim: int) -> None:
        """Raise a ValueError if the frequencies are not for points of `dim` coordinates."""
        fits = self.frequencies is None or len(self.frequencies) == dim
        check(fits, "the random frequencies do not fit the points")

    def to_state(self) -> dict[str, Any]:
        """State to save."""
        return vars(self)

    @classmethod
    def from_state(cls, state: State) -> FittedMMD:
        """Rebuild the distance from its saved state."""
        gammas = state.take("gammas", tuple)
        are_numbers = gammas and all(type(x) is float and SMALLEST <= x <= LARGEST for x in gammas)
        state.check(are_numbers, "gammas is out of range")
        correction = state.take_number("correction", 0, 1)
        adaptive = state.take("adaptive", bool)
        frequencies = state.take_optional("frequencies", torch.Tensor)
        if frequencies is not None:
            is_matrix = frequencies.ndim == 2 and frequencies.numel() > 0
            state.check(
                is_matrix and frequencies.dtype == torch.float64 and frequencies.isfinite().all(),
                "frequencies is not a matrix of finite numbers in double precision",
            )
        most_points = state.take_optional("most_points", int)
        state.check(most_points is None or most_points > 0, "most_points is not positive")
        return cls(gammas, correction, adaptive, frequencies, most_points)
