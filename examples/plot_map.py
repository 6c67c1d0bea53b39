"""
A map of graphs
===============

A detector gives more than verdicts. It measures distances between graphs, and any method that works
with distances then works with graphs. Here t-SNE draws a map of the molecules of MUTAG.
"""

# %%
# The detector is fitted on all 188 molecules without their labels, so the map does not know the
# labels either. Of its two distances, ``pairwise_distances`` returns the first.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import TSNE

from skgraphkde import GraphKDEDetector
from skgraphkde.datasets import load_mutag
from skgraphkde.plots import plot_graph

molecules, y = load_mutag(return_X_y=True)
detector = GraphKDEDetector().fit(molecules)
D = detector.pairwise_distances(molecules)
positions = TSNE(metric="precomputed", init="random", random_state=0).fit_transform(D)

# %%
# How much do the distances say about the label? Predict the label of each molecule from its nearest
# neighbor.
nearest = np.argsort(D + np.diag(np.full(len(D), np.inf)), axis=1)[:, 0]
print(f"same label as the nearest molecule: {np.mean(y[nearest] == y):.2f}")
print(f"always predicting mutagenic:        {np.mean(y == 1):.2f}")

# %%
# Left: the map with the labels. Right: the map with the scores, which come from all views.
# The numbers refer to the molecules below, the three with the lowest scores and two with high ones.
# t-SNE preserves neighbors, not distances: how far apart two groups are on the map means little.
figure = plt.figure(figsize=(12, 7.6), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=[2.2, 1])
axes = top.subplots(1, 2)
for value, color, label in [(1, "#2f6fde", "mutagenic"), (-1, "#e07b39", "not mutagenic")]:
    axes[0].scatter(*positions[y == value].T, s=26, color=color, alpha=0.8, label=label)
axes[0].legend(frameon=False)
axes[0].set_title("The labels, which t-SNE has not seen")
scores = detector.calibration_scores_
dots = axes[1].scatter(*positions.T, c=scores, cmap="viridis", s=26)
top.colorbar(dots, ax=axes[1], label="score, given the other molecules")
axes[1].set_title("The scores")
shown = [*np.argsort(scores)[:3], *np.argsort(-scores)[[0, 20]]]
for number, (i, ax) in enumerate(zip(shown, bottom.subplots(1, 5), strict=True), start=1):
    axes[1].annotate(
        str(number), positions[i], xytext=(5, 4), textcoords="offset points", weight="bold"
    )
    plot_graph(molecules[i], ax=ax)
    ax.set_title(f"{number}: score {scores[i]:.1f}", fontsize=9)
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
