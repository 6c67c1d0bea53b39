"""Which of these graphs is not like the others? The public names, imported when first used."""

import importlib
from typing import TYPE_CHECKING, Any

from skgraphkde._torch import HAS_TORCH, needs_torch
from skgraphkde._version import __version__

if TYPE_CHECKING:
    from skgraphkde.core.distances import MMD, Distance, FittedDistance
    from skgraphkde.core.graphs import GraphBatch, GraphSchema
    from skgraphkde.core.points.features import NodeFeatures
    from skgraphkde.core.points.propagation import Encoder, FittedEncoder, Propagation
    from skgraphkde.core.scoring.calibration import LeaveOneOut, Split
    from skgraphkde.core.views import (
        KDE,
        Density,
        Namesakes,
        Neighbors,
        Novelty,
        Numbers,
        Statistics,
        Tanimoto,
        View,
    )
    from skgraphkde.detectors import BaseGraphDetector, GraphKDEDetector
    from skgraphkde.learned import (
        GCN,
        LGKDE,
        EncoderModule,
        TorchEncoder,
    )
    from skgraphkde.page import report
    from skgraphkde.reading import read_graphs, read_log, read_tables
    from skgraphkde.saving import InvalidFileError, load

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
    "IgnoredWarning",
    "InvalidFileError",
    "LeaveOneOut",
    "Namesakes",
    "Neighbors",
    "NodeFeatures",
    "Novelty",
    "Numbers",
    "Propagation",
    "Split",
    "Statistics",
    "Tanimoto",
    "TorchEncoder",
    "UnseenCategoryWarning",
    "View",
    "__version__",
    "load",
    "read_graphs",
    "read_log",
    "read_tables",
    "report",
]

_NEED_TORCH = ("GCN", "LGKDE", "EncoderModule", "TorchEncoder")
if not HAS_TORCH:  # so that `from skgraphkde import *` imports the others
    __all__ = [name for name in __all__ if name not in _NEED_TORCH]

# scikit-learn and numba take seconds to import. These are searched in this order.
_ROOMS = (
    "core.graphs",
    "reading",
    "saving",
    "core.points.features",
    "core.points.propagation",
    "core.distances",
    "core.views",
    "core.scoring.calibration",
    "detectors",
    "learned",
    "page",
)
_SUBMODULES = (
    *("core", "datasets", "detectors", "explanation", "learned", "model_selection", "monitoring"),
    *("page", "plots", "reading"),
)


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
