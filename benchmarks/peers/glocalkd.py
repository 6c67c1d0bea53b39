"""GLocalKD (Ma et al., WSDM 2022): a network learns to predict a random one, on normal graphs."""

from itertools import pairwise

import scipy.sparse as sp
import torch
from torch import Tensor, nn

from benchmarks.peers._gin import graph_sums, linear, node_features
from benchmarks.peers._trained import TrainedDetector
from skgraphkde import GraphBatch
from skgraphkde.core.points.propagation import normalized_adjacency
from skgraphkde.learned.gpu import sparse_product


class GLocalKD(TrainedDetector):
    """Glocal knowledge distillation (Ma, Pang, Chen and van den Hengel, WSDM 2022).

    Two graph convolutional networks of the same shape have layers relu(Ahat Z W), the last one
    without relu, where Ahat = D^-1/2 (A + I) D^-1/2. One is random and stays so. The other learns
    to predict its embeddings of nodes, z_v, and of graphs, z_G, the largest value of each of the d
    coordinates over the nodes. The loss is the mean over the graphs of the error

        e(G) = |zhat_G - z_G|^2 / d + lambda mean_v |zhat_v - z_v|^2 / d,

    which stays large where the training graphs do not show what the random network does. The score
    of a graph is -e(G).

    The paper's are the loss, the score, lambda = 1, three layers of width 512, 512 and 256, batches
    of 300 graphs and 150 epochs, as far as we know. Ours are the learning rate, for which the paper
    searches a grid; that the last layer has no relu, as a coordinate of the prediction that is 0 at
    all nodes would never learn; and the patience.
    """

    out_dim = 256  # the width d of the last layer

    def _build(self, in_dim: int, generator: torch.Generator) -> nn.Module:
        widths = [in_dim] + [self.hidden_dim] * (self.n_layers - 1) + [self.out_dim]
        return _Distillation(widths, generator)

    def _loss(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        return network(graphs).mean()

    def _scores(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        return -network(graphs)


class _Distillation(nn.Module):
    """Target and predictor; the error e(G) of each graph, with lambda = 1."""

    def __init__(self, widths: list[int], generator: torch.Generator) -> None:
        super().__init__()
        self.target, self.predictor = (
            nn.ModuleList(linear(*shape, generator, bias=False) for shape in pairwise(widths))
            for _ in range(2)
        )
        self.target.requires_grad_(False)

    def forward(self, graphs: GraphBatch) -> Tensor:
        X = node_features(graphs, self)
        adjacency = normalized_adjacency(graphs.adjacency)
        networks = (self.target, self.predictor)
        expected, predicted = (_convolved(layers, adjacency, X) for layers in networks)
        n = torch.tensor(graphs.n_nodes_per_graph)
        largest = [torch.segment_reduce(Z, "max", lengths=n) for Z in (expected, predicted)]
        of_nodes = ((predicted - expected) ** 2).mean(dim=1, keepdim=True)
        of_graphs = ((largest[1] - largest[0]) ** 2).mean(dim=1)
        return of_graphs + graph_sums(of_nodes, graphs)[:, 0] / n


def _convolved(layers: nn.ModuleList, adjacency: sp.csr_array, Z: Tensor) -> Tensor:
    for layer in layers[:-1]:
        Z = torch.relu(layer(sparse_product(adjacency, Z)))
    return layers[-1](sparse_product(adjacency, Z))
