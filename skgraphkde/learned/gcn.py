"""GCN: a graph convolutional network, with message passing by DGL or torch."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from skgraphkde.core.points.propagation import MIN_VARIANCE, MessageFlow
from skgraphkde.core.specification import Interval, StrOptions, at_least
from skgraphkde.learned import dgl_backend
from skgraphkde.learned.gpu import sparse_product
from skgraphkde.learned.modules import EncoderModule, TorchEncoder


class GCN(TorchEncoder):
    """Node encoder: a graph convolutional network (Kipf and Welling, ICLR 2017).

    The encoder of the paper is Z_l = relu(BN(Ahat Z_{l-1} W_l)) with Ahat = D^-1/2 (A + I) D^-1/2,
    and dropout between layers. The weights keep their random initial values unless :class:`LGKDE`
    trains them.

    If edges have directions or categories, each of these relations r has its own weights, and
    sum_r A_r Z_{l-1} W_{l,r} is added before the batch norm, where A_r averages over a node's
    neighbors in the relation (R-GCN: Schlichtkrull et al., ESWC 2018).

    Parameters
    ----------
    hidden_dim : int, default=128
        Width of each layer, and of the node embeddings unless `out_dim` is given.
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
    out_dim : int, default=None
        Width of the last layer, and so of the node embeddings. None is `hidden_dim`.
    last_relu : bool, default=True
        Whether the last layer ends with a relu, as the others do. The code of the paper has none
        there, its text has one.
    scale_points : bool, default=False
        Whether points are divided by the root of their total variance over the nodes, so that
        kernels on their distances do not saturate, whatever the width of the network.
    device : str, default="auto"
        Device of the network: "cpu", a GPU such as "cuda", or "auto", the GPU if torch finds one.

    See Also
    --------
    Propagation : The default encoder, which has no weights.
    LGKDE : The detector that learns with this network, and can train it.

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
        "out_dim": [at_least(1, Integral), None],
        "last_relu": ["boolean"],
        "scale_points": ["boolean"],
        "device": [str],
    }

    def __init__(
        self,
        hidden_dim: int = 128,
        n_layers: int = 2,
        dropout: float = 0.2,
        batch_norm: bool = True,
        backend: str = "auto",
        out_dim: int | None = None,
        last_relu: bool = True,
        scale_points: bool = False,
        device: str = "auto",
    ) -> None:
        self.hidden_dim = hidden_dim
        self.n_layers = n_layers
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.backend = backend
        self.out_dim = out_dim
        self.last_relu = last_relu
        self.scale_points = scale_points
        self.device = device

    def _validate_values(self) -> None:
        if self.backend == "dgl" and dgl_backend.import_dgl() is None:
            raise ValueError(
                "backend='dgl' needs DGL, which is not installed or fails to import: use "
                "backend='torch', which gives the same results"
            )

    def build_module(
        self, in_dim: int, generator: torch.Generator, n_relations: int = 0
    ) -> FittedGCN:
        """Build the module, with initial weights by Glorot and Bengio (2010).

        Parameters
        ----------
        in_dim, generator, n_relations
            As for :meth:`TorchEncoder.build_module`.

        Returns
        -------
        FittedGCN
        """
        return FittedGCN(self, in_dim, generator, n_relations)


class FittedGCN(EncoderModule):
    """Graph convolutional network of :class:`GCN`.

    Parameters
    ----------
    specification : GCN
    in_dim : int
        Number of node features.
    generator : torch.Generator
        Generator of the initial weights.
    n_relations : int, default=0
        Number of directions and categories of edges.
    """

    def __init__(
        self,
        specification: GCN,
        in_dim: int,
        generator: torch.Generator,
        n_relations: int = 0,
    ) -> None:
        width = specification.hidden_dim
        n_layers = specification.n_layers
        out_dim = specification.out_dim or width
        super().__init__(specification, in_dim, out_dim, n_layers)
        self.dropout = specification.dropout
        self.backend = specification.backend
        self.last_relu = specification.last_relu
        self.scale_points = specification.scale_points
        self.register_buffer("scale", torch.ones(()))
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
        Z = self._pass(flow, self.n_layers, generator)
        if self.scale_points and self.training:
            share = self._tensor(flow.counts[-1] / flow.counts[-1].sum())
            return Z / _root_of_total_variance(share @ (Z - share @ Z) ** 2)
        return Z / self.scale

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
            means = flow.relation_means[layer][r * len(H) : (r + 1) * len(H)]
            weight = self.relation_weights[layer * self.n_relations + r]
            H = H + graph_convolution(means, Z, weight, self.backend)
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
        """Set the statistics of batch norms, and the scale, to those of all nodes.

        It switches to evaluation mode.

        Running averages are not used: they lag behind the weights, depend on the order of the
        batches, and do not exist without training.
        """
        self.eval()
        for layer, norm in enumerate(self.norms):
            if not isinstance(norm, nn.BatchNorm1d):
                break
            norm.running_mean, norm.running_var = _column_moments(
                (self._convolve(layer, flow, self._pass(flow, layer)), flow.counts[layer + 1])
                for flow in flows
            )
        if self.scale_points:
            _, variances = _column_moments(
                (self._pass(flow, self.n_layers), flow.counts[-1]) for flow in flows
            )
            self.scale = _root_of_total_variance(variances)


def _root_of_total_variance(variances: torch.Tensor) -> torch.Tensor:
    """Root of the sum of the variances of columns; 1 if points are equal up to rounding."""
    total = variances.sum()
    return torch.where(total > MIN_VARIANCE, total, torch.ones_like(total)).sqrt()


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
    n_nodes = 0
    total = torch.zeros(())
    squares = torch.zeros(())
    center = torch.zeros(())
    for number, (H, counts) in enumerate(blocks):
        weights = torch.tensor(counts).to(H.device, torch.float64)
        rows = H.double()
        if number == 0:  # squares of numbers far from 0 would leave nothing of a small variance
            center = rows.mean(0)
        rows = rows - center
        n_nodes = n_nodes + counts.sum()
        total = total + weights @ rows
        squares = squares + weights @ rows**2
    mean = total / n_nodes
    variance = (squares / n_nodes - mean**2).clamp_min(0)
    return (center + mean).to(H.dtype), variance.to(H.dtype)


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
    # The messages have the smaller of the two widths.
    if W.shape[0] > W.shape[1]:
        return sparse_product(adjacency, Z @ W)
    return sparse_product(adjacency, Z) @ W
