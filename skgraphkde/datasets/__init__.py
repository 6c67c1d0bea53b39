"""Graphs to try things on: arrays in files -> GraphBatch."""

from skgraphkde.datasets._mutag import load_mutag

__all__ = ["load_mutag"]
