"""Distances between graphs as weighted point clouds: MMD, and their base classes."""

from skgraphkde.distances.base import Distance, FittedDistance
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.mmd import MMD

__all__ = ["MMD", "DiscreteMeasures", "Distance", "FittedDistance"]
