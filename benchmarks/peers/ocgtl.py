"""OCGTL: several views of a graph by networks, near one point and yet different from each other."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from benchmarks.peers._gin import GIN, graph_sums
from benchmarks.peers._trained import TrainedDetector
from skgraphkde import GraphBatch


class OCGTL(TrainedDetector):
    """One-class graph transformation learning (Qiu et al., IJCAI 2022).

    K + 1 graph isomorphism networks map a graph G to a reference f_0(G) and to the views f_1(G) to
    f_K(G), each the sum of the node embeddings of all layers, side by side. The loss of G is

        sum_k |f_k - c| - sum_k log( h(f_k, f_0) / (h(f_k, f_0) + sum_{l != k} h(f_k, f_l)) )

    with h(x, y) = exp(cos(x, y) / temperature) and a center c that is learned, too. The first part
    draws the views to one point; the second wants each to resemble the reference and no other view,
    so that they cannot all collapse. The score of a graph is minus its loss.

    The paper's are the loss, the score, K = 6, networks of 4 layers of width 32, Adam with the
    learning rate 0.001, batches of 128 and 500 epochs, as far as we know. Ours are the temperature,
    the batch norm, that the linear maps have no offsets, with which views could ignore the graph,
    that c starts at the mean of the views of the training graphs, and the patience.
    """

    n_views, temperature = 6, 1.0

    def _build(self, in_dim: int, generator: torch.Generator) -> nn.Module:
        sizes = in_dim, self.hidden_dim, self.n_layers
        return _Views([GIN(*sizes, generator, bias=False) for _ in range(1 + self.n_views)])

    def _prepare(self, network: nn.Module, batches: list[GraphBatch]) -> None:
        views = torch.cat([network(graphs)[:, 1:] for graphs in batches])
        network.center.copy_(views.mean(dim=(0, 1)))

    def _loss(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        return self._losses(network, graphs).mean()

    def _scores(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        return -self._losses(network, graphs)

    def _losses(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        """The loss of each graph."""
        F = network(graphs)
        distances = torch.linalg.vector_norm(F[:, 1:] - network.center, dim=2)
        directions = normalize(F, dim=2)
        logits = directions @ directions.mT / self.temperature  # (n_graphs, K + 1, K + 1)
        itself = torch.eye(logits.shape[1], dtype=torch.bool, device=logits.device)
        of_views = logits.masked_fill(itself, -torch.inf)[:, 1:]
        return (distances + of_views.logsumexp(dim=2) - of_views[:, :, 0]).sum(dim=1)


class _Views(nn.Module):
    def __init__(self, networks: list[GIN]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)  # that of the reference first
        self.center = nn.Parameter(torch.zeros(networks[0].out_dim))

    def forward(self, graphs: GraphBatch) -> Tensor:
        """Embeddings of graphs, shape (n_graphs, K + 1, d)."""
        return torch.stack([graph_sums(gin(graphs), graphs) for gin in self.networks], dim=1)
