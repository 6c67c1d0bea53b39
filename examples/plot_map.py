"""
A map of graphs
===============

A detector is not only verdicts. It measures distances between graphs, and whatever works on
distances works on graphs: here a map, by t-SNE, of the molecules of MUTAG.
"""

# %%
# The detector is fitted on all 188 molecules, without their labels; so the map knows nothing of
# them either.
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.manifold import TSNE

from skgraphkde import GraphKDEDetector
from skgraphkde.datasets import load_mutag

molecules, y = load_mutag(return_X_y=True)
detector = GraphKDEDetector().fit(molecules)
D = detector.pairwise_distances(molecules)
places = TSNE(metric="precomputed", init="random", random_state=0).fit_transform(D)

# %%
# How much of the label is in the distances? Let the nearest molecule other than itself vote.
nearest = np.argsort(D + np.diag(np.full(len(D), np.inf)), axis=1)[:, 0]
print(f"same label as the nearest molecule: {np.mean(y[nearest] == y):.2f}")
print(f"by always saying mutagenic:         {np.mean(y == 1):.2f}")

# %%
# Left, the map with the labels; right, with the densities. The numbers are those of the molecules
# below: three that stand alone, and two that have many like them. A map by t-SNE keeps neighbors,
# not distances: how far two groups are apart on it means little.
figure = plt.figure(figsize=(12, 7.6), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=[2.2, 1])
axes = top.subplots(1, 2)
for value, color, label in [(1, "#2f6fde", "mutagenic"), (-1, "#e07b39", "not mutagenic")]:
    axes[0].scatter(*places[y == value].T, s=26, color=color, alpha=0.8, label=label)
axes[0].legend(frameon=False)
axes[0].set_title("The labels, which the map has not seen")
density = detector.calibration_scores_
dots = axes[1].scatter(*places.T, c=density, cmap="viridis", s=26)
top.colorbar(dots, ax=axes[1], label="log density by the other molecules")
axes[1].set_title("The density")
shown = [*np.argsort(density)[:3], *np.argsort(-density)[[0, 20]]]
for number, (i, ax) in enumerate(zip(shown, bottom.subplots(1, 5), strict=True), start=1):
    axes[1].annotate(
        str(number), places[i], xytext=(5, 4), textcoords="offset points", weight="bold"
    )
    molecule = molecules[i].to_networkx()[0]
    nx.draw(
        molecule,
        nx.kamada_kawai_layout(molecule),
        ax=ax,
        labels=nx.get_node_attributes(molecule, "label"),
        node_color="#dfe7f7",
        edgecolors="#888888",
        node_size=90,
        font_size=6,
    )
    ax.set_title(f"{number}: log density {density[i]:.1f}", fontsize=9)
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
