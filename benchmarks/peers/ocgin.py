"""OCGIN: a graph isomorphism network that maps normal graphs near one point."""

import torch
from torch import Tensor, nn

from benchmarks.peers._gin import GIN, graph_sums
from benchmarks.peers._trained import TrainedDetector
from skgraphkde import GraphBatch


class OCGIN(TrainedDetector):
    """One-class graph isomorphism network (Zhao and Akoglu, Big Data 2021).

    Deep SVDD (Ruff et al., ICML 2018) of graphs: with z(G) the sum of the node embeddings of all
    layers of a graph isomorphism network, side by side, and c the mean of z over the training
    graphs before training, it minimizes the mean of |z(G) - c|^2. The score of a graph is
    -|z(G) - c|^2. As the network has no offsets, it cannot map all graphs to c by those alone.

    The paper's are the loss, the sum over all layers, the center and the weight decay. Ours are the
    numbers, which are the same as for OCGTL, and the batch norm, which has no offsets either.
    """

    weight_decay = 1e-4

    def _build(self, in_dim: int, generator: torch.Generator) -> nn.Module:
        return _Sphere(in_dim, self.hidden_dim, self.n_layers, generator)

    def _prepare(self, network: nn.Module, batches: list[GraphBatch]) -> None:
        network.center = torch.cat([network(graphs) for graphs in batches]).mean(dim=0)

    def _loss(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        return network.squared_distances(graphs).mean()

    def _scores(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        return -network.squared_distances(graphs)


class _Sphere(nn.Module):
    def __init__(
        self, in_dim: int, hidden_dim: int, n_layers: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.gin = GIN(in_dim, hidden_dim, n_layers, generator, bias=False)
        self.register_buffer("center", torch.zeros(self.gin.out_dim))

    def forward(self, graphs: GraphBatch) -> Tensor:
        return graph_sums(self.gin(graphs), graphs)

    def squared_distances(self, graphs: GraphBatch) -> Tensor:
        return ((self(graphs) - self.center) ** 2).sum(dim=1)
