"""Pictures of a fitted detector and of its results: scikit-learn's Display objects.

`from_estimator` takes a fitted detector, and `from_predictions` takes scores, distances,
contributions, radii or p-values. Both pass their `options` on to `plot`, which draws on the axes
that you pass or on new ones. Normal graphs are blue circles, anomalies are vermilion triangles.
matplotlib is imported when something is drawn. Curves of detection are those of
:class:`sklearn.metrics.RocCurveDisplay`.
"""

from skgraphkde.display.density import DensityDisplay
from skgraphkde.display.graph_map import GraphMapDisplay
from skgraphkde.display.nodes import NodeContributionsDisplay, NovelNodesDisplay
from skgraphkde.display.p_values import PValueDisplay

__all__ = [
    "DensityDisplay",
    "GraphMapDisplay",
    "NodeContributionsDisplay",
    "NovelNodesDisplay",
    "PValueDisplay",
]
