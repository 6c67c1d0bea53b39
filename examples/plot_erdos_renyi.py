"""
Is the density the true one?
============================

For random graphs, the true density can be known. Here the probability p of an edge is drawn for
each graph from a Beta(2, 2) distribution: graphs with p near 1/2 are common, and very sparse or
very dense ones are rare. Does a detector that sees only the graphs find that out?
"""

# %%
# 400 graphs are for training and 200 others for scoring. The true density of a graph is that of
# Beta(2, 2) at its p.
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from skgraphkde import GraphKDEDetector, density_settings, paper_settings
from skgraphkde.datasets import make_erdos_renyi

known = make_erdos_renyi(400, random_state=0)
fresh = make_erdos_renyi(200, random_state=1)
p, truth = fresh.parameters["p"], fresh.density

# %%
# Three detectors: the defaults; the paper's settings without training; and ``density_settings()``.
# For each, the rank correlation with the true density is printed, and the AUROC against other
# graphs from the rare ends, with p below 0.2 or above 0.8.
untrained = paper_settings(training=None, random_state=0)
detectors = {
    "defaults": GraphKDEDetector(),
    "paper's settings, untrained": GraphKDEDetector(**untrained),
    "density settings": GraphKDEDetector(**density_settings()),
}
extremes = make_erdos_renyi(0, 200, random_state=2).graphs
target = np.repeat([1, -1], 200)
scores = {}
for name, detector in detectors.items():
    scores[name] = detector.fit(known.graphs).score_samples(fresh.graphs)
    correlation = spearmanr(scores[name], truth).statistic
    both = np.concatenate([scores[name], detector.score_samples(extremes)])
    print(
        f"{name:28s} rank correlation {correlation:5.2f}, AUROC {roc_auc_score(target, both):.2f}"
    )

# %%
# It does, but only if you ask for it. The scores of the defaults are no density, and say little
# about the true one: many rare graphs score as high as the most common ones. In the paper's
# settings the distance is the largest of five, which for these graphs is that of the narrowest
# kernel, and the profile has a dip where the peak should be. ``density_settings()`` has one wide
# kernel, and the bandwidth under which the training graphs, each left out, are likeliest. Its
# scores rise and fall with the true density, and so they also find the rare graphs. With 2,000
# graphs it is much the same; see "Recovery of the density" among the benchmarks.
#
# The defaults were chosen on molecules, proteins and social networks, where narrow kernels and
# short bandwidths find more anomalies. If you look for modes, or if all your graphs come from one
# family with a few parameters, use ``density_settings()``.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.7), layout="constrained")
grid = np.linspace(0, 1, 200)
for ax, (name, score) in zip(axes, scores.items(), strict=True):
    ax.scatter(p, score, s=9, color="#2f6fde", alpha=0.5, label="one graph")
    low = np.percentile(score, 2)
    ax.set_ylim(low - 0.1 * np.ptp(score[score > low]), None)
    bottom, top = ax.get_ylim()
    curve = 6 * grid * (1 - grid) / 1.5
    ax.plot(grid, bottom + (top - bottom) * curve * 0.95, color="black", label="Beta(2, 2)")
    ylabel = "score" if name == "defaults" else "log density"
    ax.set(xlabel="p of the graph", ylabel=ylabel, title=name)
axes[0].legend(frameon=False, fontsize=8, loc="lower center")
plt.show()
