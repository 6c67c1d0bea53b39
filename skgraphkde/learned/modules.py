"""Modules: the base class of encoders that are torch modules, and a model that can be trained."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from skgraphkde.computing.arrays import to_numpy
from skgraphkde.density.model import DensityModel, EmbeddedGraphs
from skgraphkde.encoders.base import Encoder, FittedEncoder
from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.learned import tensors  # noqa: F401  registers the operations on tensors
from skgraphkde.learned.threads import one_torch_thread_in_forks


class EncoderModule(nn.Module, FittedEncoder):
    """Base class of the torch modules that map nodes to points.

    Parameters
    ----------
    specification : TorchEncoder
        Specification that built the module.
    in_dim : int
        Number of node features.
    out_dim : int
        Number of coordinates of a point.
    n_layers : int
        Number of message-passing layers. Nodes that this number of layers cannot distinguish share
        a point.
    """

    is_torch = True

    def __init__(self, specification: Encoder, in_dim: int, out_dim: int, n_layers: int) -> None:
        nn.Module.__init__(self)
        FittedEncoder.__init__(self, specification, in_dim, out_dim, n_layers)

    def forward(self, flow: MessageFlow, generator: torch.Generator | None = None) -> torch.Tensor:
        """Embed the nodes.

        Parameters
        ----------
        flow : MessageFlow
        generator : torch.Generator, default=None
            Generator of random values in training mode, such as dropout.

        Returns
        -------
        Tensor of shape (len(flow.colors), out_dim)
            One point for each color of nodes.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method forward(flow, generator)")

    def points(self, flow: MessageFlow, generator: torch.Generator | None = None) -> torch.Tensor:
        """Embed the nodes, and check the result of :meth:`forward`."""
        one_torch_thread_in_forks()
        Z, shape = self(flow, generator), (len(flow.colors), self.out_dim)
        if not isinstance(Z, torch.Tensor) or Z.shape != shape:
            raise TypeError(
                f"{type(self).__name__}.forward must return a tensor of shape {shape}, and "
                f"returned a {type(Z).__name__} of shape {tuple(np.shape(Z))}"
            )
        return Z

    @torch.no_grad()
    def encode(self, flow: MessageFlow) -> Any:
        """Embed the nodes without gradients, see :meth:`FittedEncoder.encode`."""
        Z = self.points(flow).double()
        return Z.numpy() if Z.device.type == "cpu" else Z

    def prepare(self, flows: Sequence[MessageFlow]) -> None:
        """Set the statistics of the training graphs in double precision, and stop training."""
        self.double()
        self.standardize(flows)
        self.float().double().eval()  # files store single precision

    @property
    def is_trainable(self) -> bool:  # type: ignore[override]
        """True if the module has weights to train."""
        return any(True for _ in self.parameters())

    def saved_weights(self) -> dict[str, np.ndarray]:
        """Weights by name, in single precision, in which they were trained."""
        return {
            name: to_numpy(x.float() if x.is_floating_point() else x)
            for name, x in self.state_dict().items()
        }

    def empty_weights(self) -> dict[str, np.ndarray]:
        """Arrays with the shapes and types of :meth:`saved_weights`, which take no memory."""
        return {
            name: np.broadcast_to(np.zeros((), str(x.dtype).removeprefix("torch.")), x.shape)
            for name, x in self.state_dict().items()
        }

    def load_weights(self, weights: dict[str, np.ndarray]) -> None:
        """Load weights that :meth:`saved_weights` returned."""
        self.load_state_dict({name: torch.tensor(x) for name, x in weights.items()})

    def on(self, device: Any) -> EncoderModule:
        """Copy of the module on a device."""
        return copy.deepcopy(self).to(device)


class TrainableModel(nn.Module):
    """A density model with the weights that are trained: those of the encoder, and the mixtures.

    Points are tensors in single precision, with gradients where torch records them.

    Parameters
    ----------
    model : DensityModel
        Its densities get the weights of this module as logits, until :meth:`finish`.
    device : torch.device or str
    learn_weights : bool
        Whether the mixture weights are trained.

    Attributes
    ----------
    density : DensityModel
        The same densities, with an encoder whose points are tensors.
    generator : torch.Generator or None
        Generator of dropout masks.
    """

    def __init__(
        self, model: DensityModel, device: torch.device | str, *, learn_weights: bool
    ) -> None:
        super().__init__()
        self.encoder = model.encoder
        self.logits = nn.ParameterList(
            nn.Parameter(torch.tensor(density.kde.logits).float(), requires_grad=learn_weights)
            for density in model.densities
        )
        self.to(device)
        for density, logits in zip(model.densities, self.logits, strict=True):
            density.kde.logits = logits
        self.density = DensityModel(_TensorEncoder(self), model.densities)
        self.generator: torch.Generator | None = None

    @property
    def device(self) -> torch.device:
        """Device of the weights."""
        return self.logits[0].device

    def log_density(
        self,
        queries: EmbeddedGraphs,
        references: EmbeddedGraphs,
        left_out: np.ndarray | None = None,
    ) -> torch.Tensor:
        """Log densities of graphs under references.

        Parameters
        ----------
        queries, references : EmbeddedGraphs
            If they are the same object, the cost is half.
        left_out : ndarray of shape (n_queries, n_references), bool, default=None
            Excluded references.

        Returns
        -------
        Tensor of shape (n_densities, n_queries)
        """
        of_densities = [
            density(queries.clouds(i), references.clouds(i), left_out)
            for i, density in enumerate(self.density.densities)
        ]
        return torch.stack(of_densities)

    def embed(self, graphs: GraphBatch) -> EmbeddedGraphs:
        """Embed graphs that carry their node features."""
        return self.density.embed(graphs)

    def finish(self) -> None:
        """Give the trained weights to the density model, as arrays."""
        for density in self.density.densities:
            density.kde.logits = to_numpy(density.kde.logits).astype(float)
        if isinstance(self.encoder, EncoderModule):
            self.encoder.eval()


class _TensorEncoder(FittedEncoder):
    """Encoder of a trainable model, whose points are tensors in single precision."""

    def __init__(self, model: TrainableModel) -> None:
        encoder: FittedEncoder = model.encoder
        super().__init__(encoder.specification, encoder.in_dim, encoder.out_dim, encoder.n_layers)
        self.model = [model]  # in a list, as the model contains this encoder

    def encode(self, flow: MessageFlow) -> torch.Tensor:
        model, encoder = self.model[0], self.model[0].encoder
        if isinstance(encoder, EncoderModule):
            return encoder.points(flow, model.generator)
        return torch.tensor(encoder.encode(flow), dtype=torch.float32, device=model.device)


def column_moments(
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
