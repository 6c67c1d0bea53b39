"""
Node features of your own
=========================

A graph can be unusual in more than its wiring. Here each node is a sensor with a temperature. In a
normal building the heat spreads from one source; in an anomalous one the same temperatures are
scattered all over the place. The graphs look alike, and only the data of their nodes differ.
"""

# %%
# Sensors are at random positions, and linked if they are close. Temperatures fall off with the
# distance from a source. In anomalous buildings they are shuffled, so no single sensor shows
# anything unusual.
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.metrics import roc_auc_score

from skgraphkde import GraphKDEDetector, GraphSchema, NodeFeatures, Propagation

rng = np.random.RandomState(0)


def building(is_anomaly: bool) -> nx.Graph:
    """Sensors with a temperature, and a position for the picture."""
    n = int(rng.randint(30, 50))
    positions = rng.rand(n, 2)
    graph = nx.random_geometric_graph(n, 0.28, pos=dict(enumerate(positions)))
    distances = np.linalg.norm(positions - positions[rng.randint(n)], axis=1)
    temperatures = 20 + 15 * np.exp(-(distances**2) / 0.1) + 0.3 * rng.standard_normal(n)
    if is_anomaly:
        temperatures = rng.permutation(temperatures)
    nx.set_node_attributes(graph, dict(enumerate(temperatures)), "temperature")
    return graph


known = [building(is_anomaly=False) for _ in range(150)]
fresh = [building(is_anomaly=i >= 60) for i in range(90)]
target = np.where(np.arange(90) < 60, 1, -1)

# %%
# No schema declares the attributes of these graphs, so a detector ignores them with a warning.
# It judges the ninety buildings by their wiring, which is no better than chance:
detector = GraphKDEDetector().fit(known)
print("features in use:", detector.model_.features.kinds_)
print(
    f"AUROC of the wiring:             {roc_auc_score(target, detector.score_samples(fresh)):.2f}"
)

# %%
# A schema names the attributes to read. It also excludes all others, so that the positions are
# ignored without a warning. But now the temperature is one column among eleven, the others vary a
# lot and say nothing, and more features are not better:
schema = GraphSchema(node_categories=None, node_numbers="temperature")
detector = GraphKDEDetector(schema=schema).fit(known)
n_columns = detector.model_.features.n_features_out_
print(detector.schema_)
area = roc_auc_score(target, detector.score_samples(fresh))
print(f"AUROC with all {n_columns} columns:       {area:.2f}")

# %%
# So choose the features, too. ``"attribute"`` is the numbers that nodes have:
temperature = NodeFeatures(("attribute",))
detector = GraphKDEDetector(schema=schema, features=temperature).fit(known)
scores = detector.score_samples(fresh)
print(f'AUROC with ("attribute",):       {roc_auc_score(target, scores):.2f}')

# %%
# The averages over neighbors make the difference: the encoder puts them next to each temperature.
# Without them, with ``n_layers=0``, the shuffled temperatures are the same set of temperatures.
plain = Propagation(n_layers=0)
alone = GraphKDEDetector(schema=schema, features=temperature, encoder=plain).fit(known)
print(f"AUROC without averages:          {roc_auc_score(target, alone.score_samples(fresh)):.2f}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained", width_ratios=[1, 1, 1.2])
for ax, graph, title in [(axes[0], fresh[0], "normal"), (axes[1], fresh[-1], "anomalous")]:
    nodes = nx.draw_networkx_nodes(
        graph,
        nx.get_node_attributes(graph, "pos"),
        ax=ax,
        node_color=list(nx.get_node_attributes(graph, "temperature").values()),
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
axes[2].hist(scores[target == -1], bins, color="#e07b39", alpha=0.75, label="anomalous")
axes[2].set(xlabel="score", ylabel="buildings", title='NodeFeatures(("attribute",))')
axes[2].legend(frameon=False)
plt.show()
