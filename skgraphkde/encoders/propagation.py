"""Propagation: node features and their averages over neighborhoods, without weights."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from numbers import Integral

import numpy as np
import torch

from skgraphkde.computing.sparse import CSRMatrix
from skgraphkde.encoders.base import Encoder, EncoderModule, column_moments
from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.persistence import register
from skgraphkde.specification import at_least

# A variance below this, or below this share of the squared mean, is a rounding error.
_CONSTANT = 1e-12
# Largest number of columns that the relations add to a layer.
_MOST_COLUMNS = 64


@register
class Propagation(Encoder):
    """Node encoder: node features and their averages over neighborhoods, all standardized.

    It is a graph convolution without weights (Wu et al., ICML 2019) with concatenated layers (Xu et
    al., ICML 2018): X_l = S(Ahat X_{l-1}), X_0 = S(X), where S standardizes the columns over all
    training nodes and Ahat = D^-1/2 (A + I) D^-1/2. The embedding is [X_0, ..., X_L], scaled to a
    total variance of 1.

    If edges have directions or categories, X_l also has the averages of X_{l-1} over the neighbors
    in each relation, that is, in each direction and category (Barcelo et al., LoG 2022; Rossi et
    al., LoG 2023). More than 64 such columns are projected to 64 by random signs, which are the
    same in every fit and preserve distances (Johnson and Lindenstrauss, 1984). The signs depend on
    the order of the columns, and thus on the names of categories: renaming categories can then
    change scores slightly.

    Parameters
    ----------
    n_layers : int, default=2
        Number of averages L, at least 0. With 0 the points are the node features.

    See Also
    --------
    GCN : An encoder with weights, which can be trained.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Propagation
    >>> GraphKDEDetector(encoder=Propagation(n_layers=1)).get_params()["encoder__n_layers"]
    1
    """

    is_random = False
    is_relational = True

    _parameter_constraints: dict = {"n_layers": [at_least(0, Integral)]}

    def __init__(self, n_layers: int = 2) -> None:
        self.n_layers = n_layers

    def build(
        self, in_dim: int, generator: torch.Generator | None, n_relations: int = 0
    ) -> PropagationModule:
        """Build the module, which has no random weights.

        Parameters
        ----------
        in_dim, generator, n_relations
            As for :meth:`Encoder.build`; `generator` is not used.

        Returns
        -------
        PropagationModule
        """
        return PropagationModule(self, in_dim, n_relations)


class PropagationModule(EncoderModule):
    """Module of :class:`Propagation`.

    Parameters
    ----------
    specification : Propagation
    in_dim : int
        Number of node features.
    n_relations : int, default=0
        Number of directions and categories of edges.
    """

    means: torch.Tensor
    scales: torch.Tensor
    total_scale: torch.Tensor

    def __init__(self, specification: Propagation, in_dim: int, n_relations: int = 0) -> None:
        n_layers = specification.n_layers
        dims = [in_dim]
        for _ in range(n_layers):
            dims.append(dims[-1] + min(n_relations * dims[-1], _MOST_COLUMNS))
        super().__init__(specification, in_dim, sum(dims), n_layers)
        self.n_relations, self.dims = n_relations, tuple(dims)
        self.register_buffer("means", torch.zeros(self.out_dim))
        self.register_buffer("scales", torch.ones(self.out_dim))
        self.register_buffer("total_scale", torch.ones(()))

    def forward(self, flow: MessageFlow, generator: torch.Generator | None = None) -> torch.Tensor:
        """Embed the nodes.

        Parameters
        ----------
        flow : MessageFlow
        generator : torch.Generator, default=None
            Not used.

        Returns
        -------
        Tensor of shape (len(flow.colors), out_dim)
        """
        return self._pass(flow, self.n_layers) / self.total_scale

    def _pass(self, flow: MessageFlow, n_layers: int) -> torch.Tensor:
        """[X_0, ..., X_l] after the first `n_layers` layers."""
        X = torch.tensor(flow.features, dtype=self.means.dtype, device=self.means.device)
        means, scales = self.means.split(self.dims), self.scales.split(self.dims)
        Z = X = (X - means[0]) / scales[0]
        for layer in range(1, n_layers + 1):
            own = CSRMatrix(flow.normalized_adjacencies[layer - 1], X) @ X
            X = torch.cat([own, *self._relations(flow, layer, X)], dim=1)
            X = (X - means[layer]) / scales[layer]
            parents = torch.from_numpy(flow.parents[layer - 1]).to(Z.device)
            Z = torch.cat([Z[parents], X], dim=1)
        return Z

    def _relations(self, flow: MessageFlow, layer: int, X: torch.Tensor) -> list[torch.Tensor]:
        """Averages of X over the neighbors in each relation; many columns are projected."""
        if not self.n_relations:
            return []
        averages = flow.relation_means[layer - 1]
        if self.n_relations * X.shape[1] <= _MOST_COLUMNS:
            return [CSRMatrix(average, X) @ X for average in averages]
        projections = X.new_tensor(_signs(self.n_relations, X.shape[1]))
        total = X.new_zeros(())
        for average, P in zip(averages, projections, strict=True):
            total = total + CSRMatrix(average, X) @ (X @ P)
        return [total]

    @torch.no_grad()
    def standardize(self, flows: Iterable[MessageFlow]) -> None:
        """Set means and scales to those of all nodes, layer by layer; constants are not scaled."""
        self.means.zero_()
        self.scales.fill_(1)
        means, scales = self.means.split(self.dims), self.scales.split(self.dims)
        n_varying = torch.zeros((), device=self.means.device)
        for layer, dim in enumerate(self.dims):
            mean, variance = column_moments(
                (self._pass(flow, layer)[:, -dim:], flow.counts[layer]) for flow in flows
            )
            # Averaged columns had variance 1, or contain only rounding errors.
            varies = variance > _CONSTANT * (1 if layer else mean**2)
            means[layer].copy_(mean)
            scales[layer].copy_(torch.where(varies, variance.sqrt(), 1.0))
            n_varying += varies.sum()
        self.total_scale.copy_(n_varying.clamp_min(1).sqrt())


@cache
def _signs(n_relations: int, dim: int) -> np.ndarray:
    """Random signs, shape (n_relations, dim, _MOST_COLUMNS), with columns of length 1."""
    rng = np.random.default_rng(0)  # part of the method, independent of the user's seed
    signs = rng.choice([-1.0, 1.0], (n_relations, dim, _MOST_COLUMNS))
    return signs / np.sqrt(_MOST_COLUMNS)
