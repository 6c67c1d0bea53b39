"""Graph autoencoder (Kipf and Welling, 2016), then a kernel density of the graph embeddings."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from benchmarks.peers._embedding import EmbeddingKDE
from skgraphkde import GraphBatch


class GraphAutoencoderKDE(EmbeddingKDE):
    """Inner products of node embeddings are to tell edges from as many random pairs of a graph."""

    def _loss(self, graphs: GraphBatch, rng: np.random.RandomState) -> torch.Tensor:
        Z = self._embed_nodes(graphs)
        edges = sp.triu(graphs.adjacency, k=1, format="coo")
        u, v = edges.row, edges.col
        # A random node of the same graph for each edge; a few of these pairs are edges, too.
        owner = graphs.graph_of_node[u]
        w = graphs.node_ptr[owner] + rng.randint(graphs.n_nodes_per_graph[owner])
        logits = torch.cat([(Z[u] * Z[v]).sum(1), (Z[u] * Z[w]).sum(1)])
        is_edge = torch.cat([torch.ones(len(u)), torch.zeros(len(u))])
        return binary_cross_entropy_with_logits(logits, is_edge)
