"""GCNModule: a graph convolutional network with message passing by DGL or torch."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from skgraphkde.learned import dgl_backend
from skgraphkde.learned.modules import EncoderModule
from skgraphkde.learned.sparse import CSRMatrix
from skgraphkde.propagation import MessageFlow


class GCNModule(EncoderModule):
    """Module of :class:`GCN`.

    Parameters
    ----------
    specification : GCN
    in_dim : int
        Number of node features.
    generator : torch.Generator or None
        Generator of the initial weights.
    n_relations : int, default=0
        Number of directions and categories of edges.
    """

    def __init__(
        self,
        specification: Any,
        in_dim: int,
        generator: torch.Generator | None,
        n_relations: int = 0,
    ) -> None:
        width, n_layers = specification.hidden_dim, specification.n_layers
        out_dim = specification.out_dim or width
        super().__init__(specification, in_dim, out_dim, n_layers)
        self.dropout, self.backend = specification.dropout, specification.backend
        self.last_relu = specification.last_relu
        dims = list(pairwise([in_dim] + [width] * (n_layers - 1) + [out_dim]))
        self.weights = nn.ParameterList(
            nn.init.xavier_uniform_(torch.empty(n_in, n_out), generator=generator)
            for n_in, n_out in dims
        )
        # Relation r of layer l has the index l * n_relations + r.
        self.n_relations = n_relations
        self.relation_weights = nn.ParameterList(
            nn.init.xavier_uniform_(torch.empty(n_in, n_out), generator=generator)
            for n_in, n_out in dims
            for _ in range(n_relations)
        )
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(n_out) if specification.batch_norm else nn.Identity()
            for _, n_out in dims
        )

    def forward(self, flow: MessageFlow, generator: torch.Generator | None = None) -> torch.Tensor:
        """Embed the nodes, shape (len(flow.colors), out_dim).

        Parameters
        ----------
        flow : MessageFlow
        generator : torch.Generator, default=None
            Generator of the dropout masks, one per row, in training mode.
        """
        return self._pass(flow, self.n_layers, generator)

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
        adjacency = flow.normalized_adjacencies[layer]
        H = graph_convolution(adjacency, Z, self.weights[layer], self.backend)
        for r in range(self.n_relations):
            weight = self.relation_weights[layer * self.n_relations + r]
            H = H + graph_convolution(flow.means_of_relations[layer][r], Z, weight, self.backend)
        return H

    def _activate(self, layer: int, H: torch.Tensor, counts: np.ndarray) -> torch.Tensor:
        """relu(BN(H)), with batch norm weighted by the number of nodes of each row."""
        norm = self.norms[layer]
        if self.training and isinstance(norm, nn.BatchNorm1d):
            share = self._tensor(counts / counts.sum())
            H = H - share @ H
            H = H * (norm.weight * torch.rsqrt(share @ H**2 + norm.eps)) + norm.bias
        else:
            H = norm(H)
        return torch.relu(H) if self.last_relu or layer < self.n_layers - 1 else H

    @torch.no_grad()
    def standardize(self, flows: Iterable[MessageFlow]) -> None:
        """Set the batch norms' statistics to those of all nodes, and switch to evaluation mode.

        Running averages are not used: they lag behind the weights, depend on the order of the
        batches, and do not exist without training.
        """
        self.eval()
        for layer, norm in enumerate(self.norms):
            if not isinstance(norm, nn.BatchNorm1d):
                return
            norm.running_mean, norm.running_var = _column_moments(
                (self._convolve(layer, flow, self._pass(flow, layer)), flow.counts[layer + 1])
                for flow in flows
            )


def _column_moments(
    blocks: Iterable[tuple[torch.Tensor, np.ndarray]],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and variance of columns over nodes, with one row for all nodes of one color.

    Parameters
    ----------
    blocks : iterable of (Tensor of shape (n, d), ndarray of shape (n,))
        Rows, and the number of nodes of each row.

    Returns
    -------
    mean, variance : Tensor of shape (d,)
    """
    n_nodes, total, squares = 0, torch.zeros(()), torch.zeros(())
    for H, counts in blocks:
        weights, rows = torch.tensor(counts).to(H.device, torch.float64), H.double()
        n_nodes = n_nodes + counts.sum()
        total, squares = total + weights @ rows, squares + weights @ rows**2
    mean = total / n_nodes
    return mean.to(H.dtype), (squares / n_nodes - mean**2).clamp_min(0).to(H.dtype)


def graph_convolution(
    adjacency: sp.csr_array, Z: torch.Tensor, W: torch.Tensor, backend: str = "auto"
) -> torch.Tensor:
    """Product ``adjacency @ Z @ W``.

    Parameters
    ----------
    adjacency : csr_array of shape (m, n)
    Z : Tensor of shape (n, d)
    W : Tensor of shape (d, k)
    backend : {"auto", "dgl", "torch"}
        "auto" is DGL if it can compute on the device.

    Returns
    -------
    Tensor of shape (m, k)
    """
    if backend == "dgl" or (backend == "auto" and dgl_backend.supports(Z.device)):
        return dgl_backend.graph_convolution(adjacency, Z, W)
    matrix = CSRMatrix(adjacency, Z)
    # The messages have the smaller of the two widths.
    return matrix @ (Z @ W) if W.shape[0] > W.shape[1] else (matrix @ Z) @ W
