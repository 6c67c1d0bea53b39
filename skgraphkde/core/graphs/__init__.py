"""Many graphs as flat arrays, and what is read of them: GraphBatch and GraphSchema."""

from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.problems import IgnoredWarning, UnseenCategoryWarning
from skgraphkde.core.graphs.schema import FittedSchema, GraphSchema

__all__ = ["FittedSchema", "GraphBatch", "GraphSchema", "IgnoredWarning", "UnseenCategoryWarning"]
