"""Pictures of a fitted detector and of its results: scikit-learn's Display objects.

`from_estimator` takes a fitted detector, and `from_predictions` takes scores, distances,
contributions, radii or p-values. Both pass their `options` on to `plot`, which draws on the axes
that you pass or on new ones. Normal graphs are blue circles, anomalies are vermilion triangles.
matplotlib is imported when something is drawn.
"""

from skgraphkde.display.density import DensityDisplay
from skgraphkde.display.detection_curve import DetectionCurveDisplay
from skgraphkde.display.graph_map import GraphMapDisplay
from skgraphkde.display.node_contributions import NodeContributionsDisplay
from skgraphkde.display.novel_nodes import NovelNodesDisplay
from skgraphkde.display.p_values import PValueDisplay
from skgraphkde.display.training import TrainingDisplay

__all__ = [
    "DensityDisplay",
    "DetectionCurveDisplay",
    "GraphMapDisplay",
    "NodeContributionsDisplay",
    "NovelNodesDisplay",
    "PValueDisplay",
    "TrainingDisplay",
]
