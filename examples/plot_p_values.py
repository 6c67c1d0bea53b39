"""
How many of the alarms are false?
=================================

A threshold flags a fixed share of the normal graphs. If anomalies are rare, these false alarms can
outnumber them. ``select`` answers a different question: which graphs can be called anomalies, so
that at most a share ``alpha`` of them is expected to be normal?
"""

# %%
# Scale-free networks, in which each new node links to two existing ones. There are 30 anomalies
# among the 430 fresh networks, whose nodes link to one or to three. The detector has seen 300
# normal networks and no label.
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from skgraphkde import MMD, Density, GraphKDEDetector

rng = np.random.RandomState(0)


def networks(n_normal: int, n_odd: int) -> tuple[list[nx.Graph], np.ndarray]:
    """Normal networks, anomalies, and the target."""
    links = [2] * n_normal + [1 + 2 * (i % 2) for i in range(n_odd)]
    graphs = [nx.barabasi_albert_graph(rng.randint(20, 51), m, seed=rng) for m in links]
    return graphs, np.repeat([1, -1], [n_normal, n_odd])


known, _ = networks(300, 0)
fresh, target = networks(400, 30)
detector = GraphKDEDetector(views=Density(MMD(method="random_features")), random_state=0)
p_values = detector.fit(known).p_values(fresh)

# %%
# ``predict`` promises to flag a tenth of the normal networks, on average. Here it flags 59 of
# 400, twice as many as there are anomalies. ``select`` makes another promise: few of the networks
# that it selects are normal, and it still finds most anomalies.
flagged = {"predict, contamination 0.1": detector.predict(fresh) == -1}
flagged |= {f"select, alpha {alpha}": detector.select(fresh, alpha) for alpha in (0.1, 0.2, 0.3)}
for name, chosen in flagged.items():
    n_false = np.sum(target[chosen] == 1)
    print(f"{name:28s}{chosen.sum():4d} flagged, {n_false:3d} of them normal")

# %%
# One draw may be lucky. Over twenty draws, the average share of normal networks among the selected
# ones stays at or below ``alpha``; single draws fall on both sides.
levels = [0.1, 0.2, 0.3]
shares = np.zeros((20, len(levels)))
for row in shares:
    detector.fit(networks(150, 0)[0])
    graphs, truth = networks(200, 15)
    for column, alpha in enumerate(levels):
        false = truth[detector.select(graphs, alpha)] == 1
        row[column] = false.mean() if len(false) else 0
print("alpha:              ", levels)
print("mean share of normal:", shares.mean(axis=0).round(3).tolist())

# %%
# Left: the p-values of normal networks are spread evenly, and those of anomalies pile up at the
# left end. With 300 known networks, none can be smaller than 1 / 301. Right: the twenty draws.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
axes[0].hist(
    [p_values[target == 1], p_values[target == -1]],
    np.linspace(0, 1, 21),
    stacked=True,
    color=["#2f6fde", "#e07b39"],
    label=["normal", "anomalous"],
)
axes[0].set(xlabel="p-value", ylabel="networks", title="p-values of 430 fresh networks")
axes[0].legend(frameon=False)
axes[1].plot(levels, levels, color="black", label="promised")
axes[1].plot(levels, shares.T, "o", color="#2f6fde", alpha=0.25)
axes[1].plot(levels, shares.mean(axis=0), "o-", color="#2f6fde", label="average of twenty draws")
axes[1].set(xlabel="alpha", ylabel="share of normal among selected", title="Promised and kept")
axes[1].legend(frameon=False)
plt.show()
