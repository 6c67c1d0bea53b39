"""GCN: a graph convolutional network with message passing by DGL or torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.utils._param_validation import Interval, StrOptions
from torch import nn

from skgraphkde.computing.sparse import CSRMatrix
from skgraphkde.encoders import dgl_backend
from skgraphkde.encoders.base import Encoder, EncoderModule, column_moments
from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.persistence import register
from skgraphkde.specification import at_least

Convolution = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@register
class GCN(Encoder):
    """Node encoder: a graph convolutional network (Kipf and Welling, ICLR 2017).

    The encoder of the paper is Z_l = relu(BN(Ahat Z_{l-1} W_l)) with Ahat = D^-1/2 (A + I) D^-1/2,
    and dropout between layers. Without ``training`` the weights keep their random initial values.

    If edges have directions or categories, each of these relations r has its own weights, and
    sum_r A_r Z_{l-1} W_{l,r} is added before the batch norm, where A_r averages over a node's
    neighbors in the relation (R-GCN: Schlichtkrull et al., ESWC 2018).

    Parameters
    ----------
    hidden_dim : int, default=128
        Width of each layer, and of the node embeddings.
    n_layers : int, default=2
        Number of graph convolutions, at least 1.
    dropout : float, default=0.2
        Share of the activations dropped between layers in training, in [0, 1). Nodes of a batch
        that the encoder cannot distinguish share a dropout mask, so that they share a point.
    batch_norm : bool, default=True
        Whether each layer standardizes its columns over the nodes. Outside of training it uses the
        exact statistics of the training nodes, so that a score depends on the graph alone.
    backend : {"auto", "dgl", "torch"}, default="auto"
        Library for message passing. "auto" is DGL if it has a build for the device, otherwise
        torch. Both start from the same weights, but sum in different orders, so that the trained
        weights differ.

    See Also
    --------
    Propagation : The default encoder, which has no weights.
    Contrastive : Training of the encoder.

    Examples
    --------
    >>> from skgraphkde import GCN, GraphKDEDetector
    >>> GraphKDEDetector(encoder=GCN(hidden_dim=32, batch_norm=False))
    GraphKDEDetector(encoder=GCN(batch_norm=False, hidden_dim=32))
    """

    is_relational = True

    _parameter_constraints: dict = {
        "hidden_dim": [at_least(1, Integral)],
        "n_layers": [at_least(1, Integral)],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "batch_norm": ["boolean"],
        "backend": [StrOptions({"auto", "dgl", "torch"})],
    }

    def __init__(
        self,
        hidden_dim: int = 128,
        n_layers: int = 2,
        dropout: float = 0.2,
        batch_norm: bool = True,
        backend: str = "auto",
    ) -> None:
        self.hidden_dim = hidden_dim
        self.n_layers = n_layers
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.backend = backend

    def _validate_values(self) -> None:
        if self.backend == "dgl" and dgl_backend.import_dgl() is None:
            raise ValueError(
                "backend='dgl' needs DGL, which is not installed or fails to import: use "
                "backend='torch', which gives the same results"
            )

    def build(
        self, in_dim: int, generator: torch.Generator | None, n_relations: int = 0
    ) -> GCNModule:
        """Build the module, with initial weights by Glorot and Bengio (2010).

        Parameters
        ----------
        in_dim, generator, n_relations
            As for :meth:`Encoder.build`.

        Returns
        -------
        GCNModule
        """
        return GCNModule(self, in_dim, generator, n_relations)


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
        specification: GCN,
        in_dim: int,
        generator: torch.Generator | None,
        n_relations: int = 0,
    ) -> None:
        width, n_layers = specification.hidden_dim, specification.n_layers
        super().__init__(specification, in_dim, width, n_layers)
        self.dropout, self.backend = specification.dropout, specification.backend
        dims = list(pairwise([in_dim] + [width] * n_layers))
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
            nn.BatchNorm1d(width) if specification.batch_norm else nn.Identity()
            for _ in self.weights
        )

    def forward(self, flow: MessageFlow, generator: torch.Generator | None = None) -> torch.Tensor:
        """Embed the nodes, shape (len(flow.colors), hidden_dim).

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
        H = graph_convolution(adjacency, Z, self.backend)(Z, self.weights[layer])
        for r in range(self.n_relations):
            weight = self.relation_weights[layer * self.n_relations + r]
            average = flow.relation_means[layer][r]
            H = H + graph_convolution(average, Z, self.backend)(Z, weight)
        return H

    def _activate(self, layer: int, H: torch.Tensor, counts: np.ndarray) -> torch.Tensor:
        """relu(BN(H)), with batch norm weighted by the number of nodes of each row."""
        norm = self.norms[layer]
        if not (self.training and isinstance(norm, nn.BatchNorm1d)):
            return torch.relu(norm(H))
        share = self._tensor(counts / counts.sum())
        H = H - share @ H
        scale = norm.weight * torch.rsqrt(share @ H**2 + norm.eps)
        return torch.relu(H * scale + norm.bias)

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
            norm.running_mean, norm.running_var = column_moments(
                (self._convolve(layer, flow, self._pass(flow, layer)), flow.counts[layer + 1])
                for flow in flows
            )


def graph_convolution(
    adjacency: sp.csr_array, like: torch.Tensor, backend: str = "auto"
) -> Convolution:
    """Make the map ``(Z, W) -> adjacency @ Z @ W``.

    Parameters
    ----------
    adjacency : csr_array of shape (m, n)
    like : Tensor
        Sets the dtype and the device.
    backend : {"auto", "dgl", "torch"}
        "auto" is DGL if it can compute on the device.

    Returns
    -------
    callable
    """
    if backend == "dgl" or (backend == "auto" and dgl_backend.supports(like.device)):
        return dgl_backend.graph_convolution(adjacency, like)
    matrix = CSRMatrix(adjacency, like)

    def convolve(Z: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
        # The messages have the smaller of the two widths.
        return matrix @ (Z @ W) if W.shape[0] > W.shape[1] else (matrix @ Z) @ W

    return convolve
