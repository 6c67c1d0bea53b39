"""Views: reference graphs and a graph -> a score, and the reasons for it; one module a view."""

from skgraphkde.views.base import Property, Reason, View
from skgraphkde.views.density import Density
from skgraphkde.views.extremes import Extremes
from skgraphkde.views.novelty import Novelty
from skgraphkde.views.rarity import Rarity

__all__ = ["Density", "Extremes", "Novelty", "Property", "Rarity", "Reason", "View"]
