"""The name of :mod:`skgraphkde.explanation` up to version 0.1, for code that imports it."""

from skgraphkde.explanation import (
    explain,
    nearest_references,
    node_contributions,
    novel_nodes,
    results,
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
