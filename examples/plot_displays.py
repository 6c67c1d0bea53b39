"""
Pictures of a detector
======================

What is worth looking at after a fit, with one line of code per picture. The functions of
:mod:`skgraphkde.plots` take what a detector returns, and draw on your own axes or on new ones.
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
from skgraphkde.explanation import node_contributions, novel_nodes
from skgraphkde.plots import plot_graph, plot_map, plot_scores

warnings.filterwarnings("ignore", message="node labels that fit did not see")
molecules, y = load_mutag(return_X_y=True)
normal = np.random.RandomState(0).permutation(np.flatnonzero(y == 1))
new = np.r_[normal[62:], np.flatnonzero(y == -1)]
detector = GraphKDEDetector().fit(molecules[normal[:62]])

# %%
# Left: scores and the threshold, colored by label if there are labels. A long lower tail is
# collected in one bar. Middle, with labels only: how well two detectors tell normal molecules from
# anomalies, by scikit-learn's own display. Right, without labels: sorted p-values. Those of normal
# graphs alone would be on the dotted line. ``select`` takes all graphs up to the last one that is
# not above the dashed line of Benjamini and Hochberg. With 62 known molecules no p-value is below
# 1 / 63, which is why ``alpha`` is large here.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
scores = detector.score_samples(molecules[new])
plot_scores(scores, detector.offset_, y[new], ax=axes[0])
simple = GraphKDEDetector(encoder=Propagation(n_layers=0)).fit(molecules[normal[:62]])
for fitted, name in [(detector, "defaults"), (simple, "without neighbors")]:
    of_fitted = fitted.score_samples(molecules[new])
    RocCurveDisplay.from_predictions(y[new], of_fitted, name=name, ax=axes[1])
alpha, ranks = 0.25, np.arange(1, len(new) + 1)
axes[2].loglog(ranks, np.sort(detector.p_values(molecules[new])), ".")
axes[2].loglog(ranks, ranks / len(new), "k:", label="k / n")
axes[2].loglog(ranks, alpha * ranks / len(new), "k--", label=f"{alpha} k / n")
axes[2].set(xlabel="rank k", ylabel="p-value")
axes[2].legend(frameon=False)
n_selected = detector.select(molecules[new], alpha).sum()
axes[2].set_title(f"{n_selected} selected", fontsize=9)
plt.show()

# %%
# Left: a map of the graphs by their distances. Graphs are dark where scores are high, and a ring
# marks each flagged graph. Middle: the molecule with the lowest score, and how much each atom
# contributes to its distance from the known ones. Right: the smallest radius at which the
# neighborhood of each atom is in no known molecule.
figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained", width_ratios=[1.3, 1, 1])
distances = detector.pairwise_distances(molecules[new])
plot_map(distances, scores, detector.offset_, y[new], ax=axes[0])
lowest = molecules[new[scores.argmin()]]
plot_graph(lowest, node_contributions(detector, lowest)[0], ax=axes[1])
plot_graph(lowest, novel_nodes(detector, lowest)[0], radius=5, ax=axes[2])
plt.show()
