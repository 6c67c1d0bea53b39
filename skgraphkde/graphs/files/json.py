"""JSON files in the node-link format of networkx -> networkx graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx

from skgraphkde.graphs.files.reading import Graphs, Reading, numbered


def read_json(path: Path, _: Reading) -> Graphs:
    """Read a file that holds a graph or a list of graphs."""
    content = json.loads(path.read_bytes())
    if content == []:
        raise ValueError("it contains no graph")
    if isinstance(content, list):
        return numbered([_from_node_link(document) for document in content])
    return [("", _from_node_link(content))]


def _from_node_link(document: Any) -> nx.Graph:
    nodes = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(nodes, list):
        raise ValueError('a graph has no list "nodes"')
    key = "edges" if "edges" in document else "links"
    if not isinstance(document.get(key), list):
        raise ValueError('a graph has no list "edges" or "links"')
    graph = nx.node_link_graph(document | {"graph": {}}, edges=key)
    if len(graph) != len(nodes):
        raise ValueError("a node is listed twice, or an edge ends at a node that is not listed")
    return graph
