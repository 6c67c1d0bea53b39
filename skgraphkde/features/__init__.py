"""Features: what graphs carry, and how they are wired -> one feature vector per node."""

from skgraphkde.features.node_features import NodeFeatures

__all__ = ["NodeFeatures"]
