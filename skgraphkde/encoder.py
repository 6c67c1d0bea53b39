"""Propagation, GCNEncoder: adjacency and node features -> node embeddings.

In comes a :class:`~skgraphkde.refinement.MessageFlow`. Out goes Z (n_colors, d), one point for all
nodes that look the same. The GCN's messages are passed by DGL where it has a build for the device,
by torch elsewhere; the weights are the same.
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
from skgraphkde.refinement import MessageFlow

# A variance below this, or this share of the squared mean, is rounding.
_CONSTANT = 1e-12

Convolution = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def graph_convolution(adjacency: sp.csr_array, like: torch.Tensor, backend: str) -> Convolution:
    """The map ``(Z, W) -> adjacency @ Z @ W``.

    Parameters
    ----------
    adjacency : csr_array of shape (m, n)
    like : Tensor
        Its dtype and device are taken.
    backend : {"dgl", "torch"}

    Returns
    -------
    callable
    """
    if backend == "dgl":
        return _dgl.graph_convolution(adjacency, like)
    matrix = CSRMatrix(adjacency, like)

    def convolve(Z: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
        # The narrow side passes the messages.
        return matrix @ (Z @ W) if W.shape[0] > W.shape[1] else (matrix @ Z) @ W

    return convolve


def choose_backend(device: torch.device) -> str:
    """Return "dgl" where DGL can compute on `device`, "torch" elsewhere."""
    return "dgl" if _dgl.supports(device) else "torch"


class Propagation(nn.Module):
    """Node features beside their averages over neighborhoods: a graph convolution without weights.

    X_l = S(Ahat X_{l-1}), X_0 = S(X), where S standardizes the columns over all training nodes; the
    embedding is [X_0, ..., X_L], scaled to a total variance of 1 (without weights: Wu et al., ICML
    2019; layers side by side: Xu et al., ICML 2018).

    Parameters
    ----------
    in_dim : int
        Number of node features.
    n_layers : int
        Number of averages, L.
    """

    means: torch.Tensor
    scales: torch.Tensor
    total_scale: torch.Tensor

    def __init__(self, in_dim: int, n_layers: int) -> None:
        super().__init__()
        self.in_dim, self.n_layers, self.out_dim = in_dim, n_layers, in_dim * (n_layers + 1)
        self.register_buffer("means", torch.zeros(n_layers + 1, in_dim, device="cpu"))
        self.register_buffer("scales", torch.ones(n_layers + 1, in_dim, device="cpu"))
        self.register_buffer("total_scale", torch.ones((), device="cpu"))

    def forward(self, flow: MessageFlow, generator: torch.Generator | None = None) -> torch.Tensor:
        """Embed the nodes, shape (len(flow.colors), out_dim); nothing is drawn.

        Parameters
        ----------
        flow : MessageFlow
            With as many adjacencies as there are layers.
        generator : torch.Generator, default=None
            Ignored.
        """
        return self._pass(flow, self.n_layers) / self.total_scale

    def _pass(self, flow: MessageFlow, n_layers: int) -> torch.Tensor:
        """[X_0, ..., X_l] after the first `n_layers` layers."""
        X = torch.tensor(flow.features, dtype=self.means.dtype, device=self.means.device)
        Z = X = (X - self.means[0]) / self.scales[0]
        for layer in range(1, n_layers + 1):
            X = CSRMatrix(flow.adjacencies[layer - 1], X) @ X
            X = (X - self.means[layer]) / self.scales[layer]
            parents = torch.from_numpy(flow.parents[layer - 1]).to(Z.device)
            Z = torch.cat([Z[parents], X], dim=1)
        return Z

    @torch.no_grad()
    def standardize(self, flows: Iterable[MessageFlow]) -> None:
        """Set means and scales to those of all nodes, layer by layer; a constant stays unscaled.

        Parameters
        ----------
        flows : re-iterable of MessageFlow
            The training graphs, in blocks of any size.
        """
        self.means.zero_()
        self.scales.fill_(1)
        n_varying = torch.zeros((), device=self.means.device)
        for layer in range(self.n_layers + 1):
            mean, variance = _moments(
                (self._pass(flow, layer)[:, -self.in_dim :], flow.counts[layer]) for flow in flows
            )
            # What is averaged has variance 1, or is nothing but rounding.
            varies = variance > _CONSTANT * (1 if layer else mean**2)
            self.means[layer] = mean
            self.scales[layer] = torch.where(varies, variance.sqrt(), 1.0)
            n_varying += varies.sum()
        self.total_scale.copy_(n_varying.clamp_min(1).sqrt())


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
        self.in_dim, self.n_layers, self.out_dim = in_dim, n_layers, hidden_dim
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

    def forward(self, flow: MessageFlow, generator: torch.Generator | None = None) -> torch.Tensor:
        """Embed the nodes.

        Parameters
        ----------
        flow : MessageFlow
            With as many adjacencies as there are layers.
        generator : torch.Generator, default=None
            Draws the dropout masks, one a row; only in training mode.

        Returns
        -------
        Tensor of shape (len(flow.colors), hidden_dim)
        """
        return self._pass(flow, len(self.weights), generator)

    def _pass(
        self, flow: MessageFlow, n_layers: int, generator: torch.Generator | None = None
    ) -> torch.Tensor:
        """Z after the first `n_layers` layers."""
        Z = self._tensor(flow.features)
        for layer in range(n_layers):
            if layer and self.training and self.dropout:
                keep = torch.empty_like(Z).bernoulli_(1 - self.dropout, generator=generator)
                Z = Z * keep / (1 - self.dropout)
            H = self._convolve(layer, flow, Z)
            Z = self._activate(layer, H, flow.counts[layer + 1])
        return Z

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        like = self.weights[0]
        return torch.tensor(values, dtype=like.dtype, device=like.device)

    def _convolve(self, layer: int, flow: MessageFlow, Z: torch.Tensor) -> torch.Tensor:
        backend = self.backend or choose_backend(Z.device)
        convolution = graph_convolution(flow.adjacencies[layer], Z, backend)
        return convolution(Z, self.weights[layer])

    def _activate(self, layer: int, H: torch.Tensor, counts: np.ndarray) -> torch.Tensor:
        """relu(BN(H)), the batch norm over nodes: a row counts as often as there are nodes."""
        norm = self.norms[layer]
        if not (self.training and isinstance(norm, nn.BatchNorm1d)):
            return torch.relu(norm(H))
        share = self._tensor(counts / counts.sum())
        H = H - share @ H
        scale = norm.weight * torch.rsqrt(share @ H**2 + norm.eps)
        return torch.relu(H * scale + norm.bias)

    @torch.no_grad()
    def standardize(self, flows: Iterable[MessageFlow]) -> None:
        """Set the batch norms' statistics to those of all nodes, layer by layer; go to eval mode.

        Running averages lag behind the weights and depend on the order of the batches; scores must
        not. Without training they would even be missing.

        Parameters
        ----------
        flows : re-iterable of MessageFlow
            The training graphs, in blocks of any size.
        """
        self.eval()
        for layer, norm in enumerate(self.norms):
            if not isinstance(norm, nn.BatchNorm1d):
                return
            norm.running_mean, norm.running_var = _moments(
                (self._convolve(layer, flow, self._pass(flow, layer)), flow.counts[layer + 1])
                for flow in flows
            )


def _moments(
    blocks: Iterable[tuple[torch.Tensor, np.ndarray]],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and variance of the columns of H, a row counting as often as there are nodes."""
    n_nodes, total, squares = 0, torch.zeros(()), torch.zeros(())
    for H, counts in blocks:
        weights, rows = torch.tensor(counts).to(H.device, torch.float64), H.double()
        n_nodes = n_nodes + counts.sum()
        total, squares = total + weights @ rows, squares + weights @ rows**2
    mean = total / n_nodes
    return mean.to(H.dtype), (squares / n_nodes - mean**2).clamp_min(0).to(H.dtype)
