"""JSON files in the node-link format of networkx -> networkx graphs, directed or not."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx

from skgraphkde.graphs.files.common import (
    AnyPath,
    Graphs,
    build_graph,
    numbered,
    read_content,
)
from skgraphkde.graphs.schema import GraphSchema


def read_json(path: AnyPath, _: GraphSchema) -> Graphs:
    """Read a file that holds a graph or a list of graphs.

    Parameters
    ----------
    path : Path or zipfile.Path
    _ : GraphSchema
        This format needs none.
    """
    return parse_json(read_content(path))


def parse_json(text: str | bytes) -> Graphs:
    """The graphs of a text, which is one graph or a list of graphs."""
    content = json.loads(text)
    if not isinstance(content, list):
        return [("", _graph(content))]
    if not content:
        raise ValueError("it contains no graph")
    graphs = []
    for i, document in enumerate(content):
        try:
            graphs.append(_graph(document))
        except Exception as error:  # whatever a broken graph leads to
            raise ValueError(f"graph {i}: {error}") from error
    return numbered(graphs)


def _graph(document: Any) -> nx.Graph:
    """The graph of a document; networkx itself would merge parallel edges and nodes."""
    content = document if isinstance(document, dict) else {}
    nodes: Any = content.get("nodes")
    edges: Any = content.get("edges", content.get("links"))
    for what, records in (('"nodes"', nodes), ('"edges" or "links"', edges)):
        if not isinstance(records, list):
            raise ValueError(f"a graph has no list {what}")
        if not all(isinstance(record, dict) for record in records):
            raise ValueError("nodes and edges must be objects with names and values")
    directed, data = content.get("directed", False), content.get("graph")
    if not isinstance(directed, bool):
        raise ValueError(f'"directed" is {directed!r}: give true or false')
    listed = [(_hashable(record.pop("id", i)), record) for i, record in enumerate(nodes)]
    joined = []
    for record in edges:
        source, target = (_hashable(record.pop(end, None)) for end in ("source", "target"))
        if content.get("multigraph"):
            record.pop("key", None)
        joined.append((source, target, record, True))
    # A list in place of data is in files of old versions of networkx.
    return build_graph(directed, listed, joined, data if isinstance(data, dict) else {})


def _hashable(node: Any) -> Any:
    """JSON has lists where a node id is a tuple."""
    return tuple(map(_hashable, node)) if isinstance(node, list) else node
