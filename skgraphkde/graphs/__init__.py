"""Read graphs of many kinds into one array type, GraphBatch."""

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.readers import read_graphs

__all__ = ["GraphBatch", "read_graphs"]
