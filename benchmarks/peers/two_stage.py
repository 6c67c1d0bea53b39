"""Two stages: a network that knows no densities embeds graphs, and a KDE of its vectors judges."""

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from sklearn.metrics import euclidean_distances
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from benchmarks.peers._gin import GIN, graph_sums, linear, node_features
from benchmarks.peers._trained import TrainedDetector
from skgraphkde import GraphBatch
from skgraphkde.core.distances.mmd import FIVE_DECADES
from skgraphkde.core.graphs.arrays import ranges
from skgraphkde.core.points.propagation import normalized_adjacency
from skgraphkde.core.views.kernels import log_densities, mixture
from skgraphkde.learned.gpu import sparse_product


class TwoStageDetector(TrainedDetector):
    """Base class: the density of a graph's vector, with the paper's bandwidths, equally weighted.

    As in the paper, a training graph's own kernel is inside its density.
    """

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray:
        self.known_ = None
        self.known_ = super()._fit_batch(graphs, rng)  # their vectors
        return self._densities(self.known_)

    def _score_batch(self, graphs: GraphBatch, network: nn.Module | None = None) -> np.ndarray:
        vectors = super()._score_batch(graphs, network)
        return vectors if self.known_ is None else self._densities(vectors)

    def _scores(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        """The vectors of graphs, shape (n_graphs, d), of which `_score_batch` makes scores."""
        return network.vectors(graphs)

    def _densities(self, vectors: np.ndarray) -> np.ndarray:
        squared = euclidean_distances(vectors, self.known_, squared=True)
        bandwidths = np.array(FIVE_DECADES)
        return mixture(log_densities(squared, bandwidths), np.zeros(len(bandwidths)))


class GAEKDE(TwoStageDetector):
    """Graph autoencoder (Kipf and Welling, 2016), averages of its nodes' points, and a KDE.

    Two graph convolutions, relu between them, make a point z_u of each node. The sigmoid of z_u z_v
    predicts whether u and v are linked, for all pairs of nodes of a graph, each linked to itself.
    The loss is the cross entropy, in which links weigh as much as the other pairs together.
    """

    def _build(self, in_dim: int, generator: torch.Generator) -> nn.Module:
        return _Autoencoder([in_dim, self.hidden_dim, self.hidden_dim // 2], generator)

    def _loss(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        sizes = graphs.n_nodes_per_graph[graphs.graph_of_node]
        first = graphs.node_ptr[graphs.graph_of_node]
        u = np.repeat(np.arange(graphs.n_nodes), sizes)
        v = ranges(first, first + sizes)
        arcs = graphs.adjacency.tocoo()
        is_linked = np.isin(u * graphs.n_nodes + v, arcs.row * graphs.n_nodes + arcs.col) | (u == v)
        points = network(graphs)
        logits = (points[u] * points[v]).sum(dim=1)
        weight = torch.tensor((~is_linked).sum() / is_linked.sum(), dtype=logits.dtype)
        target = torch.tensor(is_linked, dtype=logits.dtype)
        return binary_cross_entropy_with_logits(logits, target, pos_weight=weight)


class InfoGraphKDE(TwoStageDetector):
    """InfoGraph (Sun et al., ICLR 2020), and a KDE of its vectors.

    The points of a graph's nodes are those of all layers of a graph isomorphism network, the vector
    of a graph is their sum. Two networks map points and vectors. The loss is minus an estimate
    (Jensen-Shannon) of their mutual information, in which a node belongs to its own graph and to no
    other of the batch.
    """

    def _build(self, in_dim: int, generator: torch.Generator) -> nn.Module:
        return _InfoGraph(in_dim, self.hidden_dim, self.n_layers, generator)

    def _loss(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        agreement = network(graphs)
        is_own = torch.zeros_like(agreement, dtype=torch.bool)
        is_own[np.arange(graphs.n_nodes), graphs.graph_of_node] = True
        own, other = agreement[is_own], agreement[~is_own]
        return softplus(-own).mean() + softplus(other).mean()


class _Autoencoder(nn.Module):
    def __init__(self, widths: list[int], generator: torch.Generator) -> None:
        super().__init__()
        layers = [linear(*shape, generator, bias=False) for shape in pairwise(widths)]
        self.first, self.second = layers

    def forward(self, graphs: GraphBatch) -> Tensor:
        """The points of the nodes, shape (n_nodes, d)."""
        adjacency = normalized_adjacency(graphs.adjacency)
        hidden = torch.relu(self.first(sparse_product(adjacency, node_features(graphs, self))))
        return self.second(sparse_product(adjacency, hidden))

    def vectors(self, graphs: GraphBatch) -> Tensor:
        n = torch.tensor(graphs.n_nodes_per_graph)
        return graph_sums(self(graphs), graphs) / n[:, np.newaxis]


class _InfoGraph(nn.Module):
    def __init__(self, in_dim: int, hidden_dim: int, n_layers: int, generator: Any) -> None:
        super().__init__()
        self.gin = GIN(in_dim, hidden_dim, n_layers, generator)
        self.of_nodes = _Mapped(self.gin.out_dim, generator)
        self.of_graphs = _Mapped(self.gin.out_dim, generator)

    def forward(self, graphs: GraphBatch) -> Tensor:
        """How well each node agrees with each graph, shape (n_nodes, n_graphs)."""
        points = self.gin(graphs)
        vectors = graph_sums(points, graphs)
        return self.of_nodes(points) @ self.of_graphs(vectors).T

    def vectors(self, graphs: GraphBatch) -> Tensor:
        return graph_sums(self.gin(graphs), graphs)


class _Mapped(nn.Module):
    """Three layers, and a linear map beside them."""

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        layers = []
        for _ in range(3):
            layers += [linear(width, width, generator), nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        self.beside = linear(width, width, generator)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x) + self.beside(x)
