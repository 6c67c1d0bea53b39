"""
Weighted connectomes
====================

A connectome has the same regions in every person: its nodes have names, and what differs is how
strongly they are connected. Some of ours are anomalous in one of two ways. In some, two regions are
exchanged, as if somebody had mixed up their names. In others, one region has lost most of the
strength of its connections.
"""

# %%
# Thirty regions, fifteen on each side, and 172 connections that everybody has. How strong one is on
# average differs a lot from pair to pair. A person has the average connectome, with some noise.
import sys

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.metrics import roc_auc_score

from skgraphkde import GraphKDEDetector, GraphSchema
from skgraphkde.explanation import explain, node_contributions
from skgraphkde.plots import plot_graph

AREAS = [
    "insula", "cuneus", "amygdala", "thalamus", "hippocampus", "putamen", "frontal pole",
    "superior frontal", "middle frontal", "temporal pole", "superior temporal", "middle temporal",
    "lateral occipital", "anterior cingulate", "motor cortex",
]  # fmt: skip
REGIONS = np.array([f"{side} {area}" for side in "LR" for area in AREAS])
rng = np.random.RandomState(0)
within = np.exp(rng.normal(size=(15, 15)))
across = 0.3 * np.exp(rng.normal(size=(15, 15))) + 2 * np.eye(15)
average = np.block([[within, across], [across.T, within]])
average = (average + average.T) / 2
average[average < np.quantile(average, 0.6)] = 0


def connectome(exchanged: tuple[int, ...] = (), damaged: int | None = None) -> nx.Graph:
    """A person, in whom two regions may have each other's name, or one may be damaged."""
    names = REGIONS.copy()
    names[list(exchanged)] = names[list(exchanged[::-1])]
    strengths = average * rng.gamma(20, 1 / 20, average.shape)
    if damaged is not None:
        strengths[damaged] *= 0.3
        strengths[:, damaged] *= 0.3
    graph = nx.Graph()
    graph.add_nodes_from((i, {"region": str(name)}) for i, name in enumerate(names))
    ends = np.argwhere(np.tril(average, -1)).tolist()
    graph.add_weighted_edges_from((i, j, strengths[i, j]) for i, j in ends)
    return graph


known = [connectome() for _ in range(100)]
fresh = [connectome() for _ in range(50)]
pairs = [tuple(rng.choice(30, 2, replace=False)) for _ in range(50)]
exchanged = [connectome(pair) for pair in pairs]
sites = rng.randint(30, size=50)
damaged = [connectome(damaged=site) for site in sites]
target = np.repeat([1, -1], 50)

# %%
# The region is a category of the node. Its values do not repeat within a graph, but they come again
# in every other graph, and that tells them from identifiers, which would be of no use. The strength
# of a connection can be read in two ways. As the weight of an edge, it says how much a neighbor
# counts beside the other neighbors. As a number of the edge, it is an amount.
schemas = {
    "regions": GraphSchema(node_categories="region", edge_categories=None, edge_numbers=None),
    "and weights": GraphSchema(node_categories="region", edge_weight="weight"),
    "and amounts": GraphSchema(node_categories="region", edge_numbers="weight"),
}
detectors = {}
print("AUROC        exchanged  damaged")
for name, schema in schemas.items():
    detector = detectors[name] = GraphKDEDetector(schema=schema).fit(known)
    scores = [detector.score_samples(fresh + odd) for odd in (exchanged, damaged)]
    areas = [roc_auc_score(target, of_kind) for of_kind in scores]
    print(f"{name:12s} {100 * areas[0]:9.1f}  {100 * areas[1]:7.1f}")

# %%
# Names find an exchange, because it joins regions that are joined in nobody else. They are blind to
# damage, which changes only strengths. All connections of a damaged region are weaker, so that its
# neighbors still count alike, and amounts find it better than weights.
#
# The reasons name the anomalous connections after an exchange. A damaged region, one of thirty,
# should have the largest share in the distance from the nearest known connectomes. The second view
# is the one that tells single nodes apart here.
detector = detectors["and amounts"]
reasons = explain(detector, exchanged[:1])
print(reasons["reason"].iloc[0])
new_edges = next(edges for edges in reasons["edges"] if edges)
shares = node_contributions(detector, damaged, view=1)
n_right = sum(np.argmax(of) == site for of, site in zip(shares, sites, strict=True))
print(f"the damaged region has the largest share in {n_right} of 50")

# %%
# A line is as wide as the connection is strong, for which the graphs are read with weights. In the
# middle, connections that nobody else has are marked. On the right, the damaged region
# is the reddest one. The shares in an unbiased distance may all be negative: colors compare them
# with their median.
cases = [
    (fresh[0], (), "normal"),
    (exchanged[0], new_edges, "exchanged: " + " and ".join(REGIONS[[*pairs[0]]])),
    (damaged[0], (), f"damaged: {REGIONS[sites[0]]}"),
]
graphs = [graph for graph, *_ in cases]
drawn = detectors["and weights"].read(graphs)
shares, p_values = node_contributions(detector, graphs, view=1), detector.p_values(graphs)
beyond = np.array(shares) - np.median(shares)
figure, axes = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
for i, (ax, (_, marked, title)) in enumerate(zip(axes, cases, strict=True)):
    colors = plot_graph(
        drawn[i], beyond[i], vmax=beyond.max(), colorbar=False, marked=marked, ax=ax
    )
    ax.set_title(f"{title}\np = {p_values[i]:.2f}", fontsize=10)
figure.colorbar(colors, ax=axes, shrink=0.8, label="share, minus the median")
if len(sys.argv) > 1:  # python examples/plot_connectomes.py FILE saves the picture
    figure.savefig(sys.argv[1], dpi=130)
    print(f"picture: {sys.argv[1]}")
