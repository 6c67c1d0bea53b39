"""Density: the view of the log density of a graph under one distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from skgraphkde.density.kde import KDE
from skgraphkde.distances.base import Distance, FittedDistance
from skgraphkde.distances.mmd import MMD
from skgraphkde.distances.readout import Readout
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import State, register
from skgraphkde.specification import shorthand_options
from skgraphkde.views.base import Property, View


@register
class Density(View):
    """Log density of a graph: a mixture of kernels on a distance, centered at the references.

    The distance is between clouds of points, one for each node: its features, averaged over
    neighborhoods, or its embedding. All views of this kind in a detector share the points.

    Parameters
    ----------
    distance : {"mmd", "mean", "sum"} or Distance, default="mmd"
        Distance between clouds: :class:`MMD`, or :class:`Readout` for the distance between their
        means or sums, or your own.
    kernels : "kde" or KDE, default="kde"
        Kernels and their bandwidths.

    Attributes
    ----------
    distance_ : FittedDistance
        The distance with constants fitted to the references. An MMD has its `method`, and its
        `correction`, the share of the bias that is removed.
    bandwidths_, mixture_weights_ : ndarray of shape (n_bandwidths,)
        Bandwidths and weights of the mixture of kernels.

    Examples
    --------
    >>> from skgraphkde import Density, GraphKDEDetector, MMD
    >>> detector = GraphKDEDetector(views=Density(distance=MMD(gammas=(1, 10))))
    >>> detector.set_params(views__distance__estimator="biased").views
    Density(distance=MMD(estimator='biased', gammas=(1, 10)))
    """

    _shorthands: dict[str, dict[str, Callable[[], Any]]] = {
        "distance": {"mmd": MMD, "mean": Readout, "sum": lambda: Readout("sum")},
        "kernels": {"kde": KDE},
    }
    summary = "The nodes with their features and surroundings, compared as clouds of points."
    _parameter_constraints: dict = {
        "distance": shorthand_options(_shorthands["distance"], Distance),
        "kernels": shorthand_options(_shorthands["kernels"], KDE),
    }

    distance_: FittedDistance
    bandwidths_: np.ndarray
    mixture_weights_: np.ndarray

    def __init__(self, distance: Any = "mmd", kernels: Any = "kde") -> None:
        self.distance = distance
        self.kernels = kernels

    @property
    def name(self) -> str:
        """Name of the view, with the fitted distance."""
        if not hasattr(self, "distance_"):
            return "density"
        return f"nodes and their surroundings ({self.distance_.name})"

    def properties(self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray) -> list[Property]:
        """No properties: reasons are made of the sizes and the means of the node features."""
        return []

    def complete(self, references: GraphBatch) -> None:
        """Nothing to complete: the model adds the distance and the kernels."""

    def to_state(self) -> dict[str, Any]:
        """State to save: the parameters; the model saves the distances and kernels together."""
        return self.saved_params()

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild the view from its parameters."""
        return cls.from_saved(state.take_all())
