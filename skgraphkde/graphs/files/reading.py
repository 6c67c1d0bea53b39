"""Reading: the names of the node and edge data to read from files.

This module also has what all file formats share: each has one function that takes a path and a
Reading. It returns networkx graphs, each with its position in the file ("" for a single graph, else
"#0", "#1", ...), or raises any error that says what is wrong with the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import networkx as nx

__all__ = ["Reading"]

Graphs = Iterable[tuple[str, nx.Graph]]


@dataclass(frozen=True)
class Reading:
    """The names of the node and edge data to read from files.

    Parameters
    ----------
    node_label : str, default=None
        Node attribute that is a discrete label; every graph must have it. None: "label" if a graph
        has it, except in GML, where "label" is the name of a node. "": no labels.
    node_attributes : tuple of str, default=None
        Node attributes that are numbers or vectors of numbers, joined in this order; every graph
        must have them. None: "x" if a graph has it. (): no attributes.
    edge_weight : str, default=None
        Edge attribute that is a positive weight. None: every edge has the weight 1.

    Examples
    --------
    >>> from skgraphkde.graphs.files import Reading
    >>> Reading(node_label="atom").columns
    ('x',)
    """

    node_label: str | None = None
    node_attributes: tuple[str, ...] | None = None
    edge_weight: str | None = None

    @property
    def label(self) -> str:
        """The name of the label; "" if labels are not read."""
        return "label" if self.node_label is None else self.node_label

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the attributes to join."""
        return ("x",) if self.node_attributes is None else self.node_attributes

    @classmethod
    def of(cls, notes: dict[str, Any]) -> Reading:
        """Create one from the notes in a detector's file, which may hold anything."""
        label, names, weight = map(notes.get, ("node_label", "node_attributes", "edge_weight"))
        texts = [label, weight, *(names if isinstance(names, list | tuple) else [names])]
        if not all(isinstance(text, str | None) for text in texts):
            raise ValueError(f"the notes in the model's file do not name node data: {notes}")
        return cls(label, None if names is None else tuple(names), weight)


def numbered(graphs: Iterable[nx.Graph]) -> Iterator[tuple[str, nx.Graph]]:
    """The graphs of a file with their positions "#0", "#1", ..."""
    return ((f"#{i}", graph) for i, graph in enumerate(graphs))
