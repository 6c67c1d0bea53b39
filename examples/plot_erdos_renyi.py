"""
Is the density the true one?
============================

Of random graphs one can know how likely they are. Here the probability p of an edge is drawn from
a Beta(2, 2) distribution for each graph: graphs with p about 1/2 are common, very sparse and very
dense ones rare. Does a detector that sees only the graphs find that out?
"""

# %%
# 400 graphs to fit, 200 others to score, each with the density of Beta(2, 2) at its p.
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

from skgraphkde import PAPER, GraphKDEDetector
from skgraphkde.datasets import make_erdos_renyi
from skgraphkde.metrics import auroc

known = make_erdos_renyi(400, random_state=0)
fresh = make_erdos_renyi(200, random_state=1)
p, truth = fresh.parameters["p"], fresh.density

# %%
# Three detectors: the defaults; the paper's settings without training; and the same with the
# widest kernel alone in place of five. Beside the rank correlation with the truth stands the AUROC
# against other graphs from the rare ends, with p below 0.2 or above 0.8.
untrained = {**PAPER, "max_iter": 0, "random_state": 0}
detectors = {
    "defaults": GraphKDEDetector(),
    "paper's settings, untrained": GraphKDEDetector(**untrained),
    "the same, widest kernel": GraphKDEDetector(**{**untrained, "mmd_gammas": (0.01,)}),
}
extremes = make_erdos_renyi(0, 200, random_state=2).graphs
target = np.repeat([1, -1], 200)
scores = {}
for name, detector in detectors.items():
    scores[name] = detector.fit(known.graphs).score_samples(fresh.graphs)
    correlation = spearmanr(scores[name], truth).statistic
    both = np.concatenate([scores[name], detector.score_samples(extremes)])
    print(f"{name:28s} rank correlation {correlation:5.2f}, AUROC {auroc(target, both):.2f}")

# %%
# Only if you ask for it. The scores of the defaults have little to do with the truth: many rare
# graphs score as high as the most common ones. With five kernels the distance is the largest of
# five, which for these graphs is that of the narrowest, and the profile has a dip where the peak
# should be. The widest kernel alone follows the truth, and so finds the rare graphs, too. It comes
# out the same with 2,000 graphs: see "Recovery of the density" among the benchmarks.
#
# The defaults were chosen on molecules, proteins and networks of people, where narrow kernels and
# short bandwidths find more anomalies. If modes are what you look for, or if all your graphs are
# from one family with a few parameters, take a wide kernel.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.7), layout="constrained")
grid = np.linspace(0, 1, 200)
for ax, (name, score) in zip(axes, scores.items(), strict=True):
    ax.scatter(p, score, s=9, color="#2f6fde", alpha=0.5, label="score of a graph")
    low = np.percentile(score, 2)
    ax.set_ylim(low - 0.1 * np.ptp(score[score > low]), None)
    bottom, top = ax.get_ylim()
    curve = 6 * grid * (1 - grid) / 1.5
    ax.plot(grid, bottom + (top - bottom) * curve * 0.95, color="black", label="Beta(2, 2)")
    ax.set(xlabel="p of the graph", ylabel="log density", title=name)
axes[0].legend(frameon=False, fontsize=8, loc="lower center")
plt.show()
