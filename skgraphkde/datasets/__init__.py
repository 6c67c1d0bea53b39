"""Graphs to try things on: arrays in files -> GraphBatch."""

from skgraphkde.datasets._mutag import load_mutag
from skgraphkde.datasets._tu import fetch_tu_dataset

__all__ = ["fetch_tu_dataset", "load_mutag"]
