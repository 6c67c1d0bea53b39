"""TorchEncoder: the base class of specifications of encoders that are torch modules."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from skgraphkde.propagation import Encoder


class TorchEncoder(Encoder):
    """Base class of the specifications of encoders that are torch modules.

    A subclass assigns its parameters in ``__init__`` and builds a module, an
    :class:`EncoderModule`, in :meth:`build_module`. Decorate it with :func:`skgraphkde.register` so
    that fitted detectors can be saved.
    """

    is_random = True
    #: Whether `build_module` takes `n_relations`, and the module uses the relations of a flow.
    is_relational = False

    def _validate_values(self) -> None:
        check_torch(f"encoder={self!r}")

    def build_module(self, in_dim: int, generator: Any) -> Any:
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
        name = type(self).__name__
        raise NotImplementedError(f"{name} has no method build_module(in_dim, generator)")

    def build(self, in_dim: int, n_relations: int = 0, seed: int | None = None) -> Any:
        """Build the module on the CPU, see :meth:`Encoder.build`.

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
        """
        import torch

        generator = None if seed is None else torch.Generator("cpu").manual_seed(seed)
        with torch.device("cpu"):
            return self._built(in_dim, n_relations, generator)

    def _built(self, in_dim: int, n_relations: int, generator: Any) -> Any:
        from skgraphkde.learned.modules import EncoderModule

        relational = {"n_relations": n_relations} if self.is_relational else {}
        module = self.build_module(in_dim, generator, **relational)
        if not isinstance(module, EncoderModule):
            raise TypeError(
                f"{type(self).__name__}.build_module must return an EncoderModule, and returned a "
                f"{type(module).__name__}"
            )
        module.n_relations = n_relations  # type: ignore[assignment]
        return module


def check_torch(what: str) -> None:
    """Raise an ImportError that says how to install torch, if it is not installed.

    Parameters
    ----------
    what : str
        The parameter that needs torch.
    """
    if find_spec("torch") is None:
        raise ImportError(
            f"{what} needs torch, which is not installed: pip install 'skgraphkde[gcn]'"
        )
