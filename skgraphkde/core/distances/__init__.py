"""Distances between graphs as weighted point clouds: MMD, and their base classes."""

from skgraphkde.core.distances.base import Distance, FittedDistance
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.distances.mmd import MMD

__all__ = ["MMD", "DiscreteMeasures", "Distance", "FittedDistance"]
