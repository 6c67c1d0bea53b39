"""
How many of the alarms are false?
=================================

A threshold flags a fixed share of the normal graphs. If anomalies are rare, these false alarms can
outnumber them. ``select`` answers a different question: which graphs can be called anomalies, so
that at most a share ``alpha`` of them is expected to be normal?
"""

# %%
# Scale-free networks, in which each new node links to two existing ones. There are 30 anomalies
# among the 430 fresh networks: their new nodes link to one node only. The detector has seen 300
# normal networks and no label. Random features make it fast, and there is no view of novelty: every
# neighborhood is new in such networks, normal or not.
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from skgraphkde import MMD, Density, GraphBatch, GraphKDEDetector, read_graphs


def draw(n_normal: int, n_anomalies: int, seed: int) -> tuple[GraphBatch, np.ndarray]:
    """Networks of 20 to 50 nodes, and 1 for each normal one, -1 for each anomaly."""
    rng = np.random.RandomState(seed)
    target = np.repeat([1, -1], [n_normal, n_anomalies])
    links = np.where(target == 1, 2, 1)
    sizes = rng.randint(20, 51, size=len(target))
    networks = [
        nx.barabasi_albert_graph(int(n), int(m), seed=rng)
        for n, m in zip(sizes, links, strict=True)
    ]
    return read_graphs(networks), target


graphs, target = draw(700, 30, seed=0)
known, fresh, target = graphs[:300], graphs[300:], target[300:]
options = {"views": Density(MMD(method="random_features")), "random_state": 0}
detector = GraphKDEDetector(contamination=0.1, **options).fit(known)
p_values = detector.p_values(fresh)

# %%
# ``predict`` keeps its promise: it flags about a tenth of the normal networks, which is more than
# there are anomalies. ``select`` keeps another promise: few of the networks that it selects are
# normal, and it still finds most anomalies.


def describe(flagged: np.ndarray) -> str:
    """Say what the flagged graphs are."""
    n_false = np.sum(target[flagged] == 1)
    n_found = np.sum(flagged & (target == -1))
    share = n_false / max(1, flagged.sum())
    return (
        f"{flagged.sum():4d} flagged, {n_found:3d} of 30 found, {share:4.0%} of the flagged normal"
    )


print(f"{'predict, contamination 0.1':28s}{describe(detector.predict(fresh) == -1)}")
levels = [0.05, 0.1, 0.2, 0.3]
for alpha in levels:
    print(f"{f'select, alpha {alpha}':28s}{describe(detector.select(fresh, alpha))}")

# %%
# One draw may be lucky. Over twenty draws, the average share of normal networks among the selected
# ones stays at or below ``alpha``; single draws fall on both sides. At 0.05 nothing is selected:
# with 150 known networks no p-value is below 1 / 151, which is not small enough for 15 anomalies
# among 215 networks.
shares = np.zeros((20, len(levels)))
for repetition in range(len(shares)):
    again, labels = draw(350, 15, seed=repetition + 1)
    repeated = GraphKDEDetector(**options).fit(again[:150])
    for column, alpha in enumerate(levels):
        selected = repeated.select(again[150:], alpha)
        false = labels[150:][selected] == 1
        shares[repetition, column] = false.mean() if len(false) else 0
print("alpha:              ", levels)
print("mean share of normal:", shares.mean(axis=0).round(3).tolist())

# %%
# Left: the p-values of normal networks are spread evenly, and those of anomalies pile up at the
# left end. With 300 known networks, none can be smaller than 1 / 301. Middle: the procedure of
# Benjamini and Hochberg sorts the p-values and selects all of them up to the last one below a line
# whose slope is proportional to ``alpha``. Right: the twenty draws.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
bins = np.linspace(0, 1, 21)
axes[0].hist(
    [p_values[target == 1], p_values[target == -1]],
    bins,
    stacked=True,
    color=["#2f6fde", "#e07b39"],
    label=["normal", "anomalous"],
)
axes[0].set(xlabel="p-value", ylabel="networks", title="p-values of 430 fresh networks")
axes[0].legend(frameon=False)
order = np.argsort(p_values)[:70]
rank = np.arange(1, len(order) + 1)
colors = np.where(target[order] == 1, "#2f6fde", "#e07b39")
axes[1].scatter(rank, p_values[order], c=colors, s=14)
axes[1].plot(rank, 0.1 * rank / len(target), color="black", label="alpha = 0.1")
axes[1].axhline(0.1, color="gray", linestyle="--", label="predict")
axes[1].set(xlabel="rank of the p-value", ylabel="p-value", yscale="log", title="The 70 smallest")
axes[1].legend(frameon=False)
axes[2].plot(levels, levels, color="black", label="promised")
axes[2].plot(levels, shares.T, "o", color="#2f6fde", alpha=0.25)
axes[2].plot(levels, shares.mean(axis=0), "o-", color="#2f6fde", label="average of twenty draws")
axes[2].set(xlabel="alpha", ylabel="share of normal among selected", title="Promised and kept")
axes[2].legend(frameon=False)
plt.show()
