"""Which of these graphs is not like the others? The public names, imported when first used."""

import importlib
from typing import TYPE_CHECKING, Any

from skgraphkde._torch import HAS_TORCH, needs_torch
from skgraphkde._version import __version__

if TYPE_CHECKING:
    from skgraphkde.calibration import LeaveOneOut, Split
    from skgraphkde.detectors import BaseGraphDetector, GraphKDEDetector
    from skgraphkde.distances import MMD, Distance, FittedDistance
    from skgraphkde.features import NodeFeatures
    from skgraphkde.graphs import GraphBatch, GraphSchema, read_graphs, read_tables
    from skgraphkde.learned import (
        GCN,
        LGKDE,
        EncoderModule,
        TorchEncoder,
    )
    from skgraphkde.propagation import Encoder, FittedEncoder, Propagation
    from skgraphkde.reporting import report
    from skgraphkde.saving import InvalidFileError, load
    from skgraphkde.views import (
        KDE,
        Density,
        Neighbors,
        Novelty,
        Numbers,
        Statistics,
        Tanimoto,
        View,
    )

__all__ = [
    "GCN",
    "KDE",
    "LGKDE",
    "MMD",
    "BaseGraphDetector",
    "Density",
    "Distance",
    "Encoder",
    "EncoderModule",
    "FittedDistance",
    "FittedEncoder",
    "GraphBatch",
    "GraphKDEDetector",
    "GraphSchema",
    "InvalidFileError",
    "LeaveOneOut",
    "Neighbors",
    "NodeFeatures",
    "Novelty",
    "Numbers",
    "Propagation",
    "Split",
    "Statistics",
    "Tanimoto",
    "TorchEncoder",
    "View",
    "__version__",
    "load",
    "read_graphs",
    "read_tables",
    "report",
]

_NEED_TORCH = ("GCN", "LGKDE", "EncoderModule", "TorchEncoder")
if not HAS_TORCH:  # so that `from skgraphkde import *` imports the others
    __all__ = [name for name in __all__ if name not in _NEED_TORCH]

# scikit-learn and numba take seconds to import. These are searched in this order.
_ROOMS = (
    "graphs",
    "saving",
    "features",
    "propagation",
    "distances",
    "views",
    "calibration",
    "detectors",
    "learned",
    "reporting",
)
_SUBMODULES = (*_ROOMS, "explanation", "monitoring", "model_selection", "plots", "datasets")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"skgraphkde.{name}")
    if name in __all__:
        for room in _ROOMS:
            module = importlib.import_module(f"skgraphkde.{room}")
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    if name in _NEED_TORCH:
        raise needs_torch(name)
    raise AttributeError(f"module 'skgraphkde' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
