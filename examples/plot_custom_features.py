"""
Node features of your own
=========================

The wiring of a graph is not all that can be odd about it. Here each node is a sensor with a
temperature. In a normal building the heat spreads from one source; in an odd one the same
temperatures are all over the place. The graphs are alike, only what the nodes carry is not.
"""

# %%
# Sensors at random places, linked where they are close. Temperatures fall off with the distance
# from a source. In odd buildings they are shuffled: no sensor alone shows anything unusual.
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from skgraphkde import GraphKDEDetector, NodeFeatures
from skgraphkde.metrics import auroc

rng = np.random.RandomState(0)


def building(is_odd: bool) -> nx.Graph:
    """Sensors with a temperature in "x"."""
    n = int(rng.randint(30, 50))
    places = rng.rand(n, 2)
    graph = nx.random_geometric_graph(n, 0.28, pos=dict(enumerate(places)))
    distances = np.linalg.norm(places - places[rng.randint(n)], axis=1)
    temperatures = 20 + 15 * np.exp(-(distances**2) / 0.1) + 0.3 * rng.standard_normal(n)
    if is_odd:
        temperatures = rng.permutation(temperatures)
    nx.set_node_attributes(graph, dict(enumerate(temperatures)), "x")
    return graph


known = [building(is_odd=False) for _ in range(150)]
fresh = [building(is_odd=i >= 60) for i in range(90)]
target = np.where(np.arange(90) < 60, 1, -1)

# %%
# A number or a vector in the node attribute ``"x"`` is all that it takes. But look at what the
# detector makes of it:
detector = GraphKDEDetector().fit(known)
print("features in use:", detector.node_features_.kinds_)
print(f"AUROC of the defaults:           {auroc(target, detector.score_samples(fresh)):.2f}")

# %%
# The temperatures are not in use. The reason is a rule for molecules: an attribute that hardly
# changes along the edges, as coordinates do not, is taken for a position, and left out. A
# temperature that spreads from a source looks like one. So name the features:
detector = GraphKDEDetector(node_features=("attribute",)).fit(known)
scores = detector.score_samples(fresh)
print(f'AUROC with ("attribute",):       {auroc(target, scores):.2f}')

# %%
# More features are not better. Next to the wiring, which says nothing here and varies a lot, the
# temperature is one column among eleven:
every = ("attribute", "degree", "random_walk")
with_all = GraphKDEDetector(node_features=every).fit(known).score_samples(fresh)
n_columns = NodeFeatures(every).fit(known).n_features_out_
print(f"AUROC with all {n_columns} columns:       {auroc(target, with_all):.2f}")

# %%
# What makes the difference is the detector's ``n_layers``: it looks at each temperature beside the
# averages over the neighbors. Without them, ``n_layers=0``, the shuffled temperatures are the same
# temperatures.
alone = GraphKDEDetector(node_features=("attribute",), n_layers=0).fit(known)
print(f"AUROC without averages:          {auroc(target, alone.score_samples(fresh)):.2f}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained", width_ratios=[1, 1, 1.2])
for ax, graph, title in [(axes[0], fresh[0], "a normal building"), (axes[1], fresh[-1], "odd")]:
    nodes = nx.draw_networkx_nodes(
        graph,
        nx.get_node_attributes(graph, "pos"),
        ax=ax,
        node_color=list(nx.get_node_attributes(graph, "x").values()),
        cmap="inferno",
        vmin=19,
        vmax=36,
        node_size=60,
    )
    nx.draw_networkx_edges(graph, nx.get_node_attributes(graph, "pos"), ax=ax, alpha=0.25)
    ax.set_title(title)
    ax.axis("off")
figure.colorbar(nodes, ax=axes[:2], shrink=0.8, label="temperature")
bins = np.linspace(scores.min(), scores.max(), 30)
axes[2].hist(scores[target == 1], bins, color="#2f6fde", alpha=0.75, label="normal")
axes[2].hist(scores[target == -1], bins, color="#e07b39", alpha=0.75, label="odd")
axes[2].set(xlabel="log density", ylabel="buildings", title='node_features=("attribute",)')
axes[2].legend(frameon=False)
plt.show()
