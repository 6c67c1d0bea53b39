"""Learned: the only room with torch: a network, its training, and MMDs on a GPU.

torch is imported by what needs it: the network, and the training when it begins.
"""

import importlib
from typing import Any

from skgraphkde.learned.contrastive import Contrastive
from skgraphkde.learned.twins import SpectralEdges, Twins

_TORCH = {
    "GCN": "gcn",
    "EncoderModule": "modules",
    "TorchEncoder": "modules",
    "TorchMMD": "gpu",
    "train": "trainer",
}

__all__ = [
    "GCN",
    "Contrastive",
    "EncoderModule",
    "SpectralEdges",
    "TorchEncoder",
    "TorchMMD",
    "Twins",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(f"{__name__}.{_TORCH[name]}")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(
            f"{name} needs torch, which is not installed: pip install 'skgraphkde[gcn]'"
        ) from error
    return getattr(module, name)
