"""
Why this molecule?
==================

A verdict says that a molecule is anomalous; its atoms say why. The distance between a molecule and
its nearest known molecules is a sum over its atoms, so each atom contributes a share.
"""

# %%
# Fit on the mutagenic molecules of MUTAG, and take the four others with the lowest density.
import sys
import warnings
from functools import partial

import matplotlib.pyplot as plt
import numpy as np

from skgraphkde import GraphKDEDetector
from skgraphkde.datasets import load_mutag
from skgraphkde.display import NodeContributionsDisplay
from skgraphkde.inspection import mean_distances, nearest_references, node_contributions

warnings.filterwarnings("ignore", message="node labels that fit did not see")
molecules, y = load_mutag(return_X_y=True)
known, others = molecules[y == 1], molecules[y == -1]
detector = GraphKDEDetector().fit(known)
p_values = detector.p_values(others)
odd = np.argsort(detector.score_samples(others))[:4]
print("p-values of the four:", p_values[odd].round(3))
print("the most typical known molecule:", mean_distances(detector).argmin())

# %%
# The upper row shows each atom's share of the squared distance, the lower row the known molecule
# that is nearest. Atoms with a large share are unlike those of the neighbors, in themselves or in
# their position; atoms with a negative share make the molecule look more like them.
shares = node_contributions(detector, others[odd])
_, nearest = nearest_references(detector, others[odd], k=1)
limit = max(np.abs(of_molecule).max() for of_molecule in shares)

figure, axes = plt.subplots(2, 4, figsize=(11, 5.6), layout="constrained")
draw = partial(NodeContributionsDisplay.from_predictions, vmax=limit, colorbar=False)
for i, molecule_shares, neighbor, (above, below) in zip(
    odd, shares, nearest[:, 0], axes.T, strict=True
):
    display = draw(others[i], molecule_shares, ax=above)
    draw(known[neighbor], ax=below)
    above.set_title(f"anomaly, p = {p_values[i]:.3f}", fontsize=9)
    below.set_title("its nearest known molecule", fontsize=9)
figure.colorbar(display.nodes_, ax=axes, shrink=0.6, label="share of the squared distance")
if len(sys.argv) > 1:  # python examples/plot_reasons.py FILE saves the picture
    figure.savefig(sys.argv[1], dpi=130)
    print(f"picture: {sys.argv[1]}")
