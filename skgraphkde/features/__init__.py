"""Features: attributes and structure of graphs -> one feature vector per node."""

from skgraphkde.features.node_features import NodeFeatures

__all__ = ["NodeFeatures"]
