"""Small graphs with weighted edges and features, and the two flows that encoders read of them."""

import networkx as nx
import numpy as np

from skgraphkde import GraphSchema, NodeFeatures, read_graphs
from skgraphkde.encoders.message_flow import MessageFlow, node_colors
from tests.conftest import random_graphs
from tests.graphs.common import partition


def make_input(seed=0, n_graphs=6):
    graphs = random_graphs(n_graphs, seed)
    for graph in graphs:
        nx.set_edge_attributes(graph, {e: 0.5 + (sum(e) % 3) for e in graph.edges}, "weight")
    batch = read_graphs(graphs, schema=GraphSchema(edge_weight="weight"))
    return NodeFeatures(("label", "degree")).fit(batch).transform(batch)


def apart(graphs, n_layers=3):
    return MessageFlow.unmerged(graphs, n_layers)


def merged(graphs, n_layers=3):
    """The flow of the colors, and the row of each node in it."""
    colors = node_colors(graphs, n_layers)
    return MessageFlow.of(graphs, colors), partition(colors[-1].tolist())


def dense_ahat(batch):
    """D^-1/2 (A + I) D^-1/2 of the underlying undirected graphs."""
    A = batch.underlying.toarray() + np.eye(batch.n_nodes)
    d = A.sum(1) ** -0.5
    return d[:, None] * A * d
