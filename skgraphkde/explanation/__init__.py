"""Reasons: the views, the data, the nodes and the references that a graph's score comes from."""

from skgraphkde.explanation.contributions import (
    nearest_references,
    node_contributions,
    novel_nodes,
    view_surprises,
)
from skgraphkde.explanation.results import explain, results

__all__ = [
    "explain",
    "nearest_references",
    "node_contributions",
    "novel_nodes",
    "results",
    "view_surprises",
]
