"""Views: reference graphs and a graph -> a score, and the reasons for it; one module a view."""

from skgraphkde.views.base import Property, Reason, View
from skgraphkde.views.confirmed import Confirmed
from skgraphkde.views.density import Density
from skgraphkde.views.neighbors import Neighbors
from skgraphkde.views.novelty import Novelty
from skgraphkde.views.numbers import Numbers
from skgraphkde.views.statistics import Statistics
from skgraphkde.views.tanimoto import Tanimoto

__all__ = [
    "Confirmed",
    "Density",
    "Neighbors",
    "Novelty",
    "Numbers",
    "Property",
    "Reason",
    "Statistics",
    "Tanimoto",
    "View",
]
