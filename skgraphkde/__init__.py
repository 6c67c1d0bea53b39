"""Which of these graphs is not like the others? The public names, and nothing else."""

from skgraphkde._version import __version__
from skgraphkde.detector import PAPER, GraphKDEDetector
from skgraphkde.features import NodeFeatures
from skgraphkde.graphs import GraphBatch
from skgraphkde.persistence import load
from skgraphkde.readers import read_graphs

__all__ = [
    "PAPER",
    "GraphBatch",
    "GraphKDEDetector",
    "NodeFeatures",
    "__version__",
    "load",
    "read_graphs",
]
