"""JSON files in the node-link format of networkx -> networkx graphs, directed or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx

from skgraphkde.graphs.files.common import (
    Edge,
    Graphs,
    add_node,
    first_repeated,
    numbered,
    read_content,
    reason,
    to_graph,
)
from skgraphkde.graphs.schema import GraphSchema


def read_json(path: Path, _: GraphSchema) -> Graphs:
    """Read a file that holds a graph or a list of graphs."""
    return parse_json(read_content(path))


def parse_json(text: str | bytes) -> Graphs:
    """The graphs of a text, which is one graph or a list of graphs."""
    content = json.loads(text, object_pairs_hook=_object)
    if content == []:
        raise ValueError("it contains no graph")
    if isinstance(content, list):
        return numbered([_of_list(i, document) for i, document in enumerate(content)])
    return [("", _from_node_link(content))]


def _of_list(position: int, document: Any) -> nx.Graph:
    """A graph of a list; an error says which one."""
    try:
        return _from_node_link(document)
    except Exception as error:  # whatever a broken graph leads to
        raise ValueError(f"graph {position}: {reason(error)}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names all have one value, of which Python would keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = first_repeated(name for name, _ in pairs)
        raise ValueError(f"an object has the name {twice!r} twice: give it one value")
    return found


def _from_node_link(document: Any) -> nx.Graph:
    """The graph, as networkx.node_link_graph makes it, which merges edges that are parallel."""
    listed = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError('a graph has no list "nodes"')
    if "edges" in document and "links" in document:
        raise ValueError('a graph has "edges" and "links": give one of them')
    key = "edges" if "edges" in document else "links"
    if not isinstance(document.get(key), list):
        raise ValueError('a graph has no list "edges" or "links"')
    if not all(isinstance(record, dict) for record in [*listed, *document[key]]):
        raise ValueError("nodes and edges must be objects with names and values")
    is_directed, has_keys = (document.get(x, False) for x in ("directed", "multigraph"))
    for name, value in (("directed", is_directed), ("multigraph", has_keys)):
        if not isinstance(value, bool):
            raise ValueError(f'"{name}" is {value!r}: give true or false')
    nodes: dict[Any, dict[str, Any]] = {}
    for i, record in enumerate(listed):
        data = {name: value for name, value in record.items() if name != "id"}
        add_node(nodes, _hashable(record.get("id", i)), data)
    ends = {"source", "target"} | ({"key"} if has_keys else set())
    edges = []
    for record in document[key]:
        data = {name: value for name, value in record.items() if name not in ends}
        source, target = _hashable(record["source"]), _hashable(record["target"])
        edges.append(Edge(source, target, data, is_directed))
    graph = to_graph(nodes, edges, is_directed)
    if isinstance(document.get("graph"), dict):  # what it says of itself, such as its name
        graph.graph.update(document["graph"])
    return graph


def _hashable(node: Any) -> Any:
    """JSON has lists where a node id is a tuple."""
    return tuple(map(_hashable, node)) if isinstance(node, list) else node
