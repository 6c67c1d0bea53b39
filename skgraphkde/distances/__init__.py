"""Distances between graphs as weighted point clouds: MMD, Readout, and their base classes."""

from skgraphkde.distances.base import Distance, FittedDistance
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.mmd import MMD
from skgraphkde.distances.readout import Readout

__all__ = ["MMD", "DiscreteMeasures", "Distance", "FittedDistance", "Readout"]
