"""
Why this molecule?
==================

A verdict says that a molecule is anomalous; views and atoms say why. Which view is surprised? Which
atoms make the distance to the known molecules, and which are in neighborhoods that no known
molecule has?
"""

# %%
# Fit on the mutagenic molecules of MUTAG, and take the four others with the lowest scores.
import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np

from skgraphkde import GraphKDEDetector
from skgraphkde.datasets import load_mutag
from skgraphkde.explanation import (
    nearest_references,
    node_contributions,
    novel_nodes,
    view_surprises,
)
from skgraphkde.plots import plot_graph

warnings.filterwarnings("ignore", message="node categories that fit did not see")
molecules, y = load_mutag(return_X_y=True)
known, others = molecules[y == 1], molecules[y == -1]
detector = GraphKDEDetector().fit(known)
p_values = detector.p_values(others)
odd = np.argsort(detector.score_samples(others))[:4]
print("p-values of the four:", p_values[odd].round(3))
distances = detector.pairwise_distances(known)
print("the most typical known molecule:", distances.mean(axis=1).argmin())

# %%
# Six views have judged them. A view's surprise is minus the logarithm of a p-value, times the
# weight of the view; those of a molecule add up to minus its score. Without the weights, 0 is as
# normal as can be, and what is more surprising than all 125 known molecules is above log(126),
# which is 4.8. The first and the third molecule, of three rings, are that odd in the unbiased
# distance and in their statistics; the second and the fourth are so in the biased distance, and
# have parts that are new. The second shares less with its most similar known molecule than any
# two known ones share. No view is surprised alone.
surprises = view_surprises(detector, others[odd]) / detector.model_.view_weights
for name, of_view in surprises.items():
    print(f"{name:42s}", of_view.to_numpy().round(1))

# %%
# First row: the surprises; the dotted line, log(126), is what none of 125 known molecules
# exceeds. Second row: each atom's share of the squared distance in the first view. Atoms with a
# large share are unlike those of the nearest known molecules, in themselves or in their position;
# atoms with a negative share make the molecule look more like them. Third row: the smallest
# radius at which the neighborhood of an atom is new. No element is new. In the second and the
# fourth molecule some atoms are new together with their neighbors; in the others it takes two
# steps or more. Last row: the known molecule that is nearest.
SHORT = ["biased", "unbiased", "novelty", "Tanimoto", "neighbors", "statistics"]
shares = node_contributions(detector, others[odd])
_, nearest = nearest_references(detector, others[odd], k=1)
limit = max(np.abs(of_molecule).max() for of_molecule in shares)

figure, axes = plt.subplots(
    4, 4, figsize=(11, 9.2), layout="constrained", height_ratios=[1, 3, 3, 3]
)
radii = novel_nodes(detector, others[odd])
for column, (i, (bars, by_share, by_radius, below)) in enumerate(zip(odd, axes.T, strict=True)):
    bars.barh(SHORT, surprises.iloc[column], color="#777777")
    bars.axvline(np.log(len(known) + 1), color="black", linestyle=":")
    bars.set(xlim=(0, 1.05 * surprises.to_numpy().max()), xlabel="surprise")
    bars.invert_yaxis()
    if column:
        bars.set_yticks([])
    bars.set_title(f"anomaly, p = {p_values[i]:.3f}", fontsize=9)
    molecule, options = others[i], {"colorbar": False}
    red_blue = plot_graph(molecule, shares[column], vmax=limit, ax=by_share, **options)
    yellow_red = plot_graph(molecule, radii[column], radius=5, ax=by_radius, **options)
    plot_graph(known[nearest[column, 0]], ax=below)
    below.set_title("its nearest known molecule", fontsize=9)
figure.colorbar(red_blue, ax=axes[1], shrink=0.8, label="share of the squared distance")
bar = figure.colorbar(yellow_red, ax=axes[2], shrink=0.8, label="new from this radius")
bar.set_ticks(range(7), labels=[*"012345", "known"])
if len(sys.argv) > 1:  # python examples/plot_reasons.py FILE saves the picture
    figure.savefig(sys.argv[1], dpi=130)
    print(f"picture: {sys.argv[1]}")
