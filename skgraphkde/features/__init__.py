"""Features: attributes and structure of graphs -> one feature vector per node."""

from skgraphkde.features.node_features import NodeFeatures, values_in_use

__all__ = ["NodeFeatures", "values_in_use"]
