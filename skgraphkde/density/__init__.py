"""Density: distances to reference graphs -> log densities, and the fitted density of graphs."""

from skgraphkde.density.graph_density import GraphDensity
from skgraphkde.density.kde import KDE
from skgraphkde.density.novelty import Novelty
from skgraphkde.density.references import References

__all__ = ["KDE", "GraphDensity", "Novelty", "References"]
