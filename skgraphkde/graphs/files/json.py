"""JSON files in the node-link format of networkx -> networkx graphs, directed or not."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx

from skgraphkde.graphs.files.common import (
    AnyPath,
    Graphs,
    check_nodes_and_edges,
    numbered,
    read_content,
    reason,
)
from skgraphkde.graphs.formats.networkx import simplified
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
    if content == []:
        raise ValueError("it contains no graph")
    if not isinstance(content, list):
        return [("", _from_node_link(content))]
    graphs = []
    for i, document in enumerate(content):
        try:
            graphs.append(_from_node_link(document))
        except Exception as error:  # whatever a broken graph leads to
            raise ValueError(f"graph {i}: {reason(error)}") from error
    return numbered(graphs)


def _from_node_link(document: Any) -> nx.Graph:
    nodes = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(nodes, list):
        raise ValueError('a graph has no list "nodes"')
    edges = document.get("edges", document.get("links"))
    if not isinstance(edges, list):
        raise ValueError('a graph has no list "edges" or "links"')
    if not all(isinstance(record, dict) for record in [*nodes, *edges]):
        raise ValueError("nodes and edges must be objects with names and values")
    for name in ("directed", "multigraph"):
        if not isinstance(document.get(name, False), bool):
            raise ValueError(f'"{name}" is {document[name]!r}: give true or false')
    check_nodes_and_edges(
        [_hashable(record.get("id", i)) for i, record in enumerate(nodes)],
        [(_hashable(record["source"]), _hashable(record["target"])) for record in edges],
    )
    # As a multigraph without keys: networkx would merge parallel edges of other graphs.
    if document.get("multigraph"):
        edges = [{name: x for name, x in record.items() if name != "key"} for record in edges]
    mended = document | {"multigraph": True, "edges": edges}
    if not isinstance(document.get("graph"), dict):  # a list, in files of old versions of networkx
        mended["graph"] = {}
    return simplified(nx.node_link_graph(mended, key="", edges="edges"))


def _hashable(node: Any) -> Any:
    """JSON has lists where a node id is a tuple."""
    return tuple(map(_hashable, node)) if isinstance(node, list) else node
