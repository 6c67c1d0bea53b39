"""
Why this molecule?
==================

A verdict says that a molecule is odd; its nodes say why. The distance between a molecule and the
ones that it is nearest to is a sum over its atoms, so each atom has a share in it.
"""

# %%
# Fit on the mutagenic molecules of MUTAG, and take the least dense of the others.
import sys
import warnings

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from skgraphkde import GraphKDEDetector
from skgraphkde.datasets import load_mutag
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
# Each atom's share of the squared distance, and below it the molecule that the odd one is nearest
# to. Atoms with a large share are unlike those of the neighbors, by themselves or by where they
# stand; those with a negative share are like them.
shares = node_contributions(detector, others[odd])
_, nearest = nearest_references(detector, others[odd], k=1)
limit = max(np.abs(of_molecule).max() for of_molecule in shares)

figure, axes = plt.subplots(2, 4, figsize=(11, 5.6), layout="constrained")


def draw(ax: plt.Axes, molecule: nx.Graph, of_atoms: np.ndarray, title: str) -> None:
    """Draw atoms as dots with their symbols, bonds as lines."""
    place = nx.kamada_kawai_layout(molecule)
    nx.draw_networkx_edges(molecule, place, ax=ax, edge_color="#999999", width=1.5)
    nx.draw_networkx_nodes(
        molecule, place, ax=ax, node_color=of_atoms, cmap="RdBu_r", vmin=-limit, vmax=limit,
        node_size=190, edgecolors="#555555", linewidths=0.6,
    )  # fmt: skip
    symbols = nx.get_node_attributes(molecule, "label")
    nx.draw_networkx_labels(molecule, place, symbols, ax=ax, font_size=8)
    ax.set_title(title, fontsize=9)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    ax.axis("off")


for column, i in enumerate(odd):
    title = f"odd, p = {p_values[i]:.3f}"
    draw(axes[0, column], others[[i]].to_networkx()[0], shares[column], title)
    neighbor = known[nearest[column]].to_networkx()[0]
    draw(axes[1, column], neighbor, np.zeros(len(neighbor)), "the known one nearest to it")
scale = plt.cm.ScalarMappable(plt.Normalize(-limit, limit), "RdBu_r")
figure.colorbar(scale, ax=axes, shrink=0.6, label="share of the squared distance")
if len(sys.argv) > 1:  # python examples/plot_reasons.py FILE keeps the picture
    figure.savefig(sys.argv[1], dpi=130)
    print(f"picture: {sys.argv[1]}")
