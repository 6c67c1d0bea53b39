"""Graph isomorphism network (Xu et al., 2019), and what else networks of peers need."""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from skgraphkde import GraphBatch
from skgraphkde.learned.gpu import sparse_product


class GIN(nn.Module):
    """Graph isomorphism network (Xu et al., ICLR 2019) with eps = 0.

    Z_l = relu(relu(BN((Z_{l-1} + A Z_{l-1}) V_l)) W_l) with the weighted adjacency matrix A, where
    Z_0 are the node features. With `bias`, linear maps and batch norms have offsets.
    """

    def __init__(
        self, in_dim: int, hidden_dim: int, n_layers: int, generator: Any, bias: bool = True
    ) -> None:
        super().__init__()
        self.out_dim = n_layers * hidden_dim
        self.layers = nn.ModuleList(
            nn.Sequential(
                linear(n_in, n_out, generator, bias),
                nn.BatchNorm1d(n_out, affine=bias),
                nn.ReLU(),
                linear(n_out, n_out, generator, bias),
                nn.ReLU(),
            )
            for n_in, n_out in pairwise([in_dim] + [hidden_dim] * n_layers)
        )

    def forward(self, graphs: GraphBatch) -> torch.Tensor:
        """Embed the nodes, shape (n_nodes, n_layers * hidden_dim): all layers side by side."""
        Z = node_features(graphs, self)
        layers = []
        for layer in self.layers:
            Z = layer(Z + sparse_product(graphs.adjacency, Z))
            layers.append(Z)
        return torch.cat(layers, dim=1)


def linear(n_in: int, n_out: int, generator: torch.Generator, bias: bool = True) -> nn.Linear:
    """A linear map whose weights are drawn as of Glorot and Bengio (2010); its offset is 0."""
    layer = nn.Linear(n_in, n_out, bias, device="meta")  # elsewhere it would draw globally
    weight = nn.init.xavier_uniform_(torch.empty(n_out, n_in), generator=generator)
    layer.weight = nn.Parameter(weight)
    if bias:
        layer.bias = nn.Parameter(torch.zeros(n_out))
    return layer


def node_features(graphs: GraphBatch, network: nn.Module) -> torch.Tensor:
    """The node attributes of graphs in the precision of a network, shape (n_nodes, in_dim)."""
    like = next(network.parameters())
    return torch.tensor(graphs.attributes, dtype=like.dtype, device=like.device)


def graph_sums(Z: torch.Tensor, graphs: GraphBatch) -> torch.Tensor:
    """The sum of the rows of each graph's nodes, shape (n_graphs, d)."""
    members = (np.ones(graphs.n_nodes), np.arange(graphs.n_nodes), graphs.node_ptr)
    return sparse_product(sp.csr_array(members, shape=(len(graphs), graphs.n_nodes)), Z)


@torch.no_grad()
def standardize(network: nn.Module, graphs: GraphBatch) -> None:
    """Set the batch norms' statistics to those of all training graphs; go to eval mode.

    Running averages depend on the order of the batches, which scores must not.
    """
    network.eval()
    norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm1d)]
    for norm in norms:
        norm.train()
        norm.momentum = 1.0  # the statistics of the last batch
    if norms:
        network(graphs)
    network.eval()
