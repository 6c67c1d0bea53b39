"""
Exact distances, or random features?
====================================

The exact distance between two graphs compares every node of one with every node of the other.
Random features replace this by one vector per graph, at a cost that is linear in the number of
nodes. How many are enough?
"""

# %%
# Graphs of 30 to 80 nodes with three dense communities. Half of the test graphs are anomalies,
# without clear communities. The distances are compared, so each detector has one, and no novelty.
import time

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from scipy.stats import spearmanr

from skgraphkde import MMD, Density, GraphKDEDetector, read_graphs
from skgraphkde.evaluation import auroc

rng = np.random.RandomState(0)
target = np.repeat([1, -1], [400, 100])
drawn = []
for y in target:
    inside, outside = (rng.uniform(0.4, 0.8), rng.uniform(0.01, 0.1)) if y == 1 else (0.25, 0.25)
    p = np.full((3, 3), outside) + (inside - outside) * np.eye(3)
    graph = nx.stochastic_block_model(rng.randint(10, 28, size=3).tolist(), p, seed=rng)
    drawn.append({"edges": list(graph.edges), "num_nodes": len(graph)})
graphs = read_graphs(drawn)
known, fresh, target = graphs[:300], graphs[300:], target[300:]
print(known)


def fit_and_score(detector: GraphKDEDetector) -> tuple[np.ndarray, float]:
    """Scores of the fresh graphs, and the seconds that fitting and scoring took."""
    start = time.perf_counter()
    scores = detector.fit(known).score_samples(fresh)
    return scores, time.perf_counter() - start


exact = GraphKDEDetector(views=Density(MMD(method="exact")))
scores, seconds = fit_and_score(exact)
D = exact.pairwise_distances(fresh)
print(f"exact        AUROC {auroc(target, scores):.3f}  {seconds:5.1f} s")

# %%
# ``n_components`` is the number of features per kernel.
numbers = [8, 32, 128, 512, 2048]
errors, correlations, times, approximate = [], [], [], {}
for n_components in numbers:
    distance = MMD(method="random_features", n_components=n_components)
    detector = GraphKDEDetector(views=Density(distance), random_state=0)
    found, needed = fit_and_score(detector)
    approximate[n_components] = detector.pairwise_distances(fresh)
    errors.append(np.abs(approximate[n_components] - D).mean())
    correlations.append(spearmanr(found, scores).statistic)
    times.append(needed)
    print(
        f"{n_components:4d} features AUROC {auroc(target, found):.3f}  {needed:5.1f} s"
        f"  rank correlation {correlations[-1]:.3f}"
    )

# %%
# The error of the distances falls with the square root of the number of features. The default of
# 512 leaves the order of the scores almost unchanged. ``method="auto"`` is exact up to 5,000
# training nodes that look different, and uses random features beyond that, as for these graphs.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
pairs = np.triu_indices(len(fresh), k=1)
for n_components, color in [(32, "#e0b089"), (512, "#2f6fde")]:
    values = approximate[n_components][pairs]
    axes[0].plot(D[pairs], values, ".", ms=1, alpha=0.25, color=color)
    axes[0].plot([], [], "o", color=color, label=f"{n_components} features")
axes[0].plot([0, D.max()], [0, D.max()], color="black", linewidth=0.8)
axes[0].set(xlabel="exact distance", ylabel="by random features", title="All pairs of graphs")
axes[0].legend(frameon=False)
axes[1].loglog(numbers, errors, "o-", color="#2f6fde", label="measured")
axes[1].loglog(numbers, errors[0] * np.sqrt(numbers[0] / np.array(numbers)), ":", color="black",
               label="1 / square root")  # fmt: skip
axes[1].set(xlabel="features per kernel", title="Mean error of a distance")
axes[1].legend(frameon=False)
axes[2].semilogx(numbers, times, "o-", color="#2f6fde", label="random features")
axes[2].axhline(seconds, color="black", label="exact")
axes[2].set(xlabel="features per kernel", ylabel="seconds", ylim=0, title="Fit and score")
axes[2].legend(frameon=False)
plt.show()
