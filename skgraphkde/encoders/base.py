"""Base classes of encoders: a specification, and the torch module that it builds.

To add an encoder, subclass both: `docs/extending.md` adds a graph isomorphism network in a short
module.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import nn

from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.persistence import check
from skgraphkde.specification import Specification


class Encoder(Specification):
    """Base class of the specifications of encoders.

    A subclass assigns its parameters in ``__init__`` and builds a module in :meth:`build`. Decorate
    it with :func:`skgraphkde.register` so that fitted detectors can be saved.
    """

    #: Whether the initial weights are random.
    is_random = True
    #: Whether `build` takes `n_relations`, and the module uses the relations of a flow.
    is_relational = False

    def build(self, in_dim: int, generator: torch.Generator | None) -> EncoderModule:
        """Build the module.

        Parameters
        ----------
        in_dim : int
            Number of node features.
        generator : torch.Generator or None
            Generator of the initial weights. None if other weights will be loaded.
        n_relations : int
            Number of directions and categories of edges; 0 if edges are not distinguished. Passed
            only if `is_relational`: other encoders use directions and edge data through the node
            features only.

        Returns
        -------
        EncoderModule
            A module on torch's default device, which the caller sets.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method build(in_dim, generator)")


class EncoderModule(nn.Module):
    """Base class of the modules that map nodes to points.

    Parameters
    ----------
    specification : Encoder
        Specification that built the module.
    in_dim : int
        Number of node features.
    out_dim : int
        Number of coordinates of a point.
    n_layers : int
        Number of message-passing layers. Nodes that this number of layers cannot distinguish share
        a point.
    """

    def __init__(self, specification: Encoder, in_dim: int, out_dim: int, n_layers: int) -> None:
        super().__init__()
        self.specification = specification
        self.in_dim, self.out_dim, self.n_layers = in_dim, out_dim, n_layers

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

    def standardize(self, flows: Iterable[MessageFlow]) -> None:
        """Set statistics of the training graphs, such as those of batch norms, after training.

        Parameters
        ----------
        flows : re-iterable of MessageFlow
            The training graphs in blocks of any size.
        """

    @property
    def is_trainable(self) -> bool:
        """True if the module has weights to train."""
        return any(True for _ in self.parameters())


def build_encoder(
    encoder: Encoder, in_dim: int, seed: int | None = None, n_relations: int = 0
) -> EncoderModule:
    """Build an encoder's module on the CPU.

    Parameters
    ----------
    encoder : Encoder
    in_dim : int
        Number of node features.
    seed : int, default=None
        Seed of the initial weights. None for an encoder without random weights.
    n_relations : int, default=0
        Number of directions and categories of edges.

    Returns
    -------
    EncoderModule

    Raises
    ------
    TypeError
        If the encoder does not build an EncoderModule.
    """
    generator = None if seed is None else torch.Generator("cpu").manual_seed(seed)
    with torch.device("cpu"):
        module = _built(encoder, in_dim, n_relations, generator)
    if not isinstance(module, EncoderModule):
        raise TypeError(
            f"{type(encoder).__name__}.build must return an EncoderModule, and returned a "
            f"{type(module).__name__}"
        )
    return module


def _built(
    encoder: Encoder, in_dim: int, n_relations: int, generator: torch.Generator | None
) -> EncoderModule:
    relational = {"n_relations": n_relations} if encoder.is_relational else {}
    return encoder.build(in_dim, generator, **relational)


def weights_of(module: EncoderModule) -> dict[str, np.ndarray]:
    """Weights of a module by name, in single precision, in which it was trained."""
    return {
        name: (x.float() if x.is_floating_point() else x).numpy(force=True)
        for name, x in module.state_dict().items()
    }


def restore_encoder(
    encoder: Encoder, in_dim: int, weights: dict[str, Any], n_relations: int = 0
) -> EncoderModule:
    """Build a module and load weights from a file.

    The shapes of the weights are checked before memory is allocated.

    Parameters
    ----------
    encoder : Encoder
    in_dim : int
        Number of node features.
    weights : dict of str -> ndarray
    n_relations : int, default=0
        Number of directions and categories of edges.

    Returns
    -------
    EncoderModule

    Raises
    ------
    ValueError
        If the weights do not fit the encoder.
    """
    with torch.device("meta"):
        module = _built(encoder, in_dim, n_relations, None)
    expected = module.state_dict()
    check(weights.keys() == expected.keys(), "the names of the encoder's weights are wrong")
    for name, x in weights.items():
        fits = x.shape == expected[name].shape and str(expected[name].dtype) == f"torch.{x.dtype}"
        check(fits, f"the encoder's weight {name} is {x.dtype} {x.shape}")
        check(np.isfinite(x).all(), f"the encoder's weight {name} is not finite")
    module.to_empty(device="cpu")
    module.load_state_dict({name: torch.tensor(x) for name, x in weights.items()})
    return module.eval()


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
