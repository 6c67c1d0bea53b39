"""
Pictures of a detector
======================

What is worth looking at after a fit, each picture in a line. They are Display objects as
scikit-learn has them: ``from_estimator`` asks a fitted detector, ``from_predictions`` takes
figures that you have, and either draws on axes of yours if you name them.
"""

# %%
# Half of the mutagenic molecules of MUTAG are known; the other half, and those that are not
# mutagenic, are new.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from skgraphkde import GraphKDEDetector
from skgraphkde.datasets import load_mutag
from skgraphkde.display import (
    DensityDisplay,
    DetectionCurveDisplay,
    GraphMapDisplay,
    NodeContributionsDisplay,
    PValueDisplay,
)

warnings.filterwarnings("ignore", message="node labels that fit did not see")
molecules, y = load_mutag(return_X_y=True)
normal = np.random.RandomState(0).permutation(np.flatnonzero(y == 1))
new = np.r_[normal[62:], np.flatnonzero(y == -1)]
detector = GraphKDEDetector().fit(molecules[normal[:62]])

# %%
# Left, densities and threshold, with the labels if there are any; a long lower tail is counted in
# one bar. In the middle, with labels, too: how well anomalies are found, by several detectors on
# the same axes. Right, without labels: p-values against what they would be if nothing were odd, and
# the graphs that ``select`` takes. With 62 known molecules no p-value is below 1 / 63, which is why
# ``alpha`` is large here.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
DensityDisplay.from_estimator(detector, molecules[new], y[new], ax=axes[0])
simple = GraphKDEDetector(n_layers=0).fit(molecules[normal[:62]])
for fitted, name, color in [
    (detector, "defaults", "#0072B2"),
    (simple, "without neighbors", "#D55E00"),
]:
    DetectionCurveDisplay.from_estimator(
        fitted, molecules[new], y[new], name=name, color=color, ax=axes[1]
    )
PValueDisplay.from_estimator(detector, molecules[new], alpha=0.25, ax=axes[2])
plt.show()

# %%
# Left, a map of the graphs by their distances, on ground that is dark where the density is high; a
# ring marks what is flagged. Right, the oddest of the molecules, and which atoms put the distance
# between it and the known ones.
figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
GraphMapDisplay.from_estimator(detector, molecules[new], y[new], ax=axes[0])
oddest = new[detector.score_samples(molecules[new]).argmin()]
NodeContributionsDisplay.from_estimator(detector, molecules[[oddest]], ax=axes[1])
plt.show()
