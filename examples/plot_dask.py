"""
Scoring on more than one machine
================================

A Dask cluster can score graphs that do not fit on one computer or would take too long there. Here
the cluster is two processes on this machine; with the address of a real one, nothing else changes.
It needs ``pip install distributed``.
"""

# %%
# The graphs to be scored are in files: in this example, a hundred files of fifty random graphs
# each.
import json
import tempfile
from pathlib import Path

import dask.bag
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from dask.distributed import Client, LocalCluster, get_task_stream

from skgraphkde import GraphKDEDetector


def ring(rng):
    """A ring with a few chords."""
    graph = nx.cycle_graph(rng.randint(8, 25))
    ends = rng.randint(len(graph), size=(rng.randint(1, 4), 2)).tolist()
    graph.add_edges_from((u, v) for u, v in ends if u != v)
    return graph


def write_file(path, rng, with_tree):
    """Fifty rings, or forty-nine rings and a tree."""
    graphs = [ring(rng) for _ in range(50)]
    if with_tree:
        graphs[0] = nx.balanced_tree(2, 3)
    path.write_text(json.dumps([nx.node_link_data(graph, edges="edges") for graph in graphs]))


# %%
# A worker reads a file and scores its graphs. Only file names are sent to the workers, and only
# scores come back.
def score_file(path, detector):
    """The name of a file, and the scores of its graphs."""
    graphs = [nx.node_link_graph(data, edges="edges") for data in json.loads(path.read_text())]
    return path.name, detector.score_samples(graphs)


# %%
# The detector is sent to each worker once, and the list of files in sixteen parts. If a worker
# dies, Dask gives its parts to another one.
def score_files(files, detector):
    """Scores by file, and when each worker did what."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        on_workers = client.scatter(detector, broadcast=True)
        bag = dask.bag.from_sequence(files, npartitions=16)
        with get_task_stream(client) as stream:
            scores = dict(bag.map(score_file, detector=on_workers).compute())
    return scores, stream.data


# %%
# About one file in ten hides a tree among its rings. The lowest score in a file gives it away.
#
# Graphs that are in memory need no bag: inside ``joblib.parallel_config("dask")`` the detector's
# own methods use the cluster, and so does ``GridSearchCV``.
if __name__ == "__main__":  # the workers import this file, too
    rng = np.random.RandomState(0)
    detector = GraphKDEDetector().fit([ring(rng) for _ in range(500)])
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{i:03}.json") for i in range(100)]
        has_tree = rng.random_sample(len(files)) < 0.1
        for path, with_tree in zip(files, has_tree, strict=True):
            write_file(path, rng, with_tree)
        scores, tasks = score_files(files, detector)
    lowest = np.array([scores[path.name].min() for path in files])
    suspects = set(np.argsort(lowest)[: has_tree.sum()].tolist())
    found = suspects & set(np.flatnonzero(has_tree).tolist())
    print(f"{len(files)} files, {sum(map(len, scores.values())):,} graphs")
    print(f"{len(found)} of the {has_tree.sum()} files with a tree have the lowest scores")

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(3, 2))
    for of_class, color, label in (
        (~has_tree, "#0072B2", "rings"),
        (has_tree, "#D55E00", "a tree"),
    ):
        left.plot(np.flatnonzero(of_class), lowest[of_class], "o", color=color, label=label)
    left.set(xlabel="file", ylabel="lowest score in the file")
    left.legend()
    workers = sorted({task["worker"] for task in tasks})
    start = min(span["start"] for task in tasks for span in task["startstops"])
    for task in tasks:
        for span in task["startstops"]:
            if span["action"] == "compute":
                length = span["stop"] - span["start"]
                row = workers.index(task["worker"])
                right.barh(row, length, left=span["start"] - start, color="#56B4E9", edgecolor="k")
    names = [f"worker {i + 1}" for i in range(len(workers))]
    right.set(xlabel="seconds", title="When each worker scored which part")
    right.set(yticks=range(len(workers)), yticklabels=names)
    figure.tight_layout()
    plt.show()
