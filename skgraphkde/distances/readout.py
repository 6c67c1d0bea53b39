"""Readout: Euclidean distances between the means, or the sums, of each graph's points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from skgraphkde.distances.base import Distance, FittedDistance
from skgraphkde.distances.engines import squared_distances
from skgraphkde.distances.measures import DiscreteMeasures, pooled
from skgraphkde.persistence import State, register

READOUTS = ("mean", "sum")


@register
class Readout(Distance):
    """Distance between the means, or the sums, of the points (the paper's "w/o MMD distance").

    Parameters
    ----------
    readout : {"mean", "sum"}, default="mean"
        Aggregation of the points of a graph to one vector.

    Examples
    --------
    >>> from skgraphkde import Density, GraphKDEDetector, Readout
    >>> GraphKDEDetector(views=Density(Readout("sum")))
    GraphKDEDetector(views=Density(distance=Readout(readout='sum')))
    """

    _parameter_constraints: dict = {"readout": [StrOptions(set(READOUTS))]}

    def __init__(self, readout: str = "mean") -> None:
        self.readout = readout

    def build(self, dim: int, n_points: int, rng: np.random.RandomState) -> FittedReadout:
        """Build the distance, see :meth:`Distance.build`.

        Parameters
        ----------
        dim, n_points, rng
            Not used.

        Returns
        -------
        FittedReadout
        """
        return FittedReadout(self.readout)


@register
@dataclass(frozen=True)
class FittedReadout(FittedDistance):
    """Fitted distance of :class:`Readout`.

    Parameters
    ----------
    readout : {"mean", "sum"}
    """

    readout: str

    @property
    def name(self) -> str:
        """Name of the distance in tables and plots."""
        return f"distance between {self.readout}s of the points"

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None = None) -> Any:
        """Squared distances between all measures.

        Parameters
        ----------
        P, Q : DiscreteMeasures
            None for `Q` means `P`.

        Returns
        -------
        ndarray or Tensor of shape (len(P), len(Q))
        """
        p = self._vectors(P)
        return squared_distances(p, p if Q is None else self._vectors(Q))

    def _vectors(self, P: DiscreteMeasures) -> Any:
        if self.readout not in P.memo:
            P.memo[self.readout] = pooled(P, self.readout)
        return P.memo[self.readout]

    def to_state(self) -> dict[str, Any]:
        """State to save."""
        return {"readout": self.readout}

    @classmethod
    def from_state(cls, state: State) -> FittedReadout:
        """Rebuild the distance from its saved state."""
        return cls(state.take_choice("readout", READOUTS))
