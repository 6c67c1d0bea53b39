"""
Pictures of a detector
======================

What is worth looking at after a fit, with one line of code per picture. The pictures are Display
objects as in scikit-learn: ``from_estimator`` asks a fitted detector, ``from_predictions`` takes
numbers that you already have, and both can draw on your own axes.
"""

# %%
# Half of the mutagenic molecules of MUTAG are known. The other half, and the molecules that are not
# mutagenic, are new.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import RocCurveDisplay

from skgraphkde import GraphKDEDetector, Propagation
from skgraphkde.datasets import load_mutag
from skgraphkde.display import (
    DensityDisplay,
    GraphMapDisplay,
    NodeContributionsDisplay,
    NovelNodesDisplay,
    PValueDisplay,
)

warnings.filterwarnings("ignore", message="node labels that fit did not see")
molecules, y = load_mutag(return_X_y=True)
normal = np.random.RandomState(0).permutation(np.flatnonzero(y == 1))
new = np.r_[normal[62:], np.flatnonzero(y == -1)]
detector = GraphKDEDetector().fit(molecules[normal[:62]])

# %%
# Left: scores and the threshold, colored by label if there are labels. A long lower tail is
# collected in one bar. Middle, with labels only: how well two detectors tell normal molecules from
# anomalies, by scikit-learn's own display. Right, without labels: p-values compared with those of
# normal graphs alone, and the graphs that ``select`` takes. With 62 known molecules no p-value is
# below 1 / 63, which is why ``alpha`` is large here.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
DensityDisplay.from_estimator(detector, molecules[new], y[new], ax=axes[0])
simple = GraphKDEDetector(encoder=Propagation(n_layers=0)).fit(molecules[normal[:62]])
for fitted, name in [(detector, "defaults"), (simple, "without neighbors")]:
    scores = fitted.score_samples(molecules[new])
    RocCurveDisplay.from_predictions(y[new], scores, name=name, ax=axes[1])
PValueDisplay.from_estimator(detector, molecules[new], alpha=0.25, ax=axes[2])
plt.show()

# %%
# Left: a map of the graphs by their distances. The background is dark where scores are high, and a
# ring marks each flagged graph. Middle: the molecule with the lowest score, and how much each atom
# contributes to its distance from the known ones. Right: the smallest radius at which the
# neighborhood of each atom is in no known molecule.
figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained", width_ratios=[1.3, 1, 1])
GraphMapDisplay.from_estimator(detector, molecules[new], y[new], ax=axes[0])
lowest = new[detector.score_samples(molecules[new]).argmin()]
NodeContributionsDisplay.from_estimator(detector, molecules[lowest], ax=axes[1])
NovelNodesDisplay.from_estimator(detector, molecules[lowest], ax=axes[2])
plt.show()
