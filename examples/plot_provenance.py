"""
Attacks in provenance graphs
============================

What did the processes of a computer do to its files and sockets? A provenance graph has an arrow
for each flow: who forked, read, wrote or sent. Its directions, its actions and the bytes that were
moved each betray another kind of attack.
"""

# %%
# Normal graphs are a shell, a build, a browser or a server at work. Four kinds of attack change
# such a graph and leave its size almost as it was. The module ``provenance_graphs``, which lies
# beside this example, simulates both.
import sys

import matplotlib.pyplot as plt
import numpy as np
from provenance_graphs import ATTACKS, draw_provenance_graphs

from skgraphkde import GraphKDEDetector, GraphSchema
from skgraphkde.evaluation import auroc
from skgraphkde.explanation import explain, novel_nodes
from skgraphkde.plots import plot_graph

kinds = np.repeat(["normal", *ATTACKS], [250, *[50] * len(ATTACKS)])
graphs, _ = draw_provenance_graphs(kinds, seed=0)
known, fresh = graphs[:150], graphs[150:250]
attacks = {kind: np.flatnonzero(kinds == kind) for kind in ATTACKS}
print(graphs[0])
print("a node:", graphs[0].nodes[0])
print("an arc:", next(iter(graphs[0].edges(data=True))))

# %%
# Three detectors read more and more of it: how things are wired, and which are processes, files and
# sockets; then the actions, in their direction; then the bytes. No attack is among what they are
# fitted to.
schemas = {
    "wiring": GraphSchema(
        node_categories="kind", edge_categories=None, edge_numbers=None, directed=False
    ),
    "actions": GraphSchema(node_categories="kind", edge_categories="action", edge_numbers=None),
    "bytes": GraphSchema(node_categories="kind", edge_categories="action", edge_numbers="bytes"),
}
detectors, scores = {}, {}
for name, schema in schemas.items():
    detectors[name] = GraphKDEDetector(schema=schema).fit(known)
    scores[name] = detectors[name].score_samples(graphs)
print(f"{'AUROC':15s}" + "".join(f"{name:>9s}" for name in schemas))
for attack, index in attacks.items():
    target = np.repeat([1, -1], [len(fresh), len(index)])
    areas = (auroc(target, np.r_[of[150:250], of[index]]) for of in scores.values())
    print(f"{attack:15s}" + "".join(f"{100 * area:9.1f}" for area in areas))

# %%
# The exfiltration is in the wiring. Flows that are reversed, and actions that nobody has seen, are
# in the arrows, and a doubled volume is only in the bytes. Reading more costs a little where it
# says nothing, and finds what cannot be found without it.
#
# What is the reason? :func:`~skgraphkde.explanation.explain` says it in words. Here is the first
# reason of two attacks of each kind:
detector = detectors["bytes"]
batch = detector.read(graphs)
chosen = np.concatenate([index[:2] for index in attacks.values()])
reasons = explain(detector, batch[chosen])
for i, reason in zip(chosen, reasons.loc[reasons["rank"] == 1, "reason"], strict=True):
    print(f"{kinds[i]:15s}{reason}")

# %%
# And where? The darker a node, the less of its surroundings it takes to be unlike everything known.
# After the exfiltration these are the processes, of which one reads everything and the others
# nothing, and a socket. Marked are the arcs that the reason for the third graph names.
figure, axes = plt.subplots(1, 3, figsize=(13, 5), layout="constrained")
for ax, attack in zip(axes, ["normal", "exfiltration", "new_action"], strict=True):
    index = attacks.get(attack, np.arange(150, 250))
    order = index[np.argsort(scores["bytes"][index])]
    i = order[len(order) // 2] if attack == "normal" else order[0]
    marked = explain(detector, batch[i]).loc[0, "edges"] if attack == "new_action" else ()
    new_from = novel_nodes(detector, batch[i])[0]
    plot_graph(batch[i], new_from, radius=5, ax=ax, marked=marked, colorbar=ax is axes[-1])
    ax.set_title(f"{attack}, p = {detector.p_values(batch[i])[0]:.2f}", fontsize=10)
if len(sys.argv) > 1:  # python examples/plot_provenance.py FILE saves the picture
    figure.savefig(sys.argv[1], dpi=130)
    print(f"picture: {sys.argv[1]}")
