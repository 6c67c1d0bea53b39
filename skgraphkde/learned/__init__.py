"""Learned: the only room with torch: LGKDE, its network and training, and MMDs on a GPU.

torch is imported by what needs it: the network, and the training when it begins.
"""

import importlib
from typing import Any

from skgraphkde._torch import HAS_TORCH, needs_torch

_TORCH = {
    "GCN": "gcn",
    "LGKDE": "lgkde",
    "EncoderModule": "modules",
    "TorchEncoder": "modules",
    "TorchMMD": "gpu",
    "train": "trainer",
}

__all__ = [
    "GCN",
    "LGKDE",
    "EncoderModule",
    "TorchEncoder",
    "TorchMMD",
    "train",
]
if not HAS_TORCH:
    __all__ = [name for name in __all__ if name not in _TORCH]


def __getattr__(name: str) -> Any:
    if name not in _TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not HAS_TORCH:
        raise needs_torch(name)
    return getattr(importlib.import_module(f"{__name__}.{_TORCH[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
