"""SIGNET (Liu et al., NeurIPS 2023): agreement of a graph with its own dual hypergraph."""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from benchmarks.peers._gin import GIN, graph_sums, linear, node_features
from benchmarks.peers._trained import TrainedDetector
from skgraphkde import GraphBatch
from skgraphkde.learned.gpu import sparse_product


class SIGNET(TrainedDetector):
    """Agreement of a graph and its dual hypergraph (Liu et al., NeurIPS 2023).

    In the dual hypergraph, each edge uv is a node with the features x_u + x_v, and each node is the
    hyperedge of its edges. An extractor, a GIN and a perceptron, gives each node the probability
    p_v that it matters, and so each edge p_e = p_u p_v. With node embeddings z_v of another GIN,
    edge embeddings z_e of hypergraph convolutions relu(1/2 M D^-1 M^T Z W + b), where M is the
    incidence matrix of edges and nodes and D has the degrees, and perceptrons f and f*, the views

        h = f(sum_v p_v z_v) and h* = f*(sum_e p_e z_e)

    learn to share information, by InfoNCE: the loss of a graph G of a mini-batch is

        -log(exp(cos(h_G, h*_G) / tau) / sum_G' exp(cos(h_G, h*_G') / tau)),

    and the same with h and h* exchanged, on average. The score is cos(h_G, h*_G), the agreement of
    the graph's own views: no other graph, of the test or of the training set, has a part in it.

    The paper's are the views, the two kinds of layers, the loss, tau, 1000 epochs, batches of 128
    and 5 layers of 16, as far as we know; its score is the loss in the batch of test graphs. Ours
    are the score; that p weights the sums, and no features; that G' may be G; the learning rate;
    batch norm in the GINs; and the patience.
    """

    temperature = 0.2  # tau

    def _build(self, in_dim: int, generator: torch.Generator) -> nn.Module:
        return _TwoViews([in_dim] + [self.hidden_dim] * self.n_layers, generator)

    def _loss(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        h, h_dual = network(graphs)
        logits = h @ h_dual.T / self.temperature
        own = torch.arange(len(graphs))
        return (cross_entropy(logits, own) + cross_entropy(logits.T, own)) / 2

    def _scores(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        h, h_dual = network(graphs)
        return (h * h_dual).sum(dim=1)


class _TwoViews(nn.Module):
    """Maps graphs to the unit vectors along h and h*."""

    def __init__(self, widths: list[int], generator: torch.Generator) -> None:
        super().__init__()
        sizes = widths[0], widths[1], len(widths) - 1
        self.extractor, self.gin = (GIN(*sizes, generator) for _ in range(2))
        width = self.gin.out_dim
        self.to_logit = _perceptron([width, widths[1], 1], generator)
        self.convolutions = nn.ModuleList(linear(*pair, generator) for pair in pairwise(widths))
        self.heads = nn.ModuleList(_perceptron([width] * 3, generator) for _ in range(2))

    def forward(self, graphs: GraphBatch) -> tuple[Tensor, Tensor]:
        X = node_features(graphs, self)
        edges = sp.triu(graphs.adjacency, k=1, format="coo")
        ends = np.column_stack([edges.row, edges.col])
        rows = np.ones(ends.size), ends.ravel(), 2 * np.arange(edges.nnz + 1)
        M = sp.csr_array(rows, shape=(edges.nnz, graphs.n_nodes))
        p = torch.sigmoid(self.to_logit(self.extractor(graphs)))
        p_u, p_v = (p.index_select(0, nodes) for nodes in torch.tensor(ends.T))
        of_edges = p_u * p_v * self._embed_edges(M, graphs, X)
        f, f_dual = self.heads
        h = f(graph_sums(p * self.gin(graphs), graphs))
        sums = graph_sums(sparse_product(M.T.tocsr(), of_edges), graphs)
        h_dual = f_dual(sums / 2)  # edges have two ends
        return normalize(h), normalize(h_dual)

    def _embed_edges(self, M: sp.csr_array, graphs: GraphBatch, X: Tensor) -> Tensor:
        """The embeddings z_e, shape (n_edges, n_layers * hidden_dim)."""
        degrees = torch.tensor(np.maximum(graphs.degrees, 1), dtype=X.dtype)[:, None]
        Z, layers = sparse_product(M, X), []
        for convolution in self.convolutions:
            of_hyperedges = sparse_product(M.T.tocsr(), Z) / degrees
            Z = torch.relu(convolution(sparse_product(M, of_hyperedges) / 2))
            layers.append(Z)
        return torch.cat(layers, dim=1)


def _perceptron(widths: list[int], generator: torch.Generator) -> nn.Module:
    first, second = (linear(*pair, generator) for pair in pairwise(widths))
    return nn.Sequential(first, nn.ReLU(), second)
