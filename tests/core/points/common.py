"""Graphs and slow definitions that several tests of points use."""

import numpy as np

from skgraphkde import GraphSchema, NodeFeatures, read_graphs
from skgraphkde.core.points.propagation import MessageFlow, node_colors
from tests.conftest import random_graphs, with_data
from tests.core.graphs.common import WEIGHTED, partition, typed_graphs


def make_input(seed=0, n_graphs=6):
    """Small graphs with weighted edges and features."""
    weights = {"weight": lambda edge: 0.5 + sum(edge) % 3}
    graphs = [with_data(graph, None, weights) for graph in random_graphs(n_graphs, seed)]
    batch = read_graphs(graphs, schema=GraphSchema(edge_weight="weight"))
    return NodeFeatures(("label", "degree")).fit(batch).transform(batch)


def featurized(seed=0, **options):
    """Small graphs whose edges have categories, with features, and the number of relations."""
    batch = read_graphs(typed_graphs(6, seed, **options), schema=WEIGHTED)
    features = NodeFeatures(("label", "edge")).fit(batch)
    return features.transform_batch(batch), features.edge_groups_.n_relations


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


def dense_relations(batch):
    """Row-normalized dense matrices, by direction and group."""
    n, matrices = batch.n_nodes, []
    for transposed in (False, True)[: 1 + batch.directed]:
        for group in range(len(batch.edge_label_names)):
            A = np.zeros((n, n))
            arcs = np.flatnonzero(batch.edge_labels == group)
            ends = batch.source_of_arc[arcs], batch.adjacency.indices[arcs]
            np.add.at(A, ends, batch.adjacency.data[arcs])
            A = A.T if transposed else A
            matrices.append(A / np.maximum(A.sum(1, keepdims=True), 1e-300))
    return matrices
