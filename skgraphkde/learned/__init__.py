"""Learned: everything that needs torch: GCN, training, and engines for tensors.

No other room imports torch, and this one only where it is used: specifications do without.
"""

from typing import Any

from skgraphkde.learned.contrastive import Contrastive
from skgraphkde.learned.gcn import GCN
from skgraphkde.learned.torch_encoder import TorchEncoder
from skgraphkde.learned.twins import SpectralEdges, Twins

__all__ = [
    "GCN",
    "Contrastive",
    "EncoderModule",
    "SpectralEdges",
    "TorchEncoder",
    "Twins",
]


def __getattr__(name: str) -> Any:
    if name == "EncoderModule":
        from skgraphkde.learned.modules import EncoderModule

        return EncoderModule
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
