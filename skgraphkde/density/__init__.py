"""Density: distances to reference graphs -> log densities."""

from skgraphkde.density.kde import KDE
from skgraphkde.density.references import References

__all__ = ["KDE", "References"]
