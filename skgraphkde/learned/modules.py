"""Modules: the base class of encoders that are torch modules."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from skgraphkde.computing.arrays import to_numpy
from skgraphkde.learned import (  # noqa: F401  register operations on tensors, limits in forks
    tensors,
    threads,
)
from skgraphkde.propagation import Encoder, FittedEncoder, MessageFlow


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

    def __getstate__(self) -> dict[str, Any]:
        """Parameters of the module and its weights as arrays, of which it is built again."""
        weights = {name: to_numpy(x) for name, x in self.state_dict().items()}
        names = ("specification", "in_dim", "n_relations")
        return {name: getattr(self, name) for name in names} | {"weights": weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        weights = state.pop("weights")
        built = state["specification"].build(state["in_dim"], state["n_relations"], 0)
        vars(self).update(vars(built))
        self.load_state_dict({name: torch.as_tensor(x) for name, x in weights.items()})
        self.double().eval()

    def on(self, device: Any) -> EncoderModule:
        """Copy of the module on a device."""
        return copy.deepcopy(self).to(device)
