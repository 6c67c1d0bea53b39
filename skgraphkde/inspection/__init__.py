"""Reasons: the views, the data, the nodes and the references that a graph's score comes from."""

from skgraphkde.inspection.results import explain, results
from skgraphkde.inspection.views import (
    nearest_references,
    node_contributions,
    novel_nodes,
    view_surprises,
)

__all__ = [
    "explain",
    "nearest_references",
    "node_contributions",
    "novel_nodes",
    "results",
    "view_surprises",
]
