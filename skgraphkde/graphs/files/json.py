"""JSON files in the node-link format of networkx -> networkx graphs, directed or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx

from skgraphkde.graphs.files.common import (
    Graphs,
    check_nodes_and_edges,
    first_repeated,
    numbered,
    read_content,
    reason,
    simplified,
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
    nodes = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(nodes, list):
        raise ValueError('a graph has no list "nodes"')
    if "edges" in document and "links" in document:
        raise ValueError('a graph has "edges" and "links": give one of them')
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
    data = document.get("graph")
    mended = document | {"multigraph": True, "edges": edges}
    mended["graph"] = data if isinstance(data, dict) else {}
    return simplified(nx.node_link_graph(mended, key="", edges="edges"))


def _hashable(node: Any) -> Any:
    """JSON has lists where a node id is a tuple."""
    return tuple(map(_hashable, node)) if isinstance(node, list) else node
