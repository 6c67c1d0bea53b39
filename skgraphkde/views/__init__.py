"""Views: reference graphs and a graph -> a score, and the reasons for it."""

from skgraphkde.views.anomalies import Confirmed
from skgraphkde.views.attributes import Numbers
from skgraphkde.views.base import Property, Reason, View
from skgraphkde.views.density import Density
from skgraphkde.views.kernels import KDE
from skgraphkde.views.neighborhoods import Neighbors, Novelty, Tanimoto
from skgraphkde.views.structure import Statistics

__all__ = [
    "KDE",
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
