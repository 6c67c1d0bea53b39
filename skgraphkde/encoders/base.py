"""Base classes of encoders: a specification, and the fitted encoder that it builds.

An encoder that is a torch module has base classes of its own, in `learned/`: `docs/extending.md`
adds a graph isomorphism network in a short module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.specification import Specification


class Encoder(Specification):
    """Base class of the specifications of encoders.

    A subclass assigns its parameters in ``__init__`` and builds a fitted encoder in :meth:`build`.
    Decorate it with :func:`skgraphkde.register` so that fitted detectors can be saved.
    """

    #: Whether the initial weights are random.
    is_random = False

    def build(self, in_dim: int, n_relations: int = 0, seed: int | None = None) -> FittedEncoder:
        """Build the encoder.

        Parameters
        ----------
        in_dim : int
            Number of node features.
        n_relations : int, default=0
            Number of directions and categories of edges; 0 if edges are not distinguished.
        seed : int, default=None
            Seed of the initial weights. None if they are not random, or will be replaced.

        Returns
        -------
        FittedEncoder
        """
        raise NotImplementedError(f"{type(self).__name__} has no method build(in_dim, ...)")


class FittedEncoder:
    """Base class of encoders with their weights, which map nodes to points.

    Parameters
    ----------
    specification : Encoder
        Specification that built the encoder.
    in_dim : int
        Number of node features.
    out_dim : int
        Number of coordinates of a point.
    n_layers : int
        Number of message-passing layers. Nodes that this number of layers cannot distinguish share
        a point.
    """

    #: True if the encoder has weights to train.
    is_trainable = False
    #: True if the encoder is a torch module.
    is_torch = False

    def __init__(self, specification: Encoder, in_dim: int, out_dim: int, n_layers: int) -> None:
        self.specification = specification
        self.in_dim, self.out_dim, self.n_layers = in_dim, out_dim, n_layers

    def encode(self, flow: MessageFlow) -> Any:
        """Embed the nodes.

        Parameters
        ----------
        flow : MessageFlow

        Returns
        -------
        ndarray of shape (len(flow.colors), out_dim)
            One point for each color of nodes, in double precision; a tensor on a GPU.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method encode(flow)")

    def standardize(self, flows: Sequence[MessageFlow]) -> None:
        """Set statistics of the training graphs, such as those of batch norms, after training.

        Parameters
        ----------
        flows : sequence of MessageFlow
            The training graphs in blocks of any size.
        """

    def prepare(self, flows: Sequence[MessageFlow]) -> None:
        """Set the statistics of the training graphs, and be ready to score."""
        self.standardize(flows)

    def on(self, device: Any) -> FittedEncoder:
        """Copy of the encoder on a torch device; by default, the encoder itself."""
        return self
