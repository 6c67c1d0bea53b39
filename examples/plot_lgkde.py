"""
Learned kernel density estimation, step by step
===============================================

:class:`~skgraphkde.LGKDE` is the method of the paper: a network turns a graph into points, one per
node, and a kernel density estimate on distances between these clouds says how usual the graph is.
This example looks at each step: the loss, the learned weights, the twins, the map, the scores and
the threshold. It needs the extra ``gcn``.
"""

# %%
# Fit on 85 of the 125 mutagenic molecules of MUTAG, without labels. The other molecules are new:
# 40 mutagenic ones, which are normal here, and 63 that are not mutagenic, the anomalies.
import warnings
from collections import Counter
from itertools import chain

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from networkx import weisfeiler_lehman_subgraph_hashes
from sklearn.feature_extraction import DictVectorizer
from sklearn.manifold import TSNE
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import cosine_distances

from skgraphkde import LGKDE
from skgraphkde.datasets import load_mutag
from skgraphkde.plots import plot_graph, plot_scores

warnings.filterwarnings("ignore", message="node categories that fit did not see")
molecules, y = load_mutag(return_X_y=True)
normal = np.random.RandomState(0).permutation(np.flatnonzero(y == 1))
known, new = normal[:85], np.r_[normal[85:], np.flatnonzero(y == -1)]
detector = LGKDE(random_state=0).fit(molecules[known])
print(f"AUROC: {roc_auc_score(y[new], detector.score_samples(molecules[new])):.3f}")

# %%
# The density is a mixture of nine bandwidths. Learning finds the weights under which graphs are
# denser than their perturbed twins. The loss falls, and nearly all of the weight goes to three
# neighboring bandwidths.
history = pd.DataFrame(detector.history_)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
history.plot(y="loss", xlabel="epoch", ylabel="loss", legend=False, ax=axes[0])
weights = pd.DataFrame(history["mixture_weights"].tolist())
weights.columns = [f"h = {h:.3f}" for h in detector.bandwidths_]
weights.plot(xlabel="epoch", ylabel="weight of the bandwidth", colormap="viridis", ax=axes[1])
axes[1].legend(frameon=False, loc="upper left", ncols=2, fontsize="small")
plt.show()

# %%
# A twin has the same atoms and other edges. One twin of a molecule lacks edges, the other has more,
# and both have lower densities. Learning also swaps the features of a fifth of the atoms, which
# ``twins`` leaves out.
molecule = molecules[new[:1]]
removed, added = detector.twins(molecule)
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
pictures = {"a molecule": molecule, "edges removed": removed, "edges added": added}
for ax, (title, graph) in zip(axes, pictures.items(), strict=True):
    plot_graph(graph, ax=ax)
    ax.set_title(f"{title}: log density {detector.score_samples(graph)[0]:.1f}")
plt.show()

# %%
# The distances make a map. t-SNE preserves neighbors, not distances: how far apart two groups are
# means little. ``training_scores_`` are the scores of the training molecules, each without its own
# kernel.
shown = np.r_[known, new]
D = detector.pairwise_distances(molecules[shown])
positions = TSNE(metric="precomputed", init="random", random_state=0).fit_transform(D)
scores = np.r_[detector.training_scores_, detector.score_samples(molecules[new])]
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
classes = [(1, "#2f6fde", "mutagenic"), (-1, "#e07b39", "not mutagenic")]
for value, color, label in classes:
    axes[0].scatter(*positions[y[shown] == value].T, s=24, color=color, alpha=0.8, label=label)
axes[0].legend(frameon=False)
axes[0].set_title("The labels, which no step has seen")
lowest = np.quantile(scores, 0.1)
dots = axes[1].scatter(*positions.T, c=np.maximum(scores, lowest), cmap="viridis", s=24)
figure.colorbar(dots, ax=axes[1], label="log density", extend="min")
axes[1].set_title("The scores")
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# Beside it, the map of an older measure: how many neighborhoods of up to three steps two molecules
# share (Weisfeiler and Leman), as the cosine of their counts.
graphs = molecules[shown].to_networkx()
hashes = [weisfeiler_lehman_subgraph_hashes(x, node_attr="label", iterations=3) for x in graphs]
counts = [Counter(chain.from_iterable(of_nodes.values())) for of_nodes in hashes]
distance = cosine_distances(DictVectorizer().fit_transform(counts)).clip(min=0)
older = TSNE(metric="precomputed", init="random", random_state=0).fit_transform(distance)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for ax, places, title in zip(axes, (positions, older), ("LGKDE", "Weisfeiler-Leman"), strict=True):
    for value, color, label in classes:
        ax.scatter(*places[y[shown] == value].T, s=24, color=color, alpha=0.8, label=label)
    ax.set(xticks=[], yticks=[], title=title)
axes[0].legend(frameon=False)
plt.show()

# %%
# ``predict`` flags molecules below the threshold, ``offset_``. It is the ``contamination`` quantile
# of the leave-one-out scores of the training molecules, so about a tenth of new normal ones is
# flagged.
is_flagged = detector.predict(molecules[new]) == -1
print(f"flagged: {is_flagged[y[new] == 1].mean():.2f} of the normal molecules, and")
print(f"         {is_flagged[y[new] == -1].mean():.2f} of the anomalies")
plot_scores(detector.score_samples(molecules[new]), detector.offset_, y[new])
plt.show()

# %%
# Does it pay to train the network, too? Its training lowers the loss, and detects no better. With
# ``learn_encoder=False``, the default, the network keeps its initial weights. (The two losses are
# not comparable: with a network, the references are those of a batch.)
trained = LGKDE(learn_encoder=True, max_iter=40, random_state=0).fit(molecules[known])
for name, fitted in {"weights of bandwidths": detector, "network, too": trained}.items():
    loss = fitted.history_["loss"]
    auroc = roc_auc_score(y[new], fitted.score_samples(molecules[new]))
    print(f"{name:22s} loss {loss[1]:6.2f}, at last {loss[-1]:6.2f}; AUROC {auroc:.3f}")
