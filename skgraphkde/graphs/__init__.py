"""Read graphs of many kinds into one array type, GraphBatch."""

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.readers import read_graphs
from skgraphkde.graphs.schema import FittedSchema, GraphSchema
from skgraphkde.graphs.tables import read_tables

__all__ = ["FittedSchema", "GraphBatch", "GraphSchema", "read_graphs", "read_tables"]
