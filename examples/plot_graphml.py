"""
From a folder of files to scores
================================

Suppose your graphs are files: GraphML from Gephi, yEd, Cytoscape or a database. networkx reads
them, and a detector takes the list. Each score belongs to a file name.
"""

# %%
# This example first writes the files, so that it runs anywhere: 120 office networks, each a few
# switches with computers, and three networks that are wired differently.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from skgraphkde import GraphKDEDetector, GraphSchema

rng = np.random.RandomState(0)


def office() -> nx.Graph:
    """Switches in a ring, each with a handful of computers."""
    n_switches = int(rng.randint(3, 7))
    graph = nx.cycle_graph(n_switches)
    nx.set_node_attributes(graph, "switch", "kind")
    for switch in range(n_switches):
        for _ in range(rng.randint(3, 7)):
            computer = len(graph)
            graph.add_node(computer, kind="computer")
            graph.add_edge(switch, computer)
    return graph


def daisy_chain() -> nx.Graph:
    """One switch, and computers in a chain behind it."""
    graph = nx.path_graph(24)
    nx.set_node_attributes(graph, "computer", "kind")
    graph.nodes[0]["kind"] = "switch"
    return graph


def one_big_switch() -> nx.Graph:
    """One switch with all the computers."""
    graph = nx.star_graph(24)
    nx.set_node_attributes(graph, "computer", "kind")
    graph.nodes[0]["kind"] = "switch"
    return graph


def cross_wired() -> nx.Graph:
    """An office in which some computers are linked to each other."""
    graph = office()
    computers = [node for node, kind in graph.nodes(data="kind") if kind == "computer"]
    graph.add_edges_from(rng.permutation(computers)[:12].reshape(6, 2).tolist())
    return graph


folder = tempfile.TemporaryDirectory()
networks = {f"office_{i:03d}": office() for i in range(120)}
odd = {"chain": daisy_chain(), "star": one_big_switch(), "cross_wired": cross_wired()}
for name, network in {**networks, **odd}.items():
    nx.write_graphml(network, Path(folder.name, f"{name}.graphml"))

# %%
# Your own script starts here. A :class:`~skgraphkde.GraphSchema` says that the node attribute
# ``"kind"`` is a category. Without one, a detector looks for categories in ``"label"`` and for
# numbers in ``"x"``, and warns that it has not read ``"kind"``.
files = sorted(Path(folder.name).glob("*.graphml"))
graphs = [nx.read_graphml(file) for file in files]
schema = GraphSchema(node_categories="kind")

# %%
# All files go into one fit, as nobody has said which ones are anomalous. ``fit_predict`` returns
# the verdicts. Here are the scores behind them, in which each graph is judged only by the others.
detector = GraphKDEDetector(schema=schema, contamination=0.05).fit(graphs)
print(detector.schema_)
scores = detector.training_scores_ - detector.offset_
for i in np.argsort(scores)[:6]:
    print(f"{files[i].name:22s} {scores[i]:9.1f}")

# %%
# The three come first. Of normal graphs, one in twenty is expected to fall below the threshold: two
# offices are flagged, too. The first of them is the fourth picture.
figure = plt.figure(figsize=(11, 6.2), layout="constrained")
grid = figure.add_gridspec(2, 5, height_ratios=[1, 1.2])
ax = figure.add_subplot(grid[0, :])
order = np.argsort(scores)
is_odd = np.array([files[i].stem in odd for i in order])
colors = np.where(is_odd, "#e07b39", "#2f6fde")
ax.bar(np.arange(len(order)), scores[order], color=colors, width=0.85)
ax.axhline(0, color="black", linewidth=0.8)
ax.set(xlabel="files, sorted by score", ylabel="score minus\nthe threshold")
ax.set_title("Three files are not like the others")
KIND_COLORS = {"switch": "#222222", "computer": "#9db8e8"}
for column, i in enumerate([*order[:4], order[-1]]):
    ax = figure.add_subplot(grid[1, column])
    network = nx.read_graphml(files[i])
    kinds = [KIND_COLORS[kind] for _, kind in network.nodes(data="kind")]
    positions = nx.kamada_kawai_layout(network)
    nx.draw(network, positions, ax=ax, node_color=kinds, node_size=35, edge_color="#aaaaaa")
    ax.set_title(f"{files[i].name}\n{scores[i]:+.1f}", fontsize=9)
folder.cleanup()
plt.show()
