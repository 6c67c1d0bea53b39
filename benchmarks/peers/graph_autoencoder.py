"""Graph autoencoder (Kipf and Welling, 2016), then a kernel density of the graph embeddings."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from benchmarks.peers._embedding import EmbeddingKDE
from skgraphkde import GraphBatch, register


@register
class GraphAutoencoderKDE(EmbeddingKDE):
    """Inner products of node embeddings learn to tell edges from as many random pairs of nodes."""

    def _loss(
        self,
        Z: torch.Tensor,
        graphs: GraphBatch,
        heads: list[nn.Module],
        rng: np.random.RandomState,
    ) -> torch.Tensor:
        edges = sp.triu(graphs.adjacency, k=1, format="coo")
        u, v = edges.row, edges.col
        # A random node of the same graph for each edge; a few of these pairs are edges, too.
        owner = graphs.graph_of_node[u]
        w = graphs.node_ptr[owner] + rng.randint(graphs.n_nodes_per_graph[owner])
        logits = torch.cat([_inner_products(Z, u, v), _inner_products(Z, u, w)])
        is_edge = torch.cat([torch.ones(len(u)), torch.zeros(len(u))])
        return binary_cross_entropy_with_logits(logits, is_edge)


def _inner_products(Z: torch.Tensor, u: np.ndarray, v: np.ndarray) -> torch.Tensor:
    # The gradient of Z[u] would depend on how threads take turns.
    of_u, of_v = (Z.index_select(0, torch.tensor(index)) for index in (u, v))
    return (of_u * of_v).sum(1)
