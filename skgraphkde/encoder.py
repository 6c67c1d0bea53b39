"""GCNEncoder: adjacency and node features -> node embeddings.

In come a :class:`~skgraphkde.graphs.GraphBatch` and its feature matrix X (n_nodes, p). Out goes Z
(n_nodes, d), one point a node. Messages are passed by DGL where it has a build for the device, by
torch elsewhere; the weights are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from skgraphkde import _dgl
from skgraphkde._sparse import CSRMatrix
from skgraphkde.graphs import GraphBatch

Convolution = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def normalized_adjacency(adjacency: sp.csr_array) -> sp.csr_array:
    """D^-1/2 (A + I) D^-1/2, D the weighted degrees with the self-loop (Kipf and Welling, 2017)."""
    looped = sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0]))
    scale = sp.diags_array(1.0 / np.sqrt(np.asarray(looped.sum(axis=1)).ravel()))
    return sp.csr_array(scale @ looped @ scale)


def graph_convolution(adjacency: sp.csr_array, like: torch.Tensor, backend: str) -> Convolution:
    """The map ``(Z, W) -> Ahat @ Z @ W`` for the normalized adjacency Ahat.

    Parameters
    ----------
    adjacency : csr_array of shape (n, n)
        Symmetric, without self-loops.
    like : Tensor
        Its dtype and device are taken.
    backend : {"dgl", "torch"}

    Returns
    -------
    callable
    """
    normalized = normalized_adjacency(adjacency)
    if backend == "dgl":
        return _dgl.graph_convolution(normalized, like)
    matrix = CSRMatrix(normalized, like, symmetric=True)

    def convolve(Z: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
        # The narrow side passes the messages.
        return matrix @ (Z @ W) if W.shape[0] > W.shape[1] else (matrix @ Z) @ W

    return convolve


def choose_backend(device: torch.device) -> str:
    """Return "dgl" where DGL can compute on `device`, "torch" elsewhere."""
    return "dgl" if _dgl.supports(device) else "torch"


class GCNEncoder(nn.Module):
    """Graph convolutional network: Z_l = relu(BN(Ahat Z_{l-1} W_l)), dropout between the layers.

    Parameters
    ----------
    in_dim : int
        Number of node features.
    hidden_dim : int
        Width of every layer, and of the embeddings.
    n_layers : int
        Number of layers.
    dropout : float
        Share of the entries that is dropped between layers in training, in [0, 1).
    batch_norm : bool
        Whether each layer normalizes its columns.
    generator : torch.Generator
        Draws the initial weights (Glorot and Bengio, 2010).
    backend : {"dgl", "torch"}, default=None
        Who passes the messages. None: DGL where it can compute on the weights' device, else torch.
    """

    def __init__(
        self,
        in_dim: int,
        hidden_dim: int,
        n_layers: int,
        dropout: float,
        batch_norm: bool,
        generator: torch.Generator,
        backend: str | None = None,
    ) -> None:
        super().__init__()
        self.backend = backend
        self.dropout = dropout
        dims = [in_dim] + [hidden_dim] * n_layers
        self.weights = nn.ParameterList(
            nn.init.xavier_uniform_(torch.empty(n_in, n_out, device="cpu"), generator=generator)
            for n_in, n_out in pairwise(dims)
        )
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(hidden_dim, device="cpu") if batch_norm else nn.Identity()
            for _ in self.weights
        )

    def forward(
        self,
        graphs: GraphBatch,
        generator: torch.Generator | None = None,
        colors: np.ndarray | None = None,
    ) -> torch.Tensor:
        """Embed the nodes.

        Parameters
        ----------
        graphs : GraphBatch
            With the node features X as attributes.
        generator : torch.Generator, default=None
            Draws the dropout masks; only in training mode.
        colors : ndarray of shape (n_layers + 1, n_nodes), default=None
            Of :func:`skgraphkde.refinement.node_colors`: nodes of one color share their dropout
            mask, so that they have one embedding in training, too. None: each node has its own.

        Returns
        -------
        Tensor of shape (n_nodes, hidden_dim)
        """
        convolve, Z = self._inputs(graphs)
        for layer in range(len(self.weights)):
            if layer and self.training and self.dropout:
                Z = self._drop(Z, generator, None if colors is None else colors[layer])
            Z = self._layer(layer, convolve, Z)
        return Z

    def _drop(
        self, Z: torch.Tensor, generator: torch.Generator | None, colors: np.ndarray | None
    ) -> torch.Tensor:
        """Z with a random share of the entries at 0, and the others scaled up."""
        colors = np.arange(len(Z)) if colors is None else colors
        distinct, mask_of_node = np.unique(colors, return_inverse=True)
        keep = Z.new_empty((len(distinct), Z.shape[1]))
        keep.bernoulli_(1 - self.dropout, generator=generator)
        return Z * keep[torch.as_tensor(mask_of_node, device=Z.device)] / (1 - self.dropout)

    def _inputs(self, graphs: GraphBatch) -> tuple[Convolution, torch.Tensor]:
        like = self.weights[0]
        X = torch.tensor(graphs.attributes, dtype=like.dtype, device=like.device)
        backend = self.backend or choose_backend(like.device)
        return graph_convolution(graphs.adjacency, X, backend), X

    def _layer(self, layer: int, convolve: Convolution, Z: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norms[layer](convolve(Z, self.weights[layer])))

    @torch.no_grad()
    def standardize(self, blocks: Iterable[GraphBatch]) -> None:
        """Set the batch norms' statistics to those of all nodes, layer by layer; go to eval mode.

        Running averages lag behind the weights and depend on the order of the batches; scores must
        not. Without training they would even be missing.

        Parameters
        ----------
        blocks : re-iterable of GraphBatch
            The training graphs, with their features, in blocks of any size.
        """
        self.eval()
        for layer, norm in enumerate(self.norms):
            if not isinstance(norm, nn.BatchNorm1d):
                return
            count, total, squares = 0, torch.zeros(()), torch.zeros(())
            for graphs in blocks:
                convolve, Z = self._inputs(graphs)
                for before in range(layer):
                    Z = self._layer(before, convolve, Z)
                H = convolve(Z, self.weights[layer]).double()
                count, total, squares = count + len(H), total + H.sum(0), squares + (H * H).sum(0)
            mean = total / count
            norm.running_mean = mean.to(Z.dtype)
            norm.running_var = (squares / count - mean**2).clamp_min(0).to(Z.dtype)
