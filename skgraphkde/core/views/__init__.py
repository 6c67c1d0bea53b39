"""Views: reference graphs and a graph -> a score, and the reasons for it."""

from skgraphkde.core.views.base import Property, Reason, View
from skgraphkde.core.views.confirmed import Confirmed
from skgraphkde.core.views.density import Density
from skgraphkde.core.views.kernels import KDE
from skgraphkde.core.views.namesakes import Namesakes
from skgraphkde.core.views.neighborhoods import Neighbors, Novelty, Tanimoto
from skgraphkde.core.views.numbers import Numbers
from skgraphkde.core.views.statistics import Statistics

__all__ = [
    "KDE",
    "Confirmed",
    "Density",
    "Namesakes",
    "Neighbors",
    "Novelty",
    "Numbers",
    "Property",
    "Reason",
    "Statistics",
    "Tanimoto",
    "View",
]
