"""Density: distances to reference graphs -> log densities."""

from skgraphkde.density.kde import KDE

__all__ = ["KDE"]
