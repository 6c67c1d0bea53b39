"""Modules: base classes of encoders that are torch modules; they hand NumPy arrays back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from skgraphkde.core.points.propagation import Encoder, FittedEncoder, MessageFlow
from skgraphkde.learned.gpu import device_or_cpu, find_device

# A forked child inherits torch's number of threads, and waits forever for those of its parent.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=partial(torch.set_num_threads, 1))


class TorchEncoder(Encoder):
    """Base class of the specifications of encoders that are torch modules.

    A subclass assigns its parameters in ``__init__`` and builds a module, an
    :class:`EncoderModule`, in :meth:`build_module`.
    """

    is_random = True
    #: Whether `build_module` takes `n_relations`, and the module uses the relations of a flow.
    is_relational = False
    #: Device of the module: "cpu", a GPU such as "cuda", or "auto", the GPU if torch finds one.
    device = "auto"

    def build_module(self, in_dim: int, generator: torch.Generator) -> EncoderModule:
        """Build the module.

        Parameters
        ----------
        in_dim : int
            Number of node features.
        generator : torch.Generator
            Generator of the initial weights.
        n_relations : int
            Number of directions and categories of edges; 0 if edges are not distinguished. Passed
            only if `is_relational`: other encoders use directions and edge data through the node
            features only.

        Returns
        -------
        EncoderModule
        """
        name = type(self).__name__
        raise NotImplementedError(f"{name} has no method build_module(in_dim, generator)")

    def build(self, in_dim: int, n_relations: int = 0, seed: int | None = None) -> EncoderModule:
        """Build the module on its device, see :meth:`Encoder.build`.

        Parameters
        ----------
        in_dim, n_relations, seed
            As for :meth:`Encoder.build`.

        Returns
        -------
        EncoderModule

        Raises
        ------
        TypeError
            If `build_module` does not return an EncoderModule.
        ValueError
            If torch does not find the device.
        """
        return self._built(in_dim, n_relations, seed or 0).to(find_device(self.device))

    def _built(self, in_dim: int, n_relations: int, seed: int) -> EncoderModule:
        relational = {"n_relations": n_relations} if self.is_relational else {}
        module = self.build_module(in_dim, torch.Generator().manual_seed(seed), **relational)
        if not isinstance(module, EncoderModule):
            raise TypeError(
                f"{type(self).__name__}.build_module must return an EncoderModule, and returned a "
                f"{type(module).__name__}"
            )
        module.n_relations = relational.get("n_relations", 0)
        return module


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

    n_relations: int

    def __init__(
        self, specification: TorchEncoder, in_dim: int, out_dim: int, n_layers: int
    ) -> None:
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
        Z = self(flow, generator)
        shape = (len(flow.colors), self.out_dim)
        if not isinstance(Z, torch.Tensor) or Z.shape != shape:
            raise TypeError(
                f"{type(self).__name__}.forward must return a tensor of shape {shape}, and "
                f"returned a {type(Z).__name__} of shape {tuple(np.shape(Z))}"
            )
        return Z

    @torch.no_grad()
    def encode(self, flow: MessageFlow) -> np.ndarray:
        """Embed the nodes without gradients, see :meth:`FittedEncoder.encode`."""
        return self.points(flow).double().numpy(force=True)

    def prepare(self, flows: Sequence[MessageFlow]) -> None:
        """Set the statistics of the training graphs in double precision, and stop training."""
        self.double()
        self.standardize(flows)
        self.float().double().eval()  # their rounding is part of the method

    def __getstate__(self) -> dict[str, Any]:
        """Parameters of the module and its weights as arrays, of which it is built again."""
        weights = {name: x.numpy(force=True) for name, x in self.state_dict().items()}
        names = ("specification", "in_dim", "n_relations")
        return {name: getattr(self, name) for name in names} | {"weights": weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        weights = state.pop("weights")
        specification = state["specification"]
        if not isinstance(specification, TorchEncoder):  # of a file, it may be anything
            raise TypeError(f"a {type(specification).__name__} in place of a TorchEncoder")
        built = specification._built(state["in_dim"], state["n_relations"], 0)
        vars(self).update(vars(built))
        self.load_state_dict({name: torch.as_tensor(x) for name, x in weights.items()})
        self.to(device_or_cpu(specification.device), torch.float64).eval()
